#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "app/doctor.h"
#include "app/publish_run.h"
#include "app/publisher_parts_internal.h"
#include "feed/kafka_log.h"
#include "kafka/client/topic_admin.h"
#include "kafka/client/transactional_producer.h"

namespace tidemark::app {

namespace {

constexpr std::string_view kSubject = "(feed)";

DoctorCheck Failed(std::string name, const Error& error, std::string cure) {
  return {std::move(name), CheckOutcome::kFailed, error.message, std::move(cure), error.kind};
}

/// What is there; nullopt after adding why that is not known.
std::optional<std::vector<kafka::client::TopicState>> LookAtTopics(
    const feed::KafkaLogOptions& log, const HiddenValues& hidden, Milliseconds limit,
    std::vector<DoctorCheck>& checks) {
  const auto admin = kafka::client::TopicAdmin::Open(log.cluster);
  if (!admin) {
    checks.push_back(
        Failed("cluster", hidden.Hide(Error(admin.error())), "correct the cluster's properties"));
    return std::nullopt;
  }
  auto found = (*admin)->Describe(feed::TopicNames(log.topics), feed::TopicSettingNames(),
                                  Budget::For(limit));
  if (!found) {
    checks.push_back(Failed("cluster", hidden.Hide(Error(found.error())),
                            "check address, login and network, and the right to DESCRIBE"));
    return std::nullopt;
  }
  checks.push_back({"cluster", CheckOutcome::kOk, "it answers", "", {}});
  return *std::move(found);
}

DoctorCheck CheckOfTopics(const feed::FeedTopics& topics,
                          const std::vector<kafka::client::TopicState>& found) {
  std::vector<std::string> missing, wrong;
  for (const auto& topic : feed::MissingTopics(topics, found)) missing.push_back(topic.topic);
  for (auto& each : feed::JudgeTopics(topics, found))
    if (!each.ends_with("it is missing")) wrong.push_back(std::move(each));
  if (!wrong.empty()) {
    return {"topics", CheckOutcome::kFailed, fmt::format("{}", fmt::join(wrong, "; ")),
            "do as each says: a publisher does not begin before", ErrorKind::kInvalidArgument};
  }
  if (!missing.empty()) {
    return {"topics",
            CheckOutcome::kOk,
            fmt::format("not there yet, and made at the first start: {}", fmt::join(missing, ", ")),
            "",
            {}};
  }
  return {
      "topics", CheckOutcome::kOk, "they have the partitions and settings they must have", "", {}};
}

DoctorCheck CheckOfTransactions(const feed::KafkaLogOptions& log, const HiddenValues& hidden,
                                Milliseconds limit) {
  const std::string id = fmt::format("tidemark-publisher-{}-doctor", log.topics.events);
  const auto opened = kafka::client::TransactionalProducer::Open(
      log.cluster, {.transactional_id = id}, Budget::For(limit));
  if (!opened) {
    return Failed("transactions", hidden.Hide(Error(opened.error())),
                  fmt::format("grant WRITE and DESCRIBE on transactional ids that begin with "
                              "tidemark-publisher-{}-, and IDEMPOTENT_WRITE on the cluster where "
                              "the brokers are older than 2.8",
                              log.topics.events));
  }
  return {"transactions", CheckOutcome::kOk, "a transactional id can be opened", "", {}};
}

}  // namespace

Diagnosis DiagnoseFeed(const Config& config, Milliseconds limit) {
  Diagnosis diagnosis{std::string(kSubject), "", {}};
  if (!config.feed) return diagnosis;
  const auto log = LogOptionsOf(config);
  const auto hidden = HiddenOf(config);
  const auto found = LookAtTopics(log, hidden, limit, diagnosis.checks);
  if (!found) return diagnosis;
  diagnosis.checks.push_back(CheckOfTopics(log.topics, *found));
  diagnosis.checks.push_back(CheckOfTransactions(log, hidden, limit));
  return diagnosis;
}

}  // namespace tidemark::app
