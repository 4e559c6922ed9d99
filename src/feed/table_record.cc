#include "feed/table_record.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "change/digest.h"

namespace tidemark::feed {

namespace {

using change::Column;
using change::Cursor;
using change::InstantKey;
using nlohmann::json;

/// Deeper schemas than Hudi's own reader takes are not written.
constexpr int kColumnDepthMax = 256;

json JsonOf(const std::optional<std::string>& text) {
  return text ? json(*text) : json(nullptr);
}

json JsonOf(const InstantKey& key) {
  return json::array({key.requested, key.action});
}

json JsonOf(const Column& column) {
  json object = {{"name", column.name},
                 {"path", column.path},
                 {"type", column.type},
                 {"nullable", column.is_nullable},
                 {"default", JsonOf(column.default_json)},
                 {"comment", column.comment},
                 {"position", column.position}};
  object["id"] = column.id ? json(*column.id) : json(nullptr);
  if (!column.children.empty()) {
    json& fields = object["fields"] = json::array();
    for (const auto& child : column.children) fields.push_back(JsonOf(child));
  }
  return object;
}

json JsonOf(const change::Schema& schema) {
  json columns = json::array();
  for (const auto& column : schema.columns) columns.push_back(JsonOf(column));
  return {{"fingerprint", schema.fingerprint}, {"columns", std::move(columns)}};
}

json JsonOf(const Cursor& cursor) {
  json object = {{"epoch", cursor.epoch}, {"seq", cursor.seq}};
  json& previous = object["prev"] = nullptr;
  if (cursor.previous) {
    previous = {{"seq", cursor.previous->seq}};
    previous["instant"] = cursor.previous->instant ? JsonOf(*cursor.previous->instant) : json();
  }
  json& published = object["published"] = json::array();
  for (const auto& [key, seq] : cursor.published)
    published.push_back(json::array({key.requested, key.action, seq}));
  json& pending = object["pending"] = json::array();
  for (const auto& key : cursor.pending) pending.push_back(JsonOf(key));
  object["newestRequested"] = cursor.newest_requested;
  object["floor"] = cursor.floor;
  object["schema"] = JsonOf(cursor.schema);
  object["schemaVersion"] = cursor.schema_version;
  json& source = object["schemaSource"] = nullptr;
  if (cursor.schema_source) {
    source = {{"requested", cursor.schema_source->requested},
              {"action", cursor.schema_source->action_name},
              {"operation", JsonOf(cursor.schema_source->operation)},
              {"hasSchema", cursor.schema_source->has_schema}};
  }
  object["partitionCount"] = cursor.partition_count;
  object["partitionDigest"] = HexOf(cursor.partition_digest);
  object["tableVersion"] = cursor.table_version;
  object["layout"] = cursor.layout;
  return object;
}

/// Reads what may be of any shape: the first thing that is not as it must be is kept as a fault.
class Reader {
 public:
  bool is_good() const { return is_good_; }
  void Spoil() { is_good_ = false; }

  /// A member; null where it is missing.
  const json& Member(const json& object, const char* name) {
    static const json kNone;
    if (!object.is_object()) return Bad(), kNone;
    const auto found = object.find(name);
    if (found == object.end()) return Bad(), kNone;
    return *found;
  }
  std::string Text(const json& value) {
    if (value.is_string()) return value.get<std::string>();
    return Bad(), "";
  }
  std::optional<std::string> TextOrNull(const json& value) {
    if (value.is_null()) return std::nullopt;
    return Text(value);
  }
  int64_t Integer(const json& value) {
    if (value.is_number_integer() &&
        !(value.is_number_unsigned() && value.get<uint64_t>() > uint64_t{INT64_MAX}))
      return value.get<int64_t>();
    return Bad(), 0;
  }
  int Small(const json& value) {
    const int64_t number = Integer(value);
    if (number < INT32_MIN || number > INT32_MAX) return Bad(), 0;
    return static_cast<int>(number);
  }
  bool Bool(const json& value) {
    if (value.is_boolean()) return value.get<bool>();
    return Bad(), false;
  }
  const json& Array(const json& value, size_t size = 0) {
    static const json kNone = json::array();
    if (!value.is_array() || (size != 0 && value.size() != size)) return Bad(), kNone;
    return value;
  }
  InstantKey Key(const json& value) {
    const json& pair = Array(value, 2);
    if (pair.empty()) return {};
    return {Text(pair[0]), Text(pair[1])};
  }

 private:
  void Bad() { is_good_ = false; }
  bool is_good_ = true;
};

Column ColumnOf(Reader& in, const json& value, int depth) {
  Column column{.name = in.Text(in.Member(value, "name")),
                .path = in.Text(in.Member(value, "path")),
                .type = in.Text(in.Member(value, "type")),
                .is_nullable = in.Bool(in.Member(value, "nullable")),
                .default_json = in.TextOrNull(in.Member(value, "default")),
                .comment = in.Text(in.Member(value, "comment")),
                .position = in.Small(in.Member(value, "position")),
                .id = {},
                .children = {}};
  if (const json& id = in.Member(value, "id"); !id.is_null()) column.id = in.Integer(id);
  if (!value.is_object() || !value.contains("fields")) return column;
  if (depth == kColumnDepthMax) {
    in.Spoil();
    return column;
  }
  for (const json& child : in.Array(value["fields"]))
    column.children.push_back(ColumnOf(in, child, depth + 1));
  return column;
}

change::Schema SchemaOf(Reader& in, const json& value) {
  change::Schema schema;
  schema.fingerprint = in.Text(in.Member(value, "fingerprint"));
  for (const json& column : in.Array(in.Member(value, "columns")))
    schema.columns.push_back(ColumnOf(in, column, 0));
  return schema;
}

void ReadSets(Reader& in, const json& value, Cursor& cursor) {
  for (const json& entry : in.Array(in.Member(value, "published"))) {
    const json& triple = in.Array(entry, 3);
    if (triple.empty()) return;
    cursor.published[{in.Text(triple[0]), in.Text(triple[1])}] = in.Integer(triple[2]);
  }
  for (const json& entry : in.Array(in.Member(value, "pending")))
    cursor.pending.insert(in.Key(entry));
}

Cursor CursorOf(Reader& in, const json& value) {
  Cursor cursor;
  cursor.epoch = in.Integer(in.Member(value, "epoch"));
  cursor.seq = in.Integer(in.Member(value, "seq"));
  if (const json& previous = in.Member(value, "prev"); !previous.is_null()) {
    cursor.previous = change::Previous{.seq = in.Integer(in.Member(previous, "seq"))};
    if (const json& key = in.Member(previous, "instant"); !key.is_null())
      cursor.previous->instant = in.Key(key);
  }
  ReadSets(in, value, cursor);
  cursor.newest_requested = in.Text(in.Member(value, "newestRequested"));
  cursor.floor = in.Text(in.Member(value, "floor"));
  cursor.schema = SchemaOf(in, in.Member(value, "schema"));
  cursor.schema_version = in.Integer(in.Member(value, "schemaVersion"));
  if (const json& source = in.Member(value, "schemaSource"); !source.is_null()) {
    cursor.schema_source =
        change::SchemaSource{.requested = in.Text(in.Member(source, "requested")),
                             .action_name = in.Text(in.Member(source, "action")),
                             .operation = in.TextOrNull(in.Member(source, "operation")),
                             .has_schema = in.Bool(in.Member(source, "hasSchema"))};
  }
  cursor.partition_count = in.Integer(in.Member(value, "partitionCount"));
  const auto digest = change::ParseHex(in.Text(in.Member(value, "partitionDigest")));
  if (digest) cursor.partition_digest = *digest;
  if (!digest) in.Spoil();
  cursor.table_version = in.Small(in.Member(value, "tableVersion"));
  cursor.layout = in.Small(in.Member(value, "layout"));
  return cursor;
}

TableRecord RecordOf(Reader& in, const json& value) {
  TableRecord record{.uid = in.Text(in.Member(value, "uid")),
                     .table_id = in.Text(in.Member(value, "tableId")),
                     .base_path = in.Text(in.Member(value, "basePath")),
                     .epochs_over = in.Integer(in.Member(value, "epochsOver")),
                     .is_dropped = in.Bool(in.Member(value, "dropped")),
                     .is_paused = in.Bool(in.Member(value, "paused"))};
  if (const json& cursor = in.Member(value, "cursor"); !cursor.is_null())
    record.cursor = CursorOf(in, cursor);
  if (const json& snapshot = in.Member(value, "snapshot"); !snapshot.is_null()) {
    record.snapshot =
        StoredSnapshot{.epoch = in.Integer(in.Member(snapshot, "epoch")),
                       .as_of_seq = in.Integer(in.Member(snapshot, "asOfSeq")),
                       .page_count = in.Integer(in.Member(snapshot, "pages")),
                       .published = WallTimeFromMillis(in.Integer(in.Member(snapshot, "at")))};
  }
  if (value.is_object() && value.contains("controlNext"))
    record.control_next = in.Integer(value["controlNext"]);
  return record;
}

/// Strings from a table's files may be no UTF-8; they are replaced here as they are in events.
std::string Dump(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string HashText(std::string_view text) {
  return HexOf(change::HashOf(text));
}

/// What stands before the table; a closing brace is all that follows it.
std::string Frame(int format, std::string_view hash) {
  return fmt::format(R"({{"format":{},"hash":"{}","table":)", format, hash);
}

/// Whether these are the bytes that were written. Anybody may have put others into the topic, so
/// the hash is that of the text as it stands: to write it anew would recurse as deep as it nests.
bool IsAsWritten(std::string_view text, int format, std::string_view hash) {
  const std::string frame = Frame(format, hash);
  if (!text.starts_with(frame) || !text.ends_with('}')) return false;
  const std::string_view table = text.substr(frame.size(), text.size() - frame.size() - 1);
  return hash == HashText(table);
}

std::unexpected<Error> Corrupt(const char* why) {
  return Fail(ErrorKind::kCorrupt,
              fmt::format("the record of a table in the cursor topic: {}", why));
}

}  // namespace

std::string TableRecordText(const TableRecord& record) {
  json object = {{"uid", record.uid},
                 {"tableId", record.table_id},
                 {"basePath", record.base_path},
                 {"epochsOver", record.epochs_over},
                 {"dropped", record.is_dropped},
                 {"paused", record.is_paused}};
  object["cursor"] = record.cursor ? JsonOf(*record.cursor) : json();
  json& snapshot = object["snapshot"] = nullptr;
  if (record.snapshot) {
    snapshot = {{"epoch", record.snapshot->epoch},
                {"asOfSeq", record.snapshot->as_of_seq},
                {"pages", record.snapshot->page_count},
                {"at", MillisOf(record.snapshot->published)}};
  }
  if (record.control_next) object["controlNext"] = *record.control_next;
  const std::string text = Dump(object);
  return Frame(kTableRecordFormat, HashText(text)) + text + "}";
}

Result<TableRecord> ParseTableRecord(std::string_view text) {
  if (text.size() > kTableRecordBytesMax)
    return Fail(ErrorKind::kExhausted, "the record of a table in the cursor topic is too large");
  const json whole = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!whole.is_object()) return Corrupt("no JSON object");
  Reader in;
  const int format = in.Small(in.Member(whole, "format"));
  if (!in.is_good() || format < 1) return Corrupt("no format");
  if (format > kTableRecordFormat) {
    return Fail(ErrorKind::kUnsupported,
                fmt::format("the record of a table in the cursor topic is of format {}, and this "
                            "release knows {}: a newer release has published this table",
                            format, kTableRecordFormat));
  }
  const json& table = in.Member(whole, "table");
  const std::string hash = in.Text(in.Member(whole, "hash"));
  if (!in.is_good() || !IsAsWritten(text, format, hash)) return Corrupt("its hash is another");
  auto record = RecordOf(in, table);
  if (!in.is_good()) return Corrupt("a member is missing or of another type");
  return record;
}

}  // namespace tidemark::feed
