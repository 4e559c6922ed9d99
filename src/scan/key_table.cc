#include "scan/key_table.h"

#include <bit>
#include <cstring>
#include <utility>

namespace tidemark::scan {
namespace {

constexpr size_t kSlotsMin = 64;
constexpr uint64_t kOdd = 0x9e3779b97f4a7c15;

/// Spreads every bit of the product of two words over one.
uint64_t Fold(uint64_t a, uint64_t b) {
  __extension__ typedef unsigned __int128 Uint128;
  const Uint128 product = static_cast<Uint128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

uint64_t Word(const char* bytes, size_t size) {
  uint64_t word = 0;
  std::memcpy(&word, bytes, size);
  return word;
}

}  // namespace

uint64_t KeyTable::Hash(std::string_view key) {
  uint64_t hash = Fold(key.size() + kOdd, kOdd);
  const char* at = key.data();
  size_t left = key.size();
  for (; left > 8; left -= 8, at += 8) hash = Fold(hash ^ Word(at, 8), kOdd);
  if (left > 0) hash = Fold(hash ^ Word(at, left), kOdd + 2);
  return Fold(hash, kOdd);
}

std::optional<uint32_t> KeyTable::Find(std::string_view key, uint64_t hash) const {
  if (slots_.empty()) return std::nullopt;
  const size_t mask = slots_.size() - 1;
  const auto tag = static_cast<uint32_t>(hash);
  for (size_t at = tag & mask;; at = (at + 1) & mask) {
    const Slot& slot = slots_[at];
    if (slot.number == kEmpty) return std::nullopt;
    if (slot.tag == tag && keys_[slot.number] == key) return slot.number;
  }
}

void KeyTable::FindMany(std::span<Lookup> lookups) const {
  for (Lookup& lookup : lookups) lookup.number.reset();
  if (slots_.empty()) return;
  const size_t mask = slots_.size() - 1;
  for (const Lookup& lookup : lookups)
    __builtin_prefetch(&slots_[static_cast<uint32_t>(lookup.hash) & mask]);
  // The first key of the same tag is nearly always the one.
  for (Lookup& lookup : lookups) {
    const auto tag = static_cast<uint32_t>(lookup.hash);
    for (size_t at = tag & mask; slots_[at].number != kEmpty; at = (at + 1) & mask) {
      if (slots_[at].tag != tag) continue;
      lookup.number = slots_[at].number;
      __builtin_prefetch(&keys_[slots_[at].number]);
      break;
    }
  }
  for (const Lookup& lookup : lookups) {
    if (lookup.number) __builtin_prefetch(keys_[*lookup.number].data());
  }
  for (Lookup& lookup : lookups) {
    if (lookup.number && keys_[*lookup.number] != lookup.key) {
      lookup.number = Find(lookup.key, lookup.hash);
    }
  }
}

uint32_t KeyTable::FindOrAdd(std::string_view key, uint64_t hash) {
  if (2 * (keys_.size() + 1) > slots_.size()) Grow();
  const size_t mask = slots_.size() - 1;
  const auto tag = static_cast<uint32_t>(hash);
  size_t at = tag & mask;
  for (; slots_[at].number != kEmpty; at = (at + 1) & mask) {
    if (slots_[at].tag == tag && keys_[slots_[at].number] == key) return slots_[at].number;
  }
  slots_[at] = {size(), tag};
  keys_.push_back(key);
  return size() - 1;
}

// Where a slot goes is known from its tag, and nearly in order: the keys are not looked at.
void KeyTable::Grow() {
  std::vector<Slot> grown(slots_.empty() ? kSlotsMin : 2 * slots_.size());
  const size_t mask = grown.size() - 1;
  for (const Slot& slot : slots_) {
    if (slot.number == kEmpty) continue;
    size_t at = slot.tag & mask;
    while (grown[at].number != kEmpty) at = (at + 1) & mask;
    grown[at] = slot;
  }
  slots_ = std::move(grown);
}

}  // namespace tidemark::scan
