#include "audit/duplicate_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "scan/key_table.h"
#include "scan/row_store.h"
#include "scan/slice_fold.h"
#include "scan/slice_scan.h"

namespace tidemark::audit {
namespace {

/// Groups named in one sentence.
constexpr size_t kNamedMax = 8;

bool IsOfOneGroup(ErrorKind kind) {
  return kind == ErrorKind::kCorrupt || kind == ErrorKind::kUnsupported ||
         kind == ErrorKind::kExhausted;
}

/// The table with the columns that merging needs, and no others.
Result<scan::ScanTable> Narrow(const scan::ScanTable& table) {
  scan::ScanTable narrow = table;
  const auto& schema = table.type.schema();
  const auto wanted = table.columns.HiddenColumns(schema, scan::TableColumns::Need::kMerging);
  TRY_ASSIGN(narrow.type, columnar::RowType::Make(schema, wanted));
  narrow.places = table.columns.PlacesIn(narrow.type);
  narrow.findings = [](const lake::Finding&) {};
  return narrow;
}

/// The keys of one pass, and where each was shown.
class KeyPlaces {
 public:
  KeyPlaces(const scan::ScanTable& table, std::span<const scan::GroupSlices> groups,
            scan::KeyPass pass)
      : table_(table), groups_(groups), pass_(pass), bytes_(table.type) {}

  Status Read() {
    for (uint32_t group = 0; group < groups_.size(); ++group) {
      const auto& slice = groups_[group].back();
      if (!slice.is_latest) continue;
      const auto read =
          scan::ScanSlice(table_, slice, scan::SliceView::kSnapshot,
                          [&](const columnar::Batch& batch) { return Take(group, batch); });
      if (read || IsOfOneGroup(read.error().kind)) continue;
      return std::unexpected(Error(read.error()).With(scan::PlaceOf(slice)));
    }
    return {};
  }

  void Tell(FindingList& findings) const {
    for (auto at = more_.begin(); at != more_.end();) {
      const uint32_t key = at->first;
      std::vector<uint32_t> groups = {first_[key]};
      for (; at != more_.end() && at->first == key; ++at) {
        if (groups.back() != at->second) groups.push_back(at->second);
      }
      findings.Add(FindingOf(key, groups));
    }
  }

 private:
  Status Take(uint32_t group, const columnar::Batch& batch) {
    std::string scratch;
    for (size_t row = 0; row < batch.rows(); ++row) {
      TRY_ASSIGN(const auto key, table_.columns.KeyOf(batch, table_.places, row, scratch));
      const uint64_t hash = scan::KeyTable::Hash(key);
      if (!pass_.Has(hash)) continue;
      if (const auto known = keys_.Find(key, hash)) {
        if (first_[*known] != group) more_.emplace(*known, group);
        continue;
      }
      keys_.FindOrAdd(bytes_.Copy(key), hash);
      first_.push_back(group);
    }
    return {};
  }

  Finding FindingOf(uint32_t key, const std::vector<uint32_t>& groups) const {
    const auto& home = groups_[groups.front()].back().group;
    const bool is_one_partition = std::ranges::any_of(groups, [&](uint32_t group) {
      return group != groups.front() && groups_[group].back().group.partition == home.partition;
    });
    Finding finding;
    finding.kind = "duplicate_key";
    finding.severity = is_one_partition ? merge::Severity::kError : merge::Severity::kInfo;
    finding.partition = home.partition;
    finding.file_group = home.file_id;
    finding.record_key = std::string(keys_.key(key));
    std::string others;
    for (size_t i = 1; i < groups.size() && i < kNamedMax; ++i) {
      if (i > 1) others += ", ";
      others += scan::PlaceOf(groups_[groups[i]].back());
    }
    for (size_t i = 0; i < groups.size() && i < kNamedMax; ++i) {
      const auto& slice = groups_[groups[i]].back();
      finding.evidence.push_back({slice.base           ? slice.base->key
                                  : slice.logs.empty() ? scan::PlaceOf(slice)
                                                       : slice.logs.front().key,
                                  {},
                                  {},
                                  slice.base_instant,
                                  "",
                                  "",
                                  ""});
    }
    finding.explanation =
        is_one_partition
            ? fmt::format(
                  "{} file groups show a row of this key, and readers show all of them "
                  "(the others: {}): the writer's index had forgotten where the key was",
                  groups.size(), others)
            : fmt::format(
                  "{} partitions show a row of this key (the others: {}), which is right "
                  "where a key is one of its partition and a duplicate under a global "
                  "index",
                  groups.size(), others);
    return finding;
  }

  const scan::ScanTable& table_;
  std::span<const scan::GroupSlices> groups_;
  scan::KeyPass pass_;
  scan::RowStore bytes_;
  scan::KeyTable keys_;
  std::vector<uint32_t> first_;
  std::multimap<uint32_t, uint32_t> more_;
};

}  // namespace

Status FindDuplicateKeys(const scan::ScanTable& table, std::span<const scan::GroupSlices> groups,
                         FindingList& findings) {
  if (groups.size() < 2) return {};
  TRY_ASSIGN(const auto narrow, Narrow(table));
  uint64_t bytes = 0;  // of files, which keys do not exceed by much
  for (const auto& group : groups) {
    const auto& slice = group.back();
    if (slice.base) bytes += slice.base->size;
    for (const auto& log : slice.logs) bytes += log.size;
  }
  TRY_ASSIGN(const uint32_t passes, scan::PassesFor(narrow, groups.front().back(), bytes));
  for (uint32_t pass = 0; pass < passes; ++pass) {
    KeyPlaces places(narrow, groups, {pass, passes});
    TRY(places.Read());
    places.Tell(findings);
  }
  return {};
}

}  // namespace tidemark::audit
