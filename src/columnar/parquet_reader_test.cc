// The module behind lake/column_reader.h, on files that pyarrow wrote (testdata/parquet/README.md).
#include <gmock/gmock.h>

#include "columnar/loader.h"
#include "lake/column_reader.h"
#include "support/result_matchers.h"
#include "support/testdata.h"

namespace tidemark::columnar {
namespace {

using support::IsError;
using support::IsOk;
using support::IsOkAnd;
using support::ReadTestdata;
using ::testing::AnyOf;
using ::testing::HasSubstr;

const std::vector<std::string> kColumns = {"instantTime", "name",  "body",     "version",
                                           "big",         "small", "unsigned", "unsigned32"};

std::string Cell(const std::optional<std::string_view>& value) {
  if (!value) return "-";
  if (value->empty()) return "e";
  std::string text;
  for (const char byte : *value) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    text += kDigits[static_cast<unsigned char>(byte) >> 4];
    text += kDigits[static_cast<unsigned char>(byte) & 15];
  }
  return text;
}

// Rows in the form of rows.txt.
Result<std::string> Rows(std::string_view bytes, const std::vector<std::string>& columns) {
  TRY_ASSIGN(const auto* const reader, LoadColumnReader());
  std::string text;
  TRY(reader->ReadRows(bytes, columns, [&](auto row) -> Status {
    std::string line;
    for (const auto& value : row) line += (line.empty() ? "" : " ") + Cell(value);
    text += line + "\n";
    return {};
  }));
  return text;
}

class ForeignParquetTest : public ::testing::TestWithParam<std::string> {};

TEST_P(ForeignParquetTest, RowsAreThoseWritten) {
  EXPECT_THAT(Rows(ReadTestdata("parquet/" + GetParam() + ".parquet"), kColumns),
              IsOkAnd(ReadTestdata("parquet/rows.txt")));
}

INSTANTIATE_TEST_SUITE_P(Writers, ForeignParquetTest,
                         ::testing::Values("plain", "snappy_dictionary", "gzip_row_groups",
                                           "zstd_v2", "delta", "checksums"),
                         [](const auto& writer) { return writer.param; });

TEST(ParquetReaderTest, ColumnsComeInTheOrderAskedAndMayRepeat) {
  const std::string bytes = ReadTestdata("parquet/small.parquet");
  ASSERT_OK_ASSIGN(const auto rows, Rows(bytes, {"version", "instantTime", "version"}));
  ASSERT_OK_ASSIGN(const auto version, Rows(bytes, {"version"}));
  ASSERT_OK_ASSIGN(const auto instant, Rows(bytes, {"instantTime"}));
  const auto first = [](const std::string& text) { return text.substr(0, text.find('\n')); };
  EXPECT_EQ(first(rows), first(version) + " " + first(instant) + " " + first(version));
}

TEST(ParquetReaderTest, EmptyFileHasNoRows) {
  EXPECT_THAT(Rows(ReadTestdata("parquet/empty.parquet"), kColumns), IsOkAnd(""));
}

TEST(ParquetReaderTest, MissingAndOtherColumnsAreUnsupportedAndNamed) {
  const std::string bytes = ReadTestdata("parquet/plain.parquet");
  for (const std::string column : {"nothing", "truth", "day", "list", "part", "ratio", "x"}) {
    EXPECT_THAT(Rows(bytes, {"name", column}),
                IsError(ErrorKind::kUnsupported, HasSubstr("column=" + column)));
  }
  EXPECT_THAT(Rows(bytes, {}),
              IsError(ErrorKind::kInvalidArgument, HasSubstr("no parquet column")));
}

TEST(ParquetReaderTest, ErrorOfTheSinkEndsTheReading) {
  const std::string bytes = ReadTestdata("parquet/plain.parquet");
  ASSERT_OK_ASSIGN(const auto* const reader, LoadColumnReader());
  int rows = 0;
  const auto done = reader->ReadRows(bytes, kColumns, [&](auto) -> Status {
    if (++rows == 7) return Fail(ErrorKind::kCancelled, "enough");
    return {};
  });
  EXPECT_THAT(done, IsError(ErrorKind::kCancelled, HasSubstr("enough")));
  EXPECT_EQ(rows, 7);
}

TEST(ParquetReaderTest, WhatIsNoParquetIsCorrupt) {
  for (const std::string bytes : {"", "P", "PAR1", "PAR1PAR1", "PAR1\xff\xff\xff\x7fPAR1",
                                  "PAR1\xff\xff\xff\xffPAR1", "0123456789abcdef"}) {
    EXPECT_THAT(Rows(bytes, kColumns), IsError(ErrorKind::kCorrupt, HasSubstr("damaged")));
  }
}

TEST(ParquetReaderTest, EveryTruncationIsCorrupt) {
  const std::string bytes = ReadTestdata("parquet/small.parquet");
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THAT(Rows(std::string_view(bytes).substr(0, size), {"instantTime", "version"}),
                IsError(ErrorKind::kCorrupt, HasSubstr("damaged")))
        << size;
  }
}

TEST(ParquetReaderTest, EveryByteFlipIsAnErrorOrRows) {
  for (const std::string name : {"small", "zstd_v2", "snappy_dictionary"}) {
    const std::string bytes = ReadTestdata("parquet/" + name + ".parquet");
    const size_t step = name == "small" ? 1 : 17;
    for (size_t i = 0; i < bytes.size(); i += step) {
      for (const int mask : {0x01, 0x10, 0x80, 0xff}) {
        std::string flipped = bytes;
        flipped[i] = static_cast<char>(flipped[i] ^ mask);
        const auto rows = Rows(flipped, {"instantTime", "version"});
        if (!rows) {
          EXPECT_THAT(rows.error().kind,
                      AnyOf(ErrorKind::kCorrupt, ErrorKind::kUnsupported, ErrorKind::kExhausted));
        }
      }
    }
  }
}

TEST(ParquetReaderTest, PageWithAChecksumCannotChangeUnseen) {
  const std::string bytes = ReadTestdata("parquet/small.parquet");
  const size_t value = bytes.find("20240101000000003");
  ASSERT_NE(value, bytes.npos);
  std::string flipped = bytes;
  flipped[value + 3] = '5';
  EXPECT_THAT(Rows(flipped, {"instantTime"}), IsError(ErrorKind::kCorrupt, HasSubstr("CRC")));
}

}  // namespace
}  // namespace tidemark::columnar
