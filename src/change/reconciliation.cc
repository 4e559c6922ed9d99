#include "change/reconciliation.h"

#include <algorithm>
#include <iterator>

namespace tidemark::change {

namespace {

std::vector<std::string> HeldPartitions(const Replica& replica) {
  std::vector<std::string> held;
  held.reserve(replica.partitions.size());
  for (const auto& [path, seq] : replica.partitions) held.push_back(path);
  return held;
}

std::vector<std::string> Without(const std::vector<std::string>& from,
                                 const std::vector<std::string>& others) {
  std::vector<std::string> rest;
  std::ranges::set_difference(from, others, std::back_inserter(rest));
  return rest;
}

/// The last group may not have been read yet, so only what lies between two that are there is lost.
std::vector<std::pair<int64_t, int64_t>> HolesIn(const std::set<int64_t>& told) {
  std::vector<std::pair<int64_t, int64_t>> holes;
  std::optional<int64_t> last;
  for (const int64_t seq : told) {
    if (last && seq > *last + 1) holes.emplace_back(*last + 1, seq - 1);
    last = seq;
  }
  return holes;
}

Agreement Judge(const Reconciliation& found, const Cursor& cursor, const Replica& replica) {
  if (!found.holes.empty()) return Agreement::kDifferent;
  const bool is_behind = !found.untold.empty() || replica.epoch != cursor.epoch ||
                         replica.seq != cursor.seq || replica.held_for.has_value();
  if (is_behind) return Agreement::kBehind;
  const bool is_equal = found.missing.empty() && found.surplus.empty() && found.is_schema_equal;
  return is_equal ? Agreement::kEqual : Agreement::kDifferent;
}

}  // namespace

std::string_view AgreementName(Agreement agreement) {
  switch (agreement) {
    case Agreement::kEqual: return "equal";
    case Agreement::kBehind: return "behind";
    case Agreement::kDifferent: return "different";
    case Agreement::kUnknown: break;
  }
  return "unknown";
}

Reconciliation Reconcile(const TableTruth& truth, const Cursor* cursor, const Replica* replica,
                         const std::set<int64_t>& told) {
  Reconciliation found{.holes = HolesIn(told)};
  if (cursor != nullptr) {
    found.epoch = cursor->epoch;
    found.told_seq = cursor->seq;
    std::ranges::copy_if(truth.completed, std::back_inserter(found.untold),
                         [&](const auto& key) { return !cursor->published.contains(key); });
  }
  const bool is_held = replica != nullptr && replica->epoch > 0;
  if (is_held) {
    found.applied_seq = replica->seq;
    const auto held = HeldPartitions(*replica);
    found.missing = Without(truth.partitions, held);
    found.surplus = Without(held, truth.partitions);
    found.is_schema_equal = replica->schema.fingerprint == truth.schema_fingerprint;
  }
  if (cursor != nullptr && is_held) found.agreement = Judge(found, *cursor, *replica);
  return found;
}

}  // namespace tidemark::change
