/// Which partitions of the feed this process publishes.
#pragma once

#include "base/clock.h"
#include "kafka/client/group_member.h"

namespace tidemark::app {

using ShareChange = kafka::client::GroupChange;

/// One thread serves.
class PartitionShare {
 public:
  virtual ~PartitionShare() = default;
  /// What has changed since the last call; waits up to `limit` for a change.
  virtual ShareChange Serve(Milliseconds limit) = 0;
  /// Others may have everything from here on. For good.
  virtual void Leave() = 0;
};

}  // namespace tidemark::app
