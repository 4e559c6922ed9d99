#include "scan/group_versions.h"

#include <algorithm>
#include <functional>
#include <string>

#include "columnar/batch_reader.h"
#include "scan/base_file.h"
#include "scan/row_assembly.h"
#include "scan/unavailable_value.h"

namespace tidemark::scan {
namespace {

using lake::hudi::FileSlice;
using merge::Version;

/// Memory that a byte of a file costs: packed rows unfold, log records stay as they are.
constexpr uint64_t kMemoryPerBaseByte = 8;
constexpr uint64_t kMemoryPerLogByte = 3;

Status StreamBatches(const ScanTable& table, const lake::hudi::BaseFile& file,
                     const std::function<Status(const columnar::Batch& batch)>& visit) {
  TRY_ASSIGN(const auto reader, OpenBaseFile(table, file));
  while (true) {
    TRY(table.budget.Check());
    TRY_ASSIGN(const auto batch, reader->Next());
    if (!batch) return {};
    TRY(visit(*batch));
  }
}

/// The rows of a base file. What is damaged is a finding, beside the error that it is for the
/// group.
Status ForEachBatch(const ScanTable& table, const lake::hudi::BaseFile& file,
                    const std::function<Status(const columnar::Batch& batch)>& visit) {
  Status done = StreamBatches(table, file, visit);
  if (!done && done.error().kind == ErrorKind::kCorrupt) {
    table.findings({"corrupt_file", file.key, done.error().message});
  }
  return done;
}

/// The instants that rows of a base file say they were written at.
Status AddCommitTimes(const ScanTable& table, const lake::hudi::BaseFile& file,
                      InstantRanks& ranks) {
  ScanTable narrow = table;
  const std::vector<columnar::WantedColumn> wanted = {{std::string(kCommitTimeColumn), true}};
  TRY_ASSIGN(narrow.type, columnar::RowType::Make(table.type.schema(), wanted));
  std::string last;
  return ForEachBatch(narrow, file, [&](const columnar::Batch& batch) -> Status {
    const auto& column = batch.column(0);
    for (size_t row = 0; row < batch.rows(); ++row) {
      const auto text = column.Text(row);
      if (column.IsNull(row) || text == last) continue;
      last = text;
      ranks.Add(last);
    }
    return {};
  });
}

}  // namespace

uint64_t MemoryForVersions(GroupSlices slices) {
  uint64_t bytes = 0;
  for (const FileSlice& slice : slices) {
    if (slice.base) bytes += slice.base->size * kMemoryPerBaseByte;
    for (const auto& log : slice.logs) bytes += log.size * kMemoryPerLogByte;
  }
  return bytes;
}

void InstantRanks::Add(std::string_view instant) {
  if (!ranks_.contains(instant)) ranks_.emplace(instant, 0);
}

void InstantRanks::Seal() {
  std::vector<std::pair<std::string, std::string>> order;
  for (const auto& [instant, rank] : ranks_) {
    order.emplace_back(instants_->CompletionOf(instant), instant);
  }
  std::ranges::sort(order);
  names_.clear();
  for (auto& [completion, instant] : order) {
    names_.push_back(std::move(instant));
    ranks_[names_.back()] = static_cast<uint32_t>(names_.size());
  }
}

uint32_t InstantRanks::Of(std::string_view instant) const {
  const auto found = ranks_.find(instant);
  return found == ranks_.end() ? 0 : found->second;
}

std::string_view InstantRanks::NameOf(uint32_t rank) const {
  return rank == 0 || rank > names_.size() ? std::string_view() : names_[rank - 1];
}

BaseWriters::BaseWriters(const lake::hudi::Timeline& timeline, lake::hudi::TableType type)
    : type_(type) {
  for (const auto& instant : timeline.instants) {
    if (instant.state != lake::hudi::State::kCompleted || !IsCommitAction(instant.action)) continue;
    // In a merge-on-read table only compactions complete as commits.
    const bool is_compaction = type == lake::hudi::TableType::kMergeOnRead &&
                               instant.action == lake::hudi::Action::kCommit;
    writers_[instant.requested] =
        is_compaction ? merge::BaseWriter::kCompaction : merge::BaseWriter::kWrite;
    if (instant.operation) {
      operations_[instant.requested] = instant.operation->starts_with("DELETE")
                                           ? merge::WriterOperation::kDelete
                                           : merge::WriterOperation::kUpsert;
    }
  }
}

merge::WriterOperation BaseWriters::OperationOf(std::string_view instant) const {
  const auto known = operations_.find(instant);
  return known == operations_.end() ? merge::WriterOperation::kUnknown : known->second;
}

merge::BaseWriter BaseWriters::WriterOf(const FileSlice& slice) const {
  if (!slice.base) return merge::BaseWriter::kNone;
  const auto known = writers_.find(slice.base->name.instant);
  if (known != writers_.end()) return known->second;
  return type_ == lake::hudi::TableType::kMergeOnRead ? merge::BaseWriter::kCompaction
                                                      : merge::BaseWriter::kWrite;
}

Result<GroupFiles> GroupFiles::Open(const ScanTable& table, const BaseWriters& writers,
                                    std::span<const GroupSlices> groups, uint64_t held_bytes_max) {
  GroupFiles files(table.instants, writers);
  files.groups_ = groups;
  uint64_t held_left = held_bytes_max;
  for (const GroupSlices group : groups) {
    auto& of_group = files.blocks_.emplace_back();
    for (const FileSlice& slice : group) {
      TRY_ASSIGN(auto read, SliceBlocks::Read(table, slice, held_left));
      held_left -= std::min(held_left, read.held_bytes());
      for (const auto instant : read.Instants()) files.ranks_.Add(instant);
      of_group.push_back(std::move(read));
      if (!slice.base) continue;
      files.ranks_.Add(slice.base->name.instant);
      TRY(AddCommitTimes(table, *slice.base, files.ranks_));
    }
  }
  files.ranks_.Seal();
  for (const GroupSlices group : groups) {
    auto& shapes = files.shapes_.emplace_back();
    for (const FileSlice& slice : group) {
      shapes.push_back(
          {writers.WriterOf(slice), slice.base ? files.ranks_.Of(slice.base->name.instant) : 0});
    }
  }
  return files;
}

GroupVersions::GroupVersions(const ScanTable& table, const GroupFiles& files, size_t group,
                             KeyPass pass)
    : table_(table),
      files_(files),
      group_(group),
      pass_(pass),
      newest_(files.shape(group).size() - 1),
      rows_(table.type),
      logs_(table.columns, rows_, table.of_files),
      versions_(files.shape(group)) {
  logs_.LookForUnavailable();
}

Status GroupVersions::Read() {
  for (size_t slice = 0; slice <= newest_; ++slice) TRY(ReadSlice(slice));
  auto finding = logs_.FindingOfOrdering();
  if (finding && pass_.index == 0) table_.findings(*std::move(finding));
  return {};
}

Status GroupVersions::ReadSlice(size_t slice) {
  const FileSlice& files = files_.groups()[group_][slice];
  if (files.base) {
    size_t rows = 0;
    TRY(ForEachBatch(table_, *files.base, [&](const columnar::Batch& batch) -> Status {
      TRY(TakeBase(slice, batch, rows));
      rows += batch.rows();
      return {};
    }));
    base_rows_ += rows;
  }
  const SliceBlocks& blocks = files_.blocks(group_, slice);
  return blocks.ForEach([&](const PlacedBlock& placed) -> Status {
    Status done = logs_.Read(placed, [&](const MetVersion& met) {
      return TakeLog(slice, placed.instant, met, blocks.are_all_held());
    });
    if (done) return done;
    auto finding = FindingOfBlock(done.error(), placed.file_name);
    if (!finding) return done;
    if (pass_.index == 0) table_.findings(*std::move(finding));
    return {};
  });
}

Status GroupVersions::TakeLog(size_t slice, std::string_view instant, const MetVersion& met,
                              bool bytes_live) {
  const uint64_t hash = KeyTable::Hash(met.key);
  if (!pass_.Has(hash)) return {};
  MetVersion kept = met;
  if (!bytes_live) {
    kept.key = rows_.Copy(met.key);
    kept.record = rows_.Copy(met.record);
    kept.version.ordering = logs_.arena().Keep(met.version.ordering);
  }
  kept.version.row = kept.Keep(rows_);
  kept.version.place.commit = files_.ranks().Of(instant);
  kept.version.writer = files_.writers().OperationOf(instant);
  // Log versions stand in files from 1 on, so that none is taken for a base row.
  if (!versions_.Add(keys_.FindOrAdd(kept.key, hash), slice, kept.version)) {
    return Fail(ErrorKind::kInternal, "a log version was taken for a base row");
  }
  return {};
}

Status GroupVersions::TakeBase(size_t slice, const columnar::Batch& batch, size_t first_row) {
  // Of a batch of which only some rows are wanted the others are not kept.
  std::vector<uint32_t> wanted;
  if (!pass_.has_all()) {
    for (size_t row = 0; row < batch.rows(); ++row) {
      TRY_ASSIGN(const auto key, table_.columns.KeyOf(batch, table_.places, row, key_scratch_));
      if (pass_.Has(KeyTable::Hash(key))) wanted.push_back(static_cast<uint32_t>(row));
    }
    if (wanted.empty()) return {};
  }
  const bool has_all = pass_.has_all() || wanted.size() == batch.rows();
  std::optional<columnar::Batch> some;
  if (!has_all) {
    TRY_ASSIGN(some, Select(batch, wanted));
  }
  const columnar::Batch& kept = some ? *some : batch;
  const RowStore::SourceId source = rows_.AddBatch(kept);
  const auto unavailable = RowsWithValue(kept, table_.columns.settings().unavailable_value);
  for (size_t row = 0; row < kept.rows(); ++row) {
    Version version;
    version.has_unavailable = std::ranges::binary_search(unavailable, static_cast<uint32_t>(row));
    version.row = rows_.AddRow(source, row);
    version.place.position = static_cast<uint32_t>(first_row + (has_all ? row : wanted[row]));
    TRY(TakeRow(slice, kept, row, version));
  }
  return {};
}

Status GroupVersions::TakeRow(size_t slice, const columnar::Batch& batch, size_t row,
                              Version version) {
  TRY_ASSIGN(auto key, table_.columns.KeyOf(batch, table_.places, row, key_scratch_));
  const uint64_t hash = KeyTable::Hash(key);
  if (!table_.columns.key_fields().empty()) key = rows_.Copy(key);
  TRY_ASSIGN(const auto ordering,
             table_.columns.ordering().Read(batch, table_.places.ordering, row, ordering_scratch_));
  version.ordering = logs_.arena().Keep(ordering);
  version.op = table_.columns.OpOf(batch, table_.places, row);
  const auto& commit_times = batch.column(*table_.places.commit_time);
  version.place.commit = files_.ranks().Of(commit_times.IsNull(row) ? "" : commit_times.Text(row));
  const uint32_t number = keys_.FindOrAdd(key, hash);
  if (!versions_.Add(number, slice, version) && slice == newest_) {
    duplicates_.emplace(number, version.row);
  }
  return {};
}

Status GroupVersions::Append(const merge::Merged& merged, columnar::RowBuilder& builder) {
  if (merged.layers.empty()) return rows_.Append(merged.winner.row, builder);
  return AppendLayers(merged, table_.columns.settings(), logs_, rows_, {}, builder);
}

}  // namespace tidemark::scan
