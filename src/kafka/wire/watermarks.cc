#include <algorithm>
#include <utility>
#include <vector>

#include "kafka/wire/asker_internal.h"
#include "kafka/wire/offset_question_internal.h"

namespace tidemark::kafka::wire {

/// One AskWatermarks(): all ends of all partitions.
class WireAsker::LogEnds final : public OffsetQuestion::Listener {
 public:
  LogEnds(IsolationLevel isolation, std::span<WatermarkTarget> targets) : targets_(targets) {
    ends_.push_back(LogEnd::kHigh);
    if (isolation == IsolationLevel::kReadCommitted) ends_.push_back(LogEnd::kStable);
    ends_.push_back(LogEnd::kStart);
  }

  std::optional<WallTime> Run(WireAsker& asker, Milliseconds limit, const Budget& budget) {
    std::vector<OffsetQuestion::Step> steps;
    for (const LogEnd end : ends_) {
      const int64_t timestamp =
          end == LogEnd::kStart ? ListOffsetsRequest::kEarliest : ListOffsetsRequest::kLatest;
      steps.push_back({.is_read_committed = end == LogEnd::kStable,
                       .timestamp_of = [timestamp](size_t) { return timestamp; }});
    }
    std::vector<OffsetQuestion::Item> items;
    items.reserve(targets_.size());
    for (const WatermarkTarget& target : targets_) {
      items.push_back({.partition = &target.facts->partition, .place = target.place});
    }
    OffsetQuestion(asker, *this, steps).Run(std::move(items), limit, budget);
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

/// One AskOffsetsAt().
class WireAsker::TimeLookUp final : public OffsetQuestion::Listener {
 public:
  explicit TimeLookUp(std::span<TimeTarget> targets) : targets_(targets) {}

  void Run(WireAsker& asker, Milliseconds limit, const Budget& budget) {
    const std::vector<OffsetQuestion::Step> steps = {
        {.timestamp_of = [this](size_t item) { return targets_[item].time_ms; }}};
    std::vector<OffsetQuestion::Item> items;
    items.reserve(targets_.size());
    for (const TimeTarget& target : targets_) {
      items.push_back({.partition = &target.facts->partition, .place = target.place});
    }
    OffsetQuestion(asker, *this, steps).Run(std::move(items), limit, budget);
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
  return LogEnds(isolation, targets).Run(*this, patience, budget);
}

void WireAsker::AskOffsetsAt(std::span<TimeTarget> targets, Milliseconds patience,
                             const Budget& budget) {
  TimeLookUp(targets).Run(*this, patience, budget);
}

}  // namespace tidemark::kafka::wire
