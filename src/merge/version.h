/// One version of one row, as any file holds it: a data record, a delete record or a base row. The
/// row itself stays outside; whoever reads it names it by a handle.
#pragma once

#include <compare>
#include <cstdint>

#include "merge/ordering_value.h"

namespace tidemark::merge {

/// The reader's own name for the bytes or the batch row behind a version. Merging only hands it
/// back.
using RowHandle = uint64_t;
inline constexpr RowHandle kNoRow = ~RowHandle{0};

enum class Op : uint8_t {
  kUpsert,
  kDelete,      ///< a record of a delete block, or a writer's payload without bytes (Flink's -D)
  kDeletedRow,  ///< a data record with _hoodie_is_deleted, or with the table's delete marker
  kOperationDelete,  ///< a data record whose _hoodie_operation is D (changelog mode)
  kOperationBefore,  ///< … is -U
};

/// What the commit that wrote it was (operationType of its metadata).
enum class WriterOperation : uint8_t { kUnknown, kUpsert, kDelete };

/// Where a version stands, in the order it arrived: commits by completion, then log files, blocks
/// and records as written. Versions of one commit and file came in one append flush, which writes
/// its data blocks first and its deletes last; what arrived in between is gone.
struct Place {
  uint32_t commit =
      0;               ///< rank of the instant that wrote it, for a base row by _hoodie_commit_time
  uint32_t file = 0;   ///< from 1 in the order of the file group's log files; 0 of a base file
  uint32_t block = 0;  ///< in the file
  uint32_t position = 0;  ///< in the block

  friend auto operator<=>(const Place&, const Place&) = default;
};

inline bool IsSameFlush(const Place& a, const Place& b) {
  return a.commit == b.commit && a.file == b.file;
}

struct Version {
  OrderingValue ordering;
  RowHandle row = kNoRow;
  Place place;
  /// A partial update: the reader's number of the set of columns the row has. 0: it has them all.
  uint32_t columns = 0;
  Op op = Op::kUpsert;
  WriterOperation writer = WriterOperation::kUnknown;
  /// Its block is the first with IS_PARTIAL of the slice, or comes after it. 1.x merges by other
  /// code from there on.
  bool is_partial_mode = false;
  /// A column of the row holds TableSettings::unavailable_value.
  bool has_unavailable = false;
};
static_assert(sizeof(Version) == 48);

/// How `columns` and the values of the rows make one row: from the top, a column that a row lacks
/// comes from the next; and so does one whose value is, by Fill, as good as not there.
enum class Fill : uint8_t {
  kNone,
  kNulls,         ///< null (PartialUpdateAvroPayload)
  kDefaults,      ///< equal to the schema's default (OverwriteNonDefaultsWithLatestAvroPayload)
  kNullDefaults,  ///< null where the schema's default is null (IGNORE_DEFAULTS of 1.1, which
                  ///< compares by reference, so that no other default ever matches)
  kUnavailable,   ///< the table's unavailable value, in string and bytes columns
};

}  // namespace tidemark::merge
