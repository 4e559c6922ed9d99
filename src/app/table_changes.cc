#include "app/table_changes.h"

#include <utility>

#include "feed/table_reader.h"
#include "storage/store_uri.h"

namespace tidemark::app {

std::string BasePathOf(const std::string& table) {
  const auto uri = storage::ParseStoreUri(table);
  if (!uri || uri->kind != storage::StoreKind::kLocal) return uri ? uri->text : table;
  return storage::ComparableUri(table);
}

Result<ChangesReading> ReadTableChanges(const std::string& table,
                                        const storage::StoreOptions& store,
                                        const ChangesOptions& options, const Budget& budget,
                                        const FreshnessEdges& edges) {
  TRY_ASSIGN(const auto opened, edges.open_store(table, store));
  const change::PlanOptions plan_options{
      .beginning = options.from_start ? change::Beginning::kStart : change::Beginning::kActive,
      .extra_keys = {"*"}};
  TRY_ASSIGN(auto reading, feed::ReadChanges(*opened, edges.columns, {}, plan_options, budget));
  const auto& properties = reading.properties;
  const auto identity = api::IdentityOf(BasePathOf(table), properties);
  ChangesReading changes{.events = {},
                         .findings = std::move(reading.plan.findings),
                         .is_paused = reading.plan.is_paused};
  const auto take = [&](std::vector<api::ChangeEvent> events) {
    for (auto& event : events) changes.events.push_back(std::move(event));
  };
  auto snapshot = reading.plan.snapshots.begin();
  for (const auto& group : reading.plan.groups) {
    take(api::ChangeEvents(identity, properties, group, options.limits));
    for (; snapshot != reading.plan.snapshots.end() && snapshot->epoch == group.epoch &&
           snapshot->as_of_seq == group.seq;
         ++snapshot) {
      take(api::SnapshotEvents(identity, properties, *snapshot, options.limits));
    }
  }
  return changes;
}

}  // namespace tidemark::app
