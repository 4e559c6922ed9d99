/// How each release of Hudi sees and compares an ordering value: the Java class it has there, and
/// that class's compareTo. Read from the released classes of hudi-common 0.10.1,
/// 0.14.0, 1.0.0, 1.0.2 and 1.1.1 and the Spark bundles of 1.0.2 and 1.1.1, and checked against
/// real tables.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>

#include "merge/ordering_value.h"

namespace tidemark::merge {

/// A line of releases whose readers merge alike. 0.x reads records as Avro, 1.x as Spark rows.
enum class Release : uint8_t {
  k0_10,   ///< up to 0.10: delete blocks store keys only
  k0_14,   ///< 0.14 and 0.15
  k1_0_0,  ///< 1.0.0 and 1.0.1
  k1_0_2,
  k1_1,
};

/// A value as an object inside a reader.
struct JavaValue {
  JavaClass java_class = JavaClass::kNone;
  OrderingValue value;
  Release release = Release::k0_10;
};

/// As it comes out of a record or a delete block, before the reader touches it.
JavaValue RawJava(Release release, const OrderingValue& value);
/// As the reader's buffer keeps it: 1.0.2 makes Spark strings of a delete's strings, 1.1 also Spark
/// decimals and microseconds. nullopt: the conversion throws.
std::optional<JavaValue> BufferedJava(Release release, const OrderingValue& value);

/// The test in front of a release's comparison of a delete; arrays item by item.
bool IsSameClass(const JavaValue& a, const JavaValue& b);

/// a.compareTo(b); unordered: it throws (ClassCastException, NullPointerException).
std::partial_ordering CompareInJava(const JavaValue& a, const JavaValue& b);

/// equals(Integer 0), which is how Hudi knows a delete without an ordering value.
bool IsIntegerZero(const JavaValue& value);

}  // namespace tidemark::merge
