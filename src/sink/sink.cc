#include "sink/sink.h"

#include <fmt/format.h>

#include <iterator>
#include <map>
#include <utility>

namespace tidemark::sink {

namespace {

enum class Change { kAdded, kDropped, kTouched };

struct Entry {
  Change change;
  PartitionView partition;
};

using Entries = std::map<std::string, Entry>;

void Put(Entries& entries, std::vector<PartitionView> partitions, Change change) {
  for (auto& partition : partitions) {
    std::string path = partition.path;
    const auto before = entries.find(path);
    // Files that came into a partition which is new to the target do not make it known there.
    if (change == Change::kTouched && before != entries.end() &&
        before->second.change == Change::kAdded)
      continue;
    entries.insert_or_assign(std::move(path), Entry{change, std::move(partition)});
  }
}

}  // namespace

std::string StampText(const SinkStamp& stamp) {
  return fmt::format("{}/{}", stamp.epoch, stamp.seq);
}

std::string_view OutcomeKindName(OutcomeKind kind) {
  switch (kind) {
    case OutcomeKind::kApplied: return "applied";
    case OutcomeKind::kStale: return "stale";
    case OutcomeKind::kTemporary: return "temporary";
    case OutcomeKind::kPermanent: return "permanent";
  }
  return "";
}

void Append(TableDelta& delta, TableDelta next) {
  Entries entries;
  for (TableDelta* each : {&delta, &next}) {
    // A partition is in one of the lists; within one group the order does not matter.
    Put(entries, std::exchange(each->touched, {}), Change::kTouched);
    Put(entries, std::exchange(each->dropped, {}), Change::kDropped);
    Put(entries, std::exchange(each->added, {}), Change::kAdded);
  }
  for (auto& [path, entry] : entries) {
    auto& list = entry.change == Change::kAdded     ? delta.added
                 : entry.change == Change::kDropped ? delta.dropped
                                                    : delta.touched;
    list.push_back(std::move(entry.partition));
  }
  delta.to = next.to;
  delta.is_new |= next.is_new;
  delta.has_schema_change |= next.has_schema_change;
  std::ranges::move(next.events, std::back_inserter(delta.events));
}

SinkOutcome OutcomeOf(const Error& error) {
  switch (error.kind) {
    case ErrorKind::kUnavailable:
    case ErrorKind::kDenied:
    case ErrorKind::kConflict:
    case ErrorKind::kExhausted:
    case ErrorKind::kCancelled: return {.kind = OutcomeKind::kTemporary, .reason = error.message};
    default: return {.kind = OutcomeKind::kPermanent, .reason = error.message};
  }
}

}  // namespace tidemark::sink
