#include "sink/hive_type.h"

#include <gtest/gtest.h>

#include <vector>

#include "support/change_column.h"

namespace tidemark::sink {
namespace {

using support::ColumnOf;

change::Column Nested(std::string name, std::string type, std::vector<change::Column> children) {
  change::Column column = ColumnOf(std::move(name), std::move(type));
  column.children = std::move(children);
  return column;
}

// Hive's and Spark's words as Hudi's own sync gives them (HiveSchemaUtil, AvroConversionUtils).
TEST(HiveTypeTest, ATableOfTypes) {
  struct Case {
    const char* ours;
    const char* hive;
    const char* spark;
  };
  const std::vector<Case> cases = {
      {"boolean", "boolean", "\"boolean\""},
      {"int", "int", "\"integer\""},
      {"bigint", "bigint", "\"long\""},
      {"float", "float", "\"float\""},
      {"double", "double", "\"double\""},
      {"string", "string", "\"string\""},
      {"binary", "binary", "\"binary\""},
      {"fixed(16)", "binary", "\"binary\""},
      {"uuid", "string", "\"string\""},
      {"date", "date", "\"date\""},
      {"decimal(20,6)", "decimal(20,6)", "\"decimal(20,6)\""},
      {"time_millis", "int", "\"integer\""},
      {"time", "bigint", "\"long\""},
      {"timestamp", "timestamp", "\"timestamp\""},
      {"timestamp_millis", "timestamp", "\"timestamp\""},
      {"timestamp_nanos", "timestamp", "\"timestamp\""},
      {"timestamp_ntz", "timestamp", "\"timestamp_ntz\""},
      {"timestamp_ntz_millis", "timestamp", "\"timestamp_ntz\""},
      {"void", "string", "\"void\""},
  };
  for (const auto& [ours, hive, spark] : cases) {
    const std::vector<change::Column> columns = {ColumnOf("c", ours)};
    EXPECT_EQ(HiveType(columns[0]), hive) << ours;
    EXPECT_EQ(SparkSchemaJson(columns, {}),
              std::string(R"({"type":"struct","fields":[{"name":"c","type":)") + spark +
                  R"(,"nullable":true,"metadata":{}}]})")
        << ours;
  }
}

TEST(HiveTypeTest, NestedTypesAreWrittenFromTheirChildren) {
  const std::vector<change::Column> columns = {
      Nested("s", "struct<A:bigint,b:array<time>>",
             {ColumnOf("A", "bigint"), Nested("b", "array<time>", {ColumnOf("element", "time")})}),
      Nested("m", "map<string,decimal(4,2)>",
             {ColumnOf("key", "string"), ColumnOf("value", "decimal(4,2)")})};
  EXPECT_EQ(HiveType(columns[0]), "struct<a:bigint,b:array<bigint>>");
  EXPECT_EQ(HiveType(columns[1]), "map<string,decimal(4,2)>");
  EXPECT_EQ(SparkSchemaJson({columns.begin(), 1}, {}),
            R"({"type":"struct","fields":[{"name":"s","type":{"type":"struct","fields":[)"
            R"({"name":"A","type":"long","nullable":true,"metadata":{}},)"
            R"({"name":"b","type":{"type":"array","elementType":"long","containsNull":true},)"
            R"("nullable":true,"metadata":{}}]},"nullable":true,"metadata":{}}]})");
}

TEST(HiveTypeTest, SparkHasPartitionColumnsLastAndComments) {
  std::vector<change::Column> columns = {ColumnOf("dt", "string"), ColumnOf("id", "int")};
  columns[1].comment = "the \"key\"";
  const std::vector<std::string> last = {"dt"};
  EXPECT_EQ(SparkSchemaJson(columns, last),
            R"({"type":"struct","fields":[{"name":"id","type":"integer","nullable":true,)"
            R"("metadata":{"comment":"the \"key\""}},)"
            R"({"name":"dt","type":"string","nullable":true,"metadata":{}}]})");
}

TEST(IsReadableAsTest, ATableOfChanges) {
  struct Case {
    const char* from;
    const char* to;
    bool is_readable;
  };
  const std::vector<Case> cases = {
      {"int", "int", true},
      {"int", "bigint", true},
      {"int", "double", true},
      {"bigint", "float", true},
      {"float", "double", true},
      {"int", "string", true},
      {"date", "string", true},
      {"int", "decimal(12,2)", true},
      {"decimal(10,2)", "decimal(12,2)", true},
      {"decimal(10,2)", "decimal(12,4)", true},
      {"decimal(10,2)", "decimal(10,3)", false},
      {"decimal(10,2)", "decimal(8,2)", false},
      {"bigint", "int", false},
      {"double", "float", false},
      {"string", "int", false},
      {"binary", "string", false},
      {"string", "date", false},
      {"timestamp", "bigint", false},
      {"boolean", "int", false},
      {"struct<a:int>", "struct<a:bigint,b:string>", true},
      {"struct<a:int,b:int>", "struct<b:int>", true},
      {"struct<a:string>", "struct<a:int>", false},
      {"struct<A:int>", "struct<a:int>", true},
      {"array<int>", "array<bigint>", true},
      {"array<bigint>", "array<int>", false},
      {"map<string,int>", "map<string,bigint>", true},
      {"struct<a:int>", "int", false},
      {"int", "array<int>", false},
      {"varchar(10)", "varchar(10)", true},
      {"varchar(10)", "varchar(20)", false},
      {"uniontype<int,string>", "uniontype<int,string>", true},
      {"", "", true},
      {"struct<a:int", "struct<a:int>", false},
      {"struct<a:int>", "struct<a:int>>", false},
  };
  for (const auto& [from, to, is_readable] : cases)
    EXPECT_EQ(IsReadableAs(from, to), is_readable) << from << " -> " << to;
}

TEST(IsReadableAsTest, AnyBytesAreAnAnswer) {
  const std::string type = "struct<a:decimal(10,2),m:map<string,array<int>>>";
  for (size_t size = 0; size < type.size(); ++size)
    EXPECT_FALSE(IsReadableAs(type.substr(0, size), type)) << size;
  for (size_t i = 0; i < type.size(); ++i) {
    for (int flip = 1; flip < 256; ++flip) {
      std::string other = type;
      other[i] = static_cast<char>(other[i] ^ flip);
      (void)IsReadableAs(other, type);
      (void)IsReadableAs(type, other);
    }
  }
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "array<";
  EXPECT_FALSE(IsReadableAs(deep, type));
}

}  // namespace
}  // namespace tidemark::sink
