/// Checking a client property before anything is opened, for configuration files and flags.
#pragma once

#include <string>

#include "base/error.h"

namespace tidemark::kafka::client {

/// Whether a message may quote a property's value.
enum class ValueVisibility { kShown, kHidden };

/// Ok when a probe may be opened with this property. kInvalidArgument when librdkafka does not know
/// it, refuses its value, or it would break a promise of the probe; the value is shown unless it
/// may be a secret or is to be hidden. Any thread.
Status CheckProperty(const std::string& name, const std::string& value,
                     ValueVisibility visibility = ValueVisibility::kShown);

/// Version of the librdkafka that was loaded, "2.15.1".
std::string ClientVersion();

}  // namespace tidemark::kafka::client
