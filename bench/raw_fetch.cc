// The physical limit: the same question asked by hand over plain sockets. It knows the size of the
// batches in advance, decodes nothing but batch headers, and survives no fault of a broker. What a
// real client costs beyond it is the price of being one.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <set>
#include <thread>

#include "bench/contest.h"
#include "bench/kafka_wire.h"

namespace tidemark::bench {
namespace {

constexpr int16_t kListOffsetsVersion = 5;
constexpr int16_t kFetchVersion = 11;
constexpr int64_t kEarliest = -2;
constexpr int64_t kLatest = -1;
constexpr int32_t kNoEpoch = -1;
constexpr int32_t kResponseBytes = 16 << 20;  // more a response only costs memory
constexpr int32_t kPartitionsPerRequestMax = 1000;
constexpr size_t kInFlight = 4;
constexpr int kRoundsMax = 100;

struct Options {
  std::string bootstrap;
  std::string questions;
  std::string answers;
  int32_t partition_bytes = 0;
  bool is_one_round = false;
};

struct Asked {
  kafka::TopicPartition partition;
  kafka::Offset committed = 0;
  kafka::Offset end = -1;
  bool is_decided = false;
  std::optional<int64_t> timestamp_ms;
};

/// The header of a v2 record batch; the records behind it stay encoded.
struct BatchHeader {
  kafka::Offset base = 0;
  kafka::Offset last = 0;
  int64_t timestamp_ms = 0;
  std::string_view rest;  ///< batches after this one
};
std::optional<BatchHeader> ReadBatchHeader(std::string_view records) {
  constexpr int16_t kLogAppendTime = 1 << 3;
  ResponseReader reader(records);
  BatchHeader header;
  header.base = reader.Int64();
  const int32_t length = reader.Int32();
  reader.Int32();  // leader epoch
  reader.Int8();   // magic
  reader.Int32();  // CRC
  const int16_t attributes = reader.Int16();
  header.last = header.base + reader.Int32();
  const int64_t first_timestamp = reader.Int64();
  const int64_t max_timestamp = reader.Int64();
  if (reader.is_broken() || length < 0) return std::nullopt;
  header.timestamp_ms = (attributes & kLogAppendTime) != 0 ? max_timestamp : first_timestamp;
  constexpr size_t kBeforeLength = sizeof(int64_t) + sizeof(int32_t);
  const size_t size = std::min(records.size(), kBeforeLength + static_cast<size_t>(length));
  header.rest = records.substr(size);
  return header;
}

/// The partitions of one broker, in one thread.
class BrokerLoop {
 public:
  BrokerLoop(Connection connection, std::vector<Asked*> asked, int32_t partition_bytes)
      : connection_(std::move(connection)),
        asked_(std::move(asked)),
        partition_bytes_(partition_bytes) {
    for (Asked* one : asked_) by_name_[one->partition] = one;
  }

  /// One request a position, sent together. Decides the partitions that are caught up.
  Status AskOffsets(std::span<const int64_t> positions) {
    for (const int64_t position : positions) {
      RequestWriter request;
      request.Int32(-1).Int8(0);  // no replica, read uncommitted
      WriteByTopic(request, View(asked_),
                   [&](const Asked&) { request.Int32(kNoEpoch).Int64(position); });
      TRY(connection_.Send(Api::kListOffsets, kListOffsetsVersion, request));
    }
    for (const int64_t position : positions) {
      TRY_ASSIGN(const std::string response, connection_.Receive());
      TRY(TakeOffsets(response, position));
    }
    return {};
  }

  Status FetchAll() {
    std::vector<Asked*> open = Undecided();
    for (int round = 0; !open.empty(); ++round) {
      if (round == kRoundsMax) {
        return Fail(ErrorKind::kExhausted,
                    fmt::format("undecided partitions={} rounds={}", open.size(), round));
      }
      TRY(FetchRound(open));
      open = Undecided();
    }
    return {};
  }

 private:
  static std::span<const Asked* const> View(const std::vector<Asked*>& list) {
    return {list.data(), list.size()};
  }

  std::vector<Asked*> Undecided() const {
    std::vector<Asked*> open;
    std::ranges::copy_if(asked_, std::back_inserter(open), [](Asked* a) { return !a->is_decided; });
    return open;
  }

  Status FetchRound(const std::vector<Asked*>& open) {
    const size_t step = static_cast<size_t>(
        std::clamp(kResponseBytes / partition_bytes_, 1, kPartitionsPerRequestMax));
    size_t in_flight = 0;
    for (size_t begin = 0; begin < open.size() || in_flight > 0;) {
      if (begin < open.size() && in_flight < kInFlight) {
        const size_t count = std::min(step, open.size() - begin);
        TRY(SendFetch(View(open).subspan(begin, count)));
        begin += count;
        ++in_flight;
        continue;
      }
      TRY_ASSIGN(const std::string response, connection_.Receive());
      TRY(TakeBatches(response));
      --in_flight;
    }
    return {};
  }

  Status SendFetch(std::span<const Asked* const> partitions) {
    RequestWriter request;
    request.Int32(-1).Int32(0).Int32(1).Int32(kResponseBytes);  // replica, wait, least, most
    request.Int8(0).Int32(0).Int32(-1);  // read uncommitted; no fetch session
    WriteByTopic(request, partitions, [&](const Asked& one) {
      request.Int32(kNoEpoch).Int64(one.committed).Int64(-1).Int32(partition_bytes_);
    });
    request.Int32(0).String("");  // nothing to forget, no rack
    return connection_.Send(Api::kFetch, kFetchVersion, request);
  }

  Status TakeOffsets(const std::string& response, int64_t position) {
    ResponseReader reader(response);
    reader.Int32();  // throttle time
    for (int32_t topics = reader.Int32(); topics > 0 && !reader.is_broken(); --topics) {
      const std::string topic(reader.String());
      for (int32_t left = reader.Int32(); left > 0 && !reader.is_broken(); --left) {
        const kafka::TopicPartition partition{topic, reader.Int32()};
        const int16_t error = reader.Int16();
        reader.Int64();  // timestamp: only of an offset that was looked up by time
        const kafka::Offset offset = reader.Int64();
        reader.Int32();  // leader epoch
        const auto found = by_name_.find(partition);
        if (error != 0 || found == by_name_.end()) return Refused(partition, error);
        if (position != kLatest) continue;
        found->second->end = offset;
        found->second->is_decided = found->second->committed >= offset;
      }
    }
    return reader.is_broken() ? CutShort() : Status();
  }

  Status TakeBatches(const std::string& response) {
    ResponseReader reader(response);
    reader.Int32();  // throttle time
    if (const int16_t error = reader.Int16(); error != 0) return Refused({}, error);
    reader.Int32();  // session
    for (int32_t topics = reader.Int32(); topics > 0 && !reader.is_broken(); --topics) {
      const std::string topic(reader.String());
      for (int32_t left = reader.Int32(); left > 0 && !reader.is_broken(); --left) {
        const kafka::TopicPartition partition{topic, reader.Int32()};
        const int16_t error = reader.Int16();
        reader.Int64();                         // high watermark
        reader.Int64();                         // last stable offset
        reader.Int64();                         // log start
        reader.SkipArray(2 * sizeof(int64_t));  // aborted transactions
        reader.Int32();                         // preferred replica
        const auto found = by_name_.find(partition);
        if (error != 0 || found == by_name_.end()) return Refused(partition, error);
        Decide(*found->second, reader.Bytes());
      }
    }
    return reader.is_broken() ? CutShort() : Status();
  }

  static void Decide(Asked& asked, std::string_view records) {
    while (auto header = ReadBatchHeader(records)) {
      if (header->last >= asked.committed) {
        asked.is_decided = true;
        asked.timestamp_ms = header->timestamp_ms;
        return;
      }
      records = header->rest;
    }
  }

  static Status Refused(const kafka::TopicPartition& partition, int16_t error) {
    return Fail(ErrorKind::kUnavailable, fmt::format("refused partition={}/{} error={}",
                                                     partition.topic, partition.partition, error));
  }
  static Status CutShort() { return Fail(ErrorKind::kCorrupt, "the response is cut short"); }

  Connection connection_;
  std::vector<Asked*> asked_;
  std::map<kafka::TopicPartition, Asked*> by_name_;
  int32_t partition_bytes_;
};

Result<std::vector<BrokerLoop>> OpenBrokers(Connection& bootstrap, const Options& options,
                                            std::vector<Asked>& asked) {
  std::set<std::string> topics;
  for (const Asked& one : asked) topics.insert(one.partition.topic);
  TRY_ASSIGN(const Leaders leaders,
             AskLeaders(bootstrap, std::vector<std::string>(topics.begin(), topics.end())));

  std::map<int32_t, std::vector<Asked*>> by_leader;
  for (Asked& one : asked) {
    const auto found = leaders.leader_of.find(one.partition);
    if (found == leaders.leader_of.end()) {
      return Fail(
          ErrorKind::kUnavailable,
          fmt::format("no leader partition={}/{}", one.partition.topic, one.partition.partition));
    }
    by_leader[found->second].push_back(&one);
  }
  std::vector<BrokerLoop> loops;
  for (auto& [id, partitions] : by_leader) {
    TRY_ASSIGN(Connection connection, Connection::Open(leaders.brokers.at(id)));
    loops.emplace_back(std::move(connection), std::move(partitions), options.partition_bytes);
  }
  return loops;
}

Status RunLoop(BrokerLoop& loop, bool is_one_round) {
  if (is_one_round) return loop.AskOffsets(std::to_array({kLatest}));
  TRY(loop.AskOffsets(std::to_array({kLatest, kEarliest})));
  return loop.FetchAll();
}

Status Run(const Options& options) {
  Stopwatch stopwatch;
  TRY_ASSIGN(const std::vector<Question> questions, ReadQuestions(options.questions));
  std::vector<Asked> asked;
  asked.reserve(questions.size());
  for (const Question& question : questions) {
    Asked& one = asked.emplace_back();
    one.partition = question.partition;
    one.committed = question.committed;
  }
  stopwatch.MarkIdle();
  TRY_ASSIGN(const BrokerAddress address, FirstAddress(options.bootstrap));
  TRY_ASSIGN(Connection bootstrap, Connection::Open(address));
  TRY_ASSIGN(std::vector<BrokerLoop> loops, OpenBrokers(bootstrap, options, asked));
  std::vector<Status> statuses(loops.size());
  {
    std::vector<std::jthread> threads;
    for (size_t i = 0; i < loops.size(); ++i) {
      threads.emplace_back([&, i] { statuses[i] = RunLoop(loops[i], options.is_one_round); });
    }
  }
  for (Status& status : statuses) TRY(std::move(status));

  std::vector<Answer> answers;
  for (Asked& one : asked) {
    if (one.is_decided) answers.push_back({one.partition, one.timestamp_ms});
  }
  const Cost cost = stopwatch.Stop();
  TRY(WriteAnswers(options.answers, answers));
  PrintOutcome(cost, asked.size(), answers.size());
  return {};
}

}  // namespace
}  // namespace tidemark::bench

int main(int argc, char** argv) {
  tidemark::bench::Options options;
  CLI::App app("the freshness question by hand-made requests");
  app.add_option("--bootstrap", options.bootstrap)->required();
  app.add_option("--questions", options.questions)->required();
  app.add_option("--answers", options.answers)->required();
  app.add_option("--partition-bytes", options.partition_bytes, "a little over one batch")
      ->required()
      ->check(CLI::PositiveNumber);
  app.add_flag("--one-round", options.is_one_round, "ask for the ends only, by one ListOffsets");
  CLI11_PARSE(app, argc, argv);
  const auto status = tidemark::bench::Run(options);
  if (!status) fmt::print(stderr, "raw_fetch: {}\n", status.error().message);
  return status ? 0 : 1;
}
