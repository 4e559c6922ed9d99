/// What tidemark says about a pipeline. Every exporter shows these values and no others.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "kafka/positions.h"
#include "lake/commit_point.h"

namespace tidemark::freshness {

/// How a pipeline is run; decides the default SLA.
enum class Mode { kStreaming, kBatch };

enum class PipelineStatus { kFresh, kWarning, kBreach, kUnknown, kDisabled };

/// Why the status is what it is; the contract's closed set (contracts §3).
enum class Reason {
  kOk,
  kNoCheckpoint,
  kCheckpointNotKafka,
  kCheckpointUnreadable,
  kTopicMismatch,
  kTopicMissing,
  kTopicRecreated,
  kOffsetAhead,
  kPartitionsUnknown,
  kDataLost,
  kTableUnreadable,
  kClusterUnreachable,
  kAuth,
  kTimeout,
  kNoTimestamp,
  kMaintenance,
};

enum class Verdict { kFresh, kLagging, kLost, kBlocked, kAhead, kUnknown };

/// The contract's words: "fresh", "no_checkpoint", "LAGGING", "streaming".
std::string_view PipelineStatusName(PipelineStatus status);
std::string_view ReasonName(Reason reason);
std::string_view VerdictName(Verdict verdict);
std::string_view ModeName(Mode mode);

/// One partition, judged. Every absent number is nullopt, and `reason` says why.
struct PartitionVerdict {
  kafka::TopicPartition partition;
  Verdict verdict = Verdict::kUnknown;
  /// A word for why: a probe fault ("no_leader"), "no_timestamp", "gap", "not_in_checkpoint"…;
  /// nullopt when there is nothing to add.
  std::optional<std::string> reason;
  std::optional<kafka::Offset> committed;
  std::optional<kafka::Offset> log_start;
  std::optional<kafka::Offset> end;  ///< exclusive, as the pipeline's isolation level sees it
  std::optional<kafka::Offset>
      first_uncommitted;                ///< offset of the first readable record not committed
  std::optional<int64_t> timestamp_ms;  ///< its timestamp
  kafka::TimestampType timestamp_type = kafka::TimestampType::kNone;
  std::optional<Milliseconds> lag;  ///< time in queue; 0 when fresh, never negative
  bool lag_is_lower_bound = false;
  /// Only when the lag lies between `lag` and this: our clock was set forward while the record can
  /// have waited, or nothing says when it came and it was only seen to wait (Milliseconds::max()).
  std::optional<Milliseconds> lag_at_most;
  std::optional<int64_t>
      uncommitted_records;   ///< end - max(committed, log_start): an upper bound with gaps
  int64_t lost_records = 0;  ///< upper bound: log_start - committed
  std::optional<int64_t> retention_margin_records;  ///< committed - log_start
  std::optional<Milliseconds>
      retention_margin;        ///< until the record at `committed` is deleted by age
  Milliseconds clock_skew{0};  ///< how far a record's stamp lies in the future
  /// true: `lag` (or `blocked_age`) comes from when earlier runs saw the log end: the record can
  /// have arrived then at the earliest, or had arrived by then. Its stamp says another time, or
  /// none.
  bool is_arrival_bound = false;
  /// Where (PipelineMemory::cuts) the log was cut below what had been seen, since the table has
  /// this checkpoint: what lies behind it is not what lay there. A table that had read further goes
  /// on behind records it has never read, and what was cut off it may not have read.
  std::optional<kafka::Offset> cut_at;
  /// Only when BLOCKED: age of the oldest record the open transaction holds back.
  std::optional<Milliseconds> blocked_age;
};

struct OldestRecord {
  kafka::TopicPartition partition;
  kafka::Offset offset = 0;
  int64_t timestamp_ms = 0;  ///< as stamped; -1 when it has none
  kafka::TimestampType timestamp_type = kafka::TimestampType::kNone;
  bool is_arrival_bound = false;  ///< the lag does not come from this stamp: see PartitionVerdict
};

struct PartitionCounts {
  int64_t total = 0, fresh = 0, lagging = 0, lost = 0, blocked = 0, ahead = 0, unknown = 0;
};

/// One pipeline at one moment. Absent numbers are suppressed ones: `reason` and `message` say why.
struct PipelineReport {
  std::string pipeline;
  std::string table;
  std::string
      cluster;  ///< name of the cluster in the configuration; empty when given by --bootstrap
  Mode mode = Mode::kStreaming;
  std::map<std::string, std::string> labels;

  PipelineStatus status = PipelineStatus::kUnknown;
  Reason reason = Reason::kOk;
  std::string message;  ///< one sentence with what to do

  std::optional<Milliseconds> lag;
  bool lag_is_lower_bound = false;
  Milliseconds sla{0};
  std::optional<double> sla_ratio;         ///< lag / sla, uncapped
  std::optional<double> sla_ratio_capped;  ///< min(1, min(lag, lag_cap) / sla)

  std::optional<lake::CommitPoint> commit;      ///< where the checkpoint was found
  std::optional<Milliseconds> commit_age;       ///< since that commit
  std::optional<Milliseconds> last_change_age;  ///< since the commit that last changed the offsets

  PartitionCounts counts;
  std::optional<OldestRecord> oldest;  ///< the record the lag comes from
  std::optional<int64_t> uncommitted_records;
  std::optional<int64_t> lost_records;
  std::optional<int64_t> retention_margin_records;  ///< least of all partitions
  std::optional<Milliseconds> retention_margin;     ///< least of all partitions
  std::optional<Milliseconds> clock_skew;           ///< greatest of all partitions

  std::vector<PartitionVerdict> partitions;  ///< by topic, partition
  std::vector<lake::Finding> findings;       ///< defects met while reading the table

  WallTime observed_at{};
  Milliseconds probe_duration{0};
  /// When the pipeline was last judged without doubt, where somebody looks again and again; nullopt
  /// for a single look.
  std::optional<WallTime> last_success{};
};

}  // namespace tidemark::freshness
