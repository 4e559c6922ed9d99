#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "kafka/wire/sasl_internal.h"
#include "kafka/wire/settings_internal.h"

namespace tidemark::kafka::wire {

namespace {

constexpr int32_t kResponseBytesMin = 1000;  // librdkafka's own limits
constexpr int32_t kResponseBytesMax = 2'147'483'647;

/// Those we honour. The values that are foreign to us are sorted out one by one.
constexpr auto kKnown = std::to_array<std::string_view>({
    "security.protocol",
    "sasl.mechanisms",
    "sasl.mechanism",
    "sasl.username",
    "sasl.password",
    "sasl.oauthbearer.config",
    "sasl.oauthbearer.method",
    "enable.sasl.oauthbearer.unsecure.jwt",
    "ssl.ca.location",
    "ssl.ca.pem",
    "ssl.certificate.location",
    "ssl.certificate.pem",
    "ssl.key.location",
    "ssl.key.pem",
    "ssl.key.password",
    "ssl.endpoint.identification.algorithm",
    "enable.ssl.certificate.verification",
    "client.id",
    "socket.keepalive.enable",
    "broker.address.family",
    "receive.message.max.bytes",
});

struct Choice {
  std::string_view name;
  std::vector<std::string_view> values;
};

/// Only these values of these names are ours.
const std::vector<Choice>& Choices() {
  static const std::vector<Choice> choices = {
      {"sasl.oauthbearer.method", {"default"}},
      {"enable.sasl.oauthbearer.unsecure.jwt", {"true", "false"}},
      {"ssl.endpoint.identification.algorithm", {"https", "none"}},
      {"enable.ssl.certificate.verification", {"true", "false"}},
      {"socket.keepalive.enable", {"true", "false"}},
      {"broker.address.family", {"any", "v4", "v6"}},
  };
  return choices;
}

constexpr auto kMechanisms = std::to_array<std::pair<std::string_view, Mechanism>>({
    {"PLAIN", Mechanism::kPlain},
    {"SCRAM-SHA-256", Mechanism::kScramSha256},
    {"SCRAM-SHA-512", Mechanism::kScramSha512},
    {"OAUTHBEARER", Mechanism::kOauthBearer},
});

bool HasSasl(const Properties& properties) {
  return ProtocolOf(properties).starts_with("sasl_");
}

std::optional<Mechanism> MechanismIn(const Properties& properties) {
  const std::string name = MechanismOf(properties);
  const auto* found = std::ranges::find(kMechanisms, std::string_view(name),
                                        &std::pair<std::string_view, Mechanism>::first);
  if (found == kMechanisms.end()) return std::nullopt;
  return found->second;
}

std::string TextOf(const Properties& properties, std::string_view name) {
  const std::string* value = ValueOf(properties, name);
  return value == nullptr ? std::string() : *value;
}

std::unexpected<Error> Misfit(std::string_view name, std::string_view cause) {
  return Fail(ErrorKind::kInvalidArgument,
              fmt::format("kafka properties do not fit name={}: {}", name, cause));
}

Result<Login> MakeLogin(const Properties& properties) {
  Login login;
  if (!HasSasl(properties)) return login;
  login.mechanism = MechanismIn(properties).value_or(Mechanism::kNone);
  login.name = MechanismOf(properties);
  if (login.mechanism == Mechanism::kOauthBearer) {
    login.token_words = TextOf(properties, "sasl.oauthbearer.config");
    const auto token = MakeUnsignedToken(login.token_words, WallTime{});
    if (!token) return Misfit("sasl.oauthbearer.config", token.error().message);
    return login;
  }
  login.username = TextOf(properties, "sasl.username");
  login.password = TextOf(properties, "sasl.password");
  for (const char* name : {"sasl.username", "sasl.password"}) {
    if (ValueOf(properties, name) == nullptr) {
      return Misfit(name, fmt::format("{} needs it", login.name));
    }
  }
  return login;
}

Result<int32_t> ResponseBytesMax(const Properties& properties, int32_t standard) {
  const std::string* value = ValueOf(properties, "receive.message.max.bytes");
  if (value == nullptr) return standard;
  int32_t bytes = 0;
  const auto [end, error] = std::from_chars(value->data(), value->data() + value->size(), bytes);
  if (error != std::errc{} || end != value->data() + value->size() || bytes < kResponseBytesMin ||
      bytes > kResponseBytesMax) {
    return Misfit("receive.message.max.bytes", fmt::format("value={}", *value));
  }
  return bytes;
}

}  // namespace

std::optional<std::string> FirstForeignProperty(const Properties& properties) {
  for (const auto& [name, value] : properties) {
    if (std::ranges::find(kKnown, std::string_view(name)) == kKnown.end()) return name;
    for (const Choice& choice : Choices()) {
      if (choice.name != name) continue;
      if (std::ranges::find(choice.values, std::string_view(value)) == choice.values.end()) {
        return name;
      }
    }
  }
  if (!HasSasl(properties)) return std::nullopt;
  const auto mechanism = MechanismIn(properties);
  if (!mechanism) return "sasl.mechanisms";
  // Tokens of a server are fetched over HTTP, which librdkafka can.
  const bool is_unsigned = TextOf(properties, "enable.sasl.oauthbearer.unsecure.jwt") == "true";
  if (mechanism == Mechanism::kOauthBearer && !is_unsigned) return "sasl.oauthbearer.method";
  return std::nullopt;
}

Result<std::unique_ptr<Settings>> MakeSettings(const Properties& properties) {
  if (const auto name = FirstForeignProperty(properties)) {
    return Misfit(*name, "only the librdkafka client can do it");
  }
  auto settings = std::make_unique<Settings>();
  if (const std::string* id = ValueOf(properties, "client.id")) settings->client_id = *id;
  settings->has_keepalive = TextOf(properties, "socket.keepalive.enable") != "false";
  const std::string family = TextOf(properties, "broker.address.family");
  settings->family = family == "v4"   ? AddressFamily::kIpv4
                     : family == "v6" ? AddressFamily::kIpv6
                                      : AddressFamily::kAny;
  TRY_ASSIGN(settings->response_bytes_max,
             ResponseBytesMax(properties, settings->response_bytes_max));
  TRY_ASSIGN(settings->login, MakeLogin(properties));
  const std::string protocol = ProtocolOf(properties);
  if (protocol == "ssl" || protocol == "sasl_ssl") {
    TRY_ASSIGN(settings->tls, TlsContext::Make(properties));
  } else if (protocol != "plaintext" && protocol != "sasl_plaintext") {
    return Misfit("security.protocol", fmt::format("value={}", protocol));
  }
  return settings;
}

}  // namespace tidemark::kafka::wire
