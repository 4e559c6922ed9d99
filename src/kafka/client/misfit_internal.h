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

}  // namespace tidemark::kafka::client
