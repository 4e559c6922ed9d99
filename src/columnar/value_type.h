/// What the values of a column are: the types a table's Avro schema can name, in the layout Arrow
/// gives them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "lake/avro/schema.h"

namespace tidemark::columnar {

enum class ValueKind : uint8_t {
  kBoolean,    ///< one bit
  kInt32,      ///< 4 bytes
  kInt64,      ///< 8 bytes
  kFloat,      ///< 4 bytes
  kDouble,     ///< 8 bytes
  kString,     ///< enums and UUIDs too; not checked to be UTF-8
  kBinary,     ///< any bytes
  kFixed,      ///< ValueType::width bytes
  kDecimal,    ///< little-endian two's complement of ValueType::width (16 or 32) bytes
  kDate,       ///< 4 bytes, days since 1970-01-01
  kTime,       ///< of the day; 4 bytes in milliseconds or 8 in microseconds
  kTimestamp,  ///< 8 bytes since 1970-01-01T00:00:00, UTC or local
  kStruct,
  kList,
  kMap,  ///< keys are strings
};

/// "boolean", "int", "long", "decimal", …; for messages.
std::string_view ValueKindName(ValueKind kind);

enum class TimeUnit : uint8_t { kMillis, kMicros, kNanos };

struct ValueField;

struct ValueType {
  ValueKind kind = ValueKind::kInt32;
  TimeUnit unit = TimeUnit::kMillis;  ///< time and timestamp
  bool is_local = false;              ///< timestamp: of a wall clock somewhere, not an instant
  uint32_t width = 0;              ///< bytes of one value; 0 for boolean, string, binary and nested
  int precision = 0;               ///< decimal: digits
  int scale = 0;                   ///< decimal: digits behind the point
  std::vector<ValueField> fields;  ///< struct: its fields; list: the item; map: key and value

  /// "decimal(10,2)", "struct<a:int,b:list<string>>"; for messages.
  std::string ToString() const;
  /// Names, nullability and defaults of nested fields do not count, their places do.
  bool HasLayoutOf(const ValueType& other) const;
};

struct ValueField {
  std::string name;
  ValueType type;
  bool is_nullable = true;
  std::vector<std::string> aliases;
  std::optional<std::string> default_json;  ///< as in lake::avro::Field
  const lake::avro::Type* avro = nullptr;   ///< with its union; lives as long as the schema
};

/// The field of `type`, a union with null included. kUnsupported, with `path` and the type, for
/// what has no Arrow layout here: other unions (but [int, long] and [float, double] widen), null
/// alone, recursive types, decimals over 76 digits.
Result<ValueField> FieldOf(std::string_view path, const lake::avro::Field& field);

}  // namespace tidemark::columnar
