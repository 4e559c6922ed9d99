#include "sink/table_now.h"

namespace tidemark::sink {

std::optional<TableDelta> DeltaBetween(const TableNow& from, const TableNow& to, bool with_events) {
  if (from.stamp.epoch != to.stamp.epoch || from.stamp.seq >= to.stamp.seq) return std::nullopt;
  if (with_events && to.events_from_seq > from.stamp.seq) return std::nullopt;
  TableDelta delta{.from = from.stamp, .to = to.stamp};
  delta.has_schema_change = from.view.schema.fingerprint != to.view.schema.fingerprint;
  auto before = from.partitions.begin();
  for (const auto& now : to.partitions) {
    while (before != from.partitions.end() && before->partition.path < now.partition.path)
      delta.dropped.push_back((before++)->partition);
    if (before == from.partitions.end() || before->partition.path != now.partition.path) {
      delta.added.push_back(now.partition);
      continue;
    }
    // One that went and came again in between holds other files and is known all the same.
    if (now.seq > from.stamp.seq) delta.touched.push_back(now.partition);
    ++before;
  }
  for (; before != from.partitions.end(); ++before) delta.dropped.push_back(before->partition);
  if (!with_events) return delta;
  for (const auto& event : to.events)
    if (event.seq > from.stamp.seq) delta.events.push_back(event.body);
  return delta;
}

std::vector<PartitionView> PartitionsOf(const TableNow& table) {
  std::vector<PartitionView> partitions;
  partitions.reserve(table.partitions.size());
  for (const auto& each : table.partitions) partitions.push_back(each.partition);
  return partitions;
}

}  // namespace tidemark::sink
