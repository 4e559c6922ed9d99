#include "sink/catalog_sink.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

namespace tidemark::sink {

namespace {

SinkOutcome Refused(const Error& error, const Catalog& catalog) {
  SinkOutcome outcome = OutcomeOf(error);
  if (outcome.kind == OutcomeKind::kPermanent) outcome.cure = catalog.cure_of_refusal();
  return outcome;
}

}  // namespace

SyncStep StepFor(const std::optional<SinkStamp>& there, const std::optional<SinkStamp>& applied,
                 const SinkStamp& now, const std::optional<SinkStamp>& from, Stamping stamping) {
  if (!there) return SyncStep::kFull;
  if (*there > now) return SyncStep::kStale;
  if (*there == now) return SyncStep::kNothing;
  if (there->epoch != now.epoch || !from || from->epoch != now.epoch) return SyncStep::kFull;
  if (stamping == Stamping::kEachUpdate)
    return *there == *from ? SyncStep::kDelta : SyncStep::kFull;
  if (applied == now) return SyncStep::kNothing;
  return *there <= *from && applied == *from ? SyncStep::kDelta : SyncStep::kFull;
}

SinkOutcome CatalogSink::Apply(const SinkUpdate& update, const Budget& budget) {
  if (update.now.is_dropped) return DropTables(update, budget);
  const auto tables = CatalogTables(update.now, options_.naming);
  if (!tables) return Refused(tables.error(), *catalog_);
  SinkOutcome sum;
  for (const auto& table : *tables) {
    auto outcome = ApplyOne(table, update, budget);
    const auto name = fmt::format("table={}.{}", table.database, table.name);
    if (!outcome) return Refused(std::move(outcome).error().With(name), *catalog_);
    if (outcome->kind == OutcomeKind::kStale) return *std::move(outcome);
    sum.was_full |= outcome->was_full;
    sum.partitions_added += outcome->partitions_added;
    sum.partitions_dropped += outcome->partitions_dropped;
  }
  return sum;
}

Result<SinkOutcome> CatalogSink::ApplyOne(const CatalogTable& wanted, const SinkUpdate& update,
                                          const Budget& budget) {
  TRY_ASSIGN(auto there, catalog_->ReadTable(wanted.database, wanted.name, budget));
  const bool is_new = !there;
  if (is_new) {
    TRY_ASSIGN(there, Create(wanted, budget));
  }
  const auto stamp = StampOf(*there);
  const auto from = update.delta != nullptr ? std::optional(update.delta->from) : std::nullopt;
  SyncStep step = is_new ? SyncStep::kFull
                         : StepFor(stamp, update.applied, update.stamp, from, options_.stamping);
  if (update.compares_all && step != SyncStep::kStale) step = SyncStep::kFull;
  if (step == SyncStep::kNothing) return SinkOutcome{};
  if (step == SyncStep::kStale) {
    return SinkOutcome{.kind = OutcomeKind::kStale,
                       .reason = fmt::format("the catalog is further, so another process is newer: "
                                             "table={}.{} catalog={} ours={}",
                                             wanted.database, wanted.name, StampText(*stamp),
                                             StampText(update.stamp)),
                       .target = stamp};
  }
  auto outcome = Change(*there, wanted, step, is_new, update, budget);
  const bool is_refused = !outcome && OutcomeOf(outcome.error()).kind == OutcomeKind::kPermanent;
  if (!is_refused || !stamp || options_.when_refused == WhenRefused::kQuarantine) return outcome;
  TRY(catalog_->DropTable(wanted.database, wanted.name, budget));
  TRY_ASSIGN(there, Create(wanted, budget));
  return Change(*there, wanted, SyncStep::kFull, /*is_new=*/true, update, budget);
}

/// Shape first, then partitions, the stamp last: whatever breaks off in between, the next call
/// finds an older stamp, or none, and ends the work.
Result<SinkOutcome> CatalogSink::Change(const CatalogTable& there, const CatalogTable& wanted,
                                        SyncStep step, bool is_new, const SinkUpdate& update,
                                        const Budget& budget) {
  std::optional<CatalogTable> before = there;
  TRY_ASSIGN(CatalogTable changed, ChangedTable(there, wanted));
  const bool has_new_shape = !ShapeDifferences(there, changed).empty();
  const auto stamp = StampOf(there);
  // Epochs are few; without the new one each update would compare everything.
  const bool has_old_epoch = !stamp || stamp->epoch != update.stamp.epoch;
  const bool stamps =
      has_new_shape || is_new || has_old_epoch || options_.stamping == Stamping::kEachUpdate;
  // One alteration where nothing comes between.
  const bool has_partitions =
      step == SyncStep::kFull || !update.delta->added.empty() || !update.delta->dropped.empty();
  if (has_new_shape && has_partitions) {
    TRY(catalog_->AlterTable(there, changed, budget));
    TRY_ASSIGN(before, catalog_->ReadTable(wanted.database, wanted.name, budget));
    if (!before)
      return Fail(ErrorKind::kConflict, "the table was dropped while it was brought up to date");
    TRY_ASSIGN(changed, ChangedTable(*before, wanted));
  }
  SinkOutcome outcome;
  TRY(Fill(changed, step, update, outcome, budget));
  if (!stamps) return outcome;
  SetStamp(changed, update.stamp);
  TRY(catalog_->AlterTable(*before, changed, budget));
  return outcome;
}

Result<CatalogTable> CatalogSink::Create(CatalogTable wanted, const Budget& budget) {
  TRY(catalog_->CreateTable(wanted, budget));
  TRY_ASSIGN(auto made, catalog_->ReadTable(wanted.database, wanted.name, budget));
  if (!made) return Fail(ErrorKind::kConflict, "the table was dropped after it was made");
  return *std::move(made);
}

Status CatalogSink::Fill(const CatalogTable& table, SyncStep step, const SinkUpdate& update,
                         SinkOutcome& outcome, const Budget& budget) {
  if (table.partition_keys.empty()) return {};
  if (step == SyncStep::kFull) return FillFully(table, update, outcome, budget);
  const TableDelta& delta = *update.delta;
  TRY(CheckValues(table, delta.added));
  TRY(CheckValues(table, delta.dropped));
  // A partition that comes under the values of one that goes must not go with it.
  if (!delta.dropped.empty()) TRY(catalog_->DropPartitions(table, delta.dropped, budget));
  if (!delta.added.empty()) TRY(catalog_->AddPartitions(table, delta.added, budget));
  outcome.partitions_added = delta.added.size();
  outcome.partitions_dropped = delta.dropped.size();
  return {};
}

Status CatalogSink::FillFully(const CatalogTable& table, const SinkUpdate& update,
                              SinkOutcome& outcome, const Budget& budget) {
  outcome.was_full = true;
  std::vector<PartitionView> partitions =
      update.now.partitions ? update.now.partitions() : std::vector<PartitionView>{};
  TRY(CheckValues(table, partitions));
  TRY_ASSIGN(const auto present, catalog_->ListPartitions(table, budget));
  TRY_ASSIGN(const auto found, ComparePartitions(table, std::move(partitions), present));
  if (!found.surplus.empty()) TRY(catalog_->DropPartitions(table, found.surplus, budget));
  if (!found.missing.empty()) TRY(catalog_->AddPartitions(table, found.missing, budget));
  outcome.partitions_added = found.missing.size();
  outcome.partitions_dropped = found.surplus.size();
  return {};
}

SinkOutcome CatalogSink::DropTables(const SinkUpdate& update, const Budget& budget) {
  if (options_.when_dropped == WhenDropped::kKeep) return {};
  const auto names = CatalogNames(update.now, options_.naming);
  if (!names) return Refused(names.error(), *catalog_);
  for (const auto& name : *names) {
    const auto drop = [&]() -> Status {
      TRY_ASSIGN(const auto there, catalog_->ReadTable(name.database, name.table, budget));
      // Only what we made: it bears our stamp.
      if (!there || !StampOf(*there) || *StampOf(*there) > update.stamp) return {};
      return catalog_->DropTable(name.database, name.table, budget);
    };
    if (const auto status = drop(); !status) return Refused(status.error(), *catalog_);
  }
  return {};
}

}  // namespace tidemark::sink
