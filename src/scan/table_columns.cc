#include "scan/table_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tidemark::scan {
namespace {

using columnar::ColumnView;
using columnar::ValueKind;
using lake::avro::Datum;
using lake::avro::Kind;
using merge::Op;

constexpr std::string_view kKeyFieldsProperty = "hoodie.table.recordkey.fields";
constexpr std::string_view kMetaFieldsProperty = "hoodie.populate.meta.fields";
/// KeyGenUtils of every release.
constexpr std::string_view kNullKey = "__null__";
constexpr std::string_view kEmptyKey = "__empty__";

std::vector<std::string> SplitNames(std::string_view list) {
  std::vector<std::string> names;
  while (!list.empty()) {
    const size_t comma = list.find(',');
    std::string_view name = list.substr(0, comma);
    while (name.starts_with(' ')) name.remove_prefix(1);
    while (name.ends_with(' ')) name.remove_suffix(1);
    if (!name.empty()) names.emplace_back(name);
    list = comma == std::string_view::npos ? std::string_view() : list.substr(comma + 1);
  }
  return names;
}

std::unexpected<Error> NoText(std::string_view field, std::string_view type) {
  return Fail(ErrorKind::kUnsupported,
              fmt::format("key field has a type that makes no key, field={} type={}", field, type));
}

Status AppendText(const Datum& datum, std::string_view field, std::string& out) {
  switch (datum.type().kind) {
    case Kind::kString:
    case Kind::kEnum: {
      TRY_ASSIGN(const std::string_view text, datum.String());
      out += text.empty() ? kEmptyKey : text;
      return {};
    }
    case Kind::kInt:
    case Kind::kLong: {
      TRY_ASSIGN(const int64_t number, datum.Long());
      out += std::to_string(number);
      return {};
    }
    case Kind::kBoolean: {
      bool is_true = false;
      TRY(datum.Boolean(is_true));
      out += is_true ? "true" : "false";
      return {};
    }
    case Kind::kNull: out += kNullKey; return {};
    default: return NoText(field, KindName(datum.type().kind));
  }
}

Status AppendText(const ColumnView& column, size_t row, std::string_view field, std::string& out) {
  if (column.IsNull(row)) {
    out += kNullKey;
    return {};
  }
  switch (column.type->kind) {
    case ValueKind::kString: {
      const std::string_view text = column.Text(row);
      out += text.empty() ? kEmptyKey : text;
      return {};
    }
    case ValueKind::kInt32:
    case ValueKind::kDate: out += std::to_string(column.Value<int32_t>(row)); return {};
    case ValueKind::kInt64:
    case ValueKind::kTimestamp: out += std::to_string(column.Value<int64_t>(row)); return {};
    case ValueKind::kBoolean: out += column.Boolean(row) ? "true" : "false"; return {};
    default: return NoText(field, column.type->ToString());
  }
}

/// Places in a record's selection: key, ordering columns, then these.
enum Mark : size_t { kIsDeleted, kOperation, kDeleteField, kMarks };

bool HoldsMarker(const ColumnView& column, size_t row, std::string_view marker) {
  if (column.IsNull(row)) return false;
  switch (column.type->kind) {
    case ValueKind::kString:
    case ValueKind::kBinary: return column.Text(row) == marker;
    case ValueKind::kInt32: return std::to_string(column.Value<int32_t>(row)) == marker;
    case ValueKind::kInt64: return std::to_string(column.Value<int64_t>(row)) == marker;
    case ValueKind::kBoolean: return (column.Boolean(row) ? "true" : "false") == marker;
    default: return false;
  }
}

}  // namespace

std::optional<Op> OpOfOperation(std::string_view word) {
  if (word == "D") return Op::kOperationDelete;
  if (word == "-U") return Op::kOperationBefore;
  return std::nullopt;
}

Result<TableColumns> TableColumns::Make(const lake::avro::Schema& table,
                                        const lake::hudi::TableProperties& properties,
                                        const merge::TableSettings& settings) {
  TableColumns made;
  TRY_ASSIGN(made.ordering_, OrderingFields::Make(table, settings.ordering_fields));
  made.settings_ = settings;
  if (properties.Find(kMetaFieldsProperty).value_or("true") == "false") {
    made.key_fields_ = SplitNames(properties.Find(kKeyFieldsProperty).value_or(""));
  }
  return made;
}

std::vector<std::string> TableColumns::SelectedNames() const {
  std::vector<std::string> names = key_fields_;
  if (names.empty()) names.emplace_back(kRecordKeyColumn);
  names.insert(names.end(), ordering_.columns().begin(), ordering_.columns().end());
  names.emplace_back(kIsDeletedColumn);
  names.emplace_back(kOperationColumn);
  names.push_back(settings_.delete_field);
  return names;
}

std::vector<columnar::WantedColumn> TableColumns::HiddenColumns(const lake::avro::Schema& table,
                                                                Need need) const {
  std::vector<columnar::WantedColumn> hidden;
  const auto want = [&](std::string_view name) {
    if (!name.empty() && table.root().FindField(name)) hidden.push_back({std::string(name), false});
  };
  want(kIsDeletedColumn);
  want(settings_.delete_field);
  if (need == Need::kMarks) {
    want(kOperationColumn);
    return hidden;
  }
  // A commit's schema may leave it out although the files have it.
  hidden.push_back({std::string(kOperationColumn), false});
  if (key_fields_.empty()) hidden.push_back({std::string(kRecordKeyColumn), false});
  for (const auto& name : key_fields_) want(name);
  for (const auto& name : ordering_.columns()) want(name);
  return hidden;
}

Result<std::string_view> TableColumns::KeyOf(std::span<const std::optional<Datum>> row,
                                             std::string& scratch) const {
  if (key_fields_.empty()) {
    if (!row[0] || row[0]->is_null()) {
      return Fail(ErrorKind::kCorrupt, "a record has no _hoodie_record_key");
    }
    return row[0]->String();
  }
  scratch.clear();
  for (size_t i = 0; i < key_fields_.size(); ++i) {
    if (key_fields_.size() > 1) scratch += fmt::format("{}{}:", i > 0 ? "," : "", key_fields_[i]);
    if (!row[i]) {
      return Fail(ErrorKind::kCorrupt,
                  fmt::format("a record lacks a key field, field={}", key_fields_[i]));
    }
    TRY(AppendText(*row[i], key_fields_[i], scratch));
  }
  return std::string_view(scratch);
}

Result<merge::OrderingValue> TableColumns::OrderingOf(std::span<const std::optional<Datum>> row,
                                                      merge::OrderingArena& arena) const {
  const size_t keys = std::max<size_t>(key_fields_.size(), 1);
  return ordering_.Read(row.subspan(keys, ordering_.columns().size()), arena);
}

Result<Op> TableColumns::OpOf(std::span<const std::optional<Datum>> row) const {
  const auto marks = row.last(kMarks);
  const auto& flag = marks[kIsDeleted];
  if (flag && flag->type().kind == Kind::kBoolean) {
    bool is_deleted = false;
    TRY(flag->Boolean(is_deleted));
    if (is_deleted) return Op::kDeletedRow;
  }
  const auto& marked = marks[kDeleteField];
  if (marked && !settings_.delete_field.empty()) {
    std::string text;
    if (AppendText(*marked, settings_.delete_field, text) && text == settings_.delete_marker) {
      return Op::kDeletedRow;
    }
  }
  const auto& operation = marks[kOperation];
  if (operation && operation->type().kind == Kind::kString) {
    TRY_ASSIGN(const std::string_view word, operation->String());
    return OpOfOperation(word).value_or(Op::kUpsert);
  }
  return Op::kUpsert;
}

TableColumns::Places TableColumns::PlacesIn(const columnar::RowType& type) const {
  Places places;
  places.key = type.Find(kRecordKeyColumn);
  for (const auto& name : key_fields_) places.key_fields.push_back(type.Find(name));
  places.ordering = ordering_.PlacesIn(type);
  places.is_deleted = type.Find(kIsDeletedColumn);
  if (!settings_.delete_field.empty()) places.delete_field = type.Find(settings_.delete_field);
  places.operation = type.Find(kOperationColumn);
  places.commit_time = type.Find(kCommitTimeColumn);
  return places;
}

Result<std::string_view> TableColumns::KeyOf(const columnar::Batch& batch, const Places& places,
                                             size_t row, std::string& scratch) const {
  if (key_fields_.empty()) {
    const ColumnView& keys = batch.column(*places.key);
    if (keys.IsNull(row)) return Fail(ErrorKind::kCorrupt, "a row has no _hoodie_record_key");
    return keys.Text(row);
  }
  scratch.clear();
  for (size_t i = 0; i < key_fields_.size(); ++i) {
    if (key_fields_.size() > 1) scratch += fmt::format("{}{}:", i > 0 ? "," : "", key_fields_[i]);
    if (!places.key_fields[i]) {
      return Fail(ErrorKind::kUnsupported,
                  fmt::format("the table lacks a key field, field={}", key_fields_[i]));
    }
    TRY(AppendText(batch.column(*places.key_fields[i]), row, key_fields_[i], scratch));
  }
  return std::string_view(scratch);
}

Op TableColumns::OpOf(const columnar::Batch& batch, const Places& places, size_t row) const {
  if (places.is_deleted) {
    const ColumnView& flags = batch.column(*places.is_deleted);
    if (flags.type->kind == ValueKind::kBoolean && !flags.IsNull(row) && flags.Boolean(row)) {
      return Op::kDeletedRow;
    }
  }
  if (places.delete_field &&
      HoldsMarker(batch.column(*places.delete_field), row, settings_.delete_marker)) {
    return Op::kDeletedRow;
  }
  if (places.operation) {
    const ColumnView& words = batch.column(*places.operation);
    if (words.type->kind == ValueKind::kString && !words.IsNull(row)) {
      return OpOfOperation(words.Text(row)).value_or(Op::kUpsert);
    }
  }
  return Op::kUpsert;
}

}  // namespace tidemark::scan
