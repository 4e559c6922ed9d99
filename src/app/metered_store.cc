#include "app/metered_store.h"

#include <algorithm>
#include <utility>

namespace tidemark::app {

MeteredStore::MeteredStore(std::unique_ptr<storage::ObjectStore> store, ProgressSink sink)
    : store_(std::move(store)), sink_(std::move(sink)) {}

void MeteredStore::Expect(std::span<const scan::GroupSlices> groups, scan::SliceView view) {
  if (!sink_) return;
  const std::lock_guard lock(mutex_);
  for (const scan::GroupSlices group : groups) {
    auto& files = files_[group.back().group];
    const auto expect = [&](const std::string& key, uint64_t size) {
      if (!unread_.emplace(key, size).second) return;
      files.push_back(key);
      progress_.bytes += size;
    };
    for (const auto& slice : group) {
      if (slice.base) expect(slice.base->key, slice.base->size);
      if (view == scan::SliceView::kReadOptimized) continue;
      for (const auto& log : slice.logs) expect(log.key, log.size);
    }
  }
  progress_.groups = files_.size();
  sink_(progress_);
}

void MeteredStore::Finish(const lake::hudi::FileGroupId& group) {
  if (!sink_) return;
  const std::lock_guard lock(mutex_);
  const auto files = files_.find(group);
  if (files == files_.end()) return;
  for (const auto& key : files->second) {
    progress_.bytes_done += std::exchange(unread_.find(key)->second, 0);
  }
  files_.erase(files);
  ++progress_.groups_done;
  sink_(progress_);
}

void MeteredStore::Count(std::string_view key, uint64_t bytes) const {
  if (!sink_) return;
  const std::lock_guard lock(mutex_);
  const auto unread = unread_.find(key);
  if (unread == unread_.end()) return;
  const uint64_t counted = std::min(unread->second, bytes);
  unread->second -= counted;
  progress_.bytes_done += counted;
  sink_(progress_);
}

Result<storage::Listing> MeteredStore::List(std::string_view folder,
                                            const storage::ListOptions& options,
                                            const Budget& budget) const {
  return store_->List(folder, options, budget);
}

Result<std::string> MeteredStore::Read(std::string_view key, const Budget& budget) const {
  auto bytes = store_->Read(key, budget);
  if (bytes) Count(key, bytes->size());
  return bytes;
}

Result<std::string> MeteredStore::ReadUpTo(std::string_view key, uint64_t bytes_max,
                                           const Budget& budget) const {
  return store_->ReadUpTo(key, bytes_max, budget);
}

Result<std::string> MeteredStore::ReadRange(std::string_view key, uint64_t offset, uint64_t length,
                                            const Budget& budget) const {
  auto bytes = store_->ReadRange(key, offset, length, budget);
  if (bytes) Count(key, bytes->size());
  return bytes;
}

Result<size_t> MeteredStore::ReadInto(std::string_view key, uint64_t offset, std::span<char> into,
                                      storage::ObjectState& state, const Budget& budget) const {
  auto size = store_->ReadInto(key, offset, into, state, budget);
  if (size) Count(key, *size);
  return size;
}

Result<storage::ObjectInfo> MeteredStore::Stat(std::string_view key, const Budget& budget) const {
  return store_->Stat(key, budget);
}

Status MeteredStore::Put(std::string_view key, std::string_view bytes, const Budget& budget) {
  return store_->Put(key, bytes, budget);
}

Status MeteredStore::PutIfAbsent(std::string_view key, std::string_view bytes,
                                 const Budget& budget) {
  return store_->PutIfAbsent(key, bytes, budget);
}

Status MeteredStore::Remove(std::string_view key, const Budget& budget) {
  return store_->Remove(key, budget);
}

}  // namespace tidemark::app
