/// The part of a probe that is the same whichever client asks: which partitions there are, when to
/// ask again, and when each is decided. A client library comes in as ClusterAsker.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/budget.h"
#include "base/clock.h"
#include "base/error.h"
#include "kafka/partition_probe.h"
#include "kafka/stamp_search.h"

namespace tidemark::kafka {

inline constexpr int32_t kNoBroker = -1;

struct DescribedTopic {
  TopicFacts facts;              ///< retention and clean-up policy left out
  std::vector<int32_t> leaders;  ///< broker id by partition; kNoBroker: none
};

struct Description {
  std::vector<DescribedTopic> topics;        ///< one per asked topic, in the order asked
  std::map<int32_t, std::string> addresses;  ///< "host:port" of the leaders, by broker id
};

/// One partition whose leader is to be found where the last description said.
struct Place {
  size_t topic = 0;  ///< in the request
  int32_t leader = kNoBroker;
  const std::string* address = nullptr;  ///< "host:port" of the leader; outlives the question
};

/// One partition to ask for its ends. The answer goes into `facts`: the ends, then the log start,
/// or the fault.
struct WatermarkTarget {
  PartitionFacts* facts = nullptr;  ///< borrowed for the call; without ends before it
  Place place;

  enum class Outcome {
    kSilent,  ///< while asking only
    kAnswered,
    kAgain,  ///< the fault may pass, or nobody answered
    kFault,  ///< the fault is final
  };
  Outcome outcome = Outcome::kSilent;
};

/// What a partition's log is asked for, in this order: records appended in between must never look
/// like an open transaction, so the high watermark goes before the last stable offset.
enum class LogEnd { kHigh, kStable, kStart };

/// Takes one answer into the target's facts; kStart comes last and completes them.
void TakeOffset(LogEnd end, Offset offset, WatermarkTarget* target);

/// One partition to read from.
struct SearchTarget {
  const PartitionFacts* facts = nullptr;  ///< borrowed for the call
  Place place;
  Offset from = 0;
  Offset end = 0;  ///< > from: records from here on are not looked at

  enum class Outcome {
    kUndecided,
    kRecord,      ///< `first` lies in [from, end)
    kEnd,         ///< there is none: the log was read to its end, or the next one lies beyond `end`
    kOutOfRange,  ///< the log no longer holds `from`, or ends before `end`: ask for both again
    kAgain,       ///< a fault that may pass
    kFault,       ///< a fault that will not
  };
  Outcome outcome = Outcome::kUndecided;
  FirstRecord first;
  ProbeFault fault = ProbeFault::kNone;
  std::string message;
};

/// One partition to ask for its first record stamped at `time_ms` or later.
struct TimeTarget {
  const PartitionFacts* facts = nullptr;  ///< borrowed for the call
  Place place;
  int64_t time_ms = 0;

  bool is_answered = false;
  std::optional<StampedOffset> found;  ///< nullopt, when answered: there is none
};

/// One partition to ask what it holds of an epoch.
struct EpochTarget {
  const PartitionFacts* facts = nullptr;  ///< borrowed for the call; has a leader_epoch
  Place place;
  int32_t epoch = 0;

  bool is_answered = false;
  std::optional<EpochEnd::Held> held;  ///< nullopt, when answered: the leader cannot tell
};

/// What a client library does for a probe. One caller.
class ClusterAsker {
 public:
  virtual ~ClusterAsker() = default;

  /// Before the first question of a probe, and after its last one.
  virtual void Begin() = 0;
  virtual void End() = 0;

  /// Asks for topics, whose names are legal ones. Also the first contact: kDenied when the cluster
  /// refuses us, kUnavailable when no broker answers in time, both early where waiting is no use;
  /// kCancelled.
  virtual Result<std::vector<DescribedTopic>> DescribeTopics(
      std::span<const std::string> topics, std::map<int32_t, std::string>* addresses,
      const Budget& budget) = 0;

  /// Asks for retention and clean-up policy in the background, of topics that exist. A refusal or
  /// no answer leaves the facts alone.
  virtual void AskConfigs(const std::vector<std::string>& topics, Milliseconds limit) = 0;
  virtual void CollectConfigs(std::span<TopicFacts> topics, Milliseconds limit) = 0;

  /// Asks every leader for its partitions. Returns when all are answered, when the budget ends, or
  /// when some have answered and the rest has been silent for `patience`. The result is when the
  /// last end was taken; nullopt when none was.
  virtual std::optional<WallTime> AskWatermarks(IsolationLevel isolation,
                                                std::span<WatermarkTarget> targets,
                                                Milliseconds patience, const Budget& budget) = 0;

  /// Looks records up by their stamps, uncommitted ones too. Returns when all are answered, the
  /// rest has been silent for `patience`, or the budget ends.
  virtual void AskOffsetsAt(std::span<TimeTarget> targets, Milliseconds patience,
                            const Budget& budget) = 0;

  /// Asks what logs hold of leader epochs. Returns as AskOffsetsAt() does. Only called where
  /// AskWatermarks() told leader epochs.
  virtual void AskEpochEnds(std::span<EpochTarget>, Milliseconds, const Budget&) {}

  /// Reads until every target is decided, nothing has come for `patience`, or the budget ends; the
  /// undecided ones get the reason of the silence. The errors are of the properties only. Returns
  /// the bytes received.
  virtual Result<uint64_t> SearchFirstRecords(IsolationLevel isolation,
                                              std::span<SearchTarget> targets,
                                              Milliseconds patience, const Budget& budget) = 0;

  /// Whether the cluster has refused us: nothing that is still open will be answered.
  virtual bool is_refused() const = 0;
  virtual std::string ClusterId() = 0;
};

/// The probe that describes, asks and searches in rounds until every partition is decided or the
/// budget ends.
std::unique_ptr<PartitionProbe> MakeProbe(std::unique_ptr<ClusterAsker> asker, RecordAccess access);

/// Of a topic's message.timestamp.type; kNone for a word it does not know.
TimestampType StampedBy(std::string_view setting);

/// Whether a topic may have this name. One that no topic can have is not to be sent: brokers do not
/// echo it, or refuse the whole question.
bool IsTopicName(std::string_view name);

}  // namespace tidemark::kafka
