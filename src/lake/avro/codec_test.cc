#include "lake/avro/codec.h"

#include <gmock/gmock.h>
#include <snappy.h>
#include <zlib.h>
#include <zstd.h>

#include "support/result_matchers.h"

namespace tidemark::lake::avro {
namespace {

using support::IsError;
using support::IsOk;
using ::testing::HasSubstr;

// What the reference libraries make of `plain`.
std::string Pack(Codec codec, const std::string& plain) {
  std::string packed;
  if (codec == Codec::kDeflate) {
    z_stream stream{};
    deflateInit2(&stream, 6, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY);
    packed.resize(deflateBound(&stream, plain.size()));
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(plain.data()));
    stream.avail_in = static_cast<uInt>(plain.size());
    stream.next_out = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_out = static_cast<uInt>(packed.size());
    deflate(&stream, Z_FINISH);
    packed.resize(stream.total_out);
    deflateEnd(&stream);
  } else if (codec == Codec::kSnappy) {
    snappy::Compress(plain.data(), plain.size(), &packed);
    const auto sum =
        crc32(0, reinterpret_cast<const Bytef*>(plain.data()), static_cast<uInt>(plain.size()));
    for (const int shift : {24, 16, 8, 0}) packed += static_cast<char>(sum >> shift);
  } else {
    packed.resize(ZSTD_compressBound(plain.size()));
    packed.resize(ZSTD_compress(packed.data(), packed.size(), plain.data(), plain.size(), 3));
  }
  return packed;
}

class CodecTest : public ::testing::TestWithParam<Codec> {
 protected:
  Codec codec() const { return GetParam(); }
};

TEST_P(CodecTest, BlockOfEverySizeComesBack) {
  for (const size_t size :
       {size_t{0}, size_t{1}, size_t{65535}, size_t{65536}, size_t{65537}, size_t{1} << 20}) {
    SCOPED_TRACE(size);
    std::string plain(size, 'a');
    for (size_t i = 0; i < size; i += 7) plain[i] = static_cast<char>(i * 31);
    std::string out = "old content";
    ASSERT_THAT(Unpack(codec(), Pack(codec(), plain), out), IsOk());
    EXPECT_EQ(out, plain);
    EXPECT_THAT(Unpack(codec(), Pack(codec(), plain), out, size), IsOk());
  }
}

TEST_P(CodecTest, BlockOverTheBoundIsExhausted) {
  const std::string packed = Pack(codec(), std::string(1 << 20, 'a'));
  for (const size_t bound : {size_t{0}, size_t{1000}, (size_t{1} << 20) - 1}) {
    std::string out;
    EXPECT_THAT(Unpack(codec(), packed, out, bound),
                IsError(ErrorKind::kExhausted, HasSubstr("bytes_max=" + std::to_string(bound))));
    EXPECT_LE(out.size(), bound);
  }
}

TEST_P(CodecTest, EveryTruncationIsCorrupt) {
  const std::string packed = Pack(codec(), "checkpoint topic,0:6,1:3,2:2 checkpoint topic,0:7");
  for (size_t size = 0; size < packed.size(); ++size) {
    std::string out;
    EXPECT_THAT(Unpack(codec(), packed.substr(0, size), out),
                IsError(ErrorKind::kCorrupt, HasSubstr("does not unpack")))
        << size;
  }
}

TEST_P(CodecTest, BytesBehindTheEndAreCorrupt) {
  std::string out;
  EXPECT_THAT(Unpack(codec(), Pack(codec(), "abc") + "xyz!?", out),
              IsError(ErrorKind::kCorrupt, HasSubstr("does not unpack")));
}

INSTANTIATE_TEST_SUITE_P(All, CodecTest,
                         ::testing::Values(Codec::kDeflate, Codec::kSnappy, Codec::kZstandard));

TEST(SnappyTest, ChecksumIsChecked) {
  std::string packed = Pack(Codec::kSnappy, "some bytes");
  packed.back() = static_cast<char>(packed.back() ^ 1);
  std::string out;
  EXPECT_THAT(Unpack(Codec::kSnappy, packed, out),
              IsError(ErrorKind::kCorrupt, HasSubstr("checksum differs")));
}

TEST(SnappyTest, LengthThatCannotBeIsRefusedBeforeAllocating) {
  // Length 2^27 in front of three bytes.
  std::string out;
  EXPECT_THAT(Unpack(Codec::kSnappy,
                     std::string("\x80\x80\x80\x40"
                                 "abc"
                                 "0000"),
                     out),
              IsError(ErrorKind::kCorrupt, HasSubstr("wrong length")));
  EXPECT_LT(out.capacity(), 1000U);
}

}  // namespace
}  // namespace tidemark::lake::avro
