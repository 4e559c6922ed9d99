#include "lake/hudi/timeline_reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include "lake/hudi/archive.h"

namespace tidemark::lake::hudi {
namespace {

struct NamedFile {
  InstantFileName name;
  const storage::ObjectInfo* object = nullptr;
};

/// What files must share to be one instant: the requested time and the word of the comparable
/// action. Its order is the order of a timeline.
using InstantKey = std::pair<std::string, std::string>;

template <class Named>  // InstantFileName or Instant
InstantKey KeyOf(const Named& named) {
  return {named.requested, named.action == Action::kUnknown
                               ? named.action_name
                               : std::string(ActionName(ComparableAction(named.action)))};
}

/// Later beats earlier: state first, then completion time; a name without one is older than any.
bool IsOutrankedBy(const NamedFile& a, const NamedFile& b) {
  return std::tie(a.name.state, a.name.completed) < std::tie(b.name.state, b.name.completed);
}

Instant MakeInstant(const std::vector<NamedFile>& files) {
  const NamedFile& best = *std::ranges::max_element(files, IsOutrankedBy);
  Instant instant;
  instant.requested = best.name.requested;
  instant.completed = best.name.completed;
  instant.action = best.name.action;
  instant.action_name = best.name.action_name;
  instant.state = best.name.state;
  instant.file = best.object->key;
  instant.file_size = best.object->size;
  instant.file_time = best.object->modified;
  for (const NamedFile& file : files) {
    if (file.name.state == State::kRequested) instant.requested_file_time = file.object->modified;
    if (file.name.state != State::kCompleted && file.name.action != best.name.action)
      instant.planned_as = file.name.action;
  }
  return instant;
}

size_t CompletedCount(const std::vector<NamedFile>& files) {
  return static_cast<size_t>(std::ranges::count_if(
      files, [](const NamedFile& file) { return file.name.state == State::kCompleted; }));
}

}  // namespace

Timeline MakeTimeline(const storage::Listing& listing, const TableProperties& properties) {
  Timeline timeline;
  timeline.ignored_files = listing.folders.size();
  std::map<InstantKey, std::vector<NamedFile>> groups;
  std::map<std::string, Finding> unknown_actions;
  for (const storage::ObjectInfo& object : listing.objects) {
    const size_t slash = object.key.rfind('/');
    auto name = ParseInstantFileName(
        std::string_view(object.key).substr(slash == object.key.npos ? 0 : slash + 1));
    if (!name) {
      ++timeline.ignored_files;
      continue;
    }
    if (name->completed && properties.layout < 2) {
      ++timeline.ignored_files;
      timeline.findings.push_back(
          {"stray_file", object.key,
           fmt::format("a file name of layout 2 lies in a timeline of layout 1 and is not read "
                       "table_version={}",
                       properties.version)});
      continue;
    }
    if (name->action == Action::kUnknown) {
      unknown_actions.try_emplace(
          name->action_name, Finding{"unknown_action", object.key,
                                     fmt::format("an action this program does not know action={}",
                                                 name->action_name)});
    }
    InstantKey key = KeyOf(*name);
    groups[std::move(key)].push_back({*std::move(name), &object});
  }
  for (auto& [word, finding] : unknown_actions) timeline.findings.push_back(std::move(finding));

  for (const auto& [key, files] : groups) {
    timeline.instants.push_back(MakeInstant(files));
    const Instant& instant = timeline.instants.back();
    if (instant.action != Action::kClean && CompletedCount(files) > 1) {
      timeline.findings.push_back(
          {"several_completions", instant.file,
           fmt::format("several completed files for one instant, the latest is taken "
                       "requested={} files={}",
                       instant.requested, CompletedCount(files))});
    }
  }
  return timeline;
}

Result<Timeline> ReadActiveTimeline(const storage::ObjectStore& store,
                                    const TableProperties& properties, const Budget& budget) {
  TRY_ASSIGN(const storage::Listing listing, store.List(properties.timeline_folder, {}, budget));
  Timeline timeline = MakeTimeline(listing, properties);
  // An upgrade moves the instants before it says so in the properties. An empty folder must then
  // not pass for a table without commits.
  const bool is_moving =
      properties.layout < 2 && timeline.instants.empty() &&
      std::ranges::find(listing.folders, ".hoodie/timeline/") != listing.folders.end();
  if (is_moving) {
    return Fail(ErrorKind::kConflict,
                fmt::format("table is being moved to another timeline layout table={} layout={}",
                            store.uri(), properties.layout));
  }
  return timeline;
}

Status AddArchivedInstants(const storage::ObjectStore& store, const TableProperties& properties,
                           const ColumnReaderSource& columns, const Budget& budget,
                           Timeline& timeline) {
  TRY_ASSIGN(Archive archive,
             ReadArchive(store, properties, columns, {.with_extra = false}, budget));
  std::ranges::move(archive.findings, std::back_inserter(timeline.findings));
  std::map<InstantKey, Instant> by_key;
  for (ArchivedInstant& archived : archive.instants) {
    InstantKey key = KeyOf(archived.instant);
    by_key.insert_or_assign(std::move(key), std::move(archived.instant));
  }
  // The writer takes an instant out of the active timeline after it is in the archive, so for a
  // while it stands in both.
  for (Instant& instant : timeline.instants) {
    InstantKey key = KeyOf(instant);
    const auto [at, is_new] = by_key.try_emplace(std::move(key), instant);
    if (!is_new && at->second.state <= instant.state) at->second = std::move(instant);
  }
  timeline.instants.clear();
  for (auto& [key, instant] : by_key) timeline.instants.push_back(std::move(instant));
  return {};
}

}  // namespace tidemark::lake::hudi
