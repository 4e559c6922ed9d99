#include <fmt/core.h>

#include <algorithm>

#include "kafka/wire/asker_internal.h"
#include "kafka/wire/secure_text_internal.h"

namespace tidemark::kafka::wire {

namespace {

// A broker that says nothing for this long is not waited for alone; the next is after twice as
// long.
constexpr Milliseconds kSilenceMax{500};
// How long brokers that are all down get to come back, and how often they are tried.
constexpr Milliseconds kAllDownMax{3000};
constexpr Milliseconds kRetryDelay{50};
constexpr Milliseconds kRetryDelayMax{1000};
constexpr Milliseconds kSlice{20};

MonoTime Now() {
  return std::chrono::steady_clock::now();
}

MetadataRequest RequestOf(std::span<const std::string> topics, int16_t version) {
  MetadataRequest request;
  if (version < MetadataRequest::kCreatesNothingSince) {
    if (version == 0) request.topics.emplace();
    return request;
  }
  request.topics.emplace();
  request.topics->reserve(topics.size());
  for (const std::string& topic : topics) request.topics->push_back({.id = {}, .name = topic});
  return request;
}

// In the alphabet of librdkafka, without padding; empty for none.
std::string TextOf(const TopicId& id) {
  if (id == TopicId{}) return {};
  std::string text = Base64Of({id.data(), id.size()});
  while (text.ends_with('=')) text.pop_back();
  return text;
}

DescribedTopic FromMetadata(const std::string& name, const MetadataResponse::Topic& answer,
                            TopicMemory* memory) {
  DescribedTopic topic;
  topic.facts.topic = name;
  if (answer.error != 0) {
    const ProbeFault fault = FaultOf(answer.error).fault;
    topic.facts.fault = fault == ProbeFault::kPartitionMissing ? ProbeFault::kTopicMissing : fault;
    topic.facts.fault_message = WordsOf(answer.error);
    return topic;
  }
  topic.facts.exists = true;
  topic.facts.topic_id = TextOf(answer.id);
  const size_t count = answer.partitions.size();
  topic.facts.partition_count = static_cast<int32_t>(count);
  topic.leaders.assign(count, kNoBroker);
  memory->id = answer.id;
  memory->leader_epochs.assign(count, kNoEpoch);
  for (const auto& partition : answer.partitions) {
    const auto index = static_cast<size_t>(partition.index);
    if (index >= count) continue;
    topic.leaders[index] = partition.leader < 0 ? kNoBroker : partition.leader;
    memory->leader_epochs[index] = partition.leader_epoch;
  }
  return topic;
}

}  // namespace

/// Asks one broker after the other, each a little later than the one before or as soon as that one
/// has failed, until one has answered.
class WireAsker::FirstContact {
 public:
  FirstContact(WireAsker& asker, std::span<const std::string> topics,
               std::map<int32_t, std::string>* addresses, const Budget& budget)
      : asker_(asker),
        topics_(topics),
        addresses_(addresses),
        budget_(budget),
        question_(asker.connections_.NextQuestion()) {}
  FirstContact(const FirstContact&) = delete;
  FirstContact& operator=(const FirstContact&) = delete;
  ~FirstContact() { asker_.connections_.Abandon(question_); }

  Result<std::vector<DescribedTopic>> Run() {
    for (std::vector<BrokerAddress> open = asker_.Candidates(); !answer_;) {
      if (budget_.is_stopped()) return Fail(ErrorKind::kCancelled, "stopped");
      if (budget_.is_over()) return GaveUp();
      if (!open.empty() && Now() >= next_at_) {
        const BrokerAddress address = open.front();
        open.erase(open.begin());
        Begin(address);
      } else if (open.empty() && running_ == 0 && Now() >= next_at_) {
        if (HasGivenUp()) return GaveUp();
        open = asker_.Candidates();
      }
      asker_.connections_.Drive(std::min({budget_.Remaining(), kSlice, UntilNext(!open.empty())}));
    }
    return *std::move(answer_);
  }

 private:
  Milliseconds UntilNext(bool has_next) const {
    if (!has_next && running_ > 0) return kSlice;
    return std::chrono::ceil<Milliseconds>(std::max(next_at_ - Now(), MonoTime::duration(0)));
  }

  void Begin(const BrokerAddress& address) {
    ++running_;
    next_at_ = Now() + silence_;
    silence_ *= 2;
    Connection* connection = &asker_.connections_.To(address);
    connection->WhenReady(question_, [this, connection] {
      if (connection->is_closed()) return Failed(*connection);
      Ask(*connection);
    });
  }

  void Ask(Connection& connection) {
    const auto version = connection.VersionOf(MetadataRequest::kApi);
    if (!version) {
      transport_ =
          fmt::format("{}: no version of Metadata that both know", connection.address().text());
      return OneLess();
    }
    connection.Ask(question_, RequestOf(topics_, *version), *version,
                   [this, &connection](const Result<MetadataResponse>& response) {
                     if (!response) return Failed(connection);
                     if (response->error != 0) {
                       transport_ = WordsOf(response->error);
                       return OneLess();
                     }
                     if (!answer_) answer_ = asker_.TakeMetadata(*response, topics_, addresses_);
                   });
  }

  void Failed(const Connection& connection) {
    const Farewell& farewell = connection.farewell();
    if (farewell.is_refusal()) {
      refusal_ = Refusal{.fault = farewell.fault, .reason = farewell.reason};
    } else if (!farewell.reason.empty()) {
      transport_ = farewell.reason;
    }
    OneLess();
  }

  void OneLess() {
    --running_;
    next_at_ = Now();
    if (running_ > 0) return;
    silence_ = kSilenceMax;
    // All that were tried so far: the next ones at once, the same again after a while.
    if (++failed_ < asker_.Candidates().size()) return;
    if (!down_since_) down_since_ = Now();
    next_at_ = Now() + delay_;
    delay_ = std::min(2 * delay_, kRetryDelayMax);
  }

  bool HasGivenUp() const {
    return refusal_ || (down_since_ && Now() - *down_since_ >= kAllDownMax);
  }

  std::unexpected<Error> GaveUp() {
    if (refusal_) {
      asker_.refusal_ = refusal_;
      return std::unexpected(RefusedError(asker_.options_, *refusal_));
    }
    return std::unexpected(UnansweredError(asker_.options_, transport_));
  }

  WireAsker& asker_;
  std::span<const std::string> topics_;
  std::map<int32_t, std::string>* addresses_;
  const Budget& budget_;
  QuestionId question_;
  std::optional<std::vector<DescribedTopic>> answer_;
  size_t running_ = 0;
  size_t failed_ = 0;
  MonoTime next_at_{};
  Milliseconds silence_ = kSilenceMax;
  Milliseconds delay_ = kRetryDelay;
  std::optional<MonoTime> down_since_;
  std::optional<Refusal> refusal_;
  std::string transport_;
};

Result<std::vector<DescribedTopic>> WireAsker::DescribeTopics(
    std::span<const std::string> topics, std::map<int32_t, std::string>* addresses,
    const Budget& budget) {
  connections_.Refresh();
  return FirstContact(*this, topics, addresses, budget).Run();
}

// Who is connected already, then those the user named, then those the cluster named.
std::vector<BrokerAddress> WireAsker::Candidates() const {
  std::vector<BrokerAddress> candidates;
  const auto add = [&](const BrokerAddress& address) {
    if (std::ranges::find(candidates, address) == candidates.end()) candidates.push_back(address);
  };
  for (const BrokerAddress& address : connections_.ReadyAddresses()) add(address);
  for (const BrokerAddress& address : bootstrap_) add(address);
  for (const auto& [id, address] : brokers_) add(address);
  return candidates;
}

std::vector<DescribedTopic> WireAsker::TakeMetadata(const MetadataResponse& response,
                                                    std::span<const std::string> topics,
                                                    std::map<int32_t, std::string>* addresses) {
  if (response.cluster_id) cluster_id_ = *response.cluster_id;
  brokers_.clear();
  for (const auto& broker : response.brokers) {
    if (broker.port <= 0 || broker.port > UINT16_MAX) continue;
    const BrokerAddress address{std::string(broker.host), static_cast<uint16_t>(broker.port)};
    addresses->insert_or_assign(broker.id, address.text());
    brokers_.insert_or_assign(broker.id, address);
  }
  std::unordered_map<std::string_view, const MetadataResponse::Topic*> by_name;
  for (const auto& topic : response.topics) {
    if (topic.name) by_name[*topic.name] = &topic;
  }
  std::vector<DescribedTopic> described;
  described.reserve(topics.size());
  for (const std::string& name : topics) {
    const auto found = by_name.find(name);
    if (found != by_name.end()) {
      described.push_back(FromMetadata(name, *found->second, &topics_[name]));
      continue;
    }
    DescribedTopic& topic = described.emplace_back();
    topic.facts.topic = name;
    topic.facts.fault = ProbeFault::kTopicMissing;
    topic.facts.fault_message = "the cluster does not list the topic";
  }
  return described;
}

}  // namespace tidemark::kafka::wire
