#include "state/memory_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "support/result_matchers.h"

namespace tidemark::state {
namespace {

using freshness::PipelineMemory;
using support::IsError;
using support::IsOk;
using support::IsOkAnd;
using ::testing::HasSubstr;
using namespace std::chrono_literals;

PipelineMemory Rich() {
  constexpr WallTime kNow = std::chrono::sys_days(std::chrono::year(2026) / 11 / 30) + 3h;
  PipelineMemory memory;
  memory.checkpoint_value = "orders,0:100,12:7";
  memory.cluster_id = "cluster-a";
  memory.topic_ids = {{"orders", "id-1"}, {"of \"quotes\"", "id-2"}};
  memory.arrivals[{"orders", 0}] = {{100, kNow - 1min, 5s, 1h}, {150, kNow}};
  memory.arrivals[{"orders", 12}] = {{std::numeric_limits<int64_t>::max(), kNow}};
  memory.stamps[{"orders", 12}] = {.offset = 7,
                                   .timestamp_ms = -1,
                                   .timestamp_type = kafka::TimestampType::kNone,
                                   .committed = 7};
  memory.stamps[{"no id", 3}] = {.offset = 9,
                                 .timestamp_ms = 42,
                                 .timestamp_type = kafka::TimestampType::kCreate,
                                 .committed = {}};
  memory.leaderships[{"orders", 0}] = {.epoch = 7, .end = 150, .begin = 90, .previous = 5};
  memory.leaderships[{"led only", 1}] = {.epoch = std::numeric_limits<int32_t>::max(), .end = 0};
  memory.cuts[{"orders", 0}] = 120;
  memory.arrivals[{"slow to tell", 0}] = {{100, kNow, -3s}};
  memory.cluster = "main";
  memory.isolation = kafka::IsolationLevel::kReadCommitted;
  memory.clock = ClockReading{.steady = "a start of the machine", .ahead = -5ms};
  return memory;
}

TEST(MemoryTextTest, WhatIsWrittenIsReadAgain) {
  EXPECT_THAT(ParseMemory(FormatMemory(Rich())), IsOkAnd(Rich()));
  EXPECT_THAT(ParseMemory(FormatMemory({})), IsOkAnd(PipelineMemory{}));
}

TEST(MemoryTextTest, AClockWithoutANameIsOfThisProcessAlone) {
  PipelineMemory memory;
  memory.clock = ClockReading{.steady = "", .ahead = 5ms};
  EXPECT_THAT(ParseMemory(FormatMemory(memory)), IsOkAnd(PipelineMemory{}));
}

TEST(MemoryTextTest, BytesThatAreNoTextAreReplaced) {
  PipelineMemory memory;
  memory.checkpoint_value = "orders\xff,0:1";
  EXPECT_THAT(ParseMemory(FormatMemory(memory)), IsOk());
}

TEST(MemoryTextTest, PairsOfAnOlderReleaseAreRead) {
  PipelineMemory memory;
  memory.arrivals[{"t", 1}] = {{.end = 5, .seen_at = WallTimeFromMillis(7)}};
  EXPECT_THAT(ParseMemory(R"({"topics":{"t":{"partitions":{"1":{"ends":[[5,7]]}}}}})"),
              IsOkAnd(memory));
}

TEST(MemoryTextTest, KeysOfANewerReleaseArePassedOver) {
  EXPECT_THAT(ParseMemory(R"({"cluster":"c","later":[1],"topics":{"t":{"id":"i","later":{}}}})"),
              IsOk());
}

struct BadText {
  const char* text;
  const char* complaint;
};
TEST(MemoryTextTest, WhatIsNotAMemoryIsCorruptAndNamed) {
  for (const BadText& bad : {
           BadText{"", "not a JSON object"},
           {"[]", "not a JSON object"},
           {R"({"cluster":1})", "not a text at=cluster"},
           {R"({"topics":[]})", "at=topics"},
           {R"({"clock":5})", "not a clock at=clock"},
           {R"({"clock":["",5]})", "not a clock at=clock"},
           {R"({"clock":["a",-9223372036854775808]})", "not a clock at=clock"},
           {R"({"clock":["a",5.5]})", "not a whole number at=clock"},
           {R"({"topics":{"t":1}})", "at=t"},
           {R"({"topics":{"t":{"partitions":{"-1":{}}}}})", "not a partition number at=t"},
           {R"({"topics":{"t":{"partitions":{"1x":{}}}}})", "not a partition number at=t"},
           {R"({"topics":{"t":{"partitions":{"4294967296":{}}}}})", "not a partition number"},
           {R"({"topics":{"t":{"partitions":{"1":{"ends":[[1]]}}}}})", "at=t/1"},
           {R"({"topics":{"t":{"partitions":{"1":{"led":[1,2]}}}}})", "not a leadership at=t/1"},
           {R"({"topics":{"t":{"partitions":{"1":{"led":[4294967296,1,null,0]}}}}})",
            "not a leader epoch at=t/1"},
           {R"({"topics":{"t":{"partitions":{"1":{"led":[1,1,"0",0]}}}}})",
            "not a whole number at=t/1"},
           {R"({"topics":{"t":{"partitions":{"1":{"cut":"9"}}}}})", "not a whole number at=t/1"},
           {R"({"topics":{"t":{"partitions":{"1":{"ends":[[1,2.5]]}}}}})", "not a whole number"},
           {R"({"topics":{"t":{"partitions":{"1":{"ends":[[18446744073709551615,2]]}}}}})",
            "number is over"},
           {R"({"topics":{"t":{"partitions":{"1":{"ends":[[1,2,3]]}}}}})", "not an end and its"},
           {R"({"topics":{"t":{"partitions":{"1":{"ends":[[1,2,-9000000000000000000,0]]}}}}})",
            "not a duration"},
           {R"({"topics":{"t":{"partitions":{"1":{"ends":[[1,2,0,9223372036854775807]]}}}}})",
            "not a duration"},
           {R"({"topics":{"t":{"partitions":{"1":{"first":[1,2,"when",3]}}}}})",
            "not a timestamp type at=t/1"},
           {R"({"topics":{"t":{"partitions":{"1":{"first":[1,2]}}}}})", "not a first record"},
       }) {
    EXPECT_THAT(ParseMemory(bad.text), IsError(ErrorKind::kCorrupt, HasSubstr(bad.complaint)))
        << bad.text;
  }
}

TEST(MemoryTextTest, EveryTruncationIsCorrupt) {
  const std::string text = FormatMemory(Rich());
  for (size_t length = 0; length < text.size(); ++length)
    EXPECT_FALSE(ParseMemory(std::string_view(text).substr(0, length)).has_value()) << length;
}

TEST(MemoryTextTest, NoFlippedByteDoesHarm) {
  const std::string text = FormatMemory(Rich());
  for (size_t at = 0; at < text.size(); ++at) {
    for (const int bit : {0, 3, 5, 7}) {
      std::string flipped = text;
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << bit));
      const auto parsed = ParseMemory(flipped);
      EXPECT_TRUE(parsed || parsed.error().kind == ErrorKind::kCorrupt) << at;
    }
  }
}

}  // namespace
}  // namespace tidemark::state
