#include "scan/history_scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "columnar/row_builder.h"
#include "merge/across.h"
#include "scan/key_table.h"
#include "scan/slice_fold.h"

namespace tidemark::scan {
namespace {

using lake::hudi::FileSlice;

/// One file group of the partition at hand.
class GroupFold {
 public:
  GroupFold(const ScanTable& table, const GroupFiles& files, size_t group, KeyPass pass)
      : table_(table), versions_(table, files, group, pass) {}

  GroupVersions& versions() { return versions_; }
  const KeyTable& keys() const { return versions_.keys(); }

  merge::GroupResult Merge(uint32_t key) {
    return ResultOfGroup(table_.profile, versions_.Of(key));
  }

  Status Append(uint32_t key, const merge::Merged& merged, columnar::RowBuilder& builder) {
    TRY(versions_.Append(merged, builder));
    if (merged.winner.place.file != 0) return {};
    // Equal keys in one base file are rows of their own, as long as a base row is right.
    const auto [begin, end] = versions_.duplicates().equal_range(key);
    for (auto row = begin; row != end; ++row) TRY(versions_.rows().Append(row->second, builder));
    return {};
  }

 private:
  const ScanTable& table_;
  GroupVersions versions_;
};

/// The groups of a partition put together, key by key.
class PartitionFold {
 public:
  PartitionFold(const ScanTable& table, std::string place, const BatchSink& sink)
      : table_(table), place_(std::move(place)), sink_(sink), builder_(table.type) {}

  GroupFold& Add(std::unique_ptr<GroupFold> group) {
    groups_.push_back(std::move(group));
    return *groups_.back();
  }

  Result<uint64_t> GiveOut() {
    for (uint32_t group = 0; group < groups_.size(); ++group) {
      const KeyTable& keys = groups_[group]->keys();
      for (uint32_t key = 0; key < keys.size(); ++key) {
        const uint32_t number = all_.FindOrAdd(keys.key(key), KeyTable::Hash(keys.key(key)));
        if (number == first_.size()) {
          first_.push_back({group, key});
        } else {
          more_.emplace(number, Member{group, key});
        }
      }
    }
    for (uint32_t number = 0; number < all_.size(); ++number) {
      TRY(GiveOutKey(number));
      if (builder_.rows() >= kBatchRows) TRY(Flush());
    }
    TRY(Flush());
    return rows_;
  }

 private:
  struct Member {
    uint32_t group = 0;
    uint32_t key = 0;  // in the group
  };

  Status GiveOutKey(uint32_t number) {
    const auto [begin, end] = more_.equal_range(number);
    if (begin == end) {
      const Member& only = first_[number];
      return Show(only, groups_[only.group]->Merge(only.key).merged);
    }
    std::vector<Member> members = {first_[number]};
    for (auto at = begin; at != end; ++at) members.push_back(at->second);
    std::vector<merge::GroupResult> results;
    for (const Member& member : members) {
      results.push_back(groups_[member.group]->Merge(member.key));
    }
    const auto right = MergeGroups(table_.profile, results);
    if (!right || !right->is_live) return {};
    return Show(members[right->group], results[right->group].merged);
  }

  Status Show(const Member& member, const merge::Merged& merged) {
    if (!merged.is_live()) return {};
    const Status done = groups_[member.group]->Append(member.key, merged, builder_);
    if (done || done.error().kind != ErrorKind::kCorrupt) return done;
    table_.findings(
        {"corrupt_record", place_,
         fmt::format("the row that counts cannot be decoded and is missing, key={}: {}",
                     groups_[member.group]->keys().key(member.key), done.error().message)});
    return {};
  }

  Status Flush() {
    if (builder_.rows() == 0) return {};
    TRY(table_.budget.Check());
    rows_ += builder_.rows();
    return sink_(builder_.Finish());
  }

  const ScanTable& table_;
  std::string place_;
  const BatchSink& sink_;
  columnar::RowBuilder builder_;
  std::vector<std::unique_ptr<GroupFold>> groups_;
  KeyTable all_;
  std::vector<Member> first_;             // of each key: where it came first
  std::multimap<uint32_t, Member> more_;  // … and the other groups that have it
  uint64_t rows_ = 0;
};

}  // namespace

Result<SliceCounts> ScanHistory(const ScanTable& table, const BaseWriters& writers,
                                std::span<const GroupSlices> groups, const BatchSink& sink) {
  SliceCounts counts;
  uint64_t bytes = 0;
  for (const GroupSlices group : groups) bytes += MemoryForVersions(group);
  const FileSlice& named = groups.front().back();
  TRY_ASSIGN(counts.passes, PassesFor(table, named, bytes));
  TRY_ASSIGN(const auto files,
             GroupFiles::Open(table, writers, groups,
                              counts.passes == 1 ? UINT64_MAX : table.memory_max / kHeldPart));
  for (uint32_t pass = 0; pass < counts.passes; ++pass) {
    PartitionFold partition(table, named.group.partition, sink);
    for (size_t g = 0; g < groups.size(); ++g) {
      GroupFold& fold =
          partition.Add(std::make_unique<GroupFold>(table, files, g, KeyPass{pass, counts.passes}));
      TRY(fold.versions().Read());
      if (pass != 0) continue;
      counts.base_rows += fold.versions().base_rows();
      counts.log_versions += fold.versions().logs().versions_read();
    }
    TRY_ASSIGN(const uint64_t rows, partition.GiveOut());
    counts.rows += rows;
  }
  return counts;
}

}  // namespace tidemark::scan
