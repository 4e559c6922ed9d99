#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "api/json_writer_internal.h"

namespace tidemark::api {
namespace {

using namespace std::chrono_literals;

TEST(JsonWriterTest, CommasStandBetweenValuesOnly) {
  JsonWriter json;
  json.BeginObject();
  json.Key("a").BeginArray().EndArray();
  json.Key("b").BeginArray().Integer(1).Null().Bool(true).EndArray();
  json.Key("c").BeginObject().EndObject();
  json.Key("d").BeginObject().Key("x").Text("y").Key("z").Bool(false).EndObject();
  json.EndObject();
  EXPECT_EQ(json.text(), R"({"a":[],"b":[1,null,true],"c":{},"d":{"x":"y","z":false}})");
}

TEST(JsonWriterTest, AbsentValuesAreNull) {
  JsonWriter json;
  json.BeginArray();
  json.IntegerOrNull({}).TextOrNull({}).TimeOrNull({}).SecondsOrNull({}).DecimalOrNull({});
  json.IntegerOrNull(-7).TextOrNull("t").SecondsOrNull(1500ms).DecimalOrNull(0.5);
  json.TimeOrNull(WallTimeFromMillis(7)).EndArray();
  EXPECT_EQ(json.text(), R"([null,null,null,null,null,-7,"t",1.5,0.5,"1970-01-01T00:00:00.007Z"])");
}

TEST(JsonWriterTest, IntegersOfEverySizeKeepEveryDigit) {
  JsonWriter json;
  json.BeginArray();
  json.Integer(std::numeric_limits<int64_t>::min()).Integer(std::numeric_limits<int64_t>::max());
  json.EndArray();
  EXPECT_EQ(json.text(), "[-9223372036854775808,9223372036854775807]");
}

TEST(JsonWriterTest, EveryByteGivesValidJsonThatReadsBackTheSame) {
  for (int byte = 0; byte < 256; ++byte) {
    const std::string text = "<" + std::string(1, static_cast<char>(byte)) + ">";
    JsonWriter json;
    json.BeginObject().Key(text).Text(text).EndObject();
    const auto parsed = nlohmann::json::parse(json.text(), nullptr, false);
    ASSERT_FALSE(parsed.is_discarded()) << json.text();
    const std::string expected = byte < 0x80 ? text : "<\xEF\xBF\xBD>";
    EXPECT_EQ(parsed.begin().key(), expected);
    EXPECT_EQ(parsed.begin().value(), expected);
  }
}

}  // namespace
}  // namespace tidemark::api
