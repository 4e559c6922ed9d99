#include "api/log_json.h"

#include "api/json_writer_internal.h"
#include "lake/hudi/data_file_name.h"
#include "lake/hudi/delete_text.h"

namespace tidemark::api {

namespace {

using lake::hudi::DeleteRecord;
using lake::hudi::LogBlock;
using lake::hudi::LogBlockKind;
using lake::hudi::LogEntry;
using lake::hudi::LogEntryState;
using lake::hudi::LogHeaderKey;

std::optional<std::string> Owned(const std::optional<std::string_view>& text) {
  if (!text) return std::nullopt;
  return std::string(*text);
}

void WriteName(JsonWriter& json, std::string_view file) {
  const auto name = lake::hudi::ParseLogFileName(file.substr(file.rfind('/') + 1));
  json.Key("name");
  if (!name) {
    json.Null();
    return;
  }
  json.BeginObject();
  json.Key("file_id").Text(name->file_id);
  json.Key("instant").Text(name->instant);
  json.Key("version").Integer(static_cast<int64_t>(name->version));
  json.Key("write_token").Text(name->write_token);
  json.Key("cdc").Bool(name->is_cdc);
  json.EndObject();
}

void WriteDelete(JsonWriter& json, const DeleteRecord& record) {
  json.BeginObject();
  json.Key("key").TextOrNull(Owned(record.key));
  json.Key("partition").TextOrNull(Owned(record.partition));
  json.Key("ordering");
  if (record.ordering.branch == lake::hudi::DeleteBranch::kNull || !record.ordering.is_stored) {
    json.Null();
  } else {
    json.Text(OrderingText(record.ordering));
  }
  json.Key("ordering_type").Text(OrderingTypeText(record.ordering));
  json.EndObject();
}

void WriteBlock(JsonWriter& json, const LogBlock& block) {
  json.Key("version").Integer(int64_t{block.version});
  json.Key("kind").Text(LogBlockKindName(block.kind));
  const auto instant = block.Header(LogHeaderKey::kInstantTime);
  json.Key("instant");
  if (instant.empty()) {
    json.Null();
  } else {
    json.Text(instant);
  }
  json.Key("headers").BeginObject();
  for (const auto& [key, value] : block.header) json.Key(LogHeaderKeyName(key)).Text(value);
  json.EndObject();
  json.Key("content_offset").Integer(static_cast<int64_t>(block.content_offset));
  json.Key("content_size").Integer(static_cast<int64_t>(block.content.size()));
}

void WriteEntry(JsonWriter& json, const LogEntry& entry) {
  json.BeginObject();
  json.Key("offset").Integer(static_cast<int64_t>(entry.offset));
  json.Key("size").Integer(static_cast<int64_t>(entry.size));
  json.Key("state").Text(LogEntryStateName(entry.state));
  json.Key("reason");
  if (entry.reason.empty()) {
    json.Null();
  } else {
    json.Text(entry.reason);
  }
  if (entry.block) {
    WriteBlock(json, *entry.block);
    json.Key("content_version");
    if (entry.content_version) {
      json.Integer(int64_t{*entry.content_version});
    } else {
      json.Null();
    }
    json.Key("records");
    if (entry.records) {
      json.Integer(static_cast<int64_t>(*entry.records));
    } else {
      json.Null();
    }
    if (entry.block->kind == LogBlockKind::kDelete) {
      json.Key("deletes").BeginArray();
      ForEachDelete(*entry.block, [&](const DeleteRecord& record) { WriteDelete(json, record); });
      json.EndArray();
    }
  }
  json.EndObject();
}

}  // namespace

std::string LogJson(std::string_view file, uint64_t size, const lake::hudi::LogListing& listing) {
  JsonWriter json;
  json.BeginObject();
  json.Key("schema").Text("tidemark.log/1");
  json.Key("file").Text(file);
  json.Key("size").Integer(static_cast<int64_t>(size));
  WriteName(json, file);
  int64_t blocks = 0;
  int64_t damaged_bytes = 0;
  json.Key("entries").BeginArray();
  for (const LogEntry& entry : listing.entries) {
    WriteEntry(json, entry);
    if (entry.block) ++blocks;
    if (entry.state == LogEntryState::kDamaged || entry.state == LogEntryState::kTorn)
      damaged_bytes += static_cast<int64_t>(entry.size);
  }
  json.EndArray();
  json.Key("blocks").Integer(blocks);
  json.Key("damaged_bytes").Integer(damaged_bytes);
  json.Key("sound").Bool(damaged_bytes == 0 && !listing.Has(LogEntryState::kUnreadable));
  json.EndObject();
  return json.text();
}

}  // namespace tidemark::api
