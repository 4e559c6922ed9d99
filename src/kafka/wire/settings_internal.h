/// What the user's properties say about reaching and trusting a cluster, checked.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "kafka/cluster_error.h"
#include "kafka/wire/tls_internal.h"

namespace tidemark::kafka::wire {

/// How we log in. kNone: not at all.
enum class Mechanism { kNone, kPlain, kScramSha256, kScramSha512, kOauthBearer };

struct Login {
  Mechanism mechanism = Mechanism::kNone;
  std::string name;      ///< as the broker knows it, "SCRAM-SHA-256"
  std::string username;  ///< of PLAIN and SCRAM
  std::string password;
  std::string token_words;  ///< of OAUTHBEARER: sasl.oauthbearer.config
};

enum class AddressFamily { kAny, kIpv4, kIpv6 };

/// Shared by all connections of a probe; does not change.
struct Settings {
  std::string client_id = "tidemark";
  /// A response over this is not taken.
  int32_t response_bytes_max = 100'000'000;
  bool has_keepalive = true;
  AddressFamily family = AddressFamily::kAny;
  Login login;
  std::unique_ptr<TlsContext> tls;  ///< null: plain
};

/// nullopt: we understand every property. Else the name of one that only librdkafka does, or
/// whose value it alone can do (Kerberos, tokens from a server, key stores).
std::optional<std::string> FirstForeignProperty(const Properties& properties);

/// kInvalidArgument names a property that is foreign, has an unusable value, or is missing.
Result<std::unique_ptr<Settings>> MakeSettings(const Properties& properties);

}  // namespace tidemark::kafka::wire
