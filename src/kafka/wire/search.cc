#include <algorithm>
#include <list>

#include "kafka/wire/asker_internal.h"
#include "kafka/wire/broker_reader_internal.h"

namespace tidemark::kafka::wire {

namespace {

// Brokers begin with different topics, so that together they ask about more of them alone.
constexpr size_t kSamplesApart = 32;

// A few batches that are much larger than the others get a request of their own: to ask all
// partitions for as much would download their logs.
constexpr int64_t kAboveMeanMax = 4;

void Remember(TopicMemory* topic) {
  if (topic->seen_count == 0) return;
  const int64_t mean = topic->seen_bytes / topic->seen_count;
  topic->fetch_bytes = RoomFor(std::min(topic->seen_bytes_max, kAboveMeanMax * mean));
  topic->seen_count = topic->seen_bytes = topic->seen_bytes_max = 0;
}

}  // namespace

/// One SearchFirstRecords(): a reader for each leader.
class WireAsker::RecordSearch {
 public:
  RecordSearch(WireAsker& asker, IsolationLevel isolation) : asker_(asker) {
    context_.isolation = isolation;
    context_.question = asker.connections_.NextQuestion();
    context_.response_bytes_max = asker.settings_->response_bytes_max;
  }
  RecordSearch(const RecordSearch&) = delete;
  RecordSearch& operator=(const RecordSearch&) = delete;
  ~RecordSearch() { asker_.connections_.Abandon(context_.question); }

  void Run(std::span<SearchTarget> targets, Milliseconds limit, const Budget& budget) {
    Patience patience(limit, budget);
    context_.renew = [&](MonoTime moment) { patience.Renew(moment); };
    std::map<int32_t, std::vector<ReadItem>> by_leader;
    const std::string* name = nullptr;
    TopicMemory* topic = nullptr;
    for (SearchTarget& target : targets) {
      const TopicPartition& place = target.facts->partition;
      if (name == nullptr || *name != place.topic) topic = &asker_.topics_[place.topic];
      name = &place.topic;
      by_leader[target.place.leader].push_back({.target = &target,
                                                .topic = topic,
                                                .leader_epoch = EpochOf(topic, place.partition),
                                                .position = target.from});
    }
    std::vector<TopicMemory*> topics;
    for (const auto& [leader, items] : by_leader) {
      for (const ReadItem& item : items) {
        if (topics.empty() || topics.back() != item.topic) topics.push_back(item.topic);
      }
    }
    for (auto& [leader, items] : by_leader) Begin(leader, std::move(items));
    const auto is_done = [](const BrokerReader& reader) { return reader.is_done(); };
    while (!std::ranges::all_of(readers_, is_done) && !patience.is_over()) {
      asker_.connections_.Drive(patience.Slice());
    }
    for (const BrokerReader& reader : readers_) {
      if (reader.farewell() != nullptr) asker_.TakeFarewell(*reader.farewell());
    }
    for (TopicMemory* memory : topics) Remember(memory);
    for (SearchTarget& target : targets) {
      if (target.outcome != SearchTarget::Outcome::kUndecided) continue;
      target.fault = ProbeFault::kTimeout;
      target.message = SilenceWords(*target.place.address);
    }
  }

 private:
  void Begin(int32_t leader, std::vector<ReadItem> items) {
    const BrokerAddress* address = asker_.AddressOf(leader);
    if (address == nullptr) {
      for (const ReadItem& item : items) {
        item.target->outcome = SearchTarget::Outcome::kAgain;
        item.target->fault = ProbeFault::kBrokerUnreachable;
        item.target->message = "the leader is not among the cluster's brokers";
      }
      return;
    }
    Connection& connection = asker_.connections_.To(*address);
    readers_.emplace_back(context_, connection, std::move(items), kSamplesApart * readers_.size());
    readers_.back().Begin();
  }

  WireAsker& asker_;
  BrokerReader::Context context_;
  std::list<BrokerReader> readers_;  // stay put
};

Result<uint64_t> WireAsker::SearchFirstRecords(IsolationLevel isolation,
                                               std::span<SearchTarget> targets,
                                               Milliseconds patience, const Budget& budget) {
  if (targets.empty()) return 0;
  const uint64_t before = connections_.received_bytes();
  RecordSearch(*this, isolation).Run(targets, patience, budget);
  NameTier(targets, patience, budget);
  return connections_.received_bytes() - before;
}

}  // namespace tidemark::kafka::wire
