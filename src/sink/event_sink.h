/// `webhook:` The events of the feed to whoever takes CloudEvents over HTTP.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "push/http_receiver.h"
#include "sink/sink.h"

namespace tidemark::sink {

struct EventSinkOptions {
  std::string url{};
  push::HttpHeaders headers{};  ///< may be secret
  /// Events in one request, as a JSON array (CloudEvents' batch form); 1: each on its own.
  size_t batch = 1;

  friend bool operator==(const EventSinkOptions&, const EventSinkOptions&) = default;
};
inline constexpr size_t kEventBatchMax = 1000;
/// A request holds no more bytes of events, unless one alone is longer.
inline constexpr size_t kEventBytesMax = size_t{1} << 20;

/// What is sent where what led to a state is not known: {"type":"hudi.metadata.resync.v1",…} with
/// the table's stamp, schema version and fingerprint. Who gets it loads the table anew.
std::string ResyncEvent(const TableView& view, const SinkStamp& stamp);

/// The bodies of the requests, in order.
std::vector<std::string> EventBatches(const std::vector<std::string>& events, size_t most);

/// At least once and in order: after a failure all events of an update come again, with the ids
/// that they had.
class EventSink final : public Sink {
 public:
  explicit EventSink(EventSinkOptions options)
      : options_(std::move(options)), receiver_(options_.headers) {}

  SinkOutcome Apply(const SinkUpdate& update, const Budget& budget) override;
  /// The URL alone: an event that says nothing is nothing to send.
  Status Check(const Budget& budget) override;

 private:
  EventSinkOptions options_;
  push::HttpReceiver receiver_;
};

}  // namespace tidemark::sink
