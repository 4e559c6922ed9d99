/// What a client said about its connections while we waited: the reason behind a time-out.
#pragma once

#include <librdkafka/rdkafka.h>

#include <mutex>
#include <optional>
#include <string>

#include "kafka/partition_probe.h"

namespace tidemark::kafka::client {

/// The last complaint of each kind. librdkafka repeats them many times a second, so only one of
/// each is kept. Any thread: the callbacks run where rd_kafka_poll is called.
class ErrorLog {
 public:
  struct Entry {
    ProbeFault fault = ProbeFault::kNone;
    std::string message;
  };

  /// Takes one call of the client's error callback.
  void Add(rd_kafka_resp_err_t code, std::string reason);

  /// A refusal that waiting does not cure: authentication or TLS. nullopt when none was seen since
  /// Clear().
  std::optional<Entry> refusal() const;

  /// Why brokers cannot be reached ("Connect to ipv4#… failed: Connection refused"); empty when
  /// nothing was said.
  std::string transport() const;

  void Clear();

 private:
  mutable std::mutex mutex_;
  std::optional<Entry> refusal_;
  std::string transport_;
};

}  // namespace tidemark::kafka::client
