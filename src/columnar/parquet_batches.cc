#include <arrow/array.h>
#include <arrow/compute/cast.h>
#include <arrow/io/memory.h>
#include <arrow/memory_pool.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <arrow/util/key_value_metadata.h>
#include <fmt/format.h>
#include <parquet/arrow/reader.h>
#include <parquet/arrow/schema.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>
#include <parquet/properties.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "columnar/arrow_bridge_internal.h"
#include "columnar/arrow_errors_internal.h"
#include "columnar/column_converter_internal.h"
#include "columnar/gzip_pages_internal.h"
#include "columnar/parquet_batches_internal.h"
#include "columnar/parquet_footer_internal.h"
#include "columnar/source_file_internal.h"

namespace tidemark::columnar {
namespace {

using parquet::arrow::SchemaField;

// A file may claim any number of null rows, which take no bytes.
constexpr int64_t kRowsMax = int64_t{1} << 31;

// Read at once of each column of a local file.
constexpr int64_t kReadAheadBytes = 256 << 10;

// Outlives every buffer that a batch keeps. Arrow's own pool keeps what was freed for the thread
// that freed it, and batches are freed by others than made them.
struct Memory {
  explicit Memory(int64_t bytes_max)
      : counted(arrow::system_memory_pool()), capped(&counted, bytes_max) {}
  arrow::ProxyMemoryPool counted;
  arrow::CappedMemoryPool capped;
};

// What a batch keeps: in this order, so that the pool goes last.
struct BatchMemory {
  std::shared_ptr<Memory> memory;
  std::shared_ptr<const void> file;
  std::vector<std::shared_ptr<arrow::ArrayData>> arrays;
  std::vector<std::shared_ptr<const ValueField>> fields;
  BatchOwner made;
};

// A column that the file has.
struct FileColumn {
  size_t place = 0;  // in the row type
  int field = 0;     // top-level, in the file
  int position = 0;  // in the batches that Arrow makes
  std::vector<int> leaves;
  std::shared_ptr<arrow::DataType> plain;
  std::shared_ptr<ValueField> written;  // its layout
  ColumnConverter converter;
};

// Fields by name, of equal names the first: wide tables ask for each of thousands.
class FieldIndex {
 public:
  explicit FieldIndex(const std::vector<SchemaField>& fields) {
    for (size_t i = 0; i < fields.size(); ++i) places_.try_emplace(fields[i].field->name(), i);
  }
  bool Has(std::string_view name) const { return places_.contains(name); }
  size_t at(std::string_view name) const { return places_.at(name); }

 private:
  std::unordered_map<std::string_view, size_t> places_;
};

void AddLeaves(const SchemaField& field, std::vector<int>& leaves) {
  if (field.is_leaf()) leaves.push_back(field.column_index);
  for (const auto& child : field.children) AddLeaves(child, leaves);
}

const SchemaField& FirstLeaf(const SchemaField& field) {
  return field.is_leaf() || field.children.empty() ? field : FirstLeaf(field.children[0]);
}

// The leaves of `field` that `to` asks for.
void AddWantedLeaves(const SchemaField& field, const ValueField& to, const std::string& path,
                     const DecodeOptions& options, std::vector<int>& leaves) {
  const auto id = field.field->type()->id();
  if (to.type.kind == ValueKind::kList && id == arrow::Type::LIST && !field.children.empty()) {
    return AddWantedLeaves(field.children[0], to.type.fields[0], path + ".item", options, leaves);
  }
  if (to.type.kind != ValueKind::kStruct || id != arrow::Type::STRUCT) {
    return AddLeaves(field, leaves);
  }
  const size_t before = leaves.size();
  const FieldIndex index(field.children);
  for (const auto& wanted : to.type.fields) {
    const std::string place = path + "." + wanted.name;
    const auto name = WrittenName(wanted, place, options,
                                  [&](std::string_view known) { return index.Has(known); });
    if (name) AddWantedLeaves(field.children[index.at(*name)], wanted, place, options, leaves);
  }
  // Whether the struct is null is known from any of its leaves.
  if (leaves.size() == before) AddLeaves(FirstLeaf(field), leaves);
}

class ParquetBatches final : public BatchReader {
 public:
  ParquetBatches(const RowType& type, const ReadOptions& options,
                 std::shared_ptr<SourceFailure> failure)
      : type_(type),
        options_(options),
        failure_(std::move(failure)),
        memory_(std::make_shared<Memory>(
            static_cast<int64_t>(std::min<uint64_t>(options.memory_max, INT64_MAX)))) {}

  Status Open(std::shared_ptr<arrow::io::RandomAccessFile> file, bool is_remote,
              std::shared_ptr<const void> owner);

  Result<std::optional<Batch>> Next() override;
  const RowType& type() const override { return type_; }
  uint64_t rows() const override { return rows_; }
  bool HasColumn(size_t column) const override {
    return std::ranges::binary_search(columns_, column, {}, &FileColumn::place);
  }
  std::optional<std::string> Metadata(std::string_view key) const override;

 private:
  Status CountRows();
  Status FindColumns();
  Status PlanColumns();
  Result<std::optional<Batch>> NextRows();
  Result<std::shared_ptr<arrow::RecordBatch>> NextOfGroups();
  Status EndGroup();
  uint64_t RowsOf(int group) const {
    return static_cast<uint64_t>(file_->parquet_reader()->metadata()->RowGroup(group)->num_rows());
  }
  Error WithColumn(Error error);
  Error Damaged(Error reason) const;
  Result<Batch> Convert(const arrow::RecordBatch* from, size_t rows);
  Status ConvertColumn(const FileColumn& column, const arrow::RecordBatch& from,
                       BatchMemory& memory, ColumnView& view);
  Error Explained(Error error) const { return failure_->error().value_or(std::move(error)); }

  RowType type_;
  ReadOptions options_;
  std::shared_ptr<SourceFailure> failure_;
  std::shared_ptr<Memory> memory_;
  std::shared_ptr<const void> file_owner_;
  std::unique_ptr<parquet::arrow::FileReader> file_;
  std::vector<FileColumn> columns_;                          // by place
  std::vector<std::pair<size_t, ColumnConverter>> missing_;  // with the place in the row type
  std::vector<int> leaves_;
  uint64_t rows_ = 0;
  int next_group_ = 0;
  uint64_t rows_left_in_group_ = 0;                  // of those that its footer says
  std::unique_ptr<arrow::RecordBatchReader> group_;  // of the row group at hand
  std::optional<Error> failed_;
};

parquet::ArrowReaderProperties ArrowProperties(const RowType& type, const ReadOptions& options,
                                               bool is_remote) {
  parquet::ArrowReaderProperties properties(options.threads > 1);
  properties.set_batch_size(
      static_cast<int64_t>(std::clamp<size_t>(options.batch_rows, 1, size_t{1} << 24)));
  properties.set_pre_buffer(is_remote);
  // What writes them has microseconds; nanoseconds end in the year 2262.
  const bool has_nanos = std::ranges::any_of(type.columns(), [](const Column& column) {
    return column.type.kind == ValueKind::kTimestamp && column.type.unit == TimeUnit::kNanos;
  });
  properties.set_coerce_int96_timestamp_unit(has_nanos ? arrow::TimeUnit::NANO
                                                       : arrow::TimeUnit::MICRO);
  return properties;
}

Status ParquetBatches::Open(std::shared_ptr<arrow::io::RandomAccessFile> file, bool is_remote,
                            std::shared_ptr<const void> owner) {
  file_owner_ = std::move(owner);
  auto done = Guarded(options_.name, [&]() -> Status {
    parquet::ReaderProperties properties(&memory_->capped);
    properties.set_page_checksum_verification(true);
    // Pages as they are needed, not the whole chunk of every column of a row group.
    if (!is_remote) {
      properties.enable_buffered_stream();
      properties.set_buffer_size(kReadAheadBytes);
    }
    auto footer = ReadFooter(*file, properties);
    if (!footer) return std::unexpected(Damaged(std::move(footer).error()));
    auto reader = is_remote ? parquet::ParquetFileReader::Open(std::move(file), properties, *footer)
                            : OpenWithFastGzip(std::move(file), properties, *footer);
    ARROW_TRY_ASSIGN(file_,
                     parquet::arrow::FileReader::Make(&memory_->capped, std::move(reader),
                                                      ArrowProperties(type_, options_, is_remote)),
                     options_.name);
    TRY(CountRows());
    TRY(FindColumns());
    return PlanColumns();
  });
  if (!done) return std::unexpected(Explained(std::move(done).error()));
  return {};
}

Status ParquetBatches::CountRows() {
  const auto metadata = file_->parquet_reader()->metadata();
  int64_t rows = 0;
  for (int i = 0; i < metadata->num_row_groups(); ++i) {
    const int64_t more = metadata->RowGroup(i)->num_rows();
    if (more > kRowsMax - rows) {
      return Fail(ErrorKind::kExhausted, fmt::format("parquet file has too many rows file={} "
                                                     "rows_max={}",
                                                     options_.name, kRowsMax));
    }
    rows += more;
  }
  rows_ = static_cast<uint64_t>(rows);
  return {};
}

Status ParquetBatches::FindColumns() {
  const auto& fields = file_->manifest().schema_fields;
  const FieldIndex index(fields);
  for (size_t i = 0; i < type_.size(); ++i) {
    const Column& column = type_.columns()[i];
    const auto name = WrittenName(column, column.name, options_.columns,
                                  [&](std::string_view known) { return index.Has(known); });
    if (!name) {
      auto made = ColumnConverter::MakeMissing(column, column.name, options_.columns);
      if (!made) {
        return std::unexpected(std::move(made).error().With(fmt::format("file={}", options_.name)));
      }
      missing_.emplace_back(i, *std::move(made));
      continue;
    }
    const size_t found = index.at(*name);
    FileColumn& added = columns_.emplace_back();
    added.place = i;
    added.field = static_cast<int>(found);
    AddWantedLeaves(fields[found], column, column.name, options_.columns, added.leaves);
    std::ranges::sort(added.leaves);
    leaves_.insert(leaves_.end(), added.leaves.begin(), added.leaves.end());
  }
  std::ranges::sort(leaves_);
  leaves_.erase(std::ranges::unique(leaves_).begin(), leaves_.end());
  return {};
}

// In the layouts that Arrow will give: those of the whole file's type cut to the leaves asked for.
Status ParquetBatches::PlanColumns() {
  if (columns_.empty()) return {};
  ARROW_TRY_ASSIGN(const auto none, file_->GetRecordBatchReader({}, leaves_), options_.name);
  std::vector<int> fields;
  for (const auto& column : columns_) fields.push_back(column.field);
  std::ranges::sort(fields);
  fields.erase(std::ranges::unique(fields).begin(), fields.end());
  for (auto& column : columns_) {
    const auto at = std::ranges::lower_bound(fields, column.field);
    column.position = static_cast<int>(at - fields.begin());
    const auto& field = none->schema()->field(column.position);
    const Column& to = type_.columns()[column.place];
    TRY_ASSIGN(column.plain, PlainArrowType(field->type(), to.name));
    column.written = std::make_shared<ValueField>();
    column.written->name = field->name();
    column.written->type = ValueTypeOf(*column.plain);
    column.written->is_nullable = field->nullable();
    auto made = ColumnConverter::Make(*column.written, to, to.name, options_.columns);
    if (!made) {
      return std::unexpected(std::move(made).error().With(fmt::format("file={}", options_.name)));
    }
    column.converter = *std::move(made);
  }
  return {};
}

Result<std::optional<Batch>> ParquetBatches::Next() {
  if (failed_) return std::unexpected(*failed_);
  std::optional<Batch> next;
  auto done = Guarded(options_.name, [&]() -> Status {
    TRY_ASSIGN(next, NextRows());
    return {};
  });
  if (done) return next;
  failed_ = Explained(std::move(done).error());
  if (failed_->kind == ErrorKind::kCorrupt) failed_ = WithColumn(*std::move(failed_));
  return std::unexpected(*failed_);
}

Result<std::optional<Batch>> ParquetBatches::NextRows() {
  if (!columns_.empty()) {
    TRY_ASSIGN(const auto batch, NextOfGroups());
    if (batch == nullptr) return std::nullopt;
    TRY_ASSIGN(auto made, Convert(batch.get(), static_cast<size_t>(batch->num_rows())));
    return made;
  }
  while (rows_left_in_group_ == 0) {
    if (next_group_ == file_->num_row_groups()) return std::nullopt;
    rows_left_in_group_ = RowsOf(next_group_++);
  }
  const auto rows =
      std::min<uint64_t>(rows_left_in_group_, std::max<size_t>(options_.batch_rows, 1));
  rows_left_in_group_ -= rows;
  TRY_ASSIGN(auto made, Convert(nullptr, rows));
  return made;
}

// The next rows as Arrow has them, one row group after the other; nullptr behind the last.
Result<std::shared_ptr<arrow::RecordBatch>> ParquetBatches::NextOfGroups() {
  const int groups = file_->num_row_groups();
  while (true) {
    if (group_ != nullptr) {
      std::shared_ptr<arrow::RecordBatch> batch;
      ARROW_TRY(group_->ReadNext(&batch), options_.name);
      if (batch == nullptr) {
        TRY(EndGroup());
        continue;
      }
      const auto rows = static_cast<uint64_t>(batch->num_rows());
      if (rows > rows_left_in_group_) {
        return std::unexpected(Damaged({ErrorKind::kCorrupt, "more rows than the footer says"}));
      }
      rows_left_in_group_ -= rows;
      if (rows > 0) return batch;
      continue;
    }
    if (next_group_ == groups) return nullptr;
    rows_left_in_group_ = RowsOf(next_group_);
    ARROW_TRY_ASSIGN(group_, file_->GetRecordBatchReader({next_group_++}, leaves_), options_.name);
  }
}

// What decodes short is no error to Arrow.
Status ParquetBatches::EndGroup() {
  if (rows_left_in_group_ == 0) {
    group_.reset();
    return {};
  }
  return std::unexpected(
      Damaged({ErrorKind::kCorrupt,
               fmt::format("fewer rows than the footer says missing={}", rows_left_in_group_)}));
}

Error ParquetBatches::Damaged(Error reason) const {
  const std::string_view what = reason.kind == ErrorKind::kUnsupported
                                    ? "parquet file cannot be read"
                                    : "parquet file is damaged";
  const std::string place = group_ == nullptr ? "" : fmt::format(" row_group={}", next_group_ - 1);
  return {reason.kind,
          fmt::format("{} file={}{} reason={}", what, options_.name, place, reason.message)};
}

// Arrow does not say in which column the damage is: the first that cannot be read by itself.
Error ParquetBatches::WithColumn(Error error) {
  for (const auto& column : columns_) {
    const auto done = Guarded(options_.name, [&]() -> Status {
      ARROW_TRY_ASSIGN(const auto group,
                       file_->GetRecordBatchReader({next_group_ - 1}, column.leaves),
                       options_.name);
      std::shared_ptr<arrow::RecordBatch> batch;
      do {
        ARROW_TRY(group->ReadNext(&batch), options_.name);
      } while (batch != nullptr);
      return {};
    });
    if (!done) {
      return std::move(error).With(fmt::format("column={}", type_.columns()[column.place].name));
    }
  }
  return error;
}

Status ParquetBatches::ConvertColumn(const FileColumn& column, const arrow::RecordBatch& from,
                                     BatchMemory& memory, ColumnView& view) {
  auto array = from.column(column.position);
  if (array->type_id() == arrow::Type::EXTENSION) {
    array = static_cast<const arrow::ExtensionArray&>(*array).storage();
  }
  if (array->type() != column.plain && !array->type()->Equals(*column.plain)) {
    auto cast = arrow::compute::Cast(*array, column.plain);
    if (!cast.ok()) {
      return Fail(ErrorKind::kUnsupported,
                  fmt::format("parquet column cannot be read, column={} reason={}",
                              type_.columns()[column.place].name, cast.status().message()));
    }
    array = *std::move(cast);
  }
  memory.arrays.push_back(array->data());
  memory.fields.push_back(column.written);
  TRY_ASSIGN(view,
             column.converter.Convert(ViewOf(*array->data(), column.written->type), memory.made));
  return {};
}

Result<Batch> ParquetBatches::Convert(const arrow::RecordBatch* from, size_t rows) {
  auto memory = std::make_shared<BatchMemory>();
  memory->memory = memory_;
  memory->file = file_owner_;
  auto storage = std::make_shared<Batch::Storage>(Batch::Storage{type_, rows, {}, nullptr, 0});
  storage->columns.resize(type_.size());
  for (const auto& column : columns_) {
    auto done = ConvertColumn(column, *from, *memory, storage->columns[column.place]);
    if (!done) {
      return std::unexpected(std::move(done).error().With(fmt::format("file={}", options_.name)));
    }
    storage->bytes +=
        static_cast<size_t>(rows) * std::max<uint32_t>(column.written->type.width, sizeof(int32_t));
  }
  for (const auto& [place, converter] : missing_) {
    TRY_ASSIGN(storage->columns[place], converter.MakeRows(rows, memory->made));
  }
  for (const auto& column : storage->columns) {
    if (column.offsets != nullptr && column.children.empty()) {
      storage->bytes += static_cast<size_t>(column.offsets[rows] - column.offsets[0]);
    }
  }
  storage->bytes += memory->made.bytes();
  storage->owner = std::move(memory);
  return Batch(std::move(storage));
}

std::optional<std::string> ParquetBatches::Metadata(std::string_view key) const {
  const auto entries = file_->parquet_reader()->metadata()->key_value_metadata();
  if (entries == nullptr) return std::nullopt;
  const int found = entries->FindKey(std::string(key));
  if (found < 0) return std::nullopt;
  return entries->value(found);
}

}  // namespace

Result<std::unique_ptr<BatchReader>> OpenParquetBatches(std::shared_ptr<const ByteSource> source,
                                                        const RowType& type,
                                                        const ReadOptions& options) {
  auto failure = std::make_shared<SourceFailure>();
  auto reader = std::make_unique<ParquetBatches>(type, options, failure);
  TRY(reader->Open(MakeSourceFile(std::move(source), std::move(failure)), options.is_remote,
                   nullptr));
  return reader;
}

Result<std::unique_ptr<BatchReader>> OpenParquetBatches(std::string_view bytes,
                                                        std::shared_ptr<const void> owner,
                                                        const RowType& type,
                                                        const ReadOptions& options) {
  const auto buffer = std::make_shared<arrow::Buffer>(
      reinterpret_cast<const uint8_t*>(bytes.data()), static_cast<int64_t>(bytes.size()));
  auto reader = std::make_unique<ParquetBatches>(type, options, std::make_shared<SourceFailure>());
  TRY(reader->Open(std::make_shared<arrow::io::BufferReader>(buffer), false, std::move(owner)));
  return reader;
}

}  // namespace tidemark::columnar
