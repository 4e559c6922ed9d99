/// A memory store that does something just before each read, as a writer beside us would.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/memory_store.h"

namespace tidemark::support {

/// Passes everything on to a store that must outlive it, and keeps the keys of the whole-object
/// reads and the number of listings. Single-threaded.
class WatchedStore final : public storage::ObjectStore {
 public:
  explicit WatchedStore(storage::MemoryStore& store) : store_(store) {}

  /// Called before a read is passed on; may be empty.
  std::function<void(std::string_view key)> before_read;
  mutable std::vector<std::string> reads;
  mutable size_t listings = 0;

  const std::string& uri() const override { return store_.uri(); }
  Result<storage::Listing> List(std::string_view folder, const storage::ListOptions& options,
                                const Budget& budget) const override {
    ++listings;
    return store_.List(folder, options, budget);
  }
  Result<std::string> Read(std::string_view key, const Budget& budget) const override {
    reads.emplace_back(key);
    if (before_read) before_read(key);
    return store_.Read(key, budget);
  }
  Result<std::string> ReadRange(std::string_view key, uint64_t offset, uint64_t length,
                                const Budget& budget) const override {
    return store_.ReadRange(key, offset, length, budget);
  }
  Result<storage::ObjectInfo> Stat(std::string_view key, const Budget& budget) const override {
    return store_.Stat(key, budget);
  }
  Status Put(std::string_view key, std::string_view bytes, const Budget& budget) override {
    return store_.Put(key, bytes, budget);
  }
  Status PutIfAbsent(std::string_view key, std::string_view bytes, const Budget& budget) override {
    return store_.PutIfAbsent(key, bytes, budget);
  }
  Status Remove(std::string_view key, const Budget& budget) override {
    return store_.Remove(key, budget);
  }

 private:
  storage::MemoryStore& store_;
};

}  // namespace tidemark::support
