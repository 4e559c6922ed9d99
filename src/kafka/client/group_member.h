/// Sharing work with other processes through a Kafka consumer group: each partition of a small
/// topic is held by one of them, and stands for a part of the work. Nothing is read from the topic,
/// nothing written to it, and no offset is committed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/budget.h"
#include "base/error.h"
#include "kafka/group_lease.h"
#include "kafka/partition_probe.h"

namespace tidemark::kafka::client {

struct GroupOptions {
  std::string group;
  std::string topic;
  /// All members must agree on it. The topic must have as many; those beyond stand for nothing.
  int32_t partition_count = 0;
  /// Whether the topic is created when it is missing, with the brokers' default replication.
  bool creates_topic = true;
  /// How long the group waits for a member that has fallen silent. The brokers bound it
  /// (group.min.session.timeout.ms, 6 s, to group.max.session.timeout.ms).
  Milliseconds session = std::chrono::seconds(30);
};

/// What has changed between two calls; each ascending.
struct GroupChange {
  std::vector<PartitionId> gained;
  std::vector<PartitionId> lost;

  bool is_empty() const { return gained.empty() && lost.empty(); }
};

struct GroupStanding {
  bool is_member = false;
  std::string why_not;  ///< one sentence; empty for a member, and while nothing is known yet
};

/// One member. At any moment at most one member of the group holds a partition: one that cannot
/// reach the group stops holding before the group gives its share to others (kafka/group_lease.h).
/// Partitions stay where they are when members come and go, as far as the shares allow
/// (cooperative-sticky).
///
/// One thread serves; Holds() and standing() from any. No broker is contacted before Serve().
class GroupMember {
 public:
  /// Properties as for the probe: kInvalidArgument names the one that is unknown or would break a
  /// promise.
  static Result<std::unique_ptr<GroupMember>> Open(const ClusterOptions& cluster,
                                                   const GroupOptions& options);
  virtual ~GroupMember() = default;

  /// Joins, and follows what the group says, for at most about `limit` (a topic that is missing may
  /// take 5 s more); returns at the first change. What is lost is held no more from here on, and
  /// the group gives it to nobody before the next call: the time to put things down, 20 s at most.
  /// (Not so when the member has lost touch: then others have it when the session ends.) Never
  /// fails: what is wrong is in standing(), and tried again.
  virtual GroupChange Serve(Milliseconds limit) = 0;

  /// Whether this member holds the partition now. Cheap.
  virtual bool Holds(PartitionId partition) const = 0;

  virtual GroupStanding standing() const = 0;

  /// Holds nothing from here on; what it held. For good.
  virtual GroupChange PutDown() = 0;

  /// Tells the group, so that others take over at once. After PutDown(); waits at most `limit`.
  virtual void Leave(Milliseconds limit) = 0;
};

/// What a member would meet, without joining.
struct GroupCheck {
  enum class Topic {
    kFits,
    kTooSmall,
    kAbsent,       ///< and it may be created
    kNotPermitted  ///< absent (or hidden), and it may not be created
  };
  enum class Join {
    kPermitted,
    kRefused,
    kNotKnown,  ///< nobody is in the group, or the brokers are too old to say (before 2.3)
  };
  Topic topic = Topic::kFits;
  int32_t partition_count = 0;  ///< of the topic
  Join join = Join::kNotKnown;
  std::string words;  ///< the brokers', of what is not permitted
};

/// Asks the cluster; changes nothing. kUnavailable, kDenied as for the probe.
Result<GroupCheck> CheckGroup(const ClusterOptions& cluster, const GroupOptions& options,
                              const Budget& budget);

}  // namespace tidemark::kafka::client
