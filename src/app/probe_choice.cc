#include "app/probe_choice.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>

#include "kafka/client/rdkafka_probe.h"
#include "kafka/wire/wire_probe.h"

namespace tidemark::app {

namespace {

constexpr auto kClients = std::to_array<std::pair<KafkaClient, std::string_view>>({
    {KafkaClient::kAuto, "auto"},
    {KafkaClient::kWire, "wire"},
    {KafkaClient::kLibrdkafka, "librdkafka"},
});

}  // namespace

std::string_view KafkaClientName(KafkaClient client) {
  const auto* found =
      std::ranges::find(kClients, client, &std::pair<KafkaClient, std::string_view>::first);
  return found == kClients.end() ? "" : found->second;
}

std::optional<KafkaClient> ParseKafkaClient(std::string_view word) {
  const auto* found =
      std::ranges::find(kClients, word, &std::pair<KafkaClient, std::string_view>::second);
  if (found == kClients.end()) return std::nullopt;
  return found->first;
}

std::optional<kafka::RecordAccess> ParseRecordAccess(std::string_view word) {
  if (word == "auto") return kafka::RecordAccess::kAuto;
  if (word == "fetch") return kafka::RecordAccess::kFetch;
  if (word == "describe") return kafka::RecordAccess::kDescribe;
  return std::nullopt;
}

ProbeChoice ChooseProbe(const kafka::ClusterOptions& options, KafkaClient wish) {
  if (wish != KafkaClient::kAuto) return {wish, "as it was asked for"};
  const auto foreign = kafka::wire::WireProbe::ForeignProperty(options);
  if (!foreign) return {KafkaClient::kWire, "our own, it can do all that the properties ask for"};
  return {KafkaClient::kLibrdkafka, fmt::format("it alone can do what {} asks for", *foreign)};
}

Result<std::unique_ptr<kafka::PartitionProbe>> OpenProbe(const kafka::ClusterOptions& options,
                                                         KafkaClient wish) {
  return ChooseProbe(options, wish).client == KafkaClient::kWire
             ? kafka::wire::WireProbe::Open(options)
             : kafka::client::RdKafkaProbe::Open(options);
}

}  // namespace tidemark::app
