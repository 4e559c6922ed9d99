/// What the publisher remembers of a table, as it is stored beside the events it led to.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/error.h"
#include "change/table_state.h"
#include "kafka/positions.h"

namespace tidemark::feed {

/// A record of a later format is refused: what it means is not known here.
inline constexpr int kTableRecordFormat = 1;
/// A longer one is not read (kExhausted).
inline constexpr size_t kTableRecordBytesMax = size_t{64} << 20;

/// The snapshot that is in the state topic.
struct StoredSnapshot {
  int64_t epoch = 0;
  int64_t as_of_seq = 0;
  int64_t page_count = 0;
  WallTime published{};  ///< our clock

  friend bool operator==(const StoredSnapshot&, const StoredSnapshot&) = default;
};

struct TableRecord {
  std::string uid{};
  std::string table_id{};
  std::string base_path{};
  /// Epochs of the tables that were at this place and dropped: ours begin after it.
  int64_t epochs_over = 0;
  bool is_dropped = false;
  bool is_paused = false;  ///< an operator said so
  /// nullopt: never published, or dropped. Its epoch counts `epochs_over` in.
  std::optional<change::Cursor> cursor{};
  std::optional<StoredSnapshot> snapshot{};
  /// Requests to the table before this offset of the control topic are done. nullopt: an older
  /// release wrote the record.
  std::optional<kafka::Offset> control_next{};
};

/// One JSON object with a hash of itself, so that a damaged record is never taken for another.
std::string TableRecordText(const TableRecord& record);

/// kCorrupt for anything but a text of the above; kUnsupported for one of a newer version;
/// kExhausted.
Result<TableRecord> ParseTableRecord(std::string_view text);

}  // namespace tidemark::feed
