#include "app/publish_run.h"

#include <numeric>
#include <utility>

#include "app/publisher_parts_internal.h"
#include "base/budget.h"
#include "base/log.h"
#include "kafka/client/group_member.h"

namespace tidemark::app {

namespace {

/// Of who shares with nobody.
class AllPartitions final : public PartitionShare {
 public:
  explicit AllPartitions(int32_t count) : count_(count) {}

  ShareChange Serve(Milliseconds limit) override {
    ShareChange change;
    if (!std::exchange(is_told_, true)) {
      change.gained.resize(static_cast<size_t>(count_));
      std::iota(change.gained.begin(), change.gained.end(), 0);
      return change;
    }
    WaitUnlessStopped(limit, {});
    return change;
  }
  void Leave() override {}

 private:
  int32_t count_;
  bool is_told_ = false;
};

/// How long the group waits for a publisher that has fallen silent: its tables wait as long.
constexpr Milliseconds kSession = std::chrono::seconds(15);
constexpr Milliseconds kLeaveTime = std::chrono::seconds(2);

/// Of who shares with the others of a group.
class GroupPartitions final : public PartitionShare {
 public:
  explicit GroupPartitions(std::unique_ptr<kafka::client::GroupMember> member)
      : member_(std::move(member)) {}

  ShareChange Serve(Milliseconds limit) override {
    auto change = member_->Serve(limit);
    const auto standing = member_->standing();
    if (standing.why_not != complaint_) {
      complaint_ = standing.why_not;
      if (!complaint_.empty())
        Log(LogLevel::kWarning, "the feed's partitions are not shared: " + complaint_);
    }
    return change;
  }
  void Leave() override {
    member_->PutDown();
    member_->Leave(kLeaveTime);
  }

 private:
  std::unique_ptr<kafka::client::GroupMember> member_;
  std::string complaint_;
};

/// Of who has to wait for the cluster before there is anything to share.
class LaterPartitions final : public PartitionShare {
 public:
  LaterPartitions(std::unique_ptr<PartitionShare> share, feed::KafkaLogOptions log,
                  HiddenValues hidden)
      : share_(std::move(share)), log_(std::move(log)), hidden_(std::move(hidden)) {}

  ShareChange Serve(Milliseconds limit) override {
    if (is_prepared_) return share_->Serve(limit);
    const auto prepared = feed::PrepareTopics(log_, Budget::For(kLookTime));
    is_prepared_ = prepared.has_value();
    if (is_prepared_) {
      Log(LogLevel::kInfo, "the feed's cluster is there");
      return {};
    }
    const std::string words = hidden_.Hide(prepared.error()).message;
    if (words != complaint_) Log(LogLevel::kError, "nothing is published: " + words);
    complaint_ = words;
    WaitUnlessStopped(limit, {});
    return {};
  }
  void Leave() override {
    if (is_prepared_) share_->Leave();
  }

 private:
  static constexpr Milliseconds kLookTime = std::chrono::seconds(3);
  std::unique_ptr<PartitionShare> share_;
  feed::KafkaLogOptions log_;
  HiddenValues hidden_;
  bool is_prepared_ = false;
  std::string complaint_;
};

Result<std::unique_ptr<PartitionShare>> ShareOf(const Config& config, bool is_once) {
  const auto& feed = *config.feed;
  // A single round takes what it needs, and gives it back by ending.
  if (is_once) return std::make_unique<AllPartitions>(feed.topics.partition_count);
  TRY_ASSIGN(auto member,
             kafka::client::GroupMember::Open(config.clusters.at(feed.cluster).options,
                                              {.group = feed.group,
                                               .topic = feed.topics.control,
                                               .partition_count = feed.topics.partition_count,
                                               .creates_topic = false,
                                               .session = kSession}));
  return std::make_unique<GroupPartitions>(std::move(member));
}

}  // namespace

feed::KafkaLogOptions LogOptionsOf(const Config& config) {
  return {.cluster = config.clusters.at(config.feed->cluster).options,
          .topics = config.feed->topics,
          .compression = config.feed->compression};
}

Result<std::unique_ptr<Publisher>> StartPublisher(const Config& config, const FreshnessEdges& edges,
                                                  const PublisherOptions& options,
                                                  AbsentCluster absent, const Budget& budget) {
  if (!config.feed) {
    return Fail(ErrorKind::kInvalidArgument,
                "the configuration has no section 'feed', which says what is published where");
  }
  const auto log = LogOptionsOf(config);
  auto prepared = feed::PrepareTopics(log, budget);
  const bool may_wait = !prepared && absent == AbsentCluster::kAwait &&
                        prepared.error().kind == ErrorKind::kUnavailable;
  if (!prepared && !may_wait)
    return std::unexpected(HiddenOf(config).Hide(std::move(prepared).error()));
  TRY_ASSIGN(auto share, ShareOf(config, options.is_once));
  if (may_wait) share = std::make_unique<LaterPartitions>(std::move(share), log, HiddenOf(config));
  return std::make_unique<Publisher>(config, feed::OpenKafkaLog(log), std::move(share), edges,
                                     options);
}

}  // namespace tidemark::app
