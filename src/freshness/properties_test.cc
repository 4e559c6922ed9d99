// What must hold for whatever a cluster, a producer or an earlier run says.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "freshness/judge.h"
#include "support/freshness_facts.h"

namespace tidemark::freshness {
namespace {

using kafka::Offset;
using kafka::PartitionFacts;
using support::kNow;
using support::Seen;
using support::World;
using namespace std::chrono_literals;

rc::Gen<int64_t> AnyNumber() {
  return rc::gen::oneOf(rc::gen::inRange<int64_t>(-2, 6), rc::gen::arbitrary<int64_t>(),
                        rc::gen::element<int64_t>(std::numeric_limits<int64_t>::min(),
                                                  std::numeric_limits<int64_t>::min() + 1,
                                                  std::numeric_limits<int64_t>::max(),
                                                  std::numeric_limits<int64_t>::max() - 1));
}

/// Mostly near one another, so that every relation between them occurs.
rc::Gen<int64_t> AnyOffset() {
  return rc::gen::weightedOneOf<int64_t>({{12, rc::gen::inRange<int64_t>(0, 6)}, {1, AnyNumber()}});
}

rc::Gen<int64_t> AnyStamp() {
  return rc::gen::oneOf(AnyNumber(),
                        rc::gen::map(rc::gen::inRange<int64_t>(-7'200'000, 7'200'000),
                                     [](int64_t ms) -> int64_t { return MillisOf(kNow) + ms; }));
}

kafka::FirstRecord AnyRecord() {
  return {.offset = *AnyOffset(),
          .timestamp_ms = *AnyStamp(),
          .timestamp_type =
              *rc::gen::element(kafka::TimestampType::kNone, kafka::TimestampType::kCreate,
                                kafka::TimestampType::kAppend)};
}

std::optional<Offset> MaybeNumber() {
  if (*rc::gen::inRange(0, 8) == 0) return std::nullopt;
  return *AnyOffset();
}

PartitionFacts AnyFacts(kafka::PartitionId partition) {
  PartitionFacts facts;
  facts.partition = {support::kTopic, partition};
  facts.committed = MaybeNumber();
  facts.log_start = MaybeNumber();
  facts.high_watermark = MaybeNumber();
  facts.last_stable = MaybeNumber();
  // Facts that contradict one another have a test of their own; here they stay rare.
  const bool may_contradict = *rc::gen::inRange(0, 10) == 0;
  if (!may_contradict && facts.high_watermark && facts.last_stable)
    facts.last_stable = std::min(*facts.high_watermark, *facts.last_stable);
  facts.search =
      *rc::gen::element(PartitionFacts::Search::kNotSearched, PartitionFacts::Search::kRecord,
                        PartitionFacts::Search::kEndOfPartition, PartitionFacts::Search::kEstimated,
                        PartitionFacts::Search::kUndecided);
  if (facts.search == PartitionFacts::Search::kEstimated) {
    facts.estimate = kafka::StampEstimate{.timestamp_ms = AnyRecord().timestamp_ms,
                                          .is_exact = *rc::gen::arbitrary<bool>()};
  }
  if (facts.search == PartitionFacts::Search::kRecord) {
    facts.first = AnyRecord();
    if (!may_contradict)
      facts.first->offset = std::max(facts.first->offset, facts.committed.value_or(0));
  }
  if (*rc::gen::arbitrary<bool>()) facts.blocked_first = AnyRecord();
  if (facts.search == PartitionFacts::Search::kUndecided)
    facts.fault = *rc::gen::element(kafka::ProbeFault::kTimeout, kafka::ProbeFault::kNoLeader,
                                    kafka::ProbeFault::kTopicDenied, kafka::ProbeFault::kNone);
  return facts;
}

PipelineMemory AnyMemory() {
  PipelineMemory memory;
  const kafka::TopicPartition first{support::kTopic, 0};
  for (int i = *rc::gen::inRange(0, 4); i > 0; --i)
    memory.arrivals[first].push_back(
        {*AnyOffset(), WallTimeFromMillis(*AnyStamp()),
         Milliseconds(*rc::gen::inRange(0, 7'200'000)),
         Milliseconds(std::max(0, *rc::gen::inRange(-7'200'000, 7'200'000)))});
  if (*rc::gen::arbitrary<bool>())
    memory.stamps[first] = {*AnyOffset(), *AnyStamp(), kafka::TimestampType::kCreate};
  if (*rc::gen::inRange(0, 20) == 7) memory.topic_ids[support::kTopic] = "id-0";
  return memory;
}

kafka::TopicFacts AnyTopic() {
  kafka::TopicFacts topic;
  topic.topic = support::kTopic;
  topic.exists = true;
  topic.topic_id = "id-1";
  if (*rc::gen::arbitrary<bool>()) topic.retention = Milliseconds(*AnyNumber());
  return topic;
}

kafka::IsolationLevel AnyIsolation() {
  return *rc::gen::element(kafka::IsolationLevel::kReadUncommitted,
                           kafka::IsolationLevel::kReadCommitted);
}

/// Partitions that a checkpoint can hold: whatever else is said of them.
World AnyWorld(int partitions_max) {
  std::vector<Seen> committed = {Seen(0, 10).Log(0, 10)};
  World world(committed);
  world.probe.partitions.clear();
  const int count = *rc::gen::inRange(1, partitions_max + 1);
  lake::TopicOffsets& offsets = world.commit.checkpoint.topics[0];
  offsets.offsets.clear();
  for (int i = 0; i < count; ++i) {
    PartitionFacts facts = AnyFacts(i);
    if (facts.committed && *facts.committed < 0) facts.committed = 3;
    if (i == 0 && !facts.committed) facts.committed = 2;
    if (facts.committed) offsets.offsets[i] = *facts.committed;
    world.probe.partitions.push_back(facts);
  }
  world.topic().partition_count = count;
  world.spec.isolation = AnyIsolation();
  world.memory = AnyMemory();
  return world;
}

/// Better is less: what a person would rather see.
int Badness(PipelineStatus status) {
  switch (status) {
    case PipelineStatus::kDisabled:
    case PipelineStatus::kFresh: return 0;
    case PipelineStatus::kWarning: return 1;
    case PipelineStatus::kUnknown: return 2;
    case PipelineStatus::kBreach: return 3;
  }
  return 4;
}

RC_GTEST_PROP(PartitionPropertyTest, NoNumberIsNegativeAndNothingIsGivenWithoutGround, ()) {
  const PartitionFacts facts = AnyFacts(0);
  const PartitionVerdict verdict =
      JudgePartition(facts, AnyTopic(), AnyIsolation(), AnyMemory(), kNow);
  const auto none = Milliseconds(0);
  RC_ASSERT((verdict.lag.value_or(none) >= none));
  RC_ASSERT((verdict.blocked_age.value_or(none) >= none));
  RC_ASSERT((verdict.retention_margin.value_or(none) >= none));
  RC_ASSERT((verdict.clock_skew >= none));
  RC_ASSERT((verdict.uncommitted_records.value_or(0) >= 0));
  RC_ASSERT((verdict.retention_margin_records.value_or(0) >= 0));
  RC_ASSERT((verdict.lost_records >= 0));
  const bool is_undecided =
      verdict.verdict == Verdict::kUnknown || verdict.verdict == Verdict::kAhead;
  if (is_undecided) RC_ASSERT((!verdict.lag.has_value()));
  if (is_undecided) RC_ASSERT((verdict.reason.has_value()));
  if (!verdict.lag) RC_ASSERT((verdict.reason.has_value()));
  RC_ASSERT(((verdict.verdict == Verdict::kLost) == (verdict.lost_records > 0)));
  if (verdict.verdict == Verdict::kLost) RC_ASSERT((verdict.lag != none));
}

RC_GTEST_PROP(PartitionPropertyTest, FreshIsProvedByTheEnds, ()) {
  const PartitionFacts facts = AnyFacts(0);
  const PartitionVerdict verdict =
      JudgePartition(facts, AnyTopic(), AnyIsolation(), AnyMemory(), kNow);
  if (verdict.verdict != Verdict::kFresh) return;
  const auto start = facts.committed ? facts.committed : facts.log_start;
  RC_ASSERT((start.has_value()));
  const bool is_at_an_end = start == facts.high_watermark || start == facts.last_stable;
  const bool is_searched = facts.search == PartitionFacts::Search::kEndOfPartition ||
                           (facts.first && verdict.end && facts.first->offset >= *verdict.end);
  RC_ASSERT((is_at_an_end || is_searched));
}

RC_GTEST_PROP(PipelinePropertyTest, RatioAndOldestComeWithTheLag, ()) {
  const PipelineReport report = AnyWorld(4).Judge();
  RC_ASSERT((report.lag.has_value() == report.sla_ratio.has_value()));
  RC_ASSERT((report.lag.has_value() == report.sla_ratio_capped.has_value()));
  if (!report.lag) RC_ASSERT((!report.oldest.has_value()));
  RC_ASSERT((report.sla_ratio.value_or(0) >= 0));
  RC_ASSERT((report.sla_ratio_capped.value_or(0) <= 1));
  RC_ASSERT((!report.message.empty()));
  const PartitionCounts& n = report.counts;
  RC_ASSERT((n.total == n.fresh + n.lagging + n.lost + n.blocked + n.ahead + n.unknown));
}

RC_GTEST_PROP(PipelinePropertyTest, HealthMeansThatEveryPartitionIsDecided, ()) {
  const World world = AnyWorld(4);
  const PipelineReport report = world.Judge();
  if (report.status != PipelineStatus::kFresh && report.status != PipelineStatus::kWarning) return;
  RC_ASSERT((report.counts.unknown + report.counts.ahead + report.counts.lost == 0));
  RC_ASSERT((report.lag.has_value()));
  // Without the right to read an age may be longer than estimated (docs/decisions/0011).
  const bool is_estimated = std::ranges::any_of(world.probe.partitions, [](const auto& facts) {
    return facts.search == PartitionFacts::Search::kEstimated;
  });
  RC_ASSERT((is_estimated || !report.lag_is_lower_bound));
}

RC_GTEST_PROP(PipelinePropertyTest, AnUnknownPartitionNeverMakesAPipelineHealthier, ()) {
  World world = AnyWorld(3);
  const PipelineReport before = world.Judge();
  kafka::ProbeResult& probe = world.probe;
  PartitionFacts unknown;
  unknown.partition = {support::kTopic, static_cast<int32_t>(probe.partitions.size())};
  unknown.fault = kafka::ProbeFault::kTimeout;
  unknown.search = PartitionFacts::Search::kUndecided;
  probe.partitions.push_back(unknown);
  world.topic().partition_count += 1;
  const PipelineReport after = world.Judge();
  RC_ASSERT((Badness(after.status) >= Badness(before.status)));
  if (after.lag) RC_ASSERT((after.lag == before.lag));
}

RC_GTEST_PROP(PipelinePropertyTest, ALaterJudgementIsNeverHealthier, ()) {
  World world({Seen(0, 50).Log(0, 100).Record(
      50, Milliseconds(*rc::gen::inRange<int64_t>(-200'000, 9'000'000)))});
  const PipelineReport before = world.Judge();
  world.probe.observed_at = kNow + Milliseconds(*rc::gen::inRange(0, 9'000'000));
  const PipelineReport after = world.Judge();
  RC_ASSERT((after.lag >= before.lag));
  RC_ASSERT((Badness(after.status) >= Badness(before.status)));
}

}  // namespace
}  // namespace tidemark::freshness
