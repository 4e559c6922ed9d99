/// The PartitionProbe on librdkafka.
#pragma once

#include <memory>

#include "base/error.h"
#include "kafka/partition_probe.h"

namespace tidemark::kafka::client {

/// Opens a probe of one cluster and checks the properties; no broker is contacted before the first
/// Probe(). Keeps its connections, so a second Probe() is quicker.
///
/// Any librdkafka property that says how to reach and to trust the cluster is taken
/// (security.protocol, sasl.*, ssl.*, socket.*, …). kInvalidArgument names a property that is
/// unknown, has an unusable value, or would break a promise of the probe (group.id,
/// isolation.level, …); the value of one that may hold a secret is never shown.
class RdKafkaProbe {
 public:
  static Result<std::unique_ptr<PartitionProbe>> Open(const ClusterOptions& options);
};

}  // namespace tidemark::kafka::client
