#include <fmt/core.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "kafka/wire/asker_internal.h"
#include "kafka/wire/leader_question_internal.h"

namespace tidemark::kafka::wire {

/// One AskWatermarks(): all ends of all partitions.
class WireAsker::LogEnds final : public LeaderQuestion<ListOffsetsRequest>::Listener {
  using Question = LeaderQuestion<ListOffsetsRequest>;

 public:
  LogEnds(IsolationLevel isolation, std::span<WatermarkTarget> targets) : targets_(targets) {
    ends_.push_back(LogEnd::kHigh);
    if (isolation == IsolationLevel::kReadCommitted) ends_.push_back(LogEnd::kStable);
    ends_.push_back(LogEnd::kStart);
  }

  std::optional<WallTime> Run(WireAsker& asker, Milliseconds limit, const Budget& budget) {
    std::vector<Question::Step> steps;
    for (const LogEnd end : ends_) {
      const int64_t timestamp =
          end == LogEnd::kStart ? ListOffsetsRequest::kEarliest : ListOffsetsRequest::kLatest;
      Question::Step& step = steps.emplace_back();
      step.request.is_read_committed = end == LogEnd::kStable;
      // Before version 2 there is no isolation, nor are there transactions.
      if (end == LogEnd::kStable) step.version_min = 2;
      step.ask = [timestamp](size_t, int32_t epoch) {
        return ListOffsetsRequest::Partition{.leader_epoch = epoch, .timestamp_ms = timestamp};
      };
    }
    Question(asker, *this, steps).Run(Question::ItemsOf(targets_), limit, budget);
    for (size_t i = 0; i < targets_.size(); ++i) {
      if (targets_[i].outcome != WatermarkTarget::Outcome::kSilent) continue;
      Blame(i, {ProbeFault::kTimeout, true}, SilenceWords(*targets_[i].place.address));
    }
    return taken_at_;
  }

  void Take(size_t item, size_t step, const ListOffsetsResponse::Partition& answer) override {
    const LogEnd end = ends_[step];
    if (end != LogEnd::kStart) {
      taken_at_ = std::chrono::time_point_cast<Milliseconds>(std::chrono::system_clock::now());
    }
    WatermarkTarget& target = targets_[item];
    if (target.outcome != WatermarkTarget::Outcome::kSilent) return;
    if (answer.offset >= 0 && HasFormer(*target.facts, end)) {
      if (end == LogEnd::kHigh && answer.leader_epoch >= 0)
        target.facts->leader_epoch = answer.leader_epoch;
      TakeOffset(end, answer.offset, &target);
    }
  }

  void Blame(size_t item, FaultOfCode meaning, const std::string& words) override {
    WatermarkTarget& target = targets_[item];
    if (target.outcome != WatermarkTarget::Outcome::kSilent) return;
    target.outcome =
        meaning.is_passing ? WatermarkTarget::Outcome::kAgain : WatermarkTarget::Outcome::kFault;
    target.facts->fault = meaning.fault;
    target.facts->fault_message = words;
  }

 private:
  // Whether what is asked before this end has been answered.
  bool HasFormer(const PartitionFacts& facts, LogEnd end) const {
    if (end == LogEnd::kHigh) return true;
    const bool has_stable = ends_.size() == 2 || end == LogEnd::kStable || facts.last_stable;
    return facts.high_watermark && has_stable;
  }

  std::span<WatermarkTarget> targets_;
  std::vector<LogEnd> ends_;
  std::optional<WallTime> taken_at_;
};

/// One AskOffsetsAt(), or what NameTier() asks.
class WireAsker::TimeLookUp final : public LeaderQuestion<ListOffsetsRequest>::Listener {
  using Question = LeaderQuestion<ListOffsetsRequest>;

 public:
  /// `version_min`: of ListOffsets, the first one that knows the times asked about.
  explicit TimeLookUp(std::span<TimeTarget> targets, int16_t version_min = 0)
      : targets_(targets), version_min_(version_min) {}

  void Run(WireAsker& asker, Milliseconds limit, const Budget& budget) {
    std::vector<Question::Step> steps(1);
    steps[0].version_min = version_min_;
    steps[0].ask = [this](size_t item, int32_t epoch) {
      return ListOffsetsRequest::Partition{.leader_epoch = epoch,
                                           .timestamp_ms = targets_[item].time_ms};
    };
    Question(asker, *this, steps).Run(Question::ItemsOf(targets_), limit, budget);
  }

  void Take(size_t item, size_t, const ListOffsetsResponse::Partition& answer) override {
    TimeTarget& target = targets_[item];
    target.is_answered = true;
    target.found.reset();
    if (answer.offset >= 0) {
      target.found = {.offset = answer.offset, .timestamp_ms = answer.timestamp_ms};
    }
  }

  // What is not answered says so.
  void Blame(size_t, FaultOfCode, const std::string&) override {}

 private:
  std::span<TimeTarget> targets_;
  int16_t version_min_;
};

/// One AskEpochEnds().
class WireAsker::EpochLookUp final : public LeaderQuestion<OffsetForLeaderEpochRequest>::Listener {
  using Question = LeaderQuestion<OffsetForLeaderEpochRequest>;

 public:
  explicit EpochLookUp(std::span<EpochTarget> targets) : targets_(targets) {}

  void Run(WireAsker& asker, Milliseconds limit, const Budget& budget) {
    // The leader that told the log's end, and no other one: the broker compares.
    std::vector<Question::Step> steps(1);
    steps[0].ask = [this](size_t item, int32_t epoch) {
      return OffsetForLeaderEpochRequest::Partition{
          .current_leader_epoch = targets_[item].facts->leader_epoch.value_or(epoch),
          .leader_epoch = targets_[item].epoch};
    };
    Question(asker, *this, steps).Run(Question::ItemsOf(targets_), limit, budget);
  }

  void Take(size_t item, size_t, const OffsetForLeaderEpochResponse::Partition& answer) override {
    EpochTarget& target = targets_[item];
    target.is_answered = true;
    if (answer.leader_epoch >= 0 && answer.end >= 0)
      target.held = {.epoch = answer.leader_epoch, .end = answer.end};
  }

  // A broker that does not know the request, or lets nobody ask it, will not tell later either.
  void Blame(size_t item, FaultOfCode meaning, const std::string&) override {
    if (!meaning.is_passing) targets_[item].is_answered = true;
  }

 private:
  std::span<EpochTarget> targets_;
};

std::optional<WallTime> WireAsker::AskWatermarks(IsolationLevel isolation,
                                                 std::span<WatermarkTarget> targets,
                                                 Milliseconds patience, const Budget& budget) {
  return LogEnds(isolation, targets).Run(*this, patience, budget);
}

void WireAsker::AskOffsetsAt(std::span<TimeTarget> targets, Milliseconds patience,
                             const Budget& budget) {
  TimeLookUp(targets).Run(*this, patience, budget);
}

// Only brokers that know tiered storage (KIP-405) tell where their own disk begins.
void WireAsker::NameTier(std::span<SearchTarget> targets, Milliseconds patience,
                         const Budget& budget) {
  const auto is_unread = [](const SearchTarget& target) {
    return target.fault == ProbeFault::kTimeout || target.fault == ProbeFault::kOther;
  };
  std::vector<TimeTarget> asked;
  for (const SearchTarget& target : targets) {
    const bool is_answered = target.outcome != SearchTarget::Outcome::kUndecided;
    if (!is_unread(target) || !is_answered || local_starts_.contains(target.facts->partition))
      continue;
    asked.push_back({.facts = target.facts,
                     .place = target.place,
                     .time_ms = ListOffsetsRequest::kEarliestLocal,
                     .found = std::nullopt});
  }
  TimeLookUp(asked, ListOffsetsRequest::kEarliestLocalSince).Run(*this, patience, budget);
  for (const TimeTarget& each : asked)
    if (each.found) local_starts_[each.facts->partition] = each.found->offset;
  for (SearchTarget& target : targets) {
    const auto start = local_starts_.find(target.facts->partition);
    if (!is_unread(target) || start == local_starts_.end() || start->second <= target.from)
      continue;
    target.message += fmt::format("; offsets from {} to {} lie in tiered storage", target.from,
                                  start->second - 1);
  }
}

void WireAsker::AskEpochEnds(std::span<EpochTarget> targets, Milliseconds patience,
                             const Budget& budget) {
  EpochLookUp(targets).Run(*this, patience, budget);
}

}  // namespace tidemark::kafka::wire
