#include "columnar/row_type.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "columnar/rows.h"
#include "support/result_matchers.h"

namespace tidemark::columnar {
namespace {

using lake::avro::Schema;
using support::IsError;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Schema Table(const std::string& fields) {
  return Schema::Parse(R"({"type":"record","name":"t","fields":[)" + fields + "]}").value();
}

// The layout of one column of that Avro type.
Result<std::string> TypeOf(const std::string& avro) {
  const auto schema = Schema::Parse(
      fmt::format(R"({{"type":"record","name":"t","fields":[{{"name":"c","type":{}}}]}})", avro));
  if (!schema) return internal::Pass(schema);
  TRY_ASSIGN(const auto type, RowType::Make(*schema, std::vector<WantedColumn>{{"c"}}));
  const auto& column = type.columns()[0];
  return column.type.ToString() + (column.is_nullable ? "?" : "");
}

TEST(RowTypeTest, AvroTypesHaveTheirLayout) {
  const std::pair<const char*, const char*> cases[] = {
      {R"("boolean")", "boolean"},
      {R"(["null","int"])", "int?"},
      {R"(["long","null"])", "long?"},
      {R"(["null","int","long"])", "long?"},
      {R"(["double","float"])", "double"},
      {R"(["null","string"])", "string?"},
      {R"("bytes")", "binary"},
      {R"({"type":"string","logicalType":"uuid"})", "string"},
      {R"({"type":"enum","name":"e","symbols":["A"]})", "string"},
      {R"({"type":"fixed","name":"f","size":3})", "fixed(3)"},
      {R"({"type":"fixed","name":"f","size":16,"logicalType":"decimal","precision":20,"scale":6})",
       "decimal(20,6)"},
      {R"({"type":"bytes","logicalType":"decimal","precision":39,"scale":1})", "decimal(39,1)"},
      {R"({"type":"int","logicalType":"date"})", "date"},
      {R"({"type":"int","logicalType":"time-millis"})", "time(ms)"},
      {R"({"type":"long","logicalType":"time-micros"})", "time(us)"},
      {R"({"type":"long","logicalType":"timestamp-millis"})", "timestamp(ms)"},
      {R"({"type":"long","logicalType":"timestamp-nanos"})", "timestamp(ns)"},
      {R"({"type":"long","logicalType":"local-timestamp-micros"})", "timestamp(us,local)"},
      {R"({"type":"array","items":["null","int"]})", "list<int>"},
      {R"({"type":"map","values":{"type":"array","items":"string"}})", "map<string,list<string>>"},
      {R"({"type":"record","name":"r","fields":[{"name":"a","type":"int"}]})", "struct<a:int>"},
  };
  for (const auto& [avro, layout] : cases) {
    EXPECT_THAT(TypeOf(avro), support::IsOkAnd(std::string(layout))) << avro;
  }
}

TEST(RowTypeTest, TypesWithoutALayoutAreNamed) {
  const std::pair<const char*, const char*> cases[] = {
      {R"("null")", "column=c type=null"},
      {R"(["null"])", "column=c type=union<>"},
      {R"(["int","string"])", "column=c type=union<int|string>"},
      {R"({"type":"array","items":["int","string"]})", "column=c.item type=union<int|string>"},
      {R"({"type":"record","name":"r","fields":[{"name":"a","type":["null","r"]}]})", "recursive"},
      {R"({"type":"bytes","logicalType":"decimal","precision":77,"scale":1})", "decimal(77,1)"},
  };
  for (const auto& [avro, text] : cases) {
    EXPECT_THAT(TypeOf(avro), IsError(ErrorKind::kUnsupported, HasSubstr(text))) << avro;
  }
}

TEST(RowTypeTest, ColumnsStandInTheOrderWantedOnce) {
  const auto table = Table(R"({"name":"a","type":"int"},{"name":"b","type":"int"})");
  ASSERT_OK_ASSIGN(
      const auto type,
      RowType::Make(table, std::vector<WantedColumn>{
                               {"b", false}, {"_hoodie_record_key", false}, {"a"}, {"b"}}));
  EXPECT_EQ(type.size(), 3U);
  EXPECT_EQ(type.columns()[1].name, "_hoodie_record_key");
  EXPECT_TRUE(type.columns()[1].is_nullable);
  EXPECT_THAT(type.visible(), ElementsAre(0, 2));
  EXPECT_EQ(type.Find("a"), 2U);
  EXPECT_EQ(type.Find("A"), std::nullopt);
}

TEST(RowTypeTest, UnknownColumnIsTheUsersMistake) {
  const auto table = Table(R"({"name":"a","type":"int"})");
  EXPECT_THAT(RowType::Make(table, std::vector<WantedColumn>{{"x"}}),
              IsError(ErrorKind::kInvalidArgument, HasSubstr("column=x")));
  EXPECT_THAT(RowType::Make(table, {}),
              IsError(ErrorKind::kInvalidArgument, HasSubstr("no column")));
  ASSERT_OK_ASSIGN(const auto plain, Schema::Parse(R"("int")"));
  EXPECT_THAT(RowType::Make(plain, std::vector<WantedColumn>{{"a"}}),
              IsError(ErrorKind::kUnsupported, HasSubstr("not a record")));
}

TEST(RowTypeTest, AllColumnsComeWithHudisInFrontOrNot) {
  const auto table =
      Table(R"({"name":"_hoodie_commit_time","type":["null","string"]},{"name":"a","type":"int"})");
  const auto names = [](const std::vector<WantedColumn>& wanted) {
    std::vector<std::string> all;
    for (const auto& want : wanted) all.push_back(want.name);
    return all;
  };
  EXPECT_THAT(names(WantAll(table, MetaColumns::kLeaveOut)), ElementsAre("a"));
  EXPECT_THAT(names(WantAll(table, MetaColumns::kPutFirst)),
              ElementsAre("_hoodie_commit_time", "_hoodie_commit_seqno", "_hoodie_record_key",
                          "_hoodie_partition_path", "_hoodie_file_name", "a"));
}

TEST(RowTypeTest, SameColumnsAreTheSameType) {
  const auto ints = Table(R"({"name":"a","type":"int"})");
  const auto longs = Table(R"({"name":"a","type":"long"})");
  const auto make = [](const Schema& schema, bool is_visible) {
    return RowType::Make(schema, std::vector<WantedColumn>{{"a", is_visible}}).value();
  };
  EXPECT_TRUE(make(ints, true) == make(ints, true));
  EXPECT_FALSE(make(ints, true) == make(ints, false));
  EXPECT_FALSE(make(ints, true) == make(longs, true));
}

}  // namespace
}  // namespace tidemark::columnar
