#include "freshness/memory.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "freshness/age_internal.h"

namespace tidemark::freshness {

namespace {

using Arrivals = std::vector<PipelineMemory::Arrival>;
using kafka::PartitionFacts;

/// Times that were stored may be any int64.
Milliseconds Plus(Milliseconds a, Milliseconds b) {
  return Milliseconds(SaturatingAdd(a.count(), b.count()));
}
WallTime Plus(WallTime time, Milliseconds by) {
  return WallTimeFromMillis(SaturatingAdd(MillisOf(time), by.count()));
}

/// Takes out the sighting whose loss makes the least difference to an age, measured as a share of
/// it. The newest stays (it bounds what comes next), and the two oldest: the record that waits now
/// came between them.
void ThinOut(Arrivals& arrivals, WallTime now) {
  constexpr size_t kFirst = 2;
  size_t least = kFirst;
  double least_share = 0;
  for (size_t i = kFirst; i + 1 < arrivals.size(); ++i) {
    const auto error = static_cast<double>((arrivals[i].seen_at - arrivals[i - 1].seen_at).count());
    const auto age = static_cast<double>((now - arrivals[i].seen_at).count());
    const double share = error / (age + 1);
    if (i == kFirst || share < least_share) {
      least = i;
      least_share = share;
    }
  }
  arrivals.erase(arrivals.begin() + static_cast<std::ptrdiff_t>(least));
}

/// Adds the sighting of `end`, asked for at `now` and told at `told`: what lies behind it came
/// after the one, and what lies before it was there by the other. The list stays ascending in end
/// and now.
void Sight(Arrivals& arrivals, kafka::Offset end, std::optional<kafka::Offset> committed,
           WallTime now, WallTime told) {
  // Our clock was set back, or the log was cut: those say nothing any more.
  std::erase_if(arrivals, [&](const auto& seen) { return seen.seen_at > now || seen.end > end; });
  if (!arrivals.empty() && arrivals.back().end == end) {
    PipelineMemory::Arrival& last = arrivals.back();
    last.seen_for = Plus(last.seen_for, TimeBetween(Plus(last.seen_at, last.clock_advance), now));
    last.seen_at = now;
    last.clock_advance = Milliseconds(0);
  } else {
    arrivals.push_back({.end = end, .seen_at = now, .seen_for = -TimeBetween(now, told)});
  }
  // Of those at or below the committed offset only the last bounds anything.
  if (committed) {
    const auto first_behind =
        std::ranges::find_if(arrivals, [&](const auto& seen) { return seen.end > *committed; });
    if (first_behind - arrivals.begin() > 1) arrivals.erase(arrivals.begin(), first_behind - 1);
  }
  while (arrivals.size() > kArrivalsMax) ThinOut(arrivals, now);
}

/// Forgets what was seen of the partitions.
template <class Predicate>
void EraseWhere(PipelineMemory& memory, Predicate is_over) {
  const auto is_of_it = [&](const auto& entry) { return is_over(entry.first); };
  std::erase_if(memory.arrivals, is_of_it);
  std::erase_if(memory.stamps, is_of_it);
  std::erase_if(memory.leaderships, is_of_it);
  std::erase_if(memory.cuts, is_of_it);
}

/// Another topic has the name: its log began after the last sighting of the former one's.
void BeginAnew(PipelineMemory& memory, const std::string& topic) {
  const auto is_of_it = [&](const auto& entry) { return entry.first.topic == topic; };
  std::erase_if(memory.stamps, is_of_it);
  std::erase_if(memory.leaderships, is_of_it);
  for (auto& entry : memory.arrivals) {
    if (!is_of_it(entry) || entry.second.empty()) continue;
    Arrivals begun = {entry.second.back()};
    begun.front().end = 0;
    begun.front().seen_for = Milliseconds(0);
    entry.second = std::move(begun);
  }
}

using Leadership = PipelineMemory::Leadership;

/// Up to where the log of a new leader, who leads in `epoch`, is the one that was seen: exactly, or
/// kSomewhere when it is another one from an offset on that cannot be told. nullopt: nothing is
/// known. Logs agree below the last record of an epoch that both hold (KIP-101).
std::optional<kafka::Offset> PartingOf(const Leadership& seen, int32_t epoch,
                                       const kafka::EpochEnd& former) {
  // Epochs never go back: the topic was made anew, and has no id to tell it.
  if (epoch < seen.epoch) return PipelineMemory::kSomewhere;
  if (!former.held) return std::nullopt;
  const kafka::EpochEnd::Held& held = *former.held;
  if (held.epoch == seen.epoch) return held.end;
  // No record of the seen leader is there. Below those were the ones of its predecessors.
  if (!seen.begin || *seen.begin == Leadership::kUntold) return std::nullopt;
  if (seen.previous == Leadership::kNothing) return *seen.begin;
  if (seen.previous == held.epoch) return std::min(held.end, *seen.begin);
  return PipelineMemory::kSomewhere;
}

/// The first sighting behind the cut says since when there was something below it; the others say
/// no more than that.
void ClampTo(kafka::Offset cut, Arrivals& arrivals) {
  const auto behind =
      std::ranges::find_if(arrivals, [&](const auto& seen) { return seen.end > cut; });
  if (behind == arrivals.end()) return;
  const bool is_needed = cut > 0 && (behind == arrivals.begin() || std::prev(behind)->end < cut);
  if (is_needed) behind->end = cut;
  arrivals.erase(is_needed ? std::next(behind) : behind, arrivals.end());
}

void Cut(PipelineMemory& memory, const kafka::TopicPartition& key, kafka::Offset parting) {
  const auto cut = memory.cuts.try_emplace(key, parting).first;
  cut->second = std::min(cut->second, parting);
  if (const auto found = memory.arrivals.find(key); found != memory.arrivals.end())
    ClampTo(parting, found->second);
  if (const auto found = memory.stamps.find(key);
      found != memory.stamps.end() && found->second.offset >= parting)
    memory.stamps.erase(found);
}

/// Where the leader's epoch begins, when that is told.
void TakeBegin(Leadership& leadership, const kafka::PartitionFacts& facts) {
  if (leadership.begin) return;
  if (leadership.epoch == 0) {
    leadership.begin = 0;
    return;
  }
  const auto& before = facts.epoch_before;
  if (!before || before->asked != leadership.epoch - 1) return;
  leadership.begin = before->held ? before->held->end : Leadership::kUntold;
  // Where it begins with the log there is nothing before it, and the leader names what was asked.
  if (before->held && before->held->end > facts.log_start.value_or(0))
    leadership.previous = before->held->epoch;
}

class Learning {
 public:
  Learning(PipelineMemory memory, const kafka::ProbeResult& probe)
      : memory_(std::move(memory)), probe_(probe) {
    for (const kafka::TopicFacts& topic : probe.topics) topics_.emplace(topic.topic, &topic);
  }

  PipelineMemory Learn(const lake::SourceCheckpoint& checkpoint) {
    Forget();
    if (memory_.checkpoint_value != checkpoint.value) {
      LeaveCheckpoint(memory_, probe_);
      memory_.checkpoint_value = checkpoint.value;
    }
    // A cluster that has none of the topics was never the checkpoint's.
    const auto exists = [](const auto& topic) { return topic.second->exists; };
    if (memory_.cluster_id.empty() && std::ranges::any_of(topics_, exists))
      memory_.cluster_id = probe_.cluster_id;
    if (IsOtherCluster()) return std::move(memory_);
    for (const auto& [name, topic] : topics_)
      if (!topic->topic_id.empty())
        memory_.topic_ids.try_emplace(std::string(name), topic->topic_id);
    for (const PartitionFacts& facts : probe_.partitions) LearnPartition(facts);
    return std::move(memory_);
  }

 private:
  bool IsOtherCluster() const {
    return !probe_.cluster_id.empty() && memory_.cluster_id != probe_.cluster_id;
  }

  bool IsKnown(const std::string& topic) const { return topics_.contains(topic); }

  void Forget() {
    std::erase_if(memory_.topic_ids, [&](const auto& entry) { return !IsKnown(entry.first); });
    EraseWhere(memory_, [&](const kafka::TopicPartition& key) { return !IsKnown(key.topic); });
  }

  bool IsReplaced(const std::string& topic) const {
    const auto known = memory_.topic_ids.find(topic);
    const auto& now = topics_.at(topic)->topic_id;
    return known != memory_.topic_ids.end() && !now.empty() && known->second != now;
  }

  /// Where records may vanish from the middle of the log, what was first need not stay it.
  std::optional<kafka::Offset> CommittedFor(const std::string& topic, kafka::Offset start) const {
    const kafka::TopicFacts& facts = *topics_.at(topic);
    if (facts.is_compacted || !facts.is_config_known) return std::nullopt;
    return start;
  }

  void LearnPartition(const PartitionFacts& facts) {
    if (!IsKnown(facts.partition.topic) || IsReplaced(facts.partition.topic)) return;
    TakeLeader(memory_, facts);
    if (facts.high_watermark && *facts.high_watermark >= 0) {
      // Records that came while others were still asked have not been seen.
      Sight(memory_.arrivals[facts.partition], *facts.high_watermark, facts.committed,
            facts.asked_at.value_or(probe_.observed_at),
            facts.answered_at.value_or(facts.asked_at.value_or(probe_.observed_at)));
    }
    const std::optional<kafka::Offset> start = facts.committed ? facts.committed : facts.log_start;
    if (facts.search == PartitionFacts::Search::kRecord && facts.first && start &&
        facts.first->offset >= *start && (!facts.log_start || *facts.log_start <= *start)) {
      memory_.stamps[facts.partition] = {.offset = facts.first->offset,
                                         .timestamp_ms = facts.first->timestamp_ms,
                                         .timestamp_type = facts.first->timestamp_type,
                                         .committed = CommittedFor(facts.partition.topic, *start)};
      return;
    }
    // Whatever was first after an older checkpoint is committed by now.
    const auto stamp = memory_.stamps.find(facts.partition);
    if (stamp != memory_.stamps.end() && start && stamp->second.offset < *start)
      memory_.stamps.erase(stamp);
  }

  PipelineMemory memory_;
  const kafka::ProbeResult& probe_;
  std::map<std::string, const kafka::TopicFacts*, std::less<>> topics_;
};

}  // namespace

PipelineMemory Remember(PipelineMemory memory, const lake::SourceCheckpoint& checkpoint,
                        const kafka::ProbeResult& probe) {
  return Learning(std::move(memory), probe).Learn(checkpoint);
}

void LeaveCheckpoint(PipelineMemory& memory, const kafka::ProbeResult& probe) {
  if (!memory.cluster_id.empty() && !probe.cluster_id.empty() &&
      memory.cluster_id != probe.cluster_id) {
    EraseWhere(memory, [](const kafka::TopicPartition&) { return true; });
    memory.topic_ids.clear();
    memory.cluster_id.clear();
  }
  for (const kafka::TopicFacts& topic : probe.topics) {
    const auto known = memory.topic_ids.find(topic.topic);
    if (known == memory.topic_ids.end() || topic.topic_id.empty()) continue;
    if (known->second != topic.topic_id) BeginAnew(memory, topic.topic);
    memory.topic_ids.erase(known);
  }
  memory.cuts.clear();
}

void TakeLeader(PipelineMemory& memory, const kafka::PartitionFacts& facts) {
  if (!facts.leader_epoch || !facts.high_watermark || *facts.high_watermark < 0) return;
  const auto found = memory.leaderships.find(facts.partition);
  Leadership now{.epoch = *facts.leader_epoch, .end = *facts.high_watermark};
  if (found != memory.leaderships.end()) {
    const Leadership& seen = found->second;
    if (seen.epoch == now.epoch) {
      now.begin = seen.begin;
      now.previous = seen.previous;
    } else {
      const auto& former = facts.former_epoch;
      // Not answered this time: who led before is kept, and asked about again.
      if (!former || former->asked != seen.epoch) return;
      if (const auto parting = PartingOf(seen, now.epoch, *former); parting && *parting < seen.end)
        Cut(memory, facts.partition, *parting);
    }
  }
  TakeBegin(now, facts);
  memory.leaderships[facts.partition] = now;
}

PipelineMemory AfterClockStep(PipelineMemory memory, Milliseconds step) {
  for (auto& [partition, arrivals] : memory.arrivals) {
    for (PipelineMemory::Arrival& arrival : arrivals) {
      // What was set forward and back again is as it was.
      const Milliseconds undone = std::clamp(-step, Milliseconds(0), arrival.clock_advance);
      if (step > Milliseconds(0)) {
        arrival.clock_advance = Plus(arrival.clock_advance, step);
      } else {
        arrival.clock_advance -= undone;
        arrival.seen_at = Plus(arrival.seen_at, step + undone);
      }
    }
  }
  return memory;
}

PipelineMemory AskedAs(PipelineMemory memory, const std::string& cluster,
                       kafka::IsolationLevel isolation) {
  if (!memory.cluster.empty() && memory.cluster != cluster) {
    PipelineMemory nothing;
    nothing.clock = std::move(memory.clock);
    memory = std::move(nothing);
  }
  if (memory.isolation != isolation) memory.stamps.clear();
  memory.cluster = cluster;
  memory.isolation = isolation;
  return memory;
}

Milliseconds ClockStepSince(const PipelineMemory& memory, const ClockReading& now) {
  if (!memory.clock || memory.clock->steady != now.steady) return Milliseconds(0);
  return now.ahead - memory.clock->ahead;
}

void FillKnown(const PipelineMemory& memory, std::vector<kafka::ProbeRequest::Topic>& topics) {
  for (kafka::ProbeRequest::Topic& topic : topics) {
    topic.wants_epochs = true;
    const auto id = memory.topic_ids.find(topic.name);
    if (id != memory.topic_ids.end()) topic.known_topic_id = id->second;
    const auto of_topic = [&](const auto& map, auto take) {
      for (auto each = map.lower_bound({topic.name, 0});
           each != map.end() && each->first.topic == topic.name; ++each)
        take(each->first.partition, each->second);
    };
    of_topic(memory.stamps, [&](kafka::PartitionId partition, const PipelineMemory::Stamp& stamp) {
      if (!stamp.committed) return;
      topic.known_firsts[partition] = {.after = *stamp.committed,
                                       .record = {.offset = stamp.offset,
                                                  .timestamp_ms = stamp.timestamp_ms,
                                                  .timestamp_type = stamp.timestamp_type}};
    });
    of_topic(memory.leaderships, [&](kafka::PartitionId partition, const Leadership& leadership) {
      topic.known_epochs[partition] = {.epoch = leadership.epoch,
                                       .is_start_known = leadership.begin.has_value()};
    });
  }
}

}  // namespace tidemark::freshness
