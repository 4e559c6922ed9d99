/// Keys and their numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace tidemark::scan {

/// Open addressing over keys that lie elsewhere and outlive the table. Keys are numbered from 0 in
/// the order in which they come first. Single-threaded.
class KeyTable {
 public:
  static uint64_t Hash(std::string_view key);

  /// The key's number; a new one's is what size() was.
  uint32_t FindOrAdd(std::string_view key, uint64_t hash);
  std::optional<uint32_t> Find(std::string_view key, uint64_t hash) const;

  /// A key to look for, and what comes of it.
  struct Lookup {
    std::string_view key;
    uint64_t hash = 0;
    std::optional<uint32_t> number;
  };
  /// Finds many keys, up to a few dozen, in less time than one by one: the memory they lie in is
  /// asked for side by side.
  void FindMany(std::span<Lookup> lookups) const;

  std::string_view key(uint32_t number) const { return keys_[number]; }
  /// Moves the table's view of a key to other bytes, which hold the same.
  void Rebase(uint32_t number, std::string_view copy) { keys_[number] = copy; }
  uint32_t size() const { return static_cast<uint32_t>(keys_.size()); }
  /// Memory held, about.
  size_t bytes() const {
    return keys_.capacity() * sizeof(std::string_view) + slots_.capacity() * sizeof(Slot);
  }

 private:
  struct Slot {
    uint32_t number = kEmpty;
    uint32_t tag = 0;  // lower half of the hash, where its search begins too
  };
  static constexpr uint32_t kEmpty = ~uint32_t{0};

  void Grow();

  std::vector<Slot> slots_;  // a power of two, at most half full
  std::vector<std::string_view> keys_;
};

}  // namespace tidemark::scan
