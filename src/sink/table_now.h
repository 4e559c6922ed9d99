/// A table at one stamp, whole and immutable, and what lies between two of them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sink/sink.h"

namespace tidemark::sink {

struct PartitionNow {
  PartitionView partition{};
  int64_t seq = 0;  ///< of the group that named it last
};

/// An event of a group, as listeners get it.
struct FeedEvent {
  int64_t seq = 0;
  std::string body{};
};

struct TableNow {
  SinkStamp stamp{};
  TableView view{};                        ///< its `partitions` is not used
  std::vector<PartitionNow> partitions{};  ///< ascending by path
  /// Of this epoch, in order and without a gap, at most as far back as they are kept.
  std::vector<FeedEvent> events{};
  int64_t events_from_seq = 0;  ///< `events` hold all of the groups after this one
};

/// nullopt where `from` is not of the same epoch, or not older. `with_events`: also nullopt where
/// events between the two are not kept any more. Cost: linear in the partitions.
std::optional<TableDelta> DeltaBetween(const TableNow& from, const TableNow& to, bool with_events);

/// The partitions alone.
std::vector<PartitionView> PartitionsOf(const TableNow& table);

}  // namespace tidemark::sink
