#include "kafka/wire/wire_probe.h"

#include "kafka/wire/asker_internal.h"

namespace tidemark::kafka::wire {

Result<std::unique_ptr<PartitionProbe>> WireProbe::Open(const ClusterOptions& options) {
  if (options.bootstrap_servers.empty()) {
    return Fail(ErrorKind::kInvalidArgument, "no kafka bootstrap address given");
  }
  TRY_ASSIGN(auto bootstrap, ParseBootstrapServers(options.bootstrap_servers));
  TRY_ASSIGN(auto settings, MakeSettings(options.properties));
  return MakeProbe(std::make_unique<WireAsker>(options, std::move(bootstrap), std::move(settings)),
                   options.record_access);
}

std::optional<std::string> WireProbe::ForeignProperty(const ClusterOptions& options) {
  return FirstForeignProperty(options.properties);
}

}  // namespace tidemark::kafka::wire
