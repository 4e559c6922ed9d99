#include "app/watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "storage/memory_store.h"
#include "support/result_matchers.h"

namespace tidemark::app {
namespace {

using freshness::PipelineStatus;
using freshness::Reason;
using kafka::PartitionFacts;
using kafka::ProbeRequest;
using kafka::ProbeResult;
using ::testing::ElementsAre;
using ::testing::SizeIs;
using namespace std::chrono_literals;

constexpr const char* kProperties =
    "hoodie.table.name=t\nhoodie.table.type=COPY_ON_WRITE\nhoodie.table.version=6\n"
    "hoodie.timeline.layout.version=1\n";
/// Longer than anything here takes on a loaded machine.
constexpr auto kPatience = 30s;

/// The machine's clocks, set forward.
class JumpingClock final : public Clock {
 public:
  void Jump(Milliseconds by) { ahead_ += by.count(); }
  /// Somebody sets the wall clock; the steady one goes on.
  void Set(Milliseconds by) { wall_ahead_ += by.count(); }
  WallTime Now() const override { return clock_.Now() + Milliseconds(ahead_ + wall_ahead_); }
  MonoTime Mono() const override { return clock_.Mono() + Milliseconds(ahead_); }
  std::string SteadyName() const override { return steady; }

  std::string steady = "first start";

 private:
  SystemClock clock_;
  std::atomic<int64_t> ahead_ = 0;
  std::atomic<int64_t> wall_ahead_ = 0;
};

/// A place that can be made to hang until it is let go, or told to stop.
class Gate {
 public:
  void Close() { is_closed_ = true; }
  /// As a system call that nothing interrupts.
  void CloseForGood() {
    hears_nobody_ = true;
    is_closed_ = true;
  }
  void Open() {
    is_closed_ = false;
    opened_.notify_all();
  }
  void Pass(const Budget& budget) {
    std::unique_lock lock(mutex_);
    const auto may_go = [&] {
      return !is_closed_ || (!hears_nobody_ && (budget.is_stopped() || budget.is_over()));
    };
    while (!may_go()) opened_.wait_for(lock, 5ms);
  }

 private:
  std::atomic<bool> is_closed_ = false;
  std::atomic<bool> hears_nobody_ = false;
  std::mutex mutex_;
  std::condition_variable opened_;
};

/// What the tests' clusters hold and were asked.
struct World {
  std::mutex mutex;
  std::map<std::string, Gate> cluster_gates;  // by bootstrap servers; made before the watch
  std::vector<ProbeRequest> requests;
  std::set<std::string> dead;
  std::set<std::string> silent_topics;
  std::vector<Milliseconds> deadlines;  // of each request
  int opened = 0;
  kafka::Offset end = 10;
  std::optional<int64_t> stamp;
  const Clock* clock = nullptr;
};

/// Every partition ends at world.end; its first record is one minute old, or was stamped at
/// world.stamp.
class FakeProbe final : public kafka::PartitionProbe {
 public:
  FakeProbe(World& world, std::string servers) : world_(world), servers_(std::move(servers)) {}

  Result<ProbeResult> Probe(const ProbeRequest& request, const Budget& budget) override {
    world_.cluster_gates.at(servers_).Pass(budget);
    if (budget.is_stopped()) return Fail(ErrorKind::kCancelled, "stopped");
    const std::lock_guard lock(world_.mutex);
    world_.requests.push_back(request);
    world_.deadlines.push_back(budget.Remaining());
    if (world_.dead.contains(servers_)) return Fail(ErrorKind::kUnavailable, "refused");
    ProbeResult result;
    result.observed_at = world_.clock->Now();
    result.cluster_id = servers_;
    for (const auto& topic : request.topics) {
      kafka::TopicFacts facts_of_topic;
      facts_of_topic.topic = topic.name;
      facts_of_topic.exists = true;
      facts_of_topic.topic_id = "id";
      facts_of_topic.is_config_known = true;
      facts_of_topic.partition_count = static_cast<int32_t>(topic.committed.size());
      result.topics.push_back(facts_of_topic);
      for (const auto& [partition, committed] : topic.committed) {
        PartitionFacts facts;
        facts.partition = {topic.name, partition};
        facts.committed = committed;
        if (world_.silent_topics.contains(topic.name)) {
          facts.fault = kafka::ProbeFault::kTimeout;
          result.partitions.push_back(facts);
          continue;
        }
        facts.log_start = 0;
        facts.high_watermark = world_.end;
        facts.last_stable = world_.end;
        if (committed < world_.end) {
          facts.search = PartitionFacts::Search::kRecord;
          facts.first = {committed, world_.stamp.value_or(MillisOf(result.observed_at) - 60'000),
                         kafka::TimestampType::kCreate};
        }
        result.partitions.push_back(facts);
      }
    }
    return result;
  }

 private:
  World& world_;
  std::string servers_;
};

class WatchTest : public ::testing::Test {
 protected:
  void SetUp() override {
    test_ = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    options_.gathering = 20ms;
    world_.clock = &clock_;
  }

  std::string Uri(const std::string& name) const { return "memory://watch_" + test_ + "_" + name; }
  void Commit(const std::string& name, const std::string& instant, const std::string& checkpoint) {
    auto store = storage::OpenStore(Uri(name), {});
    ASSERT_THAT(store, support::IsOk());
    ASSERT_THAT((*store)->Put(".hoodie/hoodie.properties", kProperties, {}), support::IsOk());
    const std::string body = R"({"partitionToWriteStats":{},"compacted":false,"extraMetadata":{)"
                             R"("deltastreamer.checkpoint.key":")" +
                             checkpoint + R"("},"operationType":"UPSERT"})";
    ASSERT_THAT((*store)->Put(".hoodie/" + instant + ".commit", body, {}), support::IsOk());
  }
  /// A pipeline on a table in memory; long interval, so that only the first look comes by itself.
  PipelineConfig Pipeline(const std::string& name, const std::string& cluster = "main",
                          Milliseconds interval = 1h) {
    PipelineConfig pipeline;
    pipeline.spec.name = name;
    pipeline.spec.table = Uri(name);
    pipeline.spec.cluster = cluster;
    pipeline.interval = interval;
    config_.clusters[cluster] = {cluster, {cluster, {}}};
    world_.cluster_gates[cluster];
    return pipeline;
  }
  void Add(const std::string& name, const std::string& checkpoint,
           const std::string& cluster = "main", Milliseconds interval = 1h) {
    Commit(name, "20240101120000123", checkpoint);
    config_.pipelines.push_back(Pipeline(name, cluster, interval));
  }

  void Start(std::vector<Remembered> remembered = {}) {
    watch_ = std::make_unique<Watch>(config_, std::move(remembered), options_, edges_,
                                     [this](const Look& look) {
                                       const std::lock_guard lock(looks_mutex_);
                                       looks_.push_back(look);
                                       looked_.notify_all();
                                     });
  }
  /// The report of look number `count` (from 1) at the pipeline.
  freshness::PipelineReport AwaitLook(const std::string& name, size_t count = 1) {
    return AwaitWholeLook(name, count).report;
  }
  Look AwaitWholeLook(const std::string& name, size_t count = 1) {
    std::unique_lock lock(looks_mutex_);
    Look found;
    const bool is_there = looked_.wait_for(lock, kPatience, [&] {
      size_t seen = 0;
      for (const Look& look : looks_) {
        if (look.report.pipeline == name && ++seen == count) found = look;
      }
      return seen >= count;
    });
    EXPECT_TRUE(is_there) << "no look " << count << " at " << name;
    return found;
  }

  std::string test_;
  Config config_;
  World world_;
  JumpingClock clock_;
  WatchOptions options_;
  FreshnessEdges edges_{
      .open_store = [](const std::string& uri, const storage::StoreOptions& options)
          -> Result<std::unique_ptr<storage::ObjectStore>> {
        if (uri.find("refused") != std::string::npos)
          return Fail(ErrorKind::kUnavailable, "no answer");
        return storage::OpenStore(uri, options);
      },
      .open_probe =
          [this](const ClusterConfig& cluster) -> Result<std::unique_ptr<kafka::PartitionProbe>> {
        const std::lock_guard lock(world_.mutex);
        ++world_.opened;
        return std::make_unique<FakeProbe>(world_, cluster.options.bootstrap_servers);
      },
      .columns = []() -> Result<const lake::ColumnReader*> {
        return Fail(ErrorKind::kUnavailable, "no columnar module in this test");
      },
      .clock = &clock_,
  };
  std::mutex looks_mutex_;
  std::condition_variable looked_;
  std::vector<Look> looks_;
  std::unique_ptr<Watch> watch_;  // ends first
};

TEST_F(WatchTest, EveryPipelineIsLookedAtOnceAtTheBeginning) {
  Add("a", "orders,0:10");
  Add("b", "clicks,0:4");
  Start();
  EXPECT_EQ(AwaitLook("a").status, PipelineStatus::kFresh);
  EXPECT_EQ(AwaitLook("b").lag, 60s);
}

TEST_F(WatchTest, BeforeTheFirstLookAPipelineIsUnknown) {
  Add("a", "orders,0:10");
  world_.cluster_gates["main"].Close();
  Start();
  const auto all = watch_->Snapshot(false);
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_EQ(all[0].report.status, PipelineStatus::kUnknown);
  EXPECT_EQ(all[0].report.lag, std::nullopt);
  EXPECT_EQ(all[0].looks, 0u);
}

TEST_F(WatchTest, PipelinesOfAClusterThatAreReadyTogetherAreAskedTogether) {
  options_.gathering = 2s;
  for (const char* name : {"a", "b", "c"}) Add(name, std::string("topic-") + name + ",0:4");
  Start();
  for (const char* name : {"a", "b", "c"}) AwaitLook(name);
  const std::lock_guard lock(world_.mutex);
  ASSERT_THAT(world_.requests, SizeIs(1));
  EXPECT_THAT(world_.requests[0].topics, SizeIs(3));
}

TEST_F(WatchTest, APipelineIsLookedAtAgainEveryInterval) {
  Add("a", "orders,0:10", "main", 100ms);
  Start();
  AwaitLook("a", 5);
  const std::lock_guard lock(world_.mutex);
  EXPECT_EQ(world_.opened, 1) << "the client is kept";
}

TEST_F(WatchTest, WhatWasSeenIsAskedForAsKnown) {
  Add("a", "orders,0:4", "main", 100ms);
  Start();
  EXPECT_FALSE(AwaitWholeLook("a", 2).memory.stamps.empty());
  const std::lock_guard lock(world_.mutex);
  EXPECT_TRUE(world_.requests[0].topics[0].known_firsts.empty());
  EXPECT_EQ(world_.requests[1].topics[0].known_firsts.at(0).record.offset, 4);
}

TEST_F(WatchTest, AWakeUpIsALookNow) {
  Add("a", "orders,0:4");
  Start();
  EXPECT_EQ(AwaitLook("a").counts.lagging, 1);
  Commit("a", "20240101120001123", "orders,0:10");
  EXPECT_TRUE(watch_->WakeUp("a"));
  EXPECT_EQ(AwaitLook("a", 2).status, PipelineStatus::kFresh);
  EXPECT_FALSE(watch_->WakeUp("b"));
}

TEST_F(WatchTest, AnObjectWakesTheTableItLiesIn) {
  Add("a", "orders,0:4");
  Add("ab", "orders,0:4");
  Start();
  AwaitLook("a");
  AwaitLook("ab");
  EXPECT_EQ(watch_->WakeUpAt(Uri("a") + "/.hoodie/20240101120001123.commit"), 1u);
  AwaitLook("a", 2);
  EXPECT_EQ(watch_->WakeUpAt("s3://elsewhere/x"), 0u);
}

TEST_F(WatchTest, AWakeUpFindsItsTableHoweverThePlaceIsWritten) {
  const std::pair<std::string, std::string> rows[] = {
      {"s3a://hole/orders", "s3://hole/orders/.hoodie/20240101120001123.commit"},
      {"s3://hole/clicks/", "s3a://hole/clicks"},
      {"/hole/a", "file:/hole/a"},
      {"file:///hole/b", "/hole/b/.hoodie/x"},
  };
  for (const auto& [table, told] : rows) {
    PipelineConfig pipeline = Pipeline(table);
    pipeline.spec.table = table;
    config_.pipelines.push_back(pipeline);
  }
  Start();
  for (const auto& [table, told] : rows) EXPECT_EQ(watch_->WakeUpAt(told), 1u) << told;
}

TEST_F(WatchTest, AClusterThatHangsDelaysNoOtherOne) {
  Add("stuck", "orders,0:4", "hangs");
  Add("a", "orders,0:4", "main");
  world_.cluster_gates["hangs"].Close();
  Start();
  EXPECT_EQ(AwaitLook("a").counts.lagging, 1);
  EXPECT_EQ(watch_->Snapshot(false)[0].report.status, PipelineStatus::kUnknown);
  world_.cluster_gates["hangs"].Open();
  EXPECT_EQ(AwaitLook("stuck").counts.lagging, 1);
}

TEST_F(WatchTest, AStoreThatDoesNotAnswerIsUnknownAndDelaysNoOtherOne) {
  config_.pipelines.push_back(Pipeline("refused"));
  Add("a", "orders,0:4");
  Start();
  const auto report = AwaitLook("refused");
  EXPECT_EQ(report.status, PipelineStatus::kUnknown);
  EXPECT_EQ(report.reason, Reason::kTableUnreadable);
  EXPECT_EQ(AwaitLook("a").counts.lagging, 1);
}

TEST_F(WatchTest, ADeadClusterIsLeftAloneForAWhileAndItsPipelinesSayWhy) {
  Add("a", "orders,0:4", "main", 100ms);
  world_.dead.insert("main");
  Start();
  const auto report = AwaitLook("a", 5);
  EXPECT_EQ(report.reason, Reason::kClusterUnreachable);
  EXPECT_EQ(report.lag, std::nullopt);
  const std::lock_guard lock(world_.mutex);
  EXPECT_LT(world_.requests.size(), 5u);
}

TEST_F(WatchTest, AClusterThatComesBackIsUsedAgain) {
  Add("a", "orders,0:4", "main", 100ms);
  world_.dead.insert("main");
  Start();
  AwaitLook("a");
  {
    const std::lock_guard lock(world_.mutex);
    world_.dead.clear();
  }
  for (size_t look = 2; look < 500; ++look)
    if (AwaitLook("a", look).counts.lagging == 1) return;
  FAIL() << "the cluster was not asked again";
}

TEST_F(WatchTest, ADisabledPipelineIsReportedWithoutAsking) {
  Add("a", "orders,0:4");
  config_.pipelines[0].spec.is_disabled = true;
  Start();
  EXPECT_EQ(AwaitLook("a").status, PipelineStatus::kDisabled);
  const std::lock_guard lock(world_.mutex);
  EXPECT_THAT(world_.requests, SizeIs(0));
}

TEST_F(WatchTest, AReloadTakesNewPipelinesAndForgetsOldOnes) {
  Add("a", "orders,0:4");
  Add("b", "clicks,0:4");
  Start();
  AwaitLook("a");
  AwaitLook("b");
  Config next = config_;
  next.pipelines.erase(next.pipelines.begin());
  Commit("c", "20240101120000123", "events,0:4");
  next.pipelines.push_back(Pipeline("c"));
  watch_->Reload(next);
  AwaitLook("c");
  std::vector<std::string> names;
  for (const Watched& each : watch_->Snapshot(false)) names.push_back(each.report.pipeline);
  EXPECT_THAT(names, ElementsAre("b", "c"));
}

TEST_F(WatchTest, AReloadKeepsWhatIsKnown) {
  Add("a", "orders,0:4");
  Start();
  AwaitLook("a");
  config_.pipelines[0].spec.sla = 30s;
  watch_->Reload(config_);
  EXPECT_TRUE(watch_->WakeUp("a"));
  // The wake-up may come before the reload; the look after it counts.
  for (size_t look = 2; look < 100; ++look) {
    const auto report = AwaitLook("a", look);
    if (report.sla == 30s) {
      EXPECT_EQ(report.status, PipelineStatus::kBreach);
      break;
    }
    watch_->WakeUp("a");
  }
  const std::lock_guard lock(world_.mutex);
  EXPECT_FALSE(world_.requests.back().topics[0].known_firsts.empty());
}

TEST_F(WatchTest, AReloadWhileAClusterHangsDoesNotWaitForIt) {
  Add("stuck", "orders,0:4", "hangs");
  world_.cluster_gates["hangs"].Close();
  Start();
  Config next;
  next.clusters["main"] = {"main", {"main", {}}};
  world_.cluster_gates["main"];
  Commit("a", "20240101120000123", "orders,0:4");
  next.pipelines.push_back(Pipeline("a"));
  watch_->Reload(next);
  EXPECT_EQ(AwaitLook("a").counts.lagging, 1);
}

TEST_F(WatchTest, WhatEarlierProcessesKnewIsUsedForTheSameTableOnly) {
  Add("a", "orders,0:4");
  Add("b", "clicks,0:4");
  Remembered memory_of_a{.pipeline = "a", .table = Uri("a"), .memory = {}, .last_success = {}};
  memory_of_a.memory.topic_ids["orders"] = "another id";
  memory_of_a.memory.checkpoint_value = "orders,0:4";
  Remembered memory_of_b{.pipeline = "b", .table = "elsewhere", .memory = {}, .last_success = {}};
  memory_of_b.memory.topic_ids["clicks"] = "another id";
  memory_of_b.memory.checkpoint_value = "clicks,0:4";
  Start({memory_of_a, memory_of_b});
  EXPECT_EQ(AwaitLook("a").reason, Reason::kTopicRecreated);
  EXPECT_EQ(AwaitLook("b").counts.lagging, 1);
}

TEST_F(WatchTest, AChangedPipelineIsLookedAtAtOnceByWhatItIsNow) {
  Add("a", "orders,0:4");
  Add("same", "orders,0:4");
  Start();
  AwaitLook("same");
  EXPECT_EQ(AwaitLook("a").status, PipelineStatus::kFresh);
  config_.pipelines[0].spec.sla = 10s;
  watch_->Reload(config_);
  EXPECT_EQ(AwaitLook("a", 2).status, PipelineStatus::kBreach);
  config_.pipelines[0].spec.is_disabled = true;
  watch_->Reload(config_);
  EXPECT_EQ(AwaitLook("a", 3).status, PipelineStatus::kDisabled);
  EXPECT_EQ(watch_->Snapshot(false)[1].looks, 1u);
}

TEST_F(WatchTest, AnotherIsolationKnowsNothingOfTheFirstRecord) {
  Add("a", "orders,0:4");
  Start();
  AwaitLook("a");
  config_.pipelines[0].spec.isolation = kafka::IsolationLevel::kReadCommitted;
  watch_->Reload(config_);
  AwaitLook("a", 2);
  const std::lock_guard lock(world_.mutex);
  EXPECT_THAT(world_.requests.back().topics[0].known_firsts, ::testing::IsEmpty());
}

TEST_F(WatchTest, AReportThatIsNotRenewedIsNotShownForEver) {
  Add("a", "orders,0:4");
  Start();
  AwaitLook("a");
  EXPECT_EQ(watch_->Snapshot(false)[0].report.counts.lagging, 1);
  world_.cluster_gates["main"].Close();
  clock_.Jump(5h);
  const Watched silent = watch_->Snapshot(false)[0];
  EXPECT_EQ(silent.report.status, PipelineStatus::kUnknown);
  EXPECT_EQ(silent.report.reason, Reason::kTimeout);
  EXPECT_EQ(silent.report.lag, std::nullopt);
  EXPECT_EQ(silent.report.counts.total, 0);
  EXPECT_TRUE(silent.report.last_success.has_value());
}

TEST_F(WatchTest, WhoeverHearsOfLooksHearsOfALookThatNeverEnds) {
  options_.table_deadline = options_.probe_deadline = 100ms;
  Add("a", "orders,0:4", "main", 100ms);
  Add("b", "orders,0:4", "other", 100ms);
  Add("never", "orders,0:4", "stuck", 100ms);
  world_.cluster_gates["stuck"].CloseForGood();
  Start();
  AwaitLook("a");
  world_.cluster_gates["main"].CloseForGood();
  const auto is_silence = [](const Look& look) {
    return !look.has_ended && look.report.status == PipelineStatus::kUnknown &&
           look.report.reason == Reason::kTimeout && look.report.observed_at > WallTime{};
  };
  const auto silences_of = [&](const std::string& name) {
    return std::ranges::count_if(
        looks_, [&](const Look& look) { return look.report.pipeline == name && is_silence(look); });
  };
  std::unique_lock lock(looks_mutex_);
  EXPECT_TRUE(looked_.wait_for(lock, kPatience,
                               [&] { return silences_of("a") >= 2 && silences_of("never") >= 2; }));
  EXPECT_EQ(silences_of("b"), 0);
  world_.cluster_gates["main"].Open();
  world_.cluster_gates["stuck"].Open();
  EXPECT_TRUE(looked_.wait_for(lock, kPatience, [&] {
    return std::ranges::any_of(looks_, [](const Look& look) {
      return look.report.pipeline == "never" && look.has_ended && look.report.counts.lagging == 1;
    });
  }));
}

TEST_F(WatchTest, AProcessThatStoodStillTellsNoSilenceBeforeItHasLookedAgain) {
  Add("a", "orders,0:4", "main", 1h);
  Start();
  AwaitLook("a");
  world_.cluster_gates["main"].Close();
  clock_.Jump(5h);
  // For some turns of the loop.
  std::unique_lock lock(looks_mutex_);
  EXPECT_FALSE(looked_.wait_for(lock, 600ms, [&] { return looks_.size() > 1; }));
}

TEST_F(WatchTest, WhatAnsweredIsHeldUpByASilentPartitionForAShortTimeOnly) {
  Add("a", "orders,0:10", "main", 100ms);
  Add("b", "clicks,0:10", "main", 100ms);
  Start();
  AwaitLook("a", 3);
  {
    const std::lock_guard lock(world_.mutex);
    world_.silent_topics = {"clicks"};
    world_.requests.clear();
    world_.deadlines.clear();
  }
  const auto is_asked_alone = [this] {
    const std::lock_guard lock(world_.mutex);
    for (size_t i = 0; i < world_.requests.size(); ++i) {
      const auto& topics = world_.requests[i].topics;
      if (std::ranges::find(topics, "orders", &ProbeRequest::Topic::name) != topics.end()) {
        EXPECT_LE(world_.deadlines[i], 3s) << "where others wait";
      } else if (world_.deadlines[i] > 5s) {
        return true;
      }
    }
    return false;
  };
  size_t looks = 3;
  while (!is_asked_alone() && looks < 100) AwaitLook("a", ++looks);
  EXPECT_TRUE(is_asked_alone()) << "the silent one gets all of the time";
}

TEST_F(WatchTest, AClockThatIsSetBackMakesNothingYounger) {
  Add("a", "orders,0:4", "main", 100ms);
  config_.pipelines[0].spec.sla = 1s;
  world_.stamp = MillisOf(clock_.Now());
  Start();
  AwaitLook("a", 12);  // it was seen to wait for over a second
  clock_.Set(-1h);
  size_t before = 0;
  {
    const std::lock_guard lock(looks_mutex_);
    before = looks_.size();
  }
  const auto report = AwaitLook("a", before + 2);
  EXPECT_GE(report.lag, 1s);
  EXPECT_LT(report.lag, 1min);
  EXPECT_EQ(report.status, PipelineStatus::kBreach);
}

TEST_F(WatchTest, AClockThatIsSetForwardMakesNothingOlder) {
  Add("a", "orders,0:10", "main", 100ms);
  Start();
  AwaitLook("a", 2);
  clock_.Set(1h);
  AwaitLook("a", 4);
  {
    const std::lock_guard lock(world_.mutex);
    world_.stamp = MillisOf(clock_.Now() - 1h);  // its producer's clock was right all the time
    world_.end = 11;
  }
  size_t before = 0;
  {
    const std::lock_guard lock(looks_mutex_);
    before = looks_.size();
  }
  const auto report = AwaitLook("a", before + 2);
  EXPECT_EQ(report.counts.lagging, 1);
  EXPECT_LT(report.lag, 1min);
  EXPECT_EQ(report.status, PipelineStatus::kFresh);
}

TEST_F(WatchTest, AClockThatWasSetWhileNothingRanIsNoticedOnTheSameStartOfTheMachine) {
  for (const bool is_same_start : {true, false}) {
    config_.pipelines.clear();
    looks_.clear();
    world_.end = 10;
    Add("a", "orders,0:10", "main", 100ms);
    Start();
    AwaitLook("a", 2);
    watch_.reset();
    Remembered remembered{
        .pipeline = "a", .table = Uri("a"), .memory = looks_.back().memory, .last_success = {}};
    clock_.Set(1h);
    if (!is_same_start) clock_.steady = "second start";
    world_.stamp = MillisOf(clock_.Now() - 1h);  // its producer's clock was right all the time
    world_.end = 11;
    looks_.clear();
    Start({remembered});
    const auto report = AwaitLook("a");
    EXPECT_EQ(report.counts.lagging, 1);
    if (is_same_start) {
      EXPECT_EQ(report.partitions[0].reason, "clock_set");
      EXPECT_LT(report.lag.value_or(0ms), 1min);
    } else {
      EXPECT_GE(report.lag, 1h);  // nobody can know
    }
    watch_.reset();
  }
}

TEST_F(WatchTest, ItEndsWhileEverythingHangs) {
  for (int i = 0; i < 20; ++i) {
    const std::string name = "p" + std::to_string(i);
    Add(name, "orders,0:4", i % 2 == 0 ? "hangs" : "main");
  }
  world_.cluster_gates["hangs"].Close();
  world_.cluster_gates["main"].Close();
  Start();
  watch_.reset();
  SUCCEED();
}

TEST_F(WatchTest, WhatIsNotOursIsNotShown) {
  Add("a", "orders,0:10");
  Add("b", "clicks,0:4");
  std::atomic<bool> is_b_ours = true;
  options_.is_ours = [&](std::string_view name) { return name == "a" || is_b_ours; };
  Start();
  AwaitLook("a");
  AwaitLook("b");
  EXPECT_THAT(watch_->Snapshot(false), SizeIs(2));
  is_b_ours = false;
  const auto left = watch_->Snapshot(true);
  ASSERT_THAT(left, SizeIs(1));
  EXPECT_EQ(left[0].report.pipeline, "a");
}

TEST_F(WatchTest, APipelineThatComesWithAReloadBringsWhatIsKnownOfIt) {
  Add("a", "orders,0:4");
  Start();
  AwaitLook("a");
  Add("b", "clicks,0:4");
  Remembered remembered{.pipeline = "b", .table = Uri("b"), .memory = {}, .last_success = {}};
  remembered.memory.topic_ids["clicks"] = "another id";
  remembered.memory.checkpoint_value = "clicks,0:4";
  watch_->Reload(config_, {remembered});
  EXPECT_EQ(AwaitLook("b").reason, Reason::kTopicRecreated);
}

}  // namespace
}  // namespace tidemark::app
