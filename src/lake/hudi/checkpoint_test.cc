#include "lake/hudi/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "lake/hudi/topic_offsets.h"
#include "support/result_matchers.h"

namespace tidemark::lake::hudi {
namespace {

using support::IsError;
using support::IsOk;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

SourceCheckpoint Streamer(std::string_view value) {
  return ParseCheckpoint(kStreamerKeyV1, value);
}

struct KafkaCase {
  std::string value;
  TopicOffsets offsets;
};

TEST(StreamerCheckpointTest, KafkaOffsetsAreRead) {
  const KafkaCase cases[] = {
      {"fresh-a1,0:6,1:3,2:2", {"fresh-a1", {{0, 6}, {1, 3}, {2, 2}}, ""}},
      {"123,0:5", {"123", {{0, 5}}, ""}},
      {"shop.orders_v2-eu,11:0", {"shop.orders_v2-eu", {{11, 0}}, ""}},
      {"t,2:2,0:1", {"t", {{0, 1}, {2, 2}}, ""}},
      {"t,2147483647:9223372036854775807", {"t", {{2147483647, 9223372036854775807}}, ""}},
      {std::string(249, 'x') + ",0:1", {std::string(249, 'x'), {{0, 1}}, ""}},
  };
  for (const KafkaCase& c : cases) {
    SCOPED_TRACE(c.value);
    const SourceCheckpoint checkpoint = Streamer(c.value);
    EXPECT_EQ(checkpoint.kind, CheckpointKind::kKafka);
    EXPECT_THAT(checkpoint.topics, ElementsAre(c.offsets));
    EXPECT_EQ(checkpoint.value, c.value);
    EXPECT_EQ(checkpoint.key, kStreamerKeyV1);
    EXPECT_EQ(checkpoint.defect, "");
  }
}

TEST(StreamerCheckpointTest, OffsetsThatBreakTheGrammarAreADefectAndNotGuessed) {
  const std::pair<std::string, std::string> cases[] = {
      {"orders", "no partition follows the topic topic=orders"},
      {"orders,", "no offset follows the partition text=''"},
      {"orders,0", "no offset follows the partition text='0'"},
      {"orders,0:", "offset is no number text=''"},
      {"orders,:5", "partition is no number text=''"},
      {"orders,0:-1", "offset is no number text='-1'"},
      {"orders,-1:5", "partition is no number text='-1'"},
      {"orders,0:+1", "offset is no number text='+1'"},
      {"orders,0:1.5", "offset is no number text='1.5'"},
      {"orders,0:1,", "no offset follows the partition text=''"},
      {"orders,0:1,,1:2", "no offset follows the partition text=''"},
      {"orders,0:1 ", "offset is no number text='1 '"},
      {"orders, 0:1", "partition is no number text=' 0'"},
      {" orders,0:1", "value names no topic Kafka allows text=' orders'"},
      {"orders ,0:1", "value names no topic Kafka allows text='orders '"},
      {"orders,0:1:2", "offset is no number text='1:2'"},
      {"orders,0:1;1:2", "offset is no number text='1;1:2'"},
      {"orders,0:1,0:1", "a partition is named twice partition=0"},
      {"orders,0:9223372036854775808",
       "offset is over 9223372036854775807 text='9223372036854775808'"},
      {"orders,2147483648:1", "partition is over 2147483647 text='2147483648'"},
      {"orders,items,0:1", "no offset follows the partition text='items'"},
      {",0:1", "value names no topic Kafka allows text=''"},
      {"or/ders,0:1", "value names no topic Kafka allows text='or/ders'"},
      {"stream,shardId-1:4,0:5", "partition is no number text='shardId-1'"},
      {"   ", "value is blank"},
  };
  for (const auto& [value, defect] : cases) {
    SCOPED_TRACE(value);
    const SourceCheckpoint checkpoint = Streamer(value);
    EXPECT_EQ(checkpoint.kind, CheckpointKind::kOther);
    EXPECT_THAT(checkpoint.topics, IsEmpty());
    EXPECT_EQ(checkpoint.defect, defect);
  }
}

TEST(StreamerCheckpointTest, ALongBadValueIsShownShortened) {
  EXPECT_EQ(Streamer("orders,0:" + std::string(1000, 'x')).defect,
            "offset is no number text='" + std::string(60, 'x') + "…'");
}

TEST(StreamerCheckpointTest, OtherSourcesAreToldByTheirShape) {
  const std::pair<std::string, CheckpointKind> cases[] = {
      {"events,shardId-000000000000:49590338271490256608559692538361571095921575989136588898",
       CheckpointKind::kKinesis},
      {"events,shardId-000000000000:1,shardId-000000000001:2", CheckpointKind::kKinesis},
      {R"({"persistent://public/default/t":[8,-1,1,16,3]})", CheckpointKind::kPulsar},
      {R"({"persistent://public/default/t":"CAEQAw=="})", CheckpointKind::kPulsar},
      {"20261130025347130", CheckpointKind::kInstant},
      {"20190417123456", CheckpointKind::kInstant},
      {"00000000000000", CheckpointKind::kInstant},
      {"resumeFromInstantRequestTime:20261130025347130", CheckpointKind::kInstant},
      {"resumeFromInstantCompletionTime:20261130025347130", CheckpointKind::kInstant},
      {"20261130025347130#p/a,b:1.json", CheckpointKind::kInstant},
      {"1796007433245", CheckpointKind::kEpochMillis},
      {"-9223372036854775808", CheckpointKind::kEpochMillis},
      {"0", CheckpointKind::kOther},
      {"1796007433", CheckpointKind::kOther},
      {"20261399025347130", CheckpointKind::kOther},
      {"2024-01-31", CheckpointKind::kOther},
      {"2024-01-31 10:15:00.0", CheckpointKind::kOther},
      {"2024-01-31 10:15:00,5", CheckpointKind::kOther},
      {"12.50", CheckpointKind::kOther},
      {"null pointer", CheckpointKind::kOther},
  };
  for (const auto& [value, kind] : cases) {
    SCOPED_TRACE(value);
    const SourceCheckpoint checkpoint = Streamer(value);
    EXPECT_EQ(CheckpointKindName(checkpoint.kind), CheckpointKindName(kind));
    EXPECT_EQ(checkpoint.defect, "");
    EXPECT_THAT(checkpoint.topics, IsEmpty());
  }
}

TEST(StreamerCheckpointTest, AResetValueMayBeWhatAUserTypes) {
  const std::pair<std::string, CheckpointKind> cases[] = {
      {"fresh-a7,0:1,1:2", CheckpointKind::kKafka},
      {"1795983300000", CheckpointKind::kEpochMillis},
      {"1795983300", CheckpointKind::kEpochMillis},
      {"42", CheckpointKind::kOther},
  };
  for (const auto key : {kStreamerResetKeyV1, kStreamerResetKeyV2}) {
    for (const auto& [value, kind] : cases) {
      SCOPED_TRACE(value);
      const SourceCheckpoint checkpoint = ParseCheckpoint(key, value);
      EXPECT_EQ(checkpoint.kind, kind);
      EXPECT_EQ(checkpoint.defect, "");
    }
  }
}

TEST(MultiWriterCheckpointTest, EveryWriterHasItsOffsets) {
  const SourceCheckpoint checkpoint =
      Streamer(R"({"w2":"orders,0:5","w1":"orders,0:4,1:2","eu":"orders.eu,0:1"})");
  EXPECT_EQ(checkpoint.kind, CheckpointKind::kKafka);
  EXPECT_THAT(checkpoint.topics, ElementsAre(TopicOffsets{"orders", {{0, 5}}, "w2"},
                                             TopicOffsets{"orders", {{0, 4}, {1, 2}}, "w1"},
                                             TopicOffsets{"orders.eu", {{0, 1}}, "eu"}));
}

TEST(MultiWriterCheckpointTest, OneBadWriterSpoilsTheWholeValue) {
  const std::pair<std::string, std::string> cases[] = {
      {R"({"w1":"orders,0:5","w2":"orders"})", "writer=w2: no partition follows the topic"},
      {R"({"w1":"orders,0:5","w2":7})", "writer=w2: value is no string"},
      {R"({"w1":"orders,0:5","w1":"orders,0:6"})", "a writer is named twice writer=w1"},
      {R"({"w1":"orders,0:5","w2":""})", "writer=w2: value names no topic"},
      {R"({"w1":"orders,0:5")", "value is no whole JSON object"},
      {R"({"w1":"orders,0:5"}})", "value is no whole JSON object"},
      {R"({"w1":"orders,0:5)", "value is no whole JSON object"},
      {"{}", "value is an empty JSON object"},
      {"{", "value is no whole JSON object"},
  };
  for (const auto& [value, defect] : cases) {
    SCOPED_TRACE(value);
    const SourceCheckpoint checkpoint = Streamer(value);
    EXPECT_EQ(checkpoint.kind, CheckpointKind::kOther);
    EXPECT_THAT(checkpoint.topics, IsEmpty());
    EXPECT_THAT(checkpoint.defect, HasSubstr(defect));
  }
}

TEST(ForeignCheckpointTest, SparkBatchIdsAreNoOffsets) {
  const auto checkpoint = ParseCheckpoint(kSparkSinkKey, R"({"default_single_writer":"1"})");
  EXPECT_EQ(checkpoint.kind, CheckpointKind::kSparkBatch);
  EXPECT_THAT(checkpoint.topics, IsEmpty());
  EXPECT_THAT(ParseCheckpoint(kSparkSinkKey, "{\"a\":").defect, HasSubstr("no whole JSON object"));
}

TEST(ForeignCheckpointTest, KafkaConnectNamesNoTopic) {
  const auto checkpoint = ParseCheckpoint(kKafkaConnectKey, "1=987,0=1200");
  EXPECT_EQ(checkpoint.kind, CheckpointKind::kKafkaConnect);
  EXPECT_THAT(checkpoint.topics, ElementsAre(TopicOffsets{"", {{0, 1200}, {1, 987}}, ""}));
  for (const std::string value : {"0:1200", "0=", "=1", "0=1,", "0=1,0=2", "orders,0=1", "x"}) {
    SCOPED_TRACE(value);
    const auto bad = ParseCheckpoint(kKafkaConnectKey, value);
    EXPECT_EQ(bad.kind, CheckpointKind::kOther);
    EXPECT_NE(bad.defect, "");
  }
}

TEST(ForeignCheckpointTest, FlinkNamesACheckpointAndSometimesOffsetsForShowing) {
  EXPECT_EQ(ParseCheckpoint(kFlinkIdKey, "41").kind, CheckpointKind::kFlink);
  const auto checkpoint = ParseCheckpoint(
      kFlinkOffsetsKey,
      "kafka_metadata%3Atest-topic%3A0:100;kafka_metadata%3Atest-topic%3A1:200;"
      "kafka_metadata%3Aother%3A0:7;kafka_metadata%3Akafka_cluster%3Atest-topic%3A:test-cluster");
  EXPECT_EQ(checkpoint.kind, CheckpointKind::kFlink);
  EXPECT_THAT(checkpoint.topics, ElementsAre(TopicOffsets{"test-topic", {{0, 100}, {1, 200}}, ""},
                                             TopicOffsets{"other", {{0, 7}}, ""}));
  for (const std::string value :
       {"kafka_metadata%3At%3A0", "kafka_metadata%3At", "kafka_metadata%3A%3A0:1", "t%3A0:1",
        "kafka_metadata%3At%3A0:1;;", "kafka_metadata%3At%3A0:1;kafka_metadata%3At%3A0:2"}) {
    SCOPED_TRACE(value);
    EXPECT_NE(ParseCheckpoint(kFlinkOffsetsKey, value).defect, "");
  }
}

using Extra = std::map<std::string, std::string>;

std::string KeyThatCounts(const Extra& extra) {
  const auto checkpoint = CheckpointOf(extra);
  return checkpoint ? checkpoint->key : "none";
}

TEST(CheckpointOfCommitTest, TheKeyThatCountsIsHudis) {
  const std::string v2(kStreamerKeyV2), v2_reset(kStreamerResetKeyV2);
  const std::string v1(kStreamerKeyV1), v1_reset(kStreamerResetKeyV1);
  const std::pair<Extra, std::string> cases[] = {
      {{}, "none"},
      {{{"schema", "{}"}}, "none"},
      {{{v1, ""}}, "none"},
      {{{v1, ""}, {v1_reset, ""}, {v2, ""}, {v2_reset, ""}}, "none"},
      {{{v1, "t,0:1"}}, v1},
      {{{v1, "t,0:1"}, {v1_reset, "t,0:0"}}, v1},
      {{{v1_reset, "t,0:0"}}, v1_reset},
      {{{v1, ""}, {v1_reset, "t,0:0"}}, v1_reset},
      {{{v2, "t,0:2"}, {v1, "t,0:1"}}, v2},
      {{{v2_reset, "t,0:2"}, {v1, "t,0:1"}}, v2_reset},
      {{{v2, ""}, {v1, "t,0:1"}}, v1},
      {{{v2, "t,0:2"}, {v2_reset, "t,0:0"}}, v2},
      {{{"deltastreamer.checkpoint.ignore_key", "x"}}, "none"},
  };
  for (const auto& [extra, key] : cases) {
    SCOPED_TRACE(::testing::PrintToString(extra));
    EXPECT_EQ(KeyThatCounts(extra), key);
  }
}

TEST(CheckpointOfCommitTest, StreamerKeysCountBeforeForeignOnes) {
  Extra extra = {{std::string(kFlinkIdKey), "7"}};
  EXPECT_EQ(KeyThatCounts(extra), kFlinkIdKey);
  extra.emplace(kFlinkOffsetsKey, "kafka_metadata%3At%3A0:1");
  EXPECT_EQ(KeyThatCounts(extra), kFlinkOffsetsKey);
  extra.emplace(kKafkaConnectKey, "0=1");
  EXPECT_EQ(KeyThatCounts(extra), kKafkaConnectKey);
  extra.emplace(kSparkSinkKey, "{\"q\":\"2\"}");
  EXPECT_EQ(KeyThatCounts(extra), kSparkSinkKey);
  extra.emplace(kStreamerResetKeyV1, "t,0:1");
  EXPECT_EQ(KeyThatCounts(extra), kStreamerResetKeyV1);
}

TEST(CheckpointOfCommitTest, AFlinkRecommitThatDoesNotKnowItsIdIsNone) {
  EXPECT_EQ(KeyThatCounts({{std::string(kFlinkIdKey), "-1"}}), "none");
}

TEST(SamePositionTest, KeyAndOrderDoNotMatter) {
  EXPECT_TRUE(IsSamePosition(ParseCheckpoint(kStreamerKeyV1, "t,0:1,1:2"),
                             ParseCheckpoint(kStreamerKeyV2, "t,1:2,0:1")));
  EXPECT_TRUE(IsSamePosition(Streamer(R"({"a":"t,0:1","b":"t,1:1"})"),
                             Streamer(R"({"b":"t,1:1","a":"t,0:1"})")));
  EXPECT_TRUE(IsSamePosition(Streamer("1796007433245"), Streamer("1796007433245")));
}

TEST(SamePositionTest, OtherOffsetsTopicsWritersOrKindsDo) {
  const SourceCheckpoint base = Streamer("t,0:1,1:2");
  for (const std::string value :
       {"t,0:1,1:3", "t,0:1", "u,0:1,1:2", R"({"w":"t,0:1,1:2"})", "1796007433245", "t,0:1,1:2,"}) {
    SCOPED_TRACE(value);
    EXPECT_FALSE(IsSamePosition(base, Streamer(value)));
  }
}

TEST(CheckpointTest, EveryTruncationIsReadOrADefect) {
  const std::string offsets = "orders,0:1200,1:987";
  for (size_t size = 1; size < offsets.size(); ++size) {
    const auto checkpoint = Streamer(offsets.substr(0, size));
    EXPECT_NE(checkpoint.kind == CheckpointKind::kKafka, !checkpoint.defect.empty()) << size;
  }
  const std::string map = R"({"w1":"orders,0:4","w2":"orders,0:5"})";
  for (size_t size = 1; size < map.size(); ++size)
    EXPECT_NE(Streamer(map.substr(0, size)).defect, "") << size;
}

TEST(CheckpointTest, NoByteFlipCrashesOrReadsAsTheSamePosition) {
  for (const std::string value : {"orders,0:1200,1:987", R"({"w1":"orders,0:4","w2":"o,0:5"})"}) {
    const SourceCheckpoint whole = Streamer(value);
    for (size_t i = 0; i < value.size(); ++i) {
      for (int bit = 0; bit < 8; ++bit) {
        std::string flipped = value;
        flipped[i] = static_cast<char>(flipped[i] ^ (1 << bit));
        for (const auto key : {kStreamerKeyV1, kSparkSinkKey, kKafkaConnectKey, kFlinkOffsetsKey}) {
          EXPECT_FALSE(IsSamePosition(ParseCheckpoint(key, flipped), whole)) << flipped;
        }
      }
    }
  }
}

TEST(TopicNameTest, KafkasRuleHolds) {
  EXPECT_TRUE(IsTopicName("a"));
  EXPECT_TRUE(IsTopicName("A.b_c-9"));
  EXPECT_FALSE(IsTopicName(""));
  EXPECT_FALSE(IsTopicName("."));  // Kafka takes topics for folders
  EXPECT_FALSE(IsTopicName(".."));
  EXPECT_TRUE(IsTopicName("..."));
  EXPECT_FALSE(IsTopicName("a b"));
  EXPECT_FALSE(IsTopicName("caf\xc3\xa9"));
  EXPECT_FALSE(IsTopicName(std::string(250, 'a')));
}

}  // namespace
}  // namespace tidemark::lake::hudi
