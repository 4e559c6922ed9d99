#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "app/doctor.h"
#include "support/child_process.h"
#include "support/scripted_http_server.h"

namespace tidemark::app {
namespace {

using support::HttpReply;
using support::ScriptedHttpServer;
using support::ScriptedReply;
using support::ScriptedRequest;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using namespace std::chrono_literals;

constexpr const char* kSecret = "s3cr3t-token";

class DoctorExportersTest : public testing::Test {
 protected:
  DoctorCheck Check(ReceiverOptions receiver, const std::string& name = "") {
    Config config;
    ExporterConfig& exporter = config.exporters.senders.emplace_back();
    exporter.name = name;
    exporter.receiver = std::move(receiver);
    config.exporters.hidden.Add(kSecret, "${env:TOKEN}");
    const Diagnosis diagnosis = DiagnoseExporters(config, 10s, {});
    EXPECT_EQ(diagnosis.subject, "(exporters)");
    EXPECT_EQ(diagnosis.checks.size(), 1u);
    EXPECT_THAT(diagnosis.checks[0].detail, Not(HasSubstr(kSecret)));
    EXPECT_EQ(diagnosis.checks[0].cure.empty(), diagnosis.checks[0].outcome == CheckOutcome::kOk);
    return diagnosis.checks[0];
  }
  std::string Path(const std::string& name) const { return folder_.path() + "/" + name; }

  support::TemporaryFolder folder_;
};

MATCHER_P2(Is, outcome, detail, "") {
  return arg.outcome == outcome && testing::Value(arg.detail, HasSubstr(detail));
}

TEST_F(DoctorExportersTest, WithoutExportersThereIsNothingToSay) {
  EXPECT_TRUE(DiagnoseExporters({}, 1s, {}).checks.empty());
}

TEST_F(DoctorExportersTest, AFileCanBeWrittenWhereItsFolderLetsUs) {
  EXPECT_THAT(Check(TextfileOptions{Path("t.prom")}), Is(CheckOutcome::kOk, "t.prom can be"));
  EXPECT_THAT(Check(SourcesOptions{Path("none/sources.json")}),
              Is(CheckOutcome::kFailed, "no such folder"));
  ::mkdir(Path("folder.prom").c_str(), 0755);
  EXPECT_THAT(Check(TextfileOptions{Path("folder.prom")}), Is(CheckOutcome::kFailed, "directory"));
  EXPECT_NE(::access(Path("t.prom").c_str(), F_OK), 0) << "nothing is made";
}

TEST_F(DoctorExportersTest, LinesAreAddedToAFileOrGoOut) {
  EXPECT_THAT(Check(push::EmfOptions{}), Is(CheckOutcome::kOk, "standard output"));
  push::EmfOptions options;
  options.path = Path("emf.log");
  EXPECT_THAT(Check(options), Is(CheckOutcome::kOk, "can be written"));
  std::ofstream(options.path) << "{}\n";
  EXPECT_THAT(Check(options), Is(CheckOutcome::kOk, "can be added to"));
  options.path = folder_.path();
  EXPECT_THAT(Check(options), Is(CheckOutcome::kFailed, "cannot be written"));
}

TEST_F(DoctorExportersTest, AnAnswerSaysWhetherTheReceiverTakesUs) {
  const struct {
    int status;
    CheckOutcome gateway, collector, hook;
  } cases[] = {
      {200, CheckOutcome::kOk, CheckOutcome::kOk, CheckOutcome::kOk},
      {401, CheckOutcome::kFailed, CheckOutcome::kFailed, CheckOutcome::kWarning},
      {404, CheckOutcome::kFailed, CheckOutcome::kFailed, CheckOutcome::kOk},
      {405, CheckOutcome::kFailed, CheckOutcome::kFailed, CheckOutcome::kOk},
      {503, CheckOutcome::kFailed, CheckOutcome::kFailed, CheckOutcome::kWarning},
  };
  for (const auto& [status, gateway, collector, hook] : cases) {
    SCOPED_TRACE(status);
    ScriptedHttpServer server(
        [&](const ScriptedRequest&, int) { return HttpReply(status, kSecret); });
    const push::HttpHeaders headers = {{"X-Token", kSecret}};
    push::PushgatewayOptions pushgateway;
    pushgateway.url = server.endpoint() + "/base/";
    pushgateway.headers = headers;
    EXPECT_EQ(Check(pushgateway).outcome, gateway);
    push::OtlpOptions otlp;
    otlp.endpoint = server.endpoint();
    otlp.headers = headers;
    EXPECT_EQ(Check(otlp).outcome, collector);
    push::WebhookOptions webhook;
    webhook.url = server.endpoint() + "/" + kSecret;
    webhook.headers = headers;
    EXPECT_EQ(Check(webhook).outcome, hook);
    const auto requests = server.Requests();
    ASSERT_EQ(requests.size(), 3u);
    EXPECT_EQ(requests[0].method + " " + requests[0].target, "GET /base/-/ready");
    EXPECT_EQ(requests[1].method + " " + requests[1].target, "POST /v1/metrics");
    EXPECT_EQ(requests[1].body, R"({"resourceMetrics":[]})");
    EXPECT_EQ(requests[2].method, "HEAD");
    for (const auto& request : requests) EXPECT_EQ(request.headers.at("x-token"), kSecret);
  }
}

TEST_F(DoctorExportersTest, NobodyThereIsSaidWithTheNameOfTheExporter) {
  push::WebhookOptions webhook;
  webhook.url = "http://127.0.0.1:1/hook";
  EXPECT_THAT(Check(webhook, "pager"), AllOf(Is(CheckOutcome::kFailed, "pager: "),
                                             Is(CheckOutcome::kFailed, "127.0.0.1:1")));
}

TEST_F(DoctorExportersTest, ADatagramIsNotSent) {
  push::StatsdOptions statsd;
  statsd.host = "127.0.0.1";
  statsd.port = 1;
  EXPECT_THAT(Check(statsd), Is(CheckOutcome::kOk, "UDP"));
  statsd.host = "no-such-host.invalid";
  EXPECT_THAT(Check(statsd), Is(CheckOutcome::kFailed, "no-such-host.invalid"));
}

TEST_F(DoctorExportersTest, AFileOfTlsThatIsNotThereIsSaid) {
  push::OtlpOptions otlp;
  otlp.endpoint = "https://127.0.0.1:1";
  otlp.tls.ca_file = Path("none.pem");
  EXPECT_THAT(Check(otlp), Is(CheckOutcome::kFailed, "127.0.0.1:1"));
}

}  // namespace
}  // namespace tidemark::app
