#include <fmt/core.h>

#include <algorithm>
#include <charconv>

#include "kafka/wire/asker_internal.h"

namespace tidemark::kafka::wire {

namespace {

constexpr Milliseconds kSliceMax{20};
// How much longer silence lasts before anybody has answered at all.
constexpr int kFirstAnswerPatience = 4;
// Topics remembered beyond those of the last description.
constexpr size_t kTopicMemoriesMax = 100'000;

std::optional<Milliseconds> RetentionOf(std::string_view text) {
  int64_t ms = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ms);
  if (error != std::errc{} || end != text.data() + text.size() || ms < 0) return std::nullopt;
  return Milliseconds(ms);
}

}  // namespace

WireAsker::WireAsker(ClusterOptions options, std::vector<BrokerAddress> bootstrap,
                     std::unique_ptr<Settings> settings)
    : options_(std::move(options)),
      bootstrap_(std::move(bootstrap)),
      settings_(std::move(settings)),
      connections_(*settings_) {}

void WireAsker::Begin() {
  connections_.Refresh();
  refusal_.reset();
  local_starts_.clear();
  configs_.clear();
  if (topics_.size() > kTopicMemoriesMax) topics_.clear();
}

void WireAsker::End() {
  if (config_question_ != 0) connections_.Abandon(std::exchange(config_question_, 0));
}

const BrokerAddress* WireAsker::AddressOf(int32_t broker) const {
  const auto found = brokers_.find(broker);
  return found == brokers_.end() ? nullptr : &found->second;
}

const TopicMemory* WireAsker::MemoryOf(const std::string& topic) const {
  const auto found = topics_.find(topic);
  return found == topics_.end() ? nullptr : &found->second;
}

void WireAsker::TakeFarewell(const Farewell& farewell) {
  if (farewell.is_refusal()) refusal_ = Refusal{.fault = farewell.fault, .reason = farewell.reason};
}

void WireAsker::AskConfigs(const std::vector<std::string>& topics, Milliseconds) {
  Connection* connection = topics.empty() ? nullptr : connections_.AnyReady();
  if (connection == nullptr) return;
  const auto version = connection->VersionOf(DescribeConfigsRequest::kApi);
  if (!version) return;
  DescribeConfigsRequest request;
  for (const std::string& topic : topics) {
    request.resources.push_back(
        {.name = topic, .keys = {{"retention.ms", "cleanup.policy", "message.timestamp.type"}}});
  }
  config_question_ = connections_.NextQuestion();
  connection->Ask(config_question_, request, *version,
                  [this](const Result<DescribeConfigsResponse>& response) {
                    config_question_ = 0;
                    if (response) TakeConfigs(*response);
                  });
}

void WireAsker::TakeConfigs(const DescribeConfigsResponse& response) {
  for (const auto& result : response.results) {
    if (result.error != 0) continue;
    TopicConfig& config = configs_[std::string(result.name)];
    for (const auto& entry : result.configs) {
      if (!entry.value) continue;
      if (entry.name == "retention.ms") config.retention = RetentionOf(*entry.value);
      if (entry.name == "message.timestamp.type") config.stamped_by = StampedBy(*entry.value);
      if (entry.name == "cleanup.policy") {
        config.is_config_known = true;
        config.is_compacted = entry.value->contains("compact");
        config.is_also_deleted = config.is_compacted && entry.value->contains("delete");
      }
    }
  }
}

void WireAsker::CollectConfigs(std::span<TopicFacts> topics, Milliseconds limit) {
  const Budget wait = Budget::For(limit);
  while (config_question_ != 0 && !wait.is_over()) {
    connections_.Drive(std::min(wait.Remaining(), kSliceMax));
  }
  for (TopicFacts& topic : topics) {
    const auto found = configs_.find(topic.topic);
    if (found == configs_.end()) continue;
    topic.retention = found->second.retention;
    topic.is_config_known = found->second.is_config_known;
    topic.stamped_by = found->second.stamped_by;
    topic.is_compacted = found->second.is_compacted;
    topic.is_also_deleted = found->second.is_also_deleted;
  }
}

int32_t EpochOf(const TopicMemory* topic, PartitionId partition) {
  const auto index = static_cast<size_t>(partition);
  return topic != nullptr && index < topic->leader_epochs.size() ? topic->leader_epochs[index]
                                                                 : kNoEpoch;
}

std::string SilenceWords(const std::string& address) {
  return fmt::format("no answer in time from broker={}", address);
}

Patience::Patience(Milliseconds limit, const Budget& budget)
    : budget_(budget), limit_(limit), since_(std::chrono::steady_clock::now()) {}

void Patience::Renew(MonoTime moment) {
  has_answer_ = true;
  since_ = std::max(since_, moment);
}

bool Patience::is_over() const {
  if (budget_.is_over() || budget_.is_stopped()) return true;
  const Milliseconds limit = has_answer_ ? limit_ : kFirstAnswerPatience * limit_;
  return std::chrono::steady_clock::now() - since_ >= limit;
}

Milliseconds Patience::Slice() const {
  return std::min(budget_.Remaining(), kSliceMax);
}

}  // namespace tidemark::kafka::wire
