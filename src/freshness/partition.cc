// The verdict on one partition. Names as in docs/freshness.md: c committed, L log start, H high
// watermark, S last stable offset, E the end the pipeline may read to.
#include <algorithm>
#include <string>
#include <utility>

#include "freshness/age_internal.h"
#include "freshness/judge.h"

namespace tidemark::freshness {

namespace {

using kafka::Offset;
using Search = kafka::PartitionFacts::Search;

class PartitionJudge {
 public:
  PartitionJudge(const kafka::PartitionFacts& facts, const kafka::TopicFacts& topic,
                 kafka::IsolationLevel isolation, const PipelineMemory& memory, WallTime now)
      : facts_(facts),
        topic_(topic),
        is_committed_only_(isolation == kafka::IsolationLevel::kReadCommitted),
        memory_(memory),
        now_(now) {}

  PartitionVerdict Judge() {
    verdict_.partition = facts_.partition;
    verdict_.committed = facts_.committed;
    verdict_.log_start = facts_.log_start;
    verdict_.end = is_committed_only_ ? facts_.last_stable : facts_.high_watermark;
    if (!facts_.committed) verdict_.reason = "not_in_checkpoint";
    if (const auto cut = memory_.cuts.find(facts_.partition); cut != memory_.cuts.end())
      verdict_.cut_at = cut->second;
    Decide();
    if (verdict_.cut_at && !verdict_.reason) verdict_.reason = "log_truncated";
    return std::move(verdict_);
  }

 private:
  void Decide() {
    if (IsInconsistent()) return Unknown("inconsistent_offsets");
    // Offsets of another incarnation of the topic say nothing about this one.
    const std::string_view replaced = ReplacedBy();
    const auto& c = facts_.committed;
    if (c && facts_.high_watermark && *c > *facts_.high_watermark)
      return Ahead(!replaced.empty() ? replaced
                   : verdict_.cut_at ? "log_truncated"
                                     : "offset_ahead");
    if (!replaced.empty()) return Unknown(replaced);

    // Nothing committed: a streamer begins at offset 0, so what is gone before it came is lost too.
    if (facts_.log_start && c.value_or(0) < *facts_.log_start)
      return Lost(c.value_or(0), *facts_.log_start);
    // Grown again: the checkpoint is of the log as it was.
    if (c && verdict_.cut_at && *c > std::max<Offset>(0, *verdict_.cut_at))
      return Ahead("log_truncated");
    const std::optional<Offset> start = c ? c : facts_.log_start;
    if (!start) return Unknown(FaultReason());
    if (facts_.high_watermark && *start == *facts_.high_watermark) return Fresh();

    const bool is_drained = HasNothingReadable(*start);
    if (IsHeldBack(*start, is_drained)) return Blocked(*start);
    if (is_drained) {
      if (!verdict_.reason) verdict_.reason = "nothing_readable";
      return Fresh();
    }
    if (facts_.search == Search::kRecord && facts_.first) return Lagging(*facts_.first, *start);
    if (facts_.search == Search::kEstimated && facts_.estimate) return Unread(*start);
    SetOpenNumbers(*start);
    Unknown(FaultReason());
  }

  /// Facts that cannot all be true: ours or the broker's mistake, and no ground for a number.
  bool IsInconsistent() const {
    for (const auto& offset :
         {facts_.committed, facts_.log_start, facts_.high_watermark, facts_.last_stable})
      if (offset && *offset < 0) return true;
    if (facts_.last_stable && facts_.high_watermark && *facts_.last_stable > *facts_.high_watermark)
      return true;
    return facts_.first && facts_.first->offset < facts_.committed.value_or(0);
  }

  /// Why the checkpoint does not belong to the log that is there now; empty when it may.
  std::string_view ReplacedBy() const {
    const auto known = memory_.topic_ids.find(facts_.partition.topic);
    if (known == memory_.topic_ids.end() || known->second.empty() || topic_.topic_id.empty())
      return "";
    return known->second == topic_.topic_id ? "" : "topic_recreated";
  }

  /// Proof that no record in [start, E) is given to a reader: the end was reached without one, or
  /// the first one lies at or behind E.
  bool HasNothingReadable(Offset start) const {
    if (verdict_.end && start >= *verdict_.end)
      return start == *verdict_.end || facts_.high_watermark.has_value();
    if (facts_.search == Search::kRecord && facts_.first && verdict_.end)
      return facts_.first->offset >= *verdict_.end;
    // Without S, the end of what may be read now cannot be told from an open transaction.
    if (facts_.search != Search::kEndOfPartition) return false;
    return !is_committed_only_ || facts_.last_stable.has_value();
  }

  bool IsHeldBack(Offset start, bool is_drained) const {
    if (!is_committed_only_ || !facts_.last_stable || !facts_.high_watermark) return false;
    return *facts_.last_stable < *facts_.high_watermark && start < *facts_.high_watermark &&
           is_drained;
  }

  void Unknown(std::string_view reason) {
    verdict_.verdict = Verdict::kUnknown;
    verdict_.reason = std::string(reason);
    verdict_.lag.reset();
    verdict_.lag_at_most.reset();
    verdict_.lag_is_lower_bound = false;
    verdict_.is_arrival_bound = false;
  }

  void Ahead(std::string_view reason) {
    Unknown(reason);
    verdict_.verdict = Verdict::kAhead;
    if (!verdict_.end) verdict_.end = facts_.high_watermark;
  }

  void Fresh() {
    verdict_.verdict = Verdict::kFresh;
    verdict_.lag = Milliseconds(0);
    verdict_.uncommitted_records = 0;
  }

  void Lagging(const kafka::FirstRecord& first, Offset start) {
    const RecordAge age = Show(first);
    SetOpenNumbers(start);
    SetRetentionMargin(first, age);
    const std::string_view stamp_reason = StampReason(age.worth, first.timestamp_type);
    if (!age.age) return Unknown(stamp_reason);
    verdict_.verdict = Verdict::kLagging;
    verdict_.lag = age.age;
    verdict_.lag_at_most = age.at_most;
    verdict_.lag_is_lower_bound = age.at_most.has_value();
    verdict_.is_arrival_bound = age.is_arrival_bound;
    if (!stamp_reason.empty()) {
      verdict_.reason = std::string(stamp_reason);
    } else if (age.at_most) {
      verdict_.reason = "clock_set";
    } else if (age.is_arrival_bound) {
      verdict_.reason = "arrival_bound";
    } else if (first.offset > start && !verdict_.reason) {
      verdict_.reason = "gap";
    }
  }

  /// A record that was not read, at `offset`, with the latest stamp it can have.
  kafka::FirstRecord UnreadRecord(Offset offset) const {
    const bool is_append = topic_.stamped_by == kafka::TimestampType::kAppend;
    return {.offset = offset,
            .timestamp_ms = facts_.estimate->timestamp_ms,
            .timestamp_type =
                is_append ? kafka::TimestampType::kAppend : kafka::TimestampType::kCreate};
  }

  void Unread(Offset start) {
    const kafka::FirstRecord record = UnreadRecord(start);
    const RecordAge age = Show(record);
    SetOpenNumbers(start);
    if (facts_.estimate->is_exact) SetRetentionMargin(record, age);
    const std::string_view stamp_reason = StampReason(age.worth, record.timestamp_type);
    if (!age.age) return Unknown(stamp_reason);
    verdict_.verdict = Verdict::kLagging;
    verdict_.lag = age.age;
    verdict_.lag_at_most = age.at_most;
    verdict_.is_arrival_bound = age.is_arrival_bound;
    verdict_.lag_is_lower_bound =
        age.at_most || (!facts_.estimate->is_exact && !age.is_arrival_bound);
    verdict_.reason = stamp_reason.empty() ? "estimated" : std::string(stamp_reason);
  }

  void Blocked(Offset start) {
    verdict_.verdict = Verdict::kBlocked;
    verdict_.reason = "open_transaction";
    verdict_.lag = Milliseconds(0);
    verdict_.uncommitted_records = 0;
    SetRecordsMargin(start);
    if (!facts_.blocked_first) return;
    const RecordAge age = Show(*facts_.blocked_first);
    verdict_.blocked_age = age.age;
    verdict_.is_arrival_bound = age.is_arrival_bound;
    SetRetentionMargin(*facts_.blocked_first, age);
  }

  void Lost(Offset committed, Offset log_start) {
    verdict_.verdict = Verdict::kLost;
    verdict_.lost_records = log_start - committed;
    if (verdict_.end)
      verdict_.uncommitted_records = std::max<int64_t>(0, *verdict_.end - log_start);
    verdict_.retention_margin_records = 0;
    verdict_.retention_margin = Milliseconds(0);
    // What is gone waited at least as long as what is left; an arrival bound alone is no proof.
    std::optional<kafka::FirstRecord> first;
    if (facts_.search == Search::kRecord) first = facts_.first;
    if (facts_.search == Search::kEstimated && facts_.estimate) first = UnreadRecord(log_start);
    if (first) {
      const RecordAge left = Show(*first);
      if (left.worth == StampWorth::kUsable) {
        verdict_.lag = left.age;
        verdict_.lag_is_lower_bound = true;
        verdict_.is_arrival_bound = left.is_arrival_bound;
      }
    }
    UseRememberedStamp(committed);
    // The committed position is out of the log: "no lag" would be a lie.
    if (verdict_.lag && verdict_.lag->count() == 0) verdict_.lag.reset();
    if (!verdict_.lag) {
      verdict_.lag_is_lower_bound = false;
      if (!verdict_.reason) verdict_.reason = "no_timestamp";
    }
  }

  /// The stamp of the lost record, learned while it was there, beats the bound.
  void UseRememberedStamp(Offset committed) {
    const auto stamp = memory_.stamps.find(facts_.partition);
    if (stamp == memory_.stamps.end() || stamp->second.offset != committed) return;
    const kafka::FirstRecord record{.offset = committed,
                                    .timestamp_ms = stamp->second.timestamp_ms,
                                    .timestamp_type = stamp->second.timestamp_type};
    const RecordAge age = AgeOf(record, Arrivals(), now_);
    if (age.worth != StampWorth::kUsable || age.age < verdict_.lag) return;
    Show(record);
    verdict_.lag = age.age;
    verdict_.lag_is_lower_bound = age.at_most.has_value();
    verdict_.is_arrival_bound = age.is_arrival_bound;
  }

  /// Puts the record into the verdict and gives its age.
  RecordAge Show(const kafka::FirstRecord& record) {
    verdict_.first_uncommitted = record.offset;
    verdict_.timestamp_type = record.timestamp_type;
    if (record.timestamp_type == kafka::TimestampType::kNone || record.timestamp_ms < 0) {
      verdict_.timestamp_type = kafka::TimestampType::kNone;
      verdict_.timestamp_ms.reset();
    } else {
      verdict_.timestamp_ms = record.timestamp_ms;
    }
    const RecordAge age = AgeOf(record, Arrivals(), now_);
    verdict_.clock_skew = std::max(verdict_.clock_skew, age.skew);
    return age;
  }

  /// Counts that hold whatever the record says.
  void SetOpenNumbers(Offset start) {
    if (verdict_.end) verdict_.uncommitted_records = std::max<int64_t>(0, *verdict_.end - start);
    SetRecordsMargin(start);
  }

  /// Of an unseen partition, too: its first record is the next to be deleted.
  void SetRecordsMargin(Offset start) {
    if (facts_.log_start) verdict_.retention_margin_records = start - *facts_.log_start;
  }

  void SetRetentionMargin(const kafka::FirstRecord& record, const RecordAge& age) {
    if (!topic_.retention || (topic_.is_compacted && !topic_.is_also_deleted)) return;
    if (age.worth != StampWorth::kUsable && age.worth != StampWorth::kSlightly) return;
    const int64_t deleted_at = SaturatingAdd(record.timestamp_ms, topic_.retention->count());
    verdict_.retention_margin = TimeBetween(now_, WallTimeFromMillis(deleted_at));
  }

  std::string_view FaultReason() const {
    if (facts_.fault != kafka::ProbeFault::kNone) return ProbeFaultName(facts_.fault);
    if (topic_.fault != kafka::ProbeFault::kNone) return ProbeFaultName(topic_.fault);
    if (!topic_.exists) return ProbeFaultName(kafka::ProbeFault::kTopicMissing);
    return "undecided";
  }

  const std::vector<PipelineMemory::Arrival>& Arrivals() const {
    static const std::vector<PipelineMemory::Arrival> none;
    const auto found = memory_.arrivals.find(facts_.partition);
    return found == memory_.arrivals.end() ? none : found->second;
  }

  const kafka::PartitionFacts& facts_;
  const kafka::TopicFacts& topic_;
  bool is_committed_only_;
  const PipelineMemory& memory_;
  WallTime now_;
  PartitionVerdict verdict_;
};

}  // namespace

PartitionVerdict JudgePartition(const kafka::PartitionFacts& facts, const kafka::TopicFacts& topic,
                                kafka::IsolationLevel isolation, const PipelineMemory& memory,
                                WallTime now) {
  return PartitionJudge(facts, topic, isolation, memory, now).Judge();
}

}  // namespace tidemark::freshness
