/// What the contestants of the freshness bench share: the questions they are asked, the answers
/// they give, and what it cost. Each contestant is a process of its own.
#pragma once

#include <sys/resource.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "kafka/positions.h"

namespace tidemark::bench {

struct Question {
  kafka::TopicPartition partition;
  kafka::Offset committed = 0;  ///< next offset the table will read
};

/// One line a question: topic, partition, committed offset, separated by tabs. kNotFound when there
/// is no such file, kCorrupt (with its line) for what is not of this form.
Result<std::vector<Question>> ReadQuestions(const std::string& path);
Status WriteQuestions(const std::string& path, const std::vector<Question>& questions);

/// One decided partition. What a contestant could not decide it leaves out.
struct Answer {
  kafka::TopicPartition partition;
  /// Timestamp of the first record at or after the committed offset; nullopt: there is none.
  std::optional<int64_t> timestamp_ms;
};

/// One line an answer: topic, partition, timestamp or "-", separated by tabs.
Status WriteAnswers(const std::string& path, const std::vector<Answer>& answers);

struct Cost {
  std::chrono::microseconds wall{0};
  std::chrono::microseconds cpu{0};  ///< user and system, all threads
  /// The same when MarkIdle() was called.
  std::chrono::microseconds idle_wall{0};
  std::chrono::microseconds idle_cpu{0};
  int64_t idle_rss_bytes = 0;
  int64_t max_rss_bytes = 0;   ///< greatest since the process began
  int64_t received_bytes = 0;  ///< through the TCP sockets that were open when it stopped
};

/// Measures this process from the stopwatch's construction on. Stop it before the connections are
/// closed.
class Stopwatch {
 public:
  Stopwatch();
  /// The client exists, and nothing was asked yet: what came before does not grow with the number
  /// of partitions.
  void MarkIdle();
  Cost Stop() const;

 private:
  MonoTime begin_;
  std::chrono::microseconds begin_cpu_;
  int64_t begin_received_bytes_;
  Cost idle_;
};

/// Prints the result as one line of JSON on stdout.
void PrintOutcome(const Cost& cost, size_t asked, size_t answered);

}  // namespace tidemark::bench
