#include "kafka/client/properties.h"

#include "kafka/client/conf_internal.h"

namespace tidemark::kafka::client {

Status CheckProperty(const std::string& name, const std::string& value,
                     ValueVisibility visibility) {
  auto conf =
      MakeConf(Role::kAsker, {.bootstrap_servers = "localhost", .properties = {{name, value}}}, {});
  if (conf) return {};
  Error error = std::move(conf).error();
  if (visibility == ValueVisibility::kHidden) {
    // The library's words behind it may quote parts of the value.
    const size_t value_at = error.message.find(" value=");
    if (value_at != std::string::npos) error.message.resize(value_at);
  }
  return std::unexpected(std::move(error));
}

std::string ClientVersion() {
  return rd_kafka_version_str();
}

}  // namespace tidemark::kafka::client
