#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "kafka/wire/leader_question_internal.h"

namespace tidemark::kafka::wire {

namespace {

// A question of so many partitions is about a quarter of a megabyte.
constexpr size_t kPartitionsPerRequest = 5'000;

}  // namespace

template <class Request>
WireAsker::LeaderQuestion<Request>::LeaderQuestion(WireAsker& asker, Listener& listener,
                                                   const std::vector<Step>& steps)
    : asker_(asker),
      listener_(listener),
      steps_(steps),
      question_(asker.connections_.NextQuestion()) {}

template <class Request>
void WireAsker::LeaderQuestion<Request>::Run(std::vector<Item> items, Milliseconds limit,
                                             const Budget& budget) {
  Patience patience(limit, budget);
  patience_ = &patience;
  items_ = std::move(items);
  order_.resize(items_.size());
  std::iota(order_.begin(), order_.end(), size_t{0});
  const auto leader_of = [&](size_t item) { return items_[item].place.leader; };
  std::ranges::stable_sort(order_, {}, leader_of);
  for (size_t begin = 0; begin < order_.size();) {
    size_t end = begin;
    while (end < order_.size() && leader_of(order_[end]) == leader_of(order_[begin])) ++end;
    Begin(Part(order_).subspan(begin, end - begin));
    begin = end;
  }
  while (waiting_ > 0 && !patience.is_over()) asker_.connections_.Drive(patience.Slice());
}

template <class Request>
void WireAsker::LeaderQuestion<Request>::Begin(Part part) {
  const BrokerAddress* address = asker_.AddressOf(items_[part.front()].place.leader);
  if (address == nullptr) {
    return BlameAll(part, {ProbeFault::kBrokerUnreachable, true},
                    "the leader is not among the cluster's brokers");
  }
  ++waiting_;
  Connection* connection = &asker_.connections_.To(*address);
  connection->WhenReady(question_, [this, connection, part] {
    --waiting_;
    if (connection->is_closed()) return Lose(*connection, part);
    for (size_t begin = 0; begin < part.size(); begin += kPartitionsPerRequest) {
      const size_t count = std::min(kPartitionsPerRequest, part.size() - begin);
      for (const Step& step : steps_) Ask(*connection, part.subspan(begin, count), step);
    }
  });
}

template <class Request>
void WireAsker::LeaderQuestion<Request>::Ask(Connection& connection, Part part, const Step& step) {
  const auto version = connection.VersionOf(Request::kApi);
  if (!version || *version < step.version_min) {
    return BlameAll(part, {ProbeFault::kOther, false},
                    fmt::format("no version of {} that both know", Request::kApi.name));
  }
  Request request = step.request;
  for (size_t begin = 0; begin < part.size();) {
    const size_t end = EndOfTopic(part, begin);
    auto& topic = request.topics.emplace_back();
    topic.name = items_[part[begin]].partition->topic;
    topic.partitions.reserve(end - begin);
    const TopicMemory* memory = asker_.MemoryOf(items_[part[begin]].partition->topic);
    for (const size_t item : part.subspan(begin, end - begin)) {
      const PartitionId partition = items_[item].partition->partition;
      auto& asked = topic.partitions.emplace_back(step.ask(item, EpochOf(memory, partition)));
      asked.index = partition;
    }
    begin = end;
  }
  ++waiting_;
  const auto index = static_cast<size_t>(&step - steps_.data());
  connection.Ask(
      question_, request, *version,
      [this, &connection, part, index](const Result<typename Request::Response>& answer) {
        --waiting_;
        if (!answer) return Lose(connection, part);
        Take(*answer, part, index);
        patience_->Renew(std::max(std::chrono::steady_clock::now(), connection.throttled_until()));
      });
}

// Brokers answer in an order of their own.
template <class Request>
void WireAsker::LeaderQuestion<Request>::Take(const typename Request::Response& answer, Part part,
                                              size_t step) {
  std::unordered_map<std::string_view, Part> by_topic;
  for (size_t begin = 0; begin < part.size();) {
    const size_t end = EndOfTopic(part, begin);
    by_topic.emplace(items_[part[begin]].partition->topic, part.subspan(begin, end - begin));
    begin = end;
  }
  const auto partition_of = [&](size_t item) { return items_[item].partition->partition; };
  for (const auto& topic : answer.topics) {
    const auto asked = by_topic.find(topic.name);
    if (asked == by_topic.end()) continue;
    for (const auto& partition : topic.partitions) {
      const auto item = std::ranges::lower_bound(asked->second, partition.index, {}, partition_of);
      if (item == asked->second.end() || partition_of(*item) != partition.index) continue;
      if (partition.error != 0) {
        listener_.Blame(*item, FaultOf(partition.error), WordsOf(partition.error));
      } else {
        listener_.Take(*item, step, partition);
      }
    }
  }
}

template <class Request>
size_t WireAsker::LeaderQuestion<Request>::EndOfTopic(Part part, size_t begin) const {
  const std::string& topic = items_[part[begin]].partition->topic;
  size_t end = begin + 1;
  while (end < part.size() && items_[part[end]].partition->topic == topic) ++end;
  return end;
}

template <class Request>
void WireAsker::LeaderQuestion<Request>::Lose(const Connection& connection, Part part) {
  const Farewell& farewell = connection.farewell();
  asker_.TakeFarewell(farewell);
  BlameAll(part, {farewell.fault, !farewell.is_refusal()}, farewell.reason);
}

template <class Request>
void WireAsker::LeaderQuestion<Request>::BlameAll(Part part, FaultOfCode meaning,
                                                  const std::string& words) {
  for (const size_t item : part) listener_.Blame(item, meaning, words);
}

template class WireAsker::LeaderQuestion<ListOffsetsRequest>;
template class WireAsker::LeaderQuestion<OffsetForLeaderEpochRequest>;

}  // namespace tidemark::kafka::wire
