#include "api/change_json.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "api/json_writer_internal.h"
#include "api/list_shards_internal.h"
#include "base/time_text.h"
#include "change/event_part.h"
#include "lake/hudi/partitions.h"
#include "storage/url_text.h"

namespace tidemark::api {

namespace {

using change::Digest;
using change::Group;
using change::Snapshot;
using lake::hudi::TableProperties;

constexpr size_t kUidDigits = 16;
/// One part before the digest of all of them is known.
struct Part {
  std::string_view change_type;  ///< "PARTITION"
  std::string_view type_word;    ///< "partition"
  std::string detail;
};

/// What all parts of one group, or pages of one snapshot, say alike.
struct Frame {
  std::string id;  // without the part
  int64_t epoch = 0;
  int64_t seq = 0;
  std::optional<change::Previous> previous{};
  std::string_view source;
  std::optional<change::InstantKey> instant{};
  std::optional<std::string> operation{};
  std::optional<std::string> completed{};
  std::optional<WallTime> file_time{};
  std::optional<WallTime> time{};
  bool is_late = false;
  std::string schema_fingerprint;
  int64_t schema_version = 0;
  int64_t partition_count = 0;
  Digest partition_digest;
  int table_version = 0;
};

void WriteFields(JsonWriter& json, const std::vector<change::Column>& columns) {
  json.BeginArray();
  for (const auto& column : columns) {
    json.BeginObject();
    json.Key("name").Text(column.name);
    json.Key("type").Text(column.type);
    json.Key("nullable").Bool(column.is_nullable);
    json.Key("default");
    column.default_json ? json.Raw(*column.default_json) : json.Null();
    json.Key("comment");
    column.comment.empty() ? json.Null() : json.Text(column.comment);
    json.Key("position").Integer(column.position);
    json.Key("id").IntegerOrNull(column.id);
    if (!column.children.empty()) {
      json.Key("fields");
      WriteFields(json, column.children);
    }
    json.EndObject();
  }
  json.EndArray();
}

std::string SchemaDetail(const change::SchemaChange& change) {
  JsonWriter json;
  json.BeginObject().Key("fields");
  WriteFields(json, change.schema.columns);
  json.Key("diff").BeginArray();
  for (const auto& diff : change.diff) {
    json.BeginObject().Key("op").Text(SchemaOpName(diff.op)).Key("path").Text(diff.path);
    json.Key("from");
    diff.from.empty() ? json.Null() : json.Text(diff.from);
    json.Key("to");
    diff.to.empty() ? json.Null() : json.Text(diff.to);
    json.EndObject();
  }
  json.EndArray().EndObject();
  return json.text();
}

void WriteValues(JsonWriter& json, std::string_view path, const TableProperties& properties) {
  json.Key("values").BeginArray();
  for (const auto& value : PartitionValues(path, properties)) json.TextOrNull(value.value);
  json.EndArray();
}

std::string PartitionJson(const change::PartitionChange& change,
                          const TableProperties& properties) {
  JsonWriter json;
  json.BeginObject().Key("path").Text(change.path);
  WriteValues(json, change.path, properties);
  json.Key("op").Text(PartitionOpName(change.op));
  json.Key("filesAdded").Integer(change.files_added);
  json.Key("filesRemoved").Integer(change.files_removed);
  json.Key("bytes").Integer(change.bytes);
  json.EndObject();
  return json.text();
}

std::string PageEntryJson(std::string_view path, const TableProperties& properties) {
  JsonWriter json;
  json.BeginObject().Key("path").Text(path);
  WriteValues(json, path, properties);
  json.EndObject();
  return json.text();
}

std::string_view BodyWord(change::BodyState body) {
  switch (body) {
    case change::BodyState::kRead: return "read";
    case change::BodyState::kEmpty: return "empty";
    case change::BodyState::kUnreadable: return "unreadable";
  }
  return "";
}

std::string CommitDetail(const change::CommitChange& change) {
  JsonWriter json;
  json.BeginObject().Key("commitType").Text(CommitTypeName(change.type));
  json.Key("filesAdded").Integer(change.files_added);
  json.Key("filesRemoved").Integer(change.files_removed);
  json.Key("partitionsTouched").Integer(change.partitions_touched);
  json.Key("recordsWritten").Integer(change.records_written);
  json.Key("recordsDeleted").Integer(change.records_deleted);
  json.Key("roVisible").Bool(change.is_ro_visible);
  json.Key("metadata").Text(BodyWord(change.body));
  json.Key("suspect").Bool(change.body != change::BodyState::kRead);
  if (!change.defect.empty()) json.Key("defect").Text(change.defect);
  json.Key("extraMetadata").BeginObject();
  for (const auto& [key, value] : change.extra) json.Key(key).Text(value);
  json.EndObject();
  if (change.type == change::CommitType::kArchivedRange) {
    json.Key("range").BeginObject().Key("from");
    change.range_first.empty() ? json.Null() : json.Text(change.range_first);
    json.Key("to");
    change.range_last.empty() ? json.Null() : json.Text(change.range_last);
    json.EndObject();
  }
  json.EndObject();
  return json.text();
}

std::string RestoreDetail(const std::vector<change::Retraction>& retracted) {
  JsonWriter json;
  json.BeginObject().Key("retracted").BeginArray();
  for (const auto& retraction : retracted) {
    json.BeginObject().Key("requestedTime").Text(retraction.instant.requested);
    json.Key("action").Text(retraction.instant.action);
    json.Key("seq").Integer(retraction.seq).EndObject();
  }
  json.EndArray().EndObject();
  return json.text();
}

void WriteProperty(JsonWriter& json, std::string_view key, const TableProperties& properties,
                   std::string_view property) {
  json.Key(key);
  const auto value = properties.Find(property);
  value && !value->empty() ? json.Text(*value) : json.Null();
}

std::string TableDetail(const change::TableChange& change, const TableProperties& properties) {
  JsonWriter json;
  json.BeginObject().Key("reason").Text(TableReasonName(change.reason));
  json.Key("tableName").Text(properties.name);
  json.Key("tableType")
      .Text(properties.type == lake::hudi::TableType::kMergeOnRead ? "MERGE_ON_READ"
                                                                   : "COPY_ON_WRITE");
  json.Key("tableVersion").Integer(properties.version);
  json.Key("layout").Integer(properties.layout);
  if (change.version_before != 0 || change.layout_before != 0) {
    json.Key("tableVersionBefore").Integer(change.version_before);
    json.Key("layoutBefore").Integer(change.layout_before);
  }
  WriteProperty(json, "partitionFields", properties, "hoodie.table.partition.fields");
  WriteProperty(json, "recordKeyFields", properties, "hoodie.table.recordkey.fields");
  json.EndObject();
  return json.text();
}

std::vector<Part> PartsOf(const Group& group, const TableProperties& properties,
                          const EventLimits& limits) {
  std::vector<Part> parts;
  if (!group.retracted.empty())
    parts.push_back({"RESTORE", "restore", RestoreDetail(group.retracted)});
  if (group.schema) parts.push_back({"SCHEMA", "schema", SchemaDetail(*group.schema)});
  ListShards shards(limits);
  for (const auto& change : group.partitions) shards.Add(PartitionJson(change, properties));
  for (const auto& list : shards.Take())
    parts.push_back({"PARTITION", "partition", fmt::format(R"({{"partitions":{}}})", list)});
  if (group.commit) parts.push_back({"COMMIT", "commit", CommitDetail(*group.commit)});
  if (group.table) parts.push_back({"TABLE", "table", TableDetail(*group.table, properties)});
  return parts;
}

std::vector<Part> PagesOf(const Snapshot& snapshot, const TableProperties& properties,
                          const EventLimits& limits) {
  ListShards shards(limits);
  for (const auto& path : snapshot.partitions) shards.Add(PageEntryJson(path, properties));
  auto lists = shards.Take();
  if (lists.empty()) lists.push_back("[]");
  JsonWriter fields;
  WriteFields(fields, snapshot.schema.columns);
  std::vector<Part> pages;
  for (const auto& list : lists) {
    const std::string schema =
        pages.empty() ? fmt::format(R"("fields":{},)", fields.text()) : std::string();
    pages.push_back(
        {"SNAPSHOT", "snapshot",
         fmt::format(R"({{"asOfSeq":{},{}"partitions":{}}})", snapshot.as_of_seq, schema, list)});
  }
  return pages;
}

std::string GroupDigest(const std::vector<Part>& parts) {
  std::vector<std::string_view> details;
  for (const auto& part : parts) details.push_back(part.detail);
  return HexOf(change::DigestOfDetails(details));
}

void WritePrevious(JsonWriter& json, const std::optional<change::Previous>& previous) {
  json.Key("prev");
  if (!previous) {
    json.Null();
    return;
  }
  json.BeginObject().Key("seq").Integer(previous->seq);
  json.Key("requestedTime");
  previous->instant ? json.Text(previous->instant->requested) : json.Null();
  json.Key("action");
  previous->instant ? json.Text(previous->instant->action) : json.Null();
  json.EndObject();
}

void WriteKnowledge(JsonWriter& json, const TableIdentity& table, const Frame& frame) {
  json.Key("schemaFingerprint");
  frame.schema_fingerprint.empty() ? json.Null() : json.Text(frame.schema_fingerprint);
  json.Key("partitionCount").Integer(frame.partition_count);
  json.Key("partitionDigest").Text(HexOf(frame.partition_digest));
  json.Key("tableVersion").Integer(frame.table_version);
  json.Key("basePath").Text(table.base_path);
  // When it went out is in the record's header: a body is the same at every try (decision 0015).
  json.Key("publishedAt").Null();
}

std::string DataJson(const TableIdentity& table, const Frame& frame, const Part& part,
                     std::string_view part_json) {
  const auto requested = frame.instant ? std::optional(frame.instant->requested) : std::nullopt;
  JsonWriter json;
  json.BeginObject();
  json.Key("tableId").Text(table.table_id);
  json.Key("instantTime").TextOrNull(requested);
  json.Key("changeType").Text(part.change_type);
  json.Key("changeDetail").Raw(part.detail);
  json.Key("timestamp");
  frame.time ? json.Integer(MillisOf(*frame.time)) : json.Null();
  json.Key("schemaVersion").Integer(frame.schema_version);
  json.Key("source").Text(frame.source);
  json.Key("uid").Text(table.uid);
  json.Key("epoch").Integer(frame.epoch);
  json.Key("seq").Integer(frame.seq);
  WritePrevious(json, frame.previous);
  json.Key("action");
  frame.instant ? json.Text(frame.instant->action) : json.Null();
  json.Key("operation").TextOrNull(frame.operation);
  json.Key("requestedTime").TextOrNull(requested);
  json.Key("completionTime").TextOrNull(frame.completed);
  json.Key("observedMtime").TimeOrNull(frame.file_time);
  json.Key("late").Bool(frame.is_late);
  json.Key("part").Raw(part_json);
  WriteKnowledge(json, table, frame);
  json.EndObject();
  return json.text();
}

std::string SourceOf(const TableIdentity& table, const TableProperties& properties) {
  std::string source = "/hudi/";
  if (!table.database.empty()) source += storage::UrlEncoded(table.database) + "/";
  return source + storage::UrlEncoded(properties.name);
}

ChangeEvent EventOf(const TableIdentity& table, const TableProperties& properties,
                    const Frame& frame, const Part& part, std::string id, std::string data) {
  ChangeEvent event{.id = std::move(id),
                    .type = fmt::format("hudi.metadata.{}.v1", part.type_word)};
  JsonWriter json;
  json.BeginObject();
  json.Key("specversion").Text("1.0");
  json.Key("id").Text(event.id);
  json.Key("source").Text(SourceOf(table, properties));
  json.Key("type").Text(event.type);
  if (frame.time) json.Key("time").Time(*frame.time);
  json.Key("datacontenttype").Text("application/json");
  // CloudEvents' sequence extension is compared as text.
  json.Key("sequence").Text(fmt::format("{:020}", frame.seq));
  json.Key("partitionkey").Text(table.uid);
  json.Key("data").Raw(data);
  json.EndObject();
  event.body = json.text();
  return event;
}

std::vector<ChangeEvent> Events(const TableIdentity& table, const TableProperties& properties,
                                const Frame& frame, const std::vector<Part>& parts) {
  const std::string digest = GroupDigest(parts);
  std::vector<ChangeEvent> events;
  events.reserve(parts.size());
  for (size_t i = 0; i < parts.size(); ++i) {
    const auto part_json =
        fmt::format(R"({{"index":{},"count":{},"groupDigest":"{}"}})", i, parts.size(), digest);
    events.push_back(EventOf(table, properties, frame, parts[i], fmt::format("{}/{}", frame.id, i),
                             DataJson(table, frame, parts[i], part_json)));
  }
  return events;
}

}  // namespace

std::string SchemaFieldsJson(const change::Schema& schema) {
  JsonWriter json;
  WriteFields(json, schema.columns);
  return json.text();
}

std::string TableUid(std::string_view base_path) {
  return HexOf(change::HashOf(base_path)).substr(0, kUidDigits);
}

TableIdentity IdentityOf(std::string_view base_path, const TableProperties& properties) {
  while (base_path.size() > 1 && base_path.ends_with('/')) base_path.remove_suffix(1);
  const std::string database(properties.Find("hoodie.database.name").value_or(""));
  return {.uid = TableUid(base_path),
          .table_id = database.empty() ? properties.name : database + "." + properties.name,
          .database = database,
          .base_path = std::string(base_path)};
}

std::vector<ChangeEvent> ChangeEvents(const TableIdentity& table, const TableProperties& properties,
                                      const Group& group, const EventLimits& limits) {
  const Frame frame{.id = fmt::format("{}/{}/{}", table.uid, group.epoch, group.seq),
                    .epoch = group.epoch,
                    .seq = group.seq,
                    .previous = group.previous,
                    .source = EventSourceName(group.source),
                    .instant = group.instant,
                    .operation = group.operation,
                    .completed = group.completed,
                    .file_time = group.file_time,
                    .time = group.time,
                    .is_late = group.is_late,
                    .schema_fingerprint = group.schema_fingerprint,
                    .schema_version = group.schema_version,
                    .partition_count = group.partition_count,
                    .partition_digest = group.partition_digest,
                    .table_version = group.table_version};
  return Events(table, properties, frame, PartsOf(group, properties, limits));
}

std::vector<ChangeEvent> SnapshotEvents(const TableIdentity& table,
                                        const TableProperties& properties, const Snapshot& snapshot,
                                        const EventLimits& limits) {
  const Frame frame{
      .id = fmt::format("{}/{}/{}/snapshot", table.uid, snapshot.epoch, snapshot.as_of_seq),
      .epoch = snapshot.epoch,
      .seq = snapshot.as_of_seq,
      .source = EventSourceName(snapshot.source),
      .instant = snapshot.newest,
      .time = snapshot.time,
      .schema_fingerprint = snapshot.schema.fingerprint,
      .schema_version = snapshot.schema_version,
      .partition_count = static_cast<int64_t>(snapshot.partitions.size()),
      .partition_digest = snapshot.partition_digest,
      .table_version = snapshot.table_version};
  return Events(table, properties, frame, PagesOf(snapshot, properties, limits));
}

}  // namespace tidemark::api
