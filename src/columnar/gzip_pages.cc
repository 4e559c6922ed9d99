#include <arrow/buffer.h>
#include <arrow/io/interfaces.h>
#include <arrow/memory_pool.h>
#include <arrow/util/config.h>
#include <libdeflate.h>
#include <parquet/column_page.h>
#include <parquet/column_reader.h>
#include <parquet/exception.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>
#include <parquet/properties.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/bytes.h"
#include "columnar/gzip_pages_internal.h"
#include "columnar/parquet_footer_internal.h"

namespace tidemark::columnar {
namespace {

using parquet::Page;
using parquet::PageReader;
using parquet::PageType;

// Deflate makes no more of a byte; what claims it is damaged.
constexpr uint64_t kRatioMax = 1032;
// Of a page's header, which begins with its type and what it unpacks to.
constexpr int64_t kHeadSize = 16;

using Bytes = std::span<const uint8_t>;

Bytes BytesOf(const Page& page) {
  return {page.data(), static_cast<size_t>(page.size())};
}

// Two i32 fields of Thrift's compact protocol, numbered 1 and 2: 0x15 and a zigzag varint each.
std::optional<int32_t> UnpackedSize(std::string_view head) {
  ByteCursor cursor(head);
  uint32_t value = 0;
  for (int field = 0; field < 2; ++field) {
    if (cursor.TakeBig<uint8_t>() != 0x15) return std::nullopt;
    value = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = cursor.TakeBig<uint8_t>();
      if (!byte || shift > 28) return std::nullopt;
      value |= uint32_t{*byte & 0x7fU} << shift;
      if (*byte < 0x80) break;
    }
  }
  return static_cast<int32_t>(value >> 1 ^ (0 - (value & 1)));
}

class Inflater {
 public:
  Inflater() : state_(libdeflate_alloc_decompressor(), libdeflate_free_decompressor) {}

  // Whether `packed` begins with a member that fills `into` exactly.
  bool Run(Bytes packed, std::span<uint8_t> into) {
    if (state_ == nullptr) return false;
    size_t taken = 0;
    return libdeflate_gzip_decompress_ex(state_.get(), packed.data(), packed.size(), into.data(),
                                         into.size(), &taken, nullptr) == LIBDEFLATE_SUCCESS;
  }

 private:
  std::unique_ptr<libdeflate_decompressor, decltype(&libdeflate_free_decompressor)> state_;
};

class GzipPages final : public PageReader {
 public:
  using OpenArrows = std::function<std::unique_ptr<PageReader>()>;

  using FirstHead = std::function<std::string()>;

  // `packed` gives pages as they stand in the file, `open_arrows` the same chunk unpacked by Arrow,
  // `first_head` the first kHeadSize bytes.
  GzipPages(std::unique_ptr<PageReader> packed, OpenArrows open_arrows, FirstHead first_head,
            arrow::MemoryPool* pool)
      : packed_(std::move(packed)),
        open_arrows_(std::move(open_arrows)),
        first_head_(std::move(first_head)),
        pool_(pool) {}

  std::shared_ptr<Page> NextPage() override;
  void set_max_page_header_size(uint32_t size) override {
    header_size_max_ = size;
    packed_->set_max_page_header_size(size);
    if (arrows_ != nullptr) arrows_->set_max_page_header_size(size);
  }

 private:
  std::shared_ptr<Page> Unpacked(const std::shared_ptr<Page>& page);
  std::shared_ptr<Page> Unpacked(const parquet::DataPageV1& page);
  std::shared_ptr<Page> Unpacked(const std::shared_ptr<parquet::DataPageV2>& page);
  std::shared_ptr<Page> Unpacked(const parquet::DictionaryPage& page);
  std::shared_ptr<Page> AskArrow();
  std::shared_ptr<arrow::Buffer> Inflate(Bytes plain, Bytes packed, int64_t size);

  std::unique_ptr<PageReader> packed_;
  OpenArrows open_arrows_;
  FirstHead first_head_;
  std::unique_ptr<PageReader> arrows_;  // once a page was refused
  std::optional<uint32_t> header_size_max_;
  uint64_t pages_ = 0;
  arrow::MemoryPool* pool_;
  std::shared_ptr<arrow::ResizableBuffer> buffer_;
  Inflater inflater_;
};

std::shared_ptr<Page> GzipPages::NextPage() {
  if (arrows_ != nullptr) return arrows_->NextPage();
  if (data_page_filter_) packed_->set_data_page_filter(data_page_filter_);
  const auto page = packed_->NextPage();
  if (page == nullptr) return nullptr;
  auto unpacked = Unpacked(page);
  if (unpacked == nullptr) return AskArrow();
  ++pages_;
  return unpacked;
}

// The page at hand and all behind it.
std::shared_ptr<Page> GzipPages::AskArrow() {
  arrows_ = open_arrows_();
  if (data_page_filter_) arrows_->set_data_page_filter(data_page_filter_);
  if (header_size_max_) arrows_->set_max_page_header_size(*header_size_max_);
  for (uint64_t i = 0; i < pages_; ++i) arrows_->NextPage();
  return arrows_->NextPage();
}

// nullptr: refused.
std::shared_ptr<Page> GzipPages::Unpacked(const std::shared_ptr<Page>& page) {
  switch (page->type()) {
    case PageType::DATA_PAGE: return Unpacked(static_cast<const parquet::DataPageV1&>(*page));
    case PageType::DATA_PAGE_V2:
      return Unpacked(std::static_pointer_cast<parquet::DataPageV2>(page));
    case PageType::DICTIONARY_PAGE:
      return Unpacked(static_cast<const parquet::DictionaryPage&>(*page));
    default: return nullptr;
  }
}

std::shared_ptr<Page> GzipPages::Unpacked(const parquet::DataPageV1& page) {
  const auto buffer = Inflate({}, BytesOf(page), page.uncompressed_size());
  if (buffer == nullptr) return nullptr;
  return std::make_shared<parquet::DataPageV1>(
      buffer, page.num_values(), page.encoding(), page.definition_level_encoding(),
      page.repetition_level_encoding(), page.uncompressed_size(), page.statistics(),
      page.first_row_index(), page.size_statistics());
}

std::shared_ptr<Page> GzipPages::Unpacked(const std::shared_ptr<parquet::DataPageV2>& page) {
  if (!page->is_compressed()) return page;
  const int64_t levels =
      int64_t{page->definition_levels_byte_length()} + page->repetition_levels_byte_length();
  const Bytes bytes = BytesOf(*page);
  if (levels < 0 || levels > page->size()) return nullptr;
  const auto plain = bytes.first(static_cast<size_t>(levels));
  const auto buffer = Inflate(plain, bytes.subspan(plain.size()), page->uncompressed_size());
  if (buffer == nullptr) return nullptr;
  return std::make_shared<parquet::DataPageV2>(
      buffer, page->num_values(), page->num_nulls(), page->num_rows(), page->encoding(),
      page->definition_levels_byte_length(), page->repetition_levels_byte_length(),
      page->uncompressed_size(), page->is_compressed(), page->statistics(), page->first_row_index(),
      page->size_statistics());
}

// What its header says it unpacks to is not told.
std::shared_ptr<Page> GzipPages::Unpacked(const parquet::DictionaryPage& page) {
  if (pages_ != 0) return nullptr;
  const auto size = UnpackedSize(first_head_());
  if (!size) return nullptr;
  const auto buffer = Inflate({}, BytesOf(page), *size);
  if (buffer == nullptr) return nullptr;
  return std::make_shared<parquet::DictionaryPage>(buffer, page.num_values(), page.encoding(),
                                                   page.is_sorted());
}

// `plain` and what `packed` holds, together `size` bytes; nullptr when they are not.
std::shared_ptr<arrow::Buffer> GzipPages::Inflate(Bytes plain, Bytes packed, int64_t size) {
  const auto plain_size = static_cast<int64_t>(plain.size());
  if (size < plain_size || size > INT32_MAX) return nullptr;
  if (static_cast<uint64_t>(size - plain_size) > kRatioMax * packed.size()) return nullptr;
  if (buffer_ == nullptr) {
    PARQUET_ASSIGN_OR_THROW(buffer_, arrow::AllocateResizableBuffer(size, pool_));
  } else {
    PARQUET_THROW_NOT_OK(buffer_->Resize(size, false));
  }
  const std::span<uint8_t> all(buffer_->mutable_data(), static_cast<size_t>(size));
  if (!plain.empty()) std::memcpy(all.data(), plain.data(), plain.size());
  return inflater_.Run(packed, all.subspan(plain.size())) ? buffer_ : nullptr;
}

class Group final : public parquet::RowGroupReader::Contents {
 public:
  Group(std::shared_ptr<parquet::RowGroupReader> group, std::shared_ptr<parquet::FileMetaData> file,
        std::shared_ptr<arrow::io::RandomAccessFile> source,
        const parquet::ReaderProperties& properties)
      : group_(std::move(group)),
        file_(std::move(file)),
        source_(std::move(source)),
        properties_(properties) {}

  std::unique_ptr<PageReader> GetColumnPageReader(int i) override;
  const parquet::RowGroupMetaData* metadata() const override { return group_->metadata(); }
  const parquet::ReaderProperties* properties() const override { return &properties_; }

 private:
  std::shared_ptr<parquet::RowGroupReader> group_;
  std::shared_ptr<parquet::FileMetaData> file_;
  std::shared_ptr<arrow::io::RandomAccessFile> source_;
  parquet::ReaderProperties properties_;
};

std::unique_ptr<PageReader> Group::GetColumnPageReader(int i) {
  using parquet::ApplicationVersion;
  const auto& writer = file_->writer_version();
  const auto chunk = metadata()->ColumnChunk(i);
  PARQUET_ASSIGN_OR_THROW(const int64_t file_size, source_->GetSize());
  const auto range = RangeOf(*chunk, file_size);
  const bool is_ours = chunk->compression() == parquet::Compression::GZIP &&
                       chunk->crypto_metadata() == nullptr && range &&
                       !writer.VersionLt(ApplicationVersion::PARQUET_816_FIXED_VERSION());
  if (!is_ours) return group_->GetColumnPageReader(i);
  auto stream = properties_.GetStream(source_, range->start, range->size);
  const bool is_always_packed =
      writer.VersionLt(ApplicationVersion::PARQUET_CPP_10353_FIXED_VERSION());
#if ARROW_VERSION_MAJOR >= 25
  auto packed =
      PageReader::Open(std::move(stream), chunk->num_values(), parquet::Compression::UNCOMPRESSED,
                       properties_, *metadata()->schema()->Column(i), is_always_packed);
#else
  auto packed = PageReader::Open(std::move(stream), chunk->num_values(),
                                 parquet::Compression::UNCOMPRESSED, properties_, is_always_packed);
#endif
  auto open_arrows = [group = group_, i] { return group->GetColumnPageReader(i); };
  auto first_head = [source = source_, range = *range] {
    std::string head(static_cast<size_t>(std::min(range.size, kHeadSize)), '\0');
    PARQUET_THROW_NOT_OK(
        source->ReadAt(range.start, static_cast<int64_t>(head.size()), head.data()).status());
    return head;
  };
  return std::make_unique<GzipPages>(std::move(packed), std::move(open_arrows),
                                     std::move(first_head), properties_.memory_pool());
}

class File final : public parquet::ParquetFileReader::Contents {
 public:
  File(std::unique_ptr<Contents> file, std::shared_ptr<arrow::io::RandomAccessFile> source,
       const parquet::ReaderProperties& properties)
      : file_(std::move(file)), source_(std::move(source)), properties_(properties) {}

  void Close() override { file_->Close(); }
  std::shared_ptr<parquet::RowGroupReader> GetRowGroup(int i) override {
    return std::make_shared<parquet::RowGroupReader>(
        std::make_unique<Group>(file_->GetRowGroup(i), file_->metadata(), source_, properties_));
  }
  std::shared_ptr<parquet::FileMetaData> metadata() const override { return file_->metadata(); }
  std::shared_ptr<parquet::PageIndexReader> GetPageIndexReader() override {
    return file_->GetPageIndexReader();
  }
  parquet::BloomFilterReader& GetBloomFilterReader() override {
    return file_->GetBloomFilterReader();
  }

 private:
  std::unique_ptr<Contents> file_;
  std::shared_ptr<arrow::io::RandomAccessFile> source_;
  parquet::ReaderProperties properties_;
};

}  // namespace

std::unique_ptr<parquet::ParquetFileReader> OpenWithFastGzip(
    std::shared_ptr<arrow::io::RandomAccessFile> source,
    const parquet::ReaderProperties& properties, std::shared_ptr<parquet::FileMetaData> footer) {
  auto file = parquet::ParquetFileReader::Contents::Open(source, properties, std::move(footer));
  auto reader = std::make_unique<parquet::ParquetFileReader>();
  reader->Open(std::make_unique<File>(std::move(file), std::move(source), properties));
  return reader;
}

}  // namespace tidemark::columnar
