#include "app/exporter_config.h"

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
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using namespace std::chrono_literals;

constexpr const char* kSecret = "s3cr3t-token";

class ExporterConfigTest : public testing::Test {
 protected:
  LoadedConfig Load(const std::string& text) const { return file_.Load(text); }
  ExportersConfig Good(const std::string& text) const { return file_.Good(text).exporters; }
  std::vector<std::string> Mistakes(const std::string& text) const { return file_.Mistakes(text); }
  std::string In(const std::string& name) const { return file_.PathOf(name); }

  support::ConfigFile file_{
      {{"TOKEN", kSecret}, {"HOOK", "http://hooks.example/p4th-of-the-hook"}}};
};

TEST_F(ExporterConfigTest, AShortConfigurationHasTheDefaults) {
  const ExportersConfig config = Good(R"(
exporters:
  - prometheus: {}
  - textfile: { path: out/tidemark.prom }
  - sources: { path: sources.json }
  - pushgateway: { url: "http://gate:9091" }
  - otlp: { endpoint: "http://collector:4318" }
  - statsd:
  - emf: {}
  - webhook: { url: "https://hooks.example/x" }
)");
  EXPECT_EQ(config.endpoint, SeriesChoice{});
  ASSERT_THAT(config.senders, SizeIs(7));
  for (const ExporterConfig& each : config.senders) {
    EXPECT_EQ(each.interval, 60s);
    EXPECT_EQ(each.timeout, 10s);
    EXPECT_EQ(each.series, SeriesChoice{});
  }
  EXPECT_EQ(config.senders[0].name, "textfile");
  EXPECT_EQ(std::get<TextfileOptions>(config.senders[0].receiver).path, In("out/tidemark.prom"));
  EXPECT_EQ(std::get<SourcesOptions>(config.senders[1].receiver).path, In("sources.json"));
  EXPECT_EQ(std::get<push::PushgatewayOptions>(config.senders[2].receiver).job, "tidemark");
  EXPECT_EQ(std::get<push::OtlpOptions>(config.senders[3].receiver).resource.at("service.name"),
            "tidemark");
  const auto& statsd = std::get<push::StatsdOptions>(config.senders[4].receiver);
  EXPECT_EQ(statsd.host, "127.0.0.1");
  EXPECT_EQ(statsd.port, 8125);
  EXPECT_EQ(statsd.format.datagram_bytes_max, 1432U);
  EXPECT_EQ(std::get<push::EmfOptions>(config.senders[5].receiver).path, "-");
  const auto& webhook = std::get<push::WebhookOptions>(config.senders[6].receiver);
  EXPECT_THAT(webhook.statuses,
              ElementsAre(freshness::PipelineStatus::kBreach, freshness::PipelineStatus::kUnknown));
  EXPECT_EQ(webhook.give_up_after, 1h);
}

TEST_F(ExporterConfigTest, EveryKeyIsTaken) {
  const ExportersConfig config = Good(R"(
exporters:
  - prometheus: { partitions: true, kafka_lag_exporter_names: true }
  - pushgateway:
      { name: gate, url: "http://gate:9091/x", headers: { Authorization: "Bearer ${env:TOKEN}" },
        job: lake, grouping: { instance: a/b }, delete_on_stop: true, interval: 15s, timeout: 5s }
  - otlp:
      { endpoint: "https://c", resource: { service.name: lake, env: prod }, partitions: true }
  - statsd:
      { address: "[::1]:9125", dialect: dogstatsd, prefix: "lake.", tags: { env: prod },
        datagram_bytes_max: 8192 }
  - emf: { path: metrics.log, namespace: Lake/Prod }
  - webhook: { url: "${env:HOOK}", statuses: [ warning, breach ], give_up_after: 10m }
)");
  EXPECT_TRUE(config.endpoint.with_partitions && config.endpoint.with_compatibility);
  ASSERT_THAT(config.senders, SizeIs(5));
  EXPECT_EQ(config.senders[0].name, "gate");
  EXPECT_EQ(config.senders[0].interval, 15s);
  EXPECT_EQ(config.senders[0].timeout, 5s);
  const auto& gate = std::get<push::PushgatewayOptions>(config.senders[0].receiver);
  EXPECT_THAT(gate.headers,
              ElementsAre(testing::Pair("Authorization", std::string("Bearer ") + kSecret)));
  EXPECT_EQ(gate.job, "lake");
  EXPECT_EQ(gate.grouping.at("instance"), "a/b");
  EXPECT_TRUE(gate.deletes_on_stop);
  EXPECT_TRUE(config.senders[1].series.with_partitions);
  EXPECT_EQ(std::get<push::OtlpOptions>(config.senders[1].receiver).resource.at("service.name"),
            "lake");
  const auto& statsd = std::get<push::StatsdOptions>(config.senders[2].receiver);
  EXPECT_EQ(statsd.host, "::1");
  EXPECT_EQ(statsd.port, 9125);
  EXPECT_EQ(statsd.format.dialect, push::StatsdDialect::kDogstatsd);
  EXPECT_EQ(std::get<push::EmfOptions>(config.senders[3].receiver).path, In("metrics.log"));
  const auto& webhook = std::get<push::WebhookOptions>(config.senders[4].receiver);
  EXPECT_EQ(webhook.give_up_after, 10min);
  // Neither the token nor the hook's host can be printed.
  EXPECT_THAT(config.hidden.Hide(std::string("x ") + kSecret), Not(HasSubstr(kSecret)));
  EXPECT_THAT(config.hidden.Hide("no answer: host=hooks.example"), Not(HasSubstr("hooks.example")));
}

TEST_F(ExporterConfigTest, EveryMistakeIsReportedAtOnceWithItsPlace) {
  EXPECT_THAT(
      Mistakes(R"(exporters:
  - promethus: {}
  - textfile: { path: tidemark.txt, intervall: 5s }
  - sources: {}
  - pushgateway: { url: "ftp://x", grouping: { job: a }, interval: 1ms }
  - otlp: { endpoint: "http://c", headers: { "a b": c } }
  - statsd: { address: nowhere, dialect: statds, tags: { a: b } }
  - emf: { namespace: "AWS/x" }
  - webhook: { url: "http://h", statuses: [ fresh ] }
  - {}
  - { otlp: {}, emf: {} }
)"),
      ElementsAre(
          HasSubstr("2:5: exporters[0]: unknown key 'promethus', did you mean 'prometheus'?"),
          HasSubstr("3:23: exporters[1].textfile.path: a file that ends in .prom is wanted"),
          HasSubstr("3:37: exporters[1].textfile: unknown key 'intervall', did you mean "
                    "'interval'?"),
          HasSubstr("4:14: exporters[2].sources.path: the path of a file is wanted"),
          HasSubstr("5:25: exporters[3].pushgateway.url: a URL that begins with"),
          HasSubstr("5:46: exporters[3].pushgateway.grouping: 'job' is no label of a group"),
          HasSubstr("5:68: exporters[3].pushgateway.interval: a duration from 1s to 1d is wanted, "
                    "not '1ms'"),
          HasSubstr("6:44: exporters[4].otlp.headers: 'a b' is no name of a header"),
          HasSubstr("7:24: exporters[5].statsd.address: an address such as localhost:8125"),
          HasSubstr("7:42: exporters[5].statsd.dialect: one of statsd, dogstatsd"),
          HasSubstr("7:56: exporters[5].statsd.tags: StatsD has none"),
          HasSubstr("8:23: exporters[6].emf.namespace: letters, digits"),
          HasSubstr("9:45: exporters[7].webhook.statuses: one of warning, breach, unknown"),
          HasSubstr("10:5: exporters[8]: the kind of exporter is wanted"),
          HasSubstr("11:5: exporters[9]: otlp and emf are two exporters")));
}

TEST_F(ExporterConfigTest, TwoOfOneKindNeedNamesAndFilesOfTheirOwn) {
  EXPECT_THAT(Mistakes(R"(exporters:
  - emf: { path: a.log }
  - emf: { path: a.log }
  - prometheus: {}
  - prometheus: {}
)"),
              ElementsAre(HasSubstr("3:5: exporters[1].emf: there is an exporter 'emf' already"),
                          HasSubstr("3:18: exporters[1].emf.path: another exporter writes"),
                          HasSubstr("5:17: exporters[3].prometheus: there is one GET /metrics")));
  EXPECT_THAT(Mistakes("exporters:\n  - emf: { path: a.log }\n  - emf: { path: b.log, name: b }\n"),
              IsEmpty());
}

TEST_F(ExporterConfigTest, AMistakeDoesNotRepeatWhatWasHidden) {
  const auto mistakes = Mistakes(R"(exporters:
  - otlp: { endpoint: "${env:TOKEN}", timeout: "${env:TOKEN}" }
  - statsd: { address: "${env:TOKEN}" }
  - webhook: { url: "http://h", statuses: [ "${env:TOKEN}" ], headers: { A: "${env:NONE}" } }
)");
  EXPECT_THAT(mistakes, SizeIs(5));
  for (const std::string& mistake : mistakes) EXPECT_THAT(mistake, Not(HasSubstr(kSecret)));
}

TEST_F(ExporterConfigTest, SomethingThatIsNoListIsAMistake) {
  EXPECT_THAT(Mistakes("exporters: { otlp: {} }\n"),
              ElementsAre(HasSubstr("1:12: exporters: a list of exporters is wanted here")));
  EXPECT_THAT(Mistakes("exporters: [ otlp ]\n"),
              ElementsAre(HasSubstr("1:14: exporters[0]: a mapping of keys to values")));
}

TEST_F(ExporterConfigTest, ReceiversMayHaveCertificatesOfTheirOwn) {
  const ExportersConfig config = Good(R"(
exporters:
  - otlp: { endpoint: "https://c:4318", tls: { ca: ca.pem, certificate: me.pem, key: me.key } }
)");
  const auto& otlp = std::get<push::OtlpOptions>(config.senders.at(0).receiver);
  EXPECT_EQ(otlp.tls.ca_file, In("ca.pem"));
  EXPECT_EQ(otlp.tls.certificate_file, In("me.pem"));
  EXPECT_EQ(otlp.tls.key_file, In("me.key"));
}

TEST_F(ExporterConfigTest, TlsThatCannotBeMeantIsAMistake) {
  EXPECT_THAT(Mistakes("exporters: [ { webhook: { url: \"http://h\", tls: { ca: c } } } ]"),
              ElementsAre(HasSubstr("without TLS")));
  EXPECT_THAT(Mistakes("exporters: [ { webhook: { url: \"https://h\", tls: { key: k } } } ]"),
              ElementsAre(HasSubstr("without its certificate")));
  EXPECT_THAT(Mistakes("exporters: [ { webhook: { url: \"https://h\", tls: { cafile: k } } } ]"),
              ElementsAre(HasSubstr("cafile")));
}

}  // namespace
}  // namespace tidemark::app
