/// A store that counts what is read through it.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "storage/object_store.h"

namespace tidemark::audit {

/// Reads only; every change is kUnsupported. Borrows the other store. Any thread.
class CountingStore final : public storage::ObjectStore {
 public:
  explicit CountingStore(const storage::ObjectStore& store) : store_(store) {}

  uint64_t bytes_read() const { return bytes_read_; }

  const std::string& uri() const override { return store_.uri(); }
  Result<storage::Listing> List(std::string_view folder, const storage::ListOptions& options,
                                const Budget& budget) const override;
  Result<std::string> Read(std::string_view key, const Budget& budget) const override;
  Result<std::string> ReadRange(std::string_view key, uint64_t offset, uint64_t length,
                                const Budget& budget) const override;
  Result<size_t> ReadInto(std::string_view key, uint64_t offset, std::span<char> into,
                          storage::ObjectState& state, const Budget& budget) const override;
  bool is_local() const override { return store_.is_local(); }
  Result<storage::ObjectInfo> Stat(std::string_view key, const Budget& budget) const override;
  Status Put(std::string_view key, std::string_view bytes, const Budget& budget) override;
  Status PutIfAbsent(std::string_view key, std::string_view bytes, const Budget& budget) override;
  Status Remove(std::string_view key, const Budget& budget) override;

 private:
  const storage::ObjectStore& store_;
  mutable std::atomic<uint64_t> bytes_read_ = 0;
};

}  // namespace tidemark::audit
