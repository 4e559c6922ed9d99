/// What the feed's log says of one table: what its publisher remembers, and what a subscriber that
/// begins now would hold.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/budget.h"
#include "base/clock.h"
#include "base/error.h"
#include "change/subscriber.h"
#include "feed/event_log.h"
#include "feed/table_record.h"

namespace tidemark::feed {

struct ToldTable {
  std::optional<TableRecord> record{};  ///< nullopt: never published
  change::Replica replica{};            ///< epoch 0: there is nothing to hold
  std::set<int64_t> seqs{};             ///< whole groups of the record's epoch, in the event topic
  /// Records of the table that cannot be read.
  size_t poison_count = 0;
};

/// What the table's publisher remembers. Errors of the log; kCorrupt and kUnsupported for a record
/// that cannot be read. Cost: the records of one partition of the cursor topic.
Result<std::optional<TableRecord>> ReadTableRecord(EventLog& log, std::string_view uid,
                                                   const Budget& budget);

/// Errors of the log; kCorrupt and kUnsupported for a record of the publisher that cannot be read.
/// Cost: the records of one partition of the cursor, state and event topics.
Result<ToldTable> ReadToldTable(EventLog& log, std::string_view uid, const Clock& clock,
                                const Budget& budget);

}  // namespace tidemark::feed
