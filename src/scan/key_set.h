/// Hashes of keys, to ask whether one is among them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tidemark::scan {

/// Open addressing over KeyTable::Hash without its lowest bit. Immutable. Any thread.
class KeySet {
 public:
  explicit KeySet(std::span<const uint64_t> hashes) {
    size_t slots = 2;
    while (slots < 2 * hashes.size() + 2) slots *= 2;
    slots_.resize(slots);
    for (const uint64_t hash : hashes) Add(hash | 1);
  }

  bool Has(uint64_t hash) const {
    const size_t mask = slots_.size() - 1;
    for (size_t at = hash >> 1 & mask; slots_[at] != 0; at = (at + 1) & mask) {
      if (slots_[at] == (hash | 1)) return true;
    }
    return false;
  }

 private:
  void Add(uint64_t hash) {
    if (Has(hash)) return;
    const size_t mask = slots_.size() - 1;
    size_t at = hash >> 1 & mask;
    while (slots_[at] != 0) at = (at + 1) & mask;
    slots_[at] = hash;
  }

  std::vector<uint64_t> slots_;  // a power of two, at most half full; 0: none
};

}  // namespace tidemark::scan
