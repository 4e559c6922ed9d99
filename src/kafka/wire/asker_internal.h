/// ClusterAsker over our own connections: state that outlives a question, and the questions.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kafka/probe_rounds.h"
#include "kafka/wire/config_messages_internal.h"
#include "kafka/wire/connections_internal.h"
#include "kafka/wire/messages_internal.h"

namespace tidemark::kafka::wire {

/// What is remembered of a topic.
struct TopicMemory {
  TopicId id{};
  std::vector<int32_t> leader_epochs;  ///< by partition, of the last description
  /// What was enough for its batches lately; 0: not known.
  int32_t fetch_bytes = 0;
  /// Of the batches of the search under way.
  int64_t seen_count = 0;
  int64_t seen_bytes = 0;
  int64_t seen_bytes_max = 0;
};
using TopicMemories = std::unordered_map<std::string, TopicMemory>;

/// The leader epoch by the last description; kNoEpoch: not told. `topic` may be null.
int32_t EpochOf(const TopicMemory* topic, PartitionId partition);

/// One caller.
class WireAsker final : public ClusterAsker {
 public:
  WireAsker(ClusterOptions options, std::vector<BrokerAddress> bootstrap,
            std::unique_ptr<Settings> settings);

  void Begin() override;
  void End() override;

  Result<std::vector<DescribedTopic>> DescribeTopics(std::span<const std::string> topics,
                                                     std::map<int32_t, std::string>* addresses,
                                                     const Budget& budget) override;
  void AskConfigs(const std::vector<std::string>& topics, Milliseconds limit) override;
  void CollectConfigs(std::span<TopicFacts> topics, Milliseconds limit) override;
  std::optional<WallTime> AskWatermarks(IsolationLevel isolation,
                                        std::span<WatermarkTarget> targets, Milliseconds patience,
                                        const Budget& budget) override;
  void AskOffsetsAt(std::span<TimeTarget> targets, Milliseconds patience,
                    const Budget& budget) override;
  void AskEpochEnds(std::span<EpochTarget> targets, Milliseconds patience,
                    const Budget& budget) override;
  Result<uint64_t> SearchFirstRecords(IsolationLevel isolation, std::span<SearchTarget> targets,
                                      Milliseconds patience, const Budget& budget) override;
  bool is_refused() const override { return refusal_.has_value(); }
  std::string ClusterId() override { return cluster_id_; }

 private:
  class EpochLookUp;
  class FirstContact;
  template <class Request>
  class LeaderQuestion;
  class LogEnds;
  class TimeLookUp;
  class RecordSearch;

  std::vector<BrokerAddress> Candidates() const;
  std::vector<DescribedTopic> TakeMetadata(const MetadataResponse& response,
                                           std::span<const std::string> topics,
                                           std::map<int32_t, std::string>* addresses);
  void TakeConfigs(const DescribeConfigsResponse& response);
  void TakeFarewell(const Farewell& farewell);
  /// Of logs whose leader answers and gives no records: what lies in tiered storage is said in
  /// their messages.
  void NameTier(std::span<SearchTarget> targets, Milliseconds patience, const Budget& budget);
  /// The leader's address; null: it is not among the brokers of the last description.
  const BrokerAddress* AddressOf(int32_t broker) const;
  /// Null: it was never described.
  const TopicMemory* MemoryOf(const std::string& topic) const;

  ClusterOptions options_;
  std::vector<BrokerAddress> bootstrap_;
  std::unique_ptr<Settings> settings_;
  Connections connections_;  // after the settings
  std::map<int32_t, BrokerAddress> brokers_;
  TopicMemories topics_;
  std::string cluster_id_;
  std::optional<Refusal> refusal_;  // of this probe
  // Of this probe, where it was asked for: the first offset on the leader's own disk.
  std::map<TopicPartition, Offset> local_starts_;

  QuestionId config_question_ = 0;  // 0: none is open
  struct TopicConfig {
    std::optional<Milliseconds> retention;
    bool is_compacted = false;
    bool is_also_deleted = false;
    bool is_config_known = false;
    TimestampType stamped_by = TimestampType::kNone;
  };
  std::map<std::string, TopicConfig> configs_;
};

/// Why a partition is left open when its leader at `address` said nothing.
std::string SilenceWords(const std::string& address);

/// Waits in slices until `is_done`, the budget ends, or nothing has come for `patience`; before
/// the first answer it is more patient. `last_answer` is when something came; max: nothing has.
class Patience {
 public:
  Patience(Milliseconds limit, const Budget& budget);
  /// Something has come, or is told to come no earlier than that.
  void Renew(MonoTime moment);
  bool is_over() const;
  /// How long may be waited at once.
  Milliseconds Slice() const;

 private:
  const Budget& budget_;
  Milliseconds limit_;
  bool has_answer_ = false;
  MonoTime since_;
};

}  // namespace tidemark::kafka::wire
