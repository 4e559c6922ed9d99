#include <algorithm>
#include <vector>

#include "kafka/client/time_look_up_internal.h"

namespace tidemark::kafka::client {

namespace {

// As for the ends of logs: the cost grows with the square of a list.
constexpr size_t kChunkSize = 100;
constexpr Milliseconds kServeSlice{20};

using Chunk = std::span<TimeTarget* const>;  // of one leader

class LookUp {
 public:
  LookUp(Client& client, const Budget& budget)
      : client_(client), budget_(budget), answers_(client) {}

  void Run(std::span<TimeTarget> targets, Milliseconds patience) {
    for (TimeTarget& target : targets) sorted_.push_back(&target);
    std::ranges::stable_sort(sorted_, {}, [](const TimeTarget* t) { return t->place.leader; });
    chunks_.reserve(sorted_.size());  // requests under way point into it
    for (size_t begin = 0; begin < sorted_.size();) {
      size_t end = begin;
      while (end < sorted_.size() && end - begin < kChunkSize &&
             sorted_[end]->place.leader == sorted_[begin]->place.leader) {
        ++end;
      }
      Send(chunks_.emplace_back(Chunk(sorted_).subspan(begin, end - begin)));
      begin = end;
    }
    MonoTime last_answer = std::chrono::steady_clock::now();
    for (size_t waiting = chunks_.size(); waiting > 0 && !budget_.is_over();) {
      if (budget_.is_stopped()) return;
      const auto event = answers_.Next(kServeSlice);
      const MonoTime now = std::chrono::steady_clock::now();
      if (event) {
        Take(event.get());
        last_answer = now;
        --waiting;
      } else if (now - last_answer >= patience) {
        return;
      }
    }
  }

 private:
  void Send(const Chunk& chunk) {
    const Owned<rd_kafka_topic_partition_list_t> list(
        rd_kafka_topic_partition_list_new(static_cast<int>(chunk.size())));
    for (const TimeTarget* target : chunk) {
      const TopicPartition& partition = target->facts->partition;
      rd_kafka_topic_partition_list_add(list.get(), partition.topic.c_str(), partition.partition)
          ->offset = target->time_ms;
    }
    const auto options = AdminOptions(client_, RD_KAFKA_ADMIN_OP_LISTOFFSETS, budget_.Remaining());
    rd_kafka_AdminOptions_set_opaque(options.get(), const_cast<Chunk*>(&chunk));
    rd_kafka_ListOffsets(client_.handle.get(), list.get(), options.get(), answers_.get());
  }

  static void Take(rd_kafka_event_t* event) {
    const Chunk& chunk = *static_cast<Chunk*>(rd_kafka_event_opaque(event));
    size_t count = 0;
    const auto* result = rd_kafka_event_ListOffsets_result(event);
    const auto* infos = result ? rd_kafka_ListOffsets_result_infos(result, &count) : nullptr;
    // After an error of the whole request nothing in it can be trusted.
    if (rd_kafka_event_error(event) != RD_KAFKA_RESP_ERR_NO_ERROR || count != chunk.size()) return;
    for (size_t i = 0; i < count; ++i) {
      const auto* answer = rd_kafka_ListOffsetsResultInfo_topic_partition(infos[i]);
      TimeTarget& target = *chunk[i];
      const bool is_it = answer->partition == target.facts->partition.partition;
      if (!is_it || answer->err != RD_KAFKA_RESP_ERR_NO_ERROR) continue;
      target.is_answered = true;
      target.found.reset();
      if (answer->offset < 0) continue;
      target.found = {.offset = answer->offset,
                      .timestamp_ms = rd_kafka_ListOffsetsResultInfo_timestamp(infos[i])};
    }
  }

  Client& client_;
  const Budget& budget_;
  std::vector<TimeTarget*> sorted_;
  std::vector<Chunk> chunks_;
  AnswerQueue answers_;
};

}  // namespace

void AskOffsetsAt(Client& client, std::span<TimeTarget> targets, Milliseconds patience,
                  const Budget& budget) {
  LookUp(client, budget).Run(targets, patience);
}

}  // namespace tidemark::kafka::client
