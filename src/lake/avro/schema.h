/// An Avro schema as a graph of types, parsed from its JSON text (Avro specification 1.12, "Schema
/// Declaration").
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace tidemark::lake::avro {

enum class Kind : uint8_t {
  kNull,
  kBoolean,
  kInt,
  kLong,
  kFloat,
  kDouble,
  kBytes,
  kString,
  kFixed,
  kEnum,
  kArray,
  kMap,
  kUnion,
  kRecord,
};

/// The specification's word: "null", "long", "record", …
std::string_view KindName(Kind kind);

/// What a plain value stands for. One that does not fit its type is ignored, as the specification
/// asks.
enum class Logical : uint8_t {
  kNone,
  kDecimal,
  kDate,
  kTimeMillis,
  kTimeMicros,
  kTimestampMillis,
  kTimestampMicros,
  kTimestampNanos,
  kLocalTimestampMillis,
  kLocalTimestampMicros,
  kLocalTimestampNanos,
  kUuid,
};

struct Type;

struct Field {
  std::string name;
  std::vector<std::string> aliases;
  const Type* type = nullptr;
  std::optional<std::string> default_json;  ///< minified JSON text; "null" is a default too
  std::string doc;                          ///< empty when there is none, or it is no text
};

/// One node of a schema; owned by its Schema. A recursive schema has cycles through `fields`,
/// `branches` and `items`.
struct Type {
  Kind kind = Kind::kNull;
  Logical logical = Logical::kNone;
  int precision = 0;                  ///< decimal only, >= 1
  int scale = 0;                      ///< decimal only, 0 … precision
  std::string name;                   ///< full name, "org.apache.X"; record, enum and fixed only
  std::vector<std::string> aliases;   ///< full names
  std::vector<Field> fields;          ///< record; names are unique
  std::vector<const Type*> branches;  ///< union
  const Type* items = nullptr;        ///< of an array, values of a map
  std::vector<std::string> symbols;   ///< enum
  std::optional<std::string> default_symbol;  ///< enum
  uint64_t fixed_size = 0;                    ///< bytes of a fixed

  // What follows is computed while parsing.
  uint64_t size_min = 0;  ///< no encoded value is shorter; saturates at 2^32
  /// Every value takes zero bytes (null, an empty record): skipping one is no work.
  bool is_empty = false;
  std::vector<const Type*> solid;  ///< record: types of the fields that are not empty, in order
  std::vector<uint32_t> by_name;   ///< record of many fields: their places, by name; else empty

  /// Place of the field in `fields`, by its name only (aliases are for resolution).
  std::optional<size_t> FindField(std::string_view field) const;
};

/// A parsed schema. Copies share the same types; a Type pointer is good while any copy lives.
/// Immutable; any thread.
class Schema {
 public:
  /// Unknown properties are ignored; names are not held to the specification's letters, as long as
  /// they are not empty. kCorrupt: not JSON or not a schema; the message has the path in the schema
  /// ("$.fields[2].type"). kExhausted: over kSchemaBytesMax or kSchemaDepthMax.
  static Result<Schema> Parse(std::string_view json);

  const Type& root() const { return *root_; }
  /// The named type, by full name; nullptr when there is none.
  const Type* FindNamed(std::string_view full_name) const;

  struct Storage;  // of the parser

 private:
  Schema(std::shared_ptr<const Storage> storage, const Type* root)
      : storage_(std::move(storage)), root_(root) {}

  std::shared_ptr<const Storage> storage_;
  const Type* root_;
};

inline constexpr size_t kSchemaBytesMax = 16 << 20;
/// Types inside types.
inline constexpr int kSchemaDepthMax = 128;

}  // namespace tidemark::lake::avro
