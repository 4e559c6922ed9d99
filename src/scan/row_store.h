/// The rows behind versions: encoded records where they lie in their files, and rows of batches.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "columnar/batch.h"
#include "columnar/record_decoder.h"
#include "columnar/row_builder.h"
#include "columnar/row_type.h"
#include "lake/avro/schema.h"
#include "merge/version.h"

namespace tidemark::scan {

/// A handle of merge::Version stands for one of these. Rows are decoded only when they are asked
/// for. Single-threaded.
class RowStore {
 public:
  using SourceId = uint32_t;

  explicit RowStore(columnar::RowType type) : type_(std::move(type)) {}

  const columnar::RowType& type() const { return type_; }

  /// Records written under one schema, JSON; how to decode them is planned when they are wanted,
  /// and for a bounded number of schemas remembered. REQUIRES: `writer` as a record of AddRecord.
  SourceId AddRecords(std::string_view writer, columnar::DecodeOptions options);
  /// Rows of a batch of this type; the batch is kept.
  SourceId AddBatch(columnar::Batch batch);

  /// REQUIRES: the record's bytes outlive this object, or were given to Copy.
  merge::RowHandle AddRecord(SourceId source, std::string_view record);
  merge::RowHandle AddRow(SourceId source, size_t row);

  /// Bytes that live as long as this object.
  std::string_view Copy(std::string_view bytes);

  /// Appends the row. Errors as RecordDecoder::Make and RowBuilder::Append; offsets in messages
  /// count from the record's first byte.
  Status Append(merge::RowHandle handle, columnar::RowBuilder& builder);
  /// The row as a batch of one.
  Result<columnar::Batch> Decode(merge::RowHandle handle);
  /// A record of a source that is not kept.
  Result<columnar::Batch> DecodeRecord(SourceId source, std::string_view record);

  /// Memory held, about.
  size_t bytes() const { return bytes_ + rows_.capacity() * sizeof(Row); }

 private:
  struct Source {
    std::string_view writer;  // copied
    columnar::DecodeOptions options;
    std::optional<columnar::RecordDecoder> decoder;
    std::optional<columnar::Batch> batch;
  };
  struct Row {
    const char* record = nullptr;  // nullptr: a row of the source's batch
    uint32_t size = 0;             // … which one
    SourceId source = 0;
  };

  Result<const columnar::RecordDecoder*> DecoderOf(SourceId id);

  columnar::RowType type_;
  std::deque<Source> sources_;
  std::vector<SourceId> with_decoder_;
  std::vector<Row> rows_;
  std::deque<std::string> chunks_;
  size_t bytes_ = 0;
};

}  // namespace tidemark::scan
