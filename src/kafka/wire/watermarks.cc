#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "kafka/wire/asker_internal.h"

namespace tidemark::kafka::wire {

namespace {

// A question of so many partitions is about a quarter of a megabyte.
constexpr size_t kPartitionsPerRequest = 5'000;

int64_t TimestampOf(LogEnd end) {
  return end == LogEnd::kStart ? ListOffsetsRequest::kEarliest : ListOffsetsRequest::kLatest;
}

void Blame(WatermarkTarget* target, FaultOfCode meaning, std::string words) {
  target->outcome =
      meaning.is_passing ? WatermarkTarget::Outcome::kAgain : WatermarkTarget::Outcome::kFault;
  target->facts->fault = meaning.fault;
  target->facts->fault_message = std::move(words);
}

/// The partitions of one request, found again in its answer, which comes in the same order.
class Asked {
 public:
  explicit Asked(std::span<WatermarkTarget* const> targets) : targets_(targets) {}

  WatermarkTarget* Find(std::string_view topic, int32_t partition) {
    for (size_t tries = 0; tries < targets_.size(); ++tries) {
      WatermarkTarget* target = targets_[next_];
      next_ = (next_ + 1) % targets_.size();
      const TopicPartition& place = target->facts->partition;
      if (place.partition == partition && place.topic == topic) return target;
    }
    return nullptr;
  }

 private:
  std::span<WatermarkTarget* const> targets_;
  size_t next_ = 0;
};

}  // namespace

/// One AskWatermarks(): every leader is asked for all ends at once. A broker answers the requests
/// of a connection one after the other, so what was sent first was also looked at first.
class WireAsker::LogEnds {
 public:
  LogEnds(WireAsker& asker, IsolationLevel isolation)
      : asker_(asker), question_(asker.connections_.NextQuestion()) {
    ends_.push_back(LogEnd::kHigh);
    if (isolation == IsolationLevel::kReadCommitted) ends_.push_back(LogEnd::kStable);
    ends_.push_back(LogEnd::kStart);
  }
  LogEnds(const LogEnds&) = delete;
  LogEnds& operator=(const LogEnds&) = delete;
  ~LogEnds() { asker_.connections_.Abandon(question_); }

  std::optional<WallTime> Run(std::span<WatermarkTarget> targets, Milliseconds limit,
                              const Budget& budget) {
    Patience patience(limit, budget);
    patience_ = &patience;
    for (WatermarkTarget& target : targets) sorted_.push_back(&target);
    std::ranges::stable_sort(sorted_, {}, [](const auto* target) { return target->place.leader; });
    for (size_t begin = 0; begin < sorted_.size();) {
      size_t end = begin;
      while (end < sorted_.size() && sorted_[end]->place.leader == sorted_[begin]->place.leader) {
        ++end;
      }
      Begin(std::span(sorted_).subspan(begin, end - begin));
      begin = end;
    }
    while (waiting_ > 0 && !patience.is_over()) asker_.connections_.Drive(patience.Slice());
    for (WatermarkTarget& target : targets) {
      if (target.outcome != WatermarkTarget::Outcome::kSilent) continue;
      Blame(&target, {ProbeFault::kTimeout, true}, SilenceWords(*target.place.address));
    }
    return taken_at_;
  }

 private:
  using Targets = std::span<WatermarkTarget* const>;

  void Begin(Targets targets) {
    const BrokerAddress* address = asker_.AddressOf(targets.front()->place.leader);
    if (address == nullptr) {
      return BlameAll(targets, {ProbeFault::kBrokerUnreachable, true},
                      "the leader is not among the cluster's brokers");
    }
    ++waiting_;
    Connection* connection = &asker_.connections_.To(*address);
    connection->WhenReady(question_, [this, connection, targets] {
      --waiting_;
      if (connection->is_closed()) return Lost(*connection, targets);
      for (size_t begin = 0; begin < targets.size(); begin += kPartitionsPerRequest) {
        const size_t count = std::min(kPartitionsPerRequest, targets.size() - begin);
        for (const LogEnd end : ends_) Ask(*connection, targets.subspan(begin, count), end);
      }
    });
  }

  void Ask(Connection& connection, Targets targets, LogEnd end) {
    const auto version = connection.VersionOf(ListOffsetsRequest::kApi);
    // Before version 2 there is no isolation, nor are there transactions.
    if (!version || (end == LogEnd::kStable && *version < 2)) {
      return BlameAll(targets, {ProbeFault::kOther, false},
                      "no version of ListOffsets that both know");
    }
    ListOffsetsRequest request;
    request.is_read_committed = end == LogEnd::kStable;
    for (const WatermarkTarget* target : targets) {
      const TopicPartition& place = target->facts->partition;
      if (request.topics.empty() || request.topics.back().name != place.topic) {
        request.topics.push_back({.name = place.topic, .partitions = {}});
      }
      request.topics.back().partitions.push_back({.index = place.partition,
                                                  .leader_epoch = asker_.EpochOf(place),
                                                  .timestamp_ms = TimestampOf(end)});
    }
    ++waiting_;
    connection.Ask(question_, request, *version,
                   [this, &connection, targets, end](const Result<ListOffsetsResponse>& answer) {
                     --waiting_;
                     if (!answer) return Lost(connection, targets);
                     Take(*answer, targets, end);
                     patience_->Renew(
                         std::max(std::chrono::steady_clock::now(), connection.throttled_until()));
                   });
  }

  void Take(const ListOffsetsResponse& answer, Targets targets, LogEnd end) {
    if (end != LogEnd::kStart) {
      taken_at_ = std::chrono::time_point_cast<Milliseconds>(std::chrono::system_clock::now());
    }
    Asked asked(targets);
    for (const auto& topic : answer.topics) {
      for (const auto& partition : topic.partitions) {
        WatermarkTarget* target = asked.Find(topic.name, partition.index);
        if (target == nullptr || target->outcome != WatermarkTarget::Outcome::kSilent) continue;
        if (partition.error != 0) {
          Blame(target, FaultOf(partition.error), WordsOf(partition.error));
        } else if (partition.offset >= 0 && HasFormer(*target->facts, end)) {
          TakeOffset(end, partition.offset, target);
        }
      }
    }
  }

  // Whether what is asked before this end has been answered.
  bool HasFormer(const PartitionFacts& facts, LogEnd end) const {
    if (end == LogEnd::kHigh) return true;
    const bool has_stable = ends_.size() == 2 || end == LogEnd::kStable || facts.last_stable;
    return facts.high_watermark && has_stable;
  }

  void Lost(const Connection& connection, Targets targets) {
    const Farewell& farewell = connection.farewell();
    asker_.TakeFarewell(farewell);
    BlameAll(targets, {farewell.fault, !farewell.is_refusal()}, farewell.reason);
  }

  static void BlameAll(Targets targets, FaultOfCode meaning, const std::string& words) {
    for (WatermarkTarget* target : targets) {
      if (target->outcome == WatermarkTarget::Outcome::kSilent) Blame(target, meaning, words);
    }
  }

  WireAsker& asker_;
  QuestionId question_;
  std::vector<LogEnd> ends_;
  std::vector<WatermarkTarget*> sorted_;  // by leader; spans of it are under way
  size_t waiting_ = 0;                    // answers, and connections that are not ready
  Patience* patience_ = nullptr;
  std::optional<WallTime> taken_at_;
};

std::optional<WallTime> WireAsker::AskWatermarks(IsolationLevel isolation,
                                                 std::span<WatermarkTarget> targets,
                                                 Milliseconds patience, const Budget& budget) {
  for (WatermarkTarget& target : targets) {
    target.outcome = WatermarkTarget::Outcome::kSilent;
    target.facts->high_watermark.reset();
    target.facts->last_stable.reset();
    target.facts->log_start.reset();
  }
  return LogEnds(*this, isolation).Run(targets, patience, budget);
}

}  // namespace tidemark::kafka::wire
