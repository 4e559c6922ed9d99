#include "api/log_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "support/result_matchers.h"
#include "support/testdata.h"

namespace tidemark::api {
namespace {

using nlohmann::json;

json Shown(const std::string& file, const std::string& bytes) {
  const auto listing = lake::hudi::ListLog(bytes, Budget());
  EXPECT_THAT(listing, support::IsOk());
  return json::parse(LogJson(file, bytes.size(), *listing));
}

TEST(LogJsonTest, BlocksHaveTheirHeadersAndDeletes) {
  const auto shown = Shown("s3://lake/t/p/.a-0_20261130030825410.log.2_0-116-90",
                           support::ReadTestdata("hudi/logs/intact.log"));
  EXPECT_EQ(shown.at("schema"), "tidemark.log/1");
  EXPECT_EQ(shown.at("name").at("file_id"), "a-0");
  EXPECT_EQ(shown.at("name").at("version"), 2);
  EXPECT_EQ(shown.at("size"), 1991);
  EXPECT_EQ(shown.at("blocks"), 2);
  EXPECT_EQ(shown.at("sound"), true);
  const json& data = shown.at("entries").at(0);
  EXPECT_EQ(data.at("kind"), "AVRO_DATA");
  EXPECT_EQ(data.at("records"), 2);
  EXPECT_EQ(data.at("headers").at("BLOCK_IDENTIFIER"), "0,0");
  EXPECT_TRUE(json::accept(data.at("headers").at("SCHEMA").get<std::string>()));
  EXPECT_FALSE(data.contains("deletes"));
  const json& deletes = shown.at("entries").at(1);
  EXPECT_EQ(deletes.at("offset"), 1099);
  EXPECT_EQ(deletes.at("state"), "sound");
  EXPECT_EQ(deletes.at("reason"), nullptr);
  EXPECT_EQ(deletes.at("content_version"), 3);
  ASSERT_EQ(deletes.at("deletes").size(), 1u);
  EXPECT_EQ(deletes.at("deletes").at(0).at("ordering_type"), "LongWrapper");
}

TEST(LogJsonTest, DamageStandsWhereItIs) {
  const auto shown = Shown("x", support::ReadTestdata("hudi/logs/truncated_midfile.log"));
  EXPECT_EQ(shown.at("name"), nullptr);
  EXPECT_EQ(shown.at("sound"), false);
  ASSERT_EQ(shown.at("entries").size(), 3u);
  const json& damage = shown.at("entries").at(0);
  EXPECT_EQ(damage.at("state"), "damaged");
  EXPECT_EQ(damage.at("offset"), 0);
  EXPECT_EQ(damage.at("size"), shown.at("damaged_bytes"));
  EXPECT_FALSE(damage.contains("kind"));
  EXPECT_EQ(shown.at("entries").at(1).at("kind"), "AVRO_DATA");
}

}  // namespace
}  // namespace tidemark::api
