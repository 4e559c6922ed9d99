#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <utility>

#include "change/columns_internal.h"

namespace tidemark::change {
namespace {

using nlohmann::json;

constexpr int kDepthMax = 128;

struct TypeName {
  std::string_view word;
  std::string_view name;
};
/// Words of the internal form that are not ours (SerDeHelper; those with dashes are of releases
/// after 1.1).
constexpr std::array<TypeName, 6> kTypeNames = {{{"long", "bigint"},
                                                 {"time-millis", "time_millis"},
                                                 {"timestamp-millis", "timestamp_millis"},
                                                 {"local-timestamp-millis", "timestamp_ntz_millis"},
                                                 {"local-timestamp-micros", "timestamp_ntz"},
                                                 {"null", "void"}}};
/// What the releases known make of a type in their internal form, where that is not the type.
constexpr std::array<TypeName, 6> kBlurred = {{{"time_millis", "time"},
                                               {"timestamp_millis", "timestamp"},
                                               {"timestamp_nanos", "bigint"},
                                               {"timestamp_ntz", "bigint"},
                                               {"timestamp_ntz_millis", "bigint"},
                                               {"timestamp_ntz_nanos", "bigint"}}};

std::string_view Find(std::span<const TypeName> names, std::string_view word) {
  const auto found = std::ranges::find(names, word, &TypeName::word);
  return found == names.end() ? word : found->name;
}

std::unexpected<Error> Broken(std::string_view part) {
  return Fail(ErrorKind::kCorrupt,
              fmt::format("internal schema is not what writers put there, part={}", part));
}

const json* Member(const json& object, const char* name) {
  const auto found = object.find(name);
  return found == object.end() ? nullptr : &*found;
}

/// "decimal(20, 6)" is "decimal(20,6)", "fixed[16]" is "fixed(16)".
std::string LeafName(std::string word) {
  std::erase(word, ' ');
  std::ranges::transform(word, word.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 32) : c;
  });
  if (word.starts_with("fixed[") && word.ends_with(']'))
    return fmt::format("fixed({})", std::string_view(word).substr(6, word.size() - 7));
  // Newer releases say how a decimal is stored: decimal_fixed(20,6)[9].
  if (word.starts_with("decimal") && word.contains('(') && word.contains(')')) {
    const size_t open = word.find('(');
    return "decimal" + word.substr(open, word.find(')') - open + 1);
  }
  return std::string(Find(kTypeNames, word));
}

class InternalReader {
 public:
  Result<std::vector<Column>> ReadRecord(const json& type, int depth) {
    const json* fields = Member(type, "fields");
    if (fields == nullptr || !fields->is_array()) return Broken("fields");
    std::vector<Column> columns;
    std::set<std::string> seen;
    for (const json& field : *fields) {
      if (!field.is_object()) return Broken("field");
      const json* name = Member(field, "name");
      if (name == nullptr || !name->is_string()) return Broken("name");
      auto text = name->get<std::string>();
      if (!seen.insert(text).second) return Broken("two fields of one name");
      if (depth == 0 && IsMetaColumn(text)) continue;
      TRY_ASSIGN(Column column,
                 ReadMember(field, {"id", "type", "optional"}, std::move(text), depth));
      if (const json* doc = Member(field, "doc"); doc != nullptr && doc->is_string())
        column.comment = doc->get<std::string>();
      columns.push_back(std::move(column));
    }
    return columns;
  }

 private:
  /// What the parts of a column are called in the object that has them.
  struct Names {
    const char* id;
    const char* type;
    const char* optional;  ///< nullptr: never null
  };

  Result<Column> ReadMember(const json& holder, Names names, std::string name, int depth) {
    TRY(count_.Add());
    Column column;
    column.name = std::move(name);
    const json* id = Member(holder, names.id);
    if (id == nullptr || !id->is_number_integer()) return Broken(names.id);
    column.id = id->get<int64_t>();
    if (names.optional != nullptr) {
      const json* optional = Member(holder, names.optional);
      if (optional == nullptr || !optional->is_boolean()) return Broken(names.optional);
      column.is_nullable = optional->get<bool>();
    }
    const json* type = Member(holder, names.type);
    if (type == nullptr) return Broken(names.type);
    TRY(Fill(*type, column, depth + 1));
    return column;
  }

  Status Fill(const json& type, Column& column, int depth) {
    if (depth > kDepthMax)
      return Fail(ErrorKind::kExhausted,
                  fmt::format("internal schema is nested too deep depth_max={}", kDepthMax));
    if (type.is_string()) {
      column.type = LeafName(type.get<std::string>());
      return ContainerWord(column.type).empty() ? Status() : Broken("type");
    }
    const json* word = type.is_object() ? Member(type, "type") : nullptr;
    if (word == nullptr || !word->is_string()) return Broken("type");
    if (*word == "record") {
      column.type = kStruct;
      TRY_ASSIGN(column.children, ReadRecord(type, depth));
      return {};
    }
    if (*word == "array") {
      column.type = kArray;
      return AddChild(type, {"element_id", "element", "element_optional"}, "element", depth,
                      column);
    }
    if (*word != "map") return Broken("type");
    column.type = kMap;
    TRY(AddChild(type, {"key_id", "key", nullptr}, "key", depth, column));
    return AddChild(type, {"value_id", "value", "value_optional"}, "value", depth, column);
  }

  Status AddChild(const json& type, Names names, std::string name, int depth, Column& column) {
    TRY_ASSIGN(Column child, ReadMember(type, names, std::move(name), depth));
    column.children.push_back(std::move(child));
    return {};
  }

  ColumnCount count_;
};

/// Takes from `avro` what the internal form of the same columns does not have.
void FillFrom(std::vector<Column>& avro, std::vector<Column>& columns) {
  std::map<std::string_view, Column*> by_name;
  for (Column& column : avro) by_name.emplace(column.name, &column);
  for (Column& column : columns) {
    const auto found = by_name.find(column.name);
    if (found == by_name.end()) continue;
    Column& other = *found->second;
    if (column.comment.empty()) column.comment = other.comment;
    if (other.default_json && !(column.is_nullable && other.default_json == "null"))
      column.default_json = other.default_json;
    if (column.type != other.type && Find(kBlurred, other.type) == column.type)
      column.type = other.type;
    if (column.type == other.type) FillFrom(other.children, column.children);
  }
}

}  // namespace

Result<Schema> ParseInternalColumns(std::string_view text, std::string_view avro_json) {
  const json parsed = json::parse(text, nullptr, false);
  if (!parsed.is_object()) return Broken("document");
  TRY_ASSIGN(auto columns, InternalReader().ReadRecord(parsed, 0));
  if (!avro_json.empty()) {
    if (auto avro = AvroColumns(avro_json)) FillFrom(*avro, columns);
  }
  return FinishSchema(std::move(columns));
}

}  // namespace tidemark::change
