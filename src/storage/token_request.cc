#include "storage/token_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "storage/bucket_service.h"

namespace tidemark::storage {

namespace {

constexpr uint64_t kAnswerBytesMax = uint64_t{256} << 10;
/// No token lives longer; what claims to is asked for anew after that.
constexpr int64_t kExpiresSecondsMax = 7LL * 24 * 3600;

std::string Field(const nlohmann::json& json, const char* name) {
  const auto it = json.is_object() ? json.find(name) : json.end();
  if (it == json.end()) return "";
  if (it->is_number_integer()) return std::to_string(it->get<int64_t>());
  return it->is_string() ? it->get<std::string>() : "";
}

bool IsHeaderText(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c > 0x20 && c < 0x7f; });
}

}  // namespace

Result<HttpAnswer> SendForCredentials(HttpClient& http, HttpRequest request, const Budget& budget) {
  request.answer_bytes_max = kAnswerBytesMax;
  for (int tries = 1;; ++tries) {
    HttpExchange exchange = http.Send(request, budget);
    const bool is_busy =
        !exchange.error && (exchange.answer.status == 429 || exchange.answer.status >= 500);
    if (!is_busy && !exchange.error) return std::move(exchange.answer);
    if (exchange.error && exchange.error->kind != ErrorKind::kUnavailable)
      return std::unexpected(*std::move(exchange.error));
    if (budget.WaitForTry(tries + 1)) continue;
    TRY(budget.Check());
    if (exchange.error) return std::unexpected(*std::move(exchange.error));
    return Fail(ErrorKind::kUnavailable,
                fmt::format("the server is not able to answer: host={} http={} tries={}",
                            HostOfUrl(request.url), exchange.answer.status, tries));
  }
}

Result<std::optional<HttpAnswer>> AskInstance(HttpClient& http, HttpRequest request,
                                              const Budget& budget) {
  Budget short_budget = budget.Within(kInstanceTimeout);
  short_budget.tries_max = 1;
  request.is_direct = true;
  auto answer = SendForCredentials(http, std::move(request), short_budget);
  if (answer) return *std::move(answer);
  // A stop of the caller is his.
  TRY(budget.Check());
  return std::nullopt;
}

Result<AccessToken> ParseAccessToken(std::string_view json, WallTime now, std::string_view host) {
  const auto parsed = nlohmann::json::parse(json, nullptr, false);
  AccessToken token{Field(parsed, "access_token"), {}};
  if (token.token.empty() || !IsHeaderText(token.token)) {
    return Fail(ErrorKind::kCorrupt,
                fmt::format("the answer holds no access token: host={} error='{}'", host,
                            OAuthErrorText(json)));
  }
  if (const auto seconds = ParseNumber(Field(parsed, "expires_in"))) {
    token.expires =
        now + std::chrono::seconds(std::min<uint64_t>(*seconds, uint64_t{kExpiresSecondsMax}));
  }
  return token;
}

std::string OAuthErrorText(std::string_view json) {
  const auto parsed = nlohmann::json::parse(json, nullptr, false);
  const std::string error = Field(parsed, "error");
  const std::string description = Field(parsed, "error_description");
  return OneLine(description.empty() ? error : error + ": " + description);
}

std::string_view HostWithoutPort(std::string_view host) {
  const size_t colon = host.rfind(':');
  return host.ends_with(']') || colon == std::string_view::npos ? host : host.substr(0, colon);
}

bool IsThisMachine(std::string_view name) {
  constexpr std::array<std::string_view, 3> kNames = {"localhost", "127.0.0.1", "[::1]"};
  return std::ranges::find(kNames, name) != kNames.end();
}

Status CheckTokenIsSafe(const Endpoint& endpoint) {
  if (endpoint.scheme == "https" || IsThisMachine(HostWithoutPort(endpoint.host))) return {};
  return Fail(ErrorKind::kInvalidArgument,
              fmt::format("a token is sent by https, or to this machine, only (or set anonymous): "
                          "host={}",
                          endpoint.host));
}

std::string_view WithoutLineEnd(std::string_view text) {
  while (text.ends_with('\n') || text.ends_with('\r')) text.remove_suffix(1);
  return text;
}

}  // namespace tidemark::storage
