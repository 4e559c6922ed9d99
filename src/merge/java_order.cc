#include "merge/java_order.h"

#include <algorithm>
#include <array>

#include "merge/decimal.h"

namespace tidemark::merge {
namespace {

using Kind = OrderingValue::Kind;
using Source = OrderingValue::Source;

using ColumnClasses = std::array<JavaClass, kColumnTypeCount>;
using BranchClasses = std::array<JavaClass, kDeleteBranchCount>;

// Avro's generic records, which 0.x readers take the value out of as it is (SpillableMapUtils).
constexpr ColumnClasses kAvroData = {
    JavaClass::kInteger,  // no such column: 0
    JavaClass::kBoolean,    JavaClass::kInteger, JavaClass::kLong,       JavaClass::kFloat,
    JavaClass::kDouble,     JavaClass::kUtf8,    JavaClass::kEnumSymbol, JavaClass::kUtf8,
    JavaClass::kByteBuffer, JavaClass::kFixed,   JavaClass::kByteBuffer, JavaClass::kFixed,
    JavaClass::kInteger,    JavaClass::kInteger, JavaClass::kLong,       JavaClass::kLong,
    JavaClass::kLong,       JavaClass::kLong,    JavaClass::kLong,       JavaClass::kLong,
    JavaClass::kLong,
};
// Spark's internal rows.
constexpr ColumnClasses kSparkData = {
    JavaClass::kInteger,      JavaClass::kBoolean,    JavaClass::kInteger,
    JavaClass::kLong,         JavaClass::kFloat,      JavaClass::kDouble,
    JavaClass::kUtf8String,   JavaClass::kUtf8String, JavaClass::kUtf8String,
    JavaClass::kByteArray,    JavaClass::kByteArray,  JavaClass::kSparkDecimal,
    JavaClass::kSparkDecimal, JavaClass::kInteger,    JavaClass::kInteger,
    JavaClass::kLong,         JavaClass::kLong,       JavaClass::kLong,
    JavaClass::kLong,         JavaClass::kLong,       JavaClass::kLong,
    JavaClass::kLong,
};
// unwrapAvroValueWrapper over specific records, 0.14 to 1.0.2; those releases know no array.
constexpr BranchClasses kSpecificDelete = {
    JavaClass::kNone,      JavaClass::kBoolean,    JavaClass::kInteger,    JavaClass::kLong,
    JavaClass::kFloat,     JavaClass::kDouble,     JavaClass::kByteBuffer, JavaClass::kString,
    JavaClass::kLocalDate, JavaClass::kBigDecimal, JavaClass::kLong,       JavaClass::kInstant,
    JavaClass::kNone,
};
constexpr BranchClasses kDeleteOf11 = {
    JavaClass::kNone,    JavaClass::kBoolean,    JavaClass::kInteger,    JavaClass::kLong,
    JavaClass::kFloat,   JavaClass::kDouble,     JavaClass::kByteBuffer, JavaClass::kString,
    JavaClass::kSqlDate, JavaClass::kBigDecimal, JavaClass::kLong,       JavaClass::kSqlTimestamp,
    JavaClass::kArray,
};

bool IsNumber(JavaClass java_class) {
  return java_class >= JavaClass::kInteger && java_class <= JavaClass::kDouble;
}

/// 1.0.0 casts whatever it keeps to the column's type, and has that type's zero for no value at
/// all. Decimals and bytes it leaves alone (the cast of its Spark reader is not in a library we
/// could read; this is what 1.0.2 does).
JavaValue CastToColumn(JavaValue java) {
  const OrderingValue& value = java.value;
  const ColumnType type = value.column_type();
  const JavaClass wanted = kSparkData[static_cast<size_t>(type)];
  if (value.is_null() || value.is_sentinel()) {
    if (IsNumber(wanted) || wanted == JavaClass::kBoolean) {
      const bool is_real = wanted == JavaClass::kFloat || wanted == JavaClass::kDouble;
      java.value =
          is_real ? OrderingValue::OfReal({type, 0}, 0) : OrderingValue::OfInteger({type, 0}, 0);
      java.java_class = wanted;
    } else if (wanted == JavaClass::kUtf8String) {
      java.value = *OrderingValue::OfBytes({type, 0}, "0");
      java.java_class = wanted;
    } else {
      java.java_class = JavaClass::kInteger;
    }
  } else if ((IsNumber(wanted) && IsNumber(java.java_class)) ||
             (wanted == JavaClass::kUtf8String && java.java_class == JavaClass::kString)) {
    java.java_class = wanted;
  }
  return java;
}

constexpr bool IsAvro(Release release) {
  return release <= Release::k0_14;
}

bool IsStringColumn(ColumnType type) {
  return type == ColumnType::kString || type == ColumnType::kEnum || type == ColumnType::kUuid;
}

bool IsDecimalColumn(ColumnType type) {
  return type == ColumnType::kDecimalBytes || type == ColumnType::kDecimalFixed;
}

/// The largest number that 1.1 takes for milliseconds (OrderingValueEngineTypeConverter).
constexpr int64_t kMillisMax = 9'999'999'999'999;

int64_t WrappingTimes1000(int64_t value) {
  return static_cast<int64_t>(static_cast<uint64_t>(value) * 1000);  // as Java's long multiplies
}

/// The number inside an Integer or a Long: Spark holds every timestamp of a row in microseconds,
/// and 1.1 makes them of a delete's milliseconds; all else is as stored.
int64_t JavaNumber(const JavaValue& java) {
  const OrderingValue& value = java.value;
  if (value.is_null() || value.is_sentinel()) return 0;
  if (value.kind() != Kind::kTimestamp || value.unit() != 3 || IsAvro(java.release)) {
    return value.integer();
  }
  if (value.source() == Source::kData) return WrappingTimes1000(value.integer());
  const bool is_converted = java.release == Release::k1_1 &&
                            value.column_type() == ColumnType::kTimestampMillis &&
                            value.integer() <= kMillisMax;
  return is_converted ? WrappingTimes1000(value.integer()) : value.integer();
}

std::partial_ordering CompareSignedBytes(std::string_view a, std::string_view b) {
  const size_t shared = std::min(a.size(), b.size());
  for (size_t i = 0; i < shared; ++i) {
    const auto order = static_cast<int8_t>(a[i]) <=> static_cast<int8_t>(b[i]);
    if (order != 0) return order;
  }
  return a.size() <=> b.size();
}

/// UTF-16 units of UTF-8 text. The two orders differ only where a supplementary character (lead
/// byte 0xF0 and up, a surrogate in UTF-16) meets one from U+E000 to U+FFFF (lead byte 0xEE or
/// 0xEF).
std::partial_ordering CompareUtf16(std::string_view a, std::string_view b) {
  const size_t shared = std::min(a.size(), b.size());
  for (size_t i = 0; i < shared; ++i) {
    const auto left = static_cast<uint8_t>(a[i]);
    const auto right = static_cast<uint8_t>(b[i]);
    if (left == right) continue;
    if (left >= 0xEE && right >= 0xEE && (left >= 0xF0) != (right >= 0xF0)) return right <=> left;
    return left <=> right;
  }
  return a.size() <=> b.size();
}

std::partial_ordering CompareArrays(const JavaValue& a, const JavaValue& b) {
  const auto left = a.value.items();
  const auto right = b.value.items();
  if (left.size() != right.size()) return std::partial_ordering::unordered;
  for (size_t i = 0; i < left.size(); ++i) {
    const auto x = BufferedJava(a.release, left[i]);
    const auto y = BufferedJava(b.release, right[i]);
    if (!x || !y) return std::partial_ordering::unordered;
    if (const auto order = CompareInJava(*x, *y); order != 0) return order;
  }
  return std::partial_ordering::equivalent;
}

}  // namespace

JavaValue RawJava(Release release, const OrderingValue& value) {
  JavaValue java{JavaClass::kInteger, value, release};
  if (value.kind() == Kind::kArray) {
    java.java_class = release == Release::k1_1 ? JavaClass::kArray : JavaClass::kNone;
  } else if (value.is_null()) {
    if (IsAvro(release) && value.column_type() != ColumnType::kUnknown) {
      java.java_class = JavaClass::kNone;
    }
  } else if (value.source() == Source::kNamedClass) {
    java.java_class = value.java_class();
  } else if (value.source() == Source::kData) {
    java.java_class =
        (IsAvro(release) ? kAvroData : kSparkData)[static_cast<size_t>(value.column_type())];
  } else {
    const BranchClasses& classes = release == Release::k1_1 ? kDeleteOf11 : kSpecificDelete;
    java.java_class = classes[static_cast<size_t>(value.branch())];
  }
  return java;
}

std::optional<JavaValue> BufferedJava(Release release, const OrderingValue& value) {
  JavaValue java = RawJava(release, value);
  if (release == Release::k1_0_0) return CastToColumn(java);
  if (IsAvro(release) || value.source() == Source::kData) return java;
  if (java.java_class == JavaClass::kNone) java.java_class = JavaClass::kInteger;  // null: default
  if (value.is_sentinel() && java.release != Release::k1_1) return java;
  if (java.java_class == JavaClass::kString &&
      (release != Release::k1_1 || IsStringColumn(value.column_type()))) {
    java.java_class = JavaClass::kUtf8String;
  }
  if (release != Release::k1_1) return java;
  if (java.java_class == JavaClass::kBigDecimal && IsDecimalColumn(value.column_type())) {
    java.java_class = JavaClass::kSparkDecimal;
  }
  // formatAsMicros((Long) value), whatever the value is.
  if (value.column_type() == ColumnType::kTimestampMillis && java.java_class != JavaClass::kLong) {
    return std::nullopt;
  }
  return java;
}

bool IsSameClass(const JavaValue& a, const JavaValue& b) {
  if (a.java_class != b.java_class) return false;
  if (a.java_class != JavaClass::kArray) return true;
  const auto left = a.value.items();
  const auto right = b.value.items();
  if (left.size() != right.size()) return false;
  for (size_t i = 0; i < left.size(); ++i) {
    const auto x = BufferedJava(a.release, left[i]);
    const auto y = BufferedJava(b.release, right[i]);
    if (!x || !y || x->java_class != y->java_class) return false;
  }
  return true;
}

std::partial_ordering CompareInJava(const JavaValue& a, const JavaValue& b) {
  if (a.java_class != b.java_class) return std::partial_ordering::unordered;
  switch (a.java_class) {
    case JavaClass::kBoolean:
    case JavaClass::kInteger:
    case JavaClass::kLong: return JavaNumber(a) <=> JavaNumber(b);
    case JavaClass::kFloat:
    case JavaClass::kDouble:
    case JavaClass::kLocalDate:
    case JavaClass::kSqlDate:
    case JavaClass::kInstant:
    case JavaClass::kSqlTimestamp:
    case JavaClass::kBigDecimal:
    case JavaClass::kSparkDecimal: return CompareByValue(a.value, b.value);
    case JavaClass::kUtf8:
    case JavaClass::kUtf8String:
    case JavaClass::kEnumSymbol:
    case JavaClass::kFixed: return a.value.bytes() <=> b.value.bytes();
    case JavaClass::kString: return CompareUtf16(a.value.bytes(), b.value.bytes());
    case JavaClass::kByteBuffer: return CompareSignedBytes(a.value.bytes(), b.value.bytes());
    case JavaClass::kArray: return CompareArrays(a, b);
    case JavaClass::kNone:
    case JavaClass::kByteArray: break;
  }
  return std::partial_ordering::unordered;
}

bool IsIntegerZero(const JavaValue& value) {
  return value.java_class == JavaClass::kInteger && JavaNumber(value) == 0;
}

}  // namespace tidemark::merge
