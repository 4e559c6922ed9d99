#include "kafka/group_lease.h"

#include <algorithm>
#include <cstdint>

namespace tidemark::kafka {

void GroupLease::Give(std::span<const PartitionId> partitions) {
  assigned_.insert(partitions.begin(), partitions.end());
}

void GroupLease::Take(std::span<const PartitionId> partitions) {
  for (const PartitionId partition : partitions) assigned_.erase(partition);
}

void GroupLease::Heard(MonoTime sent, MonoTime now) {
  if (now >= ends_at_) counts_from_ = now + kQuarantine;
  ends_at_ = std::max(ends_at_, sent + length_);
}

void GroupLease::Read(MonoTime now) {
  read_at_ = now;
}

bool GroupLease::IsValid(MonoTime now) const {
  return now >= counts_from_ && now < ends_at_ && now - kUnreadMax < read_at_;
}

bool GroupLease::Holds(PartitionId partition, MonoTime now) const {
  return IsValid(now) && assigned_.contains(partition);
}

std::vector<PartitionId> GroupLease::Held(MonoTime now) const {
  if (!IsValid(now)) return {};
  return {assigned_.begin(), assigned_.end()};
}

PartitionId PartitionOfKey(std::string_view key, int32_t partition_count) {
  constexpr uint32_t kSeed = 0x9747b28c;
  constexpr uint32_t kFactor = 0x5bd1e995;
  const auto byte = [&](size_t at) { return uint32_t{static_cast<unsigned char>(key[at])}; };
  uint32_t hash = kSeed ^ static_cast<uint32_t>(key.size());
  size_t at = 0;
  for (; at + 4 <= key.size(); at += 4) {
    uint32_t word = byte(at) | byte(at + 1) << 8U | byte(at + 2) << 16U | byte(at + 3) << 24U;
    word *= kFactor;
    word ^= word >> 24U;
    hash = (hash * kFactor) ^ (word * kFactor);
  }
  const size_t rest = key.size() - at;
  if (rest > 2) hash ^= byte(at + 2) << 16U;
  if (rest > 1) hash ^= byte(at + 1) << 8U;
  if (rest > 0) hash = (hash ^ byte(at)) * kFactor;
  hash ^= hash >> 13U;
  hash *= kFactor;
  hash ^= hash >> 15U;
  return static_cast<PartitionId>((hash & 0x7fffffffU) % static_cast<uint32_t>(partition_count));
}

}  // namespace tidemark::kafka
