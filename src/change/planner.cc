#include "change/planner.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/check.h"
#include "change/comparison_internal.h"
#include "change/group_builder_internal.h"
#include "change/instant_order.h"
#include "change/inventory_reading.h"

namespace tidemark::change {

namespace {

using lake::hudi::Action;

/// Makes one plan. Single-threaded, used once.
class Planner {
 public:
  Planner(const TableState& state, const TableFacts& facts, const PlanOptions& options)
      : facts_(facts),
        options_(options),
        seen_(Compare(CursorOf(state), facts.timeline)),
        untold_(UntoldOfArchive(CursorOf(state), facts, seen_)),
        undone_(FindUndone(CursorOf(state), facts, seen_)) {
    plan_.after = state;
  }

  Plan Make() {
    if (IsPaused(seen_)) {
      plan_.is_paused = true;
      return std::move(plan_);
    }
    if (!plan_.after.cursor) {
      Begin();
    } else {
      Resume();
    }
    TellVersion();
    TellHole();
    for (const InstantEffect* instant : Untold()) Tell(*instant);
    TellDoubts();
    if (options_.wants_snapshot && plan_.after.inventory) AddSnapshot(EventSource::kBootstrap);
    Close();
    return std::move(plan_);
  }

 private:
  Cursor& cursor() { return *plan_.after.cursor; }

  // --- The beginning of an epoch ---

  void Begin() {
    has_begun_ = true;
    plan_.after.cursor.emplace();
    cursor().epoch = 0;
    if (options_.beginning == Beginning::kNow) {
      for (const auto& key : seen_.completed) cursor().published.emplace(key, 0);
      TakeNewest();
    }
    Restart(TableReason::kCreated);
  }

  /// What was published no longer tells what subscribers must hold: a new epoch begins with the
  /// table as it was after the instants in the cursor.
  void Restart(TableReason reason) {
    const Cursor before = cursor();
    plan_.after.cursor.emplace();
    cursor().epoch = before.epoch + 1;
    cursor().published = before.published;
    for (auto& [key, seq] : cursor().published) seq = 0;
    cursor().newest_requested = before.newest_requested;
    SetVersion();
    plan_.after.inventory = InventoryOf(cursor().published);
    auto group = NewGroup(EventSource::kBootstrap);
    TakeSchemaOf(cursor().published, before.schema, group);
    group.table = TableChange{.reason = reason};
    Add(std::move(group));
    AddSnapshot(EventSource::kBootstrap);
  }

  void Resume() {
    if (IsRecreated()) {
      cursor().published.clear();
      cursor().newest_requested.clear();
      Restart(TableReason::kRecreated);
      return;
    }
    if (plan_.after.inventory || !facts_.listing) return;
    auto inventory = InventoryOf(cursor().published);
    if (inventory.digest() == cursor().partition_digest &&
        static_cast<int64_t>(inventory.partition_count()) == cursor().partition_count) {
      plan_.after.inventory = std::move(inventory);
      return;
    }
    Forget(seen_.missing);
    Restart(TableReason::kResynced);
  }

  /// None of what was published is in the active timeline or in a whole archive, and nothing says
  /// that it was taken back.
  bool IsRecreated() const {
    if (!seen_.is_all_gone || !facts_.archive || !facts_.archive->is_whole) return false;
    const auto is_known = [&](const InstantKey& key) {
      return undone_.all.contains(key) || IsInArchive(facts_, key);
    };
    return std::ranges::none_of(seen_.archived, is_known) &&
           std::ranges::none_of(seen_.missing, is_known);
  }

  // --- Telling ---

  /// Another version or layout of the same table: what was told stays told.
  void TellVersion() {
    const int version = facts_.properties.version;
    const int layout = facts_.properties.layout;
    if (cursor().table_version == version && cursor().layout == layout) return;
    auto group = NewGroup(EventSource::kIncremental);
    group.table = TableChange{
        .reason = std::pair(version, layout) < std::pair(cursor().table_version, cursor().layout)
                      ? TableReason::kDowngraded
                      : TableReason::kUpgraded,
        .version_before = cursor().table_version,
        .layout_before = cursor().layout};
    SetVersion();
    Add(std::move(group));
  }

  void SetVersion() {
    cursor().table_version = facts_.properties.version;
    cursor().layout = facts_.properties.layout;
  }

  /// In order: what was archived unseen, then what is in the active timeline.
  std::vector<const InstantEffect*> Untold() const {
    std::vector<const InstantEffect*> active;
    for (const auto& instant : seen_.fresh) {
      const auto key = KeyOf(instant);
      if (plan_.after.cursor->published.contains(key)) continue;
      if (IsBehindFloor(*plan_.after.cursor, key) && IsInArchive(facts_, key)) continue;
      active.push_back(&facts_.bodies.at(key));
    }
    SortForTelling(active, facts_.timeline, facts_.properties.zone);
    auto all = untold_;
    std::ranges::sort(all, {}, [](const InstantEffect* facts) { return KeyOf(facts->instant); });
    all.insert(all.end(), active.begin(), active.end());
    return all;
  }

  void Tell(const InstantEffect& instant) {
    auto group = NewGroup(EventSource::kIncremental);
    DescribeInstant(instant, facts_, group);
    const bool is_savepoint = instant.instant.action == Action::kSavepoint;
    group.is_late = !is_savepoint && instant.instant.requested < cursor().newest_requested;
    if (IsCommit(*group.instant)) {
      TellSchema(instant, group);
      TellPartitions(instant, group);
    }
    const bool is_restore = instant.instant.action == Action::kRestore;
    if (is_restore || instant.instant.action == Action::kRollback)
      Retract(instant, is_restore, group);
    group.commit = CommitChangeOf(instant, group.partitions, options_);
    const auto key = *group.instant;
    const bool has_retracted = !group.retracted.empty();
    Add(std::move(group));
    cursor().published[key] = cursor().seq;
    cursor().newest_requested = std::max(cursor().newest_requested, key.requested);
    if (is_restore && has_retracted) Restart(TableReason::kRestored);
  }

  /// As a reader resolves it: an old writer that finishes late changes nothing.
  void TellSchema(const InstantEffect& instant, Group& group) {
    const auto source = SchemaSourceOf(instant);
    if (!source.has_schema) return;
    if (cursor().schema_source && !Supersedes(source, *cursor().schema_source)) return;
    auto schema = SchemaOf(instant.extra);
    if (!schema || !*schema) {
      Complain(instant.instant.file, schema ? "no columns" : schema.error().message);
      return;
    }
    cursor().schema_source = source;
    SetSchema(**std::move(schema), group);
  }

  void SetSchema(Schema schema, Group& group) {
    if (schema.fingerprint == cursor().schema.fingerprint) return;
    group.schema = SchemaChange{.schema = schema, .diff = DiffSchemas(cursor().schema, schema)};
    cursor().schema = std::move(schema);
    ++cursor().schema_version;
  }

  void TellPartitions(const InstantEffect& instant, Group& group) {
    if (instant.partitions.empty()) return;
    CHECK(plan_.after.inventory.has_value(), "a commit asks for a listing first");
    for (const auto& [path, write] : instant.partitions) {
      const auto op = Apply(path, write, *plan_.after.inventory);
      if (!op || (*op == PartitionOp::kTouch && !options_.with_touches)) continue;
      group.partitions.push_back({.path = path,
                                  .op = *op,
                                  .files_added = write.files_added,
                                  .files_removed = static_cast<int64_t>(write.replaced.size()),
                                  .bytes = write.bytes});
    }
  }

  // --- Taking back ---

  void Retract(const InstantEffect& instant, bool is_restore, Group& group) {
    for (const auto& key : UndoneBy(cursor(), instant)) {
      // A restore's own rollbacks leave the telling to the restore.
      if (!undone_.all.contains(key) || (!is_restore && undone_.by_restore.contains(key))) continue;
      group.retracted.push_back({.instant = key, .seq = cursor().published.at(key)});
    }
    if (group.retracted.empty()) return;
    for (const auto& retraction : group.retracted) Forget(retraction.instant);
    if (is_restore) return;  // the epoch that follows tells what is there
    TakeDifference(InventoryOf(cursor().published), group);
    TakeSchemaOf(cursor().published, cursor().schema, group);
  }

  /// From what is known to `found`.
  void TakeDifference(Inventory found, Group& group) {
    for (auto& path : found.Beyond(*plan_.after.inventory))
      group.partitions.push_back({.path = std::move(path), .op = PartitionOp::kAdd});
    for (auto& path : plan_.after.inventory->Beyond(found))
      group.partitions.push_back({.path = std::move(path), .op = PartitionOp::kDrop});
    std::ranges::sort(group.partitions, {}, &PartitionChange::path);
    plan_.after.inventory = std::move(found);
  }

  /// The schema after the instants of `published`, told where it differs from `known`.
  void TakeSchemaOf(const std::map<InstantKey, int64_t>& published, const Schema& known,
                    Group& group) {
    auto found = NewestSchema(published, facts_);
    if (!found && cursor().schema_source) return;  // told by a commit that is archived by now
    cursor().schema = known;
    cursor().schema_source = found ? std::optional(found->source) : std::nullopt;
    SetSchema(found ? std::move(found->schema) : CreatedSchema(), group);
  }

  Schema CreatedSchema() {
    const auto text = facts_.properties.Find("hoodie.table.create.schema");
    if (!text || text->empty()) return {};
    auto schema = ParseAvroColumns(*text);
    if (schema) return *std::move(schema);
    Complain(".hoodie/hoodie.properties", schema.error().message);
    return {};
  }

  void Complain(const std::string& place, const std::string& message) {
    plan_.findings.push_back({.kind = "unreadable_schema", .place = place, .message = message});
  }

  // --- Doubts ---

  /// What the events could not tell for certain is told from the listing.
  void TellDoubts() {
    auto unexplained = seen_.missing;
    std::erase_if(unexplained, [&](const auto& key) {
      return undone_.all.contains(key) || IsInArchive(facts_, key);
    });
    Forget(unexplained);
    const bool is_doubtful = options_.wants_reconcile || seen_.unseen_from ||
                             !unexplained.empty() || HasUnreadable(seen_, facts_);
    if (is_doubtful && plan_.after.inventory && facts_.listing)
      TellDifference(EventSource::kReconcile);
  }

  /// Instants that were archived before anybody saw them, and that cannot be read any more.
  void TellHole() {
    if (!facts_.archive || facts_.archive->is_whole) return;
    if (!has_begun_ && !seen_.unseen_from) return;
    auto group = NewGroup(EventSource::kIncremental);
    group.commit = CommitChange{.type = CommitType::kArchivedRange,
                                .range_first = seen_.unseen_from.value_or(""),
                                .range_last = seen_.start};
    Add(std::move(group));
  }

  void TellDifference(EventSource source) {
    auto group = NewGroup(source);
    TakeDifference(InventoryOf(cursor().published), group);
    TakeSchemaOf(cursor().published, cursor().schema, group);
    if (group.partitions.empty() && !group.schema) return;
    group.table = TableChange{.reason = TableReason::kReconciled};
    Add(std::move(group));
    AddSnapshot(source);
  }

  void Forget(const std::set<InstantKey>& keys) {
    for (const auto& key : keys) Forget(key);
  }
  void Forget(const InstantKey& key) {
    cursor().published.erase(key);
    const auto& source = cursor().schema_source;
    if (source && InstantKey{source->requested, source->action_name} == key)
      cursor().schema_source.reset();
  }

  // --- The frame ---

  Group NewGroup(EventSource source) {
    return {.epoch = cursor().epoch,
            .seq = cursor().seq + 1,
            .previous = cursor().previous,
            .source = source};
  }

  void Add(Group group) {
    if (plan_.after.inventory) {
      cursor().partition_count = static_cast<int64_t>(plan_.after.inventory->partition_count());
      cursor().partition_digest = plan_.after.inventory->digest();
    }
    group.schema_fingerprint = cursor().schema.fingerprint;
    group.schema_version = cursor().schema_version;
    group.partition_count = cursor().partition_count;
    group.partition_digest = cursor().partition_digest;
    group.table_version = cursor().table_version;
    cursor().seq = group.seq;
    cursor().previous = Previous{.seq = group.seq, .instant = group.instant};
    plan_.groups.push_back(std::move(group));
  }

  void AddSnapshot(EventSource source) {
    plan_.snapshots.push_back({.epoch = cursor().epoch,
                               .as_of_seq = cursor().seq,
                               .source = source,
                               .newest = NewestOf(cursor().published),
                               .time = std::nullopt,
                               .schema = cursor().schema,
                               .schema_version = cursor().schema_version,
                               .partitions = plan_.after.inventory->Partitions(),
                               .partition_digest = plan_.after.inventory->digest(),
                               .table_version = cursor().table_version});
  }

  /// The cursor holds what the active timeline holds, and no more: the set stays small.
  void Close() {
    std::erase_if(cursor().published,
                  [&](const auto& entry) { return !seen_.completed.contains(entry.first); });
    cursor().pending = seen_.pending;
    cursor().floor = seen_.start;
  }

  void TakeNewest() {
    for (const auto& [key, seq] : cursor().published)
      cursor().newest_requested = std::max(cursor().newest_requested, key.requested);
  }

  Inventory InventoryOf(const std::map<InstantKey, int64_t>& published) const {
    CHECK(facts_.listing.has_value(), "an inventory asks for a listing first");
    CountedInstants counted;
    for (const auto& [key, seq] : published)
      if (IsCommit(key)) counted.committed.insert(key.requested);
    for (const auto& key : seen_.pending) counted.excluded.insert(key.requested);
    counted.start = seen_.start;
    // Told one by one afterwards, so not there yet.
    for (const InstantEffect* instant : untold_) {
      const auto key = KeyOf(instant->instant);
      if (!published.contains(key)) counted.excluded.insert(key.requested);
    }
    auto inventory = ReadInventory(*facts_.listing, facts_.bodies, counted);
    if (published.empty()) AddImplied(Untold(), inventory);
    return inventory;
  }

  const TableFacts& facts_;
  const PlanOptions& options_;
  Comparison seen_;
  std::vector<const InstantEffect*> untold_;  // of the archive
  Undone undone_;
  bool has_begun_ = false;
  Plan plan_;
};

}  // namespace

Plan PlanChanges(const TableState& state, const TableFacts& facts, const PlanOptions& options) {
  return Planner(state, facts, options).Make();
}

}  // namespace tidemark::change
