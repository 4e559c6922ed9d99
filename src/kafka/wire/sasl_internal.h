/// What a client says to log in: PLAIN (RFC 4616), SCRAM (RFC 5802, 7677), OAUTHBEARER (RFC 7628).
/// No I/O.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/error.h"
#include "kafka/wire/settings_internal.h"

namespace tidemark::kafka::wire {

/// One login. The messages of its errors hold no secret.
class SaslConversation {
 public:
  virtual ~SaslConversation() = default;
  virtual std::string First() = 0;
  /// What to answer to the server's words; nullopt: it is done. kDenied when the server's words are
  /// not those of one that knows the password, or are a refusal.
  virtual Result<std::optional<std::string>> Answer(std::string_view server) = 0;
};

/// `nonce`: printable, no commas, never used before. `now`: for the times in a token.
std::unique_ptr<SaslConversation> MakeConversation(const Login& login, std::string nonce,
                                                   WallTime now);

/// From the system's source of randomness.
std::string MakeNonce();

/// The unsigned token (RFC 7515, A.5) that `words` describe: pairs of name and value with blanks
/// between, of principal (needed), principalClaimName, scope, scopeClaimName, lifeSeconds and
/// extension_NAME. kInvalidArgument names what is wrong.
struct UnsignedToken {
  std::string token;
  std::string extensions;  ///< each "NAME=value" behind \1
};
Result<UnsignedToken> MakeUnsignedToken(std::string_view words, WallTime now);

}  // namespace tidemark::kafka::wire
