#include "push/otlp_protobuf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "metrics/family.h"
#include "push/otlp.h"
#include "support/hex.h"
#include "support/result_matchers.h"
#include "support/scripted_http_server.h"

namespace tidemark::push {
namespace {

using namespace std::chrono_literals;
using metrics::Family;
using metrics::FamilyType;
using support::FromHex;
using support::HttpReply;
using support::IsError;
using support::IsOkAnd;
using support::ScriptedHttpServer;
using support::ScriptedRequest;
using support::ToHex;
using testing::_;

constexpr Family kAge{"t_age_seconds", "seconds", "An age.", "", ""};
constexpr Family kSent{"t_sent_total", "", "What was \"sent\".", "", "", FamilyType::kCounter};

Values SomeValues() {
  Values values;
  values.points = {
      {&kAge, {{"pipeline", "a\"b"}}, "2.5"}, {&kAge, {{"pipeline", ""}}, "0"}, {&kSent, {}, "7"}};
  values.taken_at = WallTimeFromMillis(1'700'000'000'123);
  values.counting_since = WallTimeFromMillis(1'600'000'000'000);
  return values;
}

TEST(OtlpProtobufTest, ARequestIsWhatTheOfficialMessagesWrite) {
  // tests/support/otlp_vector.py
  const auto requests = OtlpProtobufRequests(SomeValues(), {{"service.name", "tidemark"}});
  ASSERT_EQ(requests.size(), 1U);
  EXPECT_EQ(ToHex(requests[0]),
            "0adc010a1c0a1a0a0c736572766963652e6e616d65120a0a08746964656d61726b12bb010a0a0a08"
            "746964656d61726b12680a0d745f6167655f7365636f6e64731207416e206167652e1a01732a4b0a"
            "2519c0d47e3dfe9c97172100000000000004403a110a08706970656c696e6512050a036122620a22"
            "19c0d47e3dfe9c97172100000000000000003a0e0a08706970656c696e6512020a0012430a0c745f"
            "73656e745f746f74616c12105768617420776173202273656e74222e3a210a1b110000a0d8855734"
            "1619c0d47e3dfe9c9717210000000000001c4010021801");
}

TEST(OtlpProtobufTest, RequestsAreCutWhereThoseOfJsonAre) {
  const Values values = SomeValues();
  for (const size_t points_max : {1U, 2U, 3U, 4U})
    EXPECT_EQ(OtlpProtobufRequests(values, {}, points_max).size(),
              OtlpRequests(values, {}, points_max).size());
  EXPECT_TRUE(OtlpProtobufRequests(Values{}, {}).empty());
}

TEST(OtlpProtobufTest, LongTextsHaveLongLengths) {
  Values values;
  values.points = {{&kAge, {{"table", std::string(300, 'x')}}, "1"}};
  const std::string request = OtlpProtobufRequests(values, {}).at(0);
  EXPECT_TRUE(request.contains("\xAC\x02" + std::string(300, 'x')));
}

TEST(OtlpProtobufTest, AnAnswerSaysHowManyPointsWereRefused) {
  // Of ExportMetricsServiceResponse, as the official messages write it.
  EXPECT_THAT(OtlpProtobufRejected(""), IsOkAnd(0U));
  EXPECT_THAT(OtlpProtobufRejected(FromHex("0a00")), IsOkAnd(0U));
  EXPECT_THAT(OtlpProtobufRejected(FromHex("0a0708031203712773")), IsOkAnd(3U));
  EXPECT_THAT(OtlpProtobufRejected(FromHex("0a0308ac02")), IsOkAnd(300U));
  // Fields that are not known yet are passed over.
  EXPECT_THAT(OtlpProtobufRejected(FromHex("1001190000000000000000250000000022016b0a020803")),
              IsOkAnd(3U));
  for (const char* odd : {"0a", "0a05", "0a0208", "0a0b08ffffffffffffffffff01", "0b", "00", "0d00",
                          "7b7d", "3c68746d6c3e"})
    EXPECT_THAT(OtlpProtobufRejected(FromHex(odd)), IsError(ErrorKind::kCorrupt, _)) << odd;
}

TEST(OtlpProtobufTest, AnAnswerThatWasCutOffOrDamagedIsANumberOrAnError) {
  const std::string answer = FromHex("0a070803120371277322016b");
  for (size_t size = 0; size <= answer.size(); ++size) {
    const auto rejected = OtlpProtobufRejected(answer.substr(0, size));
    if (rejected) {
      EXPECT_TRUE(*rejected == 0 || *rejected == 3) << size;
    }
  }
  for (size_t at = 0; at < answer.size(); ++at) {
    for (unsigned bit = 1; bit < 256; bit <<= 1U) {
      std::string damaged = answer;
      damaged[at] = static_cast<char>(static_cast<unsigned char>(damaged[at]) ^ bit);
      (void)OtlpProtobufRejected(damaged).has_value();
    }
  }
}

TEST(OtlpProtobufTest, TheExporterSaysWhichEncodingItSpeaks) {
  const ScriptedHttpServer server(
      [](const ScriptedRequest&, int) { return HttpReply(200, FromHex("0a0708021203716273")); });
  OtlpOptions options;
  options.endpoint = server.endpoint();
  options.encoding = OtlpEncoding::kProtobuf;
  OtlpExporter exporter(options);
  const auto sent = exporter.Send(SomeValues(), Budget::For(10s));
  ASSERT_TRUE(sent);
  EXPECT_EQ(sent->dropped, 2U);
  EXPECT_TRUE(exporter.Check(Budget::For(10s)).has_value());
  const auto requests = server.Requests();
  ASSERT_EQ(requests.size(), 2U);
  EXPECT_EQ(requests[0].headers.at("content-type"), "application/x-protobuf");
  EXPECT_EQ(requests[0].body, OtlpProtobufRequests(SomeValues(), {}).at(0));
  EXPECT_EQ(requests[1].body, "");
}

}  // namespace
}  // namespace tidemark::push
