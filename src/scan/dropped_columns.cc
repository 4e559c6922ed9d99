#include "scan/dropped_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "lake/hudi/partitions.h"

namespace tidemark::scan {
namespace {

using lake::avro::Kind;
using lake::avro::Logical;
using lake::avro::Type;
using nlohmann::json;

constexpr std::string_view kDropProperty = "hoodie.datasource.write.drop.partition.columns";

/// The only branch that is not null; the type itself when it is no union.
const Type* Solid(const Type& type) {
  if (type.kind != Kind::kUnion) return &type;
  const Type* solid = nullptr;
  for (const auto* branch : type.branches) {
    if (branch->kind == Kind::kNull) continue;
    if (solid != nullptr) return nullptr;
    solid = branch;
  }
  return solid;
}

template <class Number>
std::optional<Number> ParseNumber(std::string_view text) {
  Number number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

/// Days since 1970 of "2025-01-31".
std::optional<int> ParseDate(std::string_view text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return std::nullopt;
  const auto year = ParseNumber<int>(text.substr(0, 4));
  const auto month = ParseNumber<unsigned>(text.substr(5, 2));
  const auto day = ParseNumber<unsigned>(text.substr(8, 2));
  if (!year || !month || !day) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(*year), std::chrono::month(*month),
                                         std::chrono::day(*day)};
  if (!date.ok()) return std::nullopt;
  return static_cast<int>(std::chrono::sys_days(date).time_since_epoch().count());
}

/// A folder's text as JSON of the type; nullopt: it is no value of it.
std::optional<std::string> ToJson(const std::string& text, const Type& type) {
  switch (type.kind) {
    case Kind::kString: return json(text).dump(-1, ' ', false, json::error_handler_t::replace);
    case Kind::kInt: {
      const auto number =
          type.logical == Logical::kDate ? ParseDate(text) : ParseNumber<int32_t>(text);
      if (!number) return std::nullopt;
      return std::to_string(*number);
    }
    case Kind::kLong: {
      const auto number = ParseNumber<int64_t>(text);
      if (!number) return std::nullopt;
      return std::to_string(*number);
    }
    default:
      if (text != "true" && text != "false") return std::nullopt;
      return text;
  }
}

bool IsReadAsText(const Type& type) {
  switch (type.kind) {
    case Kind::kString:
    case Kind::kBoolean: return true;
    case Kind::kInt: return type.logical == Logical::kNone || type.logical == Logical::kDate;
    case Kind::kLong: return type.logical == Logical::kNone;
    default: return false;
  }
}

Result<columnar::ConstantColumn> ConstantOf(const std::string& column,
                                            const std::optional<std::string>& text,
                                            const lake::avro::Schema& schema) {
  const auto place = schema.root().FindField(column);
  if (!place) {
    return Fail(ErrorKind::kUnsupported,
                fmt::format("partition column is not in the table's schema, column={}", column));
  }
  const Type* type = Solid(*schema.root().fields[*place].type);
  if (type == nullptr || !IsReadAsText(*type)) {
    return Fail(ErrorKind::kUnsupported,
                fmt::format("partition column that the files lack has a type that its folder's "
                            "text is not read as, column={} type={}",
                            column, type == nullptr ? "union" : KindName(type->kind)));
  }
  if (!text) return columnar::ConstantColumn{column, "null"};
  auto value = ToJson(*text, *type);
  if (!value) {
    return Fail(ErrorKind::kCorrupt,
                fmt::format("a folder's text is no value of its partition column, column={} "
                            "type={} text={}",
                            column, KindName(type->kind), *text));
  }
  return columnar::ConstantColumn{column, *std::move(value)};
}

}  // namespace

std::vector<std::string> DroppedColumns(const lake::hudi::TableProperties& properties) {
  if (properties.Find(kDropProperty).value_or("false") != "true") return {};
  return PartitionColumns(properties);
}

Result<std::string> WithDroppedColumns(std::string_view schema_json,
                                       const std::vector<std::string>& columns) {
  if (columns.empty()) return std::string(schema_json);
  auto schema = json::parse(schema_json, nullptr, false);
  if (!schema.is_object() || !schema.contains("fields") || !schema["fields"].is_array())
    return Fail(ErrorKind::kCorrupt, "schema of the table is no record");
  json& fields = schema["fields"];
  for (const std::string& column : columns) {
    const bool has = std::ranges::any_of(fields, [&](const json& field) {
      return field.is_object() && field.value("name", json()) == json(column);
    });
    if (has) continue;
    fields.push_back({{"name", column}, {"type", {"null", "string"}}, {"default", nullptr}});
  }
  return schema.dump();
}

Result<std::vector<columnar::ConstantColumn>> ConstantsOf(
    std::string_view partition, const lake::hudi::TableProperties& properties,
    const std::vector<std::string>& columns, const lake::avro::Schema& schema) {
  const auto values = PartitionValues(partition, properties);
  if (values.size() != columns.size()) {
    return Fail(ErrorKind::kUnsupported,
                fmt::format("the files lack their partition columns, and a partition's path has "
                            "not as many folders as there are columns, path={} columns={}",
                            partition, columns.size()));
  }
  std::vector<columnar::ConstantColumn> constants;
  for (size_t i = 0; i < columns.size(); ++i) {
    TRY_ASSIGN(auto constant, ConstantOf(columns[i], values[i].value, schema));
    constants.push_back(std::move(constant));
  }
  return constants;
}

}  // namespace tidemark::scan
