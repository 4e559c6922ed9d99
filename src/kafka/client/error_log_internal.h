/// What a client said about its connections while we waited: the reason behind a time-out.
#pragma once

#include <librdkafka/rdkafka.h>

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "kafka/partition_probe.h"

namespace tidemark::kafka::client {

/// A complaint of librdkafka without what it adds about itself: "… failed: Connection refused
/// (after 0ms in state CONNECT, 1 identical error(s) suppressed)" ends with "refused".
std::string_view CauseOf(std::string_view complaint);

/// The last complaint of each kind, its cause only. librdkafka repeats them many times a second, so
/// only one of each is kept. Any thread: errors arrive where rd_kafka_poll is called, log lines
/// anywhere.
class ErrorLog {
 public:
  struct Entry {
    ProbeFault fault = ProbeFault::kNone;
    std::string reason;
    MonoTime since{};  ///< when the first of its kind came
  };

  /// Takes one call of the client's error callback.
  void Add(rd_kafka_resp_err_t code, std::string_view complaint);

  /// Takes a line of the client's log about a lost connection: some losses are told nowhere else.
  void AddLogLine(std::string_view line);

  /// A refusal that waiting does not cure: authentication or TLS. nullopt when there was none.
  std::optional<Entry> refusal() const;

  /// Since when no broker at all can be reached; nullopt when that was never said.
  std::optional<MonoTime> all_down_since() const;

  /// Why brokers cannot be reached ("10.0.0.7:9092/2: Connect to ipv4#10.0.0.7:9092 failed:
  /// Connection refused"), the last complaint of all; empty when nothing was said.
  std::string transport() const;

  /// The same of the broker at `address` ("host:port").
  std::string transport_of(const std::string& address) const;

  void Clear();

 private:
  void Keep(std::string_view reason);

  mutable std::mutex mutex_;
  std::optional<Entry> refusal_;
  std::optional<MonoTime> all_down_since_;
  std::string transport_;
  bool is_transport_from_log_ = false;
  std::map<std::string, std::string, std::less<>> by_broker_;  ///< by the reason's first word
};

}  // namespace tidemark::kafka::client
