/// One table on its way to the feed: looked at again and again, each time for what is to be sent.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/budget.h"
#include "base/error.h"
#include "change/planner.h"
#include "feed/parcel.h"
#include "feed/table_record.h"
#include "lake/column_reader.h"
#include "lake/finding.h"
#include "storage/object_store.h"

namespace tidemark::feed {

struct PublishOptions {
  api::EventLimits limits{};
  bool is_plain = false;  ///< as ParcelOptions
  bool with_touches = true;
  std::vector<std::string> extra_keys{};
  /// The snapshot in the state topic is renewed when it is so old and groups followed it, or when
  /// so many did: whoever begins with it must find the groups after it in the event topic.
  Milliseconds snapshot_every = std::chrono::hours(24);
  int64_t snapshot_groups_max = 1000;
  /// So many looks in a row must find no table where the store answers.
  int drop_rounds = 3;
  /// An unchanged timeline folder is read all the same after so many looks: in layout 2 the
  /// properties lie elsewhere.
  int looks_unread_max = 10;

  friend bool operator==(const PublishOptions&, const PublishOptions&) = default;
};

/// What an operator or a subscriber asked for.
struct TableWishes {
  bool snapshot = false;
  bool reconcile = false;
  /// Requests before this offset of the control topic are done with it; nullopt: not known.
  std::optional<Offset> control_next{};
};

struct TableLook {
  std::optional<Parcel> parcel{};  ///< nothing is to be sent without
  bool is_restoring = false;       ///< nothing can be told before a restore is complete
  bool is_missing = false;         ///< no table is there; told as dropped after some rounds
  std::vector<lake::Finding> findings{};
};

/// One caller at a time.
class TablePublisher {
 public:
  /// `store` is the table's, `parent` the folder above it (nullptr: there is none).
  TablePublisher(std::shared_ptr<const storage::ObjectStore> store,
                 std::shared_ptr<const storage::ObjectStore> parent,
                 lake::ColumnReaderSource columns, std::string base_path,
                 const PublishOptions& options);

  const std::string& uid() const { return uid_; }

  /// What is remembered of the table, by whoever published it last.
  void Begin(std::optional<TableRecord> record);
  const std::optional<TableRecord>& record() const { return record_; }

  /// Errors are the store's, and those of ReadChanges: nothing is known then, and nothing is
  /// concluded. Cost: one listing of the timeline folder when that did not change, else
  /// ReadChanges.
  Result<TableLook> Look(const TableWishes& wishes, WallTime now, const Budget& budget);

  /// The parcel of the last look is out.
  void Sent(Parcel parcel);

  /// Publishes nothing, or goes on: the parcel that remembers it. nullopt: it is so already.
  /// `control_next` as in TableWishes, here and below.
  std::optional<Parcel> Pause(bool is_paused, std::optional<Offset> control_next);
  /// The head in the state topic anew (P6); nullopt before the first snapshot.
  std::optional<LogRecord> Head(WallTime checked) const;
  /// Instants that are under way have no group, but whoever takes over must know them, and from
  /// where on to hear requests: the parcel that remembers both; nullopt: they are remembered
  /// already.
  std::optional<Parcel> KeepPending(std::optional<Offset> control_next) const;

 private:
  std::optional<Offset> ControlNext(std::optional<Offset> known) const;
  bool WantsSnapshot(const TableWishes& wishes, WallTime now) const;
  Result<std::optional<size_t>> HashOfFolder(const std::string& folder, const Budget& budget) const;
  Result<TableLook> Missing(const Error& error, const TableWishes& wishes, WallTime now,
                            const Budget& budget);
  Status CheckReachable(const Budget& budget) const;
  Status CheckNothingInPlace(const Budget& budget) const;

  std::shared_ptr<const storage::ObjectStore> store_;
  std::shared_ptr<const storage::ObjectStore> parent_;
  lake::ColumnReaderSource columns_;
  std::string base_path_;
  std::string uid_;
  PublishOptions options_;
  std::optional<TableRecord> record_;
  change::TableState state_;
  int missing_rounds_ = 0;
  // The timeline folder as it was when there was nothing more to tell.
  std::string told_folder_;
  std::optional<size_t> told_listing_;
  int looks_unread_ = 0;
};

}  // namespace tidemark::feed
