#include "lake/avro/datum.h"

#include <gmock/gmock.h>

#include "support/avro_text.h"
#include "support/result_matchers.h"

namespace tidemark::lake::avro {
namespace {

using support::AvroText;
using support::IsError;
using support::IsOkAnd;
using ::testing::HasSubstr;

// The value as text through the views, and its size by skipping; both must agree on good and bad.
Result<std::string> Text(const std::string& json, std::string_view bytes) {
  const auto schema = Schema::Parse(json);
  if (!schema) return std::unexpected(schema.error());
  TRY_ASSIGN(const auto datum, Datum::Open(schema->root(), bytes));
  return AvroText(datum, schema->root().kind == Kind::kUnion);
}
Status Skip(const std::string& json, std::string_view bytes) {
  const auto schema = Schema::Parse(json);
  if (!schema) return std::unexpected(schema.error());
  Wire wire(bytes);
  wire.Skip(schema->root());
  if (!wire.ok()) return std::unexpected(wire.ToError());
  return {};
}

// Bytes with NULs in them.
template <size_t N>
std::string_view B(const char (&text)[N]) {
  return {text, N - 1};
}

TEST(DatumTest, ExamplesOfTheSpecificationDecode) {
  EXPECT_THAT(Text("\"long\"", B("\x00")), IsOkAnd("0"));
  EXPECT_THAT(Text("\"long\"", B("\x01")), IsOkAnd("-1"));
  EXPECT_THAT(Text("\"long\"", B("\x02")), IsOkAnd("1"));
  EXPECT_THAT(Text("\"long\"", B("\x7f")), IsOkAnd("-64"));
  EXPECT_THAT(Text("\"long\"", B("\x80\x01")), IsOkAnd("64"));
  EXPECT_THAT(Text("\"string\"", B("\x06\x66\x6f\x6f")), IsOkAnd("s:666f6f"));
  EXPECT_THAT(Text(R"({"type":"record","name":"test","fields":[{"name":"a","type":"long"},
                      {"name":"b","type":"string"}]})",
                   B("\x36\x06\x66\x6f\x6f")),
              IsOkAnd("{a=27,b=s:666f6f}"));
  EXPECT_THAT(Text(R"({"type":"array","items":"long"})", B("\x04\x06\x36\x00")), IsOkAnd("[3,27]"));
  EXPECT_THAT(Text(R"(["null","string"])", B("\x00")), IsOkAnd("0|null"));
  EXPECT_THAT(Text(R"(["null","string"])", B("\x02\x02\x61")), IsOkAnd("1|s:61"));
}

TEST(DatumTest, BlockWithByteSizeDecodesAndIsPassedOver) {
  const std::string array = R"({"type":"array","items":"long"})";
  // -2 items in 2 bytes, then 1 item, then the end.
  EXPECT_THAT(Text(array, B("\x03\x04\x06\x36\x02\x08\x00")), IsOkAnd("[3,27,4]"));
  EXPECT_TRUE(Skip(array, B("\x03\x04\x06\x36\x02\x08\x00")).has_value());
  const std::string map = R"({"type":"map","values":"int"})";
  EXPECT_THAT(Text(map, B("\x01\x06\x02\x61\x02\x00")), IsOkAnd("<61=1>"));
}

TEST(DatumTest, BlockWithWrongByteSizeIsCorrupt) {
  const std::string array = R"({"type":"array","items":"long"})";
  EXPECT_THAT(Text(array, B("\x03\x06\x06\x36\x00\x00")),
              IsError(ErrorKind::kCorrupt, HasSubstr("another size than it says offset=4")));
  EXPECT_THAT(Text(array, B("\x03\x60\x06\x36\x00")),
              IsError(ErrorKind::kCorrupt, HasSubstr("ends early")));
  EXPECT_THAT(Skip(array, B("\x03\x60\x06\x36\x00")),
              IsError(ErrorKind::kCorrupt, HasSubstr("ends early")));
  EXPECT_THAT(Skip(array, B("\x03\x03\x06\x36\x00")),
              IsError(ErrorKind::kCorrupt, HasSubstr("negative length")));
}

struct BadCase {
  std::string json;
  std::string_view bytes;
  std::string message;
};

TEST(DatumTest, DamagedValueIsCorruptForViewsAndForSkipping) {
  const BadCase cases[] = {
      {"\"long\"", B("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"), "more than 64 bits offset=0"},
      {"\"long\"", B("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"), "more than 64 bits"},
      {"\"long\"", B("\x80\x80"), "ends early offset=0"},
      {"\"int\"", B("\x80\x80\x80\x80\x10"), "more than 32 bits offset=0"},
      {"\"boolean\"", B("\x02"), "neither 0 nor 1 offset=0"},
      {"\"bytes\"", B("\x03"), "negative length offset=0"},
      {"\"string\"", B("\x06\x61\x61"), "ends early offset=1"},
      {"\"double\"", B("\x01\x02\x03"), "ends early"},
      {R"({"type":"enum","name":"E","symbols":["A","B"]})", B("\x04"), "enum symbol"},
      {R"({"type":"enum","name":"E","symbols":["A","B"]})", B("\x01"), "enum symbol"},
      {R"(["null","int"])", B("\x04"), "union branch"},
      {R"([])", B("\x00"), "union branch"},
      {R"({"type":"array","items":"int"})", B("\x10\x00\x00\x00"), "more items than can be there"},
      {R"({"type":"array","items":"double"})", B("\x04\x00\x00\x00\x00\x00\x00\x00\x00\x00"),
       "more items than can be there"},
      {R"({"type":"map","values":"null"})", B("\x08\x00\x00"), "more items than can be there"},
      {R"({"type":"array","items":"int"})", B("\x02\x02"), "ends early"},
  };
  for (const auto& row : cases) {
    SCOPED_TRACE(row.json + " " + support::Hex(row.bytes));
    EXPECT_THAT(Text(row.json, row.bytes), IsError(ErrorKind::kCorrupt, HasSubstr(row.message)));
    EXPECT_THAT(Skip(row.json, row.bytes), IsError(ErrorKind::kCorrupt, HasSubstr(row.message)));
  }
}

TEST(DatumTest, ItemsWithoutBytesAreBounded) {
  const std::string array = R"({"type":"array","items":"null"})";
  EXPECT_THAT(Text(array, B("\x06\x00")), IsOkAnd("[null,null,null]"));
  // Three blocks of 2^19 nulls.
  const auto bytes = B("\x80\x80\x40\x80\x80\x40\x80\x80\x40\x00");
  EXPECT_THAT(Text(array, bytes), IsError(ErrorKind::kCorrupt, HasSubstr("more items")));
  EXPECT_THAT(Skip(array, bytes), IsError(ErrorKind::kCorrupt, HasSubstr("more items")));
}

// Records of records of nulls: 2^60 values in no bytes at all.
TEST(DatumTest, ManyValuesOfNoBytesAreSkippedAtOnce) {
  std::string json = R"("null")";
  for (int i = 0; i < 60; ++i) {
    const std::string other =
        i == 0 ? std::string(R"("null")") : "\"N" + std::to_string(i - 1) + "\"";
    json = R"({"type":"record","name":"N)" + std::to_string(i) +
           R"(","fields":[{"name":"a","type":)" + json + R"(},{"name":"b","type":)" + other + "}]}";
  }
  EXPECT_TRUE(Skip(json, "").has_value());
}

TEST(DatumTest, DepthIsBounded) {
  const std::string list =
      R"({"type":"record","name":"L","fields":[{"name":"next","type":["null","L"]}]})";
  EXPECT_TRUE(Skip(list, std::string(100, '\x02') + '\0').has_value());
  EXPECT_THAT(Skip(list, std::string(100000, '\x02') + '\0'),
              IsError(ErrorKind::kCorrupt, HasSubstr("nested too deep")));
  // A record that holds itself has no value at all.
  EXPECT_THAT(Skip(R"({"type":"record","name":"L","fields":[{"name":"me","type":"L"}]})", "abc"),
              IsError(ErrorKind::kCorrupt, HasSubstr("nested too deep")));
}

class RecordTest : public ::testing::Test {
 protected:
  RecordTest() {
    auto schema = Schema::Parse(R"({"type":"record","name":"R","fields":[
        {"name":"stats","type":{"type":"map","values":"bytes"}},
        {"name":"extra","type":["null",{"type":"map","values":"string"}]},
        {"name":"operation","type":["null","string"]},
        {"name":"count","type":"int"}]})");
    schema_ = *schema;
    bytes_ =
        std::string(B("\x02\x02\x61\x04\x00\x00\x00"
                      "\x02\x02\x02k\x02v\x00"
                      "\x00"
                      "\x06"));
  }
  Result<Datum> Open() const { return Datum::Open(schema_.root(), bytes_, 1000); }

  Schema schema_ = *Schema::Parse("\"null\"");
  std::string bytes_;
};

TEST_F(RecordTest, FieldIsFoundByName) {
  ASSERT_OK_ASSIGN(const auto record, Open());
  ASSERT_OK_ASSIGN(const auto count, record.Field("count"));
  EXPECT_THAT(count->Int(), IsOkAnd(3));
  EXPECT_EQ(count->offset(), 1015U);
  ASSERT_OK_ASSIGN(const auto extra, record.Field("extra"));
  EXPECT_EQ(extra->branch(), 1U);
  EXPECT_THAT(AvroText(*extra, false), IsOkAnd("<6b=s:76>"));
  ASSERT_OK_ASSIGN(const auto none, record.Field("missing"));
  EXPECT_FALSE(none.has_value());
  EXPECT_THAT(record.Size(), IsOkAnd(bytes_.size()));
}

TEST_F(RecordTest, SelectionReadsItsFieldsInOnePass) {
  ASSERT_OK_ASSIGN(const auto record, Open());
  const std::string_view names[] = {"operation", "missing", "extra"};
  const Selection selection(schema_.root(), names);
  std::optional<Datum> row[3];
  ASSERT_TRUE(record.ReadFields(selection, row).has_value());
  EXPECT_TRUE(row[0]->is_null());
  EXPECT_FALSE(row[1].has_value());
  EXPECT_THAT(AvroText(*row[2], false), IsOkAnd("<6b=s:76>"));
}

TEST_F(RecordTest, SelectionDoesNotLookBehindItsLastField) {
  bytes_.pop_back();
  ASSERT_OK_ASSIGN(const auto record, Open());
  const std::string_view names[] = {"operation"};
  std::optional<Datum> row[1];
  EXPECT_TRUE(record.ReadFields(Selection(schema_.root(), names), row).has_value());
  EXPECT_TRUE(row[0]->is_null());
  EXPECT_THAT(record.Size(), IsError(ErrorKind::kCorrupt, HasSubstr("ends early offset=1015")));
}

TEST_F(RecordTest, AskingForAnotherTypeIsUnsupported) {
  ASSERT_OK_ASSIGN(const auto record, Open());
  EXPECT_THAT(record.Long(),
              IsError(ErrorKind::kUnsupported, HasSubstr("wanted=long type=record offset=1000")));
  ASSERT_OK_ASSIGN(const auto operation, record.Field("operation"));
  EXPECT_THAT(operation->String(), IsError(ErrorKind::kUnsupported, HasSubstr("type=null")));
  EXPECT_THAT(operation->Field("x"), IsError(ErrorKind::kUnsupported, HasSubstr("type=null")));
  EXPECT_FALSE(operation->OpenItems().has_value());
}

TEST(DatumTest, IteratorKeepsItsErrorAndItsEnd) {
  const auto schema = Schema::Parse(R"({"type":"array","items":"string"})");
  ASSERT_OK_ASSIGN(const auto good, Datum::Open(schema->root(), B("\x02\x02\x61\x00")));
  ASSERT_OK_ASSIGN(auto items, good.OpenItems());
  ASSERT_OK_ASSIGN(const auto first, items.Next());
  EXPECT_THAT(first->value.String(), IsOkAnd("a"));
  for (int i = 0; i < 2; ++i) {
    ASSERT_OK_ASSIGN(const auto end, items.Next());
    EXPECT_FALSE(end.has_value());
  }
  ASSERT_OK_ASSIGN(const auto bad, Datum::Open(schema->root(), B("\x02\x08\x61\x00")));
  ASSERT_OK_ASSIGN(auto broken, bad.OpenItems());
  ASSERT_OK_ASSIGN(const auto item, broken.Next());
  EXPECT_FALSE(item->value.String().has_value());
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(broken.Next(), IsError(ErrorKind::kCorrupt, HasSubstr("ends early offset=2")));
  }
}

}  // namespace
}  // namespace tidemark::lake::avro
