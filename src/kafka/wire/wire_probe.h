/// The PartitionProbe on our own connections.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "kafka/partition_probe.h"

namespace tidemark::kafka::wire {

/// Opens a probe of one cluster and checks the properties; no broker is contacted before the first
/// Probe(). Keeps its connections, so a second Probe() is quicker. Understands Kafka 1.0 to 4.x.
///
/// Properties go by librdkafka's names. kInvalidArgument names one that is foreign
/// (ForeignProperty) or cannot be used; the value of one that may hold a secret is never shown.
class WireProbe {
 public:
  static Result<std::unique_ptr<PartitionProbe>> Open(const ClusterOptions& options);

  /// The name of a property that only librdkafka can do, or whose value it alone can (Kerberos,
  /// tokens that a server gives out, key stores, cipher lists); nullopt: Open() understands them
  /// all.
  static std::optional<std::string> ForeignProperty(const ClusterOptions& options);
};

}  // namespace tidemark::kafka::wire
