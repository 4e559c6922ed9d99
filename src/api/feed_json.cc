#include "api/feed_json.h"

#include <fmt/format.h>

#include <charconv>

#include "api/json_writer_internal.h"

namespace tidemark::api {

namespace {

/// An upper bound for one head.
constexpr size_t kHeadSize = 160;

std::string BookmarkBody(const std::string& id, int32_t partition, std::span<const TableHead> heads,
                         WallTime now) {
  JsonWriter json;
  json.BeginObject();
  json.Key("specversion").Text("1.0");
  json.Key("id").Text(id);
  json.Key("source").Text(fmt::format("/tidemark/publisher/{}", partition));
  json.Key("type").Text("hudi.metadata.bookmark.v1");
  json.Key("time").Time(now);
  json.Key("datacontenttype").Text("application/json");
  json.Key("data").BeginObject();
  json.Key("changeType").Text("BOOKMARK");
  json.Key("timestamp").Integer(MillisOf(now));
  json.Key("tables").BeginArray();
  for (const auto& head : heads) {
    json.BeginObject().Key("uid").Text(head.uid).Key("epoch").Integer(head.epoch);
    json.Key("headSeq").Integer(head.seq).Key("lastCheckedAt").Time(head.checked).EndObject();
  }
  json.EndArray().EndObject().EndObject();
  return json.text();
}

}  // namespace

std::vector<ChangeEvent> BookmarkEvents(int32_t partition, std::span<const TableHead> heads,
                                        WallTime now, const EventLimits& limits) {
  const size_t count_max = std::max<size_t>(1, limits.body_size_max / kHeadSize);
  std::vector<ChangeEvent> events;
  while (!heads.empty()) {
    const auto some = heads.first(std::min(heads.size(), count_max));
    heads = heads.subspan(some.size());
    ChangeEvent event{
        .id = fmt::format("bookmark/{}/{}/{}", partition, MillisOf(now), events.size()),
        .type = "hudi.metadata.bookmark.v1"};
    event.body = BookmarkBody(event.id, partition, some, now);
    events.push_back(std::move(event));
  }
  return events;
}

std::string StateHeadJson(const StateHead& head) {
  JsonWriter json;
  json.BeginObject();
  json.Key("uid").Text(head.table.uid);
  json.Key("tableId").Text(head.table.table_id);
  json.Key("basePath").Text(head.table.base_path);
  json.Key("epoch").Integer(head.epoch);
  json.Key("asOfSeq").Integer(head.as_of_seq);
  json.Key("pages").Integer(head.page_count);
  json.Key("headSeq").Integer(head.head_seq);
  json.Key("partitionCount").Integer(head.partition_count);
  json.Key("partitionDigest").Text(head.partition_digest);
  json.Key("schemaFingerprint");
  head.schema_fingerprint.empty() ? json.Null() : json.Text(head.schema_fingerprint);
  json.Key("lastCheckedAt").Time(head.checked);
  json.EndObject();
  return json.text();
}

std::string StateHeadKey(std::string_view uid) {
  return fmt::format("{}/head", uid);
}

std::string StatePageKey(std::string_view uid, int64_t page) {
  return fmt::format("{}/p/{:08}", uid, page);
}

std::string_view UidOfStateKey(std::string_view key) {
  return key.substr(0, key.find('/'));
}

bool IsStateHeadKey(std::string_view key) {
  return key.ends_with("/head");
}

std::optional<int64_t> PageOfStateKey(std::string_view key) {
  const std::string_view digits = key.substr(key.rfind('/') + 1);
  const char* const end = digits.data() + digits.size();
  int64_t page = 0;
  const auto [rest, error] = std::from_chars(digits.data(), end, page);
  return error == std::errc{} && rest == end ? std::optional(page) : std::nullopt;
}

}  // namespace tidemark::api
