#include "api/plain_json.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "api/json_writer_internal.h"
#include "api/list_shards_internal.h"

namespace tidemark::api {

namespace {

using change::Group;

struct Shard {
  size_t index = 0;
  size_t total = 0;
};

std::string_view PlainOp(change::PartitionOp op) {
  return op == change::PartitionOp::kDrop ? "DELETE" : PartitionOpName(op);
}

std::string PlainBody(const TableIdentity& table, const Group& group, std::string_view type,
                      std::string_view detail, const std::optional<Shard>& shard) {
  JsonWriter json;
  json.BeginObject();
  json.Key("tableId").Text(table.table_id);
  json.Key("instantTime");
  group.instant ? json.Text(group.instant->requested) : json.Null();
  json.Key("changeType").Text(type);
  json.Key("changeDetail").Raw(detail);
  json.Key("timestamp");
  group.time ? json.Integer(MillisOf(*group.time)) : json.Null();
  json.Key("schemaVersion").Integer(group.schema_version);
  json.Key("source").Text(EventSourceName(group.source));
  if (shard) {
    json.Key("shardIndex").Integer(static_cast<int64_t>(shard->index));
    json.Key("shardTotal").Integer(static_cast<int64_t>(shard->total));
  }
  json.EndObject();
  return json.text();
}

/// Name, type, nullable, default and comment of every column (R7, R19), and what changed (R15).
std::string PlainSchema(const change::SchemaChange& change) {
  JsonWriter json;
  json.BeginObject().Key("fields").BeginArray();
  for (const auto& column : change.schema.columns) {
    json.BeginObject();
    json.Key("name").Text(column.name);
    json.Key("type").Text(column.type);
    json.Key("nullable").Bool(column.is_nullable);
    json.Key("default");
    column.default_json ? json.Raw(*column.default_json) : json.Null();
    json.Key("comment");
    column.comment.empty() ? json.Null() : json.Text(column.comment);
    json.EndObject();
  }
  json.EndArray().Key("changes").BeginArray();
  for (const auto& diff : change.diff) {
    json.BeginObject().Key("op").Text(SchemaOpName(diff.op)).Key("name").Text(diff.path);
    json.Key("from").Text(diff.from).Key("to").Text(diff.to).EndObject();
  }
  json.EndArray().EndObject();
  return json.text();
}

std::string PlainPartition(const change::PartitionChange& change) {
  JsonWriter json;
  json.BeginObject().Key("path").Text(change.path);
  json.Key("op").Text(PlainOp(change.op)).EndObject();
  return json.text();
}

std::string PlainCommit(const change::CommitChange& change) {
  JsonWriter json;
  json.BeginObject().Key("commitType").Text(CommitTypeName(change.type));
  json.Key("fileCount").Integer(change.files_added).EndObject();
  return json.text();
}

}  // namespace

std::vector<ChangeEvent> PlainEvents(const TableIdentity& table, const Group& group,
                                     const EventLimits& limits) {
  std::vector<ChangeEvent> events;
  const auto add = [&](std::string_view type, std::string_view detail,
                       const std::optional<Shard>& shard = std::nullopt) {
    events.push_back(
        {.id = fmt::format("{}/{}/{}/{}", table.uid, group.epoch, group.seq, events.size()),
         .type = std::string(type),
         .body = PlainBody(table, group, type, detail, shard)});
  };
  if (group.schema) add("SCHEMA", PlainSchema(*group.schema));
  ListShards shards(limits);
  for (const auto& change : group.partitions) shards.Add(PlainPartition(change));
  const auto lists = shards.Take();
  for (size_t i = 0; i < lists.size(); ++i) {
    const auto shard =
        lists.size() > 1 ? std::optional(Shard{.index = i, .total = lists.size()}) : std::nullopt;
    add("PARTITION", fmt::format(R"({{"partitions":{}}})", lists[i]), shard);
  }
  if (group.commit) add("COMMIT", PlainCommit(*group.commit));
  return events;
}

}  // namespace tidemark::api
