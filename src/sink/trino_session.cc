#include "sink/trino_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/utf8.h"

namespace tidemark::sink {

namespace {

using nlohmann::json;

constexpr int kTriesMax = 6;
/// A statement that flushes a cache ends after two or three.
constexpr int kAnswersMax = 10'000;
constexpr size_t kQuotedBytesMax = 300;

push::HttpHeaders WithSession(const TrinoOptions& options) {
  push::HttpHeaders headers = options.headers;
  const std::string prefix = options.dialect == TrinoDialect::kTrino ? "X-Trino-" : "X-Presto-";
  headers.emplace_back(prefix + "User", options.user);
  headers.emplace_back(prefix + "Source", "tidemark");
  return headers;
}

std::string WithoutSlash(std::string url) {
  while (url.ends_with('/')) url.pop_back();
  return url;
}

std::string TextIn(const json& object, const char* key) {
  const auto it = object.find(key);
  return it != object.end() && it->is_string() ? it->get<std::string>() : std::string();
}

/// "https://trino:8443" of "https://trino:8443/v1/statement/executing/…".
std::string_view OriginOf(std::string_view url) {
  const size_t scheme = url.find("://");
  if (scheme == std::string_view::npos) return {};
  return url.substr(0, url.find_first_of("/?#", scheme + 3));
}

ErrorKind KindOf(const std::string& name, const std::string& type) {
  constexpr std::array<std::string_view, 5> kMissing = {
      "TABLE_NOT_FOUND", "SCHEMA_NOT_FOUND", "NOT_FOUND", "CATALOG_NOT_FOUND", "MISSING_TABLE"};
  if (std::ranges::find(kMissing, name) != kMissing.end()) return ErrorKind::kNotFound;
  if (name == "PERMISSION_DENIED") return ErrorKind::kDenied;
  // INTERNAL_ERROR, INSUFFICIENT_RESOURCES and EXTERNAL may heal.
  return type == "USER_ERROR" ? ErrorKind::kInvalidArgument : ErrorKind::kUnavailable;
}

Status JudgeAnswer(const json& answer) {
  const auto error = answer.find("error");
  if (error == answer.end() || !error->is_object()) return {};
  const std::string name = TextIn(*error, "errorName");
  return Fail(KindOf(name, TextIn(*error, "errorType")),
              fmt::format("the engine refused the statement: error={} message={}", name,
                          Printable(TextIn(*error, "message").substr(0, kQuotedBytesMax))));
}

}  // namespace

TrinoSession::TrinoSession(const TrinoOptions& options)
    : url_(WithoutSlash(options.url)), receiver_(WithSession(options)) {}

Result<std::string> TrinoSession::Ask(const push::HttpMessage& message, const Budget& budget) {
  Budget waiting = budget;
  waiting.tries_max = kTriesMax;
  for (int tries = 1;; ++tries) {
    auto body = receiver_.Send(message, budget);
    if (body || body.error().kind != ErrorKind::kUnavailable) return body;
    if (!waiting.WaitForTry(tries + 1)) return body;
  }
}

Status TrinoSession::Run(const std::string& statement, const Budget& budget) {
  TRY_ASSIGN(std::string body, Ask({.method = "POST",
                                    .url = url_ + "/v1/statement",
                                    .content_type = "text/plain; charset=utf-8",
                                    .body = statement},
                                   budget));
  for (int answers = 1; answers <= kAnswersMax; ++answers) {
    const json answer = json::parse(body, nullptr, /*allow_exceptions=*/false);
    if (!answer.is_object())
      return Fail(ErrorKind::kUnavailable, "the engine's answer is no JSON object");
    TRY(JudgeAnswer(answer));
    const std::string next = TextIn(answer, "nextUri");
    if (next.empty()) return {};
    if (OriginOf(next) != OriginOf(url_))
      return Fail(ErrorKind::kInvalidArgument,
                  fmt::format("the engine names another host to go on at, which is not followed "
                              "(behind a proxy, set http-server.process-forwarded=true): host={} "
                              "configured={}",
                              storage::HostOfUrl(next), storage::HostOfUrl(url_)));
    TRY_ASSIGN(body, Ask({.method = "GET", .url = next, .content_type = {}, .body = {}}, budget));
  }
  return Fail(ErrorKind::kUnavailable, "the engine does not come to an end with the statement");
}

}  // namespace tidemark::sink
