#include <arrow/buffer.h>
#include <arrow/io/interfaces.h>
#include <arrow/util/config.h>
#include <fmt/format.h>
#include <parquet/exception.h>
#include <parquet/metadata.h>
#include <parquet/properties.h>
#include <parquet/schema.h>
#include <parquet/statistics.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "columnar/parquet_footer_internal.h"
#include "columnar/schema_witness_internal.h"

namespace tidemark::columnar {
namespace {

constexpr std::string_view kMagic = "PAR1";
constexpr std::string_view kEncryptedMagic = "PARE";
// Behind the footer: its length and the magic.
constexpr int64_t kTailSize = 8;
// Read at first; most footers are smaller.
constexpr int64_t kGuessedSize = 64 << 10;

std::unexpected<Error> Damaged(std::string reason) {
  return Fail(ErrorKind::kCorrupt, std::move(reason));
}

struct FooterBytes {
  std::shared_ptr<arrow::Buffer> bytes;
  int64_t start = 0;  // in the file
};

Result<FooterBytes> ReadBytes(arrow::io::RandomAccessFile& file) {
  PARQUET_ASSIGN_OR_THROW(const int64_t size, file.GetSize());
  if (size < kTailSize + static_cast<int64_t>(kMagic.size())) {
    return Damaged(fmt::format("too short for a parquet file size={}", size));
  }
  const int64_t guessed = std::min(size, kGuessedSize);
  PARQUET_ASSIGN_OR_THROW(auto tail, file.ReadAt(size - guessed, guessed));
  if (tail->size() != guessed) return Damaged("the file ends early");
  const auto text = std::string_view(*tail);
  const auto magic = text.substr(text.size() - kMagic.size());
  if (magic == kEncryptedMagic) return Fail(ErrorKind::kUnsupported, "the footer is encrypted");
  if (magic != kMagic) return Damaged("no parquet magic at the end of the file");
  uint32_t length = 0;
  std::memcpy(&length, text.data() + text.size() - kTailSize, sizeof(length));
  if (length > size - kTailSize - static_cast<int64_t>(kMagic.size())) {
    return Damaged(
        fmt::format("the footer is longer than the file length={} size={}", length, size));
  }
  FooterBytes footer;
  footer.start = size - kTailSize - length;
  if (length <= guessed - kTailSize) {
    footer.bytes = arrow::SliceBuffer(tail, guessed - kTailSize - length, length);
    return footer;
  }
  PARQUET_ASSIGN_OR_THROW(footer.bytes, file.ReadAt(footer.start, length));
  if (footer.bytes->size() != length) return Damaged("the file ends early");
  return footer;
}

// Holds one row group against the schema and the file.
class GroupCheck {
 public:
  GroupCheck(const parquet::FileMetaData& file, int group, int64_t end)
      : file_(file), group_(file.RowGroup(group)), number_(group), end_(end) {}

  // Adds where its chunks lie to `ranges`.
  Status Run(std::vector<ChunkRange>& ranges) const {
    if (group_->num_rows() < 0) return Damaged(At("a negative number of rows"));
    if (group_->total_byte_size() < 0) return Damaged(At("a negative size"));
    if (group_->num_columns() != file_.num_columns()) {
      return Damaged(At(fmt::format("not all columns of the schema columns={} in_schema={}",
                                    group_->num_columns(), file_.num_columns())));
    }
    for (int i = 0; i < group_->num_columns(); ++i) {
      const auto chunk = group_->ColumnChunk(i);
      const auto& column = *file_.schema()->Column(i);
      if (auto done = CheckChunk(*chunk, column); !done) {
        return Damaged(
            At(fmt::format("{} column={}", done.error().message, column.path()->ToDotString())));
      }
      // The offsets of a chunk without values mean nothing.
      if (chunk->num_values() > 0) ranges.push_back(RangeOf(*chunk, end_).value());
    }
    return {};
  }

 private:
  std::string At(std::string_view what) const {
    return fmt::format("{} row_group={}", what, number_);
  }

  Status CheckChunk(const parquet::ColumnChunkMetaData& chunk,
                    const parquet::ColumnDescriptor& column) const {
    if (chunk.type() != column.physical_type() ||
        chunk.path_in_schema()->ToDotVector() != column.path()->ToDotVector()) {
      return Damaged(fmt::format("a column chunk is not of the column of the schema chunk={}",
                                 chunk.path_in_schema()->ToDotString()));
    }
    // Lists have a value more for each further item.
    const bool is_flat = column.max_repetition_level() == 0;
    const int64_t rows = group_->num_rows();
    if (chunk.num_values() < rows || (is_flat && chunk.num_values() != rows)) {
      return Damaged(
          fmt::format("column and row group differ in their number of rows values={} "
                      "rows={}",
                      chunk.num_values(), rows));
    }
    if (chunk.total_uncompressed_size() < 0) return Damaged("a negative size");
    if (chunk.compression() == parquet::Compression::UNCOMPRESSED &&
        chunk.total_uncompressed_size() != chunk.total_compressed_size()) {
      return Damaged(
          fmt::format("pages that are not compressed have two sizes bytes={} unpacked={}",
                      chunk.total_compressed_size(), chunk.total_uncompressed_size()));
    }
    TRY(CheckStatistics(chunk, column));
    if (!RangeOf(chunk, end_)) {
      return Damaged(fmt::format("a column chunk lies outside of the file offset={} size={} end={}",
                                 chunk.data_page_offset(), chunk.total_compressed_size(), end_));
    }
    return {};
  }

  // They have the length of a value, and count the nulls.
  static Status CheckStatistics(const parquet::ColumnChunkMetaData& chunk,
                                const parquet::ColumnDescriptor& column) {
    const auto statistics = chunk.encoded_statistics();
    if (statistics == nullptr) return {};
    if (statistics->has_null_count && column.max_definition_level() == 0 &&
        statistics->null_count != 0) {
      return Damaged(
          fmt::format("a column that cannot be null has nulls nulls={}", statistics->null_count));
    }
    if (column.physical_type() != parquet::Type::FIXED_LEN_BYTE_ARRAY) return {};
    const auto length = static_cast<size_t>(std::max(column.type_length(), 0));
    const bool is_min = !statistics->has_min || statistics->min().size() == length ||
                        statistics->is_min_value_exact == false;
    const bool is_max = !statistics->has_max || statistics->max().size() == length ||
                        statistics->is_max_value_exact == false;
    if (!is_min || !is_max) {
      return Damaged(
          fmt::format("a value of the statistics has another length than the column "
                      "length={}",
                      length));
    }
    return {};
  }

  const parquet::FileMetaData& file_;
  std::unique_ptr<parquet::RowGroupMetaData> group_;
  int number_;
  int64_t end_;
};

Status CheckOverlap(std::vector<ChunkRange> ranges) {
  std::erase_if(ranges, [](const ChunkRange& range) { return range.size == 0; });
  std::ranges::sort(ranges, {}, &ChunkRange::start);
  for (size_t i = 1; i < ranges.size(); ++i) {
    const ChunkRange& before = ranges[i - 1];
    if (before.start + before.size > ranges[i].start) {
      return Damaged(fmt::format("two column chunks lie in one place offset={} size={} other={}",
                                 before.start, before.size, ranges[i].start));
    }
  }
  return {};
}

// `end`: where the footer begins.
Status CheckFooter(const parquet::FileMetaData& file, int64_t end) {
  int64_t rows = 0;
  std::vector<ChunkRange> ranges;
  for (int i = 0; i < file.num_row_groups(); ++i) {
    TRY(GroupCheck(file, i, end).Run(ranges));
    const int64_t more = file.RowGroup(i)->num_rows();
    if (more > INT64_MAX - rows) return Damaged("more rows than can be counted");
    rows += more;
  }
  if (rows != file.num_rows()) {
    return Damaged(
        fmt::format("file and row groups differ in their number of rows rows={} "
                    "in_row_groups={}",
                    file.num_rows(), rows));
  }
  return CheckOverlap(std::move(ranges));
}

}  // namespace

Result<std::shared_ptr<parquet::FileMetaData>> ReadFooter(
    arrow::io::RandomAccessFile& file, const parquet::ReaderProperties& properties) {
  TRY_ASSIGN(const FooterBytes footer, ReadBytes(file));
  const int64_t length = footer.bytes->size();
#if ARROW_VERSION_MAJOR >= 26
  auto metadata = parquet::FileMetaData::Make(footer.bytes->data(), length, properties);
#else
  auto parsed = static_cast<uint32_t>(length);
  auto metadata = parquet::FileMetaData::Make(footer.bytes->data(), &parsed, properties);
#endif
  // A signature stands behind the footer of a file some of whose columns are encrypted.
  if (static_cast<int64_t>(metadata->size()) != length &&
      !metadata->is_encryption_algorithm_set()) {
    return Damaged(fmt::format("the footer does not end where it says length={} end={}", length,
                               metadata->size()));
  }
  TRY(CheckAnnotations(std::string_view(*footer.bytes)));
  TRY(CheckAvroSchema(*metadata));
  TRY(CheckFooter(*metadata, footer.start));
  return metadata;
}

std::optional<ChunkRange> RangeOf(const parquet::ColumnChunkMetaData& chunk, int64_t end) {
  ChunkRange range{chunk.data_page_offset(), chunk.total_compressed_size()};
  if (chunk.has_dictionary_page() && chunk.dictionary_page_offset() > 0) {
    range.start = std::min(range.start, chunk.dictionary_page_offset());
  }
  if (range.start < 0 || range.size < 0 || range.start > end) return std::nullopt;
  if (range.size > end - range.start) return std::nullopt;
  return range;
}

}  // namespace tidemark::columnar
