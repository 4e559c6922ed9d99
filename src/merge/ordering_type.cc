#include "merge/ordering_type.h"

#include <array>

namespace tidemark::merge {

std::string_view ColumnTypeName(ColumnType type) {
  static constexpr std::array<std::string_view, kColumnTypeCount> kNames = {
      "unknown",
      "boolean",
      "int",
      "long",
      "float",
      "double",
      "string",
      "enum",
      "uuid",
      "bytes",
      "fixed",
      "decimal",
      "decimal",
      "date",
      "time-millis",
      "time-micros",
      "timestamp-millis",
      "timestamp-micros",
      "timestamp-nanos",
      "local-timestamp-millis",
      "local-timestamp-micros",
      "local-timestamp-nanos",
  };
  return kNames[static_cast<size_t>(type)];
}

uint8_t SecondDigits(ColumnType type) {
  switch (type) {
    case ColumnType::kTimeMillis:
    case ColumnType::kTimestampMillis:
    case ColumnType::kLocalTimestampMillis: return 3;
    case ColumnType::kTimeMicros:
    case ColumnType::kTimestampMicros:
    case ColumnType::kLocalTimestampMicros: return 6;
    case ColumnType::kTimestampNanos:
    case ColumnType::kLocalTimestampNanos: return 9;
    default: return 0;
  }
}

std::string_view DeleteBranchName(DeleteBranch branch) {
  static constexpr std::array<std::string_view, kDeleteBranchCount> kNames = {
      "null",         "BooleanWrapper", "IntWrapper",        "LongWrapper",
      "FloatWrapper", "DoubleWrapper",  "BytesWrapper",      "StringWrapper",
      "DateWrapper",  "DecimalWrapper", "TimeMicrosWrapper", "TimestampMicrosWrapper",
      "ArrayWrapper",
  };
  return kNames[static_cast<size_t>(branch)];
}

std::string_view JavaClassName(JavaClass java_class) {
  switch (java_class) {
    case JavaClass::kNone: return "null";
    case JavaClass::kBoolean: return "Boolean";
    case JavaClass::kInteger: return "Integer";
    case JavaClass::kLong: return "Long";
    case JavaClass::kFloat: return "Float";
    case JavaClass::kDouble: return "Double";
    case JavaClass::kUtf8: return "Utf8";
    case JavaClass::kString: return "String";
    case JavaClass::kUtf8String: return "UTF8String";
    case JavaClass::kEnumSymbol: return "EnumSymbol";
    case JavaClass::kByteBuffer: return "ByteBuffer";
    case JavaClass::kByteArray: return "byte[]";
    case JavaClass::kFixed: return "Fixed";
    case JavaClass::kBigDecimal: return "BigDecimal";
    case JavaClass::kSparkDecimal: return "Decimal";
    case JavaClass::kLocalDate: return "LocalDate";
    case JavaClass::kSqlDate: return "java.sql.Date";
    case JavaClass::kInstant: return "Instant";
    case JavaClass::kSqlTimestamp: return "java.sql.Timestamp";
    case JavaClass::kArray: return "ArrayComparable";
  }
  return "null";
}

}  // namespace tidemark::merge
