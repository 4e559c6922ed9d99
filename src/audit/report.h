/// What an audit found, and how the reports of its parts become one.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "merge/finding.h"

namespace tidemark::audit {

/// One version that a finding rests on.
struct Evidence {
  std::string file;  ///< relative to the table
  /// Unset of a finding about a whole file.
  std::optional<uint32_t>
      block;  ///< among the whole blocks of a log file, from 0; of a base file unset
  std::optional<uint32_t> position;
  std::string instant;
  std::string op;                       ///< "upsert", "delete", or "" of a whole file
  std::optional<std::string> ordering;  ///< unset: null, or of a whole file
  std::string ordering_type;

  friend bool operator==(const Evidence&, const Evidence&) = default;
};

/// A result for one key.
struct Side {
  std::optional<std::string> row_json;  ///< unset: no row
  std::optional<std::string> ordering;  ///< of the row, or of the delete that took it

  friend bool operator==(const Side&, const Side&) = default;
};

struct Finding {
  std::string kind;
  merge::Severity severity = merge::Severity::kError;
  std::string profile;  ///< "" when it does not depend on one
  std::string partition;
  std::string file_group;  ///< "" of the table as a whole
  std::string record_key;  ///< "" of a file or the table
  std::optional<Side> expected;
  std::optional<Side> actual;
  std::vector<Evidence> evidence;
  std::string explanation;
  bool is_repairable = false;
  bool rests_on_history = false;
  std::string made_permanent_by;  ///< instant of the commit that did; "" when none has

  friend bool operator==(const Finding&, const Finding&) = default;
};

/// A part of the table that could not be judged.
struct Unjudged {
  std::string partition;
  std::string file_group;
  std::string reason;

  friend auto operator<=>(const Unjudged&, const Unjudged&) = default;
};

struct Summary {
  uint64_t file_groups = 0;
  uint64_t file_slices = 0;
  uint64_t keys = 0;
  uint64_t versions = 0;
  uint64_t bytes_read = 0;
  double seconds = 0;
  /// Exact, however few findings are listed.
  std::map<std::string, uint64_t> findings{};  ///< by kind
  std::array<uint64_t, 3> by_severity{};       ///< by merge::Severity
  /// Findings of damage: what the files held there is unknown.
  uint64_t damages = 0;

  Summary& operator+=(const Summary& other);
  uint64_t total() const;
};

struct Report {
  std::string table;
  std::vector<std::string> profiles;
  std::string as_of;  ///< instant; "" of a table without commits
  Summary summary;
  uint64_t task = 0;   ///< of a part: its number in the plan, from 1; else 0
  uint64_t tasks = 0;  ///< … and how many the plan has
  /// Of the table's part: tasks whose file groups share keys with others, so that what they found
  /// alone does not count.
  std::vector<uint64_t> replaces{};
  /// The gravest first, then by partition, file group and key; at most the limit asked for.
  std::vector<Finding> findings;
  std::vector<Unjudged> unjudged;

  /// Every file group was read whole and judged by every profile.
  bool is_complete() const { return unjudged.empty() && summary.damages == 0; }
  /// There are findings of severity error or warning.
  bool has_faults() const { return summary.by_severity[1] + summary.by_severity[2] > 0; }
};

/// Counts and keeps findings; what is kept beyond the limit is the least grave.
class FindingList {
 public:
  /// 0: no limit.
  explicit FindingList(size_t limit) : limit_(limit) {}

  /// Whether a finding of this severity would stay; it counts in any case when added.
  void Add(Finding finding);
  void Add(FindingList other);
  const Summary& counts() const { return counts_; }
  /// In their order.
  std::vector<Finding> Take();

 private:
  void Cut();

  size_t limit_;
  std::vector<Finding> findings_;
  Summary counts_;
};

/// The report of all parts, in any order: the same as that of one process. A task of the plan whose
/// part is missing is `unjudged`. kInvalidArgument: no part, parts of different audits, or two of
/// one task.
Result<Report> MergeReports(std::vector<Report> parts, size_t limit);

}  // namespace tidemark::audit
