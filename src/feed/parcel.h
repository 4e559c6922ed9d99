/// What is sent for one table in one piece: events, snapshot pages, and what is remembered of the
/// table once they are out.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "api/change_json.h"
#include "api/feed_json.h"
#include "base/clock.h"
#include "change/planner.h"
#include "feed/event_log.h"
#include "feed/table_record.h"
#include "lake/hudi/properties.h"

namespace tidemark::feed {

/// Of one group in a parcel, for those who count.
struct GroupNote {
  std::optional<WallTime> completed{};  ///< of the commit it tells
  bool is_late = false;
};

struct Parcel {
  std::string uid{};
  std::vector<LogRecord> records{};  ///< the cursor's last
  std::string before{};              ///< StampOf() the record it goes on from; empty: there is none
  TableRecord after{};
  change::TableState state_after{};
  std::vector<GroupNote> groups{};
  size_t byte_count = 0;
};

struct ParcelOptions {
  api::EventLimits limits{};
  bool is_plain = false;  ///< groups in the flat form of api/plain_json.h
  WallTime now{};
  std::optional<Offset> control_next{};  ///< as in TableRecord, once this is out
};

/// Equal for equal records only.
std::string StampOf(const TableRecord& record);

/// From a plan to what is sent. `record`: what is remembered now. The epochs of a table that comes
/// after a dropped one go on where that one's ended.
Parcel MakeParcel(const api::TableIdentity& table, const lake::hudi::TableProperties& properties,
                  const std::optional<TableRecord>& record, change::Plan plan,
                  const ParcelOptions& options);

/// The table is gone: its last group, and nothing of it in the state topic. REQUIRES: a cursor.
Parcel MakeDropParcel(const TableRecord& record, const ParcelOptions& options);

/// What is remembered changes and nothing is told.
Parcel MakeQuietParcel(const std::optional<TableRecord>& before, TableRecord after,
                       change::TableState state);

/// The record "<uid>/head" of the state topic. REQUIRES: a cursor.
LogRecord HeadOf(const TableRecord& record, WallTime checked);

/// Bookmarks as records (P6).
std::vector<LogRecord> BookmarkRecords(PartitionId partition, std::span<const api::TableHead> heads,
                                       WallTime now, const api::EventLimits& limits);

}  // namespace tidemark::feed
