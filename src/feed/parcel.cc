#include "feed/parcel.h"

#include <algorithm>
#include <utility>

#include "api/plain_json.h"
#include "base/check.h"
#include "base/time_text.h"
#include "change/digest.h"

namespace tidemark::feed {

namespace {

using api::ChangeEvent;
using change::Group;

/// What is added to the bytes of a record for its frame.
constexpr size_t kRecordFrame = 64;

/// Of an event without an envelope.
Headers PlainHeadersOf(WallTime now) {
  return {{"content-type", "application/json"}, {"ce_publishedat", FormatRfc3339(now)}};
}

Headers HeadersOf(const ChangeEvent& event, WallTime now) {
  return {{"content-type", "application/cloudevents+json; charset=utf-8"},
          {"ce_specversion", "1.0"},
          {"ce_id", event.id},
          {"ce_type", event.type},
          // Not in the body, which is the same whenever it is sent (decision 0015).
          {"ce_publishedat", FormatRfc3339(now)}};
}

void AddEvents(std::vector<ChangeEvent> events, const std::string& uid, WallTime now,
               std::vector<LogRecord>& records) {
  for (auto& event : events) {
    Headers headers = HeadersOf(event, now);
    records.push_back({.topic = LogTopic::kEvents,
                       .key = uid,
                       .value = std::move(event.body),
                       .headers = std::move(headers)});
  }
}

LogRecord Tombstone(std::string key) {
  return {.topic = LogTopic::kState, .key = std::move(key), .value = std::nullopt};
}

/// Pages, then the head, and tombstones for pages that an earlier snapshot had beyond: together,
/// so that a reader finds one snapshot or the other.
void AddSnapshot(std::vector<ChangeEvent> pages, int64_t pages_before, WallTime now,
                 TableRecord& after, std::vector<LogRecord>& records) {
  const auto count = static_cast<int64_t>(pages.size());
  for (int64_t page = 0; page < count; ++page) {
    auto& event = pages[static_cast<size_t>(page)];
    Headers headers = HeadersOf(event, now);
    records.push_back({.topic = LogTopic::kState,
                       .key = api::StatePageKey(after.uid, page),
                       .value = std::move(event.body),
                       .headers = std::move(headers)});
  }
  for (int64_t page = count; page < pages_before; ++page)
    records.push_back(Tombstone(api::StatePageKey(after.uid, page)));
  after.snapshot->page_count = count;
  records.push_back(HeadOf(after, now));
}

/// Adds the cursor and counts.
void Close(Parcel& parcel) {
  parcel.records.push_back(
      {.topic = LogTopic::kCursor, .key = parcel.uid, .value = TableRecordText(parcel.after)});
  for (const auto& record : parcel.records) {
    parcel.byte_count += record.key.size() + kRecordFrame;
    if (record.value) parcel.byte_count += record.value->size();
  }
}

void ShiftEpochs(int64_t by, change::Plan& plan) {
  for (auto& group : plan.groups) group.epoch += by;
  for (auto& snapshot : plan.snapshots) snapshot.epoch += by;
  if (plan.after.cursor) plan.after.cursor->epoch += by;
}

}  // namespace

LogRecord HeadOf(const TableRecord& record, WallTime checked) {
  const auto& cursor = *record.cursor;
  const auto snapshot = record.snapshot.value_or(StoredSnapshot{});
  api::StateHead head{
      .table = {.uid = record.uid, .table_id = record.table_id, .base_path = record.base_path},
      .epoch = cursor.epoch,
      .as_of_seq = snapshot.as_of_seq,
      .page_count = snapshot.page_count,
      .head_seq = cursor.seq,
      .partition_count = cursor.partition_count,
      .partition_digest = HexOf(cursor.partition_digest),
      .schema_fingerprint = cursor.schema.fingerprint,
      .checked = checked};
  return {.topic = LogTopic::kState,
          .key = api::StateHeadKey(record.uid),
          .value = api::StateHeadJson(head)};
}

std::string StampOf(const TableRecord& record) {
  return HexOf(change::HashOf(TableRecordText(record)));
}

Parcel MakeParcel(const api::TableIdentity& table, const lake::hudi::TableProperties& properties,
                  const std::optional<TableRecord>& record, change::Plan plan,
                  const ParcelOptions& options) {
  const TableRecord before = record.value_or(TableRecord{});
  if (!before.cursor) ShiftEpochs(before.epochs_over, plan);
  Parcel parcel{.uid = table.uid, .before = record ? StampOf(*record) : ""};
  parcel.after = {.uid = table.uid,
                  .table_id = table.table_id,
                  .base_path = table.base_path,
                  .epochs_over = before.epochs_over,
                  .is_paused = before.is_paused,
                  .cursor = plan.after.cursor,
                  .snapshot = before.snapshot,
                  .control_next = options.control_next};
  for (const Group& group : plan.groups) {
    if (options.is_plain) {
      for (auto& event : PlainEvents(table, group, options.limits)) {
        parcel.records.push_back({.topic = LogTopic::kEvents,
                                  .key = table.uid,
                                  .value = std::move(event.body),
                                  .headers = PlainHeadersOf(options.now)});
      }
    } else {
      AddEvents(ChangeEvents(table, properties, group, options.limits), table.uid, options.now,
                parcel.records);
    }
    parcel.groups.push_back({.completed = group.time, .is_late = group.is_late});
  }
  if (!plan.snapshots.empty()) {
    // Only the newest can be loaded.
    const auto& snapshot = plan.snapshots.back();
    parcel.after.snapshot = StoredSnapshot{
        .epoch = snapshot.epoch, .as_of_seq = snapshot.as_of_seq, .published = options.now};
    AddSnapshot(SnapshotEvents(table, properties, snapshot, options.limits),
                before.snapshot ? before.snapshot->page_count : 0, options.now, parcel.after,
                parcel.records);
  }
  parcel.state_after = std::move(plan.after);
  Close(parcel);
  return parcel;
}

Parcel MakeDropParcel(const TableRecord& record, const ParcelOptions& options) {
  CHECK(record.cursor.has_value(), "only what was published is dropped");
  const auto& cursor = *record.cursor;
  Group group{.epoch = cursor.epoch,
              .seq = cursor.seq + 1,
              .previous = cursor.previous,
              .source = change::EventSource::kIncremental,
              .table = change::TableChange{.reason = change::TableReason::kDropped},
              .schema_fingerprint = cursor.schema.fingerprint,
              .schema_version = cursor.schema_version,
              .partition_count = cursor.partition_count,
              .partition_digest = cursor.partition_digest,
              .table_version = cursor.table_version};
  // The properties are gone with the table: what is remembered of them.
  lake::hudi::TableProperties properties;
  const size_t dot = record.table_id.rfind('.');
  properties.name = dot == std::string::npos ? record.table_id : record.table_id.substr(dot + 1);
  properties.version = cursor.table_version;
  properties.layout = cursor.layout;
  const api::TableIdentity table{
      .uid = record.uid,
      .table_id = record.table_id,
      .database = dot == std::string::npos ? "" : record.table_id.substr(0, dot),
      .base_path = record.base_path};
  Parcel parcel{.uid = record.uid, .before = StampOf(record)};
  AddEvents(ChangeEvents(table, properties, group, options.limits), record.uid, options.now,
            parcel.records);
  parcel.groups.push_back({});
  const int64_t pages = record.snapshot ? record.snapshot->page_count : 0;
  for (int64_t page = 0; page < pages; ++page)
    parcel.records.push_back(Tombstone(api::StatePageKey(record.uid, page)));
  parcel.records.push_back(Tombstone(api::StateHeadKey(record.uid)));
  parcel.after = record;
  parcel.after.epochs_over = cursor.epoch;
  parcel.after.is_dropped = true;
  parcel.after.control_next = options.control_next;
  parcel.after.cursor.reset();
  parcel.after.snapshot.reset();
  Close(parcel);
  return parcel;
}

Parcel MakeQuietParcel(const std::optional<TableRecord>& before, TableRecord after,
                       change::TableState state) {
  Parcel parcel{.uid = after.uid,
                .before = before ? StampOf(*before) : "",
                .after = std::move(after),
                .state_after = std::move(state)};
  Close(parcel);
  return parcel;
}

std::vector<LogRecord> BookmarkRecords(PartitionId partition, std::span<const api::TableHead> heads,
                                       WallTime now, const api::EventLimits& limits) {
  std::vector<LogRecord> records;
  AddEvents(api::BookmarkEvents(partition, heads, now, limits), "", now, records);
  return records;
}

}  // namespace tidemark::feed
