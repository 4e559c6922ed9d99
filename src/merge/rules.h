/// A rule set: what one reader does at each point where two versions of a row meet. Profiles are
/// rule sets, not code of their own; docs/merge-rules.md tells what each does and where it goes
/// wrong.
#pragma once

#include <cstdint>
#include <string_view>

#include "merge/java_order.h"
#include "merge/version.h"

namespace tidemark::merge {

/// How values are compared.
enum class Comparison : uint8_t {
  kByValue,
  kInJava,  ///< as objects of the release's classes; throws where they differ
};

/// Which of two data records stays, the earlier or the later one.
enum class DataRule : uint8_t {
  kLater,
  kGreater,        ///< tie: the later
  kFirst,          ///< tie: the earlier
  kEventSeq,       ///< MySQL's "file.position", as numbers; tie: the later
  kEventSeqFirst,  ///< … tie: the earlier
  kWithinClass,  ///< the earlier only when greater and of the same class (PartialUpdateAvroPayload)
};

/// Whether a delete goes over what is there.
enum class DeleteRule : uint8_t {
  kWins,
  kWithinClass,  ///< loses only to a greater value of its own class
  kCompares,
};

/// What a delete without an ordering value means.
enum class SentinelRule : uint8_t {
  kPlain,     ///< nothing special once it is kept
  kIncoming,  ///< goes over everything; what comes later is compared with Integer 0
  kEither,    ///< goes over everything, and everything goes over it
  kResets,    ///< … and the base row is gone for good (R5)
};

enum class OperationRule : uint8_t {
  kIgnored,
  kDeleteWhenRead,  ///< a winner of operation D is not shown; -U is
  kDeletes,         ///< D and -U are deletes like any other
};

/// What a base row is that is marked as deleted: flagged, of a delete operation, or by the table's
/// marker. Writers leave such rows out; bulk_insert puts them in as they come.
enum class MarkedBase : uint8_t {
  kIsDelete,
  kIsRow,     ///< nobody looks at its mark
  kSwallows,  ///< … until a log row meets it, which is then gone with it
};

enum class ScanOrder : uint8_t {
  kOldestFirst,
  kNewestFileFirst,  ///< log files from the newest, the blocks inside each as written
};

struct Rules {
  Release release = Release::k1_1;  ///< whose Java classes
  ScanOrder scan = ScanOrder::kOldestFirst;
  bool is_event_time = false;  ///< R1-R6: the right answer

  DataRule log_data = DataRule::kGreater;
  Comparison log_comparison = Comparison::kByValue;
  DeleteRule log_delete = DeleteRule::kCompares;
  bool data_beats_delete = false;  ///< data after a delete in the logs is not compared with it
  bool sentinel_stays = false;     ///< a delete after a delete without value is dropped
  SentinelRule sentinel = SentinelRule::kPlain;
  bool null_fails = false;  ///< a data record without value in a log cannot be read

  DataRule base_data = DataRule::kGreater;
  Comparison base_comparison = Comparison::kByValue;
  DeleteRule base_delete = DeleteRule::kCompares;       ///< log delete against base row
  DeleteRule base_deleted_row = DeleteRule::kCompares;  ///< flagged log row against base row

  OperationRule operation = OperationRule::kDeletes;
  MarkedBase flagged_base = MarkedBase::kIsDelete;
  MarkedBase operation_base = MarkedBase::kIsDelete;  ///< a base row of operation D or -U
  Fill fill = Fill::kNone;
  /// Only the base row fills what the logs' winner lacks: the payload puts rows together when it
  /// updates a stored row, not when log records meet.
  bool base_alone_fills = false;
  /// An earlier record that wins stays as it is; only a later one is filled.
  bool earlier_is_not_filled = false;
  /// A delete in the logs parts what came before from what comes after: the base row fills no more.
  bool deletes_cut_base = false;
  /// Of rows put together the five meta columns are the later arrival's, whichever is on top.
  bool later_gives_meta = false;
  /// A delete of a row that only the logs have cannot be read (AWSDmsAvroPayload up to 0.15).
  bool delete_without_base_fails = false;
  /// Comparing a delete with data falls back to event time where the payload would not compare.
  bool payload_deletes_compare = false;
  /// 1.0.2 from the first partial block on: deletes and data are not compared.
  bool partial_mode_forgets_deletes = false;
  /// A writer's buffer in which a delete that beat another record loses its value.
  bool merged_delete_forgets = false;
};

/// Why a version stayed or went.
enum class Reason : uint8_t {
  kNone,             ///< nothing else was there
  kHigher,           ///< the later has the higher value
  kLower,            ///< the later has the lower value
  kTieLater,         ///< equal values: the later
  kTieEarlier,       ///< equal values: the earlier
  kLastArrival,      ///< no comparison asked for
  kComparedAsBytes,  ///< compared, but not by value
  kDeleteUnordered,  ///< deletes have no value to compare (0.10)
  kDeleteClass,      ///< the delete's value has another class: not compared
  kDeleteSentinel,   ///< a delete without value
  kSentinelStays,    ///< a delete after one without value
  kDataAfterDelete,  ///< data after a delete: not compared
  kAfterSentinel,    ///< data after a delete without value
  kDeleteBeatsBase,  ///< a log delete against the base row: not compared
  kOlderDelete,      ///< a delete of an older file, met after newer records
  kIncomparable,     ///< types that have nothing to do with each other
  kPartialMode,      ///< not compared because partial updates are in the slice
  kFailsOnClass,     ///< @{ the reader throws: ClassCastException,
  kFailsOnNull,      ///< a null ordering value,
  kFailsOnEventSeq,  ///< an _event_seq that is no "file.position",
  kFailsOnDelete,    ///< a delete with no base row below it @}
};

inline bool IsFailure(Reason reason) {
  return reason >= Reason::kFailsOnClass;
}

/// True of what stands for "the row is not there" under these rules.
bool IsDelete(const Rules& rules, Op op);

/// What these rules make of a base row with such a mark.
MarkedBase MarkOf(const Rules& rules, Op base);

/// A delete that Hudi takes as one without an ordering value; by the rules R1-R6 only one that has
/// none.
bool IsSentinelDelete(const Rules& rules, const Version& version);

/// One decision. `later` arrived after `earlier`; kFails… reasons leave `takes_later` false.
struct Decision {
  bool takes_later = false;
  Reason reason = Reason::kNone;
};

/// Between two records of the logs, in the order the rules' scan meets them.
Decision DecideInLog(const Rules& rules, const Version& current, const Version& incoming);

/// Between the base row and what the logs came to.
Decision DecideAgainstBase(const Rules& rules, const Version& base, const Version& log,
                           bool is_partial_mode);

}  // namespace tidemark::merge
