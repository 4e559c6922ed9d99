#include "scan/log_versions.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "columnar/batch_reader.h"
#include "scan/delete_ordering.h"
#include "scan/unavailable_value.h"
#include "storage/object_key.h"

namespace tidemark::scan {
namespace {

using lake::avro::Datum;
using lake::hudi::LogBlockKind;
using lake::hudi::LogHeaderKey;

/// A schema takes some ten times as much as its text.
constexpr size_t kWritersMax = 256;

Error Placed(Error error, const PlacedBlock& placed) {
  return std::move(error).With(
      fmt::format("file={} block offset={}", placed.file_name, placed.block.offset));
}

/// What the writer of a file calls a column of the table; empty for one it does not have.
std::string_view WrittenName(std::string_view column,
                             const std::vector<columnar::FileColumnName>& names) {
  for (const auto& name : names) {
    if (name.path == column) return name.name ? std::string_view(*name.name) : std::string_view();
  }
  return column;
}

using storage::FolderOf;

bool IsPartial(const lake::hudi::LogBlock& block) {
  return block.Header(LogHeaderKey::kIsPartial) == "true";
}

}  // namespace

merge::RowHandle MetVersion::Keep(RowStore& rows) const {
  switch (row) {
    case Row::kNone: return merge::kNoRow;
    case Row::kRecord: return rows.AddRecord(source, record);
    case Row::kBatchRow: return rows.AddRow(source, batch_row);
  }
  return merge::kNoRow;
}

Status LogVersions::Read(const PlacedBlock& placed, const Take& take) {
  if (IsPartial(placed.block)) is_partial_mode_ = true;
  Status done;
  switch (placed.block.kind) {
    case LogBlockKind::kAvroData: done = ReadRecords(placed, take); break;
    case LogBlockKind::kDelete: done = ReadDeletes(placed, take); break;
    case LogBlockKind::kParquetData: done = ReadParquet(placed, take); break;
    default:
      done = Fail(ErrorKind::kUnsupported,
                  fmt::format("data block of a kind that is not read, kind={}",
                              LogBlockKindName(placed.block.kind)));
  }
  if (!done) return std::unexpected(Placed(std::move(done).error(), placed));
  return done;
}

uint32_t LogVersions::ColumnSetOf(const lake::avro::Schema& writer, const Names& names) {
  std::vector<bool> has;
  for (const auto& column : rows_.type().columns()) {
    has.push_back(writer.root().FindField(WrittenName(column.name, names)).has_value());
  }
  for (size_t i = 0; i < column_sets_.size(); ++i) {
    if (column_sets_[i] == has) return static_cast<uint32_t>(i + 1);
  }
  column_sets_.push_back(std::move(has));
  return static_cast<uint32_t>(column_sets_.size());
}

Result<LogVersions::Writer*> LogVersions::WriterOf(const PlacedBlock& placed, bool is_partial) {
  const std::string_view text = placed.block.Header(LogHeaderKey::kSchema);
  if (text.empty()) return Fail(ErrorKind::kCorrupt, "data block has no schema");
  // What a renamed column is called depends on when the block was written, what one holds that was
  // left out on the folder.
  const std::string name =
      fmt::format("{}\n{}\n{}\n{}", is_partial, of_files_.names_at ? placed.instant : "",
                  of_files_.constants_in ? FolderOf(placed.file_name) : "", text);
  const auto known = writers_.find(name);
  if (known != writers_.end()) return &known->second;
  TRY_ASSIGN(lake::avro::Schema schema, lake::avro::Schema::Parse(text));
  if (schema.root().kind != lake::avro::Kind::kRecord) {
    return Fail(ErrorKind::kCorrupt, "data block's schema is not a record");
  }
  columnar::DecodeOptions options = of_files_.OfLog(placed.file_name, placed.instant);
  options.floats = floats_;
  auto source = sources_.find(name);
  const bool is_new = source == sources_.end();
  const std::string_view key = is_new ? rows_.Copy(name) : source->first;
  if (writers_.size() == kWritersMax) writers_.clear();
  Writer& writer = writers_.try_emplace(key, std::move(schema)).first->second;
  const auto wanted = columns_.SelectedNames();
  std::vector<std::string_view> written;
  for (const std::string& column : wanted) written.push_back(WrittenName(column, options.names));
  writer.selection.emplace(writer.schema.root(), written);
  if (is_partial) {
    options.missing = columnar::MissingColumns::kNull;
    writer.columns = ColumnSetOf(writer.schema, options.names);
  }
  if (is_new) {
    const auto id = rows_.AddRecords(key.substr(key.size() - text.size()), std::move(options));
    source = sources_.emplace(key, id).first;
  }
  writer.source = source->second;
  return &writer;
}

Status LogVersions::ReadRecords(const PlacedBlock& placed, const Take& take) {
  TRY_ASSIGN(Writer * writer, WriterOf(placed, IsPartial(placed.block)));
  TRY_ASSIGN(auto records, lake::hudi::LogRecords::Open(placed.block, writer->schema));
  std::vector<std::optional<Datum>> row(writer->selection->size());
  const std::string_view content = placed.block.content;
  MetVersion met;
  met.row = MetVersion::Row::kRecord;
  met.source = *writer->source;
  met.version.place = placed.place;
  met.version.columns = writer->columns;
  met.version.is_partial_mode = is_partial_mode_;
  while (true) {
    TRY_ASSIGN(const auto record, records.Next());
    if (!record) return {};
    TRY(record->datum.ReadFields(*writer->selection, row));
    TRY_ASSIGN(met.key, columns_.KeyOf(row, key_scratch_));
    if (!columns_.key_fields().empty()) met.key = rows_.Copy(met.key);
    TRY_ASSIGN(met.version.ordering, columns_.OrderingOf(row, arena_));
    TRY_ASSIGN(met.version.op, columns_.OpOf(row));
    met.record =
        content.substr(record->datum.offset() - placed.block.content_offset, record->length);
    met.version.has_unavailable = looks_for_unavailable_ && HasUnavailable(*writer, met.record);
    ++versions_read_;
    TRY(take(met));
    ++met.version.place.position;
  }
}

/// Text stands in a record as it is, so that most need no decoding.
bool LogVersions::HasUnavailable(const Writer& writer, std::string_view record) {
  const std::string_view value = columns_.settings().unavailable_value;
  if (value.empty() || record.find(value) == record.npos) return false;
  const auto row = rows_.DecodeRecord(*writer.source, record);
  return row && !RowsWithValue(*row, value).empty();
}

Status LogVersions::ReadDeletes(const PlacedBlock& placed, const Take& take) {
  TRY_ASSIGN(auto deletes, lake::hudi::DeleteRecords::Open(placed.block));
  const bool is_in_file = deletes.version() >= 3;
  const bool has_ordering = columns_.ordering().are_columns();
  MetVersion met;
  met.version.op = merge::Op::kDelete;
  met.version.place = placed.place;
  met.version.is_partial_mode = is_partial_mode_;
  while (true) {
    TRY_ASSIGN(const auto record, deletes.Next());
    if (!record) return {};
    if (!record->key) return Fail(ErrorKind::kCorrupt, "delete without a key");
    met.key = *record->key;
    TRY_ASSIGN(met.version.ordering,
               DeletedOrdering(record->ordering, columns_.ordering(), arena_));
    const merge::OrderingValue& ordering = met.version.ordering;
    if (!has_ordering && ordered_delete_.empty() && !ordering.is_null() && !ordering.is_sentinel())
      ordered_delete_ = placed.file_name;
    // What Kryo bytes hold is unpacked, and gone with its reader.
    if (!is_in_file) {
      met.key = rows_.Copy(met.key);
      met.version.ordering = arena_.Keep(met.version.ordering);
    }
    ++versions_read_;
    TRY(take(met));
    ++met.version.place.position;
  }
}

std::optional<lake::Finding> LogVersions::FindingOfOrdering() const {
  if (ordered_delete_.empty()) return std::nullopt;
  return lake::Finding{
      "no_ordering_column", ordered_delete_,
      fmt::format("deletes have ordering values and the rows none, so that nobody knows which is "
                  "the later: the ordering field of hoodie.properties is no column of the table, "
                  "fields={}",
                  fmt::join(columns_.settings().ordering_fields, ","))};
}

Status LogVersions::ReadParquet(const PlacedBlock& placed, const Take& take) {
  columnar::ReadOptions options;
  options.name = std::string(placed.file_name);
  options.columns = of_files_.OfLog(placed.file_name, placed.instant);
  options.columns.floats = floats_;
  uint32_t columns = 0;
  if (IsPartial(placed.block)) {
    options.columns.missing = columnar::MissingColumns::kNull;
    const std::string_view text = placed.block.Header(LogHeaderKey::kSchema);
    TRY_ASSIGN(const auto schema, lake::avro::Schema::Parse(text));
    columns = ColumnSetOf(schema, options.columns.names);
  }
  TRY_ASSIGN(const auto reader, columnar::OpenParquetBytes(placed.block.content, nullptr,
                                                           rows_.type(), std::move(options)));
  const auto places = columns_.PlacesIn(rows_.type());
  OrderingFields::Scratch scratch;
  MetVersion met;
  met.row = MetVersion::Row::kBatchRow;
  met.version.place = placed.place;
  met.version.columns = columns;
  met.version.is_partial_mode = is_partial_mode_;
  while (true) {
    TRY_ASSIGN(const auto batch, reader->Next());
    if (!batch) return {};
    met.source = rows_.AddBatch(*batch);
    std::vector<uint32_t> unavailable;
    if (looks_for_unavailable_) {
      unavailable = RowsWithValue(*batch, columns_.settings().unavailable_value);
    }
    for (met.batch_row = 0; met.batch_row < batch->rows(); ++met.batch_row) {
      TRY_ASSIGN(met.key, columns_.KeyOf(*batch, places, met.batch_row, key_scratch_));
      if (!columns_.key_fields().empty()) met.key = rows_.Copy(met.key);
      TRY_ASSIGN(const auto ordering,
                 columns_.ordering().Read(*batch, places.ordering, met.batch_row, scratch));
      met.version.ordering = arena_.Keep(ordering);
      met.version.op = columns_.OpOf(*batch, places, met.batch_row);
      met.version.has_unavailable =
          std::ranges::binary_search(unavailable, static_cast<uint32_t>(met.batch_row));
      ++versions_read_;
      TRY(take(met));
      ++met.version.place.position;
    }
  }
}

}  // namespace tidemark::scan
