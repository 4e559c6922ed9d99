/// A thread that hears what others say to a publisher: the group, and the control topic.
#pragma once

#include <memory>
#include <set>
#include <stop_token>
#include <thread>

#include "app/partition_share.h"
#include "app/publisher_parts_internal.h"
#include "feed/event_log.h"

namespace tidemark::app {

class ShareFollower {
 public:
  /// Begins at once. What is heard goes to `messages`; all outlive it. When `with_control` says so,
  /// all that the control topic holds of a partition that was gained, and then what comes.
  ShareFollower(PartitionShare& share, feed::EventLog& log, MessageBox& messages,
                bool with_control);

  /// Nothing is posted after it.
  void Stop();

 private:
  void Run(const std::stop_token& stop);
  void FollowControl(const std::stop_token& stop);
  Status BeginControl(kafka::PartitionId partition, const Budget& budget);

  PartitionShare& share_;
  feed::EventLog& log_;
  MessageBox& messages_;
  const bool with_control_;
  // Of the thread.
  std::unique_ptr<feed::LogFollower> follower_;
  std::set<kafka::PartitionId> unfollowed_;
  std::jthread thread_;
};

}  // namespace tidemark::app
