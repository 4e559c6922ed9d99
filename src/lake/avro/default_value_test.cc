#include "lake/avro/default_value.h"

#include <gmock/gmock.h>

#include "support/avro_text.h"
#include "support/result_matchers.h"

namespace tidemark::lake::avro {
namespace {

using support::IsError;
using support::IsOkAnd;
using ::testing::HasSubstr;

Result<std::string> Text(const std::string& schema_json, const std::string& value) {
  TRY_ASSIGN(const auto schema, Schema::Parse(schema_json));
  TRY_ASSIGN(const auto bytes, EncodeDefault(value, schema.root()));
  TRY_ASSIGN(const auto datum, Datum::Open(schema.root(), bytes));
  return support::AvroText(datum, schema.root().kind == Kind::kUnion);
}

struct GoodCase {
  std::string schema;
  std::string json;
  std::string text;
};

TEST(DefaultValueTest, EveryKindOfDefaultIsEncoded) {
  const GoodCase cases[] = {
      {R"("null")", "null", "null"},
      {R"("boolean")", "true", "true"},
      {R"("int")", "-2147483648", "-2147483648"},
      {R"("long")", "9223372036854775807", "9223372036854775807"},
      {R"("float")", "1.5", "f:3fc00000"},
      {R"("float")", "1", "f:3f800000"},
      {R"("double")", "-2", "d:c000000000000000"},
      {R"("string")", R"("dü")", "s:64c3bc"},
      {R"("bytes")", R"("aÿ\u0000")", "b:61ff00"},
      {R"({"type":"fixed","name":"F","size":2})", R"("aÿ")", "b:61ff"},
      {R"({"type":"enum","name":"E","symbols":["A","B"]})", R"("B")", "e:B"},
      {R"({"type":"array","items":"int"})", "[1,2]", "[1,2]"},
      {R"({"type":"array","items":"int"})", "[]", "[]"},
      {R"({"type":"map","values":"int"})", R"({"k":3})", "<6b=3>"},
      {R"(["null","int"])", "null", "0|null"},
      {R"(["null","int"])", "7", "1|7"},
      {R"({"type":"record","name":"R","fields":[{"name":"a","type":"int"},
           {"name":"b","type":["null","string"],"default":null},
           {"name":"c","type":"int","default":3}]})",
       R"({"a":1})", "{a=1,b=0|null,c=3}"},
  };
  for (const auto& row : cases) {
    SCOPED_TRACE(row.schema + " " + row.json);
    EXPECT_THAT(Text(row.schema, row.json), IsOkAnd(row.text));
  }
}

TEST(DefaultValueTest, WhatDoesNotFitIsCorrupt) {
  const std::pair<std::string, std::string> cases[] = {
      {R"("null")", "0"},
      {R"("boolean")", "1"},
      {R"("int")", "2147483648"},
      {R"("int")", "1.5"},
      {R"("int")", R"("1")"},
      {R"("long")", "9223372036854775808"},
      {R"("double")", R"("x")"},
      {R"("string")", "1"},
      {R"("bytes")", R"("€")"},
      {R"({"type":"fixed","name":"F","size":2})", R"("a")"},
      {R"({"type":"enum","name":"E","symbols":["A"]})", R"("B")"},
      {R"({"type":"array","items":"int"})", R"({})"},
      {R"({"type":"array","items":"int"})", R"(["x"])"},
      {R"({"type":"map","values":"int"})", "[]"},
      {R"(["null","int"])", R"("x")"},
      {R"({"type":"record","name":"R","fields":[{"name":"a","type":"int"}]})", "{}"},
      {R"({"type":"record","name":"R","fields":[]})", "[]"},
  };
  for (const auto& [schema, json] : cases) {
    SCOPED_TRACE(schema + " " + json);
    EXPECT_THAT(Text(schema, json), IsError(ErrorKind::kCorrupt, HasSubstr("does not fit")));
  }
  EXPECT_THAT(Text(R"("int")", "{"), IsError(ErrorKind::kCorrupt, HasSubstr("not JSON")));
}

TEST(DefaultValueTest, DefaultsThatGrowWithoutEndAreExhausted) {
  // A record whose default holds itself.
  EXPECT_THAT(Text(R"({"type":"record","name":"R","fields":[
                       {"name":"me","type":"R","default":{}}]})",
                   "{}"),
              IsError(ErrorKind::kExhausted, HasSubstr("too large")));
  // Twice as many values at each of 40 levels.
  std::string schema = R"("int")";
  std::string value = "1";
  for (int i = 0; i < 40; ++i) {
    const std::string name = "R" + std::to_string(i);
    const std::string same = i == 0 ? R"("int")" : "\"R" + std::to_string(i - 1) + "\"";
    const std::string fill = i == 0 ? "1" : "{}";
    schema = R"({"type":"record","name":")" + name + R"(","fields":[{"name":"a","type":)" + schema +
             R"(,"default":)" + fill + R"(},{"name":"b","type":)" + same + R"(,"default":)" + fill +
             "}]}";
  }
  EXPECT_THAT(Text(schema, "{}"), IsError(ErrorKind::kExhausted, HasSubstr("too large")));
}

}  // namespace
}  // namespace tidemark::lake::avro
