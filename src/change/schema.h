/// A table's columns as a subscriber sees them: one value whatever form a commit says them in, a
/// fingerprint to compare by, and the differences between two.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace tidemark::change {

/// A schema of more columns, nested ones counted, or of longer type texts is not read (kExhausted).
inline constexpr size_t kColumnsMax = 1 << 16;
inline constexpr size_t kTypeTextMax = size_t{16} << 20;

struct Column {
  std::string name;
  /// Names from the table down, with dots between; below an array "element", below a map "key" and
  /// "value", below a union of several types "member0", "member1", …: "tags.element.x". Unique in a
  /// schema, if no name holds a dot.
  std::string path;
  /// One text per type, as docs/formats/schema.md lists them: Hive's and Spark's words, and a word
  /// of its own for what both blur. Nested: "struct<a:int,b:array<string>>".
  std::string type;
  bool is_nullable = false;
  /// Minified JSON, as the Avro schema has it; nullopt for none, and for null on a nullable column,
  /// which every writer puts there.
  std::optional<std::string> default_json{};
  std::string comment{};        ///< empty for none
  int position = 0;             ///< among its siblings, from 0; Hudi's meta columns do not count
  std::optional<int64_t> id{};  ///< where schema-on-read evolution keeps ids
  /// Of a struct its fields, of an array its element, of a map its key and value, of a union its
  /// branches.
  std::vector<Column> children{};

  friend bool operator==(const Column&, const Column&) = default;
};

struct Schema {
  /// In order. Left out are Hudi's own: its five meta columns and _hoodie_operation.
  std::vector<Column> columns;
  /// 32 hex digits: the first 16 bytes of SHA-256 over CanonicalText. Equal for equal columns in
  /// either form, with and without ids; stable over our releases.
  std::string fingerprint;

  friend bool operator==(const Schema&, const Schema&) = default;
};

/// What the fingerprint is taken over: paths, types, nullability, defaults, comments and order,
/// all that DiffSchemas reports; no ids, so that a writer who does not keep them changes nothing.
std::string CanonicalText(std::span<const Column> columns);

/// Reads an Avro schema (`extra["schema"]`, `hoodie.table.create.schema`). kCorrupt: no schema, or
/// not that of a record; kExhausted: see above, or as avro::Schema; kUnsupported: a record that
/// holds itself.
Result<Schema> ParseAvroColumns(std::string_view json);

/// Reads a commit's `latest_schema`, Hudi's internal form with ids. It knows no defaults and fewer
/// types ("timestamp" for milliseconds and microseconds); what it blurs, and comments it lacks, are
/// taken from `avro_json`, the `schema` beside it, by path, unless that is empty or cannot be read.
/// Errors as above.
Result<Schema> ParseInternalColumns(std::string_view json, std::string_view avro_json);

/// What a commit says of the table's schema: `latest_schema` when it is there and not empty, else
/// `schema`; nullopt when neither is. `extra` is CommitStats::metadata.extra.
Result<std::optional<Schema>> SchemaOf(const std::map<std::string, std::string>& extra);

/// A commit as far as it matters for which schema readers see.
struct SchemaSource {
  std::string requested;
  std::string action_name;  ///< decides between two of one time
  std::optional<std::string> operation;
  bool has_schema = false;  ///< its `schema` or `latest_schema` is there and not empty

  friend bool operator==(const SchemaSource&, const SchemaSource&) = default;
};

/// Whether the schema of `candidate` is what readers see although there is `current`. Hudi takes
/// that of the completed commit with the greatest requested time (TableSchemaResolver over
/// getLastCommitMetadataWithValidSchema, both layouts), since 0.14 among those that may change it;
/// whenever each completed. So a late commit of an old writer changes nothing. CLUSTER, COMPACT,
/// INDEX and LOG_COMPACT repeat the schema of what they rewrote, which may be old; one of them
/// counts only while there is no other.
bool Supersedes(const SchemaSource& candidate, const SchemaSource& current);

/// The place in `completed` (any order) of the commit whose schema readers see now; nullopt: none
/// says one, so `hoodie.table.create.schema` holds. After a rollback or restore ask again over what
/// is left. When its schema has the fingerprint of the one known, the known one stays, ids
/// included.
std::optional<size_t> EffectiveSchema(std::span<const SchemaSource> completed);

}  // namespace tidemark::change
