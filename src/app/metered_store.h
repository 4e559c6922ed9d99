/// How far a reading of a table's file groups has come, told by the bytes that pass.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lake/hudi/file_slices.h"
#include "scan/group_versions.h"
#include "scan/slice_scan.h"
#include "storage/object_store.h"

namespace tidemark::app {

/// Of the files that will be read. Both grow only.
struct ReadProgress {
  uint64_t bytes_done = 0;
  uint64_t bytes = 0;
  size_t groups_done = 0;
  size_t groups = 0;

  friend bool operator==(const ReadProgress&, const ReadProgress&) = default;
};

/// Called from any thread, one call at a time, as often as something is read.
using ProgressSink = std::function<void(const ReadProgress& progress)>;

/// A store that tells what is read of the files expected. A file counts once, however often it is
/// read, and all of it once its group is finished, also what nobody asked for. Any thread.
class MeteredStore final : public storage::ObjectStore {
 public:
  /// `sink` may be empty.
  MeteredStore(std::unique_ptr<storage::ObjectStore> store, ProgressSink sink);

  /// The file groups that will be read. Once; before it nothing is told.
  void Expect(std::span<const scan::GroupSlices> groups, scan::SliceView view);
  void Finish(const lake::hudi::FileGroupId& group);

  const std::string& uri() const override { return store_->uri(); }
  Result<storage::Listing> List(std::string_view folder, const storage::ListOptions& options,
                                const Budget& budget) const override;
  Result<std::string> Read(std::string_view key, const Budget& budget) const override;
  Result<std::string> ReadUpTo(std::string_view key, uint64_t bytes_max,
                               const Budget& budget) const override;
  Result<std::string> ReadRange(std::string_view key, uint64_t offset, uint64_t length,
                                const Budget& budget) const override;
  Result<size_t> ReadInto(std::string_view key, uint64_t offset, std::span<char> into,
                          storage::ObjectState& state, const Budget& budget) const override;
  bool is_local() const override { return store_->is_local(); }
  Result<storage::ObjectInfo> Stat(std::string_view key, const Budget& budget) const override;
  Status Put(std::string_view key, std::string_view bytes, const Budget& budget) override;
  Status PutIfAbsent(std::string_view key, std::string_view bytes, const Budget& budget) override;
  Status Remove(std::string_view key, const Budget& budget) override;

 private:
  void Count(std::string_view key, uint64_t bytes) const;

  const std::unique_ptr<storage::ObjectStore> store_;
  const ProgressSink sink_;

  mutable std::mutex mutex_;
  // Guarded by mutex_.
  mutable std::map<std::string, uint64_t, std::less<>> unread_;  // bytes, of files expected
  std::map<lake::hudi::FileGroupId, std::vector<std::string>> files_;
  mutable ReadProgress progress_;
};

}  // namespace tidemark::app
