/// How a record was stamped, learned without reading it: brokers tell the first record stamped at
/// or after a time, which needs no right on payloads.
///
/// Asked about all times, that answer steps past a record's offset at the greatest stamp among it
/// and all records before it. Where stamps ascend (always when brokers stamp) this is the record's
/// own; else the record is stamped so or earlier, which makes its age at least what the stamp says.
#pragma once

#include <cstdint>
#include <optional>

#include "kafka/positions.h"

namespace tidemark::kafka {

/// A record as a look-up by time names it.
struct StampedOffset {
  Offset offset = 0;
  int64_t timestamp_ms = 0;
};

/// What is known of the record's stamp.
struct StampBound {
  int64_t timestamp_ms = 0;  ///< it is stamped so or earlier
  /// The record itself was named: the stamp is its own.
  bool is_own = false;
  /// It is the greatest stamp up to the record, to the millisecond: its own where stamps ascend.
  bool is_closed = false;
};

/// One record, which lies at `position`. One caller.
///
/// Look-ups about doubled spans find a time on either side, then interpolation and halving bring
/// them together: a week to the millisecond in at most 30 look-ups, mostly in less than ten.
class StampSearch {
 public:
  /// `first_ms`: the time to look up first, which alone tells whether the record is older.
  StampSearch(Offset position, int64_t first_ms, int64_t now_ms);

  /// The time to look up next; nullopt: there is no more to learn.
  std::optional<int64_t> Next() const;
  /// The first record stamped at or after Next(); nullopt: there is none.
  void Take(const std::optional<StampedOffset>& found);

  /// Whether the record must lie at `position`, or may be missing there, so that the next one is
  /// meant: compaction takes records out.
  enum class Holes { kNone, kPossible };
  /// nullopt: no stamp, or nothing was learned.
  std::optional<StampBound> Bound(Holes holes) const;

 private:
  int64_t Between(int64_t below, int64_t above) const;

  Offset position_;
  int64_t first_ms_;
  int64_t now_ms_;
  int look_ups_ = 0;
  bool has_stamps_ = true;
  std::optional<StampedOffset> below_;        // at or before the position, with the greatest stamp
  std::optional<int64_t> above_ms_;           // the least time whose record lies behind it
  std::optional<StampedOffset> above_found_;  // that record; nullopt: there is none
};

}  // namespace tidemark::kafka
