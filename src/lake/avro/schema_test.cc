#include "lake/avro/schema.h"

#include <gmock/gmock.h>

#include "support/result_matchers.h"

namespace tidemark::lake::avro {
namespace {

using support::IsError;
using support::IsOk;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(SchemaTest, PrimitiveMayBeAWordOrAnObject) {
  for (const std::string word :
       {"null", "boolean", "int", "long", "float", "double", "bytes", "string"}) {
    SCOPED_TRACE(word);
    ASSERT_OK_ASSIGN(const auto plain, Schema::Parse("\"" + word + "\""));
    EXPECT_EQ(KindName(plain.root().kind), word);
    ASSERT_OK_ASSIGN(const auto object,
                     Schema::Parse("{\"type\":\"" + word + "\",\"avro.java.string\":\"String\"}"));
    EXPECT_EQ(KindName(object.root().kind), word);
    ASSERT_OK_ASSIGN(const auto nested, Schema::Parse(R"({"type":{"type":")" + word + "\"}}"));
    EXPECT_EQ(KindName(nested.root().kind), word);
  }
}

TEST(SchemaTest, NothingIsNoSchema) {
  EXPECT_THAT(Schema::Parse({}), IsError(ErrorKind::kCorrupt, HasSubstr("bytes=0")));
}

TEST(SchemaTest, RecordKeepsFieldsAliasesAndDefaults) {
  ASSERT_OK_ASSIGN(const auto schema, Schema::Parse(R"({
      "type":"record","name":"R","namespace":"a.b","aliases":["Old","c.Older"],"doc":"x","fields":[
        {"name":"id","type":"long","order":"ignore","doc":"a \"key\""},
        {"name":"name","type":["null","string"],"default":null,"aliases":["title"],"doc":7},
        {"name":"tags","type":{"type":"map","values":"int"},"default":{ "a" : 1 }}]})"));
  const Type& root = schema.root();
  EXPECT_EQ(root.name, "a.b.R");
  EXPECT_THAT(root.aliases, ElementsAre("a.b.Old", "c.Older"));
  ASSERT_EQ(root.fields.size(), 3U);
  EXPECT_EQ(root.fields[0].default_json, std::nullopt);
  EXPECT_EQ(root.fields[0].doc, "a \"key\"");
  EXPECT_EQ(root.fields[1].doc, "");
  EXPECT_EQ(root.fields[1].default_json, "null");
  EXPECT_THAT(root.fields[1].aliases, ElementsAre("title"));
  EXPECT_EQ(root.fields[1].type->branches[1]->kind, Kind::kString);
  EXPECT_EQ(root.fields[2].default_json, R"({"a":1})");
  EXPECT_EQ(root.FindField("tags"), 2U);
  EXPECT_EQ(root.FindField("title"), std::nullopt);
}

/// Linear search for each of 100,000 columns takes minutes.
TEST(SchemaTest, FieldsOfAWideRecordAreFoundAtOnce) {
  constexpr size_t kFields = 300'000;
  std::string json = R"({"type":"record","name":"r","fields":[)";
  for (size_t i = 0; i < kFields; ++i) {
    json += (i == 0 ? "" : ",") + ("{\"name\":\"f" + std::to_string(kFields - i)) +
            "\",\"type\":\"int\"}";
  }
  ASSERT_OK_ASSIGN(const auto schema, Schema::Parse(json + "]}"));
  const Type& root = schema.root();
  for (size_t i = 0; i < kFields; ++i) ASSERT_EQ(root.FindField(root.fields[i].name), i);
  EXPECT_EQ(root.FindField("f0"), std::nullopt);
  EXPECT_EQ(root.FindField("g"), std::nullopt);
  EXPECT_EQ(root.FindField(""), std::nullopt);
}

TEST(SchemaTest, ReferencesResolveInTheEnclosingNamespace) {
  ASSERT_OK_ASSIGN(const auto schema, Schema::Parse(R"({
      "type":"record","name":"a.Outer","fields":[
        {"name":"x","type":{"type":"fixed","name":"Hash","size":16}},
        {"name":"y","type":"Hash"},
        {"name":"z","type":"a.Hash"},
        {"name":"w","type":{"type":"Hash"}},
        {"name":"inner","type":{"type":"record","name":"b.Inner","fields":[
          {"name":"e","type":{"type":"enum","name":"E","symbols":["A","B"],"default":"A"}},
          {"name":"h","type":"a.Hash"}]}},
        {"name":"other","type":"b.E"},
        {"name":"bare","type":{"type":"enum","name":"None","namespace":"","symbols":["X"]}}]})"));
  const auto& fields = schema.root().fields;
  EXPECT_EQ(fields[1].type, fields[0].type);
  EXPECT_EQ(fields[2].type, fields[0].type);
  EXPECT_EQ(fields[3].type, fields[0].type);
  EXPECT_EQ(fields[4].type->fields[1].type, fields[0].type);
  EXPECT_EQ(fields[5].type->name, "b.E");
  EXPECT_EQ(fields[5].type->default_symbol, "A");
  EXPECT_EQ(fields[6].type->name, "None");
  EXPECT_EQ(schema.FindNamed("b.Inner"), fields[4].type);
  EXPECT_EQ(schema.FindNamed("Inner"), nullptr);
}

TEST(SchemaTest, RecursiveRecordRefersToItself) {
  ASSERT_OK_ASSIGN(const auto schema, Schema::Parse(R"({
      "type":"record","name":"Node","fields":[
        {"name":"value","type":"int"},
        {"name":"next","type":["null","Node"]},
        {"name":"children","type":{"type":"array","items":"Node"}}]})"));
  const Type& root = schema.root();
  EXPECT_EQ(root.fields[1].type->branches[1], &root);
  EXPECT_EQ(root.fields[2].type->items, &root);
  EXPECT_EQ(root.size_min, 3U);
}

TEST(SchemaTest, SmallestSizeIsALowerBoundThatSaturates) {
  std::string json = R"({"type":"fixed","name":"N0","size":2147483647})";
  for (int i = 1; i <= 40; ++i) {
    const auto name = std::to_string(i);
    json = R"({"type":"record","name":"N)" + name + R"(","fields":[{"name":"a","type":)" + json +
           R"(},{"name":"b","type":"N)" + std::to_string(i - 1) + R"("}]})";
  }
  ASSERT_OK_ASSIGN(const auto schema, Schema::Parse(json));
  EXPECT_EQ(schema.root().size_min, uint64_t{1} << 32);
}

TEST(SchemaTest, TypesWithoutBytesAreEmpty) {
  ASSERT_OK_ASSIGN(const auto schema, Schema::Parse(R"({
      "type":"record","name":"R","fields":[
        {"name":"a","type":"null"},
        {"name":"b","type":{"type":"record","name":"Nothing","fields":[]}},
        {"name":"c","type":{"type":"fixed","name":"F","size":0}},
        {"name":"d","type":["null"]}]})"));
  EXPECT_TRUE(schema.root().fields[0].type->is_empty);
  EXPECT_TRUE(schema.root().fields[1].type->is_empty);
  EXPECT_TRUE(schema.root().fields[2].type->is_empty);
  EXPECT_FALSE(schema.root().fields[3].type->is_empty);
  EXPECT_FALSE(schema.root().is_empty);
  EXPECT_EQ(schema.root().size_min, 1U);
}

struct LogicalCase {
  std::string json;
  Logical logical;
};

TEST(SchemaTest, LogicalTypeThatDoesNotFitIsIgnored) {
  const LogicalCase cases[] = {
      {R"({"type":"int","logicalType":"date"})", Logical::kDate},
      {R"({"type":"long","logicalType":"date"})", Logical::kNone},
      {R"({"type":"int","logicalType":"time-millis"})", Logical::kTimeMillis},
      {R"({"type":"long","logicalType":"time-micros"})", Logical::kTimeMicros},
      {R"({"type":"long","logicalType":"timestamp-millis"})", Logical::kTimestampMillis},
      {R"({"type":"long","logicalType":"timestamp-micros"})", Logical::kTimestampMicros},
      {R"({"type":"long","logicalType":"timestamp-nanos"})", Logical::kTimestampNanos},
      {R"({"type":"long","logicalType":"local-timestamp-millis"})", Logical::kLocalTimestampMillis},
      {R"({"type":"long","logicalType":"local-timestamp-micros"})", Logical::kLocalTimestampMicros},
      {R"({"type":"long","logicalType":"local-timestamp-nanos"})", Logical::kLocalTimestampNanos},
      {R"({"type":"string","logicalType":"uuid"})", Logical::kUuid},
      {R"({"type":"fixed","name":"U","size":16,"logicalType":"uuid"})", Logical::kUuid},
      {R"({"type":"fixed","name":"U","size":15,"logicalType":"uuid"})", Logical::kNone},
      {R"({"type":"string","logicalType":"made-up"})", Logical::kNone},
      {R"({"type":"bytes","logicalType":"decimal","precision":38,"scale":38})", Logical::kDecimal},
      {R"({"type":"bytes","logicalType":"decimal","precision":4,"scale":5})", Logical::kNone},
      {R"({"type":"bytes","logicalType":"decimal","precision":0})", Logical::kNone},
      {R"({"type":"bytes","logicalType":"decimal"})", Logical::kNone},
      {R"({"type":"int","logicalType":"decimal","precision":4})", Logical::kNone},
      // 8 bytes hold 18 digits, 9 bytes 21.
      {R"({"type":"fixed","name":"D","size":8,"logicalType":"decimal","precision":18})",
       Logical::kDecimal},
      {R"({"type":"fixed","name":"D","size":8,"logicalType":"decimal","precision":19})",
       Logical::kNone},
      {R"({"type":"fixed","name":"D","size":9,"logicalType":"decimal","precision":21})",
       Logical::kDecimal},
  };
  for (const auto& row : cases) {
    SCOPED_TRACE(row.json);
    ASSERT_OK_ASSIGN(const auto schema, Schema::Parse(row.json));
    EXPECT_EQ(schema.root().logical, row.logical);
  }
  ASSERT_OK_ASSIGN(const auto decimal, Schema::Parse(cases[14].json));
  EXPECT_EQ(decimal.root().precision, 38);
  EXPECT_EQ(decimal.root().scale, 38);
}

struct BadCase {
  std::string json;
  std::string message;
};

TEST(SchemaTest, BadSchemaIsCorruptAndNamesThePath) {
  const BadCase cases[] = {
      {"", "is not JSON"},
      {"{", "is not JSON"},
      {"17", "a type must be a string, an object or a list path=$"},
      {"{}", "a type has no \"type\" path=$"},
      {R"("strin")", "unknown type name=strin path=$"},
      {R"(["null",["int"]])", "a union stands directly in a union path=$[1]"},
      {R"(["null","int","int"])", "two branches of one type, type=int path=$[2]"},
      {R"({"type":"array"})", "an array has no \"items\" path=$"},
      {R"({"type":"map","items":"int"})", "an map has no \"values\" path=$"},
      {R"({"type":"record","fields":[]})", "a record has no \"name\" path=$"},
      {R"({"type":"record","name":"R"})", "no list of \"fields\" path=$"},
      {R"({"type":"record","name":"R","fields":[1]})", "a field is no object path=$.fields[0]"},
      {R"({"type":"record","name":"R","fields":[{"name":"a","type":"int"},{"name":"b"}]})",
       "a field has no \"type\", name=b path=$.fields[1]"},
      {R"({"type":"record","name":"R","fields":[{"name":"a","type":"int"},{"name":"a","type":"int"}]})",
       "two fields of one name, name=a path=$.fields[1]"},
      {R"({"type":"record","name":"R","fields":[{"name":"a","type":{"type":"map","values":["null","X"]}}]})",
       "unknown type name=X path=$.fields[0].type.values[1]"},
      {R"(["null",{"type":"enum","name":"E","symbols":["A","A"]}])",
       "two equal symbols, symbol=A path=$[1].symbols[1]"},
      {R"({"type":"enum","name":"E","symbols":"A"})", "no list of \"symbols\""},
      {R"({"type":"fixed","name":"F","size":-1})", "no \"size\" of 0 to 2147483647"},
      {R"({"type":"fixed","name":"F"})", "no \"size\" of 0 to 2147483647"},
      {R"([{"type":"fixed","name":"F","size":1},{"type":"enum","name":"F","symbols":["A"]}])",
       "a type is defined twice, name=F path=$[1]"},
      {R"({"type":"fixed","name":"int","size":1})", "a primitive type is defined anew, name=int"},
      {R"({"type":"fixed","name":"F","size":1,"aliases":["A",1]})",
       "an alias is no text path=$.aliases[1]"},
  };
  for (const auto& row : cases) {
    SCOPED_TRACE(row.json);
    EXPECT_THAT(Schema::Parse(row.json), IsError(ErrorKind::kCorrupt, HasSubstr(row.message)));
  }
}

std::string NestedArrays(int depth) {
  std::string json = "\"int\"";
  for (int i = 0; i < depth; ++i) json = R"({"type":"array","items":)" + json + "}";
  return json;
}

TEST(SchemaTest, DepthAndSizeAreBounded) {
  EXPECT_THAT(Schema::Parse(NestedArrays(kSchemaDepthMax)), IsOk());
  EXPECT_THAT(Schema::Parse(NestedArrays(kSchemaDepthMax + 1)),
              IsError(ErrorKind::kExhausted, HasSubstr("nested too deep")));
  EXPECT_THAT(Schema::Parse(NestedArrays(20000)),
              IsError(ErrorKind::kExhausted, HasSubstr("nested too deep")));
  EXPECT_THAT(Schema::Parse(std::string(kSchemaBytesMax + 1, ' ')),
              IsError(ErrorKind::kExhausted, HasSubstr("too large")));
}

TEST(SchemaTest, EveryTruncationAndByteFlipIsAnErrorOrASchema) {
  const std::string json =
      R"({"type":"record","name":"a.R","fields":[{"name":"n","type":["null","R"],"default":null},)"
      R"({"name":"d","type":{"type":"fixed","name":"D","size":9,"logicalType":"decimal","precision":9}}]})";
  ASSERT_THAT(Schema::Parse(json), IsOk());
  for (size_t size = 0; size < json.size(); ++size) {
    EXPECT_FALSE(Schema::Parse(json.substr(0, size)).has_value()) << size;
  }
  for (size_t i = 0; i < json.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string bytes = json;
      bytes[i] = static_cast<char>(bytes[i] ^ (1 << bit));
      const auto schema = Schema::Parse(bytes);
      EXPECT_TRUE(schema.has_value() || !schema.error().message.empty());
    }
  }
}

}  // namespace
}  // namespace tidemark::lake::avro
