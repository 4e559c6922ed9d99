#include "app/freshness_run.h"

#include <gtest/gtest.h>

#include <mutex>

#include "storage/memory_store.h"
#include "support/result_matchers.h"

namespace tidemark::app {
namespace {

using kafka::PartitionFacts;
using kafka::ProbeRequest;
using kafka::ProbeResult;
using namespace std::chrono_literals;

constexpr const char* kProperties =
    "hoodie.table.name=t\nhoodie.table.type=COPY_ON_WRITE\nhoodie.table.version=6\n"
    "hoodie.timeline.layout.version=1\n";

/// A clock that stands still.
class StillClock final : public Clock {
 public:
  WallTime Now() const override { return WallTimeFromMillis(1'700'000'000'000); }
  MonoTime Mono() const override { return MonoTime{}; }
};

/// A cluster that answers from values: every partition ends at 10 and its first record is one
/// minute old.
class FakeProbe final : public kafka::PartitionProbe {
 public:
  FakeProbe(std::vector<ProbeRequest>& requests, std::mutex& mutex)
      : requests_(requests), mutex_(mutex) {}

  Result<ProbeResult> Probe(const ProbeRequest& request, const Budget&) override {
    const std::lock_guard lock(mutex_);
    requests_.push_back(request);
    ProbeResult result;
    result.observed_at = StillClock().Now();
    for (const auto& topic : request.topics) {
      kafka::TopicFacts facts_of_topic;
      facts_of_topic.topic = topic.name;
      facts_of_topic.exists = true;
      facts_of_topic.partition_count = static_cast<int32_t>(topic.committed.size());
      result.topics.push_back(facts_of_topic);
      for (const auto& [partition, committed] : topic.committed) {
        PartitionFacts facts;
        facts.partition = {topic.name, partition};
        facts.committed = committed;
        facts.log_start = 0;
        facts.high_watermark = 10;
        facts.last_stable = 10;
        if (committed < 10) {
          facts.search = PartitionFacts::Search::kRecord;
          facts.first = {committed, 1'700'000'000'000 - 60'000, kafka::TimestampType::kCreate};
        }
        result.partitions.push_back(facts);
      }
    }
    return result;
  }

 private:
  std::vector<ProbeRequest>& requests_;
  std::mutex& mutex_;
};

class FreshnessRunTest : public ::testing::Test {
 protected:
  /// A table in memory whose newest commit carries `checkpoint`, and its pipeline.
  void AddPipeline(const std::string& name, const std::string& checkpoint,
                   const std::string& cluster = "main") {
    const std::string uri = "memory://freshness_run_" + name;
    auto store = storage::OpenStore(uri, {});
    ASSERT_TRUE(store.has_value());
    ASSERT_TRUE((*store)->Put(".hoodie/hoodie.properties", kProperties, {}).has_value());
    const std::string body = R"({"partitionToWriteStats":{},"compacted":false,"extraMetadata":{)"
                             R"("deltastreamer.checkpoint.key":")" +
                             checkpoint + R"("},"operationType":"UPSERT"})";
    ASSERT_TRUE((*store)->Put(".hoodie/20240101120000123.commit", body, {}).has_value());
    AddPipelineOn(name, uri, cluster);
  }

  void AddPipelineOn(const std::string& name, const std::string& uri, const std::string& cluster) {
    PipelineConfig pipeline;
    pipeline.spec.name = name;
    pipeline.spec.table = uri;
    pipeline.spec.cluster = cluster;
    config_.pipelines.push_back(pipeline);
    config_.clusters[cluster] = {cluster, {cluster + ":9092", {}}};
  }

  FreshnessRun Run() { return RunFreshness(config_, config_.pipelines, {}, edges_); }

  Config config_;
  StillClock clock_;
  std::mutex mutex_;
  std::vector<ProbeRequest> requests_;
  FreshnessEdges edges_{
      .open_store =
          [](const std::string& uri, const storage::StoreOptions& options) {
            return storage::OpenStore(uri, options);
          },
      .open_probe =
          [this](const ClusterConfig& cluster) -> Result<std::unique_ptr<kafka::PartitionProbe>> {
        if (cluster.options.bootstrap_servers == "dead:9092") {
          return Fail(ErrorKind::kUnavailable, "connection refused");
        }
        if (cluster.options.bootstrap_servers == "odd:9092") {
          return Fail(ErrorKind::kInvalidArgument, "no provider for the mechanism");
        }
        return std::make_unique<FakeProbe>(requests_, mutex_);
      },
      .columns = []() -> Result<const lake::ColumnReader*> {
        return Fail(ErrorKind::kUnavailable, "no columnar module in this test");
      },
      .clock = &clock_,
  };
};

TEST_F(FreshnessRunTest, ATableAndItsTopicBecomeAReport) {
  AddPipeline("a", "orders,0:10,1:4");
  const FreshnessRun run = Run();
  ASSERT_EQ(run.reports.size(), 1U);
  const auto& report = run.reports[0];
  EXPECT_EQ(report.status, freshness::PipelineStatus::kFresh);
  EXPECT_EQ(report.lag, 60s);
  EXPECT_EQ(report.counts.total, 2);
  EXPECT_EQ(report.counts.lagging, 1);
  EXPECT_EQ(run.unreachable, 0U);
}

TEST_F(FreshnessRunTest, TopicsOfAllPipelinesOfAClusterGoIntoOneRequest) {
  AddPipeline("a", "orders,0:10");
  AddPipeline("b", "clicks,0:3");
  const FreshnessRun run = Run();
  ASSERT_EQ(requests_.size(), 1U);
  EXPECT_EQ(requests_[0].topics.size(), 2U);
  EXPECT_EQ(run.reports[0].counts.total, 1);
  EXPECT_EQ(run.reports[1].counts.total, 1);
}

TEST_F(FreshnessRunTest, TwoPipelinesOnOneTopicKeepTheirOwnOffsets) {
  AddPipeline("a", "orders,0:10");
  AddPipeline("b", "orders,0:4");
  AddPipeline("c", "orders,0:10");
  const FreshnessRun run = Run();
  EXPECT_EQ(requests_.size(), 2U);
  EXPECT_EQ(run.reports[0].lag, 0s);
  EXPECT_EQ(run.reports[1].lag, 60s);
  EXPECT_EQ(run.reports[2].lag, 0s);
}

TEST_F(FreshnessRunTest, ThousandsOfPipelinesOnOneClusterEachGetTheirOwnTopicOnly) {
  constexpr int kCount = 3000;
  for (int i = 0; i < kCount; ++i) {
    const std::string number = std::to_string(i);
    AddPipeline("many" + number, "topic" + number + ",0:" + std::to_string(i % 11));
  }
  const FreshnessRun run = Run();
  EXPECT_EQ(requests_.size(), 1U);
  ASSERT_EQ(run.reports.size(), size_t{kCount});
  for (int i = 0; i < kCount; ++i) {
    const auto& report = run.reports[static_cast<size_t>(i)];
    EXPECT_EQ(report.counts.total, 1);
    EXPECT_EQ(report.counts.fresh, i % 11 == 10 ? 1 : 0) << i;
  }
}

TEST_F(FreshnessRunTest, ADeadClusterLeavesTheOthersDecided) {
  AddPipeline("a", "orders,0:10", "dead");
  AddPipeline("b", "orders,0:10", "main");
  const FreshnessRun run = Run();
  EXPECT_EQ(run.reports[0].status, freshness::PipelineStatus::kUnknown);
  EXPECT_EQ(run.reports[0].reason, freshness::Reason::kClusterUnreachable);
  EXPECT_EQ(run.reports[0].lag, std::nullopt);
  EXPECT_EQ(run.reports[1].status, freshness::PipelineStatus::kFresh);
  EXPECT_EQ(run.unreachable, 1U);
}

TEST_F(FreshnessRunTest, PropertiesThatDoNotFitAreToldAsAMistakeNotAsADeadCluster) {
  AddPipeline("a", "orders,0:10", "odd");
  const FreshnessRun run = Run();
  EXPECT_EQ(run.misconfigured, 1U);
  EXPECT_EQ(run.cluster_mistakes,
            (std::map<std::string, std::string>{{"odd", "no provider for the mechanism"}}));
  EXPECT_EQ(run.unreachable, 0U);
  EXPECT_EQ(run.reports[0].status, freshness::PipelineStatus::kUnknown);
  EXPECT_EQ(run.reports[0].message,
            "The cluster was not asked (no provider for the mechanism): correct its properties.");
}

TEST_F(FreshnessRunTest, AMissingTableIsUnreadableAndTheOthersAreDecided) {
  AddPipelineOn("gone", "memory://freshness_run_nothing_here", "main");
  AddPipeline("b", "orders,0:10");
  const FreshnessRun run = Run();
  EXPECT_EQ(run.reports[0].reason, freshness::Reason::kTableUnreadable);
  EXPECT_EQ(run.reports[1].status, freshness::PipelineStatus::kFresh);
  EXPECT_EQ(run.unreadable, 1U);
}

TEST_F(FreshnessRunTest, AStoreThatIsAskedWronglyIsAMistakeAndOneThatMovesIsNotReached) {
  const std::pair<ErrorKind, size_t FreshnessRun::*> cases[] = {
      {ErrorKind::kInvalidArgument, &FreshnessRun::misconfigured},
      {ErrorKind::kConflict, &FreshnessRun::unreachable},
      {ErrorKind::kCancelled, &FreshnessRun::unreachable},
      {ErrorKind::kDenied, &FreshnessRun::unreachable},
      {ErrorKind::kUnavailable, &FreshnessRun::unreachable},
      {ErrorKind::kExhausted, &FreshnessRun::unreadable},
      {ErrorKind::kCorrupt, &FreshnessRun::unreadable},
      {ErrorKind::kUnsupported, &FreshnessRun::unreadable},
  };
  AddPipeline("a", "orders,0:10");
  for (const auto& [kind, counter] : cases) {
    SCOPED_TRACE(ErrorKindName(kind));
    edges_.open_store = [kind = kind](const std::string&, const storage::StoreOptions&)
        -> Result<std::unique_ptr<storage::ObjectStore>> { return Fail(kind, "words"); };
    const FreshnessRun run = Run();
    EXPECT_EQ(run.*counter, 1U);
    EXPECT_EQ(run.misconfigured + run.unreachable + run.unreadable, 1U);
    EXPECT_EQ(run.table_mistakes.size(), run.misconfigured);
  }
}

TEST_F(FreshnessRunTest, ADisabledPipelineIsReportedWithoutReadingAnything) {
  AddPipelineOn("off", "memory://freshness_run_nothing_here", "dead");
  config_.pipelines[0].spec.is_disabled = true;
  const FreshnessRun run = Run();
  EXPECT_EQ(run.reports[0].status, freshness::PipelineStatus::kDisabled);
  EXPECT_TRUE(requests_.empty());
  EXPECT_EQ(run.unreachable + run.unreadable, 0U);
}

TEST_F(FreshnessRunTest, NoPipelinesIsAnEmptyRun) {
  EXPECT_TRUE(Run().reports.empty());
}

}  // namespace
}  // namespace tidemark::app
