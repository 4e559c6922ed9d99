#include "metrics/exporter_points.h"

#include <iterator>
#include <string_view>

#include "base/check.h"
#include "base/number_text.h"

namespace tidemark::metrics {

namespace {

std::optional<std::string> ValueOf(std::string_view family, const ExporterHealth& health) {
  if (family == "tidemark_exporter_up") {
    if (!health.is_up) return std::nullopt;
    return *health.is_up ? "1" : "0";
  }
  if (family == "tidemark_exporter_last_success_timestamp_seconds") {
    if (!health.last_success) return std::nullopt;
    return ShortSecondsText(health.last_success->time_since_epoch());
  }
  if (family == "tidemark_exporter_deliveries_total") return std::to_string(health.deliveries);
  if (family == "tidemark_exporter_failures_total") return std::to_string(health.failures);
  if (family == "tidemark_exporter_dropped_total") return std::to_string(health.dropped);
  return std::to_string(health.waiting);
}

}  // namespace

Points ExporterPoints(std::span<const ExporterHealth> exporters) {
  Points points;
  for (const Family& family : FamiliesOf(FamilyGroup::kExporter)) {
    for (const ExporterHealth& health : exporters) {
      if (auto value = ValueOf(family.name, health))
        points.push_back({&family, {{"exporter", health.name}}, *std::move(value)});
    }
  }
  return points;
}

Points WorkPoints(const WorkDone& work) {
  // In the order of the families.
  const uint64_t values[] = {work.looks,       work.looks_left_out, work.store_listings,
                             work.store_reads, work.kafka_probes,   work.kafka_bytes_fetched};
  const auto families = FamiliesOf(FamilyGroup::kWork);
  CHECK(families.size() == std::size(values), "a value for each family");
  Points points;
  for (size_t i = 0; i < families.size(); ++i)
    points.push_back({&families[i], {}, std::to_string(values[i])});
  return points;
}

Points CoordinationPoints(const std::optional<CoordinationHealth>& health) {
  Points points;
  if (!health) return points;
  for (const Family& family : FamiliesOf(FamilyGroup::kCoordination)) {
    const uint64_t value = family.name == "tidemark_coordination_member"
                               ? (health->is_member ? 1 : 0)
                               : health->owned_pipelines;
    points.push_back({&family, {{"group", health->group}}, std::to_string(value)});
  }
  return points;
}

Points QueuePoints(std::span<const QueueHealth> queues) {
  Points points;
  const auto add = [&](std::string_view name, const QueueHealth& queue, uint64_t value) {
    points.push_back(
        {&FamilyNamed(FamilyGroup::kQueue, name), {{"queue", queue.name}}, std::to_string(value)});
  };
  for (const auto& each : queues)
    if (each.is_up) add("tidemark_queue_up", each, *each.is_up ? 1 : 0);
  for (const auto& each : queues) add("tidemark_queue_messages_total", each, each.messages);
  for (const auto& each : queues)
    add("tidemark_queue_misunderstood_total", each, each.misunderstood);
  for (const auto& each : queues) add("tidemark_queue_failures_total", each, each.failures);
  return points;
}

}  // namespace tidemark::metrics
