/// The value a version of a row is ordered by, of any type Hudi lets an ordering column have, and
/// how such values compare as event time.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "merge/ordering_type.h"

namespace tidemark::merge {

/// Sixteen bytes, copied freely. Text, bytes, decimals and several fields are views: the bytes (or
/// the items) must outlive every copy. A log's values may lie in the block's own bytes; what has to
/// live longer goes through an OrderingArena. Any thread.
class OrderingValue {
 public:
  enum class Kind : uint8_t {
    kNull,      ///< a data record without one (R4)
    kSentinel,  ///< a delete without one: "Integer 0", null, or a block that stores none (R5)
    kBoolean,
    kInteger,    ///< int and long
    kReal,       ///< float and double
    kText,       ///< string, enum and uuid
    kBinary,     ///< bytes and fixed
    kDecimal,    ///< unscaled two's complement bytes and a scale
    kDate,       ///< days since 1970-01-01
    kTime,       ///< of day, in unit() parts of a second
    kTimestamp,  ///< since 1970-01-01, in unit() parts of a second
    kArray,      ///< several ordering fields
  };
  /// Who wrote it, which decides its Java class.
  enum class Source : uint8_t {
    kData,         ///< a data record: column().type tells
    kDeleteBlock,  ///< version 3: branch() tells
    kNamedClass,  ///< a version 2 delete block, whose Kryo bytes name the class: java_class() tells
  };

  /// A data record whose ordering column is null or missing.
  constexpr OrderingValue() = default;

  /// @{ From a data record, read with the table's schema: `column` is the type after promotion.
  static OrderingValue Null(OrderingColumn column);
  /// Booleans, int, long, dates, times and timestamps, as stored.
  static OrderingValue OfInteger(OrderingColumn column, int64_t stored);
  static OrderingValue OfReal(OrderingColumn column, double stored);
  /// Strings, enum symbols, uuids, bytes, fixed and decimals. kCorrupt: a decimal without bytes;
  /// kExhausted: over kDecimalBytesMax.
  static Result<OrderingValue> OfBytes(OrderingColumn column, std::string_view stored);
  /// @}

  /// @{ From a delete block's union; `column` is what the table's ordering column is, and gives a
  /// plain number its meaning (a long in the column's unit, an int as days of a date column).
  /// IntWrapper 0 becomes the sentinel whatever the column is: Hudi cannot tell them apart either.
  /// A version 1 block stores no values; readers take each for IntWrapper 0.
  static OrderingValue NoneDeleted(OrderingColumn column);  ///< the null branch
  static OrderingValue DeletedInteger(DeleteBranch branch, int64_t stored, OrderingColumn column);
  static OrderingValue DeletedReal(DeleteBranch branch, double stored, OrderingColumn column);
  static Result<OrderingValue> DeletedBytes(DeleteBranch branch, std::string_view stored,
                                            OrderingColumn column,
                                            uint8_t scale = kDeleteDecimalScale);
  /// @}

  /// Several ordering fields, of data or of a delete; `items` is viewed. In an array an item of
  /// IntWrapper 0 is no sentinel but 0 of an int field, or the null of any other.
  static OrderingValue Array(std::span<const OrderingValue> items);
  /// The same value out of a Kryo delete block, where its class is known by name.
  OrderingValue WithClass(JavaClass java_class) const;
  /// The same value over a copy of its bytes. REQUIRES: text, bytes or a decimal.
  OrderingValue Rebased(std::string_view copy) const;

  Kind kind() const { return kind_; }
  Source source() const { return source_; }
  ColumnType column_type() const { return column_; }
  DeleteBranch branch() const { return static_cast<DeleteBranch>(form_); }
  JavaClass java_class() const { return static_cast<JavaClass>(form_); }
  /// Decimal digits of a second that one unit is worth: 3, 6 or 9.
  uint8_t unit() const { return scale_; }
  uint8_t scale() const { return scale_; }
  int64_t integer() const { return payload_.integer; }
  double real() const { return payload_.real; }
  std::string_view bytes() const { return {payload_.bytes, size_}; }
  std::span<const OrderingValue> items() const { return {payload_.items, size_}; }

  bool is_null() const { return kind_ == Kind::kNull; }
  bool is_sentinel() const { return kind_ == Kind::kSentinel; }

 private:
  union Payload {
    int64_t integer = 0;
    double real;
    const char* bytes;
    const OrderingValue* items;
  };
  OrderingValue(Kind kind, Source source, uint8_t form, OrderingColumn column);
  static Result<OrderingValue> Decimal(OrderingValue shape, std::string_view bytes, uint8_t scale);
  void SetBytes(std::string_view bytes);
  void Place(int64_t stored);

  Payload payload_;
  uint32_t size_ = 0;
  Kind kind_ : 4 = Kind::kNull;
  Source source_ : 4 = Source::kData;
  uint8_t form_ = 0;                          // ColumnType, DeleteBranch or JavaClass, by source_
  ColumnType column_ = ColumnType::kUnknown;  // what the table says
  uint8_t scale_ = 0;
};

static_assert(sizeof(OrderingValue) == 16);

/// By event time, whoever wrote the values: decimals by value, units normalised, numbers of all
/// widths with each other, text as unsigned bytes, floating point as Java's compare (NaN highest,
/// -0.0 below 0.0), null below everything, several fields one by one. Unordered when the types have
/// nothing to do with each other, and for a sentinel, which rules must look at first.
std::partial_ordering CompareByValue(const OrderingValue& a, const OrderingValue& b);

/// For people and for evidence: "2025-12-02T08:30:08.453Z", "1.250000", "[1,b]", "null", "none".
std::string OrderingText(const OrderingValue& value);
/// The column's type for data, the union's branch for a delete: "long", "DecimalWrapper", …
std::string OrderingTypeText(const OrderingValue& value);

/// Owns what values view. Addresses are stable. Single-threaded.
class OrderingArena {
 public:
  OrderingValue Keep(const OrderingValue& value);
  size_t byte_count() const { return byte_count_; }

 private:
  std::string_view KeepBytes(std::string_view bytes);

  std::vector<std::unique_ptr<char[]>> chunks_;
  size_t room_ = 0;  // at the end of the last chunk
  char* free_ = nullptr;
  size_t byte_count_ = 0;
  std::deque<std::vector<OrderingValue>> items_;
};

}  // namespace tidemark::merge
