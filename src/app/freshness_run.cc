#include "app/freshness_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <set>
#include <string_view>
#include <thread>
#include <utility>

#include "base/check.h"
#include "columnar/loader.h"
#include "freshness/judge.h"
#include "kafka/client/rdkafka_probe.h"
#include "lake/hudi/table.h"

namespace tidemark::app {

namespace {

using freshness::ClusterFacts;
using freshness::TableFacts;
using kafka::ProbeRequest;
using kafka::ProbeResult;

/// A pipeline on its way through the round.
struct Passage {
  const PipelineConfig* pipeline = nullptr;
  TableFacts table;
  std::vector<ProbeRequest::Topic> topics;
  ClusterFacts cluster;
};

/// Calls `work(i)` for every index below `count` from at most `threads_max` threads, and waits.
template <class Work>
void ForEachIndex(size_t count, unsigned threads_max, const Work& work) {
  if (count == 1) return work(0);
  std::atomic<size_t> next{0};
  std::vector<std::jthread> threads;
  for (size_t t = 0; t < std::min<size_t>(count, threads_max); ++t) {
    threads.emplace_back([&] {
      for (size_t i = next++; i < count; i = next++) work(i);
    });
  }
}

Result<lake::CheckpointSearch> ReadCheckpoint(const Config& config, const PipelineConfig& pipeline,
                                              const FreshnessRunOptions& options,
                                              const FreshnessEdges& edges) {
  const Budget budget = Budget::For(options.table_deadline, options.stop);
  const std::string& uri = pipeline.spec.table;
  TRY_ASSIGN(const auto store, edges.open_store(uri, StoreFor(config, uri).options));
  TRY_ASSIGN(const auto table, lake::hudi::Table::Open(*store, edges.columns, budget));
  return table.FindCheckpoint({.commit_depth_max = pipeline.commit_depth_max}, budget);
}

bool NeedsNothing(const PipelineConfig& pipeline) {
  return pipeline.spec.is_disabled;
}

void ReadTable(const Config& config, Passage& passage, const FreshnessRunOptions& options,
               const FreshnessEdges& edges) {
  auto search = ReadCheckpoint(config, *passage.pipeline, options, edges);
  const HiddenValues& hidden = StoreFor(config, passage.pipeline->spec.table).hidden;
  if (!search) {
    passage.table.error = hidden.Hide(std::move(search).error());
    return;
  }
  for (auto& finding : search->findings) finding.message = hidden.Hide(std::move(finding.message));
  passage.topics = freshness::TopicsToProbe(passage.pipeline->spec, *search);
  for (auto& topic : passage.topics) topic.wants_config = true;
  passage.table.search = std::move(*search);
}

/// Requests that together ask for every topic of every passage, each topic at most once per
/// request: pipelines on one topic with other offsets go into the next request.
struct Round {
  ProbeRequest request;
  std::map<std::string, kafka::PartitionOffsets> committed;
};

bool Fits(const Round& round, const Passage& passage) {
  return std::ranges::all_of(passage.topics, [&](const ProbeRequest::Topic& topic) {
    const auto found = round.committed.find(topic.name);
    return found == round.committed.end() || found->second == topic.committed;
  });
}

Round& RoundFor(std::vector<Round>& rounds, const Passage& passage,
                kafka::IsolationLevel isolation) {
  for (Round& round : rounds) {
    if (Fits(round, passage)) return round;
  }
  rounds.emplace_back().request.isolation = isolation;
  return rounds.back();
}

/// A result by topic, so that many passages of one cluster do not each search all of it.
class ResultByTopic {
 public:
  explicit ResultByTopic(const ProbeResult& whole) : whole_(whole) {
    for (const auto& topic : whole.topics) topics_[topic.topic].push_back(&topic);
    for (const auto& facts : whole.partitions) partitions_[facts.partition.topic].push_back(&facts);
  }

  /// The part that is about the passage's topics.
  ProbeResult PartOf(const Passage& passage) const {
    ProbeResult part;
    part.cluster_id = whole_.cluster_id;
    part.observed_at = whole_.observed_at;
    part.bytes_fetched = whole_.bytes_fetched;
    std::set<std::string_view> asked;
    for (const auto& topic : passage.topics) asked.insert(topic.name);
    for (const std::string_view topic : asked) {
      AppendTo(part.topics, topics_, topic);
      AppendTo(part.partitions, partitions_, topic);
    }
    return part;
  }

 private:
  template <class Facts>
  using ByTopic = std::map<std::string_view, std::vector<const Facts*>>;

  template <class Facts>
  static void AppendTo(std::vector<Facts>& part, const ByTopic<Facts>& whole,
                       std::string_view topic) {
    const auto found = whole.find(topic);
    if (found == whole.end()) return;
    for (const Facts* facts : found->second) part.push_back(*facts);
  }

  const ProbeResult& whole_;
  ByTopic<kafka::TopicFacts> topics_;
  ByTopic<kafka::PartitionFacts> partitions_;
};

/// Asks one cluster at one isolation level for all its passages.
void AskCluster(const ClusterConfig& cluster, kafka::IsolationLevel isolation,
                const std::vector<Passage*>& passages, const FreshnessRunOptions& options,
                const FreshnessEdges& edges) {
  std::vector<Round> rounds;
  std::map<const Passage*, size_t> round_of;
  for (const Passage* passage : passages) {
    Round& round = RoundFor(rounds, *passage, isolation);
    round_of[passage] = static_cast<size_t>(&round - rounds.data());
    for (const auto& topic : passage->topics) {
      if (round.committed.emplace(topic.name, topic.committed).second) {
        round.request.topics.push_back(topic);
      }
    }
  }
  const Budget budget = Budget::For(options.probe_deadline, options.stop);
  auto probe = edges.open_probe(cluster.options);
  std::vector<Result<ProbeResult>> results;
  for (const Round& round : rounds) {
    auto result = probe ? (*probe)->Probe(round.request, budget)
                        : Result<ProbeResult>(std::unexpected(probe.error()));
    if (result) {
      cluster.hidden.HideIn(*result);
    } else {
      result = std::unexpected(cluster.hidden.Hide(std::move(result).error()));
    }
    results.push_back(std::move(result));
  }
  std::vector<std::optional<ResultByTopic>> by_topic(results.size());
  for (size_t i = 0; i < results.size(); ++i)
    if (results[i]) by_topic[i].emplace(*results[i]);
  for (Passage* passage : passages) {
    const size_t round = round_of[passage];
    if (by_topic[round]) {
      passage->cluster.result = by_topic[round]->PartOf(*passage);
    } else {
      passage->cluster.error = results[round].error();
    }
  }
}

struct ClusterKey {
  std::string cluster;
  kafka::IsolationLevel isolation;
  auto operator<=>(const ClusterKey&) const = default;
};

void AskClusters(const Config& config, std::vector<Passage>& passages,
                 const FreshnessRunOptions& options, const FreshnessEdges& edges) {
  std::map<ClusterKey, std::vector<Passage*>> groups;
  for (Passage& passage : passages) {
    if (passage.topics.empty()) continue;
    const auto& spec = passage.pipeline->spec;
    groups[{spec.cluster, spec.isolation}].push_back(&passage);
  }
  std::vector<std::jthread> threads;  // one per cluster: a dead one holds nobody up
  for (const auto& [key, group] : groups) {
    const auto cluster = config.clusters.find(key.cluster);
    CHECK(cluster != config.clusters.end(), key.cluster);
    threads.emplace_back([&, &the_key = key, &the_group = group, &the_cluster = cluster->second] {
      AskCluster(the_cluster, the_key.isolation, the_group, options, edges);
    });
  }
}

/// Where a round ends for a pipeline about which nothing was learned. A store that refuses us
/// taught nothing either; a broker that refuses us did: it is there, and the report names the
/// credentials.
void Count(const Passage& passage, FreshnessRun& run) {
  if (passage.table.error) {
    switch (passage.table.error->kind) {
      case ErrorKind::kInvalidArgument:
        ++run.misconfigured;
        run.table_mistakes.emplace(passage.pipeline->spec.table, passage.table.error->message);
        return;
      case ErrorKind::kUnavailable:
      case ErrorKind::kDenied:
      case ErrorKind::kConflict:
      case ErrorKind::kCancelled: ++run.unreachable; return;
      default: ++run.unreadable; return;
    }
  }
  if (passage.cluster.error) {
    const ErrorKind kind = passage.cluster.error->kind;
    if (kind == ErrorKind::kUnavailable) ++run.unreachable;
    if (kind == ErrorKind::kInvalidArgument) {
      ++run.misconfigured;
      run.cluster_mistakes.emplace(passage.pipeline->spec.cluster, passage.cluster.error->message);
    }
  }
}

}  // namespace

FreshnessEdges SystemEdges() {
  static const SystemClock clock;
  return {
      .open_store =
          [](const std::string& uri, const storage::StoreOptions& options) {
            return storage::OpenStore(uri, options);
          },
      .open_probe =
          [](const kafka::ClusterOptions& options) {
            return kafka::client::RdKafkaProbe::Open(options);
          },
      .columns = [] { return columnar::LoadColumnReader(); },
      .clock = &clock,
  };
}

FreshnessRun RunFreshness(const Config& config, const std::vector<PipelineConfig>& pipelines,
                          const FreshnessRunOptions& options, const FreshnessEdges& edges) {
  FreshnessRun run;
  const MonoTime begin = edges.clock->Mono();
  run.generated_at = edges.clock->Now();
  std::vector<Passage> passages(pipelines.size());
  for (size_t i = 0; i < pipelines.size(); ++i) passages[i].pipeline = &pipelines[i];
  ForEachIndex(passages.size(), options.tables_at_once, [&](size_t i) {
    if (!NeedsNothing(*passages[i].pipeline)) ReadTable(config, passages[i], options, edges);
  });
  AskClusters(config, passages, options, edges);
  for (const Passage& passage : passages) {
    const WallTime now =
        passage.cluster.result ? passage.cluster.result->observed_at : edges.clock->Now();
    freshness::PipelineSpec spec = passage.pipeline->spec;
    spec.is_in_maintenance =
        std::ranges::any_of(passage.pipeline->maintenance,
                            [&](const MaintenanceWindow& window) { return window.Contains(now); });
    auto report = freshness::JudgePipeline(spec, passage.table, passage.cluster, {}, now);
    report.observed_at = now;
    run.reports.push_back(std::move(report));
    Count(passage, run);
  }
  run.duration = std::chrono::duration_cast<Milliseconds>(edges.clock->Mono() - begin);
  for (auto& report : run.reports) report.probe_duration = run.duration;
  return run;
}

}  // namespace tidemark::app
