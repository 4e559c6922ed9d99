#include "lake/hudi/archive_entry.h"

#include <fmt/core.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/check.h"
#include "lake/hudi/commit_metadata_avro.h"

namespace tidemark::lake::hudi {
namespace {

constexpr std::string_view kEntryFields[] = {"commitTime",           "actionType",
                                             "actionState",          "stateTransitionTime",
                                             "hoodieCommitMetadata", "hoodieReplaceCommitMetadata",
                                             "hoodieCleanMetadata"};
enum EntryField {
  kTime,
  kAction,
  kState,
  kTransition,
  kCommit,
  kReplaceCommit,
  kClean,
  kFieldCount
};

constexpr std::string_view kSchemaKeys[] = {"schema", "latest_schema"};
// Real ones have 17 digits at most.
constexpr size_t kInstantDigitsMax = 32;

bool IsInstantTime(std::string_view text) {
  return !text.empty() && text.size() <= kInstantDigitsMax &&
         std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// A nullable string.
Result<std::optional<std::string_view>> TextOf(const std::optional<avro::Datum>& field) {
  if (!field || field->is_null()) return std::nullopt;
  TRY_ASSIGN(const auto text, field->String());
  return text;
}

Result<State> StateOf(std::optional<std::string_view> word) {
  // Releases before 0.6 archived completed instants only, and wrote no state.
  if (!word || *word == "COMPLETED") return State::kCompleted;
  if (*word == "INFLIGHT") return State::kInflight;
  if (*word == "REQUESTED") return State::kRequested;
  return Fail(ErrorKind::kCorrupt, fmt::format("archived instant has no known state={}", *word));
}

Result<ArchivedInstant> MakeInstant(std::optional<std::string_view> time,
                                    std::optional<std::string_view> action, State state) {
  if (!time || !IsInstantTime(*time)) {
    return Fail(ErrorKind::kCorrupt,
                fmt::format("archived instant has no time time={}", time.value_or("null")));
  }
  if (!action || action->empty()) {
    return Fail(ErrorKind::kCorrupt, fmt::format("archived instant has no action time={}", *time));
  }
  ArchivedInstant archived;
  archived.instant.requested = *time;
  archived.instant.action_name = *action;
  archived.instant.action = ParseAction(*action);
  archived.instant.state = state;
  archived.instant.is_archived = true;
  return archived;
}

void TakeMetadata(Result<CommitMetadata> metadata, const ArchiveOptions& options,
                  ArchivedInstant& archived) {
  if (!metadata) {
    archived.defect = std::move(metadata).error().message;
    return;
  }
  archived.has_metadata = true;
  archived.metadata = *std::move(metadata);
  archived.instant.operation = archived.metadata.operation;
  for (const auto key : kSchemaKeys) archived.metadata.extra.erase(std::string(key));
  if (!options.with_extra) archived.metadata.extra.clear();
}

void TakeClean(Result<CleanMetadata> clean, ArchivedInstant& archived) {
  if (clean)
    archived.clean = *std::move(clean);
  else
    archived.defect = std::move(clean).error().message;
}

bool IsCompletedClean(const Instant& instant) {
  return instant.state == State::kCompleted && instant.action == Action::kClean;
}

bool HasCommitMetadata(const Instant& instant) {
  return instant.state == State::kCompleted && IsCommitAction(instant.action);
}

}  // namespace

Result<ArchivedInstant> ReadArchivedEntry(const avro::Datum& entry, size_t size,
                                          const ArchiveOptions& options) {
  if (entry.type().kind != avro::Kind::kRecord) {
    return Fail(ErrorKind::kUnsupported, fmt::format("archive entry is no record type={}",
                                                     avro::KindName(entry.type().kind)));
  }
  TRY_ASSIGN(const size_t found_size, entry.Size());
  if (found_size != size) {
    return Fail(ErrorKind::kCorrupt,
                fmt::format("archive entry is not of its size bytes={} found={} offset={}", size,
                            found_size, entry.offset()));
  }
  std::array<std::optional<avro::Datum>, kFieldCount> row;
  TRY(entry.ReadFields(avro::Selection(entry.type(), kEntryFields), row));
  TRY_ASSIGN(const auto time, TextOf(row[kTime]));
  TRY_ASSIGN(const auto action, TextOf(row[kAction]));
  TRY_ASSIGN(const auto state_word, TextOf(row[kState]));
  TRY_ASSIGN(const State state, StateOf(state_word));
  TRY_ASSIGN(ArchivedInstant archived, MakeInstant(time, action, state));
  TRY_ASSIGN(archived.transition_time, TextOf(row[kTransition]));
  archived.instant.file_size = size;
  if (options.with_cleans && IsCompletedClean(archived.instant) && row[kClean] &&
      !row[kClean]->is_null()) {
    TakeClean(ReadCleanMetadata(*row[kClean]), archived);
  }
  if (!HasCommitMetadata(archived.instant)) return archived;
  const bool is_replace = archived.instant.action == Action::kReplaceCommit;
  const auto& own = row[is_replace ? kReplaceCommit : kCommit];
  const auto& other = row[is_replace ? kCommit : kReplaceCommit];
  const auto& body = own && !own->is_null() ? own : other;
  if (body && !body->is_null()) TakeMetadata(ReadCommitMetadataRecord(*body), options, archived);
  return archived;
}

Result<ArchivedInstant> ReadHistoryRow(std::span<const std::optional<std::string_view>> row,
                                       const ArchiveOptions& options) {
  CHECK(row.size() == kHistoryColumns.size(), "row of other columns");
  TRY_ASSIGN(ArchivedInstant archived, MakeInstant(row[0], row[2], State::kCompleted));
  if (row[1] && !row[1]->empty()) archived.instant.completed = *row[1];
  const auto body = row[3].value_or("");
  archived.instant.file_size = body.size();
  if (!body.empty() && HasCommitMetadata(archived.instant)) {
    TakeMetadata(ParseCommitMetadata(std::string(body)), options, archived);
  }
  if (options.with_cleans && !body.empty() && IsCompletedClean(archived.instant))
    TakeClean(ParseCleanMetadata(body), archived);
  return archived;
}

void MergeArchived(ArchivedInstant& instant, ArchivedInstant other) {
  const auto rank = [](const ArchivedInstant& one) {
    return std::tie(one.instant.state, one.instant.completed);
  };
  if (rank(instant) < rank(other)) std::swap(instant, other);
  auto& best = instant.instant;
  if (other.instant.state != State::kCompleted && other.instant.action != best.action) {
    best.planned_as = other.instant.action;
  } else if (!best.planned_as) {
    best.planned_as = other.instant.planned_as;
  }
  if (!instant.transition_time && other.instant.state == best.state) {
    instant.transition_time = std::move(other.transition_time);
  }
  if (!instant.clean) instant.clean = std::move(other.clean);
  if (!instant.has_metadata && other.has_metadata) {
    instant.has_metadata = true;
    instant.metadata = std::move(other.metadata);
    instant.defect.clear();
    best.operation = std::move(other.instant.operation);
  } else if (!instant.has_metadata && instant.defect.empty()) {
    instant.defect = std::move(other.defect);
  }
}

}  // namespace tidemark::lake::hudi
