#include "lake/avro/resolve.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <charconv>
#include <nlohmann/json.hpp>
#include <sstream>

#include "support/avro_text.h"
#include "support/result_matchers.h"
#include "support/testdata.h"

namespace tidemark::lake::avro {
namespace {

using support::Hex;
using support::IsError;
using support::IsOk;
using support::IsOkAnd;
using ::testing::HasSubstr;

// The form of testdata/avro/resolve.jsonl: that of values, without the branches of unions.
Result<std::string> Text(const Resolved& value);

Result<std::string> ItemsText(const Resolved& value) {
  const bool is_map = value.type().kind == Kind::kMap;
  TRY_ASSIGN(auto items, value.OpenItems());
  std::string text;
  while (true) {
    TRY_ASSIGN(const auto entry, items.Next());
    if (!entry) break;
    TRY_ASSIGN(const auto item, Text(entry->value));
    text += (text.empty() ? "" : ",") + (is_map ? Hex(entry->key) + "=" : "") + item;
  }
  return is_map ? "<" + text + ">" : "[" + text + "]";
}

Result<std::string> RecordText(const Resolved& value) {
  std::vector<std::optional<Resolved>> row(value.type().fields.size());
  TRY(value.ReadFields(row));
  std::string text;
  for (size_t i = 0; i < row.size(); ++i) {
    if (!row[i]) return Fail(ErrorKind::kInternal, "a field has no value");
    TRY_ASSIGN(const auto item, Text(*row[i]));
    text += (i == 0 ? "" : ",") + value.type().fields[i].name + "=" + item;
  }
  return "{" + text + "}";
}

Result<std::string> Text(const Resolved& value) {
  switch (value.type().kind) {
    case Kind::kNull: return "null";
    case Kind::kBoolean: {
      bool truth = false;
      TRY(value.Boolean(truth));
      return truth ? "true" : "false";
    }
    case Kind::kInt: {
      TRY_ASSIGN(const auto number, value.Int());
      return std::to_string(number);
    }
    case Kind::kLong: {
      TRY_ASSIGN(const auto number, value.Long());
      return std::to_string(number);
    }
    case Kind::kFloat: {
      TRY_ASSIGN(const auto number, value.Float());
      return fmt::format("f:{:08x}", std::bit_cast<uint32_t>(number));
    }
    case Kind::kDouble: {
      TRY_ASSIGN(const auto number, value.Double());
      return fmt::format("d:{:016x}", std::bit_cast<uint64_t>(number));
    }
    case Kind::kString: {
      TRY_ASSIGN(const auto text, value.String());
      return "s:" + Hex(text);
    }
    case Kind::kEnum: {
      TRY_ASSIGN(const auto text, value.String());
      return fmt::format("e:{}", text);
    }
    case Kind::kArray:
    case Kind::kMap: return ItemsText(value);
    case Kind::kRecord: return RecordText(value);
    default: {
      TRY_ASSIGN(const auto bytes, value.Bytes());
      return "b:" + Hex(bytes);
    }
  }
}

Result<std::string> Read(const std::string& writer, const std::string& reader,
                         std::string_view bytes) {
  TRY_ASSIGN(const auto from, Schema::Parse(writer));
  TRY_ASSIGN(const auto to, Schema::Parse(reader));
  TRY_ASSIGN(const auto resolution, Resolution::Make(from, to));
  TRY_ASSIGN(const auto value, resolution.Open(bytes));
  return Text(value);
}

std::string Unhex(std::string_view hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    uint8_t byte = 0;
    std::from_chars(&hex[i], &hex[i] + 2, byte, 16);
    bytes += static_cast<char>(byte);
  }
  return bytes;
}

template <size_t N>
std::string_view B(const char (&text)[N]) {
  return {text, N - 1};
}

TEST(ResolveTest, EvolvedSchemasReadAsAnotherLibraryReadsThem) {
  std::istringstream lines(support::ReadTestdata("avro/resolve.jsonl"));
  size_t rows = 0;
  for (std::string line; std::getline(lines, line); ++rows) {
    const auto row = nlohmann::json::parse(line);
    const auto writer = row["writer"].get<std::string>();
    const auto reader = row["reader"].get<std::string>();
    SCOPED_TRACE(writer + "\n" + reader);
    ASSERT_OK_ASSIGN(const auto text, Read(writer, reader, Unhex(row["datum"].get<std::string>())));
    EXPECT_EQ(text, row["text"].get<std::string>());
  }
  EXPECT_GE(rows, 100U);
}

TEST(ResolveTest, EveryTruncationIsAnErrorOrReadsUnneededFieldsLess) {
  std::istringstream lines(support::ReadTestdata("avro/resolve.jsonl"));
  for (std::string line; std::getline(lines, line);) {
    const auto row = nlohmann::json::parse(line);
    ASSERT_OK_ASSIGN(const auto writer, Schema::Parse(row["writer"].get<std::string>()));
    ASSERT_OK_ASSIGN(const auto reader, Schema::Parse(row["reader"].get<std::string>()));
    ASSERT_OK_ASSIGN(const auto resolution, Resolution::Make(writer, reader));
    const auto bytes = Unhex(row["datum"].get<std::string>());
    for (size_t size = 0; size < bytes.size(); ++size) {
      const auto value = resolution.Open(std::string_view(bytes).substr(0, size));
      const auto text = value ? Text(*value) : std::unexpected(value.error());
      if (text) {
        EXPECT_EQ(*text, row["text"].get<std::string>());
      } else {
        EXPECT_EQ(text.error().kind, ErrorKind::kCorrupt);
      }
    }
  }
}

struct PromotionCase {
  std::string writer;
  std::string reader;
  std::string_view bytes;
  std::string text;  // empty: they do not match
};

TEST(ResolveTest, PromotionsAreThoseOfTheSpecification) {
  const PromotionCase cases[] = {
      {"int", "long", B("\x03"), "-2"},
      {"int", "float", B("\x03"), "f:c0000000"},
      {"int", "double", B("\x03"), "d:c000000000000000"},
      {"long", "float", B("\x03"), "f:c0000000"},
      {"long", "double", B("\x03"), "d:c000000000000000"},
      {"float", "double", B("\x00\x00\x80\x3f"), "d:3ff0000000000000"},
      {"string", "bytes", B("\x02\x61"), "b:61"},
      {"bytes", "string", B("\x02\x61"), "s:61"},
      {"long", "int", B("\x03"), ""},
      {"double", "float", B("\x03"), ""},
      {"float", "long", B("\x03"), ""},
      {"int", "string", B("\x03"), ""},
      {"int", "boolean", B("\x00"), ""},
      {"null", "int", B(""), ""},
  };
  for (const auto& row : cases) {
    SCOPED_TRACE(row.writer + " " + row.reader);
    const auto text = Read("\"" + row.writer + "\"", "\"" + row.reader + "\"", row.bytes);
    if (row.text.empty()) {
      EXPECT_THAT(text, IsError(ErrorKind::kUnsupported, HasSubstr("the types do not match")));
    } else {
      EXPECT_THAT(text, IsOkAnd(row.text));
    }
  }
}

struct MismatchCase {
  std::string writer;
  std::string reader;
  std::string message;
};

TEST(ResolveTest, SchemaThatCannotBeReadIsUnsupportedWithPathAndReason) {
  const std::string record = R"({"type":"record","name":"R","fields":[{"name":"a","type":"int"}]})";
  const MismatchCase cases[] = {
      {record, R"({"type":"record","name":"R","fields":[{"name":"a","type":"string"}]})",
       "the types do not match, writer=int reader=string path=$.a"},
      {record, R"({"type":"record","name":"R","fields":[{"name":"b","type":"int"}]})",
       "the writer has no such field and the reader no default path=$.b"},
      {record, R"({"type":"record","name":"R","fields":[{"name":"a","type":"int"},
                  {"name":"b","type":"int","aliases":["a"]}]})",
       "two fields of the reader stand for one of the writer path=$.b"},
      {R"({"type":"array","items":"int"})", R"({"type":"array","items":"boolean"})", "path=$[]"},
      {R"(["int","string"])", R"("boolean")", "no branch of the writer's union matches path=$"},
      {R"("int")", R"(["null","boolean"])", "no branch of the reader's union matches, writer=int"},
      {R"({"type":"fixed","name":"F","size":2})", R"({"type":"fixed","name":"F","size":3})",
       "the types do not match, writer=F reader=F"},
      {R"({"type":"fixed","name":"F","size":2})", R"({"type":"fixed","name":"G","size":2})",
       "the types do not match, writer=F reader=G"},
      {R"({"type":"long","logicalType":"timestamp-millis"})",
       R"({"type":"long","logicalType":"timestamp-micros"})", "they stand for different things"},
      {R"({"type":"bytes","logicalType":"decimal","precision":9,"scale":2})",
       R"({"type":"bytes","logicalType":"decimal","precision":9,"scale":3})",
       "decimals of different scale, writer=2 reader=3"},
  };
  for (const auto& row : cases) {
    SCOPED_TRACE(row.writer + " " + row.reader);
    EXPECT_THAT(Read(row.writer, row.reader, ""),
                IsError(ErrorKind::kUnsupported, HasSubstr(row.message)));
  }
}

TEST(ResolveTest, NamesMatchWithoutTheirNamespaceAndByAlias) {
  EXPECT_THAT(Read(R"({"type":"fixed","name":"x.F","size":1})",
                   R"({"type":"fixed","name":"y.F","size":1})", "a"),
              IsOkAnd("b:61"));
  EXPECT_THAT(Read(R"({"type":"fixed","name":"x.F","size":1})",
                   R"({"type":"fixed","name":"G","size":1,"aliases":["x.F"]})", "a"),
              IsOkAnd("b:61"));
  EXPECT_THAT(Read(R"({"type":"record","name":"A","fields":[]})",
                   R"({"type":"record","name":"B","fields":[]})", ""),
              IsOkAnd("{}"));
}

TEST(ResolveTest, UnionPrefersTheVeryTypeToAPromotion) {
  EXPECT_THAT(Read(R"("int")", R"(["double","int"])", B("\x02")), IsOkAnd("1"));
  EXPECT_THAT(Read(R"("int")", R"(["null","double","float"])", B("\x02")),
              IsOkAnd("d:3ff0000000000000"));
  const std::string a = R"({"type":"record","name":"A","fields":[{"name":"x","type":"int"}]})";
  const std::string b = R"({"type":"record","name":"B","fields":[{"name":"x","type":"long"}]})";
  EXPECT_THAT(Read(b, "[" + a + "," + b + "]", B("\x02")), IsOkAnd("{x=1}"));
  ASSERT_OK_ASSIGN(const auto writer, Schema::Parse(b));
  ASSERT_OK_ASSIGN(const auto reader, Schema::Parse("[" + a + "," + b + "]"));
  ASSERT_OK_ASSIGN(const auto resolution, Resolution::Make(writer, reader));
  ASSERT_OK_ASSIGN(const auto value, resolution.Open(B("\x02")));
  EXPECT_EQ(value.branch(), 1U);
  EXPECT_EQ(value.type().name, "B");
}

TEST(ResolveTest, UnreadableBranchIsAnErrorOnlyForTheValueThatHasIt) {
  const std::string writer = R"(["null","string","int"])";
  EXPECT_THAT(Read(writer, R"("long")", B("\x04\x02")), IsOkAnd("1"));
  EXPECT_THAT(Read(writer, R"("long")", B("\x00")),
              IsError(ErrorKind::kUnsupported, HasSubstr("writer=null reader=long")));
}

TEST(ResolveTest, UnknownEnumSymbolTakesTheDefaultOrIsUnsupported) {
  const std::string writer = R"({"type":"enum","name":"E","symbols":["A","B"]})";
  const std::string reader = R"({"type":"enum","name":"E","symbols":["B","C"]})";
  const std::string lenient = R"({"type":"enum","name":"E","symbols":["B","C"],"default":"C"})";
  EXPECT_THAT(Read(writer, reader, B("\x02")), IsOkAnd("e:B"));
  EXPECT_THAT(Read(writer, reader, B("\x00")),
              IsError(ErrorKind::kUnsupported, HasSubstr("symbol=A enum=E")));
  EXPECT_THAT(Read(writer, lenient, B("\x00")), IsOkAnd("e:C"));
}

TEST(ResolveTest, RecursiveSchemasResolve) {
  const std::string writer = R"({"type":"record","name":"L","fields":[
      {"name":"v","type":"int"},{"name":"next","type":["null","L"]}]})";
  const std::string reader = R"({"type":"record","name":"L","fields":[
      {"name":"next","type":["L","null"]},{"name":"v","type":"long"},
      {"name":"more","type":"string","default":"d"}]})";
  EXPECT_THAT(Read(writer, reader, B("\x02\x02\x04\x00")),
              IsOkAnd("{next={next=null,v=2,more=s:64},v=1,more=s:64}"));
}

TEST(ResolveTest, BadDefaultIsCorruptOnlyWhereItIsNeeded) {
  const std::string reader = R"({"type":"record","name":"R","fields":[
      {"name":"a","type":"int","default":"x"}]})";
  EXPECT_THAT(Read(R"({"type":"record","name":"R","fields":[{"name":"a","type":"int"}]})", reader,
                   B("\x02")),
              IsOkAnd("{a=1}"));
  EXPECT_THAT(Read(R"({"type":"record","name":"R","fields":[]})", reader, ""),
              IsError(ErrorKind::kCorrupt, HasSubstr("path=$.a: avro default does not fit")));
}

TEST(ResolveTest, SchemasThatMultiplyAreExhausted) {
  // Two rings of records of coprime length meet in as many pairs as their product.
  const auto ring = [](int length) {
    std::string json = R"("R0")";
    for (int i = length - 1; i >= 0; --i) {
      json = R"({"type":"record","name":"R)" + std::to_string(i) +
             R"(","fields":[{"name":"next","type":["null",)" + json + "]}]}";
    }
    return json;
  };
  EXPECT_THAT(Read(ring(3), ring(2), B("\x02\x02\x02\x02\x00")), IsOk());
  EXPECT_THAT(Read(ring(41), ring(40), B("\x00")),
              IsError(ErrorKind::kExhausted, HasSubstr("too large to resolve")));
}

TEST(ResolveTest, AskingForAnotherTypeIsUnsupported) {
  ASSERT_OK_ASSIGN(const auto schema, Schema::Parse("\"int\""));
  ASSERT_OK_ASSIGN(const auto resolution, Resolution::Make(schema, schema));
  ASSERT_OK_ASSIGN(const auto value, resolution.Open(B("\x02")));
  bool truth = false;
  EXPECT_THAT(value.Boolean(truth), IsError(ErrorKind::kUnsupported, HasSubstr("wanted=boolean")));
  EXPECT_THAT(value.String(), IsError(ErrorKind::kUnsupported, HasSubstr("type=int")));
  EXPECT_THAT(value.Double(), IsError(ErrorKind::kUnsupported, HasSubstr("type=int")));
  EXPECT_FALSE(value.OpenItems().has_value());
  EXPECT_FALSE(value.ReadFields({}).has_value());
}

}  // namespace
}  // namespace tidemark::lake::avro
