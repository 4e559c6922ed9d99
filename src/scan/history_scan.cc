#include "scan/history_scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "columnar/batch_reader.h"
#include "columnar/row_builder.h"
#include "scan/base_file.h"
#include "scan/key_table.h"
#include "scan/log_versions.h"
#include "scan/row_assembly.h"
#include "scan/row_store.h"
#include "scan/slice_blocks.h"
#include "scan/slice_fold.h"

namespace tidemark::scan {
namespace {

using lake::hudi::FileSlice;
using merge::Version;

/// Memory that a byte of a file costs: packed rows unfold, log records stay as they are.
constexpr uint64_t kMemoryPerBaseByte = 8;
constexpr uint64_t kMemoryPerLogByte = 3;

uint64_t MemoryFor(std::span<const FileSlice> slices) {
  uint64_t bytes = 0;
  for (const FileSlice& slice : slices) {
    if (slice.base) bytes += slice.base->size * kMemoryPerBaseByte;
    for (const auto& log : slice.logs) bytes += log.size * kMemoryPerLogByte;
  }
  return bytes;
}

/// Instants of a file group in the order in which they became part of the table.
class InstantRanks {
 public:
  explicit InstantRanks(const lake::hudi::CommittedInstants& instants) : instants_(instants) {}

  void Add(std::string_view instant) {
    if (!ranks_.contains(instant)) ranks_.emplace(instant, 0);
  }
  void Seal() {
    std::vector<std::pair<std::string, std::string>> order;
    for (const auto& [instant, rank] : ranks_) {
      order.emplace_back(instants_.CompletionOf(instant), instant);
    }
    std::ranges::sort(order);
    for (uint32_t i = 0; i < order.size(); ++i) ranks_[order[i].second] = i + 1;
  }
  /// 0 for one that was not added.
  uint32_t Of(std::string_view instant) const {
    const auto found = ranks_.find(instant);
    return found == ranks_.end() ? 0 : found->second;
  }

 private:
  const lake::hudi::CommittedInstants& instants_;
  std::map<std::string, uint32_t, std::less<>> ranks_;
};

/// One pass over a file group: its versions by key.
class GroupFold {
 public:
  GroupFold(const ScanTable& table, const InstantRanks& ranks,
            std::vector<merge::VersionStore::Slice> slices, KeyPass pass)
      : table_(table),
        ranks_(ranks),
        pass_(pass),
        newest_(slices.size() - 1),
        rows_(table.type),
        logs_(table.columns, rows_, table.names_at),
        versions_(std::move(slices)) {}

  LogVersions& logs() { return logs_; }
  const KeyTable& keys() const { return keys_; }

  Status TakeLog(size_t slice, std::string_view instant, const MetVersion& met, bool bytes_live) {
    const uint64_t hash = KeyTable::Hash(met.key);
    if (!pass_.Has(hash)) return {};
    MetVersion kept = met;
    if (!bytes_live) {
      kept.key = rows_.Copy(met.key);
      kept.record = rows_.Copy(met.record);
      kept.version.ordering = logs_.arena().Keep(met.version.ordering);
    }
    kept.version.row = kept.Keep(rows_);
    kept.version.place.commit = ranks_.Of(instant);
    // Log versions stand in files from 1 on, so that none is taken for a base row.
    if (!versions_.Add(keys_.FindOrAdd(kept.key, hash), slice, kept.version)) {
      return Fail(ErrorKind::kInternal, "a log version was taken for a base row");
    }
    return {};
  }

  Status TakeBase(size_t slice, const columnar::Batch& batch, size_t first_row) {
    const RowStore::SourceId source = rows_.AddBatch(batch);
    OrderingFields::Scratch scratch;
    std::string key_scratch;
    const auto& commit_times = batch.column(*table_.places.commit_time);
    for (size_t row = 0; row < batch.rows(); ++row) {
      TRY_ASSIGN(auto key, table_.columns.KeyOf(batch, table_.places, row, key_scratch));
      const uint64_t hash = KeyTable::Hash(key);
      if (!pass_.Has(hash)) continue;
      if (!table_.columns.key_fields().empty()) key = rows_.Copy(key);
      Version version;
      TRY_ASSIGN(const auto ordering,
                 table_.columns.ordering().Read(batch, table_.places.ordering, row, scratch));
      version.ordering = logs_.arena().Keep(ordering);
      version.op = table_.columns.OpOf(batch, table_.places, row);
      version.row = rows_.AddRow(source, row);
      const auto instant = commit_times.IsNull(row) ? "" : commit_times.Text(row);
      version.place = {ranks_.Of(instant), 0, 0, static_cast<uint32_t>(first_row + row)};
      const uint32_t number = keys_.FindOrAdd(key, hash);
      if (!versions_.Add(number, slice, version) && slice == newest_) {
        duplicates_.emplace(number, version.row);
      }
    }
    return {};
  }

  /// What the group makes of a key; and, to be weighed against other groups, the deletes among its
  /// versions that cut off all before them.
  merge::Merged Merge(uint32_t key, std::vector<Version>* cuts) {
    const auto versions = versions_.Of(key);
    if (cuts != nullptr) {
      const auto add = [&](const merge::SliceVersions& slice) {
        for (const Version& version : slice.log) {
          if (IsSentinelDelete(table_.profile.read, version)) cuts->push_back(version);
        }
      };
      for (const auto& slice : versions.older) add(slice);
      add(versions.slice);
    }
    return MergeKey(table_.profile, versions);
  }

  Status Append(uint32_t key, const merge::Merged& merged, columnar::RowBuilder& builder) {
    if (merged.layers.empty()) {
      TRY(rows_.Append(merged.winner.row, builder));
    } else {
      TRY(AppendLayers(merged, table_.columns.settings(), logs_, rows_, {}, builder));
    }
    if (merged.winner.place.file != 0) return {};
    // Equal keys in one base file are rows of their own, as long as a base row is right.
    const auto [begin, end] = duplicates_.equal_range(key);
    for (auto row = begin; row != end; ++row) TRY(rows_.Append(row->second, builder));
    return {};
  }

 private:
  const ScanTable& table_;
  const InstantRanks& ranks_;
  KeyPass pass_;
  size_t newest_;
  RowStore rows_;
  LogVersions logs_;
  KeyTable keys_;
  merge::VersionStore versions_;
  std::multimap<uint32_t, merge::RowHandle>
      duplicates_;  // of the newest base file, behind the first
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
      return Show(only, groups_[only.group]->Merge(only.key, nullptr));
    }
    std::vector<Member> members = {first_[number]};
    for (auto at = begin; at != end; ++at) members.push_back(at->second);
    std::vector<merge::Merged> results;
    std::vector<Version> versions;
    for (const Member& member : members) {
      results.push_back(groups_[member.group]->Merge(member.key, &versions));
      if (results.back().outcome == merge::Merged::Outcome::kAbsent) continue;
      versions.push_back(results.back().winner);
      versions.back().row = members.size() + results.size() - 1;  // names the group
    }
    for (Version& version : versions) {
      if (version.row < members.size() || version.row >= 2 * members.size()) version.row = 0;
    }
    const merge::Merged merged = MergeHistory(table_.profile.read, versions);
    if (!merged.is_live() || merged.winner.row < members.size()) return {};
    const size_t winner = merged.winner.row - members.size();
    return results[winner].is_live() ? Show(members[winner], results[winner]) : Status();
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

/// The instants that rows of a base file say they were written at.
Status AddCommitTimes(const ScanTable& table, const lake::hudi::BaseFile& file,
                      InstantRanks& ranks) {
  ScanTable narrow = table;
  const std::vector<columnar::WantedColumn> wanted = {{std::string(kCommitTimeColumn), true}};
  TRY_ASSIGN(narrow.type, columnar::RowType::Make(table.type.schema(), wanted));
  TRY_ASSIGN(const auto reader, OpenBaseFile(narrow, file));
  std::string last;
  while (true) {
    TRY(table.budget.Check());
    TRY_ASSIGN(const auto batch, reader->Next());
    if (!batch) return {};
    const auto& column = batch->column(0);
    for (size_t row = 0; row < batch->rows(); ++row) {
      const auto text = column.Text(row);
      if (column.IsNull(row) || text == last) continue;
      last = text;
      ranks.Add(last);
    }
  }
}

Status FoldSlice(const ScanTable& table, size_t place, const FileSlice& slice,
                 const SliceBlocks& blocks, GroupFold& fold, bool is_first_pass,
                 SliceCounts& counts) {
  if (slice.base) {
    TRY_ASSIGN(const auto reader, OpenBaseFile(table, *slice.base));
    size_t rows = 0;
    while (true) {
      TRY(table.budget.Check());
      TRY_ASSIGN(const auto batch, reader->Next());
      if (!batch) break;
      TRY(fold.TakeBase(place, *batch, rows));
      rows += batch->rows();
    }
    if (is_first_pass) counts.base_rows += rows;
  }
  return blocks.ForEach([&](const PlacedBlock& placed) -> Status {
    Status done = fold.logs().Read(placed, [&](const MetVersion& met) {
      return fold.TakeLog(place, placed.instant, met, blocks.are_all_held());
    });
    if (done || done.error().kind != ErrorKind::kCorrupt) return done;
    if (is_first_pass) {
      table.findings({"corrupt_block", std::string(placed.file_name), done.error().message});
    }
    return {};
  });
}

}  // namespace

BaseWriters::BaseWriters(const lake::hudi::Timeline& timeline, lake::hudi::TableType type)
    : type_(type) {
  for (const auto& instant : timeline.instants) {
    if (instant.state != lake::hudi::State::kCompleted || !IsCommitAction(instant.action)) continue;
    // In a merge-on-read table only compactions complete as commits.
    const bool is_compaction = type == lake::hudi::TableType::kMergeOnRead &&
                               instant.action == lake::hudi::Action::kCommit;
    writers_[instant.requested] =
        is_compaction ? merge::BaseWriter::kCompaction : merge::BaseWriter::kWrite;
  }
}

merge::BaseWriter BaseWriters::WriterOf(const FileSlice& slice) const {
  if (!slice.base) return merge::BaseWriter::kNone;
  const auto known = writers_.find(slice.base->name.instant);
  if (known != writers_.end()) return known->second;
  return type_ == lake::hudi::TableType::kMergeOnRead ? merge::BaseWriter::kCompaction
                                                      : merge::BaseWriter::kWrite;
}

namespace {

/// What all passes over a partition share.
struct PartitionFiles {
  explicit PartitionFiles(const lake::hudi::CommittedInstants& instants) : ranks(instants) {}
  InstantRanks ranks;
  std::vector<std::vector<SliceBlocks>> blocks;  // by group and slice
  std::vector<std::vector<merge::VersionStore::Slice>> shapes;
};

Result<PartitionFiles> OpenFiles(const ScanTable& table, const BaseWriters& writers,
                                 std::span<const GroupSlices> groups, uint64_t held_bytes_max) {
  PartitionFiles files(table.instants);
  uint64_t held_left = held_bytes_max;
  for (const GroupSlices group : groups) {
    auto& of_group = files.blocks.emplace_back();
    for (const FileSlice& slice : group) {
      TRY_ASSIGN(auto read, SliceBlocks::Read(table, slice, held_left));
      held_left -= std::min(held_left, read.held_bytes());
      for (const auto instant : read.Instants()) files.ranks.Add(instant);
      of_group.push_back(std::move(read));
      if (!slice.base) continue;
      files.ranks.Add(slice.base->name.instant);
      TRY(AddCommitTimes(table, *slice.base, files.ranks));
    }
  }
  files.ranks.Seal();
  for (const GroupSlices group : groups) {
    auto& shapes = files.shapes.emplace_back();
    for (const FileSlice& slice : group) {
      shapes.push_back(
          {writers.WriterOf(slice), slice.base ? files.ranks.Of(slice.base->name.instant) : 0});
    }
  }
  return files;
}

}  // namespace

Result<SliceCounts> ScanHistory(const ScanTable& table, const BaseWriters& writers,
                                std::span<const GroupSlices> groups, const BatchSink& sink) {
  SliceCounts counts;
  uint64_t bytes = 0;
  for (const GroupSlices group : groups) bytes += MemoryFor(group);
  const FileSlice& named = groups.front().back();
  TRY_ASSIGN(counts.passes, PassesFor(table, named, bytes));
  TRY_ASSIGN(const auto files,
             OpenFiles(table, writers, groups,
                       counts.passes == 1 ? UINT64_MAX : table.memory_max / kHeldPart));
  for (uint32_t pass = 0; pass < counts.passes; ++pass) {
    PartitionFold partition(table, named.group.partition, sink);
    for (size_t g = 0; g < groups.size(); ++g) {
      GroupFold& fold = partition.Add(std::make_unique<GroupFold>(
          table, files.ranks, files.shapes[g], KeyPass{pass, counts.passes}));
      for (size_t i = 0; i < groups[g].size(); ++i) {
        TRY(FoldSlice(table, i, groups[g][i], files.blocks[g][i], fold, pass == 0, counts));
      }
      if (pass == 0) counts.log_versions += fold.logs().versions_read();
    }
    TRY_ASSIGN(const uint64_t rows, partition.GiveOut());
    counts.rows += rows;
  }
  return counts;
}

}  // namespace tidemark::scan
