/// What a table says about its source: the newest committed checkpoint and how it was found. The
/// same values for every table format; lake/hudi fills them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "lake/finding.h"

namespace tidemark::lake {

/// What kind of position a checkpoint value is, told from its key and shape. Nothing in a table
/// names the source class, so a JDBC string column can imitate any of them (hudi-format §3.11).
enum class CheckpointKind {
  kKafka,         ///< topic with partition offsets; also one per writer in a JSON map
  kKinesis,       ///< stream with shard sequence numbers
  kPulsar,        ///< JSON object of message ids
  kInstant,       ///< instant time of another Hudi table
  kEpochMillis,   ///< file modification or event time; also a Kafka timestamp input in a reset key
  kSparkBatch,    ///< Spark structured streaming micro-batch ids; the offsets are not in the table
  kKafkaConnect,  ///< Kafka offsets without a topic name
  kFlink,         ///< a Flink checkpoint id; the offsets are not in the table
  kOther,
};

/// The contract's word, e.g. "kafka_connect". kFlink is "other" there.
std::string_view CheckpointKindName(CheckpointKind kind);

/// Committed next-offsets of one topic.
struct TopicOffsets {
  std::string topic;                   ///< empty for kKafkaConnect
  std::map<int32_t, int64_t> offsets;  ///< partition -> next offset to read, >= 0
  std::string writer;                  ///< id in a multi-writer map; empty otherwise

  friend bool operator==(const TopicOffsets&, const TopicOffsets&) = default;
};

struct SourceCheckpoint {
  std::string key;    ///< the metadata key it stood under, e.g. "streamer.checkpoint.key.v2"
  std::string value;  ///< as written
  CheckpointKind kind = CheckpointKind::kOther;
  /// For kKafka and kKafkaConnect, in the order written. Also for kFlink when the value names
  /// offsets; what they count is not established, so they are for showing only.
  std::vector<TopicOffsets> topics;
  /// Why the value cannot be read although its key or its shape announces offsets, "offset is over
  /// 9223372036854775807"; kind is then kOther. Empty for every value that is what it seems to be.
  std::string defect{};

  friend bool operator==(const SourceCheckpoint&, const SourceCheckpoint&) = default;
};

/// How the wall time of a commit is known. Instants are written in the zone of the writer, which
/// most tables do not name.
enum class CommitTimeSource {
  kUnknown,
  kInstant,   ///< the table says its instants are UTC
  kFileTime,  ///< modification time of the completed file, plausible against the instant in some
              ///< time zone
};

/// One completed commit with a usable checkpoint.
struct CommitPoint {
  std::string instant;  ///< requested time, "20240101120000123"
  std::string action;   ///< as completed: "commit", "deltacommit", "replacecommit"
  std::optional<std::string> completion;  ///< completion instant; layout 2 only
  bool is_archived = false;               ///< found in the archived timeline only
  /// Newer completed commits without a usable checkpoint that were passed over.
  int64_t commit_depth = 0;
  std::optional<WallTime> committed_at;  ///< nullopt exactly when source is kUnknown
  CommitTimeSource committed_at_source = CommitTimeSource::kUnknown;
  SourceCheckpoint checkpoint;
};

/// Result of walking a timeline back for a checkpoint.
struct CheckpointSearch {
  std::optional<CommitPoint> found;
  /// The oldest commit of the unbroken run of same-valued checkpoints that ends at `found`: when
  /// the offsets last changed. Equals `found` when its value differs from the one before; nullopt
  /// when the walk's bound came first.
  std::optional<CommitPoint> last_change;
  /// Completed commits looked at, `found` included.
  int64_t commits_examined = 0;
  /// Of those passed over before `found` (or before the walk ended), the ones that could not be
  /// read: each may hold a newer checkpoint than `found`. A damaged archive counts as one.
  int64_t commits_unreadable = 0;
  /// true: the bound on depth ended the walk, older commits were not looked at.
  bool is_depth_exhausted = false;
  std::vector<Finding> findings;
};

}  // namespace tidemark::lake
