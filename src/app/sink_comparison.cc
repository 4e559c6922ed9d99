#include "app/sink_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "app/sink_lanes.h"
#include "base/nearest_word.h"

namespace tidemark::app {

namespace {

Result<SinkConfig> SinkNamed(const std::vector<SinkConfig>& sinks, const std::string& name) {
  const auto it = std::ranges::find(sinks, name, &SinkConfig::name);
  if (it == sinks.end()) {
    std::set<std::string> known;
    for (const auto& sink : sinks) known.insert(sink.name);
    return Fail(ErrorKind::kInvalidArgument,
                fmt::format("there is no sink '{}'{}", name, DidYouMean(name, known)));
  }
  if (!sink::KeepsTables(it->target))
    return Fail(ErrorKind::kInvalidArgument,
                fmt::format("the sink '{}' keeps nothing to compare with, only catalogs do (hive, "
                            "glue): kind={}",
                            name, it->kind));
  return *it;
}

api::ReconciledCatalogTable Shown(sink::CatalogComparison found, const HiddenValues& hidden) {
  api::ReconciledCatalogTable shown{.database = hidden.Hide(std::move(found.database)),
                                    .table = hidden.Hide(std::move(found.table)),
                                    .agreement = found.agreement,
                                    .message = hidden.Hide(std::move(found.message)),
                                    .is_there = found.is_there,
                                    .missing = std::move(found.missing),
                                    .surplus = std::move(found.surplus)};
  if (found.stamp) shown.stamp.emplace(found.stamp->epoch, found.stamp->seq);
  for (auto& difference : found.differences)
    shown.differences.push_back(hidden.Hide(std::move(difference)));
  return shown;
}

}  // namespace

Result<std::vector<SinkConfig>> SinksToCompare(const Config& config,
                                               const std::vector<std::string>& names) {
  std::vector<SinkConfig> chosen;
  if (names.empty()) return chosen;
  if (!config.mirror || config.mirror->sinks.sinks.empty())
    return Fail(ErrorKind::kInvalidArgument,
                fmt::format("the configuration has no 'mirror.sinks', in which the sink '{}' would "
                            "be",
                            names[0]));
  for (const auto& name : names) {
    if (std::ranges::find(chosen, name, &SinkConfig::name) != chosen.end()) continue;
    TRY_ASSIGN(auto sink, SinkNamed(config.mirror->sinks.sinks, name));
    chosen.push_back(std::move(sink));
  }
  return chosen;
}

SinkComparison::SinkComparison(const Config& config, const std::vector<SinkConfig>& sinks) {
  if (config.mirror) {
    mirror_tables_ = config.mirror->tables;
    hidden_ = config.mirror->sinks.hidden;
  }
  for (const auto& sink : sinks)
    if (auto target = sink::MakeCatalog(sink.target)) sinks_.push_back({sink, *std::move(target)});
}

std::vector<api::ReconciledSink> SinkComparison::Compare(const sink::TableTruth& truth,
                                                         const Budget& budget) {
  std::vector<api::ReconciledSink> results;
  for (auto& sink : sinks_) {
    api::ReconciledSink result{.sink = sink.config.name, .kind = sink.config.kind};
    const Milliseconds limit = std::min<Milliseconds>(sink.config.timeout, budget.Remaining() / 2);
    auto tables = Ask(sink, truth, budget.Within(limit));
    if (tables) {
      result.tables = *std::move(tables);
    } else {
      result.failure = hidden_.Hide(std::move(tables).error());
    }
    results.push_back(std::move(result));
  }
  return results;
}

std::vector<api::ReconciledSink> SinkComparison::Unknown(const Error& why) const {
  std::vector<api::ReconciledSink> results;
  results.reserve(sinks_.size());
  for (const auto& sink : sinks_)
    results.push_back({.sink = sink.config.name, .kind = sink.config.kind, .failure = why});
  return results;
}

Result<std::vector<api::ReconciledCatalogTable>> SinkComparison::Ask(Asked& sink,
                                                                     const sink::TableTruth& truth,
                                                                     const Budget& budget) {
  const auto& identity = truth.view.identity;
  const SinkTable table{
      .uid = identity.uid, .table_id = identity.table_id, .base_path = identity.base_path};
  if (!IsNamed(mirror_tables_, table))
    return Fail(ErrorKind::kNotFound, "'mirror.tables' leaves the table out");
  if (!IsNamed(sink.config.tables, table))
    return Fail(ErrorKind::kNotFound, "'tables' of the sink leaves the table out");
  TRY_ASSIGN(auto found,
             sink::CompareCatalog(*sink.target.catalog, sink.target.options, truth, budget));
  std::vector<api::ReconciledCatalogTable> tables;
  tables.reserve(found.size());
  for (auto& each : found) tables.push_back(Shown(std::move(each), hidden_));
  return tables;
}

}  // namespace tidemark::app
