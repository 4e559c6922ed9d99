#include "columnar/row_type.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>

#include "base/utf8.h"

namespace tidemark::columnar {
namespace {

constexpr std::array<std::string_view, 5> kMetaColumns = {
    "_hoodie_commit_time", "_hoodie_commit_seqno", "_hoodie_record_key", "_hoodie_partition_path",
    "_hoodie_file_name"};
/// Of a name that somebody typed, in a message.
constexpr size_t kShownBytes = 200;
constexpr std::string_view kOperation = "_hoodie_operation";

bool IsHudis(std::string_view name) {
  return name == kOperation || IsMetaColumn(name);
}

Result<ValueField> FindField(const lake::avro::Schema& table, const std::string& name) {
  if (const auto place = table.root().FindField(name)) {
    return FieldOf(name, table.root().fields[*place]);
  }
  if (!IsHudis(name)) {
    return Fail(ErrorKind::kInvalidArgument, fmt::format("the table has no such column, column={}",
                                                         Shortened(name, kShownBytes)));
  }
  ValueField field;
  field.name = name;
  field.type.kind = ValueKind::kString;
  return field;
}

}  // namespace

bool IsMetaColumn(std::string_view name) {
  return std::ranges::find(kMetaColumns, name) != kMetaColumns.end();
}

Result<RowType> RowType::Make(const lake::avro::Schema& table,
                              std::span<const WantedColumn> wanted) {
  if (table.root().kind != lake::avro::Kind::kRecord) {
    return Fail(ErrorKind::kUnsupported, fmt::format("the table's schema is not a record, type={}",
                                                     lake::avro::KindName(table.root().kind)));
  }
  auto parts = std::make_shared<Parts>(Parts{table, {}, {}});
  std::unordered_map<std::string, size_t> known;
  for (const auto& want : wanted) {
    const auto [at, is_new] = known.try_emplace(want.name, parts->columns.size());
    if (!is_new) {
      Column& column = parts->columns[at->second];
      column.is_visible = column.is_visible || want.is_visible;
      continue;
    }
    TRY_ASSIGN(ValueField field, FindField(table, want.name));
    parts->columns.push_back(Column{std::move(field), want.is_visible});
  }
  if (parts->columns.empty()) return Fail(ErrorKind::kInvalidArgument, "no column is wanted");
  for (size_t i = 0; i < parts->columns.size(); ++i) {
    if (parts->columns[i].is_visible) parts->visible.push_back(i);
  }
  return RowType(std::move(parts));
}

std::optional<size_t> RowType::Find(std::string_view name) const {
  const auto found = std::ranges::find(columns(), name, &Column::name);
  if (found == columns().end()) return std::nullopt;
  return static_cast<size_t>(found - columns().begin());
}

bool operator==(const RowType& a, const RowType& b) {
  return a.parts_ == b.parts_ ||
         std::ranges::equal(a.columns(), b.columns(), [](const Column& x, const Column& y) {
           return x.name == y.name && x.is_visible == y.is_visible && x.type.HasLayoutOf(y.type);
         });
}

std::span<const std::string_view> MetaColumnNames() {
  return kMetaColumns;
}

std::vector<WantedColumn> WantAll(const lake::avro::Schema& table, MetaColumns meta) {
  std::vector<WantedColumn> wanted;
  if (meta == MetaColumns::kPutFirst) {
    for (const auto name : kMetaColumns) wanted.push_back({std::string(name), true});
  }
  for (const auto& field : table.root().fields) {
    if (std::ranges::find(kMetaColumns, field.name) == kMetaColumns.end()) {
      wanted.push_back({field.name, true});
    }
  }
  return wanted;
}

}  // namespace tidemark::columnar
