#include "push/pushgateway.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "metrics/process_points.h"
#include "support/result_matchers.h"
#include "support/scripted_http_server.h"

namespace tidemark::push {
namespace {

using namespace std::chrono_literals;
using support::HttpReply;
using support::IsOk;
using support::ScriptedHttpServer;
using support::ScriptedRequest;

std::string UrlOf(const std::string& job, std::map<std::string, std::string> grouping) {
  PushgatewayOptions options;
  options.url = "http://gate:9091/";
  options.job = job;
  options.grouping = std::move(grouping);
  return PushgatewayUrl(options);
}

// As the gateway's README describes its URLs, with its own examples of base64.
TEST(PushgatewayTest, TheGroupIsInThePath) {
  EXPECT_EQ(UrlOf("tidemark", {}), "http://gate:9091/metrics/job/tidemark");
  EXPECT_EQ(UrlOf("a job", {{"instance", "h1"}, {"dc", "eu"}}),
            "http://gate:9091/metrics/job/a%20job/dc/eu/instance/h1");
  EXPECT_EQ(UrlOf("directory_cleaner", {{"path", "/var/tmp"}}),
            "http://gate:9091/metrics/job/directory_cleaner/path@base64/L3Zhci90bXA=");
  EXPECT_EQ(UrlOf("example", {{"first_label", ""}}),
            "http://gate:9091/metrics/job/example/first_label@base64/=");
  EXPECT_EQ(UrlOf("a/b", {}), "http://gate:9091/metrics/job@base64/YS9i");
  EXPECT_EQ(UrlOf("//?>", {}), "http://gate:9091/metrics/job@base64/Ly8_Pg==");
}

TEST(PushgatewayTest, ValuesReplaceTheGroup) {
  const ScriptedHttpServer server([](const ScriptedRequest&, int) { return HttpReply(200, ""); });
  PushgatewayOptions options;
  options.url = server.endpoint();
  PushgatewayExporter exporter(options);
  Values values;
  values.points = metrics::BuildPoints("1.2.3");
  EXPECT_THAT(exporter.Send(values, Budget::For(10s)), IsOk());
  EXPECT_THAT(exporter.Retire(Budget::For(10s)), IsOk());
  ASSERT_EQ(server.Requests().size(), 1U);  // nothing is deleted unasked
  const ScriptedRequest request = server.Requests()[0];
  EXPECT_EQ(request.method, "PUT");
  EXPECT_EQ(request.target, "/metrics/job/tidemark");
  EXPECT_EQ(request.headers.at("content-type"), "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_THAT(request.body, testing::EndsWith("\ntidemark_build_info{version=\"1.2.3\"} 1\n"));
}

TEST(PushgatewayTest, TheGroupIsDeletedInTheEndWhenThatIsWanted) {
  const ScriptedHttpServer server([](const ScriptedRequest&, int) { return HttpReply(202, ""); });
  PushgatewayOptions options;
  options.url = server.endpoint();
  options.deletes_on_stop = true;
  EXPECT_THAT(PushgatewayExporter(options).Retire(Budget::For(10s)), IsOk());
  ASSERT_EQ(server.Requests().size(), 1U);
  EXPECT_EQ(server.Requests()[0].method, "DELETE");
  EXPECT_EQ(server.Requests()[0].target, "/metrics/job/tidemark");
}

}  // namespace
}  // namespace tidemark::push
