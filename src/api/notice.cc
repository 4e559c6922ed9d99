#include "api/notice.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "lake/hudi/timeline.h"
#include "storage/store_uri.h"

namespace tidemark::api {

namespace {

using nlohmann::json;

/// The member when it is a text, else "".
std::string MemberText(const json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

/// "a+b%2Fc" of an S3 event as "a b/c".
std::string DecodeKey(const std::string& key) {
  std::string spaced = key;
  std::ranges::replace(spaced, '+', ' ');
  auto decoded = storage::PercentDecoded(spaced);
  return decoded ? *std::move(decoded) : key;
}

struct NamedObject {
  std::string bucket;
  std::string key;
};

/// The bucket and object that a part of an event names; "" for what it does not.
NamedObject ObjectOf(const json& part) {
  const auto text = [&](const char* member, const char* name) {
    const auto found = part.find(member);
    return found != part.end() && found->is_object() ? MemberText(*found, name) : "";
  };
  return {text("bucket", "name"), text("object", "key")};
}

bool AddS3Records(const json& event, std::vector<std::string>& uris) {
  const auto records = event.find("Records");
  if (records == event.end() || !records->is_array()) return false;
  for (const json& record : *records) {
    if (!record.is_object()) return false;
    // Inside SQS an event is a text once more.
    const std::string body = MemberText(record, "body");
    if (!body.empty()) {
      const json inner = json::parse(body, nullptr, /*allow_exceptions=*/false);
      if (!inner.is_object() || !AddS3Records(inner, uris)) return false;
      continue;
    }
    const auto s3 = record.find("s3");
    if (s3 == record.end() || !s3->is_object()) return false;
    const auto [bucket, key] = ObjectOf(*s3);
    if (bucket.empty() || key.empty()) return false;
    uris.push_back(fmt::format("s3://{}/{}", bucket, DecodeKey(key)));
  }
  return true;
}

bool AddEventBridge(const json& event, std::vector<std::string>& uris) {
  const auto detail = event.find("detail");
  if (MemberText(event, "source") != "aws.s3" || detail == event.end() || !detail->is_object())
    return false;
  const auto [bucket, key] = ObjectOf(*detail);
  if (bucket.empty() || key.empty()) return false;
  uris.push_back(fmt::format("s3://{}/{}", bucket, key));
  return true;
}

std::optional<Subscription> SubscriptionOf(const json& message) {
  const std::string type = MemberText(message, "Type");
  Subscription subscription{.topic = MemberText(message, "TopicArn")};
  if (subscription.topic.empty()) return std::nullopt;
  if (type == "UnsubscribeConfirmation") return subscription;
  subscription.confirm_url = MemberText(message, "SubscribeURL");
  if (type != "SubscriptionConfirmation" || subscription.confirm_url.empty()) return std::nullopt;
  return subscription;
}

}  // namespace

Result<Notice> ParseNotice(std::string_view body) {
  const json message = json::parse(body, nullptr, /*allow_exceptions=*/false);
  if (!message.is_object()) return Fail(ErrorKind::kInvalidArgument, "the body is no JSON object");
  if (auto subscription = SubscriptionOf(message))
    return Notice{.subscription = std::move(subscription)};
  // SNS puts what it was given into a text.
  const std::string inside = MemberText(message, "Message");
  const json event =
      inside.empty() ? message : json::parse(inside, nullptr, /*allow_exceptions=*/false);
  Notice notice;
  if (event.is_object()) {
    for (const char* const name : {"basePath", "uri"}) {
      std::string uri = MemberText(event, name);
      if (uri.empty()) continue;
      notice.tables.push_back(std::move(uri));
      return notice;
    }
    // What S3 sends when notifications are switched on.
    if (MemberText(event, "Event") == "s3:TestEvent") return notice;
    if (AddS3Records(event, notice.objects) || AddEventBridge(event, notice.objects)) return notice;
  }
  return Fail(ErrorKind::kInvalidArgument,
              "the body is neither a Hudi commit callback, nor an S3 event, nor {\"uri\": …}");
}

bool TellsOfCommit(std::string_view uri) {
  const size_t slash = uri.rfind('/');
  if (slash == std::string_view::npos) return false;
  const std::string_view file = uri.substr(slash + 1);
  std::string_view folder = uri.substr(0, slash);
  if (folder.ends_with("/.hoodie/timeline"))
    folder.remove_suffix(std::string_view("/timeline").size());
  if (file.empty() || !folder.ends_with("/.hoodie")) return false;
  folder.remove_suffix(std::string_view("/.hoodie").size());
  if (folder.find("/.hoodie/") != std::string_view::npos) return false;
  const auto instant = lake::hudi::ParseInstantFileName(file);
  return instant && instant->state == lake::hudi::State::kCompleted;
}

}  // namespace tidemark::api
