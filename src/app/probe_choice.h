/// Which Kafka client asks a cluster: our own, or librdkafka where it alone can
/// (docs/decisions/0009-our-own-kafka-client.md).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "kafka/partition_probe.h"

namespace tidemark::app {

/// A cluster's `client`, and --kafka-client.
enum class KafkaClient {
  kAuto,        ///< our own, unless a property is foreign to it
  kWire,        ///< our own; a foreign property is a mistake
  kLibrdkafka,
};

/// "auto", "wire", "librdkafka".
std::string_view KafkaClientName(KafkaClient client);
/// nullopt: none of the three words.
std::optional<KafkaClient> ParseKafkaClient(std::string_view word);

/// A cluster's `record_access`, and --record-access: "auto", "fetch", "describe".
std::optional<kafka::RecordAccess> ParseRecordAccess(std::string_view word);

struct ProbeChoice {
  KafkaClient client = KafkaClient::kWire;  ///< never kAuto
  std::string reason;                       ///< for people; names a property, never its value
};
ProbeChoice ChooseProbe(const kafka::ClusterOptions& options, KafkaClient wish);

/// A probe by the chosen client. kInvalidArgument names the property that it cannot use.
Result<std::unique_ptr<kafka::PartitionProbe>> OpenProbe(const kafka::ClusterOptions& options,
                                                         KafkaClient wish);

}  // namespace tidemark::app
