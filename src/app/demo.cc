#include "app/demo.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "freshness/judge.h"
#include "lake/hudi/table.h"

namespace tidemark::app {

namespace {

using kafka::TopicPartition;
using kafka::client::MockCluster;
using kafka::client::Record;

constexpr int kBrokers = 3;
constexpr const char* kCluster = "demo";

/// What waits in a topic beyond the table's checkpoint.
enum class Plot {
  kCaughtUp,    ///< nothing
  kWaiting,     ///< one record in every other partition, some minutes old
  kOverdue,     ///< a record older than the SLA
  kExpired,     ///< retention deleted records that were never read
  kLeaderless,  ///< one partition has no leader
};

struct Story {
  const char* pipeline;
  const char* table;  ///< folder below the data folder
  Plot plot;
  Milliseconds sla;
  const char* tells;
};

using std::chrono::minutes;
constexpr Story kStories[] = {
    {"orders", "a06_empty_syncs_v9", Plot::kCaughtUp, minutes(30),
     "all that is in the topic is in the table"},
    {"payments", "fresh_a1_cow_streamer", Plot::kOverdue, minutes(30),
     "a record has waited longer than the SLA allows"},
    {"clicks", "a02_mor_inline_compaction_v8", Plot::kExpired, minutes(60),
     "retention overtook the writer: records were deleted before they were read"},
    {"users", "a01_cow_3syncs_v8", Plot::kLeaderless, minutes(60),
     "one partition has no leader, so nobody can know: unknown, not zero"},
    {"invoices", "fresh_a4_cow_batch_behind3", Plot::kWaiting, minutes(60),
     "two writers: the checkpoint is found behind three commits of a batch job"},
};

/// Records that retention has deleted in the story kExpired.
constexpr kafka::Offset kExpiredRecords = 40;

struct Loader {
  MockCluster& cluster;
  int64_t now_ms;

  int64_t Ago(Milliseconds age) const { return now_ms - age.count(); }

  Status Append(const TopicPartition& partition, Milliseconds age) const {
    const Record record{.key = "key", .value = "value", .timestamp_ms = Ago(age)};
    return cluster.Append(partition, {&record, 1});
  }

  Status LoadPartition(Plot plot, Milliseconds sla, const TopicPartition& partition,
                       kafka::Offset committed) const {
    TRY(cluster.AppendUntil(partition, committed, Ago(sla * 4)));
    const bool is_even = partition.partition % 2 == 0;
    switch (plot) {
      case Plot::kCaughtUp: return {};
      case Plot::kWaiting: return is_even ? Append(partition, minutes(4)) : Status();
      case Plot::kOverdue: return Append(partition, is_even ? sla + sla / 2 : sla / 3);
      case Plot::kLeaderless:
        return is_even ? Append(partition, minutes(2)) : cluster.SetLeader(partition, -1);
      case Plot::kExpired: break;
    }
    if (!is_even) return {};
    TRY(cluster.AppendUntil(partition, committed + kExpiredRecords, Ago(sla * 3)));
    TRY(Append(partition, sla * 2));
    return cluster.DeleteRecordsBefore(partition, committed + kExpiredRecords);
  }
};

Result<lake::CheckpointSearch> CheckpointOf(const std::string& table, const FreshnessEdges& edges) {
  const Budget budget = Budget::For(std::chrono::seconds(10));
  TRY_ASSIGN(const auto store, edges.open_store(table, {}));
  TRY_ASSIGN(const auto opened, lake::hudi::Table::Open(*store, edges.columns, budget));
  return opened.FindCheckpoint({}, budget);
}

PipelineConfig PipelineOf(const Story& story, const std::string& table) {
  PipelineConfig pipeline;
  pipeline.spec.name = story.pipeline;
  pipeline.spec.table = table;
  pipeline.spec.cluster = kCluster;
  pipeline.spec.sla = story.sla;
  return pipeline;
}

Status LoadStory(const Story& story, const PipelineConfig& pipeline, const Loader& loader,
                 const FreshnessEdges& edges) {
  TRY_ASSIGN(const auto search, CheckpointOf(pipeline.spec.table, edges));
  for (const auto& topic : freshness::TopicsToProbe(pipeline.spec, search)) {
    const int32_t count = topic.committed.empty() ? 1 : topic.committed.rbegin()->first + 1;
    TRY(loader.cluster.CreateTopic(topic.name, count));
    for (const auto& [partition, committed] : topic.committed) {
      TRY(loader.LoadPartition(story.plot, story.sla, {topic.name, partition}, committed));
    }
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<Demo>> Demo::Open(const std::string& data_folder,
                                         const FreshnessEdges& edges) {
  auto demo = std::make_unique<Demo>(Token{});
  TRY_ASSIGN(demo->cluster_, MockCluster::Open(kBrokers));
  demo->config_.clusters.emplace(kCluster, ClusterConfig{kCluster, demo->cluster_->options()});
  const Loader loader{*demo->cluster_, MillisOf(edges.clock->Now())};
  for (const Story& story : kStories) {
    PipelineConfig pipeline = PipelineOf(story, data_folder + "/" + story.table + "/table");
    if (auto status = LoadStory(story, pipeline, loader, edges); !status) {
      return std::unexpected(std::move(status).error().With(story.pipeline));
    }
    demo->config_.pipelines.push_back(std::move(pipeline));
    demo->stories_.push_back(story.tells);
  }
  return demo;
}

Result<std::string> FindDemoData() {
  std::vector<std::string> places;
  if (const char* chosen = std::getenv("TIDEMARK_DEMO_DATA")) places.emplace_back(chosen);
  std::error_code error;
  const auto binary = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) places.push_back((binary.parent_path() / "../share/tidemark/demo").string());
  places.emplace_back(TIDEMARK_SOURCE_DIR "/testdata/hudi/tables");
  for (const std::string& place : places) {
    if (std::filesystem::is_directory(place, error)) return place;
  }
  return Fail(ErrorKind::kNotFound,
              fmt::format("the demo's tables are in none of {}", fmt::join(places, ", ")));
}

}  // namespace tidemark::app
