/// From the user's properties to a librdkafka client that keeps the probe's promises.
#pragma once

#include <librdkafka/rdkafka.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "kafka/client/error_log_internal.h"
#include "kafka/client/handles_internal.h"
#include "kafka/client/socket_meter_internal.h"
#include "kafka/cluster_error.h"
#include "kafka/partition_probe.h"

namespace tidemark::kafka::client {

/// Whether librdkafka has a property of this name.
bool IsKnownProperty(const std::string& name);

/// Whether the value of a property must not appear in any message.
bool IsSecretProperty(std::string_view name);

/// What a client is for; decides which of our own settings it gets.
enum class Role {
  kAsker,   ///< metadata and offsets
  kReader,  ///< records; knows no broker until it is told
  kProducer,
};

/// The user's properties, checked, then `ours` on top.
///
/// kInvalidArgument names the property that librdkafka does not know, whose value it refuses, or
/// that would break a promise of the probe (group.id, auto.offset.reset, …). The value is shown
/// unless it may be a secret.
Result<Owned<rd_kafka_conf_t>> MakeConf(Role role, const ClusterOptions& options,
                                        const Properties& ours);

/// Settings of every client of a probe: it never writes, and never moves silently
/// (docs/decisions/0007-probing-with-librdkafka.md).
Properties ProbeSettings();

/// ProbeSettings(), and those of reading one record of each partition.
Properties ReaderSettings(IsolationLevel isolation, int64_t fetch_partition_bytes);

/// What is known of a client from outside: its complaints and its traffic.
struct Watch {
  ErrorLog errors;
  SocketMeter meter;
};

/// Makes the client and lets `watch`, which must outlive it, see what it does. kInvalidArgument
/// when the properties contradict each other (a SASL mechanism that is not built in, an unreadable
/// certificate file), naming the one to correct.
/// `properties` are the user's, for the message.
Result<Owned<rd_kafka_t>> OpenClient(Role role, Owned<rd_kafka_conf_t> conf,
                                     const Properties& properties, Watch* watch);

}  // namespace tidemark::kafka::client
