#include "scan/dropped_columns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "support/result_matchers.h"

namespace tidemark::scan {
namespace {

using columnar::ConstantColumn;
using lake::hudi::ParseTableProperties;
using support::IsError;
using testing::_;
using testing::ElementsAre;
using testing::IsEmpty;

lake::hudi::TableProperties Table(const std::string& fields, const std::string& more = "") {
  const auto table = ParseTableProperties(
      "hoodie.table.name=t\nhoodie.datasource.write.drop.partition.columns=true\n"
      "hoodie.table.partition.fields=" +
      fields + "\n" + more);
  EXPECT_THAT(table, support::IsOk());
  return *table;
}

/// "name=json", in order.
std::vector<std::string> Constants(const std::string& path,
                                   const lake::hudi::TableProperties& table,
                                   const std::string& schema) {
  const auto columns = DroppedColumns(table);
  const auto whole = WithDroppedColumns(schema, columns);
  EXPECT_THAT(whole, support::IsOk());
  const auto parsed = lake::avro::Schema::Parse(*whole);
  EXPECT_THAT(parsed, support::IsOk());
  const auto constants = ConstantsOf(path, table, columns, *parsed);
  if (!constants) return {std::string(ErrorKindName(constants.error().kind))};
  std::vector<std::string> texts;
  for (const ConstantColumn& constant : *constants)
    texts.push_back(constant.name + "=" + constant.json);
  return texts;
}

std::string Schema(const std::string& fields = "") {
  return R"({"type":"record","name":"t","fields":[{"name":"k","type":"string"})" + fields + "]}";
}
std::string PartOf(const std::string& type) {
  return R"(,{"name":"part","type":["null",)" + type + "]}";
}

TEST(DroppedColumnsTest, OnlyATableThatSaysSoLacksColumns) {
  EXPECT_THAT(DroppedColumns(Table("region,day")), ElementsAre("region", "day"));
  const auto whole =
      ParseTableProperties("hoodie.table.name=t\nhoodie.table.partition.fields=part\n");
  ASSERT_THAT(whole, support::IsOk());
  EXPECT_THAT(DroppedColumns(*whole), IsEmpty());
}

TEST(DroppedColumnsTest, ColumnsThatTheSchemaLacksComeLastAsStrings) {
  const auto json = WithDroppedColumns(Schema(), {"region", "day"});
  ASSERT_THAT(json, support::IsOk());
  const auto schema = lake::avro::Schema::Parse(*json);
  ASSERT_THAT(schema, support::IsOk());
  const auto& fields = schema->root().fields;
  ASSERT_EQ(fields.size(), 3U);
  EXPECT_EQ(fields[1].name, "region");
  EXPECT_EQ(fields[2].name, "day");
  EXPECT_EQ(fields[2].type->branches[1]->kind, lake::avro::Kind::kString);
  EXPECT_EQ(fields[2].default_json, "null");
  // One that it has stays where and what it is.
  const std::string has = Schema(PartOf("\"int\""));
  const auto same = WithDroppedColumns(has, {"part"});
  ASSERT_THAT(same, support::IsOk());
  const auto typed = lake::avro::Schema::Parse(*same);
  ASSERT_THAT(typed, support::IsOk());
  EXPECT_EQ(typed->root().fields.size(), 2U);
  EXPECT_EQ(typed->root().fields[1].type->branches[1]->kind, lake::avro::Kind::kInt);
}

TEST(DroppedColumnsTest, WhatIsNoSchemaIsCorrupt) {
  for (const char* json : {"", "{", "[]", "\"string\"", R"({"type":"record"})",
                           R"({"type":"record","name":"t","fields":7})"}) {
    EXPECT_THAT(WithDroppedColumns(json, {"part"}), IsError(ErrorKind::kCorrupt, _)) << json;
  }
}

TEST(DroppedColumnsTest, AFolderSaysItsColumns) {
  const std::string hive = "hoodie.datasource.write.hive_style_partitioning=true\n";
  const std::string encoded = "hoodie.datasource.write.partitionpath.urlencode=true\n";
  struct Case {
    std::string path, fields, more;
    std::vector<std::string> constants;
  };
  const std::vector<Case> cases = {
      {"p1", "part", "", {R"(part="p1")"}},
      {"part=p1", "part", hive, {R"(part="p1")"}},
      {"2025/01/31", "part", "", {R"(part="2025/01/31")"}},
      {"part=a%2Fb", "part", hive + encoded, {R"(part="a/b")"}},
      {"a%2Fb", "part", encoded, {R"(part="a/b")"}},
      {"a%2Fb", "part", "", {R"(part="a%2Fb")"}},
      {"say \"x\"\\", "part", "", {R"(part="say \"x\"\\")"}},
      {"part=__HIVE_DEFAULT_PARTITION__", "part", hive, {"part=null"}},
      {"north/7", "region,day", "", {R"(region="north")", R"(day="7")"}},
      {"region=north/day=7", "region,day", hive, {R"(region="north")", R"(day="7")"}},
      {"north", "region,day", "", {"unsupported"}},
      {"north/7/8", "region,day", "", {"unsupported"}},
  };
  for (const Case& each : cases) {
    EXPECT_EQ(Constants(each.path, Table(each.fields, each.more), Schema()), each.constants)
        << each.path;
  }
}

TEST(DroppedColumnsTest, ATypeOfTheSchemaCounts) {
  struct Case {
    std::string path, type, constant;
  };
  const std::string date = R"({"type":"int","logicalType":"date"})";
  const std::vector<Case> cases = {
      {"7", "\"int\"", "part=7"},
      {"-7", "\"long\"", "part=-7"},
      {"2147483648", "\"int\"", "corrupt"},
      {"2147483648", "\"long\"", "part=2147483648"},
      {"7x", "\"int\"", "corrupt"},
      {"", "\"int\"", "unsupported"},  // no folder at all
      {"true", "\"boolean\"", "part=true"},
      {"yes", "\"boolean\"", "corrupt"},
      {"1970-01-02", date, "part=1"},
      {"2025-02-29", date, "corrupt"},
      {"20119", date, "corrupt"},
      {"1.5", "\"double\"", "unsupported"},
      {"1738281600", R"({"type":"long","logicalType":"timestamp-micros"})", "unsupported"},
  };
  for (const Case& each : cases) {
    EXPECT_THAT(Constants(each.path, Table("part"), Schema(PartOf(each.type))),
                ElementsAre(each.constant))
        << each.path << " " << each.type;
  }
}

}  // namespace
}  // namespace tidemark::scan
