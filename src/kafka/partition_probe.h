/// The question tidemark asks of a Kafka cluster: for each partition, where does the log begin and
/// end, and what is the first record the table has not committed yet? The answer is facts, not
/// judgement (freshness/ judges).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/budget.h"
#include "base/clock.h"
#include "base/error.h"
#include "kafka/positions.h"

namespace tidemark::kafka {

/// Why a fact about a partition or topic could not be had.
enum class ProbeFault {
  kNone,
  kTimeout,            ///< the deadline came first; says nothing about emptiness
  kNoLeader,           ///< no broker leads the partition (election, or the only replica is down)
  kBrokerUnreachable,  ///< its leader does not answer
  kTopicMissing,  ///< the cluster does not know the topic (or hides it: no DESCRIBE right looks the
                  ///< same)
  kPartitionMissing,  ///< the topic has fewer partitions
  kTopicDenied,       ///< the topic's DESCRIBE or READ right is refused
  kAuthentication,    ///< user, password, token or mechanism refused
  kTls,               ///< certificate or handshake refused
  kTooLarge,          ///< the batch at the offset is over the receive limit
  kUndecodable,       ///< the batch at the offset cannot be decoded (codec, CRC)
  kOther,             ///< see the message
};

/// The word of a fault as it appears in reports, e.g. "no_leader".
std::string_view ProbeFaultName(ProbeFault fault);

/// The first record at or after an offset that a reader of the asked isolation level is given.
struct FirstRecord {
  Offset offset = 0;
  /// Milliseconds since 1970 on the clock of `timestamp_type`. -1 when the record has none (type
  /// kNone).
  int64_t timestamp_ms = -1;
  TimestampType timestamp_type = TimestampType::kNone;
};

/// A first record that an earlier probe found: of all records at or after the offset `after`,
/// `record` is the first, for the same topic and isolation level.
struct KnownFirst {
  Offset after = 0;
  FirstRecord record;

  /// Whether it answers a search from `start` in a log that may be read up to `end` (exclusive): no
  /// record before it can have come to be, and it is still there.
  bool Answers(Offset start, Offset end) const {
    return after <= start && start <= record.offset && record.offset < end;
  }
};

/// One partition to look at.
struct PartitionQuestion {
  TopicPartition partition;
  /// Next offset the table will read. nullopt: nothing committed for this partition, its first
  /// record is looked up from the log start.
  std::optional<Offset> committed;
};

/// What is known of the stamp of a record that was not read: ListOffsets by time tells the greatest
/// stamp up to an offset (kafka/stamp_search.h).
struct StampEstimate {
  /// The record is stamped so or earlier, so its age is at least what this says.
  int64_t timestamp_ms = 0;
  /// It is stamped exactly so: the broker named the record itself, or stamps ascend because the
  /// broker sets them.
  bool is_exact = false;
};

/// What a log holds of the leaders up to one: each append is made in the epoch of its leader.
struct EpochEnd {
  int32_t asked = 0;  ///< an epoch
  /// Of the epochs up to that one the greatest that the log has records of, and one past the last
  /// of them. Where the log has none up to it: that one, and where the log's first epoch begins.
  struct Held {
    int32_t epoch = 0;
    Offset end = 0;

    friend bool operator==(const Held&, const Held&) = default;
  };
  std::optional<Held> held;  ///< nullopt: the leader cannot tell, or has never known such an epoch

  friend bool operator==(const EpochEnd&, const EpochEnd&) = default;
};

/// What was seen of one partition. `committed`, then the ends, then the log start are taken in this
/// order, so a moving log never gives a negative lag.
struct PartitionFacts {
  TopicPartition partition;
  std::optional<Offset> committed;  ///< as asked

  /// First offset still in the log.
  std::optional<Offset> log_start;
  /// One past the last record, open transactions included.
  std::optional<Offset> high_watermark;
  /// One past the last record below every open transaction. Equals high_watermark when none is
  /// open. Only asked for kReadCommitted.
  std::optional<Offset> last_stable;
  /// Counts the leaders the partition has had, and says which one told `high_watermark`; grows with
  /// each election (KIP-101). nullopt: not told (brokers before 2.1, librdkafka).
  std::optional<int32_t> leader_epoch;
  /// Only where another leader leads than an earlier probe was told: what the log of now holds of
  /// that one's epoch. Not the whole of it: the log was cut (freshness/memory.h).
  std::optional<EpochEnd> former_epoch;
  /// Only where the leader is new to whoever asks, and not the first one: the epoch before its own
  /// in its log, and with it where its own begins. nullopt also where that was not answered.
  std::optional<EpochEnd> epoch_before;
  /// When the ends were asked for, on our clock: they were not taken before. nullopt: not told. A
  /// probe may ask several times; what answered first is older than the result's `observed_at`.
  std::optional<WallTime> asked_at;
  /// When they had been told at the latest. nullopt: not told.
  std::optional<WallTime> answered_at{};

  /// How the search from max(committed, log_start) ended. kNotSearched: not needed (caught up,
  /// ahead) or not possible (see fault). kEstimated: records were not read, for lack of a right to
  /// or by RecordAccess; something stands between the offsets, which may be a marker of a
  /// transaction.
  enum class Search { kNotSearched, kRecord, kEndOfPartition, kEstimated, kUndecided };
  Search search = Search::kNotSearched;
  std::optional<FirstRecord> first;       ///< exactly when search == kRecord
  std::optional<StampEstimate> estimate;  ///< exactly when search == kEstimated

  /// Only when last_stable < high_watermark and the committed offset has reached last_stable: the
  /// oldest record held back by the open transaction, read uncommitted.
  std::optional<FirstRecord> blocked_first;

  ProbeFault fault = ProbeFault::kNone;  ///< why something above is missing
  std::string fault_message;  ///< the client's words, secrets removed; empty when fault is kNone
};

/// What was seen of one topic.
struct TopicFacts {
  std::string topic;
  bool exists = false;
  int32_t partition_count = 0;
  /// Identity that a deleted and re-created topic does not share (KIP-516), base64; empty where the
  /// broker has none.
  std::string topic_id;
  /// retention.ms of the topic; nullopt when not asked, not permitted or unlimited (-1).
  std::optional<Milliseconds> retention;
  bool is_compacted = false;
  /// A compacted topic whose records are deleted by age too ("compact,delete"). Says nothing where
  /// is_compacted is false.
  bool is_also_deleted = false;
  /// Whether retention and clean-up policy were learned; false: the three above say nothing.
  bool is_config_known = false;
  /// Who stamps the records appended now (message.timestamp.type); kNone: not learned. Those in the
  /// log may have been stamped under another setting.
  TimestampType stamped_by = TimestampType::kNone;
  ProbeFault fault = ProbeFault::kNone;
  std::string fault_message;
};

/// Topics to look at in one cluster, all with one isolation level.
struct ProbeRequest {
  struct Topic {
    std::string name;
    /// Committed offsets. Partitions the topic has beyond these are looked at as well, from their
    /// log start.
    PartitionOffsets committed;
    /// Look up retention and clean-up policy too (needs DESCRIBE_CONFIGS; refusal is not a fault).
    bool wants_config = false;
    /// An age that matters: where stamps are estimated, whether a record is older is learned first.
    Milliseconds age_asked{0};
    /// Answers that are still right cost no fetch. Only used while the topic has `known_topic_id`,
    /// which must not be empty, and never of a compacted topic: compaction removes records from the
    /// middle of the log.
    std::map<PartitionId, KnownFirst> known_firsts{};
    std::string known_topic_id{};
    /// Whether epochs of leaders are to be asked about; costs a request to each new leader.
    bool wants_epochs = false;
    /// What an earlier probe was told, of the topic `known_topic_id` (or of one without an id, when
    /// that is empty). `known_firsts` count below the end of such an epoch only.
    struct KnownEpoch {
      int32_t epoch = 0;
      bool is_start_known = false;  ///< or known not to be told

      friend bool operator==(const KnownEpoch&, const KnownEpoch&) = default;
    };
    std::map<PartitionId, KnownEpoch> known_epochs{};
  };
  std::vector<Topic> topics;  ///< a topic may appear once only
  IsolationLevel isolation = IsolationLevel::kReadUncommitted;
};

struct ProbeResult {
  std::string cluster_id;                  ///< empty when unknown
  std::vector<TopicFacts> topics;          ///< one per asked topic, in the order asked
  std::vector<PartitionFacts> partitions;  ///< by topic in the order asked, then by partition
  /// When the ends were taken, on our clock: the `now` of every age.
  WallTime observed_at{};
  uint64_t bytes_fetched = 0;  ///< of record batches, as received
};

/// Asks one cluster. One contract, one test suite for every implementation.
///
/// Never joins a group, commits an offset, creates a topic or writes anything. Reads at most about
/// one batch a partition.
///
/// Stamps are only estimated for pipelines that read uncommitted, of topics not known to compact:
/// elsewhere offsets without a record are common, and nothing but reading tells them apart.
///
/// Probe() returns an Error only when nothing was learned about any topic: kUnavailable (no broker
/// answered in time), kDenied (authentication or TLS refused; the message says which and what to
/// check), kCancelled, kInvalidArgument (bad property, named). Everything smaller is a fault of its
/// topic or partition. It returns when every partition is decided, or at the budget's end with the
/// undecided ones marked kTimeout: an empty answer is never taken for an empty partition.
///
/// One caller at a time.
class PartitionProbe {
 public:
  virtual ~PartitionProbe() = default;
  virtual Result<ProbeResult> Probe(const ProbeRequest& request, const Budget& budget) = 0;
};

/// Whether records are read to learn their stamps, which takes the right to READ.
enum class RecordAccess {
  kAuto,      ///< read; where that right is refused, estimate
  kFetch,     ///< read; where that right is refused, it is a fault
  kDescribe,  ///< never read: estimate, which takes the right to DESCRIBE alone
};

/// How to reach a cluster: librdkafka property names, also understood by other implementations.
struct ClusterOptions {
  std::string bootstrap_servers;  ///< "host:port[,host:port…]"
  std::vector<std::pair<std::string, std::string>>
      properties;  ///< e.g. {"security.protocol", "SASL_SSL"}; may hold secrets
  RecordAccess record_access = RecordAccess::kAuto;
};

}  // namespace tidemark::kafka
