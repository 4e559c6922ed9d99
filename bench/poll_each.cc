// The pattern of exporters that look up the record behind a lag: assign one partition, poll until
// its first record comes, go to the next.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "bench/contest.h"
#include "bench/rdkafka_client.h"

namespace tidemark::bench {
namespace {

struct Options {
  std::string bootstrap;
  std::string questions;
  std::string answers;
  int fetch_wait_ms = 500;  ///< librdkafka's default
  int poll_ms = 5000;
};

/// The first record at or after the committed offset; nullopt when none came in time.
std::optional<int64_t> PollOne(rd_kafka_t* client, const Question& question, int poll_ms) {
  const PartitionList list(rd_kafka_topic_partition_list_new(1));
  rd_kafka_topic_partition_list_add(list.get(), question.partition.topic.c_str(),
                                    question.partition.partition)
      ->offset = question.committed;
  if (rd_kafka_assign(client, list.get()) != RD_KAFKA_RESP_ERR_NO_ERROR) return std::nullopt;
  const MonoTime end = std::chrono::steady_clock::now() + Milliseconds(poll_ms);
  while (true) {
    const auto left =
        std::chrono::ceil<Milliseconds>(end - std::chrono::steady_clock::now()).count();
    if (left <= 0) return std::nullopt;
    const Message message(rd_kafka_consumer_poll(client, static_cast<int>(left)));
    if (!message || message->err != RD_KAFKA_RESP_ERR_NO_ERROR) continue;
    if (message->partition != question.partition.partition ||
        question.partition.topic != rd_kafka_topic_name(message->rkt)) {
      continue;  // left over from the partition before
    }
    return rd_kafka_message_timestamp(message.get(), nullptr);
  }
}

Status Run(const Options& options) {
  Stopwatch stopwatch;
  TRY_ASSIGN(const std::vector<Question> questions, ReadQuestions(options.questions));
  TRY_ASSIGN(
      const Client client,
      OpenClient({.properties = {{"bootstrap.servers", options.bootstrap},
                                 {"group.id", "tidemark-bench"},
                                 {"enable.auto.commit", "false"},
                                 {"fetch.wait.max.ms", std::to_string(options.fetch_wait_ms)}}}));
  stopwatch.MarkIdle();
  std::vector<Answer> answers;
  for (const Question& question : questions) {
    if (const auto timestamp = PollOne(client.get(), question, options.poll_ms)) {
      answers.push_back({question.partition, timestamp});
    }
  }
  const Cost cost = stopwatch.Stop();
  TRY(WriteAnswers(options.answers, answers));
  PrintOutcome(cost, questions.size(), answers.size());
  return {};
}

}  // namespace
}  // namespace tidemark::bench

int main(int argc, char** argv) {
  tidemark::bench::Options options;
  CLI::App app("one partition, one poll, next");
  app.add_option("--bootstrap", options.bootstrap)->required();
  app.add_option("--questions", options.questions)->required();
  app.add_option("--answers", options.answers)->required();
  app.add_option("--fetch-wait-ms", options.fetch_wait_ms, "fetch.wait.max.ms of the consumer");
  app.add_option("--poll-ms", options.poll_ms, "how long a partition is waited for");
  CLI11_PARSE(app, argc, argv);
  const auto status = tidemark::bench::Run(options);
  if (!status) fmt::print(stderr, "poll_each: {}\n", status.error().message);
  return status ? 0 : 1;
}
