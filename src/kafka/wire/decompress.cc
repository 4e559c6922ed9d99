#include <fmt/core.h>
#include <lz4frame.h>
#include <snappy-c.h>
#include <zlib.h>
#include <zstd.h>

#include <array>
#include <string>
#include <utility>

#include "base/bytes.h"
#include "kafka/wire/decompress_internal.h"

namespace tidemark::kafka::wire {

namespace {

constexpr size_t kPieceSize = 16 << 10;
// Of one snappy block, which comes whole. Kafka's producers cut at 32 KB, others send a batch as
// one block.
constexpr size_t kSnappyBlockMax = 64 << 20;

std::unexpected<Error> Damaged(const char* codec, std::string_view words) {
  return Fail(ErrorKind::kCorrupt,
              fmt::format("compressed records are damaged codec={}: {}", codec, words));
}

class Plain final : public Decompressor {
 public:
  explicit Plain(std::string_view input) : input_(input) {}
  Result<std::string_view> Next() override { return std::exchange(input_, {}); }

 private:
  std::string_view input_;
};

class Gzip final : public Decompressor {
 public:
  explicit Gzip(std::string_view input) {
    constexpr int kGzipOrZlib = 15 + 32;  // largest window, kind by header
    is_open_ = inflateInit2(&stream_, kGzipOrZlib) == Z_OK;
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input.data()));
    stream_.avail_in = static_cast<uInt>(input.size());
  }
  Gzip(const Gzip&) = delete;
  Gzip& operator=(const Gzip&) = delete;
  ~Gzip() override {
    if (is_open_) inflateEnd(&stream_);
  }

  Result<std::string_view> Next() override {
    if (!is_open_) return Damaged("gzip", "no memory");
    if (is_done_) return std::string_view();
    stream_.next_out = reinterpret_cast<Bytef*>(piece_.data());
    stream_.avail_out = static_cast<uInt>(piece_.size());
    const int code = inflate(&stream_, Z_NO_FLUSH);
    const size_t size = piece_.size() - stream_.avail_out;
    is_done_ = code == Z_STREAM_END;
    if (code != Z_OK && code != Z_STREAM_END && size == 0) {
      return Damaged("gzip", stream_.msg != nullptr ? stream_.msg : "cut short");
    }
    if (size == 0 && !is_done_) return Damaged("gzip", "cut short");
    return std::string_view(piece_.data(), size);
  }

 private:
  z_stream stream_{};
  bool is_open_ = false;
  bool is_done_ = false;
  std::array<char, kPieceSize> piece_;
};

/// Blocks of snappy, each behind its length, behind the header of the Java library; or one block
/// alone.
class Snappy final : public Decompressor {
 public:
  explicit Snappy(std::string_view input) : rest_(input) {
    constexpr std::string_view kMagic("\x82SNAPPY\0", 8);
    constexpr size_t kHeaderSize = kMagic.size() + 2 * sizeof(int32_t);
    is_framed_ = input.starts_with(kMagic) && input.size() >= kHeaderSize;
    if (is_framed_) rest_.remove_prefix(kHeaderSize);
  }

  Result<std::string_view> Next() override {
    while (!rest_.empty()) {
      TRY_ASSIGN(const std::string_view block, TakeBlock());
      size_t size = 0;
      if (snappy_uncompressed_length(block.data(), block.size(), &size) != SNAPPY_OK) {
        return Damaged("snappy", "no length");
      }
      // No byte of snappy stands for as many.
      constexpr size_t kRatioMax = 64;
      if (size > kSnappyBlockMax || size > kRatioMax * block.size()) {
        return Damaged("snappy", fmt::format("a block of bytes={}", size));
      }
      piece_.resize(size);
      if (snappy_uncompress(block.data(), block.size(), piece_.data(), &size) != SNAPPY_OK) {
        return Damaged("snappy", "not a block");
      }
      if (size > 0) return std::string_view(piece_.data(), size);
    }
    return std::string_view();
  }

 private:
  Result<std::string_view> TakeBlock() {
    if (!is_framed_) return std::exchange(rest_, {});
    ByteCursor cursor(rest_);
    const auto length = cursor.TakeBig<int32_t>();
    if (!length || *length < 0) return Damaged("snappy", "cut short");
    const auto block = cursor.Take(static_cast<uint64_t>(*length));
    if (!block) return Damaged("snappy", "cut short");
    rest_.remove_prefix(cursor.position());
    return *block;
  }

  std::string_view rest_;
  bool is_framed_ = false;
  std::string piece_;
};

/// xxHash with 32 bits of fewer than 16 bytes, for the header's sum.
uint32_t ShortXxHash32(std::string_view bytes) {
  constexpr uint32_t k2 = 2246822519U, k3 = 3266489917U, k4 = 668265263U, k5 = 374761393U;
  constexpr uint32_t k1 = 2654435761U;
  uint32_t hash = k5 + static_cast<uint32_t>(bytes.size());
  ByteCursor cursor(bytes);
  while (const auto word = cursor.TakeLittle<uint32_t>()) {
    hash = std::rotl(hash + *word * k3, 17) * k4;
  }
  while (const auto byte = cursor.TakeLittle<uint8_t>()) {
    hash = std::rotl(hash + *byte * k5, 11) * k1;
  }
  hash = (hash ^ (hash >> 15)) * k2;
  hash = (hash ^ (hash >> 13)) * k3;
  return hash ^ (hash >> 16);
}

class Lz4 final : public Decompressor {
 public:
  Lz4(std::string_view input, Lz4Header header) : rest_(input) {
    if (LZ4F_isError(LZ4F_createDecompressionContext(&context_, LZ4F_VERSION)) != 0) {
      context_ = nullptr;
    }
    if (header == Lz4Header::kOfFormat0) RepairHeader();
  }
  Lz4(const Lz4&) = delete;
  Lz4& operator=(const Lz4&) = delete;
  ~Lz4() override { LZ4F_freeDecompressionContext(context_); }

  Result<std::string_view> Next() override {
    if (context_ == nullptr) return Damaged("lz4", "no memory");
    while (!is_done_) {
      std::string_view& input = header_.empty() ? rest_ : header_rest_;
      size_t taken = input.size();
      size_t size = piece_.size();
      const size_t hint =
          LZ4F_decompress(context_, piece_.data(), &size, input.data(), &taken, nullptr);
      if (LZ4F_isError(hint) != 0) return Damaged("lz4", LZ4F_getErrorName(hint));
      input.remove_prefix(taken);
      if (!header_.empty() && header_rest_.empty()) header_.clear();
      is_done_ = hint == 0;
      if (size > 0) return std::string_view(piece_.data(), size);
      if (!is_done_ && taken == 0 && rest_.empty()) return Damaged("lz4", "cut short");
    }
    return std::string_view();
  }

 private:
  // Magic number, flags, block size, sum: the sum is right when taken without the magic number.
  void RepairHeader() {
    constexpr size_t kMagicSize = 4, kHeaderSize = 7, kWithContentSize = 15;
    if (rest_.size() < kHeaderSize) return;
    constexpr unsigned char kHasContentSize = 0x08;
    const bool is_long = (static_cast<unsigned char>(rest_[kMagicSize]) & kHasContentSize) != 0;
    const size_t size = is_long ? kWithContentSize : kHeaderSize;
    if (rest_.size() < size) return;
    header_ = rest_.substr(0, size);
    const std::string_view summed(header_.data() + kMagicSize, size - kMagicSize - 1);
    header_.back() = static_cast<char>(ShortXxHash32(summed) >> 8);
    header_rest_ = header_;
    rest_.remove_prefix(size);
  }

  LZ4F_dctx* context_ = nullptr;
  std::string header_;  // repaired; goes before rest_
  std::string_view header_rest_;
  std::string_view rest_;
  bool is_done_ = false;
  std::array<char, kPieceSize> piece_;
};

class Zstd final : public Decompressor {
 public:
  explicit Zstd(std::string_view input) : stream_(ZSTD_createDStream()) {
    input_ = {.src = input.data(), .size = input.size(), .pos = 0};
  }
  Zstd(const Zstd&) = delete;
  Zstd& operator=(const Zstd&) = delete;
  ~Zstd() override { ZSTD_freeDStream(stream_); }

  Result<std::string_view> Next() override {
    if (stream_ == nullptr) return Damaged("zstd", "no memory");
    while (!is_done_) {
      ZSTD_outBuffer output{.dst = piece_.data(), .size = piece_.size(), .pos = 0};
      const size_t before = input_.pos;
      const size_t hint = ZSTD_decompressStream(stream_, &output, &input_);
      if (ZSTD_isError(hint) != 0) return Damaged("zstd", ZSTD_getErrorName(hint));
      is_done_ = hint == 0 && input_.pos == input_.size;
      if (output.pos > 0) return std::string_view(piece_.data(), output.pos);
      if (!is_done_ && input_.pos == before) return Damaged("zstd", "cut short");
    }
    return std::string_view();
  }

 private:
  ZSTD_DStream* stream_;
  ZSTD_inBuffer input_{};
  bool is_done_ = false;
  std::array<char, kPieceSize> piece_;
};

}  // namespace

Result<std::unique_ptr<Decompressor>> MakeDecompressor(Codec codec, std::string_view input,
                                                       Lz4Header header) {
  switch (codec) {
    case Codec::kNone: return std::make_unique<Plain>(input);
    case Codec::kGzip: return std::make_unique<Gzip>(input);
    case Codec::kSnappy: return std::make_unique<Snappy>(input);
    case Codec::kLz4: return std::make_unique<Lz4>(input, header);
    case Codec::kZstd: return std::make_unique<Zstd>(input);
  }
  return Fail(ErrorKind::kUnsupported,
              fmt::format("unknown compression codec={}", static_cast<int>(codec)));
}

}  // namespace tidemark::kafka::wire
