#include "push/http_receiver.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text_parts.h"
#include "base/utf8.h"
#include "storage/url_text.h"

namespace tidemark::push {

namespace {

constexpr uint64_t kAnswerBytesMax = 1 << 20;
/// Of an answer that is no success, so much is worth a place in a message.
constexpr size_t kQuotedBytesMax = 200;

bool IsAlphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

ErrorKind KindOf(int status) {
  if (status == 401 || status == 403) return ErrorKind::kDenied;
  if (status == 408 || status == 425 || status == 429 || status >= 500)
    return ErrorKind::kUnavailable;
  return ErrorKind::kInvalidArgument;
}

/// `text` without what a receiver was told in confidence: they like to say what they were asked
/// for.
std::string WithoutParts(std::string text, std::string_view told, std::string_view delimiters) {
  constexpr std::string_view kShown = "(hidden)";
  constexpr size_t kTellingBytesMin = 4;
  const auto hide = [&](std::string_view part) {
    if (part.size() >= kTellingBytesMin) ReplaceAll(text, part, kShown);
  };
  hide(told);
  ForEachPart(told, delimiters, hide);
  return text;
}

std::string_view PathAndQueryOf(std::string_view url) {
  const std::string_view host = storage::HostOfUrl(url);
  return url.substr(static_cast<size_t>(host.data() - url.data()) + host.size());
}

}  // namespace

Status CheckHttpUrl(std::string_view url) {
  constexpr std::string_view kWanted =
      "a URL that begins with http:// or https:// and names a host";
  const auto refuse = [&] {
    return Fail(ErrorKind::kInvalidArgument, fmt::format("{} is wanted", kWanted));
  };
  if (!url.starts_with("http://") && !url.starts_with("https://")) return refuse();
  const std::string_view host = storage::HostOfUrl(url);
  if (host.empty() || host.starts_with(':')) return refuse();
  const auto is_odd = [](char c) { return static_cast<unsigned char>(c) <= ' ' || c == 0x7F; };
  if (std::ranges::any_of(url, is_odd)) return refuse();
  return {};
}

Status CheckHttpHeader(std::string_view name, std::string_view value) {
  constexpr std::string_view kTokenMarks = "!#$%&'*+-.^_`|~";
  const auto is_token = [&](char c) { return IsAlphanumeric(c) || kTokenMarks.contains(c); };
  if (name.empty() || !std::ranges::all_of(name, is_token))
    return Fail(ErrorKind::kInvalidArgument, "is no name of a header");
  const auto is_control = [](char c) {
    return (static_cast<unsigned char>(c) < ' ' && c != '\t') || c == 0x7F;
  };
  if (value.empty() || std::ranges::any_of(value, is_control))
    return Fail(ErrorKind::kInvalidArgument, "its value must be text on one line");
  return {};
}

std::string PathSegment(std::string_view text) {
  return storage::UrlEncoded(text);
}

Result<storage::HttpAnswer> HttpReceiver::Ask(const HttpMessage& message, const Budget& budget) {
  storage::HttpRequest request{.method = std::string(message.method),
                               .url = message.url,
                               .headers = {},
                               .body = message.body,
                               .answer_bytes_max = kAnswerBytesMax,
                               .tls = tls_};
  for (const auto& [name, value] : headers_) request.headers.push_back(name + ": " + value);
  if (!message.content_type.empty())
    request.headers.push_back(fmt::format("Content-Type: {}", message.content_type));
  storage::HttpExchange exchange = client_.Send(request, budget);
  if (exchange.error) return std::unexpected(*std::move(exchange.error));
  return std::move(exchange.answer);
}

std::string HttpReceiver::Quoted(const HttpMessage& message, std::string_view body) const {
  const std::string_view path = PathAndQueryOf(message.url);
  size_t looked_at = kQuotedBytesMax + path.size();
  for (const auto& [name, value] : headers_) looked_at += value.size();
  // Cut behind the hiding: half a token would not be found.
  std::string text = WithoutParts(std::string(body.substr(0, looked_at)), path, "/?#&=");
  for (const auto& [name, value] : headers_) text = WithoutParts(std::move(text), value, " ");
  text = Printable(text.substr(0, kQuotedBytesMax));
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

Status HttpReceiver::Judge(const HttpMessage& message, const storage::HttpAnswer& answer) const {
  if (answer.status >= 200 && answer.status < 300) return {};
  return Fail(
      KindOf(answer.status),
      fmt::format("the receiver refused: host={} status={} answer={}",
                  storage::HostOfUrl(message.url), answer.status, Quoted(message, answer.body)));
}

Result<std::string> HttpReceiver::Send(const HttpMessage& message, const Budget& budget) {
  TRY_ASSIGN(storage::HttpAnswer answer, Ask(message, budget));
  TRY(Judge(message, answer));
  return std::move(answer.body);
}

}  // namespace tidemark::push
