#include "kafka/probe_rounds.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <utility>

namespace tidemark::kafka {

namespace {

// A log whose start keeps overtaking the search is left undecided after so many tries.
constexpr int kOutOfRangeMax = 3;
constexpr Milliseconds kConfigWait{1000};
// How long silent brokers hold up what has answered; twice as long in every round.
constexpr Milliseconds kPatience{1000};
constexpr Milliseconds kRetryDelay{100};
constexpr Milliseconds kRetryDelayMax{1000};
constexpr size_t kTopicNameMax = 249;
// Where nobody says which age matters, stamps are looked for around this one first.
constexpr Milliseconds kAgeAskedDefault{3'600'000};

/// One partition on its way to being decided.
struct Work {
  PartitionFacts* facts = nullptr;
  size_t topic = 0;
  bool is_decided = false;
  int out_of_range_count = 0;
  std::optional<StampSearch> stamps{};  // of a record that is not read
};

/// What the pipeline may read up to.
Offset EndOf(const PartitionFacts& facts) {
  return facts.last_stable.value_or(*facts.high_watermark);
}
Offset StartOf(const PartitionFacts& facts) {
  return std::max(facts.committed.value_or(0), *facts.log_start);
}

/// What a round tells anew.
void ForgetLog(PartitionFacts& facts) {
  facts.high_watermark.reset();
  facts.last_stable.reset();
  facts.log_start.reset();
  facts.leader_epoch.reset();
  facts.former_epoch.reset();
  facts.epoch_before.reset();
}

Status CheckRequest(const ProbeRequest& request) {
  std::set<std::string_view> names;
  for (const ProbeRequest::Topic& topic : request.topics) {
    if (!names.insert(topic.name).second) {
      return Fail(ErrorKind::kInvalidArgument,
                  fmt::format("a topic is asked for twice topic={}", topic.name));
    }
  }
  return {};
}

DescribedTopic IllegalTopic(const std::string& name) {
  DescribedTopic topic;
  topic.facts.topic = name;
  topic.facts.fault = ProbeFault::kTopicMissing;
  topic.facts.fault_message = "not a legal topic name";
  return topic;
}

/// One call of Probe().
class Run {
 public:
  Run(ClusterAsker& asker, RecordAccess access, const ProbeRequest& request, const Budget& budget)
      : asker_(asker), access_(access), request_(request), budget_(budget) {
    for (const ProbeRequest::Topic& topic : request.topics) names_.push_back(topic.name);
  }

  Result<ProbeResult> operator()() {
    TRY_ASSIGN(Description described, Describe());
    topics_ = std::move(described.topics);
    addresses_ = std::move(described.addresses);
    asker_.AskConfigs(TopicsWithConfig(), std::min(budget_.Remaining(), kConfigWait));
    result_.observed_at =
        std::chrono::time_point_cast<Milliseconds>(std::chrono::system_clock::now());
    ListPartitions();
    TRY(DecidePartitions());
    for (DescribedTopic& topic : topics_) result_.topics.push_back(std::move(topic.facts));
    asker_.CollectConfigs(result_.topics, std::min(budget_.Remaining(), kConfigWait));
    TakeEstimates();
    result_.cluster_id = asker_.ClusterId();
    return std::move(result_);
  }

 private:
  // Of all topics, those included that are not to be asked for.
  Result<Description> Describe() {
    Description described;
    std::vector<std::string> legal;
    std::vector<size_t> places;
    for (size_t i = 0; i < names_.size(); ++i) {
      described.topics.push_back(IllegalTopic(names_[i]));
      if (!IsTopicName(names_[i])) continue;
      legal.push_back(names_[i]);
      places.push_back(i);
    }
    if (legal.empty()) return described;
    TRY_ASSIGN(auto answered, asker_.DescribeTopics(legal, &described.addresses, budget_));
    for (size_t i = 0; i < places.size(); ++i) {
      described.topics[places[i]] = std::move(answered[i]);
    }
    return described;
  }

  std::vector<std::string> TopicsWithConfig() const {
    std::vector<std::string> names;
    for (size_t i = 0; i < topics_.size(); ++i) {
      if (request_.topics[i].wants_config && topics_[i].facts.exists) names.push_back(names_[i]);
    }
    return names;
  }

  // The committed partitions and those the topic has beyond them.
  void ListPartitions() {
    for (size_t i = 0; i < topics_.size(); ++i) {
      std::map<PartitionId, std::optional<Offset>> all;
      for (PartitionId p = 0; p < topics_[i].facts.partition_count; ++p) all[p] = std::nullopt;
      for (const auto& [partition, offset] : request_.topics[i].committed) all[partition] = offset;
      for (const auto& [partition, offset] : all) {
        PartitionFacts facts;
        facts.partition = {names_[i], partition};
        facts.committed = offset;
        result_.partitions.push_back(std::move(facts));
        work_.push_back({.facts = nullptr, .topic = i, .is_decided = false});
      }
    }
    for (size_t i = 0; i < work_.size(); ++i) work_[i].facts = &result_.partitions[i];
  }

  // Whether the metadata alone rules the partition out; it may name a leader next time.
  bool HasLeader(Work* work) {
    const DescribedTopic& topic = topics_[work->topic];
    PartitionFacts& facts = *work->facts;
    const PartitionId partition = facts.partition.partition;
    const auto blame = [&](ProbeFault fault, std::string message) {
      facts.fault = fault;
      facts.fault_message = std::move(message);
    };
    if (!topic.facts.exists) {
      blame(topic.facts.fault, topic.facts.fault_message);
      work->is_decided = !FaultMayPass(topic.facts.fault);
      return false;
    }
    if (partition < 0 || partition >= topic.facts.partition_count) {
      blame(ProbeFault::kPartitionMissing,
            fmt::format("the topic has partitions={}", topic.facts.partition_count));
      work->is_decided = true;
      return false;
    }
    if (topic.leaders[static_cast<size_t>(partition)] == kNoBroker) {
      blame(ProbeFault::kNoLeader, "the partition has no leader");
      return false;
    }
    return true;
  }

  static bool FaultMayPass(ProbeFault fault) {
    return fault == ProbeFault::kNoLeader || fault == ProbeFault::kBrokerUnreachable ||
           fault == ProbeFault::kTimeout;
  }

  Status DecidePartitions() {
    for (Milliseconds delay = kRetryDelay;; delay = std::min(2 * delay, kRetryDelayMax)) {
      TRY(Round());
      if (budget_.is_stopped()) return Fail(ErrorKind::kCancelled, "stopped");
      const bool is_done = std::ranges::all_of(work_, &Work::is_decided);
      // A refused login does not pass, and was the reason for whatever is still open.
      if (is_done || budget_.is_over() || asker_.is_refused()) break;
      Budget pause = budget_;
      pause.tries_max = 2;
      pause.retry_delay = delay;
      if (!pause.WaitForTry(2)) break;
      if (auto again = Describe()) {
        TakeLeaders(*std::move(again));
        patience_ *= 2;
      } else if (again.error().kind == ErrorKind::kCancelled) {
        return std::unexpected(again.error());
      }
    }
    for (Work& work : work_) {
      if (work.is_decided || !work.facts->log_start || work.facts->first) continue;
      if (StartOf(*work.facts) < EndOf(*work.facts)) {
        work.facts->search = PartitionFacts::Search::kUndecided;
      }
    }
    return {};
  }

  // Topics keep the facts of the first answer, unless they are gone by now.
  void TakeLeaders(Description again) {
    addresses_ = std::move(again.addresses);
    for (size_t i = 0; i < topics_.size(); ++i) {
      if (!topics_[i].facts.exists) continue;
      DescribedTopic& now = again.topics[i];
      if (now.facts.fault == ProbeFault::kTopicMissing) {
        topics_[i] = std::move(now);
      } else if (now.facts.partition_count == topics_[i].facts.partition_count) {
        topics_[i].leaders = std::move(now.leaders);
      }
    }
  }

  Place PlaceOf(const Work& work) const {
    static const std::string kUnknown = "?";
    const auto partition = static_cast<size_t>(work.facts->partition.partition);
    const int32_t leader = topics_[work.topic].leaders[partition];
    const auto found = addresses_.find(leader);
    return {.topic = work.topic,
            .leader = leader,
            .address = found == addresses_.end() ? &kUnknown : &found->second};
  }

  // Asks, and searches, for all that is open.
  Status Round() {
    std::vector<WatermarkTarget> targets;
    std::vector<Work*> asked;
    for (Work& work : work_) {
      if (work.is_decided || !HasLeader(&work)) continue;
      targets.push_back({.facts = work.facts, .place = PlaceOf(work)});
      asked.push_back(&work);
    }
    const auto asked_at =
        std::chrono::time_point_cast<Milliseconds>(std::chrono::system_clock::now());
    for (const WatermarkTarget& target : targets) ForgetLog(*target.facts);
    const auto taken_at = asker_.AskWatermarks(request_.isolation, targets, patience_, budget_);
    if (taken_at) result_.observed_at = *taken_at;
    AskFormerEpochs(targets);
    AskEpochsBefore(targets);
    std::vector<Work*> lagging;
    std::vector<Work*> blocked;
    for (size_t i = 0; i < targets.size(); ++i) {
      if (targets[i].outcome == WatermarkTarget::Outcome::kFault) asked[i]->is_decided = true;
      if (targets[i].outcome != WatermarkTarget::Outcome::kAnswered) continue;
      PartitionFacts& facts = *asked[i]->facts;
      facts.asked_at = asked_at;
      facts.answered_at = taken_at;
      facts.search = PartitionFacts::Search::kNotSearched;  // of this round
      if (const FirstRecord* known = KnownFirstOf(*asked[i])) {
        facts.search = PartitionFacts::Search::kRecord;
        facts.first = *known;
        asked[i]->is_decided = true;
      } else if (StartOf(facts) < EndOf(facts)) {
        lagging.push_back(asked[i]);
      } else if (StartOf(facts) < *facts.high_watermark) {
        blocked.push_back(asked[i]);
      } else {
        asked[i]->is_decided = true;
      }
    }
    if (access_ == RecordAccess::kDescribe) {
      LeaveUnread(lagging);
      for (Work* work : blocked) work->is_decided = true;
    } else {
      TRY(SearchAll(lagging, request_.isolation, &Run::TakeSearch));
      TRY(SearchAll(blocked, IsolationLevel::kReadUncommitted, &Run::TakeBlocked));
    }
    LookUpStamps(lagging);
    return {};
  }

  // Asks about the epoch that `epoch_of` gives for those that were answered, if it gives one.
  template <class EpochOf, class TakeAnswer>
  void AskEpochs(std::vector<WatermarkTarget>& answered, EpochOf epoch_of, TakeAnswer take) {
    std::vector<EpochTarget> targets;
    std::vector<WatermarkTarget*> asked;
    for (WatermarkTarget& each : answered) {
      if (each.outcome != WatermarkTarget::Outcome::kAnswered || !each.facts->leader_epoch)
        continue;
      const std::optional<int32_t> epoch = epoch_of(*each.facts, each.place.topic);
      if (!epoch) continue;
      targets.push_back({.facts = each.facts, .place = each.place, .epoch = *epoch, .held = {}});
      asked.push_back(&each);
    }
    if (targets.empty()) return;
    asker_.AskEpochEnds(targets, patience_, budget_);
    for (size_t i = 0; i < targets.size(); ++i) take(*asked[i], targets[i]);
  }

  // Of partitions that have got another leader since they were seen last. Where that is not
  // answered, nothing of the partition is: its offsets may be of another log.
  void AskFormerEpochs(std::vector<WatermarkTarget>& answered) {
    const auto former = [this](const PartitionFacts& facts,
                               size_t topic) -> std::optional<int32_t> {
      const auto* known = KnownEpochOf(facts, topic);
      if (known == nullptr || known->epoch == *facts.leader_epoch) return std::nullopt;
      return known->epoch;
    };
    AskEpochs(answered, former, [](WatermarkTarget& asked, const EpochTarget& target) {
      PartitionFacts& facts = *asked.facts;
      if (target.is_answered) {
        facts.former_epoch = {.asked = target.epoch, .held = target.held};
        return;
      }
      asked.outcome = WatermarkTarget::Outcome::kAgain;
      ForgetLog(facts);
      facts.fault = ProbeFault::kTimeout;
      facts.fault_message = fmt::format("no answer in time about the former leader from broker={}",
                                        *asked.place.address);
    });
  }

  // Of leaders that are new. Not answered, it is asked for again by the next probe.
  void AskEpochsBefore(std::vector<WatermarkTarget>& answered) {
    const auto before = [this](const PartitionFacts& facts,
                               size_t topic) -> std::optional<int32_t> {
      if (!request_.topics[topic].wants_epochs || *facts.leader_epoch == 0) return std::nullopt;
      const auto* known = KnownEpochOf(facts, topic);
      if (known != nullptr && known->epoch == *facts.leader_epoch && known->is_start_known)
        return std::nullopt;
      return *facts.leader_epoch - 1;
    };
    AskEpochs(answered, before, [](WatermarkTarget& asked, const EpochTarget& target) {
      if (target.is_answered)
        asked.facts->epoch_before = {.asked = target.epoch, .held = target.held};
    });
  }

  static void LeaveUnread(const std::vector<Work*>& works) {
    for (Work* work : works) {
      work->facts->search = PartitionFacts::Search::kUndecided;
      work->facts->fault = ProbeFault::kTopicDenied;
      work->facts->fault_message = "records are not to be read";
      work->is_decided = true;
    }
  }

  // Offsets without a record would pass for waiting ones, and transactions leave such.
  bool MayEstimate(const Work& work) const {
    return access_ != RecordAccess::kFetch &&
           request_.isolation == IsolationLevel::kReadUncommitted &&
           work.facts->search == PartitionFacts::Search::kUndecided &&
           work.facts->fault == ProbeFault::kTopicDenied;
  }

  // Of records that may not be read. What is not answered ends a search with what it has.
  void LookUpStamps(const std::vector<Work*>& works) {
    std::vector<Work*> open;
    for (Work* work : works) {
      if (!MayEstimate(*work)) continue;
      const Milliseconds asked = request_.topics[work->topic].age_asked;
      const Milliseconds age = asked.count() > 0 ? asked : kAgeAskedDefault;
      const int64_t now_ms = MillisOf(result_.observed_at);
      work->stamps.emplace(StartOf(*work->facts), now_ms - age.count(), now_ms);
      open.push_back(work);
    }
    while (!open.empty() && !budget_.is_over() && !budget_.is_stopped()) {
      std::vector<TimeTarget> targets;
      for (const Work* work : open) {
        targets.push_back({.facts = work->facts,
                           .place = PlaceOf(*work),
                           .time_ms = *work->stamps->Next(),
                           .found = std::nullopt});
      }
      asker_.AskOffsetsAt(targets, patience_, budget_);
      std::vector<Work*> again;
      for (size_t i = 0; i < open.size(); ++i) {
        if (!targets[i].is_answered) continue;
        open[i]->stamps->Take(targets[i].found);
        if (open[i]->stamps->Next()) again.push_back(open[i]);
      }
      open = std::move(again);
    }
  }

  // Where compaction is not known to be off, the record that waits may be a later one.
  void TakeEstimates() {
    for (const Work& work : work_) {
      const TopicFacts& topic = result_.topics[work.topic];
      if (!work.stamps || topic.is_compacted) continue;
      using Holes = StampSearch::Holes;
      const auto bound =
          work.stamps->Bound(topic.is_config_known ? Holes::kNone : Holes::kPossible);
      if (!bound) continue;
      const bool ascends = topic.stamped_by == TimestampType::kAppend;
      PartitionFacts& facts = *work.facts;
      facts.search = PartitionFacts::Search::kEstimated;
      facts.estimate = {.timestamp_ms = bound->timestamp_ms,
                        .is_exact = bound->is_own || (bound->is_closed && ascends)};
      facts.fault = ProbeFault::kNone;
      facts.fault_message.clear();
    }
  }

  const ProbeRequest::Topic::KnownEpoch* KnownEpochOf(const PartitionFacts& facts,
                                                      size_t topic) const {
    const ProbeRequest::Topic& asked = request_.topics[topic];
    if (topics_[topic].facts.topic_id != asked.known_topic_id) return nullptr;
    const auto known = asked.known_epochs.find(facts.partition.partition);
    return known == asked.known_epochs.end() ? nullptr : &known->second;
  }

  // Whether the record at the offset, which an earlier probe saw, is sure to be there still.
  bool IsUncut(const PartitionFacts& facts, size_t topic, Offset offset) const {
    const auto* known = KnownEpochOf(facts, topic);
    if (known == nullptr || !facts.leader_epoch) return false;
    if (known->epoch == *facts.leader_epoch) return true;
    const auto& held = facts.former_epoch ? facts.former_epoch->held : std::nullopt;
    return held && held->epoch == known->epoch && offset < held->end;
  }

  // The first record where an earlier probe's answer still holds.
  const FirstRecord* KnownFirstOf(const Work& work) const {
    if (topics_[work.topic].facts.topic_id.empty()) return nullptr;
    const auto& firsts = request_.topics[work.topic].known_firsts;
    const auto known = firsts.find(work.facts->partition.partition);
    if (known == firsts.end()) return nullptr;
    const bool is_right = known->second.Answers(StartOf(*work.facts), EndOf(*work.facts)) &&
                          IsUncut(*work.facts, work.topic, known->second.record.offset);
    return is_right ? &known->second.record : nullptr;
  }

  using Take = void (Run::*)(Work*, const SearchTarget&);

  Status SearchAll(const std::vector<Work*>& works, IsolationLevel isolation, Take take) {
    std::vector<SearchTarget> targets;
    for (const Work* work : works) {
      SearchTarget target;
      target.facts = work->facts;
      target.place = PlaceOf(*work);
      target.from = StartOf(*work->facts);
      target.end =
          isolation == request_.isolation ? EndOf(*work->facts) : *work->facts->high_watermark;
      targets.push_back(std::move(target));
    }
    TRY_ASSIGN(const uint64_t received,
               asker_.SearchFirstRecords(isolation, targets, patience_, budget_));
    result_.bytes_fetched += received;
    for (size_t i = 0; i < works.size(); ++i) (this->*take)(works[i], targets[i]);
    return {};
  }

  // Faults that pass and moved logs leave the partition open for the next round.
  void TakeOpen(Work* work, const SearchTarget& target) {
    PartitionFacts& facts = *work->facts;
    facts.search = PartitionFacts::Search::kUndecided;
    facts.fault = target.fault == ProbeFault::kNone ? ProbeFault::kTimeout : target.fault;
    facts.fault_message = target.message;
    if (target.outcome == SearchTarget::Outcome::kFault) work->is_decided = true;
    if (target.outcome == SearchTarget::Outcome::kOutOfRange) {
      facts.fault = ProbeFault::kOther;
      facts.fault_message =
          fmt::format("the log moved away from offset={} while it was read", target.from);
      work->is_decided = ++work->out_of_range_count >= kOutOfRangeMax;
    }
  }

  void TakeSearch(Work* work, const SearchTarget& target) {
    PartitionFacts& facts = *work->facts;
    switch (target.outcome) {
      case SearchTarget::Outcome::kRecord:
        facts.search = PartitionFacts::Search::kRecord;
        facts.first = target.first;
        work->is_decided = true;
        return;
      case SearchTarget::Outcome::kEnd:
        facts.search = PartitionFacts::Search::kEndOfPartition;
        work->is_decided = true;
        return;
      default: TakeOpen(work, target); return;
    }
  }

  // The verdict stands without it, so what cannot be read is left out.
  void TakeBlocked(Work* work, const SearchTarget& target) {
    if (target.outcome == SearchTarget::Outcome::kRecord) {
      work->facts->blocked_first = target.first;
    }
    work->is_decided = target.outcome != SearchTarget::Outcome::kAgain &&
                       target.outcome != SearchTarget::Outcome::kOutOfRange;
  }

  ClusterAsker& asker_;
  RecordAccess access_;
  const ProbeRequest& request_;
  const Budget& budget_;
  std::vector<std::string> names_;
  std::vector<DescribedTopic> topics_;
  std::map<int32_t, std::string> addresses_;  // of the leaders
  Milliseconds patience_ = kPatience;
  ProbeResult result_;
  std::vector<Work> work_;
};

class ProbeInRounds final : public PartitionProbe {
 public:
  ProbeInRounds(std::unique_ptr<ClusterAsker> asker, RecordAccess access)
      : asker_(std::move(asker)), access_(access) {}

  Result<ProbeResult> Probe(const ProbeRequest& request, const Budget& budget) override {
    asker_->Begin();
    auto result = Ask(request, budget);
    asker_->End();
    return result;
  }

 private:
  Result<ProbeResult> Ask(const ProbeRequest& request, const Budget& budget) {
    TRY(CheckRequest(request));
    TRY(budget.Check());
    return Run(*asker_, access_, request, budget)();
  }

  std::unique_ptr<ClusterAsker> asker_;
  RecordAccess access_;
};

}  // namespace

void TakeOffset(LogEnd end, Offset offset, WatermarkTarget* target) {
  PartitionFacts& facts = *target->facts;
  switch (end) {
    case LogEnd::kHigh: facts.high_watermark = offset; break;
    case LogEnd::kStable:
      facts.last_stable = offset;
      facts.high_watermark = std::max(*facts.high_watermark, offset);
      break;
    case LogEnd::kStart:
      facts.log_start = offset;
      // The log may have been cut since the ends were taken; it ends nowhere before its start.
      facts.high_watermark = std::max(*facts.high_watermark, offset);
      if (facts.last_stable) facts.last_stable = std::max(*facts.last_stable, offset);
      facts.fault = ProbeFault::kNone;
      facts.fault_message.clear();
      target->outcome = WatermarkTarget::Outcome::kAnswered;
      break;
  }
}

std::unique_ptr<PartitionProbe> MakeProbe(std::unique_ptr<ClusterAsker> asker,
                                          RecordAccess access) {
  return std::make_unique<ProbeInRounds>(std::move(asker), access);
}

TimestampType StampedBy(std::string_view setting) {
  if (setting == "CreateTime") return TimestampType::kCreate;
  return setting == "LogAppendTime" ? TimestampType::kAppend : TimestampType::kNone;
}

bool IsTopicName(std::string_view name) {
  const auto is_legal = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  };
  return !name.empty() && name.size() <= kTopicNameMax && name != "." && name != ".." &&
         std::ranges::all_of(name, is_legal);
}

}  // namespace tidemark::kafka
