#include "app/coordination.h"

#include <fmt/format.h>

#include <utility>

#include "base/log.h"

namespace tidemark::app {

namespace {

constexpr Milliseconds kServe{200};
/// For telling the group that we go.
constexpr Milliseconds kLeaveMax{2000};

}  // namespace

kafka::client::GroupOptions GroupOptionsOf(const CoordinationConfig& config) {
  return {.group = config.group,
          .topic = config.topic,
          .partition_count = kCoordinationParts,
          .creates_topic = config.creates_topic,
          .session = config.session};
}

Result<std::unique_ptr<Coordination>> Coordination::Open(const Config& config) {
  const ClusterConfig& cluster = config.clusters.at(config.coordination->cluster);
  auto member =
      kafka::client::GroupMember::Open(cluster.options, GroupOptionsOf(*config.coordination));
  if (!member) return std::unexpected(cluster.hidden.Hide(std::move(member).error()));
  return std::make_unique<Coordination>(*config.coordination, cluster.hidden, *std::move(member));
}

Coordination::Coordination(CoordinationConfig config, HiddenValues hidden,
                           std::unique_ptr<kafka::client::GroupMember> member)
    : config_(std::move(config)), hidden_(std::move(hidden)), member_(std::move(member)) {}

Coordination::~Coordination() {
  Stop();
}

void Coordination::Begin(std::function<void()> on_change) {
  on_change_ = std::move(on_change);
  thread_ = std::jthread([this](const std::stop_token& stop) { Run(stop); });
}

void Coordination::Stop() {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  thread_.join();
}

kafka::PartitionId Coordination::PartOf(std::string_view pipeline) {
  return kafka::PartitionOfKey(pipeline, kCoordinationParts);
}

bool Coordination::Owns(std::string_view pipeline) const {
  return member_->Holds(PartOf(pipeline));
}

kafka::client::GroupStanding Coordination::standing() const {
  auto standing = member_->standing();
  standing.why_not = hidden_.Hide(std::move(standing.why_not));
  return standing;
}

void Coordination::Run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    const auto change = member_->Serve(kServe);
    LogStanding();
    if (!change.is_empty()) on_change_();
  }
  if (!member_->PutDown().is_empty()) on_change_();
  member_->Leave(kLeaveMax);
}

void Coordination::LogStanding() {
  const auto now = standing();
  if (now.is_member) {
    if (!was_member_)
      Log(LogLevel::kInfo, fmt::format("coordination: a member of group={}", config_.group));
    logged_reason_.clear();
  } else if (was_member_) {
    Log(LogLevel::kWarning,
        fmt::format("coordination: no member of group={} any more, so nothing is reported here",
                    config_.group));
  }
  was_member_ = now.is_member;
  if (now.is_member || now.why_not.empty() || now.why_not == logged_reason_) return;
  logged_reason_ = now.why_not;
  Log(LogLevel::kWarning, fmt::format("coordination: group={}: {}", config_.group, logged_reason_));
}

}  // namespace tidemark::app
