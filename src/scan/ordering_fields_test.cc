#include "scan/ordering_fields.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/result_matchers.h"

namespace tidemark::scan {
namespace {

using lake::avro::Schema;
using merge::ColumnType;
using support::IsError;

Schema Parsed(const std::string& json) {
  auto schema = Schema::Parse(json);
  EXPECT_TRUE(schema.has_value());
  return *std::move(schema);
}

Schema RecordOf(const std::string& fields) {
  return Parsed(R"({"type":"record","name":"r","fields":[)" + fields + "]}");
}

OrderingFields FieldsOf(const Schema& table, const std::vector<std::string>& names) {
  auto fields = OrderingFields::Make(table, names);
  EXPECT_TRUE(fields.has_value());
  return *std::move(fields);
}

TEST(OrderingFieldsTest, KnowsTheTypeBehindTheUnion) {
  struct Case {
    const char* type;
    ColumnType expected;
    uint8_t scale;
  };
  constexpr Case kCases[] = {
      {R"("int")", ColumnType::kInt, 0},
      {R"(["null","long"])", ColumnType::kLong, 0},
      {R"(["string","null"])", ColumnType::kString, 0},
      {R"({"type":"int","logicalType":"date"})", ColumnType::kDate, 0},
      {R"({"type":"long","logicalType":"timestamp-micros"})", ColumnType::kTimestampMicros, 0},
      {R"({"type":"bytes","logicalType":"decimal","precision":9,"scale":2})",
       ColumnType::kDecimalBytes, 2},
      {R"({"type":"fixed","name":"f","size":9,"logicalType":"decimal","precision":20,"scale":6})",
       ColumnType::kDecimalFixed, 6},
  };
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.type);
    const Schema table = RecordOf(std::string(R"({"name":"o","type":)") + c.type + "}");
    const auto fields = FieldsOf(table, {"o"});
    EXPECT_EQ(fields.column(0).type, c.expected);
    EXPECT_EQ(fields.column(0).scale, c.scale);
  }
}

TEST(OrderingFieldsTest, AColumnWithoutAnOrderIsRefused) {
  const Schema table = RecordOf(R"({"name":"o","type":{"type":"array","items":"int"}})");
  const std::vector<std::string> names = {"o"};
  EXPECT_THAT(OrderingFields::Make(table, names),
              IsError(ErrorKind::kUnsupported, testing::HasSubstr("column=o")));
}

TEST(OrderingFieldsTest, ANameTheTableLacksIsNullEverywhere) {
  const Schema table = RecordOf(R"({"name":"o","type":"int"})");
  const auto fields = FieldsOf(table, {"ts"});
  EXPECT_EQ(fields.column(0).type, ColumnType::kUnknown);
  merge::OrderingArena arena;
  const std::vector<std::optional<lake::avro::Datum>> row(1);
  const auto value = fields.Read(row, arena);
  ASSERT_TRUE(value.has_value());
  EXPECT_TRUE(value->is_null());
}

/// The ordering value of one record written as `bytes`.
std::string ReadText(const OrderingFields& fields, const Schema& writer, std::string_view bytes) {
  const std::vector<std::string_view> names(fields.columns().begin(), fields.columns().end());
  const lake::avro::Selection selection(writer.root(), names);
  std::vector<std::optional<lake::avro::Datum>> row(names.size());
  const auto datum = lake::avro::Datum::Open(writer.root(), bytes);
  if (!datum || !datum->ReadFields(selection, row)) return "unread";
  merge::OrderingArena arena;
  const auto value = fields.Read(row, arena);
  return value ? OrderingText(*value) : value.error().message;
}

TEST(OrderingFieldsTest, ReadsWhatWasWrittenBeforeTheColumnBecameWider) {
  const Schema written = RecordOf(R"({"name":"o","type":"int"})");
  const std::string seven = "\x0e";
  EXPECT_EQ(ReadText(FieldsOf(RecordOf(R"({"name":"o","type":"long"})"), {"o"}), written, seven),
            "7");
  EXPECT_EQ(ReadText(FieldsOf(RecordOf(R"({"name":"o","type":"string"})"), {"o"}), written, seven),
            "7");
  const Schema millis =
      RecordOf(R"({"name":"o","type":{"type":"long","logicalType":"timestamp-millis"}})");
  const Schema micros =
      RecordOf(R"({"name":"o","type":{"type":"long","logicalType":"timestamp-micros"}})");
  EXPECT_EQ(ReadText(FieldsOf(micros, {"o"}), millis, seven), "1970-01-01T00:00:00.007000Z");
  EXPECT_EQ(ReadText(FieldsOf(millis, {"o"}), micros, seven),
            "ordering value was written as another type than the column's, written=long "
            "column=timestamp-millis offset=0");
}

TEST(OrderingFieldsTest, FindsNestedFieldsAndSeveral) {
  const Schema table = RecordOf(
      R"({"name":"a","type":{"type":"record","name":"n","fields":[{"name":"x","type":"int"},)"
      R"({"name":"y","type":["null","string"]}]}},{"name":"b","type":"long"})");
  const std::string bytes("\x02\x02\x04hi\x06", 6);  // a = {1, "hi"}, b = 3
  EXPECT_EQ(ReadText(FieldsOf(table, {"a.y"}), table, bytes), "hi");
  EXPECT_EQ(ReadText(FieldsOf(table, {"b", "a.x"}), table, bytes), "[3,1]");
  EXPECT_EQ(ReadText(FieldsOf(table, {"a.z"}), table, bytes), "null");
}

}  // namespace
}  // namespace tidemark::scan
