// Values that another library encoded (testdata/avro/README.md).
#include <gtest/gtest.h>

#include <charconv>
#include <nlohmann/json.hpp>
#include <sstream>

#include "lake/avro/container.h"
#include "support/avro_text.h"
#include "support/result_matchers.h"
#include "support/testdata.h"

namespace tidemark::lake::avro {
namespace {

using support::AvroText;
using support::IsOkAnd;
using support::ReadTestdata;

std::string Unhex(std::string_view hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    uint8_t byte = 0;
    std::from_chars(&hex[i], &hex[i] + 2, byte, 16);
    bytes += static_cast<char>(byte);
  }
  return bytes;
}

// The value as text, after checking that its size is that of its bytes.
Result<std::string> Decode(const Type& type, std::string_view bytes) {
  Wire wire(bytes);
  wire.Skip(type);
  if (!wire.ok()) return std::unexpected(wire.ToError());
  if (!wire.at_end()) return Fail(ErrorKind::kCorrupt, "bytes left");
  TRY_ASSIGN(const auto datum, Datum::Open(type, bytes));
  return AvroText(datum, type.kind == Kind::kUnion);
}

TEST(VectorsTest, ForeignValuesDecodeToTheirText) {
  std::istringstream lines(ReadTestdata("avro/datums.jsonl"));
  size_t values = 0;
  for (std::string line; std::getline(lines, line);) {
    const auto row = nlohmann::json::parse(line);
    SCOPED_TRACE(row["schema"].get<std::string>());
    ASSERT_OK_ASSIGN(const auto schema, Schema::Parse(row["schema"].get<std::string>()));
    for (const auto& datum : row["datums"]) {
      const std::string bytes = Unhex(datum[0].get<std::string>());
      EXPECT_THAT(Decode(schema.root(), bytes), IsOkAnd(datum[1].get<std::string>()));
      ++values;
    }
  }
  EXPECT_GT(values, 300U);
}

TEST(VectorsTest, EveryTruncationOfAForeignValueIsCorrupt) {
  std::istringstream lines(ReadTestdata("avro/datums.jsonl"));
  for (std::string line; std::getline(lines, line);) {
    const auto row = nlohmann::json::parse(line);
    SCOPED_TRACE(row["schema"].get<std::string>());
    ASSERT_OK_ASSIGN(const auto schema, Schema::Parse(row["schema"].get<std::string>()));
    for (const auto& datum : row["datums"]) {
      const std::string bytes = Unhex(datum[0].get<std::string>());
      for (size_t size = 0; size < bytes.size(); ++size) {
        const auto text = Decode(schema.root(), std::string_view(bytes).substr(0, size));
        ASSERT_FALSE(text.has_value()) << size;
        EXPECT_EQ(text.error().kind, ErrorKind::kCorrupt);
      }
    }
  }
}

TEST(VectorsTest, EveryByteFlipOfAForeignValueIsAnErrorOrAValue) {
  std::istringstream lines(ReadTestdata("avro/datums.jsonl"));
  for (std::string line; std::getline(lines, line);) {
    const auto row = nlohmann::json::parse(line);
    ASSERT_OK_ASSIGN(const auto schema, Schema::Parse(row["schema"].get<std::string>()));
    for (const auto& datum : row["datums"]) {
      const std::string bytes = Unhex(datum[0].get<std::string>());
      for (size_t i = 0; i < bytes.size(); ++i) {
        for (const int mask : {0x01, 0x80, 0xff}) {
          std::string flipped = bytes;
          flipped[i] = static_cast<char>(flipped[i] ^ mask);
          const auto text = Decode(schema.root(), flipped);
          EXPECT_TRUE(text.has_value() || text.error().kind == ErrorKind::kCorrupt);
        }
      }
    }
  }
}

// All records, one per line; the error when there is one.
Result<std::string> DecodeContainer(std::string_view bytes) {
  TRY_ASSIGN(auto container, Container::Open(bytes));
  std::string text;
  while (true) {
    TRY_ASSIGN(const auto record, container.Next());
    if (!record) return text;
    TRY_ASSIGN(const auto line, AvroText(*record, false));
    text += line + "\n";
  }
}

class ForeignContainerTest : public ::testing::TestWithParam<std::string> {
 protected:
  std::string bytes() const { return ReadTestdata("avro/" + GetParam() + ".avro"); }
};

TEST_P(ForeignContainerTest, RecordsAreThoseWritten) {
  EXPECT_THAT(DecodeContainer(bytes()), IsOkAnd(ReadTestdata("avro/" + GetParam() + ".txt")));
}

TEST_P(ForeignContainerTest, HasSeveralBlocksAndItsMetadata) {
  const std::string file = bytes();
  ASSERT_OK_ASSIGN(auto container, Container::Open(file));
  EXPECT_EQ(container.metadata().at("written.by"), "fastavro");
  while (true) {
    ASSERT_OK_ASSIGN(const auto record, container.Next());
    if (!record) break;
  }
  EXPECT_GT(container.blocks_read(), 2U);
}

TEST_P(ForeignContainerTest, TruncationIsCorruptUnlessItIsBetweenBlocks) {
  const std::string file = bytes();
  const std::string sync = file.substr(file.size() - 16);
  const std::string whole = ReadTestdata("avro/" + GetParam() + ".txt");
  for (size_t size = 0; size < file.size(); ++size) {
    const auto text = DecodeContainer(std::string_view(file).substr(0, size));
    if (size >= 16 && file.compare(size - 16, 16, sync) == 0) {
      ASSERT_TRUE(text.has_value()) << size << ": " << text.error().message;
      EXPECT_TRUE(whole.starts_with(*text));
    } else {
      ASSERT_FALSE(text.has_value()) << size;
      EXPECT_EQ(text.error().kind, ErrorKind::kCorrupt) << text.error().message;
    }
  }
}

TEST_P(ForeignContainerTest, ByteFlipIsAnErrorOrRecords) {
  const std::string file = bytes();
  for (size_t i = 0; i < file.size(); ++i) {
    for (const int mask : {0x01, 0x10, 0x80}) {
      std::string flipped = file;
      flipped[i] = static_cast<char>(flipped[i] ^ mask);
      const auto text = DecodeContainer(flipped);
      EXPECT_TRUE(text.has_value() || !text.error().message.empty());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Codecs, ForeignContainerTest,
                         ::testing::Values("null", "deflate", "snappy", "zstandard"),
                         [](const auto& codec) { return codec.param; });

}  // namespace
}  // namespace tidemark::lake::avro
