#include "kafka/client/group_member.h"

#include <fmt/core.h>
#include <time.h>

#include <algorithm>
#include <iterator>
#include <mutex>
#include <set>
#include <utility>

#include "kafka/client/conf_internal.h"
#include "kafka/client/faults_internal.h"
#include "kafka/client/group_topic_internal.h"

namespace tidemark::kafka::client {

namespace {

constexpr Milliseconds kServeSlice{50};
/// For looking after the topic, and between two tries of it.
constexpr Milliseconds kTopicMax{5000};
constexpr Milliseconds kTopicEvery{5000};
/// The longest a share is waited for that its holder does not put down (rebalance timeout).
constexpr Milliseconds kRebalanceMax{60'000};
/// How often the group hears of us: a tenth of the session, within these.
constexpr Milliseconds kHeartbeatMin{300};
constexpr Milliseconds kHeartbeatMax{3000};

// Numbers of the protocol's requests (kafka.apache.org/protocol: API Keys). Both are answered
// without an error only to members, and each begins the session anew.
constexpr int16_t kHeartbeat = 12;
constexpr int16_t kSyncGroup = 14;

/// Goes on while the machine is suspended, as the group's clock does.
MonoTime Now() {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return MonoTime(std::chrono::duration_cast<MonoTime::duration>(
      std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec)));
}

/// The lease with its lock; outlives the client whose threads tell it.
class SharedLease {
 public:
  explicit SharedLease(Milliseconds session) : lease_(session) {}

  template <class Action>
  auto With(Action action) const {
    const std::lock_guard lock(mutex_);
    return action(lease_);
  }

 private:
  mutable std::mutex mutex_;
  mutable GroupLease lease_;
};

rd_kafka_resp_err_t OnResponse(rd_kafka_t*, int, const char*, int32_t, int16_t request, int16_t,
                               int32_t, size_t, int64_t round_trip_us, rd_kafka_resp_err_t error,
                               void* opaque) {
  if ((request != kHeartbeat && request != kSyncGroup) || error != RD_KAFKA_RESP_ERR_NO_ERROR ||
      round_trip_us < 0)
    return RD_KAFKA_RESP_ERR_NO_ERROR;
  const MonoTime now = Now();
  // Rounded up: rather too early than too late.
  const MonoTime sent = now - std::chrono::microseconds(round_trip_us) - Milliseconds(1);
  static_cast<SharedLease*>(opaque)->With([&](GroupLease& lease) { lease.Heard(sent, now); });
  return RD_KAFKA_RESP_ERR_NO_ERROR;
}

rd_kafka_resp_err_t OnNew(rd_kafka_t* client, const rd_kafka_conf_t*, void* opaque, char*, size_t) {
  return rd_kafka_interceptor_add_on_response_received(client, "tidemark", OnResponse, opaque);
}

Properties MemberSettings(const GroupOptions& options) {
  const auto millis = [](Milliseconds duration) { return fmt::format("{}", duration.count()); };
  Properties settings = ProbeSettings();
  const Properties more = {
      {"group.id", options.group},
      {"session.timeout.ms", millis(options.session)},
      {"heartbeat.interval.ms",
       millis(std::clamp(options.session / 10, kHeartbeatMin, kHeartbeatMax))},
      {"max.poll.interval.ms", millis(std::max(kRebalanceMax, options.session))},
      {"partition.assignment.strategy", "cooperative-sticky"},
  };
  settings.insert(settings.end(), more.begin(), more.end());
  return settings;
}

struct DestroyList {
  void operator()(rd_kafka_topic_partition_list_t* it) const {
    rd_kafka_topic_partition_list_destroy(it);
  }
};

class RdKafkaGroupMember final : public GroupMember {
 public:
  RdKafkaGroupMember(ClusterOptions cluster, GroupOptions options)
      : cluster_(std::move(cluster)), options_(std::move(options)), lease_(options_.session) {}

  Status Open() {
    TRY_ASSIGN(Owned<rd_kafka_conf_t> conf,
               MakeConf(Role::kAsker, cluster_, MemberSettings(options_)));
    rd_kafka_conf_interceptor_add_on_new(conf.get(), "tidemark", OnNew, &lease_);
    rd_kafka_conf_set_events(conf.get(), RD_KAFKA_EVENT_REBALANCE);
    TRY_ASSIGN(client_.handle,
               OpenClient(Role::kAsker, std::move(conf), cluster_.properties, &client_.watch));
    queue_.reset(rd_kafka_queue_get_consumer(client_.handle.get()));
    TRY_ASSIGN(askers_.current, OpenAsker(cluster_));
    return {};
  }

  GroupChange Serve(Milliseconds limit) override {
    AnswerRevocation();
    const MonoTime end = Now() + limit;
    if (!is_subscribed_) Subscribe(std::max(limit, kTopicMax));
    for (;;) {
      ReadEvents(
          std::clamp(std::chrono::floor<Milliseconds>(end - Now()), Milliseconds(0), kServeSlice));
      GroupChange change = Difference();
      NoteStanding();
      if (!change.is_empty() || has_revocation_ || Now() >= end) return change;
    }
  }

  bool Holds(PartitionId partition) const override {
    return lease_.With([&](GroupLease& lease) { return lease.Holds(partition, Now()); });
  }

  GroupStanding standing() const override {
    if (lease_.With([](GroupLease& lease) { return lease.IsValid(Now()); })) return {true, {}};
    const std::lock_guard lock(standing_mutex_);
    return {false, why_not_};
  }

  GroupChange PutDown() override {
    is_leaving_ = true;
    lease_.With([](GroupLease& lease) { lease.TakeAll(); });
    return Difference();
  }

  void Leave(Milliseconds limit) override {
    AnswerRevocation();
    const MonoTime end = Now() + limit;
    const Owned<rd_kafka_error_t> error(
        rd_kafka_consumer_close_queue(client_.handle.get(), queue_.get()));
    while (!error && rd_kafka_consumer_closed(client_.handle.get()) == 0 && Now() < end) {
      ReadEvents(kServeSlice);
      AnswerRevocation();
    }
  }

 private:
  void Subscribe(Milliseconds limit) {
    if (Now() < subscribe_at_) return;
    subscribe_at_ = Now() + kTopicEvery;
    const Status ensured = EnsureGroupTopic(askers_, cluster_, options_, Budget::For(limit));
    if (!ensured) {
      words_ = ensured.error().message;
      return;
    }
    const std::unique_ptr<rd_kafka_topic_partition_list_t, DestroyList> topics(
        rd_kafka_topic_partition_list_new(1));
    rd_kafka_topic_partition_list_add(topics.get(), options_.topic.c_str(), RD_KAFKA_PARTITION_UA);
    const auto code = rd_kafka_subscribe(client_.handle.get(), topics.get());
    is_subscribed_ = code == RD_KAFKA_RESP_ERR_NO_ERROR;
    words_ = is_subscribed_ ? "" : rd_kafka_err2str(code);
  }

  /// All there are, or up to a revocation.
  void ReadEvents(Milliseconds limit) {
    client_.Poll();
    for (Milliseconds wait = limit; !has_revocation_; wait = Milliseconds(0)) {
      const Owned<rd_kafka_event_t> event(
          rd_kafka_queue_poll(queue_.get(), static_cast<int>(wait.count())));
      if (!event) {
        lease_.With([](GroupLease& lease) { lease.Read(Now()); });
        return;
      }
      Take(event.get());
    }
  }

  void Take(rd_kafka_event_t* event) {
    const rd_kafka_resp_err_t code = rd_kafka_event_error(event);
    if (rd_kafka_event_type(event) != RD_KAFKA_EVENT_REBALANCE) {
      if (code == RD_KAFKA_RESP_ERR_NO_ERROR) return;
      words_ = rd_kafka_event_error_string(event);
      const bool is_topic_gone = code == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART ||
                                 code == RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC;
      if (is_topic_gone) is_subscribed_ = false;
      return;
    }
    const auto partitions = PartitionsOf(rd_kafka_event_topic_partition_list(event));
    if (code != RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS) {
      lease_.With([&](GroupLease& lease) { lease.Take(partitions); });
      has_revocation_ = true;
      return;
    }
    Answer(rd_kafka_incremental_assign);
    if (!is_leaving_) lease_.With([&](GroupLease& lease) { lease.Give(partitions); });
  }

  std::vector<PartitionId> PartitionsOf(const rd_kafka_topic_partition_list_t* list) const {
    std::vector<PartitionId> partitions;
    for (int i = 0; list != nullptr && i < list->cnt; ++i) {
      const auto& each = list->elems[i];
      if (each.topic == options_.topic && each.partition < options_.partition_count)
        partitions.push_back(each.partition);
    }
    return partitions;
  }

  void AnswerRevocation() {
    if (!std::exchange(has_revocation_, false)) return;
    Answer(rd_kafka_incremental_unassign);
  }

  /// Tells librdkafka to go on. Membership is all we want: of what the group gives or takes nothing
  /// is ever assigned to the client, so it neither looks for offsets nor fetches.
  void Answer(rd_kafka_error_t* (*call)(rd_kafka_t*, const rd_kafka_topic_partition_list_t*)) {
    const std::unique_ptr<rd_kafka_topic_partition_list_t, DestroyList> nothing(
        rd_kafka_topic_partition_list_new(0));
    const Owned<rd_kafka_error_t> error(call(client_.handle.get(), nothing.get()));
    if (error) words_ = rd_kafka_error_string(error.get());
  }

  GroupChange Difference() {
    std::vector<PartitionId> now = lease_.With([](GroupLease& lease) { return lease.Held(Now()); });
    GroupChange change;
    std::ranges::set_difference(now, told_, std::back_inserter(change.gained));
    std::ranges::set_difference(told_, now, std::back_inserter(change.lost));
    told_ = std::move(now);
    return change;
  }

  void NoteStanding() {
    const bool is_member = lease_.With([](GroupLease& lease) { return lease.IsValid(Now()); });
    if (is_member) words_.clear();
    // Once: librdkafka does not repeat a complaint for half a minute, and a loss that begins while
    // the lease lasts is the reason when it ends.
    if (is_member && !was_member_) client_.watch.errors.Clear();
    was_member_ = is_member;
    std::string why_not = words_;
    const ErrorLog& errors = client_.watch.errors;
    if (why_not.empty() && !is_member && (errors.refusal() || !errors.transport().empty()))
      why_not = ClusterError(errors, cluster_).message;
    const std::lock_guard lock(standing_mutex_);
    why_not_ = std::move(why_not);
  }

  const ClusterOptions cluster_;
  const GroupOptions options_;
  SharedLease lease_;  // outlives client_
  Client client_;
  Owned<rd_kafka_queue_t> queue_;  // goes before client_
  Askers askers_;

  // Of the serving thread.
  bool is_subscribed_ = false;
  bool has_revocation_ = false;
  bool is_leaving_ = false;
  bool was_member_ = false;
  MonoTime subscribe_at_ = MonoTime::min();
  std::vector<PartitionId> told_;
  std::string words_;

  mutable std::mutex standing_mutex_;
  std::string why_not_;  // guarded by standing_mutex_
};

/// Whether the brokers would let us join.
GroupCheck::Join JoinOf(Client& client, const GroupOptions& options, const Budget& budget,
                        std::string& words) {
  const auto how =
      AdminOptions(client, RD_KAFKA_ADMIN_OP_DESCRIBECONSUMERGROUPS, budget.Remaining());
  rd_kafka_error_destroy(rd_kafka_AdminOptions_set_include_authorized_operations(how.get(), 1));
  const AnswerQueue answers(client);
  const char* groups[] = {options.group.c_str()};
  rd_kafka_DescribeConsumerGroups(client.handle.get(), groups, 1, how.get(), answers.get());
  const Owned<rd_kafka_event_t> event = answers.Next(budget.Remaining());
  if (!event || rd_kafka_event_error(event.get()) != RD_KAFKA_RESP_ERR_NO_ERROR)
    return GroupCheck::Join::kNotKnown;
  size_t count = 0;
  const auto* result = rd_kafka_event_DescribeConsumerGroups_result(event.get());
  const auto* described = rd_kafka_DescribeConsumerGroups_result_groups(result, &count);
  if (count != 1) return GroupCheck::Join::kNotKnown;
  if (const auto* error = rd_kafka_ConsumerGroupDescription_error(described[0])) {
    if (rd_kafka_error_code(error) != RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED)
      return GroupCheck::Join::kNotKnown;
    words = rd_kafka_error_string(error);
    return GroupCheck::Join::kRefused;
  }
  size_t rights = 0;
  const auto* may = rd_kafka_ConsumerGroupDescription_authorized_operations(described[0], &rights);
  if (may == nullptr || rights == 0) return GroupCheck::Join::kNotKnown;
  if (std::find(may, may + rights, RD_KAFKA_ACL_OPERATION_READ) != may + rights)
    return GroupCheck::Join::kPermitted;
  words = "DESCRIBE is there, and READ is not";
  return GroupCheck::Join::kRefused;
}

}  // namespace

Result<std::unique_ptr<GroupMember>> GroupMember::Open(const ClusterOptions& cluster,
                                                       const GroupOptions& options) {
  auto member = std::make_unique<RdKafkaGroupMember>(cluster, options);
  TRY(member->Open());
  return member;
}

Result<GroupCheck> CheckGroup(const ClusterOptions& cluster, const GroupOptions& options,
                              const Budget& budget) {
  Askers askers;
  TRY_ASSIGN(askers.current, OpenAsker(cluster));
  TRY_ASSIGN(const TopicFacts facts, DescribeGroupTopic(askers, cluster, options, budget));
  GroupCheck check;
  check.partition_count = facts.partition_count;
  if (facts.exists) {
    check.topic = facts.partition_count >= options.partition_count ? GroupCheck::Topic::kFits
                                                                   : GroupCheck::Topic::kTooSmall;
  } else if (facts.fault == ProbeFault::kTopicDenied) {
    check.topic = GroupCheck::Topic::kNotPermitted;
    check.words = facts.fault_message;
  } else if (facts.fault != ProbeFault::kTopicMissing) {
    return Fail(ErrorKind::kUnavailable,
                fmt::format("topic={}: {}", options.topic, facts.fault_message));
  } else {
    const Status tried =
        options.creates_topic
            ? CreateGroupTopic(*askers.current, options, TopicCreation::kOnlyTry, budget)
            : Status(Fail(ErrorKind::kNotFound, "creating it is switched off"));
    check.topic = tried ? GroupCheck::Topic::kAbsent : GroupCheck::Topic::kNotPermitted;
    if (!tried) check.words = tried.error().message;
  }
  check.join = JoinOf(*askers.current, options, budget, check.words);
  return check;
}

}  // namespace tidemark::kafka::client
