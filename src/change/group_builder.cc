#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "change/group_builder_internal.h"
#include "lake/hudi/commit_time.h"

namespace tidemark::change {

namespace {

using lake::hudi::Action;

CommitType TypeOf(const InstantEffect& facts) {
  const auto& instant = facts.instant;
  const auto is_planned = [&](Action action) { return instant.planned_as == action; };
  switch (instant.action) {
    case Action::kCommit:
      return facts.is_compaction || is_planned(Action::kCompaction) ? CommitType::kCompaction
                                                                    : CommitType::kCommit;
    case Action::kDeltaCommit:
      return facts.operation == "LOG_COMPACT" || is_planned(Action::kLogCompaction)
                 ? CommitType::kLogCompaction
                 : CommitType::kDeltaCommit;
    case Action::kReplaceCommit:
      return facts.operation == "CLUSTER" || is_planned(Action::kClustering)
                 ? CommitType::kClustering
                 : CommitType::kReplaceCommit;
    case Action::kClean: return CommitType::kClean;
    case Action::kRollback: return CommitType::kRollback;
    case Action::kRestore: return CommitType::kRestore;
    case Action::kSavepoint: return CommitType::kSavepoint;
    case Action::kIndexing: return CommitType::kIndexing;
    case Action::kSchemaCommit: return CommitType::kSchemaCommit;
    default: return CommitType::kUnknown;
  }
}

/// Schemas have a part of their own.
bool IsPassedOn(std::string_view key, const PlanOptions& options) {
  if (key == "schema" || key == "latest_schema") return false;
  return std::ranges::any_of(options.extra_keys, [&](std::string_view wanted) {
    if (!wanted.ends_with('*')) return key == wanted;
    wanted.remove_suffix(1);
    return key.starts_with(wanted);
  });
}

}  // namespace

void DescribeInstant(const InstantEffect& instant, const TableFacts& facts, Group& group) {
  group.instant = KeyOf(instant.instant);
  group.operation = instant.operation;
  group.completed = instant.instant.completed;
  if (!group.completed) group.file_time = instant.instant.file_time;
  const auto time = CommitTimeOf(instant.instant, facts.timeline.instants, facts.properties.zone);
  // Without a completion time an instant only says when it began.
  if (group.completed || time.source != lake::CommitTimeSource::kInstant) group.time = time.at;
}

CommitChange CommitChangeOf(const InstantEffect& instant,
                            std::span<const PartitionChange> partitions,
                            const PlanOptions& options) {
  CommitChange change{.type = TypeOf(instant),
                      .partitions_touched = static_cast<int64_t>(partitions.size()),
                      .records_written = instant.records_written,
                      .records_deleted = instant.records_deleted,
                      .body = instant.body,
                      .defect = instant.defect};
  if (IsCommitAction(instant.instant.action))
    change.partitions_touched = static_cast<int64_t>(instant.partitions.size());
  for (const auto& [path, write] : instant.partitions) {
    change.files_added += write.files_added;
    change.files_removed += static_cast<int64_t>(write.replaced.size());
    // A read-optimised view leaves out what was replaced, at once.
    change.is_ro_visible |= !write.replaced.empty();
  }
  change.is_ro_visible |= instant.writes_base_files;
  change.is_ro_visible &= !instant.writes_logs;
  for (const auto& [path, count] : instant.removed) change.files_removed += count;
  for (const auto& [key, value] : instant.extra)
    if (IsPassedOn(key, options)) change.extra.emplace(key, value);
  return change;
}

std::optional<PartitionOp> Apply(const std::string& path, const PartitionWrite& write,
                                 Inventory& inventory) {
  const bool was_there = inventory.Contains(path);
  // New groups first, so that a partition whose groups are all rewritten is never away.
  inventory.Write(path, write.written);
  inventory.Replace(path, write.replaced);
  const bool is_there = inventory.Contains(path);
  if (!was_there && !is_there) return std::nullopt;
  if (!was_there) return PartitionOp::kAdd;
  return is_there ? PartitionOp::kTouch : PartitionOp::kDrop;
}

void AddImplied(std::span<const InstantEffect* const> instants, Inventory& inventory) {
  std::map<std::string, std::set<std::string>> begun;
  for (const InstantEffect* facts : instants) {
    for (const auto& [path, write] : facts->partitions) {
      auto& known = begun[path];
      std::vector<std::string> implied;
      const auto imply = [&](const std::vector<std::string>& file_ids) {
        std::ranges::copy_if(file_ids, std::back_inserter(implied),
                             [&](const auto& file_id) { return !known.contains(file_id); });
      };
      imply(write.continued);
      known.insert(write.written.begin(), write.written.end());
      imply(write.replaced);
      inventory.Write(path, implied);
    }
  }
}

SchemaSource SchemaSourceOf(const InstantEffect& instant) {
  const auto is_said = [&](const char* key) {
    const auto entry = instant.extra.find(key);
    return entry != instant.extra.end() && !entry->second.empty();
  };
  return {.requested = instant.instant.requested,
          .action_name = instant.instant.action_name,
          .operation = instant.operation,
          .has_schema = is_said("schema") || is_said("latest_schema")};
}

std::optional<FoundSchema> NewestSchema(const std::map<InstantKey, int64_t>& published,
                                        const TableFacts& facts) {
  std::vector<SchemaSource> sources;
  std::vector<const InstantEffect*> bodies;
  for (const auto& [key, seq] : published) {
    const auto body = facts.bodies.find(key);
    if (body == facts.bodies.end() || !IsCommitAction(body->second.instant.action)) continue;
    sources.push_back(SchemaSourceOf(body->second));
    bodies.push_back(&body->second);
  }
  const auto place = EffectiveSchema(sources);
  if (!place) return std::nullopt;
  auto schema = SchemaOf(bodies[*place]->extra);
  if (!schema || !*schema) return std::nullopt;
  return FoundSchema{**std::move(schema), sources[*place]};
}

std::optional<InstantKey> NewestOf(const std::map<InstantKey, int64_t>& published) {
  if (published.empty()) return std::nullopt;
  return published.rbegin()->first;
}

}  // namespace tidemark::change
