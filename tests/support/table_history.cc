#include "support/table_history.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace tidemark::support {

namespace {

template <class T>
const T& OneOf(const std::vector<T>& all, const TableHistory::Draw& draw) {
  return all[static_cast<size_t>(draw(static_cast<int>(all.size())))];
}

}  // namespace

void TableHistory::Write(const Draw& draw, bool completes) {
  Commit& commit = Begin("commit", "UPSERT");
  for (int left = 1 + draw(3); left > 0; --left) {
    const std::string path = AnyPath(draw);
    const auto alive = GroupsIn(path);
    const bool is_new = alive.empty() || draw(3) == 0;
    commit.written.push_back(
        is_new ? Group{path, NewId()} : OneOf(alive, draw));
  }
  commit.column = AnyColumn(draw);
  Finish(commit, completes);
}

void TableHistory::Compact(const Draw& draw, bool completes) {
  const auto alive = AllGroups();
  if (alive.empty()) return;
  Commit& commit = Begin("commit", "COMPACT");
  commit.planned_as = lake::hudi::Action::kCompaction;
  commit.written.push_back(OneOf(alive, draw));
  commit.column = column_;
  Finish(commit, completes);
}

void TableHistory::Overwrite(const Draw& draw, bool completes) {
  const std::string path = AnyPath(draw);
  const auto alive = GroupsIn(path);
  const int kind = draw(3);
  if (kind > 0 && alive.empty()) return;
  Commit& commit = Begin("replacecommit", kind == 0   ? "INSERT_OVERWRITE"
                                          : kind == 1 ? "DELETE_PARTITION"
                                                      : "CLUSTER");
  commit.replaced = alive;
  if (kind == 2) {
    commit.planned_as = lake::hudi::Action::kClustering;
    if (alive.size() > 1 && draw(2) == 0) commit.replaced.pop_back();
  }
  if (kind != 1) commit.written.push_back({path, NewId()});
  commit.column = kind == 2 ? column_ : AnyColumn(draw);
  Finish(commit, completes);
}

void TableHistory::WriteNothing(change::BodyState body) {
  Commit& commit = Begin("commit", "UPSERT");
  commit.body = body;
  if (body == change::BodyState::kUnreadable) commit.written.push_back({"p0", NewId()});
  Finish(commit, true);
}

void TableHistory::CompleteOne(const Draw& draw) {
  const auto pending = Pending();
  if (pending.empty() || is_restoring_) return;
  Finish(*OneOf(pending, draw), true);
}

void TableHistory::RollBackPending(const Draw& draw) {
  const auto pending = Pending();
  if (pending.empty() || is_restoring_) return;
  const Commit gone = *OneOf(pending, draw);
  Remove(gone.requested);
  Commit& rollback = Begin("rollback", "");
  rollback.undone = {{gone.requested, draw(2) == 0 ? gone.action : ""}};
  Finish(rollback, true);
}

void TableHistory::RollBackCompleted(const Draw& draw) {
  Commit* newest = nullptr;
  for (Commit& commit : commits_) {
    if (!IsCommit(commit) || !commit.is_completed || commit.is_archived) continue;
    if (newest == nullptr || commit.requested > newest->requested) newest = &commit;
  }
  if (newest == nullptr || is_restoring_ || savepoint_ == newest->requested) return;
  if (IsCleaned(*newest) || ActiveCompleted().size() < 2 || !HasSchemaWithout(*newest)) return;
  const Commit gone = *newest;
  Remove(gone.requested);
  Commit& rollback = Begin("rollback", "");
  rollback.undone = {{gone.requested, draw(2) == 0 ? gone.action : ""}};
  Finish(rollback, true);
}

void TableHistory::Save() {
  const auto active = ActiveCompleted();
  if (active.empty() || is_restoring_) return;
  savepoint_ = active.back()->requested;
  if (HasInstant(savepoint_, "savepoint")) return;
  Commit& savepoint = Begin("savepoint", "");
  savepoint.requested = savepoint_;
  Finish(savepoint, true);
}

void TableHistory::BeginRestore() {
  const bool has_schema = std::ranges::any_of(commits_, [&](const Commit& commit) {
    return commit.requested <= savepoint_ && TellsSchema(commit);
  });
  if (savepoint_.empty() || is_restoring_ || !has_schema) return;
  std::vector<change::InstantKey> undone;
  for (const Commit& commit : commits_)
    if (IsCommit(commit) && commit.requested > savepoint_)
      undone.push_back({commit.requested, commit.action});
  std::ranges::reverse(undone);
  for (const auto& key : undone) Remove(key.requested);
  Commit& restore = Begin("restore", "");
  restore.undone = undone;
  is_restoring_ = true;
}

void TableHistory::EndRestore() {
  if (!is_restoring_) return;
  for (Commit& commit : commits_)
    if (commit.action == "restore" && !commit.is_completed) Finish(commit, true);
  is_restoring_ = false;
}

void TableHistory::Clean() {
  if (is_restoring_) return;
  const auto replaced = Replaced();
  std::map<std::string, int64_t> removed;
  for (auto file = files_.begin(); file != files_.end();) {
    const Group group{file->path, file->id};
    const auto by = replaced.find(group);
    const bool is_kept = by == replaced.end() || !IsVisible(file->commit) ||
                         (!savepoint_.empty() && by->second > savepoint_);
    if (is_kept) {
      ++file;
      continue;
    }
    cleaned_.insert(group);
    ++removed[file->path];
    file = files_.erase(file);
  }
  Commit& clean = Begin("clean", "");
  Finish(clean, true);
  removed_[clean.requested] = removed;
}

void TableHistory::Archive(int count, bool is_readable) {
  if (is_restoring_) return;
  is_archive_whole_ = is_archive_whole_ && is_readable;
  for (auto* commit : ActiveCompleted()) {
    if (count-- <= 0 || ActiveCompleted().size() <= 2) return;
    const bool is_held = std::ranges::any_of(
        Pending(), [&](const Commit* other) { return other->requested < commit->requested; });
    if (is_held || commit->requested == savepoint_) return;
    if (!commit->replaced.empty() && !IsAllCleaned(*commit)) return;
    if (!HasSchemaWithout(*commit)) return;
    commit->is_archived = true;
    if (!is_readable) lost_.insert(commit->requested);
  }
}

void TableHistory::Upgrade() {
  if (properties_.layout == 1 && !is_restoring_) SetVersion(8);
}

void TableHistory::Recreate() {
  const int version = properties_.version;
  commits_.clear();
  files_.clear();
  removed_.clear();
  cleaned_.clear();
  lost_.clear();
  savepoint_.clear();
  is_restoring_ = false;
  is_archive_whole_ = true;
  column_ = "c";
  SetVersion(version);
}

std::set<std::string> TableHistory::Partitions() const {
  const auto replaced = Replaced();
  std::set<std::string> paths;
  for (const auto& file : files_) {
    if (IsVisible(file.commit) && !replaced.contains({file.path, file.id}))
      paths.insert(file.path);
  }
  return paths;
}

std::string TableHistory::Column() const {
  const Commit* newest = nullptr;
  for (const Commit& commit : commits_) {
    if (!IsCommit(commit) || !commit.is_completed || commit.column.empty()) continue;
    if (commit.body != change::BodyState::kRead) continue;
    const auto rank = [](const Commit& of) {
      const bool may_change = of.operation != "COMPACT" && of.operation != "CLUSTER";
      return std::pair(may_change, of.requested);
    };
    if (newest == nullptr || rank(commit) > rank(*newest)) newest = &commit;
  }
  return newest == nullptr ? "" : newest->column;
}

change::TableFacts TableHistory::Facts() const {
  change::TableFacts facts;
  facts.properties = properties_;
  for (const Commit& commit : commits_)
    if (!commit.is_archived) facts.timeline.instants.push_back(InstantOf(commit));
  std::ranges::sort(facts.timeline.instants, {}, [](const auto& instant) {
    return std::tuple(instant.requested, instant.action_name, instant.state);
  });
  return facts;
}

change::InstantEffect TableHistory::Body(const change::InstantKey& key) const {
  for (const Commit& commit : commits_)
    if (commit.requested == key.requested && commit.action == key.action) return EffectOf(commit);
  return {};
}

change::ArchiveFacts TableHistory::ArchiveFrom(const std::string& from) const {
  change::ArchiveFacts archive;
  archive.is_whole = is_archive_whole_;
  for (const Commit& commit : commits_) {
    if (commit.is_archived && commit.requested >= from && !lost_.contains(commit.requested))
      archive.instants.push_back(EffectOf(commit));
  }
  std::ranges::sort(archive.instants, {}, [](const auto& effect) {
    return effect.instant.requested;
  });
  return archive;
}

lake::hudi::PartitionListing TableHistory::Listing() const {
  std::map<std::string, lake::hudi::Partition> partitions;
  for (const auto& file : files_) {
    auto& partition = partitions[file.path];
    partition.path = file.path;
    partition.files.push_back(
        {.key = fmt::format("{}/{}_0-0-0_{}.parquet", file.path, file.id, file.commit)});
  }
  lake::hudi::PartitionListing listing;
  for (auto& [path, partition] : partitions) listing.partitions.push_back(std::move(partition));
  return listing;
}

std::string TableHistory::Describe() const {
  std::string text = fmt::format("version {} savepoint {}\n", properties_.version, savepoint_);
  for (const Commit& commit : commits_) {
    text += fmt::format("  {} {} {}{}{} col={} body={}", commit.requested, commit.action,
                        commit.operation, commit.is_completed ? "" : " PENDING",
                        commit.is_archived ? " archived" : "", commit.column,
                        static_cast<int>(commit.body));
    for (const auto& [path, id] : commit.written) text += fmt::format(" +{}/{}", path, id);
    for (const auto& [path, id] : commit.replaced) text += fmt::format(" -{}/{}", path, id);
    for (const auto& key : commit.undone) text += fmt::format(" undoes {}", key.requested);
    text += "\n";
  }
  return text;
}

bool TableHistory::IsCommit(const Commit& commit) {
  return commit.action == "commit" || commit.action == "replacecommit";
}

void TableHistory::SetVersion(int version) {
  properties_ = {};
  properties_.name = "t";
  properties_.version = version;
  properties_.layout = version >= 8 ? 2 : 1;
  properties_.zone = lake::hudi::TimelineZone::kUtc;
  properties_.timeline_folder = version >= 8 ? ".hoodie/timeline" : ".hoodie";
}

std::string TableHistory::TimeText(int64_t seconds) {
  return fmt::format("202601{:02}{:02}{:02}{:02}000", 1 + seconds / 86400, seconds / 3600 % 24,
                     seconds / 60 % 60, seconds % 60);
}

WallTime TableHistory::TimeOf(int64_t seconds) {
  return WallTimeFromMillis(1'767'225'600'000 + seconds * 1000);
}

TableHistory::Commit& TableHistory::Begin(const std::string& action,
                                          const std::string& operation) {
  now_ += 7;
  commits_.push_back({.requested = TimeText(now_), .action = action, .operation = operation});
  return commits_.back();
}

void TableHistory::Finish(Commit& commit, bool completes) {
  if (std::ranges::none_of(files_, [&](const File& file) {
        return file.commit == commit.requested;
      }) && IsCommit(commit)) {
    for (const auto& [path, id] : commit.written)
      files_.push_back({.path = path, .id = id, .commit = commit.requested});
  }
  if (!completes) return;
  now_ += 3;
  commit.is_completed = true;
  commit.completed_at = now_;
  if (commit.column.empty() || commit.planned_as) return;
  column_ = commit.column;
}

void TableHistory::Remove(const std::string& requested) {
  std::erase_if(files_, [&](const File& file) { return file.commit == requested; });
  std::erase_if(commits_, [&](const Commit& commit) {
    return commit.requested == requested && IsCommit(commit);
  });
}

bool TableHistory::IsVisible(const std::string& requested) const {
  return std::ranges::any_of(commits_, [&](const Commit& commit) {
    return commit.requested == requested && IsCommit(commit) && commit.is_completed;
  });
}

bool TableHistory::HasInstant(const std::string& requested, const std::string& action) const {
  return std::ranges::any_of(commits_, [&](const Commit& commit) {
    return commit.requested == requested && commit.action == action;
  });
}

std::map<TableHistory::Group, std::string> TableHistory::Replaced() const {
  std::map<Group, std::string> replaced;
  for (const Commit& commit : commits_) {
    if (!commit.is_completed) continue;
    for (const auto& group : commit.replaced)
      replaced[group] = std::max(replaced[group], commit.requested);
  }
  return replaced;
}

std::vector<TableHistory::Group> TableHistory::AllGroups() const {
  const auto replaced = Replaced();
  std::set<Group> groups;
  for (const auto& file : files_)
    if (IsVisible(file.commit) && !replaced.contains({file.path, file.id}))
      groups.insert({file.path, file.id});
  return {groups.begin(), groups.end()};
}

std::vector<TableHistory::Group> TableHistory::GroupsIn(const std::string& path) const {
  auto groups = AllGroups();
  std::erase_if(groups, [&](const Group& group) { return group.first != path; });
  return groups;
}

bool TableHistory::HasSchemaWithout(const Commit& gone) const {
  return std::ranges::any_of(commits_, [&](const Commit& commit) {
    return commit.requested != gone.requested && TellsSchema(commit);
  });
}

bool TableHistory::TellsSchema(const Commit& commit) {
  return IsCommit(commit) && commit.is_completed && !commit.is_archived &&
         commit.body == change::BodyState::kRead && !commit.planned_as && !commit.column.empty();
}

bool TableHistory::IsCleaned(const Commit& commit) const {
  return std::ranges::any_of(commit.replaced,
                             [&](const Group& group) { return cleaned_.contains(group); });
}

bool TableHistory::IsAllCleaned(const Commit& commit) const {
  return std::ranges::none_of(commit.replaced, [&](const Group& group) {
    return std::ranges::any_of(files_, [&](const File& file) {
      return file.path == group.first && file.id == group.second;
    });
  });
}

std::vector<TableHistory::Commit*> TableHistory::Pending() {
  std::vector<Commit*> pending;
  for (Commit& commit : commits_)
    if (IsCommit(commit) && !commit.is_completed) pending.push_back(&commit);
  return pending;
}

std::vector<TableHistory::Commit*> TableHistory::ActiveCompleted() {
  std::vector<Commit*> active;
  for (Commit& commit : commits_)
    if (IsCommit(commit) && commit.is_completed && !commit.is_archived) active.push_back(&commit);
  std::ranges::sort(active, {}, &Commit::requested);
  return active;
}

std::string TableHistory::AnyPath(const Draw& draw) {
  return fmt::format("p{}", draw(4));
}

std::string TableHistory::AnyColumn(const Draw& draw) {
  return fmt::format("c{}", draw(3));
}

std::string TableHistory::NewId() {
  return fmt::format("f{}", ++ids_);
}

lake::hudi::Instant TableHistory::InstantOf(const Commit& commit) const {
  lake::hudi::Instant instant;
  instant.requested = commit.requested;
  instant.action_name = commit.action;
  if (!commit.is_completed && commit.planned_as)
    instant.action_name = ActionName(*commit.planned_as);
  instant.action = lake::hudi::ParseAction(instant.action_name);
  instant.state =
      commit.is_completed ? lake::hudi::State::kCompleted : lake::hudi::State::kInflight;
  instant.planned_as = commit.planned_as;
  if (commit.is_completed && properties_.layout == 2)
    instant.completed = TimeText(commit.completed_at);
  instant.file_time = TimeOf(commit.completed_at);
  instant.is_archived = commit.is_archived;
  instant.file = commit.requested + "." + commit.action;
  return instant;
}

change::InstantEffect TableHistory::EffectOf(const Commit& commit) const {
  const auto instant = InstantOf(commit);
  if (commit.body != change::BodyState::kRead)
    return change::MakeUnreadable(
        instant, commit.body,
        commit.body == change::BodyState::kUnreadable ? "made so" : "");
  change::InstantEffect effect{.instant = instant};
  if (!commit.operation.empty()) effect.operation = commit.operation;
  for (const auto& [path, id] : commit.written) {
    auto& write = effect.partitions[path];
    if (std::ranges::find(write.written, id) == write.written.end()) write.written.push_back(id);
    ++write.files_added;
  }
  for (const auto& [path, id] : commit.replaced) effect.partitions[path].replaced.push_back(id);
  if (!commit.column.empty()) {
    effect.extra["schema"] = fmt::format(
        R"({{"type":"record","name":"r","fields":[{{"name":"{}","type":"int"}}]}})",
        commit.column);
  }
  if (const auto removed = removed_.find(commit.requested);
      removed != removed_.end() && commit.action == "clean")
    effect.removed = removed->second;
  effect.undone = commit.undone;
  return effect;
}

}  // namespace tidemark::support
