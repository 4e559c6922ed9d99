#include "columnar/row_builder.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <sstream>

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
using support::JsonRows;
using support::ReadRecords;
using support::ReadRowSchema;
using ::testing::HasSubstr;

Schema Record(const std::string& fields) {
  return Schema::Parse(R"({"type":"record","name":"t","fields":[)" + fields + "]}").value();
}

Batch Decode(const RecordDecoder& decoder, const std::vector<std::string>& records) {
  RowBuilder builder(decoder.type());
  for (const auto& record : records) EXPECT_THAT(builder.Append(decoder, record), IsOk());
  return builder.Finish();
}

// The rows of testdata/rows/types.
Batch TypesBatch() {
  const auto schema = ReadRowSchema("types");
  return Decode(RecordDecoder::Make(schema, AllColumns(schema)).value(), ReadRecords("types"));
}

TEST(RowBuilderTest, ForeignRecordsBecomeTheirRows) {
  EXPECT_EQ(JsonRows(TypesBatch()), ExpectedRows("types"));
}

TEST(RowBuilderTest, OldRecordsAreReadAsTheTableIsNow) {
  const auto type = AllColumns(ReadRowSchema("evolved"));
  DecodeOptions options;
  options.names = {{"new_name", "old_name"}, {"dropped", std::nullopt}, {"m.value.renamed", "a"}};
  ASSERT_OK_ASSIGN(const auto decoder, RecordDecoder::Make(ReadRowSchema("old"), type, options));
  EXPECT_EQ(JsonRows(Decode(decoder, ReadRecords("old"))), ExpectedRows("evolved"));
  EXPECT_FALSE(decoder.HasColumn(type.Find("dropped").value()));
  EXPECT_FALSE(decoder.HasColumn(type.Find("known").value()));
  EXPECT_TRUE(decoder.HasColumn(type.Find("new_name").value()));
}

TEST(RowBuilderTest, AFewColumnsAreReadAndTheRestPassedOver) {
  const auto schema = ReadRowSchema("types");
  ASSERT_OK_ASSIGN(const auto type, RowType::Make(schema, std::vector<WantedColumn>{
                                                              {"ts_us"}, {"i", false}, {"s"}}));
  ASSERT_OK_ASSIGN(const auto decoder, RecordDecoder::Make(schema, type));
  const auto batch = Decode(decoder, ReadRecords("types"));
  auto expected = ExpectedRows("types");
  for (size_t row = 0; row < batch.rows(); ++row) {
    EXPECT_EQ(std::to_string(batch.column(1).Value<int32_t>(row)),
              support::FieldOf(expected[row], "i"));
    expected[row] = support::Only(expected[row], {"ts_us", "s"});
  }
  EXPECT_EQ(JsonRows(batch), expected);
}

TEST(RowBuilderTest, EveryTruncationOfARecordIsCorruptAndLeavesTheRowsBefore) {
  const auto schema = ReadRowSchema("types");
  ASSERT_OK_ASSIGN(const auto decoder, RecordDecoder::Make(schema, AllColumns(schema)));
  const auto records = ReadRecords("types");
  const auto expected = ExpectedRows("types");
  RowBuilder builder(decoder.type());
  ASSERT_THAT(builder.Append(decoder, records[0]), IsOk());
  for (size_t size = 0; size < records[1].size(); ++size) {
    EXPECT_THAT(builder.Append(decoder, std::string_view(records[1]).substr(0, size), 1000),
                IsError(ErrorKind::kCorrupt, HasSubstr("offset=1")));
  }
  ASSERT_THAT(builder.Append(decoder, records[2]), IsOk());
  EXPECT_EQ(JsonRows(builder.Finish()), (std::vector{expected[0], expected[2]}));
}

TEST(RowBuilderTest, EveryByteFlipOfARecordIsAnErrorOrARow) {
  const auto schema = ReadRowSchema("types");
  ASSERT_OK_ASSIGN(const auto decoder, RecordDecoder::Make(schema, AllColumns(schema)));
  RowBuilder builder(decoder.type());
  size_t rows = 0;
  for (const auto& record : ReadRecords("types")) {
    for (size_t i = 0; i < record.size(); i += 3) {
      std::string flipped = record;
      flipped[i] = static_cast<char>(flipped[i] ^ (1 << (i % 8)));
      const auto done = builder.Append(decoder, flipped);
      if (done) {
        ++rows;
      } else {
        EXPECT_THAT(done.error().kind,
                    ::testing::AnyOf(ErrorKind::kCorrupt, ErrorKind::kUnsupported));
      }
      ASSERT_EQ(builder.rows(), rows);
    }
  }
  const auto batch = builder.Finish();
  for (size_t row = 0; row < batch.rows(); ++row) EXPECT_FALSE(RowJson(batch, row).empty());
}

TEST(RowBuilderTest, RowsOfABatchAreTakenInRunsOneByOneAndFromSlices) {
  const auto batch = TypesBatch();
  const auto expected = ExpectedRows("types");
  RowBuilder builder(batch.type());
  std::vector<std::string> rows;
  ASSERT_THAT(builder.Append(batch, 3, 60), IsOk());
  rows.insert(rows.end(), expected.begin() + 3, expected.begin() + 63);
  ASSERT_THAT(builder.Append(batch, 0, 0), IsOk());
  const auto slice = batch.Slice(5, 41);
  ASSERT_THAT(builder.Append(slice, 2, 33), IsOk());
  rows.insert(rows.end(), expected.begin() + 7, expected.begin() + 40);
  for (const size_t row : {9U, 1U, 149U}) {
    ASSERT_THAT(builder.Append(batch, row, 1), IsOk());
    rows.push_back(expected[row]);
  }
  const std::vector<uint32_t> some = {40, 0, 7, 7, 13};
  ASSERT_THAT(builder.Append(slice, some), IsOk());
  for (const auto row : some) rows.push_back(expected[5 + row]);
  EXPECT_EQ(builder.rows(), rows.size());
  EXPECT_GT(builder.bytes(), 0U);
  EXPECT_EQ(JsonRows(builder.Finish()), rows);
  EXPECT_EQ(builder.rows(), 0U);
  EXPECT_TRUE(JsonRows(builder.Finish()).empty());
}

TEST(RowBuilderTest, SelectedRowsComeInTheOrderAsked) {
  const auto batch = TypesBatch().Slice(1, 140);
  const auto expected = ExpectedRows("types");
  for (const std::vector<uint32_t>& rows :
       {std::vector<uint32_t>{}, {3}, {7, 8, 9}, {139, 0, 5, 5}, {0, 2, 4}}) {
    ASSERT_OK_ASSIGN(const auto selected, Select(batch, rows));
    std::vector<std::string> wanted;
    for (const auto row : rows) wanted.push_back(expected[1 + row]);
    EXPECT_EQ(JsonRows(selected), wanted);
  }
}

TEST(RowBuilderTest, CellsOfOneRowComeFromSeveralBatches) {
  const auto batch = TypesBatch();
  const auto slice = batch.Slice(100, 50);
  const auto expected = ExpectedRows("types");
  std::vector<CellSource> cells;
  std::vector<std::pair<std::string, std::string>> wanted;
  for (size_t i = 0; i < batch.type().size(); ++i) {
    const auto& name = batch.type().columns()[i].name;
    if (i % 3 == 0) {
      cells.push_back({&batch, 4});
      wanted.emplace_back(name, support::FieldOf(expected[4], name));
    } else if (i % 3 == 1) {
      cells.push_back({&slice, 17});
      wanted.emplace_back(name, support::FieldOf(expected[117], name));
    } else {
      cells.push_back({});
      wanted.emplace_back(name, "null");
    }
  }
  RowBuilder builder(batch.type());
  ASSERT_THAT(builder.AppendCells(cells), IsOk());
  EXPECT_EQ(JsonRows(builder.Finish()), (std::vector{support::RowOf(wanted)}));
}

TEST(RecordDecoderTest, MissingColumnsOfPartialUpdatesAreNull) {
  const auto table =
      Record(R"({"name":"a","type":"int"},{"name":"b","type":"string","default":"x"})");
  const auto type = AllColumns(table);
  const auto writer = Record(R"({"name":"b","type":"string"})");
  EXPECT_THAT(RecordDecoder::Make(writer, type),
              IsError(ErrorKind::kUnsupported, HasSubstr("column=a")));
  ASSERT_OK_ASSIGN(const auto decoder,
                   RecordDecoder::Make(writer, type, {{}, MissingColumns::kNull}));
  EXPECT_FALSE(decoder.HasColumn(0));
  EXPECT_EQ(RowJson(Decode(decoder, {"\x02y"}), 0), R"({"a":null,"b":"y"})");
}

TEST(RecordDecoderTest, AConstantStandsInForAColumnThatTheWriterLacks) {
  const auto table = Record(R"({"name":"b","type":"string"},
    {"name":"part","type":["null","string"],"default":null},
    {"name":"day","type":["null","int"],"default":5},{"name":"hour","type":"int","default":6})");
  const auto writer = Record(R"({"name":"b","type":"string"})");
  DecodeOptions options;
  options.constants = {{"part", R"("p\"1")"}, {"day", "7"}, {"b", R"("not this")"}};
  for (const auto missing : {MissingColumns::kDefault, MissingColumns::kNull}) {
    options.missing = missing;
    ASSERT_OK_ASSIGN(const auto decoder, RecordDecoder::Make(writer, AllColumns(table), options));
    EXPECT_EQ(RowJson(Decode(decoder, {"\x02y"}), 0),
              std::string(R"({"b":"y","part":"p\"1","day":7,"hour":)") +
                  (missing == MissingColumns::kDefault ? "6}" : "null}"));
    EXPECT_FALSE(decoder.HasColumn(1));
  }
  options.constants = {{"day", "null"}};
  options.missing = MissingColumns::kDefault;
  ASSERT_OK_ASSIGN(const auto none, RecordDecoder::Make(writer, AllColumns(table), options));
  EXPECT_EQ(RowJson(Decode(none, {"\x02y"}), 0), R"({"b":"y","part":null,"day":null,"hour":6})");
  options.constants = {{"day", R"("seven")"}};
  EXPECT_THAT(RecordDecoder::Make(writer, AllColumns(table), options),
              IsError(ErrorKind::kCorrupt, HasSubstr("column=day")));
}

TEST(RecordDecoderTest, AliasesFindRenamedFields) {
  const auto table = Record(R"({"name":"now","aliases":["before","then"],"type":"int"})");
  ASSERT_OK_ASSIGN(
      const auto decoder,
      RecordDecoder::Make(Record(R"({"name":"then","type":"int"})"), AllColumns(table)));
  EXPECT_EQ(RowJson(Decode(decoder, {"\x04"}), 0), R"({"now":2})");
}

TEST(RecordDecoderTest, TypesThatDoNotFitAreNamed) {
  const std::pair<const char*, const char*> cases[] = {
      {R"("string")", R"("int")"},
      {R"("long")", R"("int")"},
      {R"("double")", R"("float")"},
      {R"({"type":"int","logicalType":"date"})",
       R"({"type":"long","logicalType":"timestamp-millis"})"},
      {R"({"type":"long","logicalType":"timestamp-millis"})", R"("string")"},
      {R"({"type":"array","items":"string"})", R"({"type":"array","items":"int"})"},
      {R"({"type":"array","items":"int"})", R"({"type":"map","values":"int"})"},
      {R"({"type":"fixed","name":"f","size":3})", R"({"type":"fixed","name":"f","size":4})"},
  };
  for (const auto& [from, to] : cases) {
    const auto field = [](const char* type) {
      return Record(fmt::format(R"({{"name":"c","type":{}}})", type));
    };
    EXPECT_THAT(RecordDecoder::Make(field(from), AllColumns(field(to))),
                IsError(ErrorKind::kUnsupported, HasSubstr("column=c")))
        << from << " as " << to;
  }
  ASSERT_OK_ASSIGN(const auto plain, Schema::Parse(R"("int")"));
  EXPECT_THAT(RecordDecoder::Make(plain, AllColumns(Record(R"({"name":"c","type":"int"})"))),
              IsError(ErrorKind::kUnsupported, HasSubstr("another type")));
}

struct Unfit {
  const char* from;
  const char* to;
  std::string bytes;
  const char* text;
};

TEST(RecordDecoderTest, ValuesThatDoNotFitAreUnsupported) {
  const Unfit cases[] = {
      {R"(["null","int"])", R"("int")", std::string(1, '\0'), "column=c written=null"},
      {R"(["string","int"])", R"("int")", std::string("\0\x02y", 3), "written=string"},
      {R"(["null","string"])", R"(["null","int"])", "\x02\x02y", "written=string"},
      {R"({"type":"enum","name":"e","symbols":["A","B"]})",
       R"({"type":"enum","name":"e","symbols":["A"]})", "\x02", "unknown enum symbol"},
      {R"({"type":"long","logicalType":"timestamp-micros"})",
       R"({"type":"long","logicalType":"timestamp-millis"})", "\x02", "does not fit its unit"},
      {R"({"type":"bytes","logicalType":"decimal","precision":9,"scale":2})",
       R"({"type":"bytes","logicalType":"decimal","precision":9,"scale":1})", "\x02\x01",
       "decimal does not fit"},
  };
  for (const auto& unfit : cases) {
    const auto field = [](const char* type) {
      return Record(fmt::format(R"({{"name":"c","type":{}}})", type));
    };
    const auto type = AllColumns(field(unfit.to));
    ASSERT_OK_ASSIGN(const auto decoder, RecordDecoder::Make(field(unfit.from), type));
    RowBuilder builder(type);
    EXPECT_THAT(builder.Append(decoder, unfit.bytes),
                IsError(ErrorKind::kUnsupported, HasSubstr(unfit.text)));
    EXPECT_EQ(builder.rows(), 0U);
  }
}

TEST(RecordDecoderTest, AFloatBecomesTheNearestDoubleOrTheOneItIsPrintedAs) {
  const auto field = [](const char* type) {
    return Record(fmt::format(R"({{"name":"c","type":"{}"}})", type));
  };
  const auto type = AllColumns(field("double"));
  const std::string bytes("\xcd\xcc\x8c\x3f", 4);  // 1.1F
  for (const auto& [floats, json] :
       {std::pair(WidenedFloats::kNearest, R"({"c":1.100000023841858})"),
        std::pair(WidenedFloats::kAsPrinted, R"({"c":1.1})")}) {
    DecodeOptions options;
    options.floats = floats;
    ASSERT_OK_ASSIGN(const auto decoder, RecordDecoder::Make(field("float"), type, options));
    EXPECT_EQ(RowJson(Decode(decoder, {bytes}), 0), json);
  }
}

TEST(RecordDecoderTest, UnknownEnumSymbolTakesTheDefault) {
  const auto writer =
      Record(R"({"name":"c","type":{"type":"enum","name":"e","symbols":["A","B"]}})");
  const auto reader = Record(
      R"({"name":"c","type":["null",{"type":"enum","name":"e","symbols":["A"],"default":"A"}]})");
  ASSERT_OK_ASSIGN(const auto decoder, RecordDecoder::Make(writer, AllColumns(reader)));
  EXPECT_EQ(RowJson(Decode(decoder, {"\x02"}), 0), R"({"c":"A"})");
}

// One value in the text form of testdata/avro, without union branches.
std::string VectorText(const ColumnView& column, size_t row) {
  if (column.IsNull(row)) return "null";
  const auto hex = [](std::string_view bytes) {
    std::string text;
    for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<uint8_t>(byte));
    return text;
  };
  switch (column.type->kind) {
    case ValueKind::kBoolean: return column.Boolean(row) ? "true" : "false";
    case ValueKind::kInt32: return std::to_string(column.Value<int32_t>(row));
    case ValueKind::kInt64: return std::to_string(column.Value<int64_t>(row));
    case ValueKind::kFloat: return fmt::format("f:{:08x}", column.Value<uint32_t>(row));
    case ValueKind::kDouble: return fmt::format("d:{:016x}", column.Value<uint64_t>(row));
    case ValueKind::kString: return "s:" + hex(column.Text(row));
    case ValueKind::kBinary: return "b:" + hex(column.Text(row));
    case ValueKind::kFixed: return "b:" + hex(column.Fixed(row));
    default: break;
  }
  std::string text;
  if (column.type->kind == ValueKind::kStruct) {
    for (size_t i = 0; i < column.children.size(); ++i) {
      text += (i == 0 ? "" : ",") + column.type->fields[i].name + "=" +
              VectorText(column.children[i], row);
    }
    return "{" + text + "}";
  }
  const bool is_map = column.type->kind == ValueKind::kMap;
  for (auto i = column.offsets[row]; i < column.offsets[row + 1]; ++i) {
    const auto item = static_cast<size_t>(i);
    if (!text.empty()) text += ',';
    if (is_map) text += hex(column.children[0].Text(item)) + "=";
    text += VectorText(column.children[is_map ? 1 : 0], item);
  }
  return is_map ? "<" + text + ">" : "[" + text + "]";
}

// The type as the one field of a record.
Result<Schema> Wrapped(const std::string& type) {
  return Schema::Parse(R"({"type":"record","name":"wrapped","fields":[{"name":"c","type":)" + type +
                       "}]}");
}

// Enums are strings in a batch.
std::string WithoutEnums(std::string text) {
  for (auto at = text.find("e:"); at != text.npos; at = text.find("e:", at + 1)) {
    if (at > 0 && std::isalnum(static_cast<unsigned char>(text[at - 1])) != 0) continue;
    const auto end = text.find_first_of(",}]>", at);
    std::string hex;
    for (const char byte : text.substr(at + 2, end - at - 2)) hex += fmt::format("{:02x}", byte);
    text.replace(at, end == text.npos ? text.npos : end - at, "s:" + hex);
  }
  return text;
}

TEST(RecordDecoderTest, ForeignEvolutionsDecodeToTheirText) {
  std::istringstream lines(support::ReadTestdata("avro/resolve.jsonl"));
  size_t values = 0;
  size_t without_layout = 0;
  for (std::string line; std::getline(lines, line);) {
    const auto row = nlohmann::json::parse(line);
    SCOPED_TRACE(line);
    ASSERT_OK_ASSIGN(const auto writer, Wrapped(row["writer"].get<std::string>()));
    ASSERT_OK_ASSIGN(const auto reader, Wrapped(row["reader"].get<std::string>()));
    const auto type = RowType::Make(reader, WantAll(reader, MetaColumns::kLeaveOut));
    if (!type) {
      ++without_layout;  // unions, recursive types
      continue;
    }
    ASSERT_OK_ASSIGN(const auto decoder, RecordDecoder::Make(writer, *type));
    RowBuilder builder(*type);
    ASSERT_THAT(builder.Append(decoder, support::Unhex(row["datum"].get<std::string>())), IsOk());
    const auto batch = builder.Finish();
    EXPECT_EQ(VectorText(batch.column(0), 0), WithoutEnums(row["text"].get<std::string>()));
    ++values;
  }
  EXPECT_GT(values, 60U) << without_layout << " have no layout";
}

}  // namespace
}  // namespace tidemark::columnar
