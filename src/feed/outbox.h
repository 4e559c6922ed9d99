/// One partition of the feed as its owner holds it: what is remembered of its tables, and the only
/// way to write to it.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/budget.h"
#include "base/error.h"
#include "feed/event_log.h"
#include "feed/parcel.h"
#include "feed/table_record.h"

namespace tidemark::feed {

/// One try to send, with all that belongs to it (R30).
inline constexpr Milliseconds kTryTime = std::chrono::seconds(5);

/// What became of one parcel.
struct ParcelOutcome {
  /// Ok: it is out, once. kConflict: see is_stale; or the partition has another owner now. Anything
  /// else: it is not out, or that is not known yet; send the same parcel again, and what is found
  /// out first decides whether it is.
  Status status{};
  /// Another process has sent for this table meanwhile: read what is remembered, and plan anew.
  bool is_stale = false;
};

/// Groups and cursor go out in one transaction or not at all, and whether they did is read back
/// when it is in doubt: so each group is out exactly once, whatever happens to this process. A
/// table of which nothing is remembered is new, or its record was lost with the cursor topic: what
/// the state topic has of it decides, so that it never begins an epoch anew that subscribers are
/// in. One caller at a time.
class Outbox {
 public:
  /// `log` outlives it.
  Outbox(EventLog& log, PartitionId partition) : log_(log), partition_(partition) {}

  /// Takes the partition over from whoever had it, and reads back what is remembered. May be
  /// repeated.
  Status Open(const Budget& budget);
  /// False before Open(), and after another owner has come or a doubt could not be cleared.
  bool is_open() const { return writer_ != nullptr; }

  /// Of all tables that were ever published here; by uid.
  const std::map<std::string, TableRecord>& tables() const { return tables_; }
  /// Tables whose record cannot be read (kCorrupt, kUnsupported): nothing can be sent for them.
  const std::map<std::string, Error>& refused() const { return refused_; }

  /// Sends all in one transaction, at most one parcel a table; those that the log refuses because
  /// of what they are do not keep the others back. One outcome each. Opens first where that is
  /// needed, except after a new owner was found (kConflict for all).
  std::vector<ParcelOutcome> Send(std::span<const Parcel* const> parcels, const Budget& budget);

  /// Bookmarks: lost without harm.
  Status SendNotes(std::span<const LogRecord> records, const Budget& budget);

 private:
  Status ReadBack(const Budget& budget);
  /// Looks for tables that were published although nothing is remembered of them.
  Status FindLost(std::span<const Parcel* const> parcels, const Budget& budget);
  Status ReadHeads(const Budget& budget);
  Status SendAll(std::span<const Parcel* const> parcels, const Budget& budget);
  /// Decides what needs no sending; nullopt: it is to be sent.
  std::optional<ParcelOutcome> Known(const Parcel& parcel) const;
  void Note(const Parcel& parcel);
  void Lose(ErrorKind kind);

  EventLog& log_;
  PartitionId partition_;
  std::unique_ptr<LogWriter> writer_;
  bool is_lost_ = false;
  Offset next_ = 0;  // of the cursor topic
  Offset next_head_ = 0;  // of the state topic
  bool knows_heads_ = false;
  std::map<std::string, StoredSnapshot> heads_;  // newest snapshots by uid, as far as they are read
  std::map<std::string, TableRecord> tables_;
  std::map<std::string, std::string> stamps_;  // of tables_
  std::map<std::string, Error> refused_;
};

}  // namespace tidemark::feed
