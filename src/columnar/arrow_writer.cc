#include <arrow/array.h>
#include <arrow/buffer.h>
#include <arrow/io/interfaces.h>
#include <arrow/ipc/writer.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <arrow/util/key_value_metadata.h>
#include <parquet/arrow/writer.h>
#include <parquet/properties.h>

#include <utility>
#include <vector>

#include "base/check.h"
#include "columnar/arrow_bridge_internal.h"
#include "columnar/arrow_errors_internal.h"
#include "columnar/arrow_writer_internal.h"

namespace tidemark::columnar {
namespace {

constexpr std::string_view kName = "output";

// A sink as a stream of Arrow's.
class SinkStream final : public arrow::io::OutputStream {
 public:
  explicit SinkStream(ByteSink sink) : sink_(std::move(sink)) {}
  /// What the sink said when it took no more: Arrow keeps only text.
  const std::optional<Error>& error() const { return error_; }

  using OutputStream::Write;
  arrow::Status Write(const void* bytes, int64_t size) override {
    if (error_) return arrow::Status::IOError(error_->message);
    auto done = sink_({static_cast<const char*>(bytes), static_cast<size_t>(size)});
    position_ += size;
    if (done) return arrow::Status::OK();
    error_ = std::move(done).error();
    return arrow::Status::IOError(error_->message);
  }
  arrow::Status Close() override {
    is_closed_ = true;
    return arrow::Status::OK();
  }
  arrow::Result<int64_t> Tell() const override { return position_; }
  bool closed() const override { return is_closed_; }

 private:
  ByteSink sink_;
  int64_t position_ = 0;
  bool is_closed_ = false;
  std::optional<Error> error_;
};

arrow::Compression::type CompressionOf(ParquetCodec codec) {
  switch (codec) {
    case ParquetCodec::kZstd: return arrow::Compression::ZSTD;
    case ParquetCodec::kSnappy: return arrow::Compression::SNAPPY;
    case ParquetCodec::kNone: break;
  }
  return arrow::Compression::UNCOMPRESSED;
}

std::shared_ptr<arrow::Schema> SchemaOf(const RowType& type, const WriteOptions& options) {
  std::vector<std::shared_ptr<arrow::Field>> fields;
  for (const size_t i : type.visible()) fields.push_back(ArrowFieldOf(type.columns()[i]));
  auto schema = arrow::schema(std::move(fields));
  if (options.metadata.empty()) return schema;
  auto entries = std::make_shared<arrow::KeyValueMetadata>();
  for (const auto& [key, value] : options.metadata) entries->Append(key, value);
  return schema->WithMetadata(std::move(entries));
}

class ArrowWriter final : public BatchWriter {
 public:
  ArrowWriter(const RowType& type, ByteSink sink, const WriteOptions& options)
      : type_(type),
        schema_(SchemaOf(type, options)),
        stream_(std::make_shared<SinkStream>(std::move(sink))) {}

  Status OpenParquet(const WriteOptions& options) {
    return Settle(Guarded(kName, [&]() -> Status {
      parquet::WriterProperties::Builder builder;
      builder.compression(CompressionOf(options.codec))
          ->max_row_group_length(static_cast<int64_t>(std::max<size_t>(options.row_group_rows, 1)))
          ->created_by("tidemark")
          ->enable_page_checksum();
      ARROW_TRY_ASSIGN(parquet_,
                       parquet::arrow::FileWriter::Open(*schema_, arrow::default_memory_pool(),
                                                        stream_, builder.build()),
                       kName);
      if (schema_->metadata() != nullptr) {
        ARROW_TRY(parquet_->AddKeyValueMetadata(schema_->metadata()), kName);
      }
      return {};
    }));
  }
  Status OpenStream() {
    return Settle(Guarded(kName, [&]() -> Status {
      ARROW_TRY_ASSIGN(ipc_, arrow::ipc::MakeStreamWriter(stream_, schema_), kName);
      return {};
    }));
  }

  Status Write(const Batch& batch) override {
    CHECK(batch.type() == type_, "batch of another row type");
    if (failed_) return std::unexpected(*failed_);
    if (batch.rows() == 0) return {};
    return Settle(Guarded(kName, [&]() -> Status {
      std::vector<std::shared_ptr<arrow::ArrayData>> arrays;
      for (const size_t i : type_.visible()) {
        TRY_ASSIGN(arrays.emplace_back(), ArrayOf(type_.columns()[i], batch.column(i)));
      }
      const auto made =
          arrow::RecordBatch::Make(schema_, static_cast<int64_t>(batch.rows()), std::move(arrays));
      if (parquet_ != nullptr) {
        ARROW_TRY(parquet_->WriteRecordBatch(*made), kName);
      } else {
        ARROW_TRY(ipc_->WriteRecordBatch(*made), kName);
      }
      return {};
    }));
  }

  Status Close() override {
    if (failed_) return std::unexpected(*failed_);
    return Settle(Guarded(kName, [&]() -> Status {
      if (parquet_ != nullptr) {
        ARROW_TRY(parquet_->Close(), kName);
      } else {
        ARROW_TRY(ipc_->Close(), kName);
      }
      return {};
    }));
  }

 private:
  Status Settle(Status done) {
    if (done) return done;
    failed_ = stream_->error() ? *stream_->error() : std::move(done).error();
    return std::unexpected(*failed_);
  }

  RowType type_;
  std::shared_ptr<arrow::Schema> schema_;
  std::shared_ptr<SinkStream> stream_;
  std::unique_ptr<parquet::arrow::FileWriter> parquet_;
  std::shared_ptr<arrow::ipc::RecordBatchWriter> ipc_;
  std::optional<Error> failed_;
};

}  // namespace

Result<std::unique_ptr<BatchWriter>> MakeArrowWriter(RowFormat format, const RowType& type,
                                                     ByteSink sink, const WriteOptions& options) {
  auto writer = std::make_unique<ArrowWriter>(type, std::move(sink), options);
  if (format == RowFormat::kParquet) {
    TRY(writer->OpenParquet(options));
  } else {
    TRY(writer->OpenStream());
  }
  return writer;
}

}  // namespace tidemark::columnar
