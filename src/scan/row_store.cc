#include "scan/row_store.h"

#include <algorithm>
#include <utility>

namespace tidemark::scan {
namespace {

constexpr size_t kChunkBytes = size_t{256} << 10;
/// One takes some ten times as much as its schema's text.
constexpr size_t kDecodersMax = 256;

}  // namespace

RowStore::SourceId RowStore::AddRecords(std::string_view writer, columnar::DecodeOptions options) {
  Source& source = sources_.emplace_back();
  source.writer = writer;
  bytes_ += sizeof(Source);
  source.options = std::move(options);
  return static_cast<SourceId>(sources_.size() - 1);
}

RowStore::SourceId RowStore::AddBatch(columnar::Batch batch) {
  bytes_ += batch.bytes();
  sources_.emplace_back().batch = std::move(batch);
  return static_cast<SourceId>(sources_.size() - 1);
}

merge::RowHandle RowStore::AddRecord(SourceId source, std::string_view record) {
  rows_.push_back({record.data(), static_cast<uint32_t>(record.size()), source});
  return rows_.size() - 1;
}

merge::RowHandle RowStore::AddRow(SourceId source, size_t row) {
  rows_.push_back({nullptr, static_cast<uint32_t>(row), source});
  return rows_.size() - 1;
}

std::string_view RowStore::Copy(std::string_view bytes) {
  if (bytes.empty()) return {"", 0};
  if (chunks_.empty() || chunks_.back().capacity() - chunks_.back().size() < bytes.size()) {
    auto& chunk = chunks_.emplace_back();
    chunk.reserve(std::max(kChunkBytes, bytes.size()));
    bytes_ += chunk.capacity();
  }
  std::string& chunk = chunks_.back();
  const size_t at = chunk.size();
  chunk.append(bytes);  // within what was reserved: nothing moves
  return std::string_view(chunk).substr(at);
}

/// Good until the next call.
Result<const columnar::RecordDecoder*> RowStore::DecoderOf(SourceId id) {
  Source& source = sources_[id];
  if (source.decoder) return &*source.decoder;
  if (with_decoder_.size() == kDecodersMax) {
    for (const SourceId other : with_decoder_) sources_[other].decoder.reset();
    with_decoder_.clear();
  }
  TRY_ASSIGN(const auto schema, lake::avro::Schema::Parse(source.writer));
  TRY_ASSIGN(source.decoder, columnar::RecordDecoder::Make(schema, type_, source.options));
  with_decoder_.push_back(id);
  return &*source.decoder;
}

Status RowStore::Append(merge::RowHandle handle, columnar::RowBuilder& builder) {
  const Row& row = rows_[static_cast<size_t>(handle)];
  Source& source = sources_[row.source];
  if (row.record == nullptr) return builder.Append(*source.batch, row.size, 1);
  TRY_ASSIGN(const auto* decoder, DecoderOf(row.source));
  return builder.Append(*decoder, {row.record, row.size});
}

Result<columnar::Batch> RowStore::Decode(merge::RowHandle handle) {
  const Row& row = rows_[static_cast<size_t>(handle)];
  if (row.record == nullptr) return sources_[row.source].batch->Slice(row.size, 1);
  columnar::RowBuilder builder(type_);
  TRY(Append(handle, builder));
  return builder.Finish();
}

Result<columnar::Batch> RowStore::DecodeRecord(SourceId source, std::string_view record) {
  TRY_ASSIGN(const auto* decoder, DecoderOf(source));
  columnar::RowBuilder builder(type_);
  TRY(builder.Append(*decoder, record));
  return builder.Finish();
}

}  // namespace tidemark::scan
