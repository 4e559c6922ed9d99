// The reference design's probe: assign all partitions at their committed offsets, poll the consumer
// once for half a second, take what came back. Two liberties in its favour: the poll is not ended
// by the first response of the fastest broker, as the Java consumer's would be, and of a
// partition's records the first counts, not the oldest.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <map>
#include <span>

#include "bench/contest.h"
#include "bench/rdkafka_client.h"

namespace tidemark::bench {
namespace {

struct Options {
  std::string bootstrap;
  std::string questions;
  std::string answers;
  int poll_ms = 500;
  size_t records_max = 500;  ///< max.poll.records of the Java consumer
  bool is_per_topic = false;
};

using Timestamps = std::map<kafka::TopicPartition, int64_t>;

Status PollOnce(rd_kafka_t* client, std::span<const Question> questions, const Options& options,
                Timestamps& timestamps) {
  const PartitionList list(rd_kafka_topic_partition_list_new(static_cast<int>(questions.size())));
  for (const Question& question : questions) {
    rd_kafka_topic_partition_list_add(list.get(), question.partition.topic.c_str(),
                                      question.partition.partition)
        ->offset = question.committed;
  }
  if (const auto error = rd_kafka_assign(client, list.get()); error != RD_KAFKA_RESP_ERR_NO_ERROR) {
    return Fail(ErrorKind::kUnavailable,
                fmt::format("assign refused reason={}", rd_kafka_err2str(error)));
  }
  const Queue queue(rd_kafka_queue_get_consumer(client));
  std::vector<rd_kafka_message_t*> polled(options.records_max);
  const ssize_t count =
      rd_kafka_consume_batch_queue(queue.get(), options.poll_ms, polled.data(), polled.size());
  for (ssize_t i = 0; i < count; ++i) {
    const Message message(polled[static_cast<size_t>(i)]);
    if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) continue;
    timestamps.try_emplace({rd_kafka_topic_name(message->rkt), message->partition},
                           rd_kafka_message_timestamp(message.get(), nullptr));
  }
  rd_kafka_assign(client, nullptr);
  return {};
}

Status Run(const Options& options) {
  Stopwatch stopwatch;
  TRY_ASSIGN(const std::vector<Question> questions, ReadQuestions(options.questions));
  TRY_ASSIGN(const Client client,
             OpenClient({.properties = {{"bootstrap.servers", options.bootstrap},
                                        {"group.id", "tidemark-bench"},
                                        {"enable.auto.commit", "false"}}}));
  stopwatch.MarkIdle();
  Timestamps timestamps;
  for (auto rest = std::span(questions); !rest.empty();) {
    const auto other_topic = std::ranges::find_if(rest, [&](const Question& question) {
      return question.partition.topic != rest.front().partition.topic;
    });
    const size_t count =
        options.is_per_topic ? static_cast<size_t>(other_topic - rest.begin()) : rest.size();
    TRY(PollOnce(client.get(), rest.first(count), options, timestamps));
    rest = rest.subspan(count);
  }
  const Cost cost = stopwatch.Stop();
  std::vector<Answer> answers;
  for (const auto& [partition, timestamp] : timestamps) answers.push_back({partition, timestamp});
  TRY(WriteAnswers(options.answers, answers));
  PrintOutcome(cost, questions.size(), answers.size());
  return {};
}

}  // namespace
}  // namespace tidemark::bench

int main(int argc, char** argv) {
  tidemark::bench::Options options;
  CLI::App app("assign all, one short poll");
  app.add_option("--bootstrap", options.bootstrap)->required();
  app.add_option("--questions", options.questions)->required();
  app.add_option("--answers", options.answers)->required();
  app.add_option("--poll-ms", options.poll_ms);
  app.add_option("--records-max", options.records_max, "records that one poll may return");
  app.add_flag("--per-topic", options.is_per_topic, "one poll a topic, as one pipeline each");
  CLI11_PARSE(app, argc, argv);
  const auto status = tidemark::bench::Run(options);
  if (!status) fmt::print(stderr, "poll_once: {}\n", status.error().message);
  return status ? 0 : 1;
}
