#include "app/sink_lanes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <map>
#include <mutex>

#include "support/result_matchers.h"

namespace tidemark::app {
namespace {

using sink::OutcomeKind;
using sink::SinkOutcome;
using sink::SinkStamp;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::chrono::seconds kPatience{20};

/// What the sinks of a test were asked, and what they answer.
class Script {
 public:
  struct Call {
    std::string sink;
    std::string table;
    SinkStamp stamp;
    std::optional<SinkStamp> from;
    std::vector<std::string> events{};
    bool compares_all = false;
  };

  SinkOutcome Apply(const std::string& sink, const sink::SinkUpdate& update) {
    const std::scoped_lock lock(mutex_);
    Call call{.sink = sink,
              .table = update.now.identity.table_id,
              .stamp = update.stamp,
              .from = std::nullopt,
              .compares_all = update.compares_all};
    if (update.delta != nullptr) {
      call.from = update.delta->from;
      call.events = update.delta->events;
    }
    calls_.push_back(call);
    changed_.notify_all();
    const auto it = answers_.find(sink);
    return it == answers_.end() ? SinkOutcome{} : it->second;
  }

  void Answer(const std::string& sink, SinkOutcome outcome) {
    const std::scoped_lock lock(mutex_);
    answers_[sink] = std::move(outcome);
  }

  std::vector<Call> WaitForCalls(const std::string& sink, size_t count) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, kPatience, [&] { return Of(sink).size() >= count; }));
    return Of(sink);
  }

 private:
  std::vector<Call> Of(const std::string& sink) const {
    std::vector<Call> calls;
    for (const auto& call : calls_)
      if (call.sink == sink) calls.push_back(call);
    return calls;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Call> calls_;
  std::map<std::string, SinkOutcome> answers_;
};

class ScriptedSink final : public sink::Sink {
 public:
  ScriptedSink(Script& script, std::string name) : script_(script), name_(std::move(name)) {}
  SinkOutcome Apply(const sink::SinkUpdate& update, const Budget&) override {
    return script_.Apply(name_, update);
  }
  Status Check(const Budget&) override { return {}; }

 private:
  Script& script_;
  std::string name_;
};

class Tables final : public SinkSource {
 public:
  Result<std::shared_ptr<const sink::TableNow>> Read(const std::string& uid,
                                                     const Budget&) override {
    const std::scoped_lock lock(mutex_);
    const auto it = tables_.find(uid);
    if (it == tables_.end()) return Fail(ErrorKind::kNotFound, "not known");
    return it->second;
  }
  void Set(const std::string& uid, SinkStamp stamp) {
    const std::scoped_lock lock(mutex_);
    auto now = std::make_shared<sink::TableNow>();
    now->stamp = stamp;
    now->view.identity.table_id = "db." + uid;
    for (int64_t seq = 1; seq <= stamp.seq; ++seq)
      now->events.push_back({seq, std::to_string(seq)});
    tables_[uid] = std::move(now);
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const sink::TableNow>> tables_;
};

class SinkLanesTest : public testing::Test {
 protected:
  static SinkConfig Sink(std::string name, std::vector<std::string> tables = {}) {
    SinkConfig config;
    config.name = std::move(name);
    config.target = sink::EventSinkOptions{};
    config.tables = std::move(tables);
    config.back_off = {.first = Milliseconds(10), .most = Milliseconds(20)};
    return config;
  }
  void Start(std::vector<SinkConfig> sinks) {
    lanes_.emplace(SinksConfig{.sinks = std::move(sinks), .hidden = {}}, source_, clock_,
                   [this](const SinkConfig& config) {
                     return std::make_unique<ScriptedSink>(script_, config.name);
                   });
  }
  void Change(const std::string& uid, SinkStamp stamp) {
    source_.Set(uid, stamp);
    lanes_->Note({.uid = uid, .table_id = "db." + uid, .base_path = "/" + uid});
  }
  /// Until the sink has settled what it was asked.
  metrics::SinkHealth WaitForHealth(const std::function<bool(const metrics::SinkHealth&)>& is) {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    for (;;) {
      auto health = lanes_->Health().at(0);
      if (is(health) || std::chrono::steady_clock::now() > end) return health;
      std::this_thread::yield();
    }
  }

  SystemClock clock_;
  Script script_;
  Tables source_;
  std::optional<SinkLanes> lanes_;
};

TEST_F(SinkLanesTest, TheFirstUpdateIsWholeAndTheNextOnesAreDeltas) {
  Start({Sink("a")});
  Change("t", {1, 3});
  script_.WaitForCalls("a", 1);
  WaitForHealth([](const auto& health) { return health.applied == 1; });
  Change("t", {1, 5});
  const auto calls = script_.WaitForCalls("a", 2);
  EXPECT_FALSE(calls[0].from);
  EXPECT_EQ(calls[1].from, (SinkStamp{1, 3}));
  EXPECT_THAT(calls[1].events, ElementsAre("4", "5"));
}

TEST_F(SinkLanesTest, ASinkThatIsAwayHoldsUpNeitherOthersNorItsOtherTables) {
  script_.Answer("a", {.kind = OutcomeKind::kTemporary, .reason = "away"});
  Start({Sink("a"), Sink("b")});
  Change("t", {1, 1});
  Change("u", {1, 1});
  EXPECT_THAT(script_.WaitForCalls("b", 2), SizeIs(2));
  script_.WaitForCalls("a", 6);
  Change("t", {1, 9});
  script_.Answer("a", {});
  const auto health =
      WaitForHealth([](const auto& each) { return each.applied == 2 && each.paused == 0; });
  EXPECT_EQ(health.behind, 0U);
  EXPECT_GE(health.failures, 4U);
  EXPECT_THAT(lanes_->States(/*with_running=*/false), IsEmpty());
}

TEST_F(SinkLanesTest, ARefusalQuarantinesTheTableUntilItIsResumed) {
  script_.Answer("a", {.kind = OutcomeKind::kPermanent, .reason = "no", .cure = "do this"});
  Start({Sink("a")});
  Change("t", {1, 1});
  EXPECT_EQ(WaitForHealth([](const auto& each) { return each.quarantined == 1; }).quarantined, 1U);
  Change("t", {1, 2});
  const auto states = lanes_->States(false);
  ASSERT_THAT(states, SizeIs(1));
  EXPECT_EQ(states[0].pace.cure, "do this");
  EXPECT_TRUE(states[0].is_behind);
  EXPECT_THAT(script_.WaitForCalls("a", 1), SizeIs(1));
  script_.Answer("a", {});
  EXPECT_THAT(lanes_->Resume("a", "t"), support::IsOk());
  const auto calls = script_.WaitForCalls("a", 2);
  EXPECT_EQ(calls[1].stamp, (SinkStamp{1, 2}));
  EXPECT_FALSE(calls[1].from);
  EXPECT_THAT(lanes_->Resume("a", "other"), support::IsError(ErrorKind::kNotFound, testing::_));
  EXPECT_THAT(lanes_->Resume("x", "t"), support::IsError(ErrorKind::kNotFound, testing::_));
}

TEST_F(SinkLanesTest, OneThatIsResumedIsComparedWholeUntilThatHasWorkedAndThenNotAgain) {
  Start({Sink("a")});
  Change("t", {1, 1});
  WaitForHealth([](const auto& each) { return each.applied == 1; });
  script_.Answer("a", {.kind = OutcomeKind::kTemporary, .reason = "away"});
  ASSERT_THAT(lanes_->Resume("a", "t"), support::IsOk());
  auto calls = script_.WaitForCalls("a", 3);
  EXPECT_FALSE(calls[0].compares_all);
  EXPECT_TRUE(calls[1].compares_all);
  EXPECT_FALSE(calls[1].from);
  EXPECT_TRUE(calls[2].compares_all);
  script_.Answer("a", {});
  WaitForHealth([](const auto& each) { return each.applied == 2 && each.behind == 0; });
  const size_t before = script_.WaitForCalls("a", 3).size();
  Change("t", {1, 2});
  calls = script_.WaitForCalls("a", before + 1);
  EXPECT_FALSE(calls.back().compares_all);
  EXPECT_EQ(calls.back().from, (SinkStamp{1, 1}));
}

TEST_F(SinkLanesTest, ATableThatASinkDoesNotWantIsNotBrought) {
  Start({Sink("a", {"db.orders*"}), Sink("b")});
  Change("clicks", {1, 1});
  Change("orders_eu", {1, 1});
  script_.WaitForCalls("b", 2);
  const auto calls = script_.WaitForCalls("a", 1);
  ASSERT_THAT(calls, SizeIs(1));
  EXPECT_EQ(calls[0].table, "db.orders_eu");
}

TEST_F(SinkLanesTest, ATableThatIsNotWholeYetIsNoFailure) {
  Start({Sink("a")});
  lanes_->Note({.uid = "t"});
  Change("u", {1, 1});
  script_.WaitForCalls("a", 1);
  const auto health = WaitForHealth([](const auto& each) { return each.applied == 1; });
  EXPECT_EQ(health.failures, 0U);
}

}  // namespace
}  // namespace tidemark::app
