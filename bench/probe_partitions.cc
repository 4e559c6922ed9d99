// Ours: the same question through kafka::PartitionProbe, as `tidemark freshness` asks it.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>

#include "bench/contest.h"
#include "kafka/client/rdkafka_probe.h"
#include "kafka/partition_probe.h"
#include "kafka/wire/wire_probe.h"

namespace tidemark::bench {
namespace {

struct Options {
  std::string bootstrap;
  std::string questions;
  std::string answers;
  int deadline_seconds = 60;
  bool is_warm = false;
  bool is_wire = false;
};

kafka::ProbeRequest RequestOf(const std::vector<Question>& questions) {
  std::map<std::string, kafka::PartitionOffsets> by_topic;
  for (const Question& question : questions) {
    by_topic[question.partition.topic][question.partition.partition] = question.committed;
  }
  kafka::ProbeRequest request;
  for (auto& [topic, committed] : by_topic) {
    auto& asked = request.topics.emplace_back();
    asked.name = topic;
    asked.committed = std::move(committed);
  }
  return request;
}

/// nullopt: undecided. Partitions of the topic that were not asked for are left out as well.
std::optional<Answer> AnswerOf(const kafka::PartitionFacts& facts) {
  using Search = kafka::PartitionFacts::Search;
  if (!facts.committed || facts.fault != kafka::ProbeFault::kNone) return std::nullopt;
  if (facts.search == Search::kUndecided) return std::nullopt;
  Answer answer{facts.partition, std::nullopt};
  if (facts.first) answer.timestamp_ms = facts.first->timestamp_ms;
  return answer;
}

Status Run(const Options& options) {
  Stopwatch stopwatch;
  TRY_ASSIGN(const std::vector<Question> questions, ReadQuestions(options.questions));
  const kafka::ProbeRequest request = RequestOf(questions);
  kafka::ClusterOptions cluster;
  cluster.bootstrap_servers = options.bootstrap;
  TRY_ASSIGN(const auto probe, options.is_wire ? kafka::wire::WireProbe::Open(cluster)
                                               : kafka::client::RdKafkaProbe::Open(cluster));
  const Budget budget = Budget::For(std::chrono::seconds(options.deadline_seconds));
  if (options.is_warm) {
    TRY(probe->Probe(request, budget));
    stopwatch = Stopwatch();
  }
  stopwatch.MarkIdle();
  TRY_ASSIGN(const kafka::ProbeResult result, probe->Probe(request, budget));
  Cost cost = stopwatch.Stop();
  // Of librdkafka, the connections that read records are closed by now.
  if (!options.is_wire) cost.received_bytes += static_cast<int64_t>(result.bytes_fetched);

  std::vector<Answer> answers;
  for (const kafka::PartitionFacts& facts : result.partitions) {
    if (const auto answer = AnswerOf(facts)) answers.push_back(*answer);
  }
  TRY(WriteAnswers(options.answers, answers));
  PrintOutcome(cost, questions.size(), answers.size());
  return {};
}

}  // namespace
}  // namespace tidemark::bench

int main(int argc, char** argv) {
  tidemark::bench::Options options;
  CLI::App app("the freshness question through tidemark's own probe");
  app.add_option("--bootstrap", options.bootstrap)->required();
  app.add_option("--questions", options.questions)->required();
  app.add_option("--answers", options.answers)->required();
  app.add_option("--deadline-seconds", options.deadline_seconds);
  app.add_flag("--warm", options.is_warm, "measure the second probe of a client, as a daemon's");
  app.add_flag("--wire", options.is_wire, "our own client instead of librdkafka");
  CLI11_PARSE(app, argc, argv);
  const auto status = tidemark::bench::Run(options);
  if (!status) fmt::print(stderr, "probe_partitions: {}\n", status.error().message);
  return status ? 0 : 1;
}
