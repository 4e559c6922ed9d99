#include "lake/avro/schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "lake/avro/schema_parser_internal.h"

namespace tidemark::lake::avro {

std::string_view KindName(Kind kind) {
  switch (kind) {
    case Kind::kNull: return "null";
    case Kind::kBoolean: return "boolean";
    case Kind::kInt: return "int";
    case Kind::kLong: return "long";
    case Kind::kFloat: return "float";
    case Kind::kDouble: return "double";
    case Kind::kBytes: return "bytes";
    case Kind::kString: return "string";
    case Kind::kFixed: return "fixed";
    case Kind::kEnum: return "enum";
    case Kind::kArray: return "array";
    case Kind::kMap: return "map";
    case Kind::kUnion: return "union";
    case Kind::kRecord: return "record";
  }
  std::unreachable();
}

std::optional<size_t> Type::FindField(std::string_view field) const {
  if (!by_name.empty()) {
    const auto name_of = [this](uint32_t place) -> std::string_view { return fields[place].name; };
    const auto found = std::ranges::lower_bound(by_name, field, {}, name_of);
    if (found == by_name.end() || name_of(*found) != field) return std::nullopt;
    return *found;
  }
  for (size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].name == field) return i;
  }
  return std::nullopt;
}

Result<Schema> Schema::Parse(std::string_view json) {
  if (json.size() > kSchemaBytesMax) {
    return Fail(ErrorKind::kExhausted,
                fmt::format("avro schema is too large, bytes={} bytes_max={}", json.size(),
                            kSchemaBytesMax));
  }
  auto storage = std::make_shared<Storage>();
  TRY_ASSIGN(const Type* type, ParseTypes(json, *storage));
  return Schema(std::move(storage), type);
}

const Type* Schema::FindNamed(std::string_view full_name) const {
  const auto found = storage_->named.find(full_name);
  return found == storage_->named.end() ? nullptr : found->second;
}

}  // namespace tidemark::lake::avro
