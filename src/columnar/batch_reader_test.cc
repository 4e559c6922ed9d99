// Parquet files that pyarrow and Hudi wrote (testdata/rows/README.md).
#include "columnar/batch_reader.h"

#include <gmock/gmock.h>

#include <atomic>

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
using ::testing::AnyOf;
using ::testing::HasSubstr;

using Rows = std::vector<std::string>;

std::string PathOf(const std::string& name) {
  return std::string(TIDEMARK_TESTDATA) + "/rows/" + name + ".parquet";
}

Result<Rows> ReadBytes(std::string_view bytes, const RowType& type, ReadOptions options = {}) {
  TRY_ASSIGN(const auto reader, OpenParquetBytes(bytes, nullptr, type, std::move(options)));
  return JsonRows(*reader);
}

RowType Columns(const Schema& schema, const std::vector<WantedColumn>& wanted) {
  return RowType::Make(schema, wanted).value();
}

class ForeignRowsTest : public ::testing::TestWithParam<std::string> {};

TEST_P(ForeignRowsTest, RowsAreThoseWritten) {
  const auto type = AllColumns(ReadRowSchema("types"));
  for (const int threads : {1, 2}) {
    for (const size_t batch_rows : {1U, 7U, 1000U}) {
      ReadOptions options;
      options.threads = threads;
      options.batch_rows = batch_rows;
      ASSERT_OK_ASSIGN(const auto reader, OpenParquetFile(PathOf(GetParam()), type, options));
      EXPECT_EQ(reader->rows(), 150U);
      EXPECT_THAT(JsonRows(*reader), IsOkAnd(ExpectedRows("types")));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Writers, ForeignRowsTest,
                         ::testing::Values("types_plain", "types_zstd_groups", "types_integers",
                                           "types_arrow_schema", "types_gzip_v1", "types_gzip_v2"),
                         [](const auto& writer) { return writer.param; });

TEST(BatchReaderTest, OldTimestampsAreRead) {
  const auto type = Columns(ReadRowSchema("types"), {{"i"}, {"ts_us"}, {"lts_us"}});
  auto expected = ExpectedRows("types");
  for (auto& row : expected) row = support::Only(row, {"i", "ts_us", "lts_us"});
  EXPECT_THAT(ReadBytes(ReadTestdata("rows/types_int96.parquet"), type), IsOkAnd(expected));
}

TEST(BatchReaderTest, OldFilesAreReadAsTheTableIsNow) {
  const auto type = AllColumns(ReadRowSchema("evolved"));
  ReadOptions options;
  options.columns.names = {
      {"new_name", "old_name"}, {"dropped", std::nullopt}, {"m.value.renamed", "a"}};
  ASSERT_OK_ASSIGN(const auto reader, OpenParquetFile(PathOf("old"), type, options));
  EXPECT_FALSE(reader->HasColumn(type.Find("added").value()));
  EXPECT_TRUE(reader->HasColumn(type.Find("new_name").value()));
  EXPECT_THAT(JsonRows(*reader), IsOkAnd(ExpectedRows("evolved")));
}

// A base file of Hudi 0.14 with lists of two levels, against what Spark's reader returned.
TEST(BatchReaderTest, HudisOwnFileIsRead) {
  const std::string bytes = ReadTestdata("rows/hudi_types_wide.parquet");
  ASSERT_OK_ASSIGN(
      const auto any,
      OpenParquetBytes(bytes, nullptr, Columns(ReadRowSchema("types"), {{"_hoodie_record_key"}})));
  const auto json = FileSchemaJson(*any);
  ASSERT_TRUE(json.has_value());
  EXPECT_EQ(any->Metadata("hoodie_min_record_key"), "a");
  EXPECT_EQ(any->Metadata("nothing"), std::nullopt);
  ASSERT_OK_ASSIGN(const auto schema, Schema::Parse(*json));
  const Rows expected = {
      support::Sorted(R"({"id":"b","ord":1,"val":"b1","part":"p1","_hoodie_is_deleted":false,
        "c_bool":null,"c_int":null,"c_float":null,"c_double":null,"c_dec":null,"c_date":null,
        "c_ts":null,"c_bin":null,"c_arr":null,"c_map":null,"c_st":null,"c_null":null})"),
      support::Sorted(R"({"id":"a","ord":1,"val":"a1","part":"p1","_hoodie_is_deleted":false,
        "c_bool":true,"c_int":-5,"c_float":1.5,"c_double":-2.25,
        "c_dec":"-12345678901234567890.0123456789","c_date":"1969-07-20",
        "c_ts":"2025-06-01T01:02:03.456789Z","c_bin":"AP8=","c_arr":["a","b"],"c_map":{"k":1},
        "c_st":{"x":1,"y":"y"},"c_null":null})")};
  EXPECT_THAT(ReadBytes(bytes, AllColumns(schema)), IsOkAnd(expected));
}

TEST(BatchReaderTest, ColumnsComeInTheOrderWantedAndBatchesKeepTheirFile) {
  const auto type = Columns(ReadRowSchema("types"), {{"s"}, {"_hoodie_commit_time", false}, {"i"}});
  std::vector<Batch> batches;
  {
    auto bytes = std::make_shared<const std::string>(ReadTestdata("rows/types_plain.parquet"));
    ReadOptions options;
    options.batch_rows = 70;
    ASSERT_OK_ASSIGN(const auto reader, OpenParquetBytes(*bytes, bytes, type, options));
    while (true) {
      ASSERT_OK_ASSIGN(const auto batch, reader->Next());
      if (!batch) break;
      batches.push_back(*batch);
    }
  }
  const auto expected = ExpectedRows("types");
  size_t row = 0;
  for (const auto& batch : batches) {
    EXPECT_TRUE(batch.column(1).IsNull(0));
    for (size_t i = 0; i < batch.rows(); ++i, ++row) {
      EXPECT_EQ(support::Sorted(RowJson(batch, i)), support::Only(expected[row], {"s", "i"}));
    }
  }
  EXPECT_EQ(row, 150U);
  EXPECT_EQ(batches.size(), 3U);
}

TEST(BatchReaderTest, FileWithNoneOfTheColumnsHasItsRows) {
  const auto type = Columns(ReadRowSchema("types"), {{"_hoodie_commit_time"}});
  ReadOptions options;
  options.batch_rows = 64;
  EXPECT_THAT(ReadBytes(ReadTestdata("rows/types_zstd_groups.parquet"), type, options),
              IsOkAnd(Rows(150, R"({"_hoodie_commit_time":null})")));
}

TEST(BatchReaderTest, AConstantStandsInForAColumnThatTheFileLacks) {
  const auto schema = Schema::Parse(
      R"({"type":"record","name":"t","fields":[{"name":"part","type":["null","string"],"default":null}]})");
  ASSERT_THAT(schema, IsOk());
  ReadOptions options;
  options.columns.constants = {{"part", R"("north/7")"}};
  const auto rows = ReadBytes(ReadTestdata("rows/small.parquet"), AllColumns(*schema), options);
  ASSERT_THAT(rows, IsOk());
  ASSERT_FALSE(rows->empty());
  EXPECT_THAT(*rows, ::testing::Each(R"({"part":"north/7"})"));
}

TEST(BatchReaderTest, ColumnOfAnotherTypeIsNamedWithItsFile) {
  const auto schema = Schema::Parse(
      R"({"type":"record","name":"t","fields":[{"name":"l","type":["null","int"]}]})");
  ReadOptions options;
  options.name = "p/f.parquet";
  EXPECT_THAT(ReadBytes(ReadTestdata("rows/types_plain.parquet"), AllColumns(*schema), options),
              IsError(ErrorKind::kUnsupported,
                      ::testing::AllOf(HasSubstr("file=p/f.parquet"), HasSubstr("column=l"))));
}

TEST(BatchReaderTest, ValueThatDoesNotFitIsUnsupported) {
  const auto schema = Schema::Parse(R"({"type":"record","name":"t","fields":[
    {"name":"ts_us","type":["null",{"type":"long","logicalType":"timestamp-millis"}]}]})");
  EXPECT_THAT(ReadBytes(ReadTestdata("rows/types_plain.parquet"), AllColumns(*schema)),
              IsError(ErrorKind::kUnsupported, HasSubstr("column=ts_us")));
}

TEST(BatchReaderTest, MemoryIsBounded) {
  ReadOptions options;
  options.memory_max = 2000;
  options.name = "f";
  EXPECT_THAT(ReadBytes(ReadTestdata("rows/types_plain.parquet"),
                        AllColumns(ReadRowSchema("types")), options),
              IsError(ErrorKind::kExhausted, HasSubstr("file=f")));
}

class CountedSource final : public ByteSource {
 public:
  explicit CountedSource(std::string bytes) : bytes_(std::move(bytes)) {}
  uint64_t size() const override { return bytes_.size(); }
  Status ReadAt(uint64_t offset, std::span<char> into) const override {
    if (fails) return Fail(ErrorKind::kUnavailable, "the store is away");
    taken += into.size();
    bytes_.copy(into.data(), into.size(), offset);
    return {};
  }
  mutable std::atomic<uint64_t> taken = 0;
  std::atomic<bool> fails = false;

 private:
  std::string bytes_;
};

TEST(BatchReaderTest, OnlyTheColumnsWantedAreFetched) {
  const auto source =
      std::make_shared<CountedSource>(ReadTestdata("rows/types_zstd_groups.parquet"));
  const auto schema = ReadRowSchema("types");
  ReadOptions options;
  options.is_remote = false;
  ASSERT_OK_ASSIGN(const auto reader, OpenParquetSource(source, Columns(schema, {{"i"}}), options));
  const uint64_t footer = source->taken;
  ASSERT_OK_ASSIGN(const auto rows, JsonRows(*reader));
  EXPECT_EQ(rows.size(), 150U);
  EXPECT_LT(source->taken - footer, 4000U);
}

TEST(BatchReaderTest, ErrorOfTheSourceComesThrough) {
  const auto source =
      std::make_shared<CountedSource>(ReadTestdata("rows/types_zstd_groups.parquet"));
  const auto type = AllColumns(ReadRowSchema("types"));
  for (const bool is_remote : {true, false}) {
    ReadOptions options;
    options.is_remote = is_remote;
    source->fails = false;
    ASSERT_OK_ASSIGN(const auto reader, OpenParquetSource(source, type, options));
    source->fails = true;
    EXPECT_THAT(JsonRows(*reader), IsError(ErrorKind::kUnavailable, "the store is away"));
    EXPECT_THAT(reader->Next(), IsError(ErrorKind::kUnavailable, "the store is away"));
    EXPECT_THAT(OpenParquetSource(source, type, options),
                IsError(ErrorKind::kUnavailable, "the store is away"));
  }
}

TEST(BatchReaderTest, MissingFileIsNotFound) {
  EXPECT_THAT(OpenParquetFile(PathOf("nothing"), AllColumns(ReadRowSchema("types"))),
              IsError(ErrorKind::kNotFound, HasSubstr("nothing.parquet")));
}

TEST(BatchReaderTest, EveryTruncationIsCorrupt) {
  const std::string bytes = ReadTestdata("rows/small.parquet");
  const auto type = Columns(ReadRowSchema("types"), {{"i"}, {"s"}, {"dec"}, {"st"}, {"li"}});
  ASSERT_THAT(ReadBytes(bytes, type), IsOk());
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THAT(ReadBytes(std::string_view(bytes).substr(0, size), type),
                IsError(ErrorKind::kCorrupt, HasSubstr("damaged")))
        << size;
  }
}

TEST(BatchReaderTest, DamageIsNamedWithItsFileAndColumn) {
  std::string bytes = ReadTestdata("rows/small.parquet");
  const auto schema = ReadRowSchema("types");
  // In the data page of li, which has a checksum.
  bytes[815] = static_cast<char>(bytes[815] ^ 0x40);
  ReadOptions options;
  options.name = "f";
  EXPECT_THAT(ReadBytes(bytes, Columns(schema, {{"i"}, {"s"}})), IsOk());
  EXPECT_THAT(
      ReadBytes(bytes, Columns(schema, {{"i"}, {"li"}, {"s"}}), options),
      IsError(ErrorKind::kCorrupt, ::testing::AllOf(HasSubstr("column=li"), HasSubstr("file=f"))));
}

TEST(BatchReaderTest, EveryByteFlipIsAnErrorOrRows) {
  const std::string bytes = ReadTestdata("rows/small.parquet");
  const auto type = Columns(ReadRowSchema("types"), {{"i"}, {"s"}, {"dec"}, {"st"}, {"li"}});
  for (size_t i = 0; i < bytes.size(); ++i) {
    for (const int mask : {0x01, 0x10, 0x80, 0xff}) {
      std::string flipped = bytes;
      flipped[i] = static_cast<char>(flipped[i] ^ mask);
      const auto rows = ReadBytes(flipped, type);
      if (!rows) {
        EXPECT_THAT(rows.error().kind,
                    AnyOf(ErrorKind::kCorrupt, ErrorKind::kUnsupported, ErrorKind::kExhausted));
      }
    }
  }
}

class FooterTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    bytes_ = ReadTestdata("rows/" + GetParam() + ".parquet");
    uint32_t length = 0;
    bytes_.copy(reinterpret_cast<char*>(&length), sizeof(length), bytes_.size() - 8);
    footer_ = bytes_.size() - 8 - length;
  }
  std::string bytes_;
  size_t footer_ = 0;
};

TEST_P(FooterTest, EveryByteFlipIsAnErrorOrTheRightRows) {
  ReadOptions options;
  options.name = "f";
  const auto none = Columns(ReadRowSchema("types"), {{"_hoodie_commit_time"}});
  ASSERT_OK_ASSIGN(const auto file, OpenParquetBytes(bytes_, nullptr, none));
  const auto json = FileSchemaJson(*file);
  const auto schema = json ? Schema::Parse(*json).value() : ReadRowSchema("types");
  const auto type =
      json ? AllColumns(schema) : Columns(schema, {{"i"}, {"s"}, {"dec"}, {"st"}, {"li"}});
  ASSERT_OK_ASSIGN(const auto rows, ReadBytes(bytes_, type));
  ASSERT_FALSE(rows.empty());
  // The footer of Hudi's own file is large: a bloom filter and the schema.
  const size_t masks = bytes_.size() - footer_ > 2000 ? 2 : 9;
  for (size_t i = footer_; i < bytes_.size(); ++i) {
    for (size_t k = 0; k < masks; ++k) {
      const int mask = k == 0 ? 0xff : 1 << (i + k) % 8;
      std::string flipped = bytes_;
      flipped[i] = static_cast<char>(flipped[i] ^ mask);
      const auto got = ReadBytes(flipped, type, options);
      if (got) {
        EXPECT_EQ(*got, rows) << "byte " << i - footer_ << " mask " << mask;
      } else {
        EXPECT_THAT(got.error().kind,
                    AnyOf(ErrorKind::kCorrupt, ErrorKind::kUnsupported, ErrorKind::kExhausted));
        EXPECT_THAT(got.error().message, HasSubstr("file=f"));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Files, FooterTest,
                         ::testing::Values("small", "small_gzip_v1", "small_gzip_v2",
                                           "hudi_types_wide"),
                         [](const auto& file) { return file.param; });

// In a time that a product of the two numbers of columns would not allow.
TEST(BatchReaderTest, ColumnsOfAWideFileAreFoundByTheirNames) {
  constexpr int kColumns = 2000;
  std::string fields;
  std::string record;
  for (int i = 0; i < kColumns; ++i) {
    fields += (i == 0 ? "" : ",") + ("{\"name\":\"c" + std::to_string(i)) +
              "\",\"type\":\"int\",\"aliases\":[\"old" + std::to_string(i) + "\"]}";
    record += static_cast<char>(2 * (i % 50));
  }
  const auto schema = [](const std::string& inner) {
    return Schema::Parse(R"({"type":"record","name":"t","fields":[)" + inner + "]}").value();
  };
  const auto flat = schema(fields);
  const auto nested =
      schema(R"({"name":"n","type":{"type":"record","name":"in","fields":[)" + fields + "]}}");
  for (const auto& written : {flat, nested}) {
    const auto type = AllColumns(written);
    ASSERT_OK_ASSIGN(const auto decoder, RecordDecoder::Make(written, type));
    RowBuilder builder(type);
    ASSERT_THAT(builder.Append(decoder, record), IsOk());
    std::string bytes;
    ASSERT_OK_ASSIGN(const auto writer, OpenBatchWriter(RowFormat::kParquet, type,
                                                        [&](std::string_view more) -> Status {
                                                          bytes += more;
                                                          return {};
                                                        }));
    ASSERT_THAT(writer->Write(builder.Finish()), IsOk());
    ASSERT_THAT(writer->Close(), IsOk());
    ASSERT_OK_ASSIGN(const auto reader, OpenParquetBytes(bytes, nullptr, type));
    ASSERT_OK_ASSIGN(const auto rows, JsonRows(*reader));
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_THAT(rows[0], HasSubstr("\"c1999\":49"));
    EXPECT_TRUE(reader->HasColumn(type.size() - 1));
  }
}

class GzipTest : public ::testing::TestWithParam<std::string> {};

TEST_P(GzipTest, EveryByteFlipIsReadAsArrowReadsIt) {
  const std::string bytes = ReadTestdata("rows/" + GetParam() + ".parquet");
  const auto type = Columns(ReadRowSchema("types"), {{"i"}, {"s"}, {"dec"}, {"st"}, {"li"}});
  // Of a remote file Arrow itself unpacks the pages.
  const auto read = [&](const std::string& file, bool is_remote) -> Result<Rows> {
    ReadOptions options;
    options.is_remote = is_remote;
    TRY_ASSIGN(const auto reader,
               OpenParquetSource(std::make_shared<CountedSource>(file), type, options));
    return JsonRows(*reader);
  };
  ASSERT_OK_ASSIGN(const auto rows, read(bytes, false));
  EXPECT_EQ(rows.size(), 40U);
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string flipped = bytes;
    flipped[i] = static_cast<char>(flipped[i] ^ (1 << i % 8));
    const auto ours = read(flipped, false);
    const auto arrows = read(flipped, true);
    ASSERT_EQ(ours.has_value(), arrows.has_value()) << i;
    if (ours) {
      EXPECT_EQ(*ours, *arrows) << i;
    } else {
      EXPECT_EQ(ours.error().kind, arrows.error().kind) << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Pages, GzipTest, ::testing::Values("small_gzip_v1", "small_gzip_v2"),
                         [](const auto& file) { return file.param; });

}  // namespace
}  // namespace tidemark::columnar
