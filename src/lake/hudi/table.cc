#include "lake/hudi/table.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "lake/hudi/commit_metadata.h"
#include "lake/hudi/commit_walk.h"
#include "lake/hudi/timeline_reader.h"

namespace tidemark::lake::hudi {
namespace {

constexpr std::string_view kPropertiesKey = ".hoodie/hoodie.properties";
constexpr std::string_view kBackupKey = ".hoodie/hoodie.properties.backup";
/// How often both files are tried. An update takes the main one away for a moment.
constexpr int kOpenTries = 4;

/// Whether a properties file may have lost lines although its checksum is right or absent. Writers
/// always put in these three, the checksum since version 4 (release 0.11).
bool IsDoubtful(const TableProperties& properties) {
  return properties.is_torn || !properties.Find("hoodie.table.checksum") ||
         !properties.Find("hoodie.table.version") || !properties.Find("hoodie.table.type");
}

/// What a properties file says. Neither: there is no file.
struct PropertiesFile {
  std::optional<TableProperties> properties;
  std::optional<Error> error;  ///< why they cannot be read
};

Result<PropertiesFile> ReadPropertiesFile(const storage::ObjectStore& store, std::string_view key,
                                          const Budget& budget) {
  PropertiesFile file;
  const auto text = store.ReadUpTo(key, kPropertiesSizeMax, budget);
  if (!text) {
    if (text.error().kind == ErrorKind::kNotFound) return file;
    return std::unexpected(text.error());
  }
  auto parsed = ParseTableProperties(*text);
  if (parsed) {
    file.properties = *std::move(parsed);
    return file;
  }
  auto error = std::move(parsed).error().With(fmt::format("{}/{}", store.uri(), key));
  // A table that is too new stays that, whatever another file says.
  if (error.kind == ErrorKind::kUnsupported) return std::unexpected(std::move(error));
  file.error = std::move(error);
  return file;
}

/// The main file when it is sound, else the backup that an update leaves until it is done.
Result<PropertiesFile> ReadEitherFile(const storage::ObjectStore& store, const Budget& budget) {
  TRY_ASSIGN(auto main, ReadPropertiesFile(store, kPropertiesKey, budget));
  if (main.properties && !IsDoubtful(*main.properties)) return main;
  TRY_ASSIGN(auto backup, ReadPropertiesFile(store, kBackupKey, budget));
  if (backup.properties) return backup;
  // Without a backup no update is under way: a main file without a checksum is just an old one.
  if (main.properties || main.error) return main;
  return backup;
}

/// How often slices are read while files are being removed.
constexpr int kSliceTries = 4;

/// What removes files, as far as it got. While it stays the same, a listing of files fits the
/// timeline that was read before it.
std::vector<std::string> RemovalsOf(const Timeline& timeline) {
  std::vector<std::string> removals;
  for (const Instant& instant : timeline.instants) {
    if (instant.action == Action::kClean || instant.action == Action::kRollback ||
        instant.action == Action::kRestore) {
      removals.push_back(instant.file);
    }
  }
  return removals;
}

}  // namespace

Result<Table> Table::Open(const storage::ObjectStore& store, ColumnReaderSource columns,
                          const Budget& budget) {
  std::optional<Error> error;
  for (int attempt = 1; attempt <= kOpenTries; ++attempt) {
    TRY(budget.Check());
    TRY_ASSIGN(PropertiesFile file, ReadEitherFile(store, budget));
    if (file.properties) return Table(store, std::move(columns), *std::move(file.properties));
    error = std::move(file.error);
    // The second look at a table that is not there comes at once: it is for the update that put
    // the main file back after we had looked for it.
    if (attempt == 1) continue;
    if (!error || !budget.WaitForTry(attempt)) break;
  }
  if (error) return std::unexpected(*std::move(error));
  return Fail(ErrorKind::kNotFound, fmt::format("no Hudi table is here table={} missing={}",
                                                store.uri(), kPropertiesKey));
}

Result<Timeline> Table::ReadTimeline(const TimelineOptions& options, const Budget& budget) const {
  TRY_ASSIGN(Timeline timeline, ReadActiveTimeline(*store_, properties_, budget));
  if (options.with_archived)
    TRY(AddArchivedInstants(*store_, properties_, columns_, budget, timeline));
  return timeline;
}

Result<CheckpointSearch> Table::FindCheckpoint(const CheckpointOptions& options,
                                               const Budget& budget) const {
  return WalkToCheckpoint(*store_, properties_, columns_, options, budget);
}

Result<TableSlices> Table::ReadFileSlices(const SliceOptions& options, const Budget& budget) const {
  TRY_ASSIGN(Timeline timeline, ReadActiveTimeline(*store_, properties_, budget));
  for (int attempt = 1; attempt <= kSliceTries; ++attempt) {
    TRY(budget.Check());
    auto slices = hudi::ReadFileSlices(*store_, properties_, timeline, columns_, options, budget);
    if (!slices && slices.error().kind != ErrorKind::kConflict) return slices;
    TRY_ASSIGN(Timeline after, ReadActiveTimeline(*store_, properties_, budget));
    if (slices && RemovalsOf(after) == RemovalsOf(timeline)) {
      std::ranges::move(timeline.findings, std::back_inserter(slices->findings));
      if (properties_.is_torn) {
        slices->findings.push_back({"torn_properties", std::string(kPropertiesKey),
                                    "the file ends inside a line, settings may be missing"});
      }
      return slices;
    }
    timeline = std::move(after);
  }
  return Fail(ErrorKind::kConflict,
              fmt::format("the table's files are removed faster than they can be listed table={} "
                          "tries={}",
                          store_->uri(), kSliceTries));
}

Result<std::vector<Finding>> Table::ReadOperations(std::span<Instant> instants,
                                                   const Budget& budget) const {
  std::vector<Finding> findings;
  for (Instant& instant : instants) {
    if (instant.state != State::kCompleted || !IsCommitAction(instant.action)) continue;
    if (instant.is_archived || instant.operation) continue;
    if (instant.file_size > kCommitBodySizeMax) {
      findings.push_back({"oversized_commit", instant.file,
                          fmt::format("commit body is over the bound size={} max={}",
                                      instant.file_size, kCommitBodySizeMax)});
      continue;
    }
    TRY(budget.Check());
    auto body = store_->Read(instant.file, budget);
    if (!body && body.error().kind == ErrorKind::kNotFound) continue;
    if (!body) return internal::Pass(body);
    auto metadata = ParseCommitMetadata(*std::move(body));
    if (metadata)
      instant.operation = std::move(metadata->operation);
    else
      findings.push_back({"unreadable_commit", instant.file, metadata.error().message});
  }
  return findings;
}

}  // namespace tidemark::lake::hudi
