/// Requests for credentials, and the bearer tokens that most of them give.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "base/budget.h"
#include "base/clock.h"
#include "base/error.h"
#include "storage/endpoint.h"
#include "storage/http_client.h"

namespace tidemark::storage {

/// How long one place may take: services that are there answer at once, and elsewhere nobody is.
inline constexpr std::chrono::seconds kInstanceTimeout{1};
inline constexpr std::chrono::seconds kTokenTimeout{10};

/// Sends, and tries again as the budget allows while nobody answers or the answer is "busy". Any
/// other status is an answer.
Result<HttpAnswer> SendForCredentials(HttpClient& http, HttpRequest request, const Budget& budget);

/// The same to a metadata service: not through a proxy, one try, kInstanceTimeout. nullopt: nobody
/// is there, so this is no instance. kCancelled and kUnavailable when the budget is stopped or
/// over.
Result<std::optional<HttpAnswer>> AskInstance(HttpClient& http, HttpRequest request,
                                              const Budget& budget);

/// What OAuth 2 calls an access token.
struct AccessToken {
  std::string token;
  std::optional<WallTime> expires;
};

/// Of {"access_token": …, "expires_in": …}, the latter in seconds from `now` on, also as text.
/// kCorrupt without a token that can be a header line; the message repeats nothing of the answer
/// but an "error".
Result<AccessToken> ParseAccessToken(std::string_view json, WallTime now, std::string_view host);

/// The text of "error" and "error_description" of a refusal, on one line; may be empty.
std::string OAuthErrorText(std::string_view json);

/// "name" of "name:80", "[::1]" of "[::1]:80".
std::string_view HostWithoutPort(std::string_view host);

/// true for this machine's own names.
bool IsThisMachine(std::string_view name);

/// kInvalidArgument when a token that is sent to `endpoint` could be read on the way.
Status CheckTokenIsSafe(const Endpoint& endpoint);

std::string_view WithoutLineEnd(std::string_view text);

}  // namespace tidemark::storage
