/// What one round over a pipeline teaches the next: pure values, kept by whoever runs rounds.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "kafka/partition_probe.h"
#include "kafka/positions.h"
#include "lake/commit_point.h"

namespace tidemark::freshness {

/// Sightings of one partition's log end that are kept. Those between the first two, which bound the
/// record that waits now, and the last are thinned out: once another record is the first, a bound
/// taken from them errs by a share of its age, not by a constant.
inline constexpr size_t kArrivalsMax = 32;

/// What earlier runs saw; everything may be empty (a first run). The store behind it is somebody
/// else's business.
struct PipelineMemory {
  /// Up to this moment the log end of the partition was seen at or below the committed offset:
  /// whatever waits there has arrived later. Keyed like the probe's partitions.
  struct Arrival {
    kafka::Offset end = 0;  ///< the end seen
    WallTime seen_at{};     ///< when last, our clock
    /// How long it had been seen by then. Less than 0 by what the first answer took: `seen_at` is
    /// when it was asked for.
    Milliseconds seen_for{0};
    /// By how much our clock was set forward since (AfterClockStep). Either it was wrong before, or
    /// we stood still meanwhile: the time since `seen_at` is between what our clock says and so
    /// much less.
    Milliseconds clock_advance{0};

    friend bool operator==(const Arrival&, const Arrival&) = default;
  };
  std::map<kafka::TopicPartition, std::vector<Arrival>> arrivals;  ///< by seen_at, ascending
  /// topic -> id when the checkpoint `checkpoint_value` was first judged
  std::map<std::string, std::string> topic_ids;
  /// The checkpoint that belongs to topic_ids and cluster_id: with another one in the table their
  /// difference means nothing any more. Empty: taken as the one in the table.
  std::string checkpoint_value;
  /// Timestamp of the record at an offset, learned while it was still in the log.
  struct Stamp {
    kafka::Offset offset = 0;
    int64_t timestamp_ms = 0;
    kafka::TimestampType timestamp_type = kafka::TimestampType::kNone;
    /// The committed offset after which this record is the first, and stays it while it is in the
    /// log; nullopt where compaction may remove records, or nobody told whether it may.
    std::optional<kafka::Offset> committed{};

    friend bool operator==(const Stamp&, const Stamp&) = default;
  };
  std::map<kafka::TopicPartition, Stamp> stamps;
  /// Who led a partition when it was last looked at, and what its log was then.
  struct Leadership {
    int32_t epoch = 0;
    kafka::Offset end = 0;  ///< what lies below is lost by no election but an unclean one
    /// Where the epoch began. nullopt: not told yet; kUntold: the leader cannot tell.
    std::optional<kafka::Offset> begin{};
    /// The epoch of what lies before `begin`; kNothing when nothing did.
    int32_t previous = kNothing;

    static constexpr kafka::Offset kUntold = -1;
    static constexpr int32_t kNothing = -1;
    friend bool operator==(const Leadership&, const Leadership&) = default;
  };
  std::map<kafka::TopicPartition, Leadership> leaderships;
  /// Where a log was cut below an end that had been seen, while the table had this checkpoint: what
  /// lies there now is not what was there. kSomewhere: nobody can tell where.
  std::map<kafka::TopicPartition, kafka::Offset> cuts;
  static constexpr kafka::Offset kSomewhere = -1;
  std::string cluster_id;
  /// Who was asked, by its name in the configuration, and at which level: AskedAs. Empty and
  /// nullopt: not told.
  std::string cluster;
  std::optional<kafka::IsolationLevel> isolation;
  /// The clock that all times here are of. nullopt: not told.
  std::optional<ClockReading> clock;

  friend bool operator==(const PipelineMemory&, const PipelineMemory&) = default;
};

/// `memory` with what `probe` saw added, once JudgePipeline has had both. Only proven facts are
/// learned: nothing from a partition with a fault, from another incarnation of its topic, or from
/// another cluster than the one the checkpoint belongs to. A new checkpoint takes the ids that are
/// there now, and what belonged to other ones is forgotten. Partitions and topics that the probe
/// does not name are forgotten too. Cost: linear in the partitions.
PipelineMemory Remember(PipelineMemory memory, const lake::SourceCheckpoint& checkpoint,
                        const kafka::ProbeResult& probe);

/// `memory` for a pipeline that asks `cluster` at `isolation` from now on. Of another cluster
/// nothing is known, and that the checkpoint's ids differ there proves nothing: somebody has
/// corrected the configuration. What is the first record depends on the level.
PipelineMemory AskedAs(PipelineMemory memory, const std::string& cluster,
                       kafka::IsolationLevel isolation);

/// `memory` once the table has another checkpoint than the one it belongs to: that one's ids bind
/// nothing any more, nor do cuts. Of another cluster nothing is known; of a topic that another one
/// replaced since, that the new one's log began after the last sighting of it. What the topics and
/// the cluster are called now is for the caller to learn.
void LeaveCheckpoint(PipelineMemory& memory, const kafka::ProbeResult& probe);

/// `memory` after what `facts` say of the partition's leader: where the log of a new leader is not
/// the one that was seen, that is added to `cuts`, and what was seen behind it is forgotten. The
/// same facts again change nothing.
void TakeLeader(PipelineMemory& memory, const kafka::PartitionFacts& facts);

/// `memory` as it reads once our clock was set by `step` (forward: > 0) against a steady one. Set
/// back, all that was seen moves along. Set forward, it stays, and how long ago it was is in doubt.
PipelineMemory AfterClockStep(PipelineMemory memory, Milliseconds step);

/// By how much the clock was set since `memory` was made, `now` being how it stands; zero where
/// that cannot be told.
Milliseconds ClockStepSince(const PipelineMemory& memory, const ClockReading& now);

/// Fills into the topics of a request what is remembered: first records that need no fetch, and the
/// leader epochs that tell whether they are still there. The probe uses them only where the topic's
/// id and log allow it.
void FillKnown(const PipelineMemory& memory, std::vector<kafka::ProbeRequest::Topic>& topics);

}  // namespace tidemark::freshness
