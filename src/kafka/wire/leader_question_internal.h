/// One kind of request to the leaders of many partitions at once.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "kafka/probe_rounds.h"
#include "kafka/wire/asker_internal.h"
#include "kafka/wire/faults_internal.h"
#include "kafka/wire/messages_internal.h"

namespace tidemark::kafka::wire {

/// Every leader gets all its requests at once. A broker answers those of one connection one after
/// the other, so what was sent first was also looked at first. Made for ListOffsetsRequest and
/// OffsetForLeaderEpochRequest.
template <class Request>
class WireAsker::LeaderQuestion {
 public:
  using Answer = typename Request::Response::Partition;
  struct Item {
    const TopicPartition* partition = nullptr;
    Place place;
  };
  /// Of targets that have facts and a place, in their order.
  template <class Target>
  static std::vector<Item> ItemsOf(std::span<Target> targets) {
    std::vector<Item> items;
    items.reserve(targets.size());
    for (const Target& target : targets)
      items.push_back({.partition = &target.facts->partition, .place = target.place});
    return items;
  }
  /// One request about all items.
  struct Step {
    Request request;          ///< without its topics
    int16_t version_min = 0;  ///< before it this cannot be asked
    /// What is asked of the item; `epoch` is its leader's by the last description, or kNoEpoch.
    std::function<typename Request::Partition(size_t item, int32_t epoch)> ask;
  };
  /// Who hears of the answers, by the index of the item.
  class Listener {
   public:
    virtual ~Listener() = default;
    /// May come more than once, and for an item that was blamed.
    virtual void Take(size_t item, size_t step, const Answer& answer) = 0;
    virtual void Blame(size_t item, FaultOfCode meaning, const std::string& words) = 0;
  };

  /// All three outlive the question.
  LeaderQuestion(WireAsker& asker, Listener& listener, const std::vector<Step>& steps);
  LeaderQuestion(const LeaderQuestion&) = delete;
  LeaderQuestion& operator=(const LeaderQuestion&) = delete;
  ~LeaderQuestion() { asker_.connections_.Abandon(question_); }

  /// Once. The items of one topic stand together, by partition. Returns when all have answered, or
  /// as Patience says; then some items were neither taken nor blamed.
  void Run(std::vector<Item> items, Milliseconds limit, const Budget& budget);

 private:
  using Part = std::span<const size_t>;  // of order_

  void Begin(Part part);
  void Ask(Connection& connection, Part part, const Step& step);
  void Take(const typename Request::Response& answer, Part part, size_t step);
  /// Where in the part the topic of its item at `begin` ends.
  size_t EndOfTopic(Part part, size_t begin) const;
  void Lose(const Connection& connection, Part part);
  void BlameAll(Part part, FaultOfCode meaning, const std::string& words);

  WireAsker& asker_;
  Listener& listener_;
  const std::vector<Step>& steps_;
  QuestionId question_;
  std::vector<Item> items_;
  std::vector<size_t> order_;  // of the items, by leader; spans of it are under way
  size_t waiting_ = 0;         // answers, and connections that are not ready
  Patience* patience_ = nullptr;
};

}  // namespace tidemark::kafka::wire
