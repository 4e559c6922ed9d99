#include <algorithm>
#include <deque>
#include <vector>

#include "kafka/client/faults_internal.h"
#include "kafka/client/watermarks_internal.h"

namespace tidemark::kafka::client {

namespace {

// librdkafka's cost grows with the square of a list, a broker's with the number of requests: this
// costs the client a third of what 1,000 would.
constexpr size_t kChunkSize = 100;

struct Chunk {
  std::vector<WatermarkTarget*> targets;  // of one leader
  LogEnd end = LogEnd::kHigh;
};

Offset SpecOf(LogEnd end) {
  return end == LogEnd::kStart ? RD_KAFKA_OFFSET_SPEC_EARLIEST : RD_KAFKA_OFFSET_SPEC_LATEST;
}

class Round {
 public:
  Round(Client& client, IsolationLevel isolation, const Budget& budget)
      : client_(client), isolation_(isolation), budget_(budget), answers_(client) {}

  std::optional<WallTime> Run(std::span<WatermarkTarget> targets, Milliseconds patience) {
    Split(targets);
    MonoTime last_answer = MonoTime::max();
    while (waiting_ > 0 && !budget_.is_over() && !budget_.is_stopped()) {
      const auto event = answers_.Next(Milliseconds(20));
      const MonoTime now = std::chrono::steady_clock::now();
      if (event) {
        Take(event.get());
        last_answer = now;
      } else if (last_answer != MonoTime::max() && now - last_answer >= patience) {
        break;
      } else if (client_.watch.errors.refusal() && last_answer == MonoTime::max()) {
        break;  // a login that is refused does not get better by waiting
      }
    }
    BlameSilent(targets);
    return ends_at_;
  }

 private:
  // Chunks of one leader each, so that a silent leader spoils no other's answer.
  void Split(std::span<WatermarkTarget> targets) {
    std::vector<WatermarkTarget*> sorted;
    sorted.reserve(targets.size());
    for (WatermarkTarget& target : targets) sorted.push_back(&target);
    std::ranges::stable_sort(sorted, {}, [](const WatermarkTarget* t) { return t->place.leader; });
    for (auto begin = sorted.begin(); begin != sorted.end();) {
      auto end = begin;
      while (end != sorted.end() && (*end)->place.leader == (*begin)->place.leader &&
             static_cast<size_t>(end - begin) < kChunkSize) {
        ++end;
      }
      Send({.targets = {begin, end}, .end = LogEnd::kHigh});
      begin = end;
    }
  }

  void Send(Chunk chunk) {
    const Owned<rd_kafka_topic_partition_list_t> list(
        rd_kafka_topic_partition_list_new(static_cast<int>(chunk.targets.size())));
    for (const WatermarkTarget* target : chunk.targets) {
      const TopicPartition& partition = target->facts->partition;
      rd_kafka_topic_partition_list_add(list.get(), partition.topic.c_str(), partition.partition)
          ->offset = SpecOf(chunk.end);
    }
    const auto options = AdminOptions(client_, RD_KAFKA_ADMIN_OP_LISTOFFSETS, budget_.Remaining());
    const bool is_stable = chunk.end == LogEnd::kStable;
    const Owned<rd_kafka_error_t> refused(rd_kafka_AdminOptions_set_isolation_level(
        options.get(), is_stable ? RD_KAFKA_ISOLATION_LEVEL_READ_COMMITTED
                                 : RD_KAFKA_ISOLATION_LEVEL_READ_UNCOMMITTED));
    Chunk& kept = chunks_.emplace_back(std::move(chunk));
    rd_kafka_AdminOptions_set_opaque(options.get(), &kept);
    rd_kafka_ListOffsets(client_.handle.get(), list.get(), options.get(), answers_.get());
    ++waiting_;
  }

  void Take(rd_kafka_event_t* event) {
    --waiting_;
    Chunk& chunk = *static_cast<Chunk*>(rd_kafka_event_opaque(event));
    const rd_kafka_resp_err_t error = rd_kafka_event_error(event);
    size_t count = 0;
    const auto* result = rd_kafka_event_ListOffsets_result(event);
    const auto* infos = result ? rd_kafka_ListOffsets_result_infos(result, &count) : nullptr;
    // After an error of the whole request nothing in it can be trusted.
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR || count != chunk.targets.size()) {
      TakeFailure(chunk, error == RD_KAFKA_RESP_ERR_NO_ERROR ? RD_KAFKA_RESP_ERR__FAIL : error);
      return;
    }
    std::vector<WatermarkTarget*> good;
    good.reserve(count);
    for (size_t i = 0; i < count; ++i) {
      if (TakeOne(rd_kafka_ListOffsetsResultInfo_topic_partition(infos[i]), chunk.end,
                  chunk.targets[i])) {
        good.push_back(chunk.targets[i]);
      }
    }
    if (chunk.end != LogEnd::kStart) {
      ends_at_ = std::chrono::time_point_cast<Milliseconds>(std::chrono::system_clock::now());
    }
    if (!good.empty() && chunk.end != LogEnd::kStart) {
      Send({.targets = std::move(good), .end = NextEnd(chunk.end)});
    }
  }

  // Who has said nothing, good or bad.
  void BlameSilent(std::span<WatermarkTarget> targets) const {
    for (WatermarkTarget& target : targets) {
      if (target.outcome != WatermarkTarget::Outcome::kSilent) continue;
      SilenceReason silence = SilenceOf(client_.watch.errors, *target.place.address);
      target.outcome = WatermarkTarget::Outcome::kAgain;
      target.facts->fault = silence.fault;
      target.facts->fault_message = std::move(silence.message);
    }
  }

  LogEnd NextEnd(LogEnd end) const {
    const bool asks_stable = isolation_ == IsolationLevel::kReadCommitted && end == LogEnd::kHigh;
    return asks_stable ? LogEnd::kStable : LogEnd::kStart;
  }

  // A partition the brokers choke on is found by halving; passing faults are asked again later.
  void TakeFailure(const Chunk& chunk, rd_kafka_resp_err_t error) {
    const FaultOfCode meaning = FaultOf(error);
    if (!meaning.is_passing && chunk.targets.size() > 1) {
      const auto middle =
          chunk.targets.begin() + static_cast<std::ptrdiff_t>(chunk.targets.size() / 2);
      Send({.targets = {chunk.targets.begin(), middle}, .end = chunk.end});
      Send({.targets = {middle, chunk.targets.end()}, .end = chunk.end});
      return;
    }
    // Of a silent leader the connection has more to say than the request.
    if (meaning.fault == ProbeFault::kTimeout) return;
    for (WatermarkTarget* target : chunk.targets) Blame(target, meaning, WordsOf(error));
  }

  // Whether the partition has answered this step.
  bool TakeOne(const rd_kafka_topic_partition_t* answer, LogEnd end, WatermarkTarget* target) {
    if (answer->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
      Blame(target, FaultOf(answer->err), WordsOf(answer->err));
      return false;
    }
    // Without an error but also without an offset: its leader's part of the answer is missing.
    if (answer->offset < 0 || answer->partition != target->facts->partition.partition) {
      return false;
    }
    TakeOffset(end, answer->offset, target);
    return true;
  }

  static void Blame(WatermarkTarget* target, FaultOfCode meaning, std::string words) {
    target->outcome =
        meaning.is_passing ? WatermarkTarget::Outcome::kAgain : WatermarkTarget::Outcome::kFault;
    target->facts->fault = meaning.fault;
    target->facts->fault_message = std::move(words);
  }

  Client& client_;
  IsolationLevel isolation_;
  const Budget& budget_;
  std::deque<Chunk> chunks_;  // stays put: requests under way point into it
  AnswerQueue answers_;
  size_t waiting_ = 0;
  std::optional<WallTime> ends_at_;
};

}  // namespace

std::optional<WallTime> AskWatermarks(Client& client, IsolationLevel isolation,
                                      std::span<WatermarkTarget> targets, Milliseconds patience,
                                      const Budget& budget) {
  return Round(client, isolation, budget).Run(targets, patience);
}

}  // namespace tidemark::kafka::client
