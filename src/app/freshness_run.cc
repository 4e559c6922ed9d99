#include "app/freshness_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <thread>
#include <utility>

#include "app/cluster_questions.h"
#include "app/pipelines.h"
#include "base/check.h"
#include "columnar/loader.h"
#include "freshness/judge.h"
#include "lake/hudi/table.h"

namespace tidemark::app {

namespace {

using freshness::ClusterFacts;

/// A pipeline on its way through the round.
struct Passage {
  const PipelineConfig* pipeline = nullptr;
  TableReading reading;
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
  const auto& spec = passage.pipeline->spec;
  passage.reading = ReadingOf(ReadCheckpoint(config, *passage.pipeline, options, edges), spec,
                              StoreFor(config, spec.table).hidden);
}

/// Asks one cluster at one isolation level for all its passages.
void AskFor(const ClusterConfig& cluster, kafka::IsolationLevel isolation,
            const std::vector<Passage*>& passages, const FreshnessRunOptions& options,
            const FreshnessEdges& edges) {
  const auto probe = edges.open_probe(cluster);
  if (!probe) {
    const Error error = cluster.hidden.Hide(probe.error());
    for (Passage* passage : passages) passage->cluster.error = error;
    return;
  }
  std::vector<ClusterQuestion> questions;
  for (const Passage* passage : passages) questions.push_back(passage->reading.question);
  auto answers = AskCluster(**probe, cluster.hidden, isolation, questions,
                            Budget::For(options.probe_deadline, options.stop));
  for (size_t i = 0; i < passages.size(); ++i) passages[i]->cluster = std::move(answers[i]);
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
    if (passage.reading.question.empty()) continue;
    const auto& spec = passage.pipeline->spec;
    groups[{spec.cluster, spec.isolation}].push_back(&passage);
  }
  std::vector<std::jthread> threads;  // one per cluster: a dead one holds nobody up
  for (const auto& [key, group] : groups) {
    const auto cluster = config.clusters.find(key.cluster);
    CHECK(cluster != config.clusters.end(), key.cluster);
    threads.emplace_back([&, &the_key = key, &the_group = group, &the_cluster = cluster->second] {
      AskFor(the_cluster, the_key.isolation, the_group, options, edges);
    });
  }
}

/// Where a round ends for a pipeline about which nothing was learned. A store that refuses us
/// taught nothing either; a broker that refuses us did: it is there, and the report names the
/// credentials.
void Count(const Passage& passage, FreshnessRun& run) {
  if (passage.reading.table.error) {
    switch (passage.reading.table.error->kind) {
      case ErrorKind::kInvalidArgument:
        ++run.misconfigured;
        run.table_mistakes.emplace(passage.pipeline->spec.table,
                                   passage.reading.table.error->message);
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
          [](const ClusterConfig& cluster) { return OpenProbe(cluster.options, cluster.client); },
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
    auto report = freshness::JudgePipeline(SpecAt(*passage.pipeline, now), passage.reading.table,
                                           passage.cluster, {}, now);
    report.observed_at = now;
    run.reports.push_back(std::move(report));
    Count(passage, run);
  }
  run.duration = std::chrono::duration_cast<Milliseconds>(edges.clock->Mono() - begin);
  for (auto& report : run.reports) report.probe_duration = run.duration;
  return run;
}

}  // namespace tidemark::app
