#include "app/sink_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "app/config.h"
#include "support/config_file.h"

namespace tidemark::app {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;
using namespace std::chrono_literals;

constexpr const char* kSecret = "s3cr3t-token";
constexpr const char* kBegin =
    "clusters: { main: { bootstrap_servers: \"b:9092\" } }\nmirror:\n  sinks:\n";

class SinkConfigTest : public testing::Test {
 protected:
  LoadedConfig Load(const std::string& sinks) const { return file_.Load(kBegin + sinks); }
  SinksConfig Good(const std::string& sinks) const {
    return file_.Good(kBegin + sinks).mirror.value_or(MirrorConfig{}).sinks;
  }
  /// Lines from the list's first entry.
  std::vector<std::string> Mistakes(const std::string& sinks) const {
    return file_.Mistakes(kBegin + sinks, 3);
  }

  support::ConfigFile file_{{{"TOKEN", kSecret}}};
};

TEST_F(SinkConfigTest, EachKindIsReadWithItsDefaults) {
  const auto sinks = Good(R"(
    - hive: { uris: [ "thrift://a", "thrift://b:9999" ], database: lake, when_refused: recreate }
    - glue: { region: eu-west-1, requests_per_second: 3, merge_on_read: snapshot }
    - trino: { url: "https://t:8443", catalog: lake }
    - presto: { url: "http://p", catalog: hive, user: me }
    - starrocks: { host: sr, user: u, password: "${env:TOKEN}", catalog: lake, retry_most: 10s }
    - doris: { host: d, port: 9031, catalog: lake, tls: true, timeout: 20s }
    - webhook: { url: "http://h/x", batch: 100, headers: { X-Key: "${env:TOKEN}" } }
    - openlineage: { url: "http://m:5000", tables: [ "db.*" ] }
)");
  ASSERT_THAT(sinks.sinks, SizeIs(8));
  const auto& hive = std::get<sink::HiveSinkOptions>(sinks.sinks[0].target);
  EXPECT_THAT(hive.hive.addresses,
              ElementsAre(sink::HiveAddress{"a", 9083}, sink::HiveAddress{"b", 9999}));
  EXPECT_EQ(hive.hive.connections, 4U);
  EXPECT_EQ(hive.catalog.stamping, sink::Stamping::kEachUpdate);
  EXPECT_EQ(hive.catalog.when_refused, sink::WhenRefused::kRecreate);
  EXPECT_EQ(hive.catalog.naming.database, "lake");
  EXPECT_EQ(sinks.sinks[0].name, "hive");
  EXPECT_EQ(sinks.sinks[0].back_off.first, 1s);
  EXPECT_EQ(sinks.sinks[0].back_off.most, 60s);
  const auto& glue = std::get<sink::GlueSinkOptions>(sinks.sinks[1].target);
  EXPECT_EQ(glue.catalog.stamping, sink::Stamping::kWithChanges);
  EXPECT_EQ(glue.catalog.naming.merge_on_read, sink::MergeOnReadTables::kSnapshot);
  EXPECT_EQ(glue.glue.rate.most, 3);
  EXPECT_EQ(std::get<sink::TrinoSinkOptions>(sinks.sinks[2].target).trino.user, "tidemark");
  EXPECT_EQ(std::get<sink::TrinoSinkOptions>(sinks.sinks[3].target).refresh.dialect,
            sink::RefreshDialect::kPresto);
  EXPECT_EQ(std::get<sink::MysqlSinkOptions>(sinks.sinks[4].target).mysql.password, kSecret);
  EXPECT_EQ(std::get<sink::MysqlSinkOptions>(sinks.sinks[4].target).mysql.port, 9030);
  EXPECT_EQ(std::get<sink::MysqlSinkOptions>(sinks.sinks[5].target).refresh.dialect,
            sink::RefreshDialect::kDoris);
  EXPECT_EQ(sinks.sinks[5].timeout, 20s);
  EXPECT_EQ(std::get<sink::EventSinkOptions>(sinks.sinks[6].target).batch, 100U);
  EXPECT_THAT(sinks.sinks[7].tables, ElementsAre("db.*"));
  EXPECT_THAT(sinks.hidden.Hide(std::string("x ") + kSecret), Not(HasSubstr(kSecret)));
}

TEST_F(SinkConfigTest, EveryMistakeIsReportedAtOnceWithItsPlace) {
  EXPECT_THAT(
      Mistakes(R"(    - hve: {}
    - hive: { uris: [ "http://x" ], databse: a }
    - hive: { name: second, password: x }
    - glue: { at_once: 0, merge_on_read: all }
    - trino: { url: "ftp://x" }
    - starrocks: { catalog: c, ca_file: x, retry_first: 1m, retry_most: 1s }
    - webhook: { url: "http://h", headers: { "a b": c } }
    - webhook: { url: "http://h" }
    - {}
    - { glue: {}, hive: {} }
)"),
      ElementsAre(
          HasSubstr("mirror.sinks[0]: unknown key 'hve', did you mean 'hive'?"),
          HasSubstr("mirror.sinks[1].hive.uris: an address such as thrift://"),
          HasSubstr("mirror.sinks[1].hive: unknown key 'databse', did you mean 'database'?"),
          HasSubstr("mirror.sinks[2].hive.uris: an address such as thrift://"),
          HasSubstr("mirror.sinks[2].hive.password: a user is wanted beside it"),
          HasSubstr("mirror.sinks[3].glue.at_once: "),
          HasSubstr("mirror.sinks[3].glue.merge_on_read: one of both, snapshot"),
          HasSubstr("mirror.sinks[4].trino.catalog: the engine's name"),
          HasSubstr("mirror.sinks[4].trino.url: a URL that begins"),
          HasSubstr("mirror.sinks[5].starrocks.host: the name of a host"),
          HasSubstr("mirror.sinks[5].starrocks.ca_file: says nothing without tls"),
          HasSubstr("mirror.sinks[5].starrocks.retry_most: is less than"),
          HasSubstr("mirror.sinks[6].webhook.headers: 'a b' is no name of a header"),
          HasSubstr("mirror.sinks[7].webhook: there is a sink 'webhook' already"),
          HasSubstr("mirror.sinks[8]: the kind of sink is wanted"),
          HasSubstr("mirror.sinks[9]: hive and glue are two sinks")));
}

TEST_F(SinkConfigTest, AMistakeDoesNotRepeatWhatWasHidden) {
  for (const std::string& mistake : Mistakes(R"(    - hive: { uris: "${env:TOKEN}" }
    - trino: { url: "${env:TOKEN}", catalog: c }
    - doris: { host: h, catalog: c, port: "${env:TOKEN}", password: "${env:NONE}" }
)"))
    EXPECT_THAT(mistake, Not(HasSubstr(kSecret)));
}

}  // namespace
}  // namespace tidemark::app
