#include <fmt/core.h>
#include <gtest/gtest.h>

#include <charconv>
#include <map>
#include <sstream>

#include "kafka/wire/config_messages_internal.h"
#include "kafka/wire/fetch_messages_internal.h"
#include "kafka/wire/frame_internal.h"
#include "kafka/wire/login_messages_internal.h"
#include "kafka/wire/messages_internal.h"
#include "support/hex.h"
#include "support/result_matchers.h"
#include "support/testdata.h"

namespace tidemark::kafka::wire {
namespace {

using support::IsError;
using support::IsOk;
using ::testing::HasSubstr;

constexpr TopicId kId = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

/// The bytes of a message as Kafka's own client writes them, by version.
std::map<int16_t, std::string> Stored(const std::string& name) {
  std::istringstream lines(support::ReadTestdata("kafka/messages.txt"));
  std::map<int16_t, std::string> found;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string line_name, hex;  // which an empty message has none of
    int16_t version = 0;
    words >> line_name >> version >> hex;
    if (line_name == name) found[version] = support::FromHex(hex);
  }
  EXPECT_FALSE(found.empty()) << name;
  return found;
}

template <class Request>
std::string BodyOfRequest(const Request& request, int16_t version) {
  std::string out;
  EncodeRequest(request, version, 1, "", out);
  const bool is_flexible = Request::kApi.is_flexible(version);
  const size_t header_size = kFrameLengthSize + 8 + 2 + (is_flexible ? 1 : 0);
  return out.substr(header_size);
}

/// Each version of a response is read, and none of what its damaged forms hold steps over an end.
template <class Request, class Check>
void ExpectEachVersion(const std::string& name, const Check& check) {
  for (const auto& [version, bytes] : Stored(name)) {
    SCOPED_TRACE(fmt::format("{} {}", name, version));
    ASSERT_OK_ASSIGN(const auto response, DecodeResponse<Request>(bytes, version));
    check(response, version);
    for (size_t size = 0; size < bytes.size(); ++size) {
      // An exact copy, so that a sanitizer sees a step too far.
      const std::string cut(bytes.data(), size);
      EXPECT_THAT(DecodeResponse<Request>(cut, version),
                  IsError(ErrorKind::kCorrupt, HasSubstr(Request::kApi.name)));
    }
    for (size_t at = 0; at < bytes.size(); ++at) {
      for (int bit = 0; bit < 8; ++bit) {
        std::string flipped = bytes;
        flipped[at] = static_cast<char>(flipped[at] ^ (1 << bit));
        const auto decoded = DecodeResponse<Request>(flipped, version);
        EXPECT_TRUE(decoded || decoded.error().kind == ErrorKind::kCorrupt);
      }
    }
  }
}

TEST(MessagesTest, ApiVersionsAreReadInEveryVersion) {
  ExpectEachVersion<ApiVersionsRequest>("ApiVersionsResponse",
                                        [](const ApiVersionsResponse& response, int16_t version) {
                                          EXPECT_EQ(response.error, 0);
                                          ASSERT_EQ(response.apis.size(), 2u);
                                          EXPECT_EQ(response.apis[0].key, 1);
                                          EXPECT_EQ(response.apis[0].min, 4);
                                          EXPECT_EQ(response.apis[0].max, 17);
                                          EXPECT_EQ(response.apis[1].max, 13);
                                          EXPECT_EQ(response.throttle_ms, version >= 1 ? 7 : 0);
                                        });
}

TEST(MessagesTest, LoginAnswersAreReadInEveryVersion) {
  ExpectEachVersion<SaslHandshakeRequest>(
      "SaslHandshakeResponse", [](const SaslHandshakeResponse& response, int16_t) {
        EXPECT_EQ(response.error, 33);
        EXPECT_THAT(response.mechanisms, ::testing::ElementsAre("PLAIN", "SCRAM-SHA-256"));
      });
  ExpectEachVersion<SaslAuthenticateRequest>(
      "SaslAuthenticateResponse", [](const SaslAuthenticateResponse& response, int16_t version) {
        EXPECT_EQ(response.error, 58);
        EXPECT_EQ(response.error_message, "no");
        EXPECT_EQ(response.token.bytes, "answer");
        EXPECT_EQ(response.session_lifetime_ms, version >= 1 ? 3'600'000 : 0);
      });
}

TEST(MessagesTest, MetadataIsReadInEveryVersion) {
  ExpectEachVersion<MetadataRequest>(
      "MetadataResponse", [](const MetadataResponse& response, int16_t version) {
        EXPECT_EQ(response.throttle_ms, version >= 3 ? 7 : 0);
        ASSERT_EQ(response.brokers.size(), 2u);
        EXPECT_EQ(response.brokers[1].id, 2);
        EXPECT_EQ(response.brokers[1].host, "kafka-2");
        EXPECT_EQ(response.brokers[1].port, 9093);
        EXPECT_EQ(response.cluster_id.value_or(""), version >= 2 ? "the cluster" : "");
        ASSERT_EQ(response.topics.size(), 2u);
        EXPECT_EQ(response.topics[0].name, "orders");
        EXPECT_EQ(response.topics[0].id, version >= 10 ? kId : TopicId{});
        ASSERT_EQ(response.topics[0].partitions.size(), 2u);
        EXPECT_EQ(response.topics[0].partitions[0].leader, 2);
        EXPECT_EQ(response.topics[0].partitions[0].leader_epoch, version >= 7 ? 9 : kNoEpoch);
        EXPECT_EQ(response.topics[0].partitions[1].error, 5);
        EXPECT_EQ(response.topics[0].partitions[1].leader, -1);
        EXPECT_EQ(response.topics[1].error, 3);
        EXPECT_EQ(response.topics[1].name, "pay");
      });
}

TEST(MessagesTest, OffsetsAreReadInEveryVersion) {
  ExpectEachVersion<ListOffsetsRequest>(
      "ListOffsetsResponse", [](const ListOffsetsResponse& response, int16_t version) {
        EXPECT_EQ(response.throttle_ms, version >= 2 ? 7 : 0);
        ASSERT_EQ(response.topics.size(), 1u);
        EXPECT_EQ(response.topics[0].name, "orders");
        ASSERT_EQ(response.topics[0].partitions.size(), 1u);
        const auto& partition = response.topics[0].partitions[0];
        EXPECT_EQ(partition.index, 3);
        EXPECT_EQ(partition.error, 6);
        EXPECT_EQ(partition.timestamp_ms, 1'700'000'000'000);
        EXPECT_EQ(partition.offset, 42);
        EXPECT_EQ(partition.leader_epoch, version >= 4 ? 9 : kNoEpoch);
      });
}

TEST(MessagesTest, EndsOfEpochsAreReadInEveryVersion) {
  ExpectEachVersion<OffsetForLeaderEpochRequest>(
      "OffsetForLeaderEpochResponse", [](const OffsetForLeaderEpochResponse& response, int16_t) {
        EXPECT_EQ(response.throttle_ms, 7);
        const auto& partition = response.topics.at(0).partitions.at(0);
        EXPECT_EQ(partition.error, 6);
        EXPECT_EQ(partition.index, 3);
        EXPECT_EQ(partition.leader_epoch, 8);
        EXPECT_EQ(partition.end, 42);
      });
}

TEST(MessagesTest, FetchedRecordsAreReadInEveryVersion) {
  ExpectEachVersion<FetchRequest>(
      "FetchResponse", [](const FetchResponse& response, int16_t version) {
        EXPECT_EQ(response.throttle_ms, 7);
        ASSERT_EQ(response.topics.size(), 1u);
        EXPECT_EQ(response.topics[0].name, version <= 12 ? "orders" : "");
        EXPECT_EQ(response.topics[0].id, version >= 13 ? kId : TopicId{});
        ASSERT_EQ(response.topics[0].partitions.size(), 2u);
        const auto& partition = response.topics[0].partitions[0];
        EXPECT_EQ(partition.index, 3);
        EXPECT_EQ(partition.error, 1);
        EXPECT_EQ(partition.high_watermark, 50);
        EXPECT_EQ(partition.last_stable, 48);
        EXPECT_EQ(partition.log_start, version >= 5 ? 10 : -1);
        ASSERT_EQ(partition.aborted.size(), 1u);
        EXPECT_EQ(partition.aborted[0].producer_id, 77);
        EXPECT_EQ(partition.aborted[0].first_offset, 40);
        EXPECT_EQ(partition.records.bytes, "\1\2\3");
        EXPECT_EQ(response.topics[0].partitions[1].records.bytes, "");
      });
}

TEST(MessagesTest, TopicSettingsAreReadInEveryVersion) {
  ExpectEachVersion<DescribeConfigsRequest>(
      "DescribeConfigsResponse", [](const DescribeConfigsResponse& response, int16_t) {
        ASSERT_EQ(response.results.size(), 1u);
        EXPECT_EQ(response.results[0].error, 29);
        EXPECT_EQ(response.results[0].name, "orders");
        ASSERT_EQ(response.results[0].configs.size(), 1u);
        EXPECT_EQ(response.results[0].configs[0].name, "retention.ms");
        EXPECT_EQ(response.results[0].configs[0].value, "3600000");
      });
}

template <class Request, class Make>
void ExpectWritten(const std::string& name, const Make& make) {
  for (const auto& [version, bytes] : Stored(name)) {
    EXPECT_EQ(support::ToHex(BodyOfRequest(make(version), version)), support::ToHex(bytes))
        << name << " " << version;
  }
}

TEST(MessagesTest, RequestsAreWrittenAsKafkasOwnClientDoes) {
  ExpectWritten<ApiVersionsRequest>("ApiVersionsRequest",
                                    [](int16_t) { return ApiVersionsRequest{}; });
  ExpectWritten<SaslHandshakeRequest>(
      "SaslHandshakeRequest", [](int16_t) { return SaslHandshakeRequest{.mechanism = "PLAIN"}; });
  ExpectWritten<SaslAuthenticateRequest>("SaslAuthenticateRequest", [](int16_t) {
    return SaslAuthenticateRequest{.token = {"token"}};
  });
  ExpectWritten<MetadataRequest>("MetadataRequest", [](int16_t) {
    MetadataRequest request;
    request.topics.emplace();
    for (const char* topic : {"orders", "pay"})
      request.topics->push_back({.id = {}, .name = topic});
    return request;
  });
  ExpectWritten<ListOffsetsRequest>("ListOffsetsRequest", [](int16_t) {
    ListOffsetsRequest request{.is_read_committed = true, .topics = {}};
    request.topics = {
        {.name = "orders",
         .partitions = {
             {.index = 3, .leader_epoch = 9, .timestamp_ms = ListOffsetsRequest::kEarliest}}}};
    return request;
  });
  ExpectWritten<OffsetForLeaderEpochRequest>("OffsetForLeaderEpochRequest", [](int16_t) {
    OffsetForLeaderEpochRequest request;
    request.topics = {{.name = "orders",
                       .partitions = {{.index = 3, .current_leader_epoch = 9, .leader_epoch = 8}}}};
    return request;
  });
  ExpectWritten<FetchRequest>("FetchRequest", [](int16_t) {
    FetchRequest request{
        .bytes_max = 5000, .is_read_committed = true, .topics = {}, .forgotten = {}, .rack = {}};
    request.topics = {
        {.name = "orders",
         .id = kId,
         .partitions = {{.index = 3, .leader_epoch = 9, .offset = 42, .bytes_max = 1000}}}};
    return request;
  });
  ExpectWritten<DescribeConfigsRequest>("DescribeConfigsRequest", [](int16_t) {
    DescribeConfigsRequest request;
    request.resources = {{.name = "orders", .keys = {{"retention.ms", "cleanup.policy"}}}};
    return request;
  });
}

TEST(MessagesTest, HeaderIsLengthKeyVersionIdAndClient) {
  std::string out = "before";
  EncodeRequest(SaslHandshakeRequest{.mechanism = "X"}, 1, 0x01020304, "me", out);
  EXPECT_EQ(support::ToHex(out.substr(6)),
            "0000000f"
            "0011"
            "0001"
            "01020304"
            "00026d65"
            "000158");
}

TEST(MessagesTest, FlexibleRequestsHaveTagsBehindTheirOldHeader) {
  std::string out;
  EncodeRequest(SaslAuthenticateRequest{.token = {"X"}}, 2, 1, "me", out);
  EXPECT_EQ(support::ToHex(out),
            "00000010"
            "0024"
            "0002"
            "00000001"
            "00026d65"
            "00"
            "0258"
            "00");
}

TEST(MessagesTest, ResponseHeadersOfFlexibleVersionsHaveTagsExceptForApiVersions) {
  const std::string header("\0\0\0\1", 4);
  EXPECT_EQ(BodyOf(header + "body", MetadataRequest::kApi, 8), "body");
  EXPECT_EQ(BodyOf(header + '\0' + "body", MetadataRequest::kApi, 9), "body");
  EXPECT_EQ(BodyOf(header + "body", ApiVersionsRequest::kApi, 3), "body");
  EXPECT_EQ(BodyOf(header, MetadataRequest::kApi, 9), std::nullopt);
  EXPECT_EQ(BodyOf(header.substr(1), MetadataRequest::kApi, 0), std::nullopt);
}

TEST(MessagesTest, CountsThatClaimTooMuchAreRefusedAtOnce) {
  const std::string claim("\0\0\0\0\x7f\xff\xff\xff", 8);
  EXPECT_THAT(DecodeResponse<ListOffsetsRequest>(claim, 2),
              IsError(ErrorKind::kCorrupt, HasSubstr("cut short")));
}

TEST(MessagesTest, BytesBehindTheLastFieldAreNotOurs) {
  EXPECT_THAT(DecodeResponse<ListOffsetsRequest>(std::string(9, '\0'), 2),
              IsError(ErrorKind::kCorrupt, HasSubstr("longer")));
  EXPECT_THAT(DecodeResponse<ListOffsetsRequest>(std::string(8, '\0'), 2), IsOk());
}

TEST(MessagesTest, OneEmptySectionOfTagsTooManyIsLetPassAndNothingElse) {
  const std::string body = Stored("MetadataResponse").at(12);
  const auto with = [&](std::string_view more) {
    return DecodeResponse<MetadataRequest>(body + std::string(more), 12);
  };
  EXPECT_THAT(with(std::string_view("\0", 1)), IsOk());
  EXPECT_THAT(with("\1"), IsError(ErrorKind::kCorrupt, HasSubstr("cut short")));
  EXPECT_THAT(with(std::string_view("\0\0", 2)),
              IsError(ErrorKind::kCorrupt, HasSubstr("longer")));
}

}  // namespace
}  // namespace tidemark::kafka::wire
