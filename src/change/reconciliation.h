/// Whether what was told of a table is what is there (change-feed R38, R60).
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "change/group.h"
#include "change/subscriber.h"
#include "change/table_state.h"

namespace tidemark::change {

/// The table itself, as one reading shows it.
struct TableTruth {
  std::vector<std::string> partitions{};  ///< byte-wise ascending
  std::string schema_fingerprint{};
  std::set<InstantKey> completed{};  ///< in the active timeline
};

enum class Agreement {
  kEqual,
  kBehind,     ///< something is on its way: it differs, and may be equal soon
  kDifferent,  ///< nothing is on its way, and yet it differs; or groups are lost
  kUnknown,    ///< there is nothing to compare with
};
/// "equal", "behind", "different", "unknown".
std::string_view AgreementName(Agreement agreement);

struct Reconciliation {
  Agreement agreement = Agreement::kUnknown;
  int64_t epoch = 0;
  int64_t told_seq = 0;                ///< of the publisher's last group
  int64_t applied_seq = 0;             ///< of the subscriber's
  std::vector<std::string> missing{};  ///< partitions that are there and are not held; ascending
  std::vector<std::string> surplus{};  ///< partitions that are held and are not there
  bool is_schema_equal = true;
  std::vector<InstantKey> untold{};  ///< completed, and the publisher has not told them
  /// Runs of seq, ends inclusive, that the log has lost between groups that it has.
  std::vector<std::pair<int64_t, int64_t>> holes{};
};

/// `cursor`: what the publisher remembers; nullptr: it never published the table. `replica`: what a
/// subscriber holds; nullptr: nothing. `told`: seqs of the cursor's epoch that the log still has.
/// Groups before the first of them are of no interest: their time is over.
Reconciliation Reconcile(const TableTruth& truth, const Cursor* cursor, const Replica* replica,
                         const std::set<int64_t>& told);

}  // namespace tidemark::change
