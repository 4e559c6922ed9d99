#include "app/reconcile_run.h"

#include <algorithm>
#include <utility>

#include "api/change_json.h"
#include "app/publish_run.h"
#include "app/sink_comparison.h"
#include "app/sink_view.h"
#include "app/table_changes.h"
#include "feed/kafka_log.h"
#include "feed/kafka_outlet.h"
#include "feed/table_reader.h"
#include "feed/told_table.h"
#include "kafka/group_lease.h"

namespace tidemark::app {

namespace {

/// How often a table is compared anew because its publisher told something meanwhile.
constexpr int kComparisonsMax = 3;

change::TableTruth TruthOf(const feed::TableReading& reading) {
  change::TableTruth truth{.partitions = reading.plan.after.inventory->Partitions(),
                           .schema_fingerprint = reading.plan.after.cursor->schema.fingerprint};
  for (const auto& [key, seq] : reading.plan.after.cursor->published) truth.completed.insert(key);
  return truth;
}

/// As sinks are shown it, and what is known of how far they are to be.
sink::TableTruth SinkTruthOf(const feed::TableReading& reading, const feed::ToldTable& told,
                             const std::string& base_path) {
  sink::TableNow now;
  now.view.identity = api::IdentityOf(base_path, reading.properties);
  // As subscribers know the place: the publisher may have been given it in another form.
  if (!told.replica.base_path.empty()) now.view.identity.base_path = told.replica.base_path;
  const auto& cursor = *reading.plan.after.cursor;
  now.view.table_version = cursor.table_version;
  now.view.schema = cursor.schema;
  for (auto& path : reading.plan.after.inventory->Partitions())
    now.partitions.push_back({.partition = {.path = path}});
  FillFromProperties(reading.properties, now);
  sink::TableTruth truth{.view = std::move(now.view), .partitions = PartitionsOf(now)};
  if (!told.record || !told.record->cursor) return truth;
  const auto& told_cursor = *told.record->cursor;
  truth.told = {told_cursor.epoch, told_cursor.seq};
  truth.is_told_whole = std::ranges::all_of(cursor.published, [&](const auto& each) {
    return told_cursor.published.contains(each.first);
  });
  if (told.replica.epoch == told_cursor.epoch && !told.replica.held_for)
    truth.named = told.replica.partitions;
  return truth;
}

struct Compared {
  change::Reconciliation found{};
  std::vector<api::ReconciledSink> sinks{};
};

/// Compares tables one by one. Borrows everything.
class Comparison {
 public:
  Comparison(const Config& config, feed::EventLog& log, SinkComparison& sinks, const Budget& budget,
             const FreshnessEdges& edges)
      : config_(config), log_(log), sinks_(sinks), budget_(budget), edges_(edges) {}

  Result<Compared> Make(const std::string& table, const std::string& uid) {
    const StoreConfig& store_config = StoreFor(config_, table);
    auto store = edges_.open_store(table, store_config.options);
    if (!store) return std::unexpected(store_config.hidden.Hide(std::move(store).error()));
    for (int tries = 1;; ++tries) {
      TRY_ASSIGN(const auto told, Told(uid));
      auto reading = feed::ReadChanges(**store, edges_.columns, {}, {}, budget_);
      if (!reading) return std::unexpected(store_config.hidden.Hide(std::move(reading).error()));
      if (reading->plan.is_paused) {
        return Fail(ErrorKind::kUnavailable,
                    "a restore or rollback is under way: nothing can be compared");
      }
      std::vector<api::ReconciledSink> sinks;
      if (!sinks_.is_empty())
        sinks = sinks_.Compare(SinkTruthOf(*reading, told, BasePathOf(table)), budget_);
      // Events go out with the record, so that the same record means the same events.
      TRY_ASSIGN(const auto record, Record(uid));
      const bool is_same = StampOf(record) == StampOf(told.record);
      if (!is_same && tries < kComparisonsMax) continue;
      // A sink may be further than what was read then.
      if (!is_same)
        sinks = sinks_.Unknown(
            {ErrorKind::kConflict, "the publisher told more of the table at each comparison"});
      const auto* cursor = told.record && told.record->cursor ? &*told.record->cursor : nullptr;
      return Compared{change::Reconcile(TruthOf(*reading), cursor, &told.replica, told.seqs),
                      std::move(sinks)};
    }
  }

 private:
  Result<feed::ToldTable> Told(const std::string& uid) {
    return Hidden(feed::ReadToldTable(log_, uid, *edges_.clock, budget_));
  }
  Result<std::optional<feed::TableRecord>> Record(const std::string& uid) {
    return Hidden(feed::ReadTableRecord(log_, uid, budget_));
  }
  template <class Value>
  Result<Value> Hidden(Result<Value> read) const {
    if (read) return read;
    return std::unexpected(ClusterHidden().Hide(std::move(read).error()));
  }
  const HiddenValues& ClusterHidden() const {
    return config_.clusters.at(config_.feed->cluster).hidden;
  }
  static std::pair<int64_t, int64_t> StampOf(const std::optional<feed::TableRecord>& record) {
    if (!record || !record->cursor) return {0, 0};
    return {record->cursor->epoch, record->cursor->seq};
  }

  const Config& config_;
  feed::EventLog& log_;
  SinkComparison& sinks_;
  const Budget& budget_;
  const FreshnessEdges& edges_;
};

Status AskRepairs(const Config& config, std::vector<api::ReconciledTable>& tables,
                  const Budget& budget) {
  const auto& cluster = config.clusters.at(config.feed->cluster);
  auto outlet = feed::OpenKafkaOutlet(cluster.options, config.feed->topics);
  if (!outlet) return std::unexpected(cluster.hidden.Hide(std::move(outlet).error()));
  for (auto& table : tables) {
    if (table.found.agreement != change::Agreement::kDifferent) continue;
    const auto partition = kafka::PartitionOfKey(table.uid, config.feed->topics.partition_count);
    const auto asked = (*outlet)->Ask(
        partition, {.action = feed::ControlAction::kResync, .uid = table.uid}, budget);
    if (!asked) return std::unexpected(cluster.hidden.Hide(Error(asked.error())));
    table.is_repair_asked = true;
  }
  return {};
}

}  // namespace

Result<std::vector<api::ReconciledTable>> ReconcileTables(const Config& config,
                                                          const std::vector<std::string>& tables,
                                                          const ReconcileOptions& options,
                                                          const Budget& budget,
                                                          const FreshnessEdges& edges) {
  if (!config.feed) {
    return Fail(ErrorKind::kInvalidArgument,
                "the configuration has no section 'feed', which says where changes are told");
  }
  if (options.repairs && !options.sinks.empty()) {
    return Fail(ErrorKind::kInvalidArgument,
                "a sink is not repaired from here, for its mirror goes on writing to it: ask the "
                "mirror with POST /api/v1/sinks/{sink}/tables/{uid}/resume, which compares all of "
                "it anew");
  }
  TRY_ASSIGN(const auto chosen, SinksToCompare(config, options.sinks));
  SinkComparison sinks(config, chosen);
  const auto log = feed::OpenKafkaLog(LogOptionsOf(config));
  Comparison comparison(config, *log, sinks, budget, edges);
  std::vector<api::ReconciledTable> results;
  for (const auto& table : tables) {
    api::ReconciledTable result{.table = table, .uid = api::TableUid(BasePathOf(table))};
    auto found = comparison.Make(table, result.uid);
    if (budget.is_stopped()) return std::unexpected(budget.Check().error());
    if (found) {
      result.found = std::move(found->found);
      result.sinks = std::move(found->sinks);
    } else {
      result.sinks = sinks.Unknown(found.error());
      result.failure = std::move(found).error();
    }
    results.push_back(std::move(result));
  }
  if (options.repairs) TRY(AskRepairs(config, results, budget));
  return results;
}

}  // namespace tidemark::app
