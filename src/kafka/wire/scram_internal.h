/// SCRAM as Kafka speaks it: no channel binding.
#pragma once

#include <memory>
#include <string>

#include "kafka/wire/sasl_internal.h"

namespace tidemark::kafka::wire {

std::unique_ptr<SaslConversation> MakeScram(const Login& login, std::string nonce);

}  // namespace tidemark::kafka::wire
