#include "sink/event_sink.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace tidemark::sink {

namespace {

using nlohmann::ordered_json;

constexpr const char* kOne = "application/cloudevents+json; charset=utf-8";
constexpr const char* kMany = "application/cloudevents-batch+json; charset=utf-8";

}  // namespace

std::string ResyncEvent(const TableView& view, const SinkStamp& stamp) {
  const ordered_json data = {{"tableId", view.identity.table_id},
                             {"uid", view.identity.uid},
                             {"epoch", stamp.epoch},
                             {"seq", stamp.seq},
                             {"schemaVersion", view.schema_version},
                             {"schemaFingerprint", view.schema.fingerprint},
                             {"basePath", view.identity.base_path},
                             {"dropped", view.is_dropped}};
  const ordered_json event = {
      {"specversion", "1.0"},
      {"id", fmt::format("{}/{}/{}/resync", view.identity.uid, stamp.epoch, stamp.seq)},
      {"source", "/hudi/" + push::PathSegment(view.identity.table_id)},
      {"type", "hudi.metadata.resync.v1"},
      {"datacontenttype", "application/json"},
      {"sequence", fmt::format("{:020}", stamp.seq)},
      {"partitionkey", view.identity.uid},
      {"data", data}};
  return event.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

std::vector<std::string> EventBatches(const std::vector<std::string>& events, size_t most) {
  if (most <= 1) return events;
  std::vector<std::string> bodies;
  std::string body;
  size_t count = 0;
  const auto close = [&] {
    if (count > 0) bodies.push_back("[" + std::exchange(body, {}) + "]");
    count = 0;
  };
  for (const auto& event : events) {
    if (count == most || body.size() + event.size() > kEventBytesMax) close();
    if (count > 0) body += ',';
    body += event;
    ++count;
  }
  close();
  return bodies;
}

SinkOutcome EventSink::Apply(const SinkUpdate& update, const Budget& budget) {
  if (update.applied && *update.applied >= update.stamp) return {};
  const bool is_full = update.delta == nullptr;
  const std::vector<std::string> events =
      is_full ? std::vector{ResyncEvent(update.now, update.stamp)} : update.delta->events;
  for (const auto& body : EventBatches(events, options_.batch)) {
    const auto sent = receiver_.Send({.method = "POST",
                                      .url = options_.url,
                                      .content_type = options_.batch <= 1 ? kOne : kMany,
                                      .body = body},
                                     budget);
    if (sent) continue;
    SinkOutcome outcome = OutcomeOf(sent.error());
    if (outcome.kind == OutcomeKind::kPermanent)
      outcome.cure = "look why the receiver refuses the event, then resume the sink";
    return outcome;
  }
  return {.was_full = is_full};
}

Status EventSink::Check(const Budget& budget) {
  TRY(budget.Check());
  return push::CheckHttpUrl(options_.url);
}

}  // namespace tidemark::sink
