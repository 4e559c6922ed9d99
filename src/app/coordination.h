/// Sharing the pipelines with other instances: whose is which.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "app/config.h"
#include "base/error.h"
#include "kafka/client/group_member.h"

namespace tidemark::app {

/// Into so many parts the pipelines are divided, by their names. The same in every instance and
/// every release: two that divide differently would both have a pipeline, or neither.
inline constexpr int32_t kCoordinationParts = 64;

kafka::client::GroupOptions GroupOptionsOf(const CoordinationConfig& config);

/// One instance's place in the group. Owns a thread that follows the group from Begin() to Stop().
class Coordination {
 public:
  /// kInvalidArgument when the cluster's properties cannot be used.
  static Result<std::unique_ptr<Coordination>> Open(const Config& config);

  /// `hidden` are the cluster's.
  Coordination(CoordinationConfig config, HiddenValues hidden,
               std::unique_ptr<kafka::client::GroupMember> member);
  /// As Stop().
  ~Coordination();

  Coordination(const Coordination&) = delete;
  Coordination& operator=(const Coordination&) = delete;

  /// `on_change` is called by the thread after each change of what is owned. What was lost goes to
  /// nobody before it returns, for 20 s at most.
  void Begin(std::function<void()> on_change);

  /// Owns nothing any more, calls `on_change`, and tells the group, so that others take over at
  /// once.
  void Stop();

  /// Whether the pipeline is this instance's now. Any thread; cheap.
  bool Owns(std::string_view pipeline) const;

  const CoordinationConfig& config() const { return config_; }
  /// Any thread.
  kafka::client::GroupStanding standing() const;
  /// The part that a pipeline belongs to: the partition of the topic.
  static kafka::PartitionId PartOf(std::string_view pipeline);

 private:
  void Run(const std::stop_token& stop);
  void LogStanding();

  const CoordinationConfig config_;
  const HiddenValues hidden_;
  const std::unique_ptr<kafka::client::GroupMember> member_;
  std::function<void()> on_change_;
  bool was_member_ = false;    // of the thread
  std::string logged_reason_;  // of the thread
  std::jthread thread_;
};

}  // namespace tidemark::app
