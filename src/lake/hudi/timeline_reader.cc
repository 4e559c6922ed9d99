#include "lake/hudi/timeline_reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include "lake/hudi/archive.h"
#include "storage/object_key.h"

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

constexpr int kFirstVersionOfLayout2 = 8;
constexpr std::string_view kFolderOfLayout1 = ".hoodie";
constexpr std::string_view kFolderOfLayout2 = ".hoodie/timeline";

/// Whether the table's version has the other layout. No writer leaves this.
bool IsContradictory(const TableProperties& properties) {
  return (properties.version >= kFirstVersionOfLayout2) != (properties.layout >= 2);
}

using storage::NameOf;

/// Completed instants in the folder of the other layout.
Result<size_t> CountElsewhere(const storage::ObjectStore& store, std::string_view folder,
                              const Budget& budget) {
  TRY_ASSIGN(const storage::Listing listing, store.List(folder, {}, budget));
  return static_cast<size_t>(std::ranges::count_if(listing.objects, [](const auto& object) {
    const auto name = ParseInstantFileName(NameOf(object.key));
    return name && name->action != Action::kUnknown && name->state == State::kCompleted;
  }));
}

/// An upgrade or downgrade moves the instants before it says so in the properties, and properties
/// may be wrong for good: a folder without instants must then not pass for a table without commits.
Status CheckLayout(const storage::ObjectStore& store, const TableProperties& properties,
                   const storage::Listing& listing, Timeline& timeline, const Budget& budget) {
  const bool is_contradictory = IsContradictory(properties);
  if (!timeline.instants.empty() && !is_contradictory) return {};
  const bool is_layout_1 = properties.layout < 2;
  const std::string_view elsewhere = is_layout_1 ? kFolderOfLayout2 : kFolderOfLayout1;
  const bool is_there = !is_layout_1 || std::ranges::find(listing.folders, ".hoodie/timeline/") !=
                                            listing.folders.end();
  size_t count = 0;
  if (is_there && elsewhere != properties.timeline_folder) {
    TRY_ASSIGN(count, CountElsewhere(store, elsewhere, budget));
  }
  const std::string seen = fmt::format(
      "table={} table_version={} layout={} folder={} instants={} other_folder={} "
      "completed_instants={}",
      store.uri(), properties.version, properties.layout, properties.timeline_folder,
      timeline.instants.size(), elsewhere, count);
  if (is_contradictory && (count == 0 || !timeline.instants.empty())) {
    timeline.findings.push_back(
        {"layout_mismatch", ".hoodie/hoodie.properties",
         "hoodie.timeline.layout.version is not the layout of hoodie.table.version " + seen});
    return {};
  }
  if (is_contradictory) {
    return Fail(ErrorKind::kCorrupt,
                "hoodie.timeline.layout.version is not the layout of hoodie.table.version, and the "
                "instants lie where the other layout has them " +
                    seen);
  }
  if (is_there && (is_layout_1 || count > 0)) {
    return Fail(ErrorKind::kConflict,
                "table is being moved to another timeline layout, or "
                "hoodie.timeline.layout.version is wrong " +
                    seen);
  }
  return {};
}

/// What has an instant's name and is no file: a link to nothing (as a broken mount leaves it), a
/// folder. The name says that the instant is there; leaving it out would hide what it wrote.
std::vector<storage::ObjectInfo> InstantsWithoutFile(const storage::Listing& listing) {
  std::vector<storage::ObjectInfo> found;
  const auto add = [&](std::string_view key) {
    if (key.ends_with('/')) key.remove_suffix(1);
    const auto name = ParseInstantFileName(NameOf(key));
    if (name && name->action != Action::kUnknown) found.push_back({std::string(key), 0, {}});
  };
  std::ranges::for_each(listing.folders, add);
  std::ranges::for_each(listing.others, add);
  return found;
}

}  // namespace

Timeline MakeTimeline(const storage::Listing& listing, const TableProperties& properties) {
  Timeline timeline;
  const auto without_file = InstantsWithoutFile(listing);
  timeline.ignored_files = listing.folders.size() + listing.others.size() - without_file.size();
  for (const storage::ObjectInfo& object : without_file) {
    timeline.findings.push_back({"unreadable_commit", object.key,
                                 "what has an instant's name is no file, or a link to nothing"});
  }
  std::map<InstantKey, std::vector<NamedFile>> groups;
  std::map<std::string, Finding> unknown_actions;
  const auto take = [&](const storage::ObjectInfo& object) {
    auto name = ParseInstantFileName(NameOf(object.key));
    if (!name) {
      ++timeline.ignored_files;
      return;
    }
    if (name->completed && properties.layout < 2) {
      ++timeline.ignored_files;
      timeline.findings.push_back(
          {"stray_file", object.key,
           fmt::format("a file name of layout 2 lies in a timeline of layout 1 and is not read "
                       "table_version={}",
                       properties.version)});
      return;
    }
    if (name->action == Action::kUnknown) {
      unknown_actions.try_emplace(
          name->action_name, Finding{"unknown_action", object.key,
                                     fmt::format("an action this program does not know action={}",
                                                 name->action_name)});
    }
    InstantKey key = KeyOf(*name);
    groups[std::move(key)].push_back({*std::move(name), &object});
  };
  std::ranges::for_each(listing.objects, take);
  std::ranges::for_each(without_file, take);
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
  TRY(CheckLayout(store, properties, listing, timeline, budget));
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
