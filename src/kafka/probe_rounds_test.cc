#include "kafka/probe_rounds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "support/result_matchers.h"

namespace tidemark::kafka {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using Search = PartitionFacts::Search;

constexpr const char* kTopic = "orders";
constexpr const char* kTopicId = "id-1";
constexpr Offset kEnd = 10;
constexpr int64_t kMs = 1'700'000'000'000;

/// One partition [0, kEnd) of kTopic on one broker, led in epoch 8. What is asked of former leaders
/// is answered by the script, a step a question; after it as the last one said.
struct Script {
  struct Step {
    bool is_answered = false;
    std::optional<EpochEnd::Held> held{};
  };
  std::vector<Step> steps;

  std::vector<int32_t> epochs_asked{};
  int searches = 0;
};

class ScriptedAsker final : public ClusterAsker {
 public:
  explicit ScriptedAsker(Script& script) : script_(script) {}

  void Begin() override {}
  void End() override {}
  Result<std::vector<DescribedTopic>> DescribeTopics(std::span<const std::string>,
                                                     std::map<int32_t, std::string>* addresses,
                                                     const Budget&) override {
    (*addresses)[1] = "b:9092";
    DescribedTopic topic;
    topic.facts.topic = kTopic;
    topic.facts.topic_id = kTopicId;
    topic.facts.exists = true;
    topic.facts.partition_count = 1;
    topic.leaders = {1};
    return std::vector{topic};
  }
  void AskConfigs(const std::vector<std::string>&, Milliseconds) override {}
  void CollectConfigs(std::span<TopicFacts>, Milliseconds) override {}
  std::optional<WallTime> AskWatermarks(IsolationLevel, std::span<WatermarkTarget> targets,
                                        Milliseconds, const Budget&) override {
    for (WatermarkTarget& target : targets) {
      target.facts->leader_epoch = 8;
      TakeOffset(LogEnd::kHigh, kEnd, &target);
      TakeOffset(LogEnd::kStart, 0, &target);
    }
    return WallTimeFromMillis(kMs);
  }
  void AskOffsetsAt(std::span<TimeTarget>, Milliseconds, const Budget&) override {}
  void AskEpochEnds(std::span<EpochTarget> targets, Milliseconds, const Budget&) override {
    for (EpochTarget& target : targets) {
      const size_t asked = std::min(script_.epochs_asked.size(), script_.steps.size() - 1);
      script_.epochs_asked.push_back(target.epoch);
      target.is_answered = script_.steps[asked].is_answered;
      target.held = script_.steps[asked].held;
    }
  }
  Result<uint64_t> SearchFirstRecords(IsolationLevel, std::span<SearchTarget> targets, Milliseconds,
                                      const Budget&) override {
    for (SearchTarget& target : targets) {
      ++script_.searches;
      target.outcome = SearchTarget::Outcome::kRecord;
      target.first = {.offset = target.from, .timestamp_ms = kMs};
    }
    return 0;
  }
  bool is_refused() const override { return false; }
  std::string ClusterId() override { return "cluster-a"; }

 private:
  Script& script_;
};

/// The partition as it was probed when `known_epoch` led before, and the record at 5 was the first
/// one after the committed offset 5.
PartitionFacts Probe(Script& script, int32_t known_epoch, std::string known_id = kTopicId,
                     Milliseconds limit = milliseconds(5000)) {
  const auto probe = MakeProbe(std::make_unique<ScriptedAsker>(script), RecordAccess::kAuto);
  ProbeRequest request{.topics = {{.name = kTopic, .committed = {{0, 5}}}}};
  request.topics[0].known_topic_id = std::move(known_id);
  request.topics[0].known_epochs[0] = {.epoch = known_epoch, .is_start_known = true};
  request.topics[0].known_firsts[0] = {.after = 5, .record = {.offset = 5, .timestamp_ms = 42}};
  auto result = probe->Probe(request, Budget::For(limit));
  EXPECT_THAT(result, support::IsOk());
  return result ? result->partitions.at(0) : PartitionFacts{};
}

TEST(ProbeRoundsTest, TheLeaderOfBeforeIsAskedNothing) {
  Script script{.steps = {{}}};
  const PartitionFacts facts = Probe(script, 8);
  EXPECT_EQ(facts.leader_epoch, 8);
  EXPECT_FALSE(facts.former_epoch);
  EXPECT_TRUE(script.epochs_asked.empty());
  EXPECT_EQ(facts.first->timestamp_ms, 42);
  EXPECT_EQ(script.searches, 0);
}

TEST(ProbeRoundsTest, AnotherTopicsLeaderIsNotAskedAbout) {
  Script script{.steps = {{}}};
  const PartitionFacts facts = Probe(script, 7, "id-0");
  EXPECT_FALSE(facts.former_epoch);
  EXPECT_TRUE(script.epochs_asked.empty());
  EXPECT_EQ(facts.first->timestamp_ms, kMs);
}

TEST(ProbeRoundsTest, AKnownRecordCountsBelowTheFormerLeadersEndOnly) {
  using Held = EpochEnd::Held;
  struct Case {
    std::optional<Held> held;
    int64_t stamp;
  };
  for (const Case& row : {Case{Held{7, 6}, 42},
                          {Held{7, kEnd}, 42},
                          {Held{7, 5}, kMs},
                          {Held{7, 0}, kMs},
                          {Held{6, kEnd}, kMs},
                          {std::nullopt, kMs}}) {
    Script script{.steps = {{.is_answered = true, .held = row.held}}};
    const PartitionFacts facts = Probe(script, 7);
    EXPECT_EQ(facts.former_epoch, (EpochEnd{.asked = 7, .held = row.held}));
    ASSERT_EQ(facts.search, Search::kRecord);
    EXPECT_EQ(facts.first->timestamp_ms, row.stamp) << (row.held ? row.held->end : -1);
  }
}

TEST(ProbeRoundsTest, AKnownRecordCountsUnderAKnownLeaderOnly) {
  Script script{.steps = {{}}};
  const auto probe = MakeProbe(std::make_unique<ScriptedAsker>(script), RecordAccess::kAuto);
  ProbeRequest request{.topics = {{.name = kTopic, .committed = {{0, 5}}}}};
  request.topics[0].known_topic_id = kTopicId;
  request.topics[0].known_firsts[0] = {.after = 5, .record = {.offset = 5, .timestamp_ms = 42}};
  ASSERT_OK_ASSIGN(const ProbeResult result, probe->Probe(request, Budget::For(seconds(5))));
  EXPECT_EQ(result.partitions[0].first->timestamp_ms, kMs);
}

TEST(ProbeRoundsTest, TheBeginningOfANewLeadersEpochIsAskedForWhereItIsWanted) {
  const auto ask = [](Script& script, bool wants, std::optional<int32_t> known, bool has_start) {
    const auto probe = MakeProbe(std::make_unique<ScriptedAsker>(script), RecordAccess::kAuto);
    ProbeRequest request{.topics = {{.name = kTopic, .committed = {{0, 5}}}}};
    request.topics[0].known_topic_id = kTopicId;
    request.topics[0].wants_epochs = wants;
    if (known) request.topics[0].known_epochs[0] = {.epoch = *known, .is_start_known = has_start};
    auto result = probe->Probe(request, Budget::For(seconds(5)));
    EXPECT_THAT(result, support::IsOk());
    return result ? result->partitions.at(0) : PartitionFacts{};
  };
  const Script::Step answer{.is_answered = true, .held = EpochEnd::Held{6, 4}};
  const EpochEnd before{.asked = 7, .held = EpochEnd::Held{6, 4}};
  struct Case {
    bool wants;
    std::optional<int32_t> known;
    bool has_start;
    std::vector<int32_t> asked;
  };
  for (const Case& row : {Case{true, std::nullopt, false, {7}},
                          {true, 8, false, {7}},
                          {true, 8, true, {}},
                          {true, 6, true, {6, 7}},
                          {false, std::nullopt, false, {}}}) {
    Script script{.steps = {answer}};
    const PartitionFacts facts = ask(script, row.wants, row.known, row.has_start);
    EXPECT_EQ(script.epochs_asked, row.asked);
    EXPECT_EQ(facts.epoch_before.has_value(), !row.asked.empty() && row.asked.back() == 7);
    EXPECT_EQ(facts.epoch_before.value_or(before), before);
  }
  // Not answered, the partition is decided all the same.
  Script silent{.steps = {{}}};
  const PartitionFacts facts = ask(silent, true, std::nullopt, false);
  EXPECT_FALSE(facts.epoch_before);
  EXPECT_EQ(facts.search, Search::kRecord);
}

TEST(ProbeRoundsTest, AFormerLeaderIsAskedAboutUntilThatIsAnswered) {
  Script script{.steps = {{}, {}, {.is_answered = true, .held = EpochEnd::Held{7, 3}}}};
  const PartitionFacts facts = Probe(script, 7);
  EXPECT_THAT(script.epochs_asked, ElementsAre(7, 7, 7));
  EXPECT_EQ(facts.former_epoch, (EpochEnd{.asked = 7, .held = EpochEnd::Held{7, 3}}));
  EXPECT_EQ(facts.fault, ProbeFault::kNone);
  EXPECT_EQ(facts.first->timestamp_ms, kMs);
}

TEST(ProbeRoundsTest, NothingIsToldOfAPartitionWhoseFormerLeaderIsInDoubt) {
  Script script{.steps = {{}}};
  const PartitionFacts facts = Probe(script, 7, kTopicId, milliseconds(500));
  EXPECT_FALSE(facts.former_epoch);
  EXPECT_FALSE(facts.high_watermark);
  EXPECT_FALSE(facts.log_start);
  EXPECT_FALSE(facts.first);
  EXPECT_THAT(facts.search, AnyOf(Search::kNotSearched, Search::kUndecided));
  EXPECT_EQ(facts.fault, ProbeFault::kTimeout);
  EXPECT_EQ(facts.fault_message, "no answer in time about the former leader from broker=b:9092");
}

}  // namespace
}  // namespace tidemark::kafka
