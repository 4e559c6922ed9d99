// Names: what a file of a timeline folder says, and what an instant says about time.
#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "base/time_text.h"
#include "lake/hudi/timeline.h"

namespace tidemark::lake::hudi {
namespace {

/// Longer names are not of a timeline; file systems stop at 255 bytes anyway.
constexpr size_t kNameSizeMax = 255;
/// yyyyMMddHHmmss, as written before 0.10, and yyyyMMddHHmmssSSS.
constexpr size_t kSecondsInstantSize = 14;
constexpr size_t kMillisInstantSize = 17;

constexpr std::array<std::pair<Action, std::string_view>, 13> kActionNames = {{
    {Action::kCommit, "commit"},
    {Action::kDeltaCommit, "deltacommit"},
    {Action::kReplaceCommit, "replacecommit"},
    {Action::kClustering, "clustering"},
    {Action::kCompaction, "compaction"},
    {Action::kLogCompaction, "logcompaction"},
    {Action::kClean, "clean"},
    {Action::kRollback, "rollback"},
    {Action::kRestore, "restore"},
    {Action::kSavepoint, "savepoint"},
    {Action::kIndexing, "indexing"},
    {Action::kSchemaCommit, "schemacommit"},
    {Action::kUnknown, "unknown"},
}};

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}
bool IsLower(char c) {
  return c >= 'a' && c <= 'z';
}

std::string_view TakeDigits(std::string_view& text) {
  const auto end = std::find_if_not(text.begin(), text.end(), IsDigit);
  const auto digits = text.substr(0, static_cast<size_t>(end - text.begin()));
  text.remove_prefix(digits.size());
  return digits;
}

std::optional<State> PendingState(std::string_view word) {
  if (word == "requested") return State::kRequested;
  if (word == "inflight") return State::kInflight;
  return std::nullopt;
}

/// Whether a word that is none of the actions we know may be a future one rather than what tools
/// leave behind ("20240101120000123.tmp").
bool MayBeAction(std::string_view word, std::string_view requested) {
  constexpr std::array<std::string_view, 5> kLeftovers = {"bak", "crc", "json", "tmp", "temp"};
  return requested.size() >= kSecondsInstantSize && std::ranges::all_of(word, IsLower) &&
         std::ranges::find(kLeftovers, word) == kLeftovers.end();
}

/// The number in [begin, begin + size) of a string of digits.
int NumberAt(std::string_view digits, size_t begin, size_t size) {
  int number = 0;
  for (const char c : digits.substr(begin, size)) number = number * 10 + (c - '0');
  return number;
}

}  // namespace

std::string_view ActionName(Action action) {
  for (const auto& [known, name] : kActionNames)
    if (known == action) return name;
  std::unreachable();
}

Action ParseAction(std::string_view word) {
  for (const auto& [action, name] : kActionNames)
    if (name == word) return action;
  return Action::kUnknown;
}

Action ComparableAction(Action action) {
  switch (action) {
    case Action::kCompaction: return Action::kCommit;
    case Action::kLogCompaction: return Action::kDeltaCommit;
    case Action::kClustering: return Action::kReplaceCommit;
    default: return action;
  }
}

bool IsCommitAction(Action action) {
  return action == Action::kCommit || action == Action::kDeltaCommit ||
         action == Action::kReplaceCommit;
}

std::string_view StateName(State state) {
  switch (state) {
    case State::kRequested: return "REQUESTED";
    case State::kInflight: return "INFLIGHT";
    case State::kCompleted: return "COMPLETED";
  }
  std::unreachable();
}

std::optional<InstantFileName> ParseInstantFileName(std::string_view name) {
  if (name.size() > kNameSizeMax) return std::nullopt;
  InstantFileName result;
  result.requested = TakeDigits(name);
  if (result.requested.empty()) return std::nullopt;
  if (name.starts_with('_')) {
    name.remove_prefix(1);
    result.completed = TakeDigits(name);
    if (result.completed->empty()) return std::nullopt;
  }
  if (!name.starts_with('.')) return std::nullopt;
  name.remove_prefix(1);

  const size_t dot = name.find('.');
  std::string_view word = name.substr(0, dot);
  if (word.empty()) return std::nullopt;
  if (dot != name.npos) {
    const auto state = PendingState(name.substr(dot + 1));
    if (!state) return std::nullopt;
    result.state = *state;
  } else if (word == "inflight") {
    // The inflight file of a commit is the only one that does not name its action.
    result.state = State::kInflight;
    word = "commit";
  } else if (PendingState(word)) {
    return std::nullopt;
  }
  if (result.completed && result.state != State::kCompleted) return std::nullopt;

  result.action = ParseAction(word);
  if (result.action == Action::kUnknown && !MayBeAction(word, result.requested))
    return std::nullopt;
  result.action_name = word;
  return result;
}

std::optional<WallTime> InstantToWallTime(std::string_view instant) {
  if (!std::ranges::all_of(instant, IsDigit)) return std::nullopt;
  const bool is_seconds = instant.size() == kSecondsInstantSize;
  if (!is_seconds && instant.size() < kMillisInstantSize) return std::nullopt;
  const int millis = is_seconds ? 999 : NumberAt(instant, kSecondsInstantSize, 3);
  return WallTimeFromCivil(NumberAt(instant, 0, 4), NumberAt(instant, 4, 2),
                           NumberAt(instant, 6, 2), NumberAt(instant, 8, 2),
                           NumberAt(instant, 10, 2), NumberAt(instant, 12, 2), millis);
}

}  // namespace tidemark::lake::hudi
