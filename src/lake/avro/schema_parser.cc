#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "lake/avro/schema_parser_internal.h"

namespace tidemark::lake::avro {
namespace {

using Json = simdjson::dom::element;

/// Among so few a field is found sooner without an index.
constexpr size_t kFewFields = 16;
constexpr uint64_t kSizeMinMax = uint64_t{1} << 32;
// Objects and arrays around one type: the field object, its list, the type itself.
constexpr size_t kJsonDepthMax = 4 * kSchemaDepthMax;

struct KindRow {
  std::string_view word;
  Kind kind;
  uint64_t size_min;
};
constexpr KindRow kPrimitives[] = {
    {"null", Kind::kNull, 0},   {"boolean", Kind::kBoolean, 1}, {"int", Kind::kInt, 1},
    {"long", Kind::kLong, 1},   {"float", Kind::kFloat, 4},     {"double", Kind::kDouble, 8},
    {"bytes", Kind::kBytes, 1}, {"string", Kind::kString, 1},
};

std::optional<KindRow> FindPrimitive(std::string_view word) {
  for (const auto& row : kPrimitives) {
    if (row.word == word) return row;
  }
  return std::nullopt;
}

struct LogicalRow {
  std::string_view word;
  Kind carrier;
  Logical logical;
};
constexpr LogicalRow kLogicals[] = {
    {"date", Kind::kInt, Logical::kDate},
    {"time-millis", Kind::kInt, Logical::kTimeMillis},
    {"time-micros", Kind::kLong, Logical::kTimeMicros},
    {"timestamp-millis", Kind::kLong, Logical::kTimestampMillis},
    {"timestamp-micros", Kind::kLong, Logical::kTimestampMicros},
    {"timestamp-nanos", Kind::kLong, Logical::kTimestampNanos},
    {"local-timestamp-millis", Kind::kLong, Logical::kLocalTimestampMillis},
    {"local-timestamp-micros", Kind::kLong, Logical::kLocalTimestampMicros},
    {"local-timestamp-nanos", Kind::kLong, Logical::kLocalTimestampNanos},
    {"uuid", Kind::kString, Logical::kUuid},
};

// Where in the schema the parser is; rendered only for an error.
struct Path {
  const Path* parent = nullptr;
  std::string_view step;
  std::optional<size_t> index;

  std::string Text() const {
    if (parent == nullptr) return "$";
    std::string text = parent->Text();
    if (index) return text + fmt::format("[{}]", *index);
    return text + "." + std::string(step);
  }
};

std::unexpected<Error> Bad(const Path& path, std::string_view what) {
  return Fail(ErrorKind::kCorrupt, fmt::format("avro schema: {} path={}", what, path.Text()));
}

std::optional<Json> Get(Json object, std::string_view key) {
  Json value;
  if (object[key].get(value) != simdjson::SUCCESS) return std::nullopt;
  return value;
}

std::optional<std::string_view> GetText(Json object, std::string_view key) {
  const auto value = Get(object, key);
  std::string_view text;
  if (!value || value->get(text) != simdjson::SUCCESS) return std::nullopt;
  return text;
}

std::optional<int64_t> GetInteger(Json object, std::string_view key) {
  const auto value = Get(object, key);
  int64_t number = 0;
  if (!value || value->get(number) != simdjson::SUCCESS) return std::nullopt;
  return number;
}

// "name" and "space" to a full name; a dotted name has its namespace in it.
std::string FullName(std::string_view name, std::string_view space) {
  if (space.empty() || name.find('.') != name.npos) return std::string(name);
  return std::string(space) + "." + std::string(name);
}

std::string_view NamespaceOf(std::string_view full_name) {
  const auto dot = full_name.rfind('.');
  return dot == full_name.npos ? std::string_view() : full_name.substr(0, dot);
}

class Parser {
 public:
  explicit Parser(Schema::Storage& storage) : storage_(storage) {}

  Result<const Type*> ParseType(Json json, std::string_view space, const Path& path, int depth);

 private:
  Result<const Type*> ParseReference(std::string_view word, std::string_view space,
                                     const Path& path);
  Result<const Type*> ParseUnion(simdjson::dom::array list, std::string_view space,
                                 const Path& path, int depth);
  Result<const Type*> ParseObject(Json json, std::string_view space, const Path& path, int depth);
  Result<const Type*> ParseNamed(Json json, Kind kind, std::string_view space, const Path& path,
                                 int depth);
  Status ParseFields(Json json, Type& type, const Path& path, int depth);
  Result<Field> ParseField(Json json, std::string_view space, const Path& path, int depth);
  static Status ParseSymbols(Json json, Type& type, const Path& path);
  static Status ParseFixed(Json json, Type& type, const Path& path);
  static Status ParseAliases(Json json, std::vector<std::string>& aliases,
                             std::optional<std::string_view> space, const Path& path);
  static void ParseLogical(Json json, Type& type);

  Type& Make(Kind kind) {
    storage_.types.emplace_back();
    storage_.types.back().kind = kind;
    return storage_.types.back();
  }
  const Type* Primitive(const KindRow& row) {
    auto& shared = primitives_[row.kind];
    if (shared == nullptr) shared = &MakePrimitive(row);
    return shared;
  }
  Type& MakePrimitive(const KindRow& row) {
    Type& type = Make(row.kind);
    type.size_min = row.size_min;
    type.is_empty = row.kind == Kind::kNull;
    return type;
  }

  Schema::Storage& storage_;
  std::map<Kind, const Type*> primitives_;
};

Result<const Type*> Parser::ParseType(Json json, std::string_view space, const Path& path,
                                      int depth) {
  if (depth > kSchemaDepthMax) {
    return Fail(ErrorKind::kExhausted,
                fmt::format("avro schema is nested too deep, depth_max={}", kSchemaDepthMax));
  }
  std::string_view word;
  simdjson::dom::array list;
  if (json.get(word) == simdjson::SUCCESS) return ParseReference(word, space, path);
  if (json.get(list) == simdjson::SUCCESS) return ParseUnion(list, space, path, depth);
  if (json.is_object()) return ParseObject(json, space, path, depth);
  return Bad(path, "a type must be a string, an object or a list");
}

Result<const Type*> Parser::ParseReference(std::string_view word, std::string_view space,
                                           const Path& path) {
  if (const auto row = FindPrimitive(word)) return Primitive(*row);
  const auto found = storage_.named.find(FullName(word, space));
  if (found == storage_.named.end()) {
    return Bad(path, fmt::format("unknown type name={}", FullName(word, space)));
  }
  return found->second;
}

Result<const Type*> Parser::ParseUnion(simdjson::dom::array list, std::string_view space,
                                       const Path& path, int depth) {
  Type& type = Make(Kind::kUnion);
  std::set<std::string_view> seen;
  uint64_t smallest = kSizeMinMax;
  size_t index = 0;
  for (const Json branch : list) {
    const Path place{&path, {}, index++};
    TRY_ASSIGN(const Type* parsed, ParseType(branch, space, place, depth + 1));
    if (parsed->kind == Kind::kUnion) return Bad(place, "a union stands directly in a union");
    const auto word = parsed->name.empty() ? KindName(parsed->kind) : parsed->name;
    if (!seen.insert(word).second) {
      return Bad(place, fmt::format("a union has two branches of one type, type={}", word));
    }
    smallest = std::min(smallest, parsed->size_min);
    type.branches.push_back(parsed);
  }
  type.size_min = std::min(smallest + 1, kSizeMinMax);
  return &type;
}

Result<const Type*> Parser::ParseObject(Json json, std::string_view space, const Path& path,
                                        int depth) {
  const auto inner = Get(json, "type");
  if (!inner) return Bad(path, "a type has no \"type\"");
  const Path type_path{&path, "type", {}};
  std::string_view word;
  if (inner->get(word) != simdjson::SUCCESS) {
    // {"type": {…}} or {"type": [ … ]}: an extra pair of braces that some writers put.
    return ParseType(*inner, space, type_path, depth + 1);
  }
  if (word == "record" || word == "error")
    return ParseNamed(json, Kind::kRecord, space, path, depth);
  if (word == "enum") return ParseNamed(json, Kind::kEnum, space, path, depth);
  if (word == "fixed") return ParseNamed(json, Kind::kFixed, space, path, depth);
  if (word == "array" || word == "map") {
    const std::string_view key = word == "array" ? "items" : "values";
    const auto items = Get(json, key);
    if (!items) return Bad(path, fmt::format("an {} has no \"{}\"", word, key));
    Type& type = Make(word == "array" ? Kind::kArray : Kind::kMap);
    type.size_min = 1;
    TRY_ASSIGN(type.items, ParseType(*items, space, Path{&path, key, {}}, depth + 1));
    return &type;
  }
  const auto row = FindPrimitive(word);
  if (!row) return ParseReference(word, space, type_path);
  if (!Get(json, "logicalType")) return Primitive(*row);
  Type& type = MakePrimitive(*row);
  ParseLogical(json, type);
  return &type;
}

Result<const Type*> Parser::ParseNamed(Json json, Kind kind, std::string_view space,
                                       const Path& path, int depth) {
  const auto name = GetText(json, "name");
  if (!name || name->empty() || name->back() == '.') {
    return Bad(path, fmt::format("a {} has no \"name\"", KindName(kind)));
  }
  if (const auto own = GetText(json, "namespace")) space = *own;
  const std::string full_name = FullName(*name, space);
  if (FindPrimitive(full_name)) {
    return Bad(path, fmt::format("a primitive type is defined anew, name={}", full_name));
  }
  Type& type = Make(kind);
  type.name = full_name;
  const auto own_space = NamespaceOf(type.name);
  // Named before its fields are read: they may refer to it.
  if (!storage_.named.emplace(full_name, &type).second) {
    return Bad(path, fmt::format("a type is defined twice, name={}", full_name));
  }
  TRY(ParseAliases(json, type.aliases, own_space, path));
  if (kind == Kind::kRecord) TRY(ParseFields(json, type, path, depth));
  if (kind == Kind::kEnum) TRY(ParseSymbols(json, type, path));
  if (kind == Kind::kFixed) TRY(ParseFixed(json, type, path));
  return &type;
}

Status Parser::ParseFields(Json json, Type& type, const Path& path, int depth) {
  const Path list_path{&path, "fields", {}};
  const auto value = Get(json, "fields");
  simdjson::dom::array list;
  if (!value || value->get(list) != simdjson::SUCCESS) {
    return Bad(path, "a record has no list of \"fields\"");
  }
  std::set<std::string, std::less<>> seen;
  uint64_t size_min = 0;
  for (const Json item : list) {
    const Path place{&list_path, {}, type.fields.size()};
    TRY_ASSIGN(Field field, ParseField(item, NamespaceOf(type.name), place, depth));
    if (!seen.insert(field.name).second) {
      return Bad(place, fmt::format("a record has two fields of one name, name={}", field.name));
    }
    // A reference back to a record that is being read counts as zero bytes: still a lower bound.
    size_min = std::min(size_min + field.type->size_min, kSizeMinMax);
    if (!field.type->is_empty) type.solid.push_back(field.type);
    type.fields.push_back(std::move(field));
  }
  type.size_min = size_min;
  type.is_empty = type.solid.empty();
  if (type.fields.size() > kFewFields) {
    for (uint32_t place = 0; place < type.fields.size(); ++place) type.by_name.push_back(place);
    std::ranges::sort(type.by_name, {}, [&](uint32_t place) -> const std::string& {
      return type.fields[place].name;
    });
  }
  return {};
}

Result<Field> Parser::ParseField(Json json, std::string_view space, const Path& path, int depth) {
  if (!json.is_object()) return Bad(path, "a field is no object");
  Field field;
  const auto name = GetText(json, "name");
  if (!name || name->empty()) return Bad(path, "a field has no \"name\"");
  field.name = *name;
  const auto type = Get(json, "type");
  if (!type) return Bad(path, fmt::format("a field has no \"type\", name={}", field.name));
  TRY_ASSIGN(field.type, ParseType(*type, space, Path{&path, "type", {}}, depth + 1));
  TRY(ParseAliases(json, field.aliases, std::nullopt, path));
  if (const auto value = Get(json, "default")) field.default_json = simdjson::minify(*value);
  field.doc = GetText(json, "doc").value_or("");
  return field;
}

Status Parser::ParseSymbols(Json json, Type& type, const Path& path) {
  const Path list_path{&path, "symbols", {}};
  const auto value = Get(json, "symbols");
  simdjson::dom::array list;
  if (!value || value->get(list) != simdjson::SUCCESS) {
    return Bad(path, "an enum has no list of \"symbols\"");
  }
  std::set<std::string_view> seen;
  for (const Json item : list) {
    const Path place{&list_path, {}, type.symbols.size()};
    std::string_view symbol;
    if (item.get(symbol) != simdjson::SUCCESS || symbol.empty()) {
      return Bad(place, "a symbol is no text");
    }
    if (!seen.insert(symbol).second) {
      return Bad(place, fmt::format("an enum has two equal symbols, symbol={}", symbol));
    }
    type.symbols.emplace_back(symbol);
  }
  if (const auto fallback = GetText(json, "default")) type.default_symbol = std::string(*fallback);
  type.size_min = 1;
  return {};
}

Status Parser::ParseFixed(Json json, Type& type, const Path& path) {
  const auto size = GetInteger(json, "size");
  if (!size || *size < 0 || *size > std::numeric_limits<int32_t>::max()) {
    return Bad(path, "a fixed has no \"size\" of 0 to 2147483647");
  }
  type.fixed_size = static_cast<uint64_t>(*size);
  type.size_min = type.fixed_size;
  type.is_empty = *size == 0;
  ParseLogical(json, type);
  return {};
}

// `space`: of a named type; unset for fields, whose aliases are plain names.
Status Parser::ParseAliases(Json json, std::vector<std::string>& aliases,
                            std::optional<std::string_view> space, const Path& path) {
  const auto value = Get(json, "aliases");
  if (!value) return {};
  const Path list_path{&path, "aliases", {}};
  simdjson::dom::array list;
  if (value->get(list) != simdjson::SUCCESS) return Bad(list_path, "aliases are no list");
  for (const Json item : list) {
    std::string_view alias;
    if (item.get(alias) != simdjson::SUCCESS || alias.empty()) {
      return Bad(Path{&list_path, {}, aliases.size()}, "an alias is no text");
    }
    aliases.push_back(space ? FullName(alias, *space) : std::string(alias));
  }
  return {};
}

// Decimal digits that always fit into a fixed of `size` bytes.
int64_t DigitsOfFixed(uint64_t size) {
  // floor(log10(2^(8 * size - 1) - 1)), with log10(2) = 0.30103 rounded down.
  if (size == 0) return 0;
  return static_cast<int64_t>(static_cast<double>(8 * size - 1) * 0.3010299956639811);
}

void Parser::ParseLogical(Json json, Type& type) {
  const auto word = GetText(json, "logicalType");
  if (!word) return;
  if (*word == "decimal") {
    const int64_t precision = GetInteger(json, "precision").value_or(0);
    const int64_t scale = GetInteger(json, "scale").value_or(0);
    const int64_t precision_max = type.kind == Kind::kFixed   ? DigitsOfFixed(type.fixed_size)
                                  : type.kind == Kind::kBytes ? std::numeric_limits<int>::max()
                                                              : 0;
    if (precision < 1 || precision > precision_max || scale < 0 || scale > precision) return;
    type.logical = Logical::kDecimal;
    type.precision = static_cast<int>(precision);
    type.scale = static_cast<int>(scale);
    return;
  }
  if (*word == "uuid" && type.kind == Kind::kFixed && type.fixed_size == 16) {
    type.logical = Logical::kUuid;
    return;
  }
  for (const auto& row : kLogicals) {
    if (row.word == *word && row.carrier == type.kind) type.logical = row.logical;
  }
}

}  // namespace

Result<const Type*> ParseTypes(std::string_view json, Schema::Storage& storage) {
  // simdjson copies from where a null view points to.
  if (json.empty()) return Fail(ErrorKind::kCorrupt, "avro schema is not JSON, bytes=0");
  Json root;
  simdjson::dom::parser parser;
  auto error = parser.allocate(json.size(), kJsonDepthMax);
  if (error == simdjson::SUCCESS) error = parser.parse(json.data(), json.size()).get(root);
  if (error == simdjson::DEPTH_ERROR) {
    return Fail(ErrorKind::kExhausted,
                fmt::format("avro schema is nested too deep, depth_max={}", kSchemaDepthMax));
  }
  if (error != simdjson::SUCCESS) {
    return Fail(ErrorKind::kCorrupt, fmt::format("avro schema is not JSON, bytes={} reason={}",
                                                 json.size(), simdjson::error_message(error)));
  }
  return Parser(storage).ParseType(root, {}, Path{}, 0);
}

}  // namespace tidemark::lake::avro
