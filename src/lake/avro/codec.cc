#include "lake/avro/codec.h"

#include <fmt/format.h>
#include <snappy.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "base/bytes.h"
#include "base/check.h"

namespace tidemark::lake::avro {
namespace {

constexpr size_t kFirstRoom = 64 << 10;
constexpr size_t kSnappyChecksumSize = 4;
// A copy element of 3 bytes gives at most 64: a length over this ratio is a lie.
constexpr uint64_t kSnappyRatioMax = 22;

std::unexpected<Error> Damaged(std::string_view codec, std::string_view reason) {
  return Fail(ErrorKind::kCorrupt,
              fmt::format("avro block does not unpack, codec={} reason={}", codec, reason));
}

std::unexpected<Error> TooLarge(size_t bytes_max) {
  return Fail(ErrorKind::kExhausted,
              fmt::format("avro block is too large unpacked, bytes_max={}", bytes_max));
}

// Makes room behind `used`; false when there is none below the bound.
bool Grow(std::string& out, size_t used, size_t bytes_max) {
  if (used < out.size()) return true;
  if (used >= bytes_max) return false;
  out.resize(std::min(std::max(out.size() * 2, kFirstRoom), bytes_max));
  return true;
}

// Raw deflate, without zlib's head and checksum.
Status Inflate(std::string_view packed, std::string& out, size_t bytes_max) {
  z_stream stream{};
  if (inflateInit2(&stream, -15) != Z_OK) return Damaged("deflate", "zlib does not start");
  const std::unique_ptr<z_stream, int (*)(z_stream*)> end(&stream, inflateEnd);
  if (packed.size() > std::numeric_limits<uInt>::max()) return Damaged("deflate", "over 4 GiB");
  // zlib takes a pointer to non-const and does not write there.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  size_t used = 0;
  while (true) {
    // At the bound one byte of room more tells "ends here" from "goes on".
    char spill = 0;
    const bool has_room = Grow(out, used, bytes_max);
    const size_t room = has_room ? std::min<size_t>(out.size() - used, 1u << 30) : 1;
    stream.next_out = reinterpret_cast<Bytef*>(has_room ? out.data() + used : &spill);
    stream.avail_out = static_cast<uInt>(room);
    const int code = inflate(&stream, Z_NO_FLUSH);
    const size_t made = room - stream.avail_out;
    if (!has_room && made > 0) return TooLarge(bytes_max);
    used += made;
    if (code == Z_STREAM_END) break;
    if (code != Z_OK || (made == 0 && stream.avail_in == 0)) {
      return Damaged("deflate", stream.msg != nullptr ? stream.msg : "ends early");
    }
  }
  // fastavro leaves three of the four bytes of zlib's checksum behind the stream.
  if (stream.avail_in > 4) return Damaged("deflate", "bytes follow its end");
  out.resize(used);
  return {};
}

// Snappy's block format and the CRC-32 of the unpacked bytes, big-endian.
Status Unsnap(std::string_view packed, std::string& out, size_t bytes_max) {
  if (packed.size() < kSnappyChecksumSize) return Damaged("snappy", "ends early");
  const auto body = packed.substr(0, packed.size() - kSnappyChecksumSize);
  size_t size = 0;
  if (!snappy::GetUncompressedLength(body.data(), body.size(), &size)) {
    return Damaged("snappy", "no length");
  }
  if (size > bytes_max) return TooLarge(bytes_max);
  if (size > kSnappyRatioMax * body.size()) return Damaged("snappy", "wrong length");
  out.resize(size);
  if (!snappy::RawUncompress(body.data(), body.size(), out.data())) {
    return Damaged("snappy", "damaged");
  }
  const auto want = ByteCursor(packed.substr(body.size())).TakeBig<uint32_t>();
  const auto got = crc32_z(0, reinterpret_cast<const Bytef*>(out.data()), out.size());
  if (want != static_cast<uint32_t>(got)) return Damaged("snappy", "checksum differs");
  return {};
}

Status Unzstd(std::string_view packed, std::string& out, size_t bytes_max) {
  const std::unique_ptr<ZSTD_DCtx, size_t (*)(ZSTD_DCtx*)> context(ZSTD_createDCtx(),
                                                                   ZSTD_freeDCtx);
  if (context == nullptr) return Damaged("zstandard", "zstd does not start");
  // The window, which a frame chooses, is memory too.
  ZSTD_DCtx_setParameter(context.get(), ZSTD_d_windowLogMax, 27);
  ZSTD_inBuffer in{packed.data(), packed.size(), 0};
  size_t used = 0;
  size_t hint = 1;
  while (in.pos < in.size || hint != 0) {
    char spill = 0;
    const bool has_room = Grow(out, used, bytes_max);
    ZSTD_outBuffer to{has_room ? out.data() + used : &spill, has_room ? out.size() - used : 1, 0};
    const size_t in_before = in.pos;
    hint = ZSTD_decompressStream(context.get(), &to, &in);
    if (ZSTD_isError(hint) != 0) return Damaged("zstandard", ZSTD_getErrorName(hint));
    if (!has_room && to.pos > 0) return TooLarge(bytes_max);
    used += to.pos;
    if (hint != 0 && to.pos == 0 && in.pos == in_before && in.pos == in.size) {
      return Damaged("zstandard", "ends early");
    }
  }
  out.resize(used);
  return {};
}

}  // namespace

std::optional<Codec> FindCodec(std::string_view word) {
  if (word == "null") return Codec::kNull;
  if (word == "deflate") return Codec::kDeflate;
  if (word == "snappy") return Codec::kSnappy;
  if (word == "zstandard") return Codec::kZstandard;
  return std::nullopt;
}

Status Unpack(Codec codec, std::string_view packed, std::string& out, size_t bytes_max) {
  out.clear();
  switch (codec) {
    case Codec::kNull: break;
    case Codec::kDeflate: return Inflate(packed, out, bytes_max);
    case Codec::kSnappy: return Unsnap(packed, out, bytes_max);
    case Codec::kZstandard: return Unzstd(packed, out, bytes_max);
  }
  CHECK(false, "nothing to unpack");
  std::unreachable();
}

}  // namespace tidemark::lake::avro
