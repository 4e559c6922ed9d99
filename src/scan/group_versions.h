/// Every version of every key that the retained slices of a file group hold: what history is folded
/// from, and what an audit judges.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "columnar/row_builder.h"
#include "lake/hudi/file_slices.h"
#include "lake/hudi/timeline.h"
#include "merge/key_versions.h"
#include "scan/key_table.h"
#include "scan/log_versions.h"
#include "scan/row_store.h"
#include "scan/scan_table.h"
#include "scan/slice_blocks.h"
#include "scan/slice_fold.h"

namespace tidemark::scan {

/// Which instants are compactions. Immutable. Any thread.
class BaseWriters {
 public:
  BaseWriters() = default;
  /// `timeline` with its archived instants.
  BaseWriters(const lake::hudi::Timeline& timeline, lake::hudi::TableType type);

  /// What wrote the base file of a slice.
  merge::BaseWriter WriterOf(const lake::hudi::FileSlice& slice) const;
  /// By the instant's operation, where the timeline was given with it.
  merge::WriterOperation OperationOf(std::string_view instant) const;

 private:
  std::map<std::string, merge::BaseWriter, std::less<>> writers_;
  std::map<std::string, merge::WriterOperation, std::less<>> operations_;
  lake::hudi::TableType type_ = lake::hudi::TableType::kCopyOnWrite;
};

/// The slices of one file group, oldest first. The last is the one that readers read, unless the
/// group was replaced.
using GroupSlices = std::span<const lake::hudi::FileSlice>;

/// Instants in the order in which they became part of the table. Borrows the committed ones.
class InstantRanks {
 public:
  explicit InstantRanks(const lake::hudi::CommittedInstants& instants) : instants_(&instants) {}

  void Add(std::string_view instant);
  /// Ranks what was added, from 1.
  void Seal();
  /// 0 for one that was not added.
  uint32_t Of(std::string_view instant) const;
  /// Empty for 0.
  std::string_view NameOf(uint32_t rank) const;

 private:
  const lake::hudi::CommittedInstants* instants_;
  std::map<std::string, uint32_t, std::less<>> ranks_;
  std::vector<std::string> names_;  // by rank - 1
};

/// The files of some groups of one partition, opened once for all passes. Borrows table and slices.
class GroupFiles {
 public:
  /// Reads all logs, and the commit times that base rows have; of the logs `held_bytes_max` stay in
  /// memory. Findings and errors as SliceBlocks::Read and OpenBaseFile; a damaged base file is both
  /// ("corrupt_file"). Borrows `writers` too.
  static Result<GroupFiles> Open(const ScanTable& table, const BaseWriters& writers,
                                 std::span<const GroupSlices> groups, uint64_t held_bytes_max);

  std::span<const GroupSlices> groups() const { return groups_; }
  const InstantRanks& ranks() const { return ranks_; }
  const BaseWriters& writers() const { return *writers_; }
  const SliceBlocks& blocks(size_t group, size_t slice) const { return blocks_[group][slice]; }
  const std::vector<merge::VersionStore::Slice>& shape(size_t group) const {
    return shapes_[group];
  }

 private:
  GroupFiles(const lake::hudi::CommittedInstants& instants, const BaseWriters& writers)
      : ranks_(instants), writers_(&writers) {}

  std::span<const GroupSlices> groups_;
  InstantRanks ranks_;
  const BaseWriters* writers_;
  std::vector<std::vector<SliceBlocks>> blocks_;  // by group and slice
  std::vector<std::vector<merge::VersionStore::Slice>> shapes_;
};

/// Memory that all versions of some slices take, about.
uint64_t MemoryForVersions(GroupSlices slices);

/// One pass over one file group. Borrows table and files. Single-threaded.
class GroupVersions {
 public:
  GroupVersions(const ScanTable& table, const GroupFiles& files, size_t group, KeyPass pass);
  GroupVersions(const GroupVersions&) = delete;
  GroupVersions& operator=(const GroupVersions&) = delete;

  /// Reads the pass' keys. A damaged block is a finding of the first pass ("corrupt_block") and
  /// costs its records; a damaged base file is a finding ("corrupt_file") and kCorrupt. REQUIRES:
  /// the table's row type has _hoodie_commit_time.
  Status Read();

  const KeyTable& keys() const { return keys_; }
  /// Valid until the next call.
  merge::KeyVersions Of(uint32_t key) { return versions_.Of(key); }
  LogVersions& logs() { return logs_; }
  RowStore& rows() { return rows_; }
  uint64_t base_rows() const { return base_rows_; }
  size_t version_count() const { return versions_.version_count(); }
  /// Rows of equal key in the newest base file, behind the first.
  const std::multimap<uint32_t, merge::RowHandle>& duplicates() const { return duplicates_; }

  /// Appends the row that `merged` shows; it must be live.
  Status Append(const merge::Merged& merged, columnar::RowBuilder& builder);

 private:
  Status TakeLog(size_t slice, std::string_view instant, const MetVersion& met, bool bytes_live);
  Status TakeBase(size_t slice, const columnar::Batch& batch, size_t first_row);
  Status TakeRow(size_t slice, const columnar::Batch& batch, size_t row, merge::Version version);
  Status ReadSlice(size_t slice);

  const ScanTable& table_;
  const GroupFiles& files_;
  size_t group_;
  KeyPass pass_;
  size_t newest_;
  RowStore rows_;
  LogVersions logs_;
  KeyTable keys_;
  merge::VersionStore versions_;
  std::multimap<uint32_t, merge::RowHandle> duplicates_;
  uint64_t base_rows_ = 0;
  OrderingFields::Scratch ordering_scratch_;
  std::string key_scratch_;
};

}  // namespace tidemark::scan
