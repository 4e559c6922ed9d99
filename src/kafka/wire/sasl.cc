#include <fmt/core.h>
#include <openssl/rand.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "kafka/wire/sasl_internal.h"
#include "kafka/wire/scram_internal.h"
#include "kafka/wire/secure_text_internal.h"

namespace tidemark::kafka::wire {

namespace {

constexpr size_t kNonceSize = 24;

class Plain final : public SaslConversation {
 public:
  explicit Plain(const Login& login)
      : first_(fmt::format("{}{}{}{}", '\0', login.username, '\0', login.password)) {}
  std::string First() override { return std::move(first_); }
  Result<std::optional<std::string>> Answer(std::string_view) override { return std::nullopt; }

 private:
  std::string first_;
};

class OauthBearer final : public SaslConversation {
 public:
  OauthBearer(const Login& login, WallTime now) {
    // The words were checked when the settings were made.
    if (const auto made = MakeUnsignedToken(login.token_words, now)) {
      first_ = fmt::format("n,,\1auth=Bearer {}{}\1\1", made->token, made->extensions);
    }
  }
  std::string First() override { return std::move(first_); }
  Result<std::optional<std::string>> Answer(std::string_view server) override {
    if (server.empty()) return std::nullopt;
    // A refusal is JSON and wants an empty answer before the server says so in Kafka's words.
    return std::string("\1");
  }

 private:
  std::string first_;
};

std::string Quoted(std::string_view text) {
  return fmt::format("\"{}\"", text);
}

struct TokenWords {
  std::string principal_claim = "sub";
  std::string principal;
  std::string scope_claim = "scope";
  std::string scope;
  int64_t life_seconds = 3600;
  std::string extensions;
};

Status TakeWord(std::string_view name, std::string_view value, TokenWords* words) {
  constexpr std::string_view kExtension = "extension_";
  if (value.empty() || value.contains('"') || value.contains('\\')) {
    return Fail(ErrorKind::kInvalidArgument,
                fmt::format("a token cannot hold the value of name={}", name));
  }
  if (name == "principalClaimName") {
    words->principal_claim = value;
  } else if (name == "principal") {
    words->principal = value;
  } else if (name == "scopeClaimName") {
    words->scope_claim = value;
  } else if (name == "scope") {
    words->scope = value;
  } else if (name == "lifeSeconds") {
    const auto [end, error] =
        std::from_chars(value.data(), value.data() + value.size(), words->life_seconds);
    constexpr int64_t kLifeMax = int64_t{1} << 31;
    const bool is_whole = error == std::errc{} && end == value.data() + value.size();
    if (!is_whole || words->life_seconds <= 0 || words->life_seconds > kLifeMax) {
      return Fail(ErrorKind::kInvalidArgument, "a token's lifeSeconds is no number of seconds");
    }
  } else if (name.starts_with(kExtension)) {
    words->extensions += fmt::format("\1{}={}", name.substr(kExtension.size()), value);
  } else {
    return Fail(ErrorKind::kInvalidArgument, fmt::format("unknown word of a token name={}", name));
  }
  return {};
}

std::string ScopeList(std::string_view csv) {
  std::string list;
  while (!csv.empty()) {
    const size_t comma = std::min(csv.find(','), csv.size());
    if (comma > 0) list += (list.empty() ? "" : ",") + Quoted(csv.substr(0, comma));
    csv.remove_prefix(std::min(comma + 1, csv.size()));
  }
  return list;
}

}  // namespace

std::unique_ptr<SaslConversation> MakeConversation(const Login& login, std::string nonce,
                                                   WallTime now) {
  switch (login.mechanism) {
    case Mechanism::kNone: return nullptr;
    case Mechanism::kPlain: return std::make_unique<Plain>(login);
    case Mechanism::kScramSha256:
    case Mechanism::kScramSha512: return MakeScram(login, std::move(nonce));
    case Mechanism::kOauthBearer: return std::make_unique<OauthBearer>(login, now);
  }
  std::unreachable();
}

std::string MakeNonce() {
  std::array<unsigned char, kNonceSize> bytes{};
  // It fails only where OpenSSL cannot read the system's randomness at all.
  if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) return {};
  return Base64Of({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

Result<UnsignedToken> MakeUnsignedToken(std::string_view words, WallTime now) {
  TokenWords parsed;
  while (!words.empty()) {
    const size_t end = std::min(words.find(' '), words.size());
    const std::string_view word = words.substr(0, end);
    words.remove_prefix(std::min(end + 1, words.size()));
    if (word.empty()) continue;
    const size_t equals = word.find('=');
    if (equals == word.npos) {
      return Fail(ErrorKind::kInvalidArgument, "a word of a token has no '='");
    }
    TRY(TakeWord(word.substr(0, equals), word.substr(equals + 1), &parsed));
  }
  if (parsed.principal.empty()) {
    return Fail(ErrorKind::kInvalidArgument, "a token needs a word principal=NAME");
  }
  const double issued = SecondsOf(now.time_since_epoch());
  std::string claims =
      fmt::format("{{\"{}\":\"{}\",\"iat\":{:.3f},\"exp\":{:.3f}", parsed.principal_claim,
                  parsed.principal, issued, issued + static_cast<double>(parsed.life_seconds));
  if (!parsed.scope.empty()) {
    claims += fmt::format(",\"{}\":[{}]", parsed.scope_claim, ScopeList(parsed.scope));
  }
  claims += "}";
  return UnsignedToken{
      .token = fmt::format("{}.{}.", UrlBase64Of("{\"alg\":\"none\"}"), UrlBase64Of(claims)),
      .extensions = std::move(parsed.extensions)};
}

}  // namespace tidemark::kafka::wire
