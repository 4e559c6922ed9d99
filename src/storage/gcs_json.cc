#include "storage/gcs_json.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "storage/bucket_service.h"
#include "storage/http_time.h"
#include "storage/object_key.h"

namespace tidemark::storage {

namespace {

using nlohmann::json;

std::unexpected<Error> Bad(std::string_view why) {
  return Fail(ErrorKind::kCorrupt, fmt::format("not a page of a listing: {}", why));
}

/// A text of an object; empty when there is none.
std::string Text(const json& object, const char* name) {
  const auto it = object.is_object() ? object.find(name) : object.end();
  return it != object.end() && it->is_string() ? it->get<std::string>() : "";
}

/// An array of an object; nullptr when there is none.
const json* Array(const json& object, const char* name) {
  const auto it = object.find(name);
  return it != object.end() && it->is_array() ? &*it : nullptr;
}

std::optional<ObjectInfo> ObjectOf(const json& object) {
  // Sizes are 64-bit numbers as text.
  const auto size = ParseNumber(Text(object, "size"));
  const auto created = ParseIsoSeconds(Text(object, "timeCreated"));
  if (!size || !created) return std::nullopt;
  return ObjectInfo{Text(object, "name"), *size, *created};
}

}  // namespace

Result<ListPage> ParseGcsListPage(std::string_view text) {
  const json page = json::parse(text, nullptr, false);
  if (!page.is_object()) return Bad("it is no JSON object");
  if (Text(page, "kind") != "storage#objects")
    return Bad(fmt::format("its kind is '{}'", OneLine(Text(page, "kind"))));
  for (const char* name : {"items", "prefixes"}) {
    if (page.contains(name) && Array(page, name) == nullptr)
      return Bad(fmt::format("its {} are no array", name));
  }
  ListPage result;
  if (const json* items = Array(page, "items")) {
    for (const json& item : *items) {
      auto object = ObjectOf(item);
      const std::string name = Text(item, "name");
      if (name.empty()) return Bad("an entry has no name");
      if (!object)
        return Bad(fmt::format("an entry has no size or no time: key={}", Printable(name)));
      result.objects.push_back(*std::move(object));
    }
  }
  if (const json* prefixes = Array(page, "prefixes")) {
    for (const json& prefix : *prefixes) {
      if (!prefix.is_string()) return Bad("a prefix is no text");
      result.folders.push_back(prefix.get<std::string>());
    }
  }
  if (page.contains("nextPageToken")) {
    result.next_token = Text(page, "nextPageToken");
    if (result.next_token.empty()) return Bad("its token for the rest is empty");
    result.is_truncated = true;
  }
  return result;
}

std::optional<ObjectInfo> ParseGcsObject(std::string_view text) {
  const json object = json::parse(text, nullptr, false);
  if (Text(object, "kind") != "storage#object") return std::nullopt;
  return ObjectOf(object);
}

GcsErrorText ParseGcsError(std::string_view body) {
  const json document = json::parse(body, nullptr, false);
  if (!document.is_object()) return {"", OneLine(body)};
  const auto error = document.find("error");
  if (error == document.end() || !error->is_object()) return {};
  GcsErrorText text{"", OneLine(Text(*error, "message"))};
  if (const json* errors = Array(*error, "errors"); errors != nullptr && !errors->empty())
    text.reason = OneLine(Text(errors->front(), "reason"));
  return text;
}

}  // namespace tidemark::storage
