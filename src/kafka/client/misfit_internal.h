/// Properties that are fine one by one and cannot be used together.
#pragma once

#include <string_view>

#include "base/error.h"
#include "kafka/client/conf_internal.h"

namespace tidemark::kafka::client {

/// kInvalidArgument that names the property, from librdkafka's `words` about a client it did not
/// make. The value is shown unless it may be a secret.
Error Misfit(const Properties& properties, std::string_view words);

/// Refuses what librdkafka takes, and then never connects with.
Status CheckTokenSource(const Properties& properties);

/// What the user has set, by the last word; nullptr when nothing was.
const std::string* ValueOf(const Properties& properties, std::string_view name);

/// The same of sasl.mechanisms under any of its names; "GSSAPI" where none is set.
std::string MechanismOf(const Properties& properties);

/// security.protocol in lower case; "plaintext" where none is set.
std::string ProtocolOf(const Properties& properties);

}  // namespace tidemark::kafka::client
