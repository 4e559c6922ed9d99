/// What was asked of tables over the control topic and is not done yet, as values: which requests
/// count, and what they come to together. No log and no clock here.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "feed/control.h"
#include "feed/event_log.h"
#include "feed/table_record.h"

namespace tidemark::feed {

/// Where following a partition of the control topic stands; both exclusive ends.
struct ControlPlace {
  Offset log_end = 0;  ///< where it ended when following began
  Offset heard = 0;    ///< everything before it was taken

  friend bool operator==(const ControlPlace&, const ControlPlace&) = default;
};

/// The first request of its partition that a table still has to hear. `record`: what is remembered
/// of it.
///
/// A table that was never published hears all: what they come to is what was wanted of it last. One
/// whose record does not say how far it heard (older releases) hears what came since `log_end`.
/// One that has heard more than there is had another topic: all of this one is new to it.
Offset FirstUnheard(const std::optional<TableRecord>& record, const ControlPlace& place);

/// What several requests to one table come to. Pausing and resuming undo each other, the last one
/// counts; the others are wanted once, however often they were asked for.
class TableRequests {
 public:
  /// In the order of their offsets.
  void Add(ControlAction action, Offset offset);
  /// Those before `next` are done, or were before.
  void Done(Offset next);

  bool is_empty() const { return !pause_ && !snapshot_ && !resync_; }
  std::optional<bool> pause() const;
  bool wants_snapshot() const { return snapshot_ || resync_; }
  bool wants_reconcile() const { return resync_.has_value(); }

  /// Up to where everything that was heard (`heard`, exclusive) is done once its pause or
  /// resumption is, and nothing else.
  Offset NextAfterPause(Offset heard) const;
  /// The same, once nothing at all is.
  Offset NextUndone(Offset heard) const;
  /// "pause, snapshot".
  std::string Text() const;

 private:
  struct Span {
    Offset first = 0;
    Offset last = 0;
  };
  struct PauseRequest {
    Offset offset = 0;
    bool is_paused = false;
  };
  static void Extend(std::optional<Span>& span, Offset offset);
  static void Cut(std::optional<Span>& span, Offset next);

  std::optional<PauseRequest> pause_;
  std::optional<Span> snapshot_;
  std::optional<Span> resync_;
};

/// Of all tables of one partition, also of those that are not known (yet).
class PartitionRequests {
 public:
  /// Following begins with all that the topic holds, which is `log_end` long. Gives why records of
  /// it are refused, as Take() does.
  std::vector<Error> Begin(std::span<const ReadRecord> records, Offset log_end);
  /// Another owner hears what comes.
  void End();
  bool has_begun() const { return place_.has_value(); }
  /// nullopt before Begin().
  std::optional<Offset> heard() const {
    return place_ ? std::optional(place_->heard) : std::nullopt;
  }

  /// What has come since. kInvalidArgument: no request; kExhausted: of too many tables.
  /// REQUIRES: has_begun().
  Result<ControlRequest> Take(const ReadRecord& record);

  /// Forgets what the table's record says is done. No effect before Begin().
  void Settle(const std::string& uid, const std::optional<TableRecord>& record);
  void Done(const std::string& uid, Offset next);

  /// Empty where nothing was asked.
  TableRequests Of(const std::string& uid) const;
  std::vector<std::string> Uids() const;

 private:
  std::optional<ControlPlace> place_;
  std::map<std::string, TableRequests> tables_;
};

}  // namespace tidemark::feed
