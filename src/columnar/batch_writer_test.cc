#include "columnar/batch_writer.h"

#include <gmock/gmock.h>

#include "columnar/rows.h"
#include "support/result_matchers.h"
#include "support/row_files.h"
#include "support/testdata.h"

namespace tidemark::columnar {
namespace {

using lake::avro::Schema;
using support::AllColumns;
using support::ExpectedRows;
using support::IsError;
using support::IsOk;
using support::IsOkAnd;
using support::JsonRows;
using support::ReadRowSchema;
using support::ReadTestdata;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr RowFormat kFormats[] = {RowFormat::kJsonLines, RowFormat::kCsv, RowFormat::kParquet,
                                  RowFormat::kArrow};

Batch TypesBatch(const RowType& type) {
  const auto schema = ReadRowSchema("types");
  const auto decoder = RecordDecoder::Make(schema, type).value();
  RowBuilder builder(type);
  for (const auto& record : support::ReadRecords("types")) {
    EXPECT_THAT(builder.Append(decoder, record), IsOk());
  }
  return builder.Finish();
}

Result<std::string> Written(RowFormat format, const RowType& type,
                            const std::vector<Batch>& batches, WriteOptions options = {}) {
  std::string out;
  const auto sink = [&out](std::string_view bytes) -> Status {
    out += bytes;
    return {};
  };
  TRY_ASSIGN(const auto writer, OpenBatchWriter(format, type, sink, std::move(options)));
  for (const auto& batch : batches) TRY(writer->Write(batch));
  TRY(writer->Close());
  return out;
}

TEST(BatchWriterTest, JsonLinesAreTheRows) {
  const auto type = AllColumns(ReadRowSchema("types"));
  const auto batch = TypesBatch(type);
  ASSERT_OK_ASSIGN(const auto text,
                   Written(RowFormat::kJsonLines, type, {batch.Slice(0, 70), batch.Slice(70, 80)}));
  EXPECT_EQ(support::SortedLines(text), ExpectedRows("types"));
}

TEST(BatchWriterTest, ParquetReadsBackTheSame) {
  const auto type = AllColumns(ReadRowSchema("types"));
  const auto batch = TypesBatch(type);
  for (const auto codec : {ParquetCodec::kZstd, ParquetCodec::kSnappy, ParquetCodec::kNone}) {
    WriteOptions options;
    options.codec = codec;
    options.row_group_rows = 60;
    options.metadata = {{"parquet.avro.schema", "{}"}};
    ASSERT_OK_ASSIGN(
        const auto bytes,
        Written(RowFormat::kParquet, type, {batch.Slice(0, 33), batch.Slice(33, 117)}, options));
    ASSERT_OK_ASSIGN(const auto reader, OpenParquetBytes(bytes, nullptr, type));
    EXPECT_EQ(FileSchemaJson(*reader), "{}");
    EXPECT_THAT(JsonRows(*reader), IsOkAnd(ExpectedRows("types")));
  }
}

TEST(BatchWriterTest, WhatWasReadIsWrittenOutAgain) {
  const auto type = AllColumns(ReadRowSchema("types"));
  ReadOptions options;
  options.batch_rows = 37;
  const std::string file = ReadTestdata("rows/types_zstd_groups.parquet");
  ASSERT_OK_ASSIGN(const auto reader, OpenParquetBytes(file, nullptr, type, options));
  std::vector<Batch> batches;
  while (true) {
    ASSERT_OK_ASSIGN(const auto batch, reader->Next());
    if (!batch) break;
    batches.push_back(*batch);
  }
  ASSERT_OK_ASSIGN(const auto bytes, Written(RowFormat::kParquet, type, batches));
  ASSERT_OK_ASSIGN(const auto back, OpenParquetBytes(bytes, nullptr, type));
  EXPECT_THAT(JsonRows(*back), IsOkAnd(ExpectedRows("types")));
}

TEST(BatchWriterTest, ArrowStreamBeginsWithItsSchema) {
  const auto type = AllColumns(ReadRowSchema("types"));
  ASSERT_OK_ASSIGN(const auto bytes, Written(RowFormat::kArrow, type, {TypesBatch(type)}));
  EXPECT_THAT(bytes, StartsWith("\xff\xff\xff\xff"));
  EXPECT_THAT(bytes, HasSubstr("lts_us"));
  EXPECT_EQ(bytes.substr(bytes.size() - 8), std::string("\xff\xff\xff\xff\0\0\0\0", 8));
}

TEST(BatchWriterTest, HiddenColumnsStayInside) {
  const auto schema = ReadRowSchema("types");
  ASSERT_OK_ASSIGN(const auto type,
                   RowType::Make(schema, std::vector<WantedColumn>{{"l", false}, {"i"}}));
  const auto batch = TypesBatch(type).Slice(0, 2);
  EXPECT_THAT(Written(RowFormat::kJsonLines, type, {batch}), IsOkAnd("{\"i\":0}\n{\"i\":-761}\n"));
  EXPECT_THAT(Written(RowFormat::kCsv, type, {batch}), IsOkAnd("i\r\n0\r\n-761\r\n"));
  ASSERT_OK_ASSIGN(const auto bytes, Written(RowFormat::kParquet, type, {batch}));
  ASSERT_OK_ASSIGN(const auto reader, OpenParquetBytes(bytes, nullptr, type));
  EXPECT_FALSE(reader->HasColumn(0));
  EXPECT_TRUE(reader->HasColumn(1));
}

TEST(BatchWriterTest, CsvTellsNullFromEmptyAndQuotesWhatItMust) {
  const auto schema = Schema::Parse(R"({"type":"record","name":"t","fields":[
      {"name":"a,b","type":["null","string"]},{"name":"l","type":{"type":"array","items":"string"}}]})");
  const auto type = AllColumns(*schema);
  ASSERT_OK_ASSIGN(const auto decoder, RecordDecoder::Make(*schema, type));
  RowBuilder builder(type);
  for (const std::string& record :
       {std::string("\0\0", 2), std::string("\2\0\0", 3), std::string("\2\4x\"\0", 5),
        std::string("\2\4\r\n\2\2y\0", 8), std::string("\2\2\xff\0", 4)}) {
    ASSERT_THAT(builder.Append(decoder, record), IsOk());
  }
  EXPECT_THAT(Written(RowFormat::kCsv, type, {builder.Finish()}),
              IsOkAnd("\"a,b\",l\r\n,[]\r\n\"\",[]\r\n\"x\"\"\",[]\r\n\"\r\n\",\"[\"\"y\"\"]\"\r\n"
                      "\xEF\xBF\xBD,[]\r\n"));
}

/// Readers pass over empty lines, and over the row with them.
TEST(BatchWriterTest, ARowOfOneNullIsNoEmptyLineInCsv) {
  const auto schema = Schema::Parse(R"({"type":"record","name":"t","fields":[
      {"name":"s","type":["null","string"]}]})");
  const auto type = AllColumns(*schema);
  ASSERT_OK_ASSIGN(const auto decoder, RecordDecoder::Make(*schema, type));
  RowBuilder builder(type);
  for (const std::string& record : {std::string("\0", 1), std::string("\2\2x", 3)})
    ASSERT_THAT(builder.Append(decoder, record), IsOk());
  EXPECT_THAT(Written(RowFormat::kCsv, type, {builder.Finish()}), IsOkAnd("s\r\n\"\"\r\nx\r\n"));
}

TEST(BatchWriterTest, NoRowsAreStillAFile) {
  const auto type = AllColumns(ReadRowSchema("types"));
  EXPECT_THAT(Written(RowFormat::kJsonLines, type, {}), IsOkAnd(""));
  EXPECT_THAT(Written(RowFormat::kCsv, type, {}), IsOkAnd(StartsWith("flag,i,l,")));
  ASSERT_OK_ASSIGN(const auto bytes, Written(RowFormat::kParquet, type, {}));
  ASSERT_OK_ASSIGN(const auto reader, OpenParquetBytes(bytes, nullptr, type));
  EXPECT_EQ(reader->rows(), 0U);
  EXPECT_THAT(JsonRows(*reader), IsOkAnd(std::vector<std::string>{}));
}

TEST(BatchWriterTest, ErrorOfTheSinkComesThroughAndStays) {
  const auto type = AllColumns(ReadRowSchema("types"));
  const auto batch = TypesBatch(type);
  for (const auto format : kFormats) {
    bool fails = false;
    const auto sink = [&fails](std::string_view) -> Status {
      if (fails) return Fail(ErrorKind::kUnavailable, "disk is full");
      return {};
    };
    ASSERT_OK_ASSIGN(const auto writer, OpenBatchWriter(format, type, sink));
    ASSERT_THAT(writer->Write(batch), IsOk());
    fails = true;
    const auto first = writer->Write(batch);
    EXPECT_THAT(first ? writer->Close() : first, IsError(ErrorKind::kUnavailable, "disk is full"));
    EXPECT_THAT(writer->Write(batch), IsError(ErrorKind::kUnavailable, "disk is full"));
    EXPECT_THAT(writer->Close(), IsError(ErrorKind::kUnavailable, "disk is full"));
  }
}

TEST(BatchWriterTest, FormatsHaveTheirWords) {
  EXPECT_EQ(FindRowFormat("jsonl"), RowFormat::kJsonLines);
  EXPECT_EQ(FindRowFormat("csv"), RowFormat::kCsv);
  EXPECT_EQ(FindRowFormat("parquet"), RowFormat::kParquet);
  EXPECT_EQ(FindRowFormat("arrow"), RowFormat::kArrow);
  EXPECT_EQ(FindRowFormat("JSONL"), std::nullopt);
}

}  // namespace
}  // namespace tidemark::columnar
