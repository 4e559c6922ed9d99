#include "change/schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "support/result_matchers.h"

namespace tidemark::change {
namespace {

using support::IsError;
using support::IsOk;
using ::testing::_;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string AvroRecord(const std::string& fields) {
  return R"({"type":"record","name":"t","fields":[)" + fields + "]}";
}
std::string AvroField(const std::string& name, const std::string& type,
                      const std::string& more = "") {
  return R"({"name":")" + name + R"(","type":)" + type + more + "}";
}
std::string Internal(const std::string& fields) {
  return R"({"max_column_id":99,"version_id":20240101000000000,"type":"record","fields":[)" +
         fields + "]}";
}
std::string InternalField(int id, const std::string& name, const std::string& type,
                          const std::string& more = "") {
  return R"({"id":)" + std::to_string(id) + R"(,"name":")" + name + R"(","optional":true,"type":)" +
         type + more + "}";
}

/// Every column with its children, depth first.
void AppendLines(const std::vector<Column>& columns, std::vector<std::string>& lines) {
  for (const Column& column : columns) {
    lines.push_back(column.path + " " + column.type + (column.is_nullable ? "" : " not null"));
    AppendLines(column.children, lines);
  }
}
std::vector<std::string> Lines(const Schema& schema) {
  std::vector<std::string> lines;
  AppendLines(schema.columns, lines);
  return lines;
}

// --- Types: the table of docs/formats/schema.md
// ------------------------------------------------------------------

struct TypeCase {
  std::string avro;
  std::string internal;  ///< empty: the internal form has no such type
  std::string type;
};

const std::vector<TypeCase> kTypes = {
    {R"("boolean")", R"("boolean")", "boolean"},
    {R"("int")", R"("int")", "int"},
    {R"("long")", R"("long")", "bigint"},
    {R"("float")", R"("float")", "float"},
    {R"("double")", R"("double")", "double"},
    {R"("string")", R"("string")", "string"},
    {R"({"type":"enum","name":"e","symbols":["A","B"]})", R"("string")", "string"},
    {R"("bytes")", R"("binary")", "binary"},
    {R"({"type":"fixed","name":"f","size":12})", R"("fixed[12]")", "fixed(12)"},
    {R"({"type":"bytes","logicalType":"decimal","precision":20,"scale":6})",
     R"_("decimal(20, 6)")_", "decimal(20,6)"},
    {R"({"type":"fixed","name":"f","size":9,"logicalType":"decimal","precision":20,"scale":6})",
     R"_("decimal(20, 6)")_", "decimal(20,6)"},
    {R"({"type":"bytes","logicalType":"decimal","precision":5})", R"_("decimal(5, 0)")_",
     "decimal(5,0)"},
    {R"({"type":"int","logicalType":"date"})", R"("date")", "date"},
    {R"({"type":"long","logicalType":"time-micros"})", R"("time")", "time"},
    {R"({"type":"int","logicalType":"time-millis"})", R"("time")", "time_millis"},
    {R"({"type":"long","logicalType":"timestamp-micros"})", R"("timestamp")", "timestamp"},
    {R"({"type":"long","logicalType":"timestamp-millis"})", R"("timestamp")", "timestamp_millis"},
    {R"({"type":"long","logicalType":"timestamp-millis"})", R"("timestamp-millis")",
     "timestamp_millis"},
    {R"({"type":"long","logicalType":"timestamp-nanos"})", R"("long")", "timestamp_nanos"},
    {R"({"type":"long","logicalType":"local-timestamp-micros"})", R"("long")", "timestamp_ntz"},
    {R"({"type":"long","logicalType":"local-timestamp-millis"})", R"("local-timestamp-millis")",
     "timestamp_ntz_millis"},
    {R"({"type":"string","logicalType":"uuid"})", R"("uuid")", "uuid"},
    {R"("null")", "", "void"},
    {R"({"type":"array","items":"long"})",
     R"({"type":"array","element_id":7,"element":"long","element_optional":false})",
     "array<bigint>"},
    {R"({"type":"map","values":["null","int"]})",
     R"({"type":"map","key_id":7,"key":"string","value_id":8,"value":"int","value_optional":true})",
     "map<string,int>"},
    {R"({"type":"record","name":"s","fields":[{"name":"a","type":["null","int"]},
        {"name":"b c","type":["null",{"type":"array","items":["null","string"]}]}]})",
     R"({"type":"record","fields":[{"id":7,"name":"a","optional":true,"type":"int"},
        {"id":8,"name":"b c","optional":true,"type":{"type":"array","element_id":9,
          "element":"string","element_optional":true}}]})",
     "struct<a:int,`b c`:array<string>>"},
    {R"(["int","string"])", "", "uniontype<int,string>"},
};

TEST(SchemaTypesTest, EachTypeHasOneText) {
  for (const TypeCase& each : kTypes) {
    ASSERT_OK_ASSIGN(const Schema schema, ParseAvroColumns(AvroRecord(AvroField("c", each.avro))));
    ASSERT_EQ(schema.columns.size(), 1U);
    EXPECT_EQ(schema.columns[0].type, each.type) << each.avro;
  }
}

/// Else a commit without ids after one with ids would change the schema.
TEST(SchemaTypesTest, BothFormsOfOneTableHaveOneFingerprint) {
  for (const TypeCase& each : kTypes) {
    if (each.internal.empty()) continue;
    const std::string avro = AvroRecord(AvroField("c", "[\"null\"," + each.avro + "]"));
    ASSERT_OK_ASSIGN(const Schema plain, ParseAvroColumns(avro));
    ASSERT_OK_ASSIGN(const Schema with_ids,
                     ParseInternalColumns(Internal(InternalField(5, "c", each.internal)), avro));
    EXPECT_EQ(with_ids.fingerprint, plain.fingerprint) << each.internal << " " << each.avro;
    EXPECT_EQ(with_ids.columns[0].type, each.type);
    EXPECT_EQ(with_ids.columns[0].id, 5);
    EXPECT_EQ(plain.columns[0].id, std::nullopt);
  }
}

TEST(SchemaTypesTest, TheInternalFormAloneHasItsOwnTexts) {
  ASSERT_OK_ASSIGN(
      const Schema schema,
      ParseInternalColumns(Internal(InternalField(5, "t", R"("timestamp")") + "," +
                                    InternalField(6, "d", R"_("decimal_fixed(20, 6)[9]")_") + "," +
                                    InternalField(7, "v", R"("Variant")")),
                           ""));
  EXPECT_THAT(Lines(schema), ElementsAre("t timestamp", "d decimal(20,6)", "v variant"));
}

// --- Columns
// -------------------------------------------------------------------------------------

TEST(SchemaTest, NestedColumnsAreReachable) {
  ASSERT_OK_ASSIGN(
      const Schema schema,
      ParseAvroColumns(AvroRecord(
          AvroField("k", R"("string")") + "," +
          AvroField("tags", R"(["null",{"type":"array","items":{"type":"record","name":"tag",
              "fields":[{"name":"x","type":"int"}]}}])") +
          "," + AvroField("m", R"({"type":"map","values":["null","double"]})"))));
  EXPECT_THAT(
      Lines(schema),
      ElementsAre("k string not null", "tags array<struct<x:int>>",
                  "tags.element struct<x:int> not null", "tags.element.x int not null",
                  "m map<string,double> not null", "m.key string not null", "m.value double"));
  EXPECT_EQ(schema.columns[2].position, 2);
}

TEST(SchemaTest, HudisOwnColumnsAreLeftOutAtTheTopOnly) {
  const std::string meta = R"(["null","string"])";
  ASSERT_OK_ASSIGN(
      const Schema schema,
      ParseAvroColumns(AvroRecord(AvroField("_hoodie_commit_time", meta) + "," +
                                  AvroField("_hoodie_operation", meta) + "," +
                                  AvroField("_hoodie_is_deleted", R"("boolean")") + "," +
                                  AvroField("s", R"({"type":"record","name":"s","fields":[
              {"name":"_hoodie_file_name","type":"string"}]})"))));
  EXPECT_THAT(Lines(schema), ElementsAre("_hoodie_is_deleted boolean not null",
                                         "s struct<_hoodie_file_name:string> not null",
                                         "s._hoodie_file_name string not null"));
  EXPECT_EQ(schema.columns[0].position, 0);
}

TEST(SchemaTest, DefaultsAndCommentsAreKept) {
  ASSERT_OK_ASSIGN(
      const Schema schema,
      ParseAvroColumns(AvroRecord(
          AvroField("a", R"(["null","int"])", R"(,"default":null,"doc":"how many")") + "," +
          AvroField("b", R"(["int","null"])", R"(,"default":7,"doc":"")") + "," +
          AvroField("c", R"({"type":"map","values":"int"})", R"(,"default":{ "x" : 1 })"))));
  EXPECT_EQ(schema.columns[0].default_json, std::nullopt);  // what every writer puts there
  EXPECT_EQ(schema.columns[0].comment, "how many");
  EXPECT_EQ(schema.columns[1].default_json, "7");
  EXPECT_TRUE(schema.columns[1].is_nullable);
  EXPECT_EQ(schema.columns[2].default_json, R"({"x":1})");
}

TEST(SchemaTest, TheInternalFormTakesWhatItLacksFromTheSchemaBesideIt) {
  const std::string avro = AvroRecord(AvroField("b", R"(["int","null"])", R"(,"default":7)") + "," +
                                      AvroField("a", R"(["null","int"])", R"(,"doc":"old")"));
  ASSERT_OK_ASSIGN(
      const Schema schema,
      ParseInternalColumns(Internal(InternalField(5, "a", R"("int")", R"(,"doc":"new")") + "," +
                                    InternalField(6, "b", R"("int")")),
                           avro));
  EXPECT_EQ(schema.columns[0].comment, "new");
  EXPECT_EQ(schema.columns[1].default_json, "7");
  // A neighbour that cannot be read takes nothing away.
  EXPECT_THAT(ParseInternalColumns(Internal(InternalField(5, "a", R"("int")")), "{"), IsOk());
}

TEST(SchemaTest, ACommitSaysItInEitherForm) {
  const std::string avro = AvroRecord(AvroField("a", R"(["null","int"])"));
  const std::string internal = Internal(InternalField(5, "a", R"("int")"));
  struct Case {
    std::map<std::string, std::string> extra;
    bool has_schema;
    bool has_ids;
  };
  const std::vector<Case> cases = {
      {{}, false, false},
      {{{"schema", ""}}, false, false},
      {{{"schema", avro}}, true, false},
      {{{"schema", avro}, {"latest_schema", ""}}, true, false},
      {{{"schema", avro}, {"latest_schema", internal}}, true, true},
      {{{"schema", ""}, {"latest_schema", internal}}, true, true},
  };
  for (const Case& each : cases) {
    ASSERT_OK_ASSIGN(const auto schema, SchemaOf(each.extra));
    ASSERT_EQ(schema.has_value(), each.has_schema);
    if (schema) {
      EXPECT_EQ(schema->columns[0].id.has_value(), each.has_ids);
    }
  }
}

// --- The fingerprint
// -----------------------------------------------------------------------------

/// Computed by sha256sum over the text that is written here: both may never change, as subscribers
/// keep fingerprints.
TEST(FingerprintTest, TheTextAndItsHashAreFixed) {
  ASSERT_OK_ASSIGN(
      const Schema schema,
      ParseAvroColumns(AvroRecord(
          AvroField("k", R"("string")", R"(,"doc":"the \"key\"\n")") + "," +
          AvroField("tags", R"(["null",{"type":"array","items":"long"}])", R"(,"default":null)") +
          "," + AvroField("n", R"(["int","null"])", R"(,"default":7)"))));
  EXPECT_EQ(CanonicalText(schema.columns),
            "tidemark schema 1\n"
            "[0,\"k\",\"string\",false,null,\"the \\\"key\\\"\\u000a\"]\n"
            "[0,\"tags\",\"array\",true,null,\"\"]\n"
            "[1,\"element\",\"bigint\",false,null,\"\"]\n"
            "[0,\"n\",\"int\",true,\"7\",\"\"]\n");
  EXPECT_EQ(schema.fingerprint, "7c1dc67c08b57cdc65f095cf1ad2f78c");
}

TEST(FingerprintTest, ASchemaWithoutColumnsHasNone) {
  // What a subscriber takes from an event that lists no columns (api/change_parse_test.cc).
  for (const std::string& fields : {std::string(), AvroField("_hoodie_record_key", "\"string\"")}) {
    ASSERT_OK_ASSIGN(const Schema schema, ParseAvroColumns(AvroRecord(fields)));
    EXPECT_THAT(schema.columns, IsEmpty());
    EXPECT_EQ(schema.fingerprint, "");
  }
}

TEST(FingerprintTest, EveryDifferenceShows) {
  const std::vector<std::string> fields = {
      AvroField("a", R"("int")") + "," + AvroField("b", R"("int")"),
      AvroField("b", R"("int")") + "," + AvroField("a", R"("int")"),
      AvroField("a", R"("int")"),
      AvroField("a", R"("long")"),
      AvroField("a", R"(["null","int"])"),
      AvroField("a", R"("int")", R"(,"default":1)"),
      AvroField("a", R"("int")", R"(,"doc":"x")"),
      AvroField("a", R"({"type":"array","items":"int"})"),
      AvroField("a", R"({"type":"array","items":["null","int"]})"),
      AvroField("a", R"({"type":"record","name":"s","fields":[{"name":"b","type":"int"}]})"),
      AvroField("a", R"({"type":"record","name":"s","fields":[]})") + "," +
          AvroField("b", R"("int")"),
  };
  std::vector<std::string> seen;
  for (const std::string& each : fields) {
    ASSERT_OK_ASSIGN(const Schema schema, ParseAvroColumns(AvroRecord(each)));
    EXPECT_EQ(schema.fingerprint.size(), 32U);
    EXPECT_EQ(std::ranges::find(seen, schema.fingerprint), seen.end()) << each;
    seen.push_back(schema.fingerprint);
  }
}

// --- Which schema readers see
// --------------------------------------------------------------------

struct SeenCase {
  std::string name;
  std::vector<SchemaSource> completed;
  std::optional<size_t> seen;
};

TEST(EffectiveSchemaTest, TheGreatestRequestedTimeThatMayChangeItIsSeen) {
  const std::vector<SeenCase> cases = {
      {"nothing", {}, std::nullopt},
      {"no schema at all", {{"2", "commit", "UPSERT", false}}, std::nullopt},
      {"one", {{"2", "commit", "UPSERT", true}}, 0},
      {"the later", {{"2", "commit", "UPSERT", true}, {"3", "commit", "UPSERT", true}}, 1},
      {"completed late with an old schema",
       {{"3", "commit", "UPSERT", true}, {"2", "commit", "UPSERT", true}},
       0},
      {"the newest says none",
       {{"2", "commit", "UPSERT", true}, {"3", "commit", "UPSERT", false}},
       0},
      {"a table service is newer",
       {{"2", "deltacommit", "UPSERT", true},
        {"3", "replacecommit", "CLUSTER", true},
        {"4", "commit", "COMPACT", true},
        {"5", "deltacommit", "LOG_COMPACT", true},
        {"6", "commit", "INDEX", true}},
       0},
      {"there are table services only",
       {{"3", "replacecommit", "CLUSTER", true}, {"4", "commit", "COMPACT", true}},
       1},
      {"deletes and schema changes count",
       {{"2", "commit", "ALTER_SCHEMA", true}, {"3", "replacecommit", "DELETE_PARTITION", true}},
       1},
      {"an operation that is not said", {{"2", "commit", std::nullopt, true}}, 0},
      {"instants of 14 digits are compared as text",
       {{"20240101000000", "commit", "UPSERT", true},
        {"20240101000000123", "commit", "UPSERT", true}},
       1},
      {"two of one time",
       {{"2", "deltacommit", "UPSERT", true}, {"2", "commit", "UPSERT", true}},
       0},
  };
  for (const SeenCase& each : cases) {
    EXPECT_EQ(EffectiveSchema(each.completed), each.seen) << each.name;
    // One at a time, in any order, it is the same.
    std::optional<SchemaSource> current;
    for (const auto& source : each.completed)
      if (source.has_schema && (!current || Supersedes(source, *current))) current = source;
    EXPECT_EQ(current.has_value(), each.seen.has_value()) << each.name;
    if (each.seen) {
      EXPECT_EQ(*current, each.completed[*each.seen]) << each.name;
    }
  }
}

// --- Anything else
// -------------------------------------------------------------------------------

TEST(SchemaTest, WhatIsNoSchemaIsAnError) {
  for (const std::string json : {"", "{", "[]", R"("int")", R"({"type":"record"})"})
    EXPECT_THAT(ParseAvroColumns(json), IsError(ErrorKind::kCorrupt, _)) << json;
  for (const std::string& json :
       {std::string(""), std::string("{"), std::string("[]"), std::string("{}"), Internal("1"),
        Internal(R"({"name":"a"})"), Internal(R"({"name":"a","id":1,"optional":true})"),
        Internal(R"({"name":"a","id":"1","optional":true,"type":"int"})"),
        Internal(R"({"name":"a","id":1,"optional":1,"type":"int"})"),
        Internal(R"({"name":"a","id":1,"optional":true,"type":{"type":"set"}})"),
        Internal(R"({"name":"a","id":1,"optional":true,"type":"array"})"),
        Internal(InternalField(1, "a", R"("int")") + "," + InternalField(2, "a", R"("int")"))}) {
    EXPECT_THAT(ParseInternalColumns(json, ""), IsError(ErrorKind::kCorrupt, _)) << json;
  }
}

TEST(SchemaTest, ARecordThatHoldsItselfIsNotSupported) {
  EXPECT_THAT(ParseAvroColumns(R"({"type":"record","name":"t","fields":[
      {"name":"next","type":["null","t"]}]})"),
              IsError(ErrorKind::kUnsupported, _));
}

/// Each level has the one below twice: few bytes, many columns.
TEST(SchemaTest, TheNumberOfColumnsIsBounded) {
  std::string type = R"("int")";
  for (int level = 0; level < 20; ++level) {
    const std::string name = "r" + std::to_string(level);
    type = R"({"type":"record","name":")" + name + R"(","fields":[{"name":"a","type":)" + type +
           R"(},{"name":"b","type":)" +
           (level == 0 ? R"("int")" : "\"r" + std::to_string(level - 1) + "\"") + "}]}";
  }
  EXPECT_THAT(ParseAvroColumns(type), IsError(ErrorKind::kExhausted, _));
}

TEST(SchemaTest, TheDepthOfTheInternalFormIsBounded) {
  std::string type = R"("int")";
  for (int level = 0; level < 200; ++level)
    type = R"({"type":"array","element_id":1,"element_optional":true,"element":)" + type + "}";
  EXPECT_THAT(ParseInternalColumns(Internal(InternalField(1, "a", type)), ""),
              IsError(ErrorKind::kExhausted, _));
}

TEST(SchemaTest, EveryTruncationAndFlippedByteIsAnErrorOrASchema) {
  const std::string avro = AvroRecord(AvroField("a", R"(["null",{"type":"array","items":"long"}])",
                                                R"(,"doc":"x","default":null)"));
  const std::string internal = Internal(InternalField(
      5, "a", R"_({"type":"map","key_id":7,"key":"string","value_id":8,"value":"decimal(3, 1)",
                  "value_optional":true})_",
      R"(,"doc":"x")"));
  for (size_t size = 0; size < avro.size(); ++size)
    EXPECT_THAT(ParseAvroColumns(avro.substr(0, size)), IsError(ErrorKind::kCorrupt, _)) << size;
  for (size_t size = 0; size < internal.size(); ++size) {
    EXPECT_THAT(ParseInternalColumns(internal.substr(0, size), ""), IsError(ErrorKind::kCorrupt, _))
        << size;
  }
  for (const std::string& text : {avro, internal}) {
    for (size_t i = 0; i < text.size(); ++i) {
      for (int bit = 0; bit < 8; ++bit) {
        std::string flipped = text;
        flipped[i] = static_cast<char>(flipped[i] ^ (1 << bit));
        for (const auto& read : {ParseAvroColumns(flipped), ParseInternalColumns(flipped, avro),
                                 ParseInternalColumns(internal, flipped)}) {
          if (read) {
            EXPECT_EQ(read->fingerprint.size(), 32U);
          } else {
            EXPECT_THAT(read.error().kind,
                        AnyOf(ErrorKind::kCorrupt, ErrorKind::kUnsupported, ErrorKind::kExhausted));
          }
        }
      }
    }
  }
}  // namespace

}  // namespace
}  // namespace tidemark::change
