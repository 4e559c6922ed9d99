#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "change/columns_internal.h"

namespace tidemark::change {
namespace {

constexpr std::array<std::string_view, 6> kMetaColumns = {
    "_hoodie_commit_time",    "_hoodie_commit_seqno", "_hoodie_record_key",
    "_hoodie_partition_path", "_hoodie_file_name",    "_hoodie_operation"};

bool IsPlain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

}  // namespace

std::string_view ContainerWord(std::string_view type) {
  const std::string_view word = type.substr(0, type.find('<'));
  for (const std::string_view container : {kStruct, kArray, kMap, kUnion})
    if (word == container) return container;
  return {};
}

Status ColumnCount::Add() {
  if (++count_ <= kColumnsMax) return {};
  return Fail(ErrorKind::kExhausted,
              fmt::format("schema has too many columns columns_max={}", kColumnsMax));
}

bool IsMetaColumn(std::string_view name) {
  return std::ranges::find(kMetaColumns, name) != kMetaColumns.end();
}

std::string QuotedName(std::string_view name) {
  if (!name.empty() && std::ranges::all_of(name, IsPlain)) return std::string(name);
  std::string quoted = "`";
  for (const char c : name) {
    if (c == '`') quoted += c;
    quoted += c;
  }
  return quoted + '`';
}

}  // namespace tidemark::change
