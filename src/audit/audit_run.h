/// Some parts of an audit, done together: which groups share keys is found out while they are read,
/// and those are judged once more, together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "audit/group_audit.h"
#include "audit/key_census.h"
#include "audit/report.h"
#include "base/error.h"
#include "merge/judge.h"
#include "scan/key_set.h"
#include "scan/table_scan.h"

namespace tidemark::audit {

/// One part in so many of the memory counts keys; the rest is the groups'.
inline constexpr uint64_t kCensusPart = 4;

struct RunOptions {
  size_t limit = 0;  ///< of findings kept; 0: none
  unsigned threads = 1;
  uint64_t memory_max = 0;
  bool keys_are_global = false;
  RepairSink* repair = nullptr;
  /// May be empty; called when a group was judged, from any thread, for some groups twice.
  std::function<void(const lake::hudi::FileGroupId& group)> group_done{};
};

/// Borrows scan and judge. Used once, by one thread.
class AuditRun {
 public:
  AuditRun(const scan::TableScan& scan, const merge::KeyJudge& judge, const RunOptions& options);

  /// kInvalidArgument: there is no such group.
  Status Want(const lake::hudi::FileGroupId& group);
  /// The table's part: keys in several groups, and groups that a clustering replaced.
  void WantTable() { wants_table_ = true; }
  /// Findings of others.
  void Add(FindingList findings) { findings_.Add(std::move(findings)); }

  Status Run();
  /// Counts, findings, what was not judged, and which tasks this replaces.
  void Fill(Report& report);

 private:
  Status CountAndAudit(KeyCensus& census);
  Status JudgeAgain(const SharedKeys& shared);
  Status JudgeTogether(const SharedKeys& shared, const scan::KeySet& set);
  Status AuditOne(size_t group, GroupQuestion question);
  void TellBuckets();
  Finding BucketFinding(std::string_view bucket, const std::vector<size_t>& groups) const;
  Status TellPartitions(const SharedKeys& shared);
  Result<std::string> KeyOf(size_t group, uint64_t hash) const;
  bool MustWait(size_t group) const;

  const scan::TableScan& scan_;
  const merge::KeyJudge& judge_;
  RunOptions options_;
  std::span<const scan::GroupSlices> groups_;
  std::vector<uint32_t> partitions_;  // of each group
  std::vector<bool> has_replaced_;    // of each partition
  std::vector<bool> wanted_;          // of each group
  bool wants_table_ = false;
  std::vector<bool> is_shared_;  // of each group: judged for the table's part
  std::vector<std::optional<GroupAudit>> audits_;
  FindingList findings_;
  std::vector<Unjudged> unjudged_;
};

}  // namespace tidemark::audit
