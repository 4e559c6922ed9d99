#include "storage/sqs_queue.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/utf8.h"
#include "storage/endpoint.h"
#include "storage/s3_endpoint.h"

namespace tidemark::storage {

namespace {

using nlohmann::json;

constexpr size_t kNameBytesMax = 80;
constexpr size_t kQuotedBytesMax = 100;
constexpr const char* kWaiting = "ApproximateNumberOfMessages";

/// Letters, digits, '-' and '_', and ".fifo" behind them.
bool IsQueueName(std::string_view name) {
  if (name.size() > kNameBytesMax) return false;
  if (name.ends_with(".fifo")) name.remove_suffix(5);
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
  });
}

/// "sqs.REGION.amazonaws.com" (also "sqs-fips", other domains, and before it the name of an
/// endpoint in a private network), and the older "REGION.queue.amazonaws.com".
std::string RegionOfHost(std::string_view host) {
  std::string_view before;
  std::string_view label;
  for (std::string_view rest = host; !rest.empty();) {
    const size_t dot = std::min(rest.find('.'), rest.size());
    label = rest.substr(0, dot);
    rest.remove_prefix(std::min(dot + 1, rest.size()));
    if (label == "queue" && rest.starts_with("amazonaws.com")) {
      return before.empty() ? "us-east-1" : std::string(before);
    }
    if ((before == "sqs" || before == "sqs-fips") && !rest.empty() && IsRegionName(label) &&
        label.find('-') != std::string_view::npos)
      return std::string(label);
    before = label;
  }
  return {};
}

/// Codes as the service's model and its list of common errors give them; the older query names
/// ("AWS.SimpleQueueService.NonExistentQueue") are what some servers still say.
constexpr std::array<std::string_view, 10> kDenied = {"UnrecognizedClientException",
                                                      "InvalidClientTokenId",
                                                      "InvalidSignatureException",
                                                      "SignatureDoesNotMatch",
                                                      "IncompleteSignature",
                                                      "IncompleteSignatureException",
                                                      "MissingAuthenticationToken",
                                                      "MissingAuthenticationTokenException",
                                                      "InvalidSecurity",
                                                      "OptInRequired"};
constexpr std::array<std::string_view, 4> kHealing = {"RequestThrottled", "OverLimit",
                                                      "TooManyRequestsException", "Http429"};

ErrorKind KindOfSqsError(std::string_view code, int status) {
  const auto is_in = [&](const auto& codes) {
    return std::ranges::find(codes, code) != codes.end();
  };
  if (code.ends_with("QueueDoesNotExist") || code.ends_with("NonExistentQueue"))
    return ErrorKind::kNotFound;
  if (code.find("Throttl") != std::string_view::npos || is_in(kHealing) || status >= 500)
    return ErrorKind::kUnavailable;
  if (code.find("AccessDenied") != std::string_view::npos || is_in(kDenied) ||
      IsStaleCredential(code) || status == 401 || status == 403)
    return ErrorKind::kDenied;
  return ErrorKind::kInvalidArgument;
}

/// The member when it is a text, else nullopt.
std::optional<std::string> TextOf(const json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_string()) return std::nullopt;
  return found->get<std::string>();
}

/// Texts that are no UTF-8 must not end the process.
std::string Text(const json& value) {
  return value.dump(-1, ' ', /*ensure_ascii=*/false, json::error_handler_t::replace);
}

std::unexpected<Error> NoAnswer(std::string_view operation) {
  return Fail(ErrorKind::kCorrupt, fmt::format("no answer to {}", operation));
}

}  // namespace

Result<SqsQueueUrl> ParseSqsQueueUrl(std::string_view url) {
  const auto refuse = [] {
    return Fail(ErrorKind::kInvalidArgument,
                "not the URL of a queue such as "
                "https://sqs.eu-west-1.amazonaws.com/123456789012/lake");
  };
  if (!url.starts_with("https://") && !url.starts_with("http://")) return refuse();
  const auto parsed = ParseEndpoint(url);
  if (!parsed) return refuse();
  const std::string_view path = parsed->path;
  const size_t slash = path.rfind('/');
  // An account stands before the name.
  if (slash == std::string_view::npos || slash == 0) return refuse();
  SqsQueueUrl parts{.origin = parsed->scheme + "://" + parsed->host,
                    .region = RegionOfHost(parsed->host),
                    .name = std::string(path.substr(slash + 1))};
  if (!IsQueueName(parts.name)) return refuse();
  return parts;
}

Result<std::vector<SqsMessage>> ParseSqsMessages(std::string_view answer) {
  const json parsed = json::parse(answer, nullptr, /*allow_exceptions=*/false);
  if (!parsed.is_object()) return NoAnswer("ReceiveMessage");
  std::vector<SqsMessage> messages;
  const auto list = parsed.find("Messages");
  if (list == parsed.end() || list->is_null()) return messages;
  if (!list->is_array()) return NoAnswer("ReceiveMessage");
  for (const json& each : *list) {
    auto receipt = each.is_object() ? TextOf(each, "ReceiptHandle") : std::nullopt;
    if (!receipt) return NoAnswer("ReceiveMessage");
    messages.push_back({*std::move(receipt), TextOf(each, "Body").value_or("")});
  }
  return messages;
}

Status CheckSqsDeletion(std::string_view answer) {
  const json parsed = json::parse(answer, nullptr, /*allow_exceptions=*/false);
  if (!parsed.is_object()) return NoAnswer("DeleteMessageBatch");
  const auto failed = parsed.find("Failed");
  if (failed == parsed.end() || failed->is_null()) return {};
  if (!failed->is_array()) return NoAnswer("DeleteMessageBatch");
  if (failed->empty()) return {};
  const json& first = failed->front();
  const std::string code = first.is_object() ? TextOf(first, "Code").value_or("") : "";
  return Fail(ErrorKind::kUnavailable,
              fmt::format("messages could not be deleted: count={} code={}", failed->size(),
                          Printable(code.substr(0, kQuotedBytesMax))));
}

Result<std::unique_ptr<SqsQueue>> SqsQueue::Make(const SqsQueueOptions& options) {
  TRY_ASSIGN(const SqsQueueUrl url, ParseSqsQueueUrl(options.url));
  auto queue = std::make_unique<SqsQueue>(Private());
  queue->options_ = options;
  TRY_ASSIGN(queue->service_,
             AwsJsonService::Make({.service = "sqs",
                                   .endpoint = options.endpoint,
                                   .region = options.region.empty() ? url.region : options.region,
                                   .protocol = "1.0",
                                   .endpoint_otherwise = url.origin}));
  return queue;
}

Result<std::string> SqsQueue::Call(std::string_view operation, const std::string& body,
                                   const Budget& budget) {
  const std::string target = fmt::format("AmazonSQS.{}", operation);
  const auto named = [&](Error error) {
    error.message += fmt::format(" operation={}", operation);
    return std::unexpected(std::move(error));
  };
  for (bool has_renewed = false;;) {
    auto answer = service_->Send(target, body, budget);
    if (!answer) return named(std::move(answer).error());
    if (answer->status >= 200 && answer->status < 300) return std::move(answer->body);
    const AwsJsonError said = AwsErrorOf(*answer);
    if (IsStaleCredential(said.code) && !std::exchange(has_renewed, true)) {
      service_->ForgetCredentials();
      continue;
    }
    return named(
        {KindOfSqsError(said.code, answer->status),
         said.message.empty() ? said.code : fmt::format("{}: {}", said.code, said.message)});
  }
}

Result<std::vector<SqsMessage>> SqsQueue::Receive(const Budget& budget) {
  const json request = {{"QueueUrl", options_.url},
                        {"MaxNumberOfMessages", kSqsBatchMax},
                        {"WaitTimeSeconds", options_.wait.count()}};
  TRY_ASSIGN(const std::string answer, Call("ReceiveMessage", Text(request), budget));
  return ParseSqsMessages(answer);
}

Status SqsQueue::Delete(std::span<const SqsMessage> messages, const Budget& budget) {
  while (!messages.empty()) {
    json entries = json::array();
    const auto batch = messages.first(std::min(messages.size(), kSqsBatchMax));
    for (const SqsMessage& message : batch)
      entries.push_back(
          {{"Id", std::to_string(entries.size())}, {"ReceiptHandle", message.receipt}});
    const json request = {{"QueueUrl", options_.url}, {"Entries", std::move(entries)}};
    TRY_ASSIGN(const std::string answer, Call("DeleteMessageBatch", Text(request), budget));
    TRY(CheckSqsDeletion(answer));
    messages = messages.subspan(batch.size());
  }
  return {};
}

Result<uint64_t> SqsQueue::CountWaiting(const Budget& budget) {
  const json request = {{"QueueUrl", options_.url}, {"AttributeNames", {kWaiting}}};
  TRY_ASSIGN(const std::string answer, Call("GetQueueAttributes", Text(request), budget));
  const json parsed = json::parse(answer, nullptr, /*allow_exceptions=*/false);
  const auto attributes = parsed.is_object() ? parsed.find("Attributes") : parsed.end();
  if (!parsed.is_object() || attributes == parsed.end() || !attributes->is_object())
    return NoAnswer("GetQueueAttributes");
  const std::string text = TextOf(*attributes, kWaiting).value_or("");
  uint64_t count = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc{} || rest != text.data() + text.size() || text.empty())
    return NoAnswer("GetQueueAttributes");
  return count;
}

}  // namespace tidemark::storage
