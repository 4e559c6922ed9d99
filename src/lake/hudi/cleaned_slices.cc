#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "lake/hudi/cleaned_slices_internal.h"
#include "lake/hudi/data_file_name.h"
#include "storage/object_key.h"

namespace tidemark::lake::hudi {
namespace {

/// Larger bodies are not read.
constexpr uint64_t kCleanSizeMax = uint64_t{256} << 20;

using storage::FolderOf;
using storage::NameOf;

Result<CleanMetadata> ReadBody(const storage::ObjectStore& store, const std::string& key,
                               Result<CleanMetadata> (*parse)(std::string_view),
                               const Budget& budget) {
  const auto body = store.ReadUpTo(key, kCleanSizeMax, budget);
  if (!body && body.error().kind == ErrorKind::kNotFound) {
    return Fail(ErrorKind::kConflict,
                fmt::format("the timeline changed while it was read missing={}", key));
  }
  if (!body) return std::unexpected(body.error());
  auto clean = parse(*body);
  if (!clean) return std::unexpected(std::move(clean).error().With(key));
  return clean;
}

/// Key of the plan of a clean; `file` is that of its highest state.
std::string PlanKey(const Instant& clean) {
  const size_t slash = clean.file.rfind('/');
  const auto folder = slash == std::string::npos ? "" : clean.file.substr(0, slash + 1);
  return fmt::format("{}{}.clean.requested", folder, clean.requested);
}

/// A file of a slice, on storage or removed from there.
struct NamedFile {
  FileGroupId group;
  std::string instant;  ///< in its name
  bool is_base = false;
};

std::optional<NamedFile> ParseKey(std::string_view key) {
  const auto name = NameOf(key);
  if (auto base = ParseBaseFileName(name))
    return NamedFile{{std::string(FolderOf(key)), base->file_id}, base->instant, true};
  const auto log = ParseLogFileName(name);
  if (!log || log->is_cdc) return std::nullopt;
  return NamedFile{{std::string(FolderOf(key)), log->file_id}, log->instant, false};
}

struct RemovedFile {
  std::string key;
  NamedFile named;
  std::string clean;      ///< requested time
  std::string kept_from;  ///< what that clean says it kept
};

/// What is known of a group that files were removed from.
struct GroupPast {
  std::vector<RemovedFile> removed;
  /// Instants that slices began with, those of removed base files among them.
  std::set<std::string> starts;
};

class Past {
 public:
  Past(const TableProperties& properties, const SliceInputs& inputs, const SliceOptions& options)
      : has_own_logs_(properties.version >= kOwnLogsVersion), inputs_(inputs), options_(options) {}

  void Collect(const TableSlices& table) {
    std::unordered_set<std::string_view> present;
    for (const FileSlice& slice : table.slices) {
      if (slice.base) present.insert(slice.base->key);
      for (const LogFile& log : slice.logs) present.insert(log.key);
    }
    for (const SetAsideFile& file : table.set_aside) present.insert(file.key);
    for (const auto& [requested, clean] : inputs_.cleans) {
      for (const auto& [partition, names] : clean.removed) {
        if (options_.wants_partition && !options_.wants_partition(partition)) continue;
        for (const std::string& name : names) {
          const std::string key = partition.empty() ? name : partition + "/" + name;
          if (!present.contains(key)) AddRemoved(key, requested, clean);
        }
      }
    }
    for (const FileSlice& slice : table.slices) {
      if (slice.base) AddStart(slice.base->key);
      for (const LogFile& log : slice.logs) AddStart(log.key);
    }
    for (const SetAsideFile& file : table.set_aside)
      if (file.reason == SetAsideReason::kLater) AddStart(file.key);
  }

  std::optional<CleanedSlice> Find() const {
    std::optional<CleanedSlice> found;
    std::string readable_from;
    for (const auto& [id, group] : groups_) {
      // Out of sight at as_of: what became of its files does not matter.
      if (inputs_.replaced.contains(id)) continue;
      for (const RemovedFile& file : group.removed) {
        readable_from = std::max(readable_from, EndOf(file, group));
        if (!found && IsPartOfTable(file, group))
          found = CleanedSlice{id, file.key, file.clean, {}};
      }
    }
    if (found) found->readable_from = std::max(readable_from, *options_.as_of);
    return found;
  }

 private:
  void AddRemoved(const std::string& key, const std::string& requested,
                  const CleanMetadata& clean) {
    auto named = ParseKey(key);
    if (!named) return;
    std::string kept_from = clean.earliest_to_retain;
    if (kept_from.empty()) kept_from = clean.last_completed;
    if (kept_from.empty()) kept_from = requested;
    GroupPast& group = groups_[named->group];
    if (BeginsSlice(*named)) group.starts.insert(named->instant);
    group.removed.push_back({key, *std::move(named), requested, std::move(kept_from)});
  }

  void AddStart(const std::string& key) {
    const auto named = ParseKey(key);
    const auto group = named ? groups_.find(named->group) : groups_.end();
    if (group != groups_.end() && BeginsSlice(*named)) group->second.starts.insert(named->instant);
  }

  bool BeginsSlice(const NamedFile& file) const { return file.is_base || !has_own_logs_; }

  /// What the file's slice began with, among the starts up to `last`; empty in front of the first.
  std::string SliceOf(const RemovedFile& file, const GroupPast& group,
                      const std::string* last) const {
    if (BeginsSlice(file.named)) return file.named.instant;
    std::string at = inputs_.instants.CompletionOf(file.named.instant);
    if (at.size() != file.named.instant.size()) at = file.named.instant;
    if (last != nullptr) at = std::min(at, *last);
    const auto next = group.starts.upper_bound(at);
    return next == group.starts.begin() ? std::string() : *std::prev(next);
  }

  /// Whether the table at as_of consists of the file, too.
  bool IsPartOfTable(const RemovedFile& file, const GroupPast& group) const {
    const std::string& as_of = *options_.as_of;
    if (file.named.instant > as_of) return false;
    const auto next = group.starts.upper_bound(as_of);
    const std::string current = next == group.starts.begin() ? std::string() : *std::prev(next);
    return SliceOf(file, group, &as_of) == current;
  }

  /// From when on nobody needs the file: the next slice had begun, the group was replaced, or the
  /// clean says so.
  std::string EndOf(const RemovedFile& file, const GroupPast& group) const {
    const auto next = group.starts.upper_bound(SliceOf(file, group, nullptr));
    if (next != group.starts.end()) return *next;
    const auto replaced = inputs_.replaced_later.find(file.named.group);
    return replaced == inputs_.replaced_later.end() ? file.kept_from : replaced->second;
  }

  bool has_own_logs_;
  const SliceInputs& inputs_;
  const SliceOptions& options_;
  std::map<FileGroupId, GroupPast> groups_;
};

}  // namespace

Result<std::map<std::string, CleanMetadata>> ReadCleans(const storage::ObjectStore& store,
                                                        const Timeline& timeline,
                                                        const std::optional<std::string>& after,
                                                        const Budget& budget) {
  std::map<std::string, CleanMetadata> cleans;
  for (const Instant& instant : timeline.instants) {
    if (instant.is_archived || instant.action != Action::kClean) continue;
    if (after && instant.requested <= *after) continue;
    // Taken, and nothing removed yet.
    if (instant.state == State::kRequested && instant.file_size == 0) continue;
    TRY(budget.Check());
    // A writer that died while completing leaves an empty file; its plan says as much.
    const bool is_whole = instant.state == State::kCompleted && instant.file_size > 0;
    TRY_ASSIGN(auto clean, is_whole ? ReadBody(store, instant.file, ParseCleanMetadata, budget)
                                    : ReadBody(store, PlanKey(instant), ParseCleanPlan, budget));
    cleans.insert_or_assign(instant.requested, std::move(clean));
  }
  return cleans;
}

std::optional<CleanedSlice> FindCleanedSlice(const TableProperties& properties,
                                             const SliceInputs& inputs, const SliceOptions& options,
                                             const TableSlices& table) {
  Past past(properties, inputs, options);
  past.Collect(table);
  return past.Find();
}

}  // namespace tidemark::lake::hudi
