#include "kafka/wire/wire_probe.h"

#include "kafka/wire/asker_internal.h"

namespace tidemark::kafka::wire {

namespace {

class OnWire final : public PartitionProbe {
 public:
  OnWire(ClusterOptions options, std::vector<BrokerAddress> bootstrap,
         std::unique_ptr<Settings> settings)
      : asker_(std::move(options), std::move(bootstrap), std::move(settings)) {}

  Result<ProbeResult> Probe(const ProbeRequest& request, const Budget& budget) override {
    asker_.Begin();
    auto result = RunProbe(asker_, request, budget);
    asker_.End();
    return result;
  }

 private:
  WireAsker asker_;
};

}  // namespace

Result<std::unique_ptr<PartitionProbe>> WireProbe::Open(const ClusterOptions& options) {
  if (options.bootstrap_servers.empty()) {
    return Fail(ErrorKind::kInvalidArgument, "no kafka bootstrap address given");
  }
  TRY_ASSIGN(auto bootstrap, ParseBootstrapServers(options.bootstrap_servers));
  TRY_ASSIGN(auto settings, MakeSettings(options.properties));
  return std::make_unique<OnWire>(options, std::move(bootstrap), std::move(settings));
}

std::optional<std::string> WireProbe::ForeignProperty(const ClusterOptions& options) {
  return FirstForeignProperty(options.properties);
}

}  // namespace tidemark::kafka::wire
