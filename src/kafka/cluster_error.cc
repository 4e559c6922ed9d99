#include "kafka/cluster_error.h"

#include <fmt/core.h>

#include <algorithm>
#include <ranges>

#include "base/letter_case.h"

namespace tidemark::kafka {

namespace {

std::string HintOf(std::string_view transport, const std::string& protocol) {
  // Who speaks another protocol than the listener is cut off without a word.
  if (!transport.contains(kDisconnected)) return "";
  const char* guess = protocol == "plaintext"        ? "may expect TLS or SASL"
                      : protocol == "sasl_plaintext" ? "may expect TLS"
                      : protocol == "ssl"            ? "may speak no TLS, or expect SASL"
                                                     : "may speak no TLS";
  return fmt::format("; the brokers {}: check security.protocol", guess);
}

}  // namespace

const std::string* ValueOf(const Properties& properties, std::string_view name) {
  const auto backwards = std::views::reverse(properties);
  const auto found =
      std::ranges::find_if(backwards, [&](const auto& property) { return property.first == name; });
  return found == backwards.end() ? nullptr : &found->second;
}

std::string MechanismOf(const Properties& properties) {
  for (const std::string_view name : {"sasl.mechanisms", "sasl.mechanism"}) {
    if (const std::string* value = ValueOf(properties, name)) return *value;
  }
  return "GSSAPI";
}

std::string ProtocolOf(const Properties& properties) {
  const std::string* value = ValueOf(properties, "security.protocol");
  return value == nullptr ? "plaintext" : LowerCase(*value);
}

Error RefusedError(const ClusterOptions& options, const Refusal& refusal) {
  if (refusal.fault == ProbeFault::kTls) {
    return {ErrorKind::kDenied,
            fmt::format("kafka TLS handshake failed bootstrap={}: {}; check ssl.ca.location, and "
                        "that the certificate names the broker's address",
                        options.bootstrap_servers, refusal.reason)};
  }
  const std::string mechanism = MechanismOf(options.properties);
  const char* cure =
      refusal.reason.contains(kNoLoginsHere) ? "security.protocol: this listener takes no logins"
      : mechanism == "OAUTHBEARER"           ? "the sasl.oauthbearer properties and sasl.mechanisms"
                                             : "sasl.username, sasl.password and sasl.mechanisms";
  return {ErrorKind::kDenied,
          fmt::format("kafka refused the login bootstrap={} mechanism={}: {}; check {}",
                      options.bootstrap_servers, mechanism, refusal.reason, cure)};
}

Error UnansweredError(const ClusterOptions& options, const std::string& transport) {
  return {ErrorKind::kUnavailable,
          fmt::format("no kafka broker answered bootstrap={}: {}{}", options.bootstrap_servers,
                      transport.empty() ? "nothing was heard in time" : transport,
                      HintOf(transport, ProtocolOf(options.properties)))};
}

}  // namespace tidemark::kafka
