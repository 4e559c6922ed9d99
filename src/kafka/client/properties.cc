#include "kafka/client/properties.h"

#include "kafka/client/conf_internal.h"

namespace tidemark::kafka::client {

Status CheckProperty(const std::string& name, const std::string& value) {
  TRY(MakeConf(Role::kAsker, {.bootstrap_servers = "localhost", .properties = {{name, value}}},
               {}));
  return {};
}

std::string ClientVersion() {
  return rd_kafka_version_str();
}

}  // namespace tidemark::kafka::client
