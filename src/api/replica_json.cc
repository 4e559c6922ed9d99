#include "api/replica_json.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "api/change_json.h"
#include "api/change_parse.h"
#include "api/json_writer_internal.h"

namespace tidemark::api {

namespace {

using change::Replica;
using nlohmann::json;

void WriteInstant(JsonWriter& writer, const change::InstantKey& instant) {
  writer.Key("requestedTime").Text(instant.requested);
  writer.Key("action").Text(instant.action);
}

void WriteLatest(JsonWriter& writer, const std::optional<change::LatestCommit>& latest) {
  if (!latest) {
    writer.Null();
    return;
  }
  writer.BeginObject();
  WriteInstant(writer, latest->instant);
  writer.Key("seq").Integer(latest->seq);
  writer.Key("commitType").Text(CommitTypeName(latest->type));
  writer.Key("operation").TextOrNull(latest->operation);
  writer.Key("completionTime").TextOrNull(latest->completed);
  writer.Key("time").TimeOrNull(latest->time);
  writer.Key("extraMetadata").BeginObject();
  for (const auto& [key, value] : latest->extra) writer.Key(key).Text(value);
  writer.EndObject().EndObject();
}

void WriteTextOrNull(JsonWriter& writer, std::string_view text) {
  text.empty() ? writer.Null() : writer.Text(text);
}

void WriteIdentity(JsonWriter& writer, const TableStatus& table) {
  writer.Key("uid").Text(table.uid);
  writer.Key("tableId").Text(table.table_id);
  writer.Key("epoch").Integer(table.epoch);
  writer.Key("seq").Integer(table.seq);
}

void WriteStatus(JsonWriter& writer, const TableStatus& table) {
  WriteIdentity(writer, table);
  writer.Key("basePath").Text(table.base_path);
  writer.Key("status").Text(table.status);
  writer.Key("waitingFor");
  table.waiting_for ? writer.Text(RelistReasonName(*table.waiting_for)) : writer.Null();
  writer.Key("lag").Integer(table.lag);
  writer.Key("partitionCount").Integer(table.partition_count);
  writer.Key("partitionDigest").Text(table.partition_digest);
  writer.Key("schemaFingerprint");
  WriteTextOrNull(writer, table.schema_fingerprint);
  writer.Key("schemaVersion").Integer(table.schema_version);
  writer.Key("tableVersion").Integer(table.table_version);
  writer.Key("newestCommitTime").TimeOrNull(table.newest_time);
  writer.Key("latestCommit");
  WriteLatest(writer, table.latest);
}

JsonWriter Begun(std::string_view schema) {
  JsonWriter writer;
  writer.BeginObject().Key("schema").Text(schema);
  return writer;
}

// --- Reading what was kept. Of our own making: nlohmann reads it without exceptions. ---

std::unexpected<Error> Damaged(std::string_view member) {
  return Fail(ErrorKind::kCorrupt, fmt::format("kept table is damaged member={}", member));
}

std::optional<std::string> TextAt(const json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_string()) return std::nullopt;
  return found->get<std::string>();
}
std::optional<int64_t> IntegerAt(const json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_number_integer()) return std::nullopt;
  return found->get<int64_t>();
}
std::optional<WallTime> MillisAt(const json& object, const char* name) {
  const auto millis = IntegerAt(object, name);
  return millis ? std::optional(WallTimeFromMillis(*millis)) : std::nullopt;
}

template <class Enum>
std::optional<Enum> WordAt(const json& object, const char* name, Enum last,
                           std::string_view (*name_of)(Enum)) {
  const auto word = TextAt(object, name);
  for (int i = 0; word && i <= static_cast<int>(last); ++i)
    if (name_of(static_cast<Enum>(i)) == *word) return static_cast<Enum>(i);
  return std::nullopt;
}

std::optional<change::InstantKey> InstantAt(const json& object) {
  const auto requested = TextAt(object, "requested");
  const auto action = TextAt(object, "action");
  if (!requested || !action) return std::nullopt;
  return change::InstantKey{*requested, *action};
}

Status ReadLatest(const json& object, Replica& replica) {
  const auto found = object.find("latest");
  if (found == object.end() || found->is_null()) return {};
  if (!found->is_object()) return Damaged("latest");
  const auto instant = InstantAt(*found);
  const auto type =
      WordAt(*found, "type", change::CommitType::kUnknown, change::CommitTypeName);
  if (!instant || !type) return Damaged("latest");
  change::LatestCommit latest{.instant = *instant,
                              .seq = IntegerAt(*found, "seq").value_or(0),
                              .type = *type,
                              .operation = TextAt(*found, "operation"),
                              .completed = TextAt(*found, "completed"),
                              .time = MillisAt(*found, "time_ms")};
  if (const auto extra = found->find("extra"); extra != found->end() && extra->is_object()) {
    for (const auto& [key, value] : extra->items())
      if (value.is_string()) latest.extra.emplace(key, value.get<std::string>());
  }
  replica.latest = std::move(latest);
  return {};
}

Status ReadInstants(const json& object, Replica& replica) {
  const auto found = object.find("instants");
  if (found == object.end() || !found->is_array()) return Damaged("instants");
  for (const auto& entry : *found) {
    const auto instant = entry.is_object() ? InstantAt(entry) : std::nullopt;
    if (!instant) return Damaged("instants");
    replica.instants.push_back({*instant, IntegerAt(entry, "seq").value_or(0)});
  }
  return {};
}

Status ReadLast(const json& object, Replica& replica) {
  const auto found = object.find("last");
  if (found == object.end()) return Damaged("last");
  if (found->is_null()) return {};
  if (!found->is_object()) return Damaged("last");
  replica.last = change::Previous{.seq = replica.seq, .instant = InstantAt(*found)};
  return {};
}

json InstantOf(const change::InstantKey& instant) {
  return {{"requested", instant.requested}, {"action", instant.action}};
}

}  // namespace

std::string TablesJson(std::span<const TableStatus> tables, std::string_view next) {
  auto writer = Begun("tidemark.tables/1");
  writer.Key("tables").BeginArray();
  for (const auto& table : tables) {
    writer.BeginObject();
    WriteStatus(writer, table);
    writer.EndObject();
  }
  writer.EndArray().Key("next");
  WriteTextOrNull(writer, next);
  writer.EndObject();
  return writer.text();
}

std::string TableStatusJson(const TableStatus& table) {
  auto writer = Begun("tidemark.table/1");
  WriteStatus(writer, table);
  writer.EndObject();
  return writer.text();
}

std::string LatestCommitJson(const TableStatus& table) {
  auto writer = Begun("tidemark.table-commit/1");
  WriteIdentity(writer, table);
  writer.Key("latestCommit");
  WriteLatest(writer, table.latest);
  writer.EndObject();
  return writer.text();
}

std::string TableSchemaJson(const TableStatus& table, const change::Schema& schema) {
  auto writer = Begun("tidemark.table-schema/1");
  WriteIdentity(writer, table);
  writer.Key("schemaVersion").Integer(table.schema_version);
  writer.Key("schemaFingerprint");
  WriteTextOrNull(writer, schema.fingerprint);
  writer.Key("fields").Raw(SchemaFieldsJson(schema));
  writer.EndObject();
  return writer.text();
}

std::string TablePartitionsJson(const TableStatus& table, std::span<const PartitionEntry> entries,
                                const std::optional<std::string>& next) {
  auto writer = Begun("tidemark.table-partitions/1");
  WriteIdentity(writer, table);
  writer.Key("partitionCount").Integer(table.partition_count);
  writer.Key("partitionDigest").Text(table.partition_digest);
  writer.Key("partitions").BeginArray();
  for (const auto& entry : entries)
    writer.BeginObject().Key("path").Text(entry.path).Key("seq").Integer(entry.seq).EndObject();
  writer.EndArray().Key("next").TextOrNull(next).EndObject();
  return writer.text();
}

std::string WaitJson(const TableStatus& table, bool is_reached, Milliseconds waited) {
  auto writer = Begun("tidemark.table-wait/1");
  WriteIdentity(writer, table);
  writer.Key("reached").Bool(is_reached);
  writer.Key("waitedSeconds").Seconds(waited);
  writer.EndObject();
  return writer.text();
}

std::string TableNewsJson(const TableStatus& table, change::DecisionKind kind,
                          const std::optional<change::InstantKey>& instant,
                          size_t partitions_changed) {
  std::string_view what = "applied";
  if (kind == change::DecisionKind::kReplaced) what = "replaced";
  if (kind == change::DecisionKind::kRelist) what = "waiting";
  if (kind == change::DecisionKind::kHealed) what = "healed";
  auto writer = Begun("tidemark.table-news/1");
  WriteIdentity(writer, table);
  writer.Key("what").Text(what);
  writer.Key("status").Text(table.status);
  writer.Key("instant");
  if (instant) {
    writer.BeginObject();
    WriteInstant(writer, *instant);
    writer.EndObject();
  } else {
    writer.Null();
  }
  writer.Key("partitionsChanged").Integer(static_cast<int64_t>(partitions_changed));
  writer.EndObject();
  return writer.text();
}

std::string ReplicaText(const Replica& replica) {
  json object = {{"format", 1},
                 {"uid", replica.uid},
                 {"table_id", replica.table_id},
                 {"base_path", replica.base_path},
                 {"epoch", replica.epoch},
                 {"seq", replica.seq},
                 {"schema_fields", SchemaFieldsJson(replica.schema)},
                 {"schema_version", replica.schema_version},
                 {"partition_count", replica.partitions.size()},
                 {"partition_digest", HexOf(replica.partition_digest)},
                 {"table_version", replica.table_version},
                 {"is_dropped", replica.is_dropped}};
  object["last"] = nullptr;
  if (replica.last) {
    object["last"] = json::object();
    if (replica.last->instant) object["last"] = InstantOf(*replica.last->instant);
  }
  if (replica.held_for) object["held_for"] = RelistReasonName(*replica.held_for);
  if (replica.newest_time) object["newest_ms"] = MillisOf(*replica.newest_time);
  if (replica.latest) {
    json latest = InstantOf(replica.latest->instant);
    latest["seq"] = replica.latest->seq;
    latest["type"] = CommitTypeName(replica.latest->type);
    if (replica.latest->operation) latest["operation"] = *replica.latest->operation;
    if (replica.latest->completed) latest["completed"] = *replica.latest->completed;
    if (replica.latest->time) latest["time_ms"] = MillisOf(*replica.latest->time);
    latest["extra"] = replica.latest->extra;
    object["latest"] = std::move(latest);
  }
  object["instants"] = json::array();
  for (const auto& [instant, seq] : replica.instants) {
    json entry = InstantOf(instant);
    entry["seq"] = seq;
    object["instants"].push_back(std::move(entry));
  }
  return object.dump(-1, ' ', false, json::error_handler_t::replace);
}

Result<Replica> ParseReplicaText(std::string_view text) {
  const json object = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object() || IntegerAt(object, "format") != 1) return Damaged("format");
  Replica replica;
  const auto uid = TextAt(object, "uid");
  const auto epoch = IntegerAt(object, "epoch");
  const auto seq = IntegerAt(object, "seq");
  const auto digest = change::ParseHex(TextAt(object, "partition_digest").value_or(""));
  const auto fields = TextAt(object, "schema_fields");
  const auto version = IntegerAt(object, "table_version").value_or(-1);
  if (!uid || !epoch || *epoch < 0 || !seq || *seq < 0 || !digest || !fields || version < 0 ||
      version > 1'000'000) {
    return Damaged("uid, epoch, seq, table_version, partition_digest or schema_fields");
  }
  replica.uid = *uid;
  replica.table_id = TextAt(object, "table_id").value_or("");
  replica.base_path = TextAt(object, "base_path").value_or("");
  replica.epoch = *epoch;
  replica.seq = *seq;
  replica.partition_digest = *digest;
  TRY_ASSIGN(replica.schema, ParseSchemaFields(*fields));
  replica.schema_version = IntegerAt(object, "schema_version").value_or(0);
  replica.table_version = static_cast<int>(version);
  const auto dropped = object.find("is_dropped");
  replica.is_dropped = dropped != object.end() && dropped->is_boolean() && dropped->get<bool>();
  if (object.contains("held_for")) {
    replica.held_for =
        WordAt(object, "held_for", change::RelistReason::kAsked, change::RelistReasonName);
    if (!replica.held_for) return Damaged("held_for");
  }
  replica.newest_time = MillisAt(object, "newest_ms");
  TRY(ReadLast(object, replica));
  TRY(ReadLatest(object, replica));
  TRY(ReadInstants(object, replica));
  return replica;
}

}  // namespace tidemark::api
