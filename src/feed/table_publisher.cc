#include "feed/table_publisher.h"

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>

#include "feed/table_reader.h"

namespace tidemark::feed {

namespace {

/// Equal for equal listings, as far as a process needs to know.
size_t HashOfListing(const storage::Listing& listing) {
  size_t hash = listing.objects.size();
  const auto mix = [&hash](size_t value) {
    hash ^= value + 0x9e3779b97f4a7c15U + (hash << 6U) + (hash >> 2U);
  };
  for (const auto& object : listing.objects) {
    mix(std::hash<std::string>()(object.key));
    mix(static_cast<size_t>(object.size));
    mix(static_cast<size_t>(MillisOf(object.modified)));
  }
  return hash;
}

}  // namespace

TablePublisher::TablePublisher(std::shared_ptr<const storage::ObjectStore> store,
                               std::shared_ptr<const storage::ObjectStore> parent,
                               lake::ColumnReaderSource columns, std::string base_path,
                               const PublishOptions& options)
    : store_(std::move(store)),
      parent_(std::move(parent)),
      columns_(std::move(columns)),
      base_path_(std::move(base_path)),
      uid_(api::TableUid(base_path_)),
      options_(options) {}

void TablePublisher::Begin(std::optional<TableRecord> record) {
  record_ = std::move(record);
  state_ = {.cursor = record_ ? record_->cursor : std::nullopt, .inventory = std::nullopt};
  told_folder_.clear();
  missing_rounds_ = 0;
}

/// What is not known stays as it was; a table that is new has heard nothing.
std::optional<Offset> TablePublisher::ControlNext(std::optional<Offset> known) const {
  if (known) return known;
  return record_ ? record_->control_next : Offset{0};
}

bool TablePublisher::WantsSnapshot(const TableWishes& wishes, WallTime now) const {
  if (!record_ || !record_->cursor) return false;
  if (wishes.snapshot || !record_->snapshot) return true;
  const auto& snapshot = *record_->snapshot;
  const auto& cursor = *record_->cursor;
  if (snapshot.epoch != cursor.epoch) return true;
  const int64_t behind = cursor.seq - snapshot.as_of_seq;
  return behind >= options_.snapshot_groups_max ||
         (behind > 0 && now - snapshot.published >= options_.snapshot_every);
}

/// nullopt: the folder is not there; what that means the reading says.
Result<std::optional<size_t>> TablePublisher::HashOfFolder(const std::string& folder,
                                                           const Budget& budget) const {
  const auto listing = store_->List(folder, {}, budget);
  if (listing) return std::optional(HashOfListing(*listing));
  if (listing.error().kind == ErrorKind::kNotFound) return std::optional<size_t>();
  return std::unexpected(listing.error());
}

Result<TableLook> TablePublisher::Look(const TableWishes& wishes, WallTime now,
                                       const Budget& budget) {
  if (record_ && record_->is_paused) return TableLook{};
  const bool wants_snapshot = WantsSnapshot(wishes, now);
  const std::string folder = std::exchange(told_folder_, "");
  // Taken before the reading, so that what comes in between is seen at the next look.
  std::optional<size_t> listed;
  if (!folder.empty()) {
    TRY_ASSIGN(listed, HashOfFolder(folder, budget));
    const bool is_wanted = wants_snapshot || wishes.reconcile;
    if (listed && listed == told_listing_ && !is_wanted &&
        ++looks_unread_ < options_.looks_unread_max) {
      told_folder_ = folder;
      return TableLook{};
    }
  }
  looks_unread_ = 0;
  const change::PlanOptions plan{.beginning = change::Beginning::kNow,
                                 .with_touches = options_.with_touches,
                                 .extra_keys = options_.extra_keys,
                                 .wants_snapshot = wants_snapshot,
                                 .wants_reconcile = wishes.reconcile && state_.cursor};
  auto reading = ReadChanges(*store_, columns_, state_, plan, budget);
  if (!reading && reading.error().kind == ErrorKind::kNotFound)
    return Missing(reading.error(), wishes, now, budget);
  if (!reading) return internal::Pass(reading);
  missing_rounds_ = 0;
  TableLook look{.is_restoring = reading->plan.is_paused,
                 .findings = std::move(reading->plan.findings)};
  if (look.is_restoring) return look;
  if (reading->plan.groups.empty() && reading->plan.snapshots.empty()) {
    state_ = std::move(reading->plan.after);
    // The first time the folder is not known yet: one more reading, and it is.
    told_folder_ = reading->properties.timeline_folder;
    told_listing_ = folder == told_folder_ ? listed : std::nullopt;
    return look;
  }
  told_folder_ = reading->properties.timeline_folder;
  told_listing_.reset();
  const auto identity = api::IdentityOf(base_path_, reading->properties);
  look.parcel = MakeParcel(identity, reading->properties, record_, std::move(reading->plan),
                           {.limits = options_.limits,
                            .is_plain = options_.is_plain,
                            .now = now,
                            .control_next = ControlNext(wishes.control_next)});
  return look;
}

Result<TableLook> TablePublisher::Missing(const Error& error, const TableWishes& wishes,
                                          WallTime now, const Budget& budget) {
  TableLook look{.is_missing = true};
  if (!record_ || !record_->cursor) return look;
  // Absence counts only where the store says so itself.
  if (const auto reachable = CheckReachable(budget); !reachable) {
    missing_rounds_ = 0;
    return std::unexpected(Error(reachable.error()).With(error.message));
  }
  if (++missing_rounds_ < options_.drop_rounds) return look;
  look.parcel = MakeDropParcel(
      *record_,
      {.limits = options_.limits, .now = now, .control_next = ControlNext(wishes.control_next)});
  return look;
}

Status TablePublisher::CheckReachable(const Budget& budget) const {
  if (const auto own = store_->List(".hoodie", {.start_after = "", .is_recursive = true}, budget)) {
    // Something is there: the properties alone are missing, which is no drop.
    if (!own->objects.empty())
      return Fail(ErrorKind::kConflict, "the folder .hoodie is there, but no table properties");
  } else if (own.error().kind != ErrorKind::kNotFound) {
    return std::unexpected(own.error());
  }
  if (store_->is_local()) TRY(CheckNothingInPlace(budget));
  if (!parent_) return {};
  TRY_ASSIGN(const auto around, parent_->List("", {}, budget));
  // An empty mount point looks like a folder whose tables are all gone.
  if (parent_->is_local() && around.objects.empty() && around.folders.empty())
    return Fail(ErrorKind::kUnavailable, "the folder around the table is empty");
  return {};
}

/// Something that is no folder (a file, a link that leads nowhere) stands where the table's own
/// folder was: somebody's mishap, which is no drop.
Status TablePublisher::CheckNothingInPlace(const Budget& budget) const {
  const auto around = store_->List("", {}, budget);
  if (!around && around.error().kind == ErrorKind::kNotFound) return {};
  if (!around) return std::unexpected(around.error());
  const auto is_own = [](const std::string& key) { return key == ".hoodie"; };
  if (std::ranges::none_of(around->objects, is_own, &storage::ObjectInfo::key) &&
      std::ranges::none_of(around->others, is_own))
    return {};
  return Fail(ErrorKind::kConflict, ".hoodie is there, but is no folder");
}

void TablePublisher::Sent(Parcel parcel) {
  record_ = std::move(parcel.after);
  state_ = std::move(parcel.state_after);
  if (!state_.cursor) state_.cursor = record_->cursor;
  missing_rounds_ = 0;
}

std::optional<Parcel> TablePublisher::Pause(bool is_paused, std::optional<Offset> control_next) {
  TableRecord after = record_.value_or(TableRecord{.uid = uid_, .base_path = base_path_});
  if (after.is_paused == is_paused) return std::nullopt;
  after.is_paused = is_paused;
  after.control_next = ControlNext(control_next);
  told_folder_.clear();
  return MakeQuietParcel(record_, std::move(after), state_);
}

std::optional<LogRecord> TablePublisher::Head(WallTime checked) const {
  if (!record_ || !record_->cursor || !record_->snapshot) return std::nullopt;
  return HeadOf(*record_, checked);
}

std::optional<Parcel> TablePublisher::KeepPending(std::optional<Offset> control_next) const {
  if (!record_ || !record_->cursor || !state_.cursor) return std::nullopt;
  const auto& kept = *record_->cursor;
  const auto& now = *state_.cursor;
  // One of an older release would hear nothing that is asked while nobody publishes.
  const bool is_kept = record_->control_next || !control_next;
  if (kept.pending == now.pending && kept.floor == now.floor && is_kept) return std::nullopt;
  TableRecord after = *record_;
  after.control_next = ControlNext(control_next);
  after.cursor = now;
  return MakeQuietParcel(record_, std::move(after), state_);
}

}  // namespace tidemark::feed
