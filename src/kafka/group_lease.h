/// Which partitions a member of a consumer group may act for at a moment: the decision, as values.
/// No client and no clock here.
#pragma once

#include <set>
#include <span>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "kafka/positions.h"

namespace tidemark::kafka {

/// What a member holds ends before the group gives it to others, even when the member hears nothing
/// any more.
///
/// The group counts a member's session from the last request that reached it. We count from the
/// moment that request was sent, which is earlier, and end a tenth of the session before its end:
/// what is shown then has time to arrive. All times are of one steady clock that goes on while the
/// machine is suspended. Single-threaded.
class GroupLease {
 public:
  /// What is heard after a time without a lease counts this much later: it may have been the group
  /// saying that it has thrown us out, which is read by then.
  static constexpr Milliseconds kQuarantine{1000};
  /// Holds end, too, when the owner has not read for so long what the group had to say.
  static constexpr Milliseconds kUnreadMax{20'000};

  /// `session` as the group was told; > 0.
  explicit GroupLease(Milliseconds session) : length_(session - session / 10) {}

  /// The group gives partitions, or takes them away.
  void Give(std::span<const PartitionId> partitions);
  void Take(std::span<const PartitionId> partitions);
  void TakeAll() { assigned_.clear(); }

  /// The group answered at `now` a request that was sent at `sent`.
  void Heard(MonoTime sent, MonoTime now);
  /// All that the group had said by `now` has been read.
  void Read(MonoTime now);

  /// Whether it is a member that may act, with or without partitions.
  bool IsValid(MonoTime now) const;
  bool Holds(PartitionId partition, MonoTime now) const;
  /// Ascending.
  std::vector<PartitionId> Held(MonoTime now) const;

 private:
  Milliseconds length_;
  std::set<PartitionId> assigned_;
  MonoTime counts_from_ = MonoTime::max();
  MonoTime ends_at_ = MonoTime::min();
  MonoTime read_at_ = MonoTime::min();
};

/// The partition that stands for `key` among `partition_count` (> 0) of them. The same in every
/// process, on every machine and in every release: as the default partitioner of Kafka's Java
/// producer places a record with this key (org.apache.kafka.common.utils.Utils: murmur2).
PartitionId PartitionOfKey(std::string_view key, int32_t partition_count);

}  // namespace tidemark::kafka
