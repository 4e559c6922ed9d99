#include "lake/hudi/archive_entry.h"

#include <fmt/core.h>

#include <algorithm>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/check.h"
#include "lake/hudi/commit_metadata_avro.h"
#include "lake/hudi/commit_stats_internal.h"

namespace tidemark::lake::hudi {
namespace {

constexpr std::string_view kEntryFields[] = {"commitTime",
                                             "actionType",
                                             "actionState",
                                             "stateTransitionTime",
                                             "hoodieCommitMetadata",
                                             "hoodieReplaceCommitMetadata",
                                             "hoodieCleanMetadata",
                                             "hoodieRollbackMetadata",
                                             "hoodieSavePointMetadata"};
enum EntryField {
  kTime,
  kAction,
  kState,
  kTransition,
  kCommit,
  kReplaceCommit,
  kClean,
  kRollback,
  kSavepoint,
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

void DropSchemas(CommitMetadata& metadata) {
  for (const auto key : kSchemaKeys) metadata.extra.erase(std::string(key));
}

void TakeMetadata(CommitMetadata metadata, const ArchiveOptions& options,
                  ArchivedInstant& archived) {
  archived.has_metadata = true;
  archived.metadata = std::move(metadata);
  archived.instant.operation = archived.metadata.operation;
  DropSchemas(archived.metadata);
  if (!options.with_extra) archived.metadata.extra.clear();
}

/// `body` is the value of the instant's action.
template <class Value>
void TakeBody(Result<Value> body, const ArchiveOptions& options, ArchivedInstant& archived) {
  if (!body) {
    archived.defect = std::move(body).error().message;
    return;
  }
  if constexpr (std::is_same_v<Value, CommitMetadata>) {
    TakeMetadata(*std::move(body), options, archived);
  } else {
    if constexpr (std::is_same_v<Value, CommitStats>) {
      TakeMetadata(body->metadata, options, archived);
    }
    if constexpr (std::is_same_v<Value, CleanMetadata>) {
      if (options.with_cleans) archived.clean = *body;
    }
    if (options.with_facts) archived.facts = *std::move(body);
  }
}

Result<CommitStats> ReadStats(const avro::Datum& record) {
  StatsCollector collector;
  TRY_ASSIGN(auto metadata, ReadCommitMetadataRecord(record, &collector));
  return std::move(collector).Finish(std::move(metadata));
}

bool IsCompleted(const Instant& instant, Action action) {
  return instant.state == State::kCompleted && instant.action == action;
}

bool HasCommitMetadata(const Instant& instant) {
  return instant.state == State::kCompleted && IsCommitAction(instant.action);
}

/// What an entry of layout 1 keeps in the field of its action.
void TakeEntryBody(std::span<const std::optional<avro::Datum>> row, const ArchiveOptions& options,
                   ArchivedInstant& archived) {
  const auto is_there = [&](EntryField field) { return row[field] && !row[field]->is_null(); };
  const Instant& instant = archived.instant;
  if (HasCommitMetadata(instant)) {
    const bool is_replace = instant.action == Action::kReplaceCommit;
    const EntryField own = is_replace ? kReplaceCommit : kCommit;
    const EntryField other = is_replace ? kCommit : kReplaceCommit;
    const EntryField body = is_there(own) ? own : other;
    if (!is_there(body)) return;
    if (options.with_facts)
      TakeBody(ReadStats(*row[body]), options, archived);
    else
      TakeBody(ReadCommitMetadataRecord(*row[body]), options, archived);
  } else if (IsCompleted(instant, Action::kClean)) {
    if ((options.with_cleans || options.with_facts) && is_there(kClean))
      TakeBody(ReadCleanMetadata(*row[kClean]), options, archived);
  } else if (options.with_facts && IsCompleted(instant, Action::kRollback)) {
    if (is_there(kRollback)) TakeBody(ReadRollbackMetadata(*row[kRollback]), options, archived);
  } else if (options.with_facts && IsCompleted(instant, Action::kSavepoint)) {
    if (is_there(kSavepoint)) TakeBody(ReadSavepointMetadata(*row[kSavepoint]), options, archived);
  }
}

/// What a row of layout 2 keeps: the bytes of the completed file.
void TakeRowBody(std::string_view body, const ArchiveOptions& options, ArchivedInstant& archived) {
  const Instant& instant = archived.instant;
  if (body.empty()) return;
  if (options.with_facts) {
    auto facts = ParseInstantFacts(instant.action, std::string(body));
    if (!facts) {
      archived.defect = std::move(facts).error().message;
      return;
    }
    std::visit(
        [&]<class Value>(Value& value) { TakeBody<Value>(std::move(value), options, archived); },
        *facts);
  } else if (HasCommitMetadata(instant)) {
    TakeBody(ParseCommitMetadata(std::string(body)), options, archived);
  } else if (options.with_cleans && instant.action == Action::kClean) {
    TakeBody(ParseCleanMetadata(body), options, archived);
  }
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
  TakeEntryBody(row, options, archived);
  return archived;
}

Result<ArchivedInstant> ReadHistoryRow(std::span<const std::optional<std::string_view>> row,
                                       const ArchiveOptions& options) {
  CHECK(row.size() == kHistoryColumns.size(), "row of other columns");
  TRY_ASSIGN(ArchivedInstant archived, MakeInstant(row[0], row[2], State::kCompleted));
  if (row[1] && !row[1]->empty()) archived.instant.completed = *row[1];
  const auto body = row[3].value_or("");
  archived.instant.file_size = body.size();
  TakeRowBody(body, options, archived);
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
  if (std::holds_alternative<std::monostate>(instant.facts)) instant.facts = std::move(other.facts);
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
