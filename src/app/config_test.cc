#include "app/config.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "support/config_file.h"
#include "support/result_matchers.h"

namespace tidemark::app {
namespace {

using support::IsError;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::UnorderedElementsAre;
using namespace std::chrono_literals;

class ConfigTest : public ::testing::Test {
 protected:
  ConfigTest() {
    file_.sources.check_property = [](const std::string& name, const std::string& value,
                                      auto visibility) -> Status {
      if (name.starts_with("sasl.") || name == "security.protocol") return {};
      if (name == "client.id" && visibility == kafka::client::ValueVisibility::kShown)
        return Fail(ErrorKind::kInvalidArgument, "not a client id value=" + value);
      return Fail(ErrorKind::kInvalidArgument, "no such property");
    };
    std::filesystem::create_directories(Path("pipelines.d"));
  }

  std::string Path(const std::string& name) const { return file_.PathOf(name); }
  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(Path(name)) << text;
  }
  LoadedConfig Load(const std::string& text) const { return file_.Load(text); }
  std::vector<std::string> Mistakes(const std::string& text) const { return file_.Mistakes(text); }

  support::ConfigFile file_{{{"KAFKA_PASSWORD", "s3cr3t"}}};
};

constexpr const char* kWhole = R"(
clusters:
  main:
    bootstrap_servers: "broker:9092"
    properties: { security.protocol: SASL_SSL, sasl.password: "${env:KAFKA_PASSWORD}" }
stores:
  lake: { match: "s3://lake/*", endpoint: null, region: eu-west-1, anonymous: false }
defaults:
  sla_minutes: { streaming: 45, batch: 2880 }
  max_commit_depth: 50
  lag_cap: 3d
  interval: 30s
pipelines:
  - name: orders
    table: s3://lake/orders
    cluster: main
    topic: orders
    mode: streaming
    slaInMinutes: 30
    isolation: read_committed
    labels: { team: payments }
    maintenance: [ "Sat 02:00-04:00 Europe/Berlin" ]
  - name: history
    table: s3://lake/history
    cluster: main
    mode: batch
  - name: clicks
    table: s3://lake/clicks
    sla: 90s
    max_commit_depth: 7
    disabled: true
feed: { cluster: main, tables: [ "s3://lake/*" ] }
exporters: [ {prometheus: {}} ]
http: { listen: "127.0.0.1:8080" }
state: { path: ./state }
coordination: { group: fleet, session_timeout: 20s }
)";

TEST_F(ConfigTest, TheContractsExampleIsRead) {
  const LoadedConfig loaded = Load(kWhole);
  ASSERT_TRUE(loaded.config.has_value()) << FormatMistake(loaded.mistakes.at(0));
  const Config& config = *loaded.config;
  EXPECT_EQ(config.clusters.at("main").options.bootstrap_servers, "broker:9092");
  EXPECT_THAT(config.clusters.at("main").options.properties,
              Contains(std::pair<std::string, std::string>("sasl.password", "s3cr3t")));
  ASSERT_EQ(config.pipelines.size(), 3U);
  const PipelineConfig& orders = config.pipelines[0];
  EXPECT_EQ(orders.spec.name, "orders");
  EXPECT_EQ(orders.spec.topic, "orders");
  EXPECT_EQ(orders.spec.sla, 30min);
  EXPECT_EQ(orders.spec.isolation, kafka::IsolationLevel::kReadCommitted);
  EXPECT_EQ(orders.spec.labels.at("team"), "payments");
  EXPECT_EQ(orders.spec.lag_cap, 72h);
  EXPECT_EQ(orders.commit_depth_max, 50);
  EXPECT_EQ(orders.interval, 30s);
  ASSERT_EQ(orders.maintenance.size(), 1U);
  const PipelineConfig& history = config.pipelines[1];
  EXPECT_EQ(history.spec.mode, freshness::Mode::kBatch);
  EXPECT_EQ(history.spec.sla, 2880min);
  EXPECT_EQ(history.spec.isolation, kafka::IsolationLevel::kReadUncommitted);
  const PipelineConfig& clicks = config.pipelines[2];
  EXPECT_EQ(clicks.spec.cluster, "main");  // the only one there is
  EXPECT_EQ(clicks.spec.sla, 90s);
  EXPECT_EQ(clicks.commit_depth_max, 7);
  EXPECT_TRUE(clicks.spec.is_disabled);
}

TEST_F(ConfigTest, StoreOptionsComeFromTheFirstMatch) {
  const LoadedConfig loaded = Load(kWhole);
  ASSERT_TRUE(loaded.config.has_value());
  EXPECT_EQ(StoreFor(*loaded.config, "s3://lake/orders").options.region, "eu-west-1");
  EXPECT_EQ(StoreFor(*loaded.config, "s3://other/orders").options.region, "");
}

TEST_F(ConfigTest, AClusterNamesTheClientThatAsksIt) {
  const LoadedConfig loaded = Load(R"(clusters:
  a: { bootstrap_servers: "a:9092" }
  b: { bootstrap_servers: "b:9092", client: librdkafka }
  c: { bootstrap_servers: "c:9092", client: wire }
)");
  ASSERT_TRUE(loaded.config.has_value()) << FormatMistake(loaded.mistakes.at(0));
  EXPECT_EQ(loaded.config->clusters.at("a").client, KafkaClient::kAuto);
  EXPECT_EQ(loaded.config->clusters.at("b").client, KafkaClient::kLibrdkafka);
  EXPECT_EQ(loaded.config->clusters.at("c").client, KafkaClient::kWire);
  EXPECT_THAT(Mistakes("clusters: { a: { bootstrap_servers: b, client: java } }"),
              ElementsAre(HasSubstr("clusters.a.client: one of auto, wire, librdkafka")));
}

TEST_F(ConfigTest, AClusterSaysWhetherItsRecordsMayBeRead) {
  const LoadedConfig loaded = Load(R"(clusters:
  a: { bootstrap_servers: "a:9092" }
  b: { bootstrap_servers: "b:9092", record_access: describe }
  c: { bootstrap_servers: "c:9092", record_access: fetch }
)");
  ASSERT_TRUE(loaded.config.has_value()) << FormatMistake(loaded.mistakes.at(0));
  using enum kafka::RecordAccess;
  EXPECT_EQ(loaded.config->clusters.at("a").options.record_access, kAuto);
  EXPECT_EQ(loaded.config->clusters.at("b").options.record_access, kDescribe);
  EXPECT_EQ(loaded.config->clusters.at("c").options.record_access, kFetch);
  EXPECT_THAT(Mistakes("clusters: { a: { bootstrap_servers: b, record_access: none } }"),
              ElementsAre(HasSubstr("clusters.a.record_access: one of auto, fetch, describe")));
}

TEST_F(ConfigTest, EveryMistakeIsReportedAtOnceWithItsPlaceAndTheNearestKey) {
  const auto mistakes = Mistakes(R"(clusters:
  main: { bootstrap_server: "broker:9092" }
pipelines:
  - name: orders
    tabel: s3://lake/orders
    cluster: mian
    sla_minutes: 30
  - name: orders
    table: s3://lake/x
    mode: stream
    slaInMinutes: 0
    maintenance: [ "Sat" ]
)");
  EXPECT_THAT(mistakes, Contains(HasSubstr("2:11: clusters.main: unknown key 'bootstrap_server', "
                                           "did you mean 'bootstrap_servers'?")));
  EXPECT_THAT(mistakes, Contains(HasSubstr("5:5: pipelines[0]: unknown key 'tabel', did you mean "
                                           "'table'?")));
  EXPECT_THAT(mistakes, Contains(HasSubstr("6:14: pipelines[0].cluster: there is no cluster "
                                           "'mian', did you mean 'main'?")));
  EXPECT_THAT(mistakes, Contains(HasSubstr("7:5: pipelines[0]: unknown key 'sla_minutes'")));
  EXPECT_THAT(mistakes, Contains(HasSubstr("8:11: pipelines[1].name: 'orders' is the name of")));
  EXPECT_THAT(mistakes, Contains(HasSubstr("10:11: pipelines[1].mode: one of streaming, batch")));
  EXPECT_THAT(mistakes, Contains(HasSubstr("11:19: pipelines[1].slaInMinutes: a whole number")));
  EXPECT_THAT(mistakes, Contains(HasSubstr("12:20: pipelines[1].maintenance: 'Sat' is not")));
}

TEST_F(ConfigTest, SecretsNeverReachAMistake) {
  Write("password", "t0ps3cr3t\n");
  const LoadedConfig loaded = Load(R"(
clusters:
  main:
    bootstrap_servers: b:1
    properties: { nonsense: "${env:KAFKA_PASSWORD}", also.wrong: "${file:password}" }
)");
  ASSERT_EQ(loaded.mistakes.size(), 2U);
  for (const auto& mistake : loaded.mistakes) {
    EXPECT_THAT(FormatMistake(mistake),
                AllOf(Not(HasSubstr("s3cr3t")), HasSubstr("no such property")));
  }
}

TEST_F(ConfigTest, AMistakeSaysWhereAValueCameFromAndNotTheValue) {
  const std::string cluster = "clusters: { main: { bootstrap_servers: b:1 } }\n";
  const struct {
    std::string config;
    const char* told;
  } cases[] = {
      {cluster + "pipelines: [ { name: a, table: /t, cluster: \"${env:KAFKA_PASSWORD}\" } ]",
       "there is no cluster '(from ${env:KAFKA_PASSWORD})'"},
      {cluster + "pipelines: [ { name: a, table: /t, sla: \"${env:KAFKA_PASSWORD}\" } ]",
       "a duration such as 90s is wanted, the value (from ${env:KAFKA_PASSWORD}) is none"},
      {cluster + "pipelines: [ { name: a, table: /t, lag_cap: \"7d${env:KAFKA_PASSWORD}\" } ]",
       "the value (from 7d${env:KAFKA_PASSWORD}) is none"},
      {cluster +
           "pipelines: [ { name: a, table: /t, maintenance: [ \"${env:KAFKA_PASSWORD}\" ] } ]",
       "the value (from ${env:KAFKA_PASSWORD}) is none"},
      {cluster + "pipelines: [ { name: a, table: \"s3://${env:KAFKA_PASSWORD}/../x\" } ]",
       "a table's path or URI is wanted, the value (from s3://${env:KAFKA_PASSWORD}/../x) is none"},
      {cluster + "pipelines: [ { name: \"${env:KAFKA_PASSWORD}\", table: /t }, "
                 "{ name: \"${env:KAFKA_PASSWORD}\", table: /t } ]",
       "'(from ${env:KAFKA_PASSWORD})' is the name of the pipeline at"},
      {"clusters: { a: { bootstrap_servers: \"b:1${env:KAFKA_PASSWORD}\" } }",
       "host:port[,host:port] is wanted, the value (from b:1${env:KAFKA_PASSWORD}) is none"},
      {"clusters: { a: { bootstrap_servers: b:1, properties: { client.id: "
       "\"${env:KAFKA_PASSWORD}\" } } }",
       "clusters.a.properties.client.id: no such property (from ${env:KAFKA_PASSWORD})"},
      {"pipelines: [ { include: \"${env:KAFKA_PASSWORD}.yaml\" } ]",
       "a file that can be read is wanted, the value (from ${env:KAFKA_PASSWORD}.yaml) is none"},
  };
  for (const auto& c : cases) {
    EXPECT_THAT(Mistakes(c.config), ElementsAre(AllOf(HasSubstr(c.told), Not(HasSubstr("s3cr3t")))))
        << c.config;
  }
}

TEST_F(ConfigTest, HiddenValuesAreKnownForMessagesToCome) {
  const LoadedConfig loaded = Load(R"(
clusters:
  main:
    bootstrap_servers: "${env:KAFKA_PASSWORD}:1, plain:2"
    properties: { sasl.password: "${env:KAFKA_PASSWORD}", sasl.username: somebody }
stores: { lake: { match: "*", endpoint: "http://${env:KAFKA_PASSWORD}" } }
)");
  ASSERT_TRUE(loaded.config.has_value()) << FormatMistake(loaded.mistakes.at(0));
  const auto& cluster = loaded.config->clusters.at("main");
  EXPECT_THAT(cluster.hidden.Hide("s3cr3t:1 refused somebody with s3cr3t"),
              AllOf(Not(HasSubstr("s3cr3t")), HasSubstr("somebody"),
                    HasSubstr("(from ${env:KAFKA_PASSWORD})")));
  EXPECT_THAT(StoreFor(*loaded.config, "s3://x").hidden.Hide("http://s3cr3t refused"),
              Not(HasSubstr("s3cr3t")));
}

TEST_F(ConfigTest, StoresOfGoogleAndAzureHaveTheirOwnKeys) {
  const LoadedConfig loaded = Load(R"(
stores:
  google: { match: "gs://*", credentials_file: keys/lake.json }
  azure: { match: "abfss://*", account_key: "YQ==" }
  shared: { match: "az://*", sas_token: "?sv=1&sig=x" }
)");
  ASSERT_TRUE(loaded.config.has_value()) << FormatMistake(loaded.mistakes.at(0));
  EXPECT_TRUE(
      StoreFor(*loaded.config, "gs://b/t").options.credentials_file.ends_with("/keys/lake.json"));
  EXPECT_TRUE(StoreFor(*loaded.config, "gs://b/t").options.credentials_file.starts_with("/"))
      << "relative to the file";
  EXPECT_EQ(StoreFor(*loaded.config, "abfss://c@a/t").options.account_key, "YQ==");
  EXPECT_EQ(StoreFor(*loaded.config, "az://c/t").options.sas_token, "?sv=1&sig=x");
}

TEST_F(ConfigTest, ASecretOfAStoreThatCannotBeOneIsNotRepeated) {
  EXPECT_THAT(Mistakes("stores: { a: { match: x, account_key: s3cr3t! } }"),
              ElementsAre(AllOf(HasSubstr("1:39: stores.a.account_key"), HasSubstr("not base64"),
                                Not(HasSubstr("s3cr3t")))));
  EXPECT_THAT(Mistakes("stores: { a: { match: x, sas_token: \"s3cr3t token\" } }"),
              ElementsAre(AllOf(HasSubstr("sas_token"), Not(HasSubstr("s3cr3t")))));
  EXPECT_THAT(Mistakes("stores: { a: { match: x, acount_key: YQ== } }"),
              ElementsAre(HasSubstr("account_key")));
}

TEST_F(ConfigTest, ANulByteEndsNoValueSilently) {
  EXPECT_THAT(Mistakes("clusters: { a: { bootstrap_servers: \"b:1\\0,c:2\" } }"),
              ElementsAre(HasSubstr("a NUL byte cannot be part of a value")));
}

TEST_F(ConfigTest, AWrongValueThatIsNoSecretIsNamed) {
  EXPECT_THAT(Mistakes("clusters: { a: { bootstrap_servers: b:1, properties: { client.id: x } } }"),
              ElementsAre(HasSubstr("not a client id value=x")));
}

TEST_F(ConfigTest, FileReferencesAreRelativeAndLoseTheirLineEnd) {
  Write("password", "t0ps3cr3t\n");
  const LoadedConfig loaded = Load(R"(
clusters: { main: { bootstrap_servers: b:1, properties: { sasl.password: "${file:password}" } } }
)");
  ASSERT_TRUE(loaded.config.has_value());
  EXPECT_EQ(loaded.config->clusters.at("main").options.properties[0].second, "t0ps3cr3t");
}

TEST_F(ConfigTest, ReferencesThatLeadNowhereAreMistakes) {
  EXPECT_THAT(Mistakes("clusters: { a: { bootstrap_servers: \"${env:NOT_SET}\" } }"),
              ElementsAre("1:37: clusters.a.bootstrap_servers: the environment variable NOT_SET is "
                          "not set"));
  EXPECT_THAT(Mistakes("clusters: { a: { bootstrap_servers: \"${file:none}\" } }"),
              ElementsAre(HasSubstr("none' cannot be read: No such file or directory")));
  EXPECT_THAT(Mistakes("clusters: { a: { bootstrap_servers: \"${vault:x}\" } }"),
              ElementsAre(HasSubstr("is neither ${env:NAME} nor ${file:PATH}")));
  EXPECT_THAT(Mistakes("clusters: { a: { bootstrap_servers: \"${env:X\" } }"),
              ElementsAre(HasSubstr("without its '}'")));
}

TEST_F(ConfigTest, TextThatMustBeThereIsReportedOnceWhateverIsWrongWithIt) {
  EXPECT_THAT(Mistakes("clusters: { a: { bootstrap_servers: null } }"),
              ElementsAre(HasSubstr("host:port[,host:port] is wanted")));
  EXPECT_THAT(Mistakes("clusters: { a: { bootstrap_servers: \"\" } }"),
              ElementsAre(HasSubstr("host:port[,host:port] is wanted")));
  EXPECT_THAT(Mistakes("clusters: { a: { bootstrap_servers: \"b:99999\" } }"),
              ElementsAre("1:37: clusters.a.bootstrap_servers: not a broker address, host:port is "
                          "wanted entry='b:99999'"));
  EXPECT_THAT(Mistakes("stores: { a: { match: \"${env:NOT_SET}\" } }"),
              ElementsAre(HasSubstr("NOT_SET is not set")));
  EXPECT_THAT(Mistakes("clusters: { a: { bootstrap_servers: \"b:1\" } }\n"
                       "pipelines: [ { name: \"${env:NOT_SET}\", table: \"${env:NOT_SET}\" } ]"),
              ElementsAre(HasSubstr("name: the environment variable NOT_SET is not set"),
                          HasSubstr("table: the environment variable NOT_SET is not set")));
}

TEST_F(ConfigTest, IncludesAreReadInOrderOfTheirNames) {
  Write("pipelines.d/b.yaml", "- { name: b, table: /lake/b }\n");
  Write("pipelines.d/a.yaml", "pipelines:\n  - { name: a, table: /lake/a }\n");
  const LoadedConfig loaded = Load(R"(
clusters: { main: { bootstrap_servers: b:1 } }
pipelines:
  - { name: first, table: /lake/first }
  - include: pipelines.d/*.yaml
)");
  ASSERT_TRUE(loaded.config.has_value()) << FormatMistake(loaded.mistakes.at(0));
  std::vector<std::string> names;
  for (const auto& pipeline : loaded.config->pipelines) names.push_back(pipeline.spec.name);
  EXPECT_THAT(names, ElementsAre("first", "a", "b"));
}

TEST_F(ConfigTest, MistakesInIncludesNameTheIncludedFile) {
  Write("pipelines.d/a.yaml", "- { name: a, tables: /lake/a }\n");
  const LoadedConfig loaded = Load(
      "clusters: { main: { bootstrap_servers: b:1 } }\npipelines: [ { include: pipelines.d/a.yaml "
      "} ]");
  ASSERT_FALSE(loaded.mistakes.empty());
  EXPECT_EQ(loaded.mistakes[0].file, Path("pipelines.d/a.yaml"));
}

TEST_F(ConfigTest, ACycleOfIncludesIsToldOnce) {
  Write("pipelines.d/a.yaml", "- { name: a, tabel: /t }\n- { include: b.yaml }\n");
  Write("pipelines.d/b.yaml", "- { include: ../pipelines.d/./a.yaml }\n");
  EXPECT_THAT(
      Mistakes("clusters: { m: { bootstrap_servers: b:1 } }\n"
               "pipelines: [ { include: pipelines.d/a.yaml } ]"),
      ElementsAre(HasSubstr("table's path or URI is wanted"), HasSubstr("did you mean 'table'"),
                  AllOf(HasSubstr("include: a cycle: "), HasSubstr("a.yaml -> "),
                        HasSubstr("b.yaml -> "))));
  Write("pipelines.d/b.yaml", "- { include: ../tidemark.yaml }\n");
  Write("pipelines.d/a.yaml", "- { include: b.yaml }\n");
  EXPECT_THAT(Mistakes("pipelines: [ { include: pipelines.d/a.yaml } ]"),
              ElementsAre(HasSubstr("a cycle")));
}

TEST_F(ConfigTest, AFileThatIsIncludedTwiceIsToldOnceAndNotForEachOfItsPipelines) {
  Write("pipelines.d/a.yaml", "- { name: a, table: /t }\n- { name: b, table: /t }\n");
  EXPECT_THAT(Mistakes("clusters: { m: { bootstrap_servers: b:1 } }\npipelines:\n"
                       "  - include: pipelines.d/*.yaml\n  - include: pipelines.d/a.yaml\n"),
              ElementsAre(AllOf(HasSubstr("4:14: include: "), HasSubstr("is included at "),
                                HasSubstr("tidemark.yaml:3 already"))));
}

TEST_F(ConfigTest, AChainOfIncludesHasAnEnd) {
  for (int i = 0; i < 12; ++i) {
    Write("pipelines.d/" + std::to_string(i) + ".yaml",
          "- { include: " + std::to_string(i + 1) + ".yaml }\n");
  }
  EXPECT_THAT(Mistakes("pipelines: [ { include: pipelines.d/0.yaml } ]"),
              ElementsAre(HasSubstr("more than 8 files deep")));
}

TEST_F(ConfigTest, AMissingIncludeIsAMistakeAndAnEmptyPatternIsNot) {
  EXPECT_THAT(Mistakes("pipelines: [ { include: none.yaml } ]"),
              ElementsAre(HasSubstr("none.yaml' cannot be read: No such file or directory")));
  EXPECT_THAT(Mistakes("pipelines: [ { include: none.d/*.yaml } ]"),
              ElementsAre(HasSubstr("none.d' cannot be read: No such file or directory")));
  EXPECT_THAT(Mistakes("pipelines: [ { include: pipelines.d } ]"),
              ElementsAre(HasSubstr("pipelines.d' cannot be read: Is a directory")));
  EXPECT_THAT(Mistakes("pipelines: [ { include: pipelines.d/*.yaml } ]"), ElementsAre());
}

TEST_F(ConfigTest, BrokenYamlIsAMistakeWithItsPlace) {
  EXPECT_THAT(Mistakes("clusters: [\n"), ElementsAre(HasSubstr("not valid YAML")));
  EXPECT_THAT(Mistakes("a: b: c"), ElementsAre(HasSubstr("not valid YAML")));
}

TEST_F(ConfigTest, WrongShapesAreMistakesNotCrashes) {
  for (const char* text :
       {"[]", "5", "clusters: []", "clusters: { a: 5 }", "stores: 7", "defaults: []",
        "defaults: { sla_minutes: 5 }", "pipelines: {}", "pipelines: [ 5 ]", "pipelines: [ [] ]",
        "clusters: { a: { bootstrap_servers: [x] } }", "clusters: { [a]: {} }",
        "clusters: { a: { bootstrap_servers: x, properties: [ y ] } }",
        "clusters: { a: { bootstrap_servers: x, properties: { y: } } }",
        "pipelines: [ { name: {}, table: [] } ]", "? [a]\n: b",
        "clusters: { a: { bootstrap_servers: x, bootstrap_servers: y } }"}) {
    EXPECT_FALSE(Load(text).mistakes.empty()) << text;
  }
}

TEST_F(ConfigTest, AClusterOrStoreThatIsGivenTwiceIsAMistake) {
  EXPECT_THAT(Mistakes("clusters:\n  a: { bootstrap_servers: b:1 }\n"
                       "  a: { bootstrap_servers: c:1 }\n"),
              ElementsAre("3:3: clusters: 'a' is given twice"));
  EXPECT_THAT(Mistakes("stores: { s: { match: a }, s: { match: b } }"),
              ElementsAre("1:28: stores: 's' is given twice"));
  EXPECT_THAT(Mistakes("clusters: { [a]: { bootstrap_servers: b:1 } }"),
              ElementsAre(HasSubstr("clusters: a name must be a word")));
}

TEST_F(ConfigTest, NestingWithoutEndIsAMistake) {
  EXPECT_THAT(Mistakes(std::string(100'000, '[')), ElementsAre(HasSubstr("nested too deeply")));
}

TEST_F(ConfigTest, AWrongValueIsNamedAndCutWhereItIsEndless) {
  EXPECT_THAT(Mistakes("defaults: { max_commit_depth: many }"),
              ElementsAre(HasSubstr("a whole number from 0 to 1000000 is wanted, not 'many'")));
  EXPECT_THAT(Mistakes("clusters: { m: { bootstrap_servers: b:1 } }\n"
                       "pipelines: [ { name: p, table: /t, disabled: yes, mode: hourly } ]"),
              ElementsAre(HasSubstr("true or false is wanted, not 'yes'"),
                          HasSubstr("one of streaming, batch is wanted, not 'hourly'")));
  const auto endless = Mistakes("defaults: { lag_cap: " + std::string(1'000'000, 'x') + " }");
  ASSERT_EQ(endless.size(), 1U);
  EXPECT_LT(endless[0].size(), 1100U);
}

TEST_F(ConfigTest, ADurationThatIsTooShortToMeanAnythingIsAMistake) {
  const std::string cluster = "clusters: { m: { bootstrap_servers: b:1 } }\n";
  const struct {
    std::string given;
    const char* told;
  } cases[] = {
      {"defaults: { interval: 0s }",
       "2:23: defaults.interval: a duration from 100ms to 366d is wanted, not '0s'"},
      {"defaults: { interval: 99ms }", "a duration from 100ms to 366d is wanted, not '99ms'"},
      {"defaults: { interval: 367d }", "a duration from 100ms to 366d is wanted, not '367d'"},
      {"defaults: { interval: \"${env:NONE}\" }",
       "a duration from 100ms to 366d is wanted, not '(from ${env:NONE})'"},
      {"defaults: { lag_cap: 0h }",
       "defaults.lag_cap: a duration of at least 1ms is wanted, not '0h'"},
      {"pipelines: [ { name: p, table: /t, interval: 0.2ms } ]",
       "2:46: pipelines[0].interval: a duration from 100ms to 366d is wanted, not '0.2ms'"},
      {"pipelines: [ { name: p, table: /t, lag_cap: 0s } ]",
       "pipelines[0].lag_cap: a duration of at least 1ms is wanted, not '0s'"},
      {"pipelines: [ { name: p, table: /t, sla: 0s } ]",
       "pipelines[0].sla: a duration of at least 1ms is wanted, not '0s'"},
  };
  file_.sources.environment = [](const std::string&) { return "0s"; };
  for (const auto& [given, told] : cases)
    EXPECT_THAT(Mistakes(cluster + given), ElementsAre(HasSubstr(told))) << given;
  for (const char* given :
       {"interval: 100ms", "interval: 366d", "lag_cap: 1ms", "sla: 1ms", "retention_margin: 0s"})
    EXPECT_THAT(Mistakes(cluster + "pipelines: [ { name: p, table: /t, " + given + " } ]"),
                testing::IsEmpty())
        << given;
}

TEST_F(ConfigTest, AFileThatIsWrittenWhileItIsReadShowsAsChanged) {
  const std::string text =
      "clusters: { m: { bootstrap_servers: \"${env:SERVERS}\" } }\n"
      "pipelines: [ { include: pipelines.d/a.yaml }, { include: pipelines.d/b.yaml } ]\n";
  Write("pipelines.d/a.yaml", "- { name: a, table: /t }");
  Write("pipelines.d/b.yaml", "- { name: b, table: /t }");
  std::string written;
  file_.sources.environment = [&](const std::string&) {  // asked for in the middle of reading
    if (!written.empty()) Write(written, "[]");
    return "b:1";
  };
  const LoadedConfig quiet = Load(text);
  ASSERT_TRUE(quiet.config.has_value());
  EXPECT_EQ(quiet.files.Now(), quiet.files);
  EXPECT_EQ(quiet.config->files, quiet.files);
  written = "tidemark.yaml";
  const LoadedConfig busy = Load(text);
  EXPECT_NE(busy.files.Now(), busy.files);
  EXPECT_EQ(busy.config->files, busy.files);
}

TEST_F(ConfigTest, ANulByteInAFileIsAMistakeWithItsPlace) {
  using namespace std::string_literals;
  const std::string cluster = "clusters: { m: { bootstrap_servers: b:1 } }\n";
  EXPECT_THAT(Mistakes(cluster + "pipelines:\n - { name: a\0b, table: /t }\n"s),
              ElementsAre("3:13: a NUL byte: the file is damaged, or no text"));
  EXPECT_THAT(Mistakes("# äö\0"s), ElementsAre(HasSubstr("1:5: a NUL byte")));
  EXPECT_THAT(Mistakes(cluster + "\0"s), ElementsAre(HasSubstr("2:1: a NUL byte")));
  Write("pipelines.d/a.yaml", "- { name: a, table: /t }\n#\0"s);
  EXPECT_THAT(Mistakes(cluster + "pipelines: [ { include: pipelines.d/a.yaml } ]"),
              ElementsAre(HasSubstr("2:2: a NUL byte")));
}

TEST_F(ConfigTest, Utf16IsReadButForItsNuls) {
  for (const bool is_big : {true, false}) {
    const auto utf16 = [&](const std::string& text) {
      std::string wide = is_big ? "\xFE\xFF" : "\xFF\xFE";
      for (const char c : text) wide += is_big ? std::string{'\0', c} : std::string{c, '\0'};
      return wide;
    };
    const std::string text = "clusters: { m: { bootstrap_servers: b:1 } }\npipelines: []\n";
    EXPECT_THAT(Mistakes(utf16(text)), testing::IsEmpty());
    EXPECT_THAT(Mistakes(utf16(text + '\0')), ElementsAre(HasSubstr("3:1: a NUL byte")));
  }
}

TEST_F(ConfigTest, AFileThatComesToAnIncludedFolderShows) {
  const LoadedConfig loaded = Load(
      "clusters: { m: { bootstrap_servers: b:1 } }\n"
      "pipelines: [ { include: pipelines.d/*.yaml } ]\n");
  EXPECT_EQ(loaded.files.Now(), loaded.files);
  Write("pipelines.d/notes.txt", "");
  EXPECT_EQ(loaded.files.Now(), loaded.files);
  Write("pipelines.d/a.yaml", "- { name: a, table: /t }");
  EXPECT_NE(loaded.files.Now(), loaded.files);
}

TEST_F(ConfigTest, AFileWithAMistakeShowsWhenItIsMended) {
  for (const std::string include : {"pipelines.d/a.yaml", "pipelines.d/none.yaml"}) {
    Write("pipelines.d/a.yaml", "- { name: a, tabel: /t }");
    const LoadedConfig loaded = Load(
        "clusters: { m: { bootstrap_servers: b:1 } }\n"
        "pipelines: [ { include: " +
        include + " } ]\n");
    ASSERT_FALSE(loaded.config.has_value());
    EXPECT_EQ(loaded.files.Now(), loaded.files);
    Write(include, "- { name: a, table: /t, sla: 30m }");
    EXPECT_NE(loaded.files.Now(), loaded.files) << include;
  }
}

TEST_F(ConfigTest, AnEmptyFileIsAnEmptyConfiguration) {
  const LoadedConfig loaded = Load("");
  ASSERT_TRUE(loaded.config.has_value());
  EXPECT_TRUE(loaded.config->pipelines.empty());
}

TEST_F(ConfigTest, ASecondDocumentIsAMistakeNotLeftOut) {
  EXPECT_THAT(Mistakes("pipelines: []\n---\npipelines: []\n"),
              ElementsAre(HasSubstr("a second YAML document")));
}

TEST_F(ConfigTest, APipeIsNotWaitedFor) {
  ASSERT_EQ(mkfifo(Path("pipe.yaml").c_str(), 0600), 0);
  EXPECT_THAT(Mistakes("pipelines: [ { include: pipe.yaml } ]"),
              ElementsAre(HasSubstr("cannot be read: it is no regular file")));
  EXPECT_THAT(
      Mistakes("clusters: { a: { bootstrap_servers: \"${file:" + Path("pipe.yaml") + "}\" } }"),
      Contains(HasSubstr("cannot be read")));
}

TEST_F(ConfigTest, AMissingFileIsOneMistake) {
  const LoadedConfig loaded = LoadConfig(Path("none.yaml"), file_.sources);
  ASSERT_EQ(loaded.mistakes.size(), 1U);
  EXPECT_THAT(loaded.mistakes[0].message, HasSubstr("cannot be read: No such file or directory"));
}

TEST_F(ConfigTest, AMistakeIsOneLineWhateverTheFileHolds) {
  const auto loaded = Load("\"a\\nb\\u001b[2J\": 1\n");
  ASSERT_EQ(loaded.mistakes.size(), 1U);
  EXPECT_THAT(FormatMistake(loaded.mistakes[0]),
              AllOf(HasSubstr("a\\x0ab\\x1b[2J"), Not(HasSubstr("\n"))));
}

TEST_F(ConfigTest, ANameThatIsNoUtf8IsAMistake) {
  Write("name", "caf\xE9");
  EXPECT_THAT(Mistakes("clusters: { m: { bootstrap_servers: b:1 } }\n"
                       "pipelines: [ { name: \"${file:name}\", table: /t } ]"),
              ElementsAre(HasSubstr("the name is no valid UTF-8")));
}

TEST_F(ConfigTest, EveryTruncationIsReadOrRefusedWithoutACrash) {
  const std::string text = kWhole;
  for (size_t size = 0; size < text.size(); ++size) {
    const LoadedConfig loaded = Load(text.substr(0, size));
    EXPECT_EQ(loaded.config.has_value(), loaded.mistakes.empty()) << size;
  }
}

TEST_F(ConfigTest, EveryFlippedByteIsReadOrRefusedWithoutACrash) {
  for (const int flip : {0x01, 0x20, 0x80, 0xFF}) {
    std::string text = kWhole;
    for (char& byte : text) {
      const char kept = byte;
      byte = static_cast<char>(byte ^ flip);
      const LoadedConfig loaded = Load(text);
      EXPECT_EQ(loaded.config.has_value(), loaded.mistakes.empty()) << text;
      byte = kept;
    }
  }
}

TEST_F(ConfigTest, WhatRulesNeedComesFromThePipelineTheDefaultsOrTheSla) {
  const std::string clusters = "clusters: { main: { bootstrap_servers: b:1 } }\n";
  const auto read = [&](const std::string& text) {
    const LoadedConfig loaded = Load(clusters + text);
    EXPECT_THAT(loaded.mistakes, testing::IsEmpty());
    return loaded.config->pipelines;
  };
  const auto plain = read(
      "pipelines:\n  - { name: a, table: /a, sla: 30m }\n  - { name: b, table: /b, mode: batch "
      "}\n");
  EXPECT_EQ(plain[0].objective_ppm, 990'000);
  EXPECT_EQ(plain[0].retention_margin, 6h);
  EXPECT_EQ(plain[1].retention_margin, 24h) << "its SLA, which is longer";
  const auto given = read(
      "defaults: { objective: 95, retention_margin: 2h }\n"
      "pipelines:\n  - { name: a, table: /a }\n"
      "  - { name: b, table: /b, objective: 99.95, retention_margin: 90m }\n");
  EXPECT_EQ(given[0].objective_ppm, 950'000);
  EXPECT_EQ(given[0].retention_margin, 2h);
  EXPECT_EQ(given[1].objective_ppm, 999'500);
  EXPECT_EQ(given[1].retention_margin, 90min);
}

TEST_F(ConfigTest, AnObjectiveIsAPercentageBetweenNothingAndEverything) {
  const auto objective = [&](const std::string& text) -> std::optional<int64_t> {
    const LoadedConfig loaded = Load(
        "clusters: { main: { bootstrap_servers: b:1 } }\n"
        "pipelines: [ { name: a, table: /a, objective: \"" +
        text + "\" } ]\n");
    if (!loaded.config) {
      EXPECT_THAT(loaded.mistakes.front().message, HasSubstr("a percentage between 0 and 100"));
      return std::nullopt;
    }
    return loaded.config->pipelines[0].objective_ppm;
  };
  EXPECT_EQ(objective("99"), 990'000);
  EXPECT_EQ(objective("99%"), 990'000);
  EXPECT_EQ(objective("99.0"), 990'000);
  EXPECT_EQ(objective("99.9999"), 999'999);
  EXPECT_EQ(objective("0.0001"), 1);
  for (const char* wrong : {"0", "0.0", "100", "100.0", "101", "99.99999", "-1", "99.", ".5", "%",
                            "9 9", "nan", "9.9.9", "99999999999999999999", "+5"})
    EXPECT_EQ(objective(wrong), std::nullopt) << wrong;
}

TEST_F(ConfigTest, ReservedAndImpossibleLabelsAreMistakes) {
  const auto mistakes = Mistakes(R"(
clusters: { main: { bootstrap_servers: b:1 } }
pipelines: [ { name: a, table: /t, labels: { pipeline: x, 9lives: y, __meta: z, team: ok } } ]
)");
  EXPECT_EQ(mistakes.size(), 3U);
  EXPECT_THAT(mistakes, Contains(HasSubstr("the label 'pipeline' is set by tidemark itself")));
  EXPECT_THAT(mistakes, Contains(HasSubstr("'9lives' is no label name")));
}

TEST_F(ConfigTest, WithSeveralClustersAPipelineMustNameOne) {
  EXPECT_THAT(Mistakes("clusters: { a: { bootstrap_servers: x }, b: { bootstrap_servers: y } }\n"
                       "pipelines: [ { name: p, table: /t } ]"),
              ElementsAre(HasSubstr("pipelines[0].cluster: the name of one of the clusters")));
}

TEST_F(ConfigTest, ReadConfigJoinsTheMistakesLineByLine) {
  Write("tidemark.yaml", "clusterz: {}\n");
  EXPECT_THAT(
      ReadConfig(Path("tidemark.yaml"), file_.sources),
      IsError(ErrorKind::kInvalidArgument,
              AllOf(HasSubstr("1 mistake in the configuration\n"),
                    HasSubstr("tidemark.yaml:1:1: configuration: unknown key 'clusterz', did "
                              "you mean 'clusters'?"))));
}

TEST_F(ConfigTest, CoordinationNeedsAGroupAndHasDefaultsForTheRest) {
  const std::string clusters = "clusters: { main: { bootstrap_servers: b:1 } }\n";
  const LoadedConfig bare = Load(clusters + "coordination: { group: fleet }\n");
  ASSERT_TRUE(bare.config && bare.config->coordination);
  EXPECT_EQ(bare.config->coordination->group, "fleet");
  EXPECT_EQ(bare.config->coordination->cluster, "main");
  EXPECT_EQ(bare.config->coordination->topic, "tidemark.coordination");
  EXPECT_TRUE(bare.config->coordination->creates_topic);
  EXPECT_EQ(bare.config->coordination->session, 30s);
  const LoadedConfig whole = Load(
      clusters +
      "coordination: { group: g, cluster: main, topic: t, create_topic: false, session_timeout: "
      "45s }\n");
  ASSERT_TRUE(whole.config && whole.config->coordination);
  EXPECT_EQ(
      *whole.config->coordination,
      (CoordinationConfig{
          .group = "g", .cluster = "main", .topic = "t", .creates_topic = false, .session = 45s}));
}

TEST_F(ConfigTest, MistakesInCoordinationAreAllNamed) {
  EXPECT_THAT(Mistakes("clusters: { main: { bootstrap_servers: b:1 }, two: { bootstrap_servers: "
                       "b:2 } }\ncoordination: {}\n"),
              ElementsAre(HasSubstr("a name that all instances share is wanted"),
                          HasSubstr("the name of one of the clusters is wanted")));
  EXPECT_THAT(Mistakes("clusters: { main: { bootstrap_servers: b:1 } }\n"
                       "coordination: { groop: g, group: 'a b', cluster: mein, topic: '..', "
                       "session_timeout: 1s }\n"),
              UnorderedElementsAre(
                  HasSubstr("did you mean 'group'?"), HasSubstr("'a b' is no name for Kafka"),
                  HasSubstr("did you mean 'main'?"), HasSubstr("'..' is no name for Kafka"),
                  HasSubstr("session_timeout: a duration from 2s to 30m is wanted, not '1s'")));
}

TEST_F(ConfigTest, HistoryIsKeptAsLongAsTheConfigurationSays) {
  const auto retention_of = [&](const std::string& history) {
    const LoadedConfig loaded = Load("state: { path: s" + history + " }\n");
    EXPECT_THAT(loaded.mistakes, testing::IsEmpty()) << history;
    return loaded.config ? loaded.config->state->retention : state::Retention{0ms, 0ms};
  };
  using std::chrono::days;
  EXPECT_EQ(retention_of(""), (state::Retention{48h, days(30)}));
  EXPECT_EQ(retention_of(", history: {}"), (state::Retention{48h, days(30)}));
  EXPECT_EQ(retention_of(", history: { raw: 1h, points: 1h }"), (state::Retention{1h, 1h}));
  EXPECT_EQ(retention_of(", history: { raw: 6h }"), (state::Retention{6h, days(30)}));
  EXPECT_EQ(retention_of(", history: { points: 1830d }"), (state::Retention{48h, days(1830)}));
  EXPECT_EQ(retention_of(", history: { raw: 30d, points: 30d }"),
            (state::Retention{days(30), days(30)}));
}

TEST_F(ConfigTest, HistoryThatWouldBeEmptyOrEndlessIsAMistake) {
  for (const auto& [history, message] : std::map<std::string, std::string>{
           {"raw: 59m", "state.history.raw: a duration from 1h to 30d is wanted, not '59m'"},
           {"raw: 31d", "state.history.raw: a duration from 1h to 30d is wanted, not '31d'"},
           {"raw: 2h, points: 1h", "state.history.points: at least as long as raw"},
           {"points: 1d", "state.history.points: at least as long as raw"},
           {"points: 1831d", "at most 1830d is wanted, not '1831d'"},
           {"rav: 2h", "did you mean 'raw'?"}}) {
    EXPECT_THAT(Mistakes("state: { path: s, history: { " + history + " } }\n"),
                ElementsAre(HasSubstr(message)))
        << history;
  }
}

TEST_F(ConfigTest, AUrlOfTheStateThatItsPasswordBreaksIsAMistakeThatShowsNoneOfIt) {
  EXPECT_THAT(Mistakes("state: { url: 'postgresql://tide:Xk3secret/part@db:1/x' }\n"),
              ElementsAre(AllOf(HasSubstr("1:15: state.url: "), HasSubstr("written %2F"),
                                Not(HasSubstr("secret")), Not(HasSubstr("part@")))));
}

}  // namespace
}  // namespace tidemark::app
