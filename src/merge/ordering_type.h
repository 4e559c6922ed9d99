/// What an ordering value was in the file it came from: the column's type, or the branch of a
/// delete block's union. Both decide which Java class a release of Hudi compares it as.
#pragma once

#include <cstdint>
#include <string_view>

namespace tidemark::merge {

/// The type of an ordering column: Avro's plain type with its logical type. A Parquet column has
/// the one its Avro schema would have.
enum class ColumnType : uint8_t {
  kUnknown,  ///< no ordering column, or its type is not known
  kBoolean,
  kInt,
  kLong,
  kFloat,
  kDouble,
  kString,
  kEnum,
  kUuid,  ///< on a string
  kBytes,
  kFixed,
  kDecimalBytes,
  kDecimalFixed,
  kDate,
  kTimeMillis,
  kTimeMicros,
  kTimestampMillis,
  kTimestampMicros,
  kTimestampNanos,
  kLocalTimestampMillis,
  kLocalTimestampMicros,
  kLocalTimestampNanos,
};
inline constexpr int kColumnTypeCount = static_cast<int>(ColumnType::kLocalTimestampNanos) + 1;

struct OrderingColumn {
  ColumnType type = ColumnType::kUnknown;
  uint8_t scale = 0;  ///< decimals only

  friend bool operator==(const OrderingColumn&, const OrderingColumn&) = default;
};

/// The branch of the orderingVal union of a version 3 delete block, by its number in the bytes
/// (HoodieDeleteRecordList.avsc; kArray from 1.1 on).
enum class DeleteBranch : uint8_t {
  kNull,
  kBoolean,
  kInt,
  kLong,
  kFloat,
  kDouble,
  kBytes,
  kString,
  kDate,
  kDecimal,  ///< decimal(30,15)
  kTimeMicros,
  kTimestampMicros,
  kArray,
};
inline constexpr int kDeleteBranchCount = static_cast<int>(DeleteBranch::kArray) + 1;
inline constexpr uint8_t kDeleteDecimalScale = 15;

/// The Java class an ordering value has inside a release's reader.
enum class JavaClass : uint8_t {
  kNone,  ///< null: every use of it throws
  kBoolean,
  kInteger,
  kLong,
  kFloat,
  kDouble,
  kUtf8,        ///< org.apache.avro.util.Utf8: compares bytes
  kString,      ///< java.lang.String: compares UTF-16 units
  kUtf8String,  ///< Spark's UTF8String: compares bytes
  kEnumSymbol,
  kByteBuffer,  ///< compares signed bytes
  kByteArray,   ///< no Comparable: every use of it throws
  kFixed,       ///< org.apache.avro.generic.GenericData.Fixed: compares unsigned bytes
  kBigDecimal,
  kSparkDecimal,
  kLocalDate,
  kSqlDate,
  kInstant,
  kSqlTimestamp,
  kArray,  ///< ArrayComparable
};

/// Decimal digits of a second that one unit of the type is worth: 3, 6 or 9; 0 for what is no time.
uint8_t SecondDigits(ColumnType type);
/// "long", "decimal", "timestamp-millis", …
std::string_view ColumnTypeName(ColumnType type);
/// "IntWrapper", "LongWrapper", …: the record names of the union; "null" for the first branch.
std::string_view DeleteBranchName(DeleteBranch branch);
/// The simple class name, for sentences: "Utf8", "BigDecimal", …
std::string_view JavaClassName(JavaClass java_class);

}  // namespace tidemark::merge
