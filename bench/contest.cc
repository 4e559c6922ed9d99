#include "bench/contest.h"

#include <dirent.h>
#include <fmt/core.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <charconv>
#include <fstream>
#include <memory>
#include <string_view>

namespace tidemark::bench {

namespace {

constexpr int64_t kBytesPerKilobyte = 1024;

/// "VmHWM:     1234 kB" of /proc/self/status, in bytes; 0 when the line is missing.
int64_t StatusLine(std::string_view name) {
  std::ifstream status("/proc/self/status");
  std::string line;
  while (std::getline(status, line)) {
    if (!line.starts_with(name)) continue;
    const size_t digits = line.find_first_of("0123456789");
    if (digits == std::string::npos) return 0;
    int64_t kilobytes = 0;
    std::from_chars(line.data() + digits, line.data() + line.size(), kilobytes);
    return kilobytes * kBytesPerKilobyte;
  }
  return 0;
}

/// Read from the kernel, so that it is the same figure for every client library. Sockets that were
/// closed before are not in it: a few kilobytes of a bootstrap connection at most.
int64_t ReceivedOnOpenSockets() {
  int64_t total = 0;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir("/proc/self/fd"), closedir);
  if (!folder) return 0;
  while (const dirent* entry = readdir(folder.get())) {
    const std::string_view name = entry->d_name;
    int descriptor = -1;
    if (std::from_chars(name.data(), name.data() + name.size(), descriptor).ec != std::errc()) {
      continue;
    }
    tcp_info info{};
    socklen_t size = sizeof(info);
    if (getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &size) == 0) {
      total += static_cast<int64_t>(info.tcpi_bytes_received);
    }
  }
  return total;
}

std::chrono::microseconds CpuTime() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto of = [](const timeval& time) {
    return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
  };
  return of(usage.ru_utime) + of(usage.ru_stime);
}

double InMilliseconds(std::chrono::microseconds time) {
  return static_cast<double>(time.count()) / 1000.0;
}

template <class T>
bool ParseWhole(std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

std::optional<Question> ParseQuestion(std::string_view line) {
  const size_t first = line.find('\t');
  if (first == std::string_view::npos || first == 0) return std::nullopt;
  const size_t second = line.find('\t', first + 1);
  if (second == std::string_view::npos) return std::nullopt;
  Question question;
  question.partition.topic = line.substr(0, first);
  if (!ParseWhole(line.substr(first + 1, second - first - 1), question.partition.partition) ||
      !ParseWhole(line.substr(second + 1), question.committed)) {
    return std::nullopt;
  }
  return question;
}

Status Close(std::ofstream& file, const std::string& path) {
  file.close();
  if (!file) return Fail(ErrorKind::kUnavailable, "cannot write file=" + path);
  return {};
}

}  // namespace

Result<std::vector<Question>> ReadQuestions(const std::string& path) {
  std::ifstream file(path);
  if (!file) return Fail(ErrorKind::kNotFound, "no questions file=" + path);
  std::vector<Question> questions;
  std::string line;
  while (std::getline(file, line)) {
    auto question = ParseQuestion(line);
    if (!question) {
      return Fail(ErrorKind::kCorrupt, fmt::format("not a question file={} line={} text='{}'", path,
                                                   questions.size() + 1, line));
    }
    questions.push_back(*std::move(question));
  }
  return questions;
}

Status WriteQuestions(const std::string& path, const std::vector<Question>& questions) {
  std::ofstream file(path);
  for (const Question& question : questions) {
    file << question.partition.topic << '\t' << question.partition.partition << '\t'
         << question.committed << '\n';
  }
  return Close(file, path);
}

Status WriteAnswers(const std::string& path, const std::vector<Answer>& answers) {
  std::ofstream file(path);
  for (const Answer& answer : answers) {
    file << answer.partition.topic << '\t' << answer.partition.partition << '\t';
    if (answer.timestamp_ms) {
      file << *answer.timestamp_ms << '\n';
    } else {
      file << "-\n";
    }
  }
  return Close(file, path);
}

Stopwatch::Stopwatch()
    : begin_(std::chrono::steady_clock::now()),
      begin_cpu_(CpuTime()),
      begin_received_bytes_(ReceivedOnOpenSockets()) {}

void Stopwatch::MarkIdle() {
  idle_ = Stop();
  idle_.idle_rss_bytes = StatusLine("VmRSS:");
}

Cost Stopwatch::Stop() const {
  Cost cost;
  cost.wall =
      std::chrono::round<std::chrono::microseconds>(std::chrono::steady_clock::now() - begin_);
  cost.cpu = CpuTime() - begin_cpu_;
  cost.idle_wall = idle_.wall;
  cost.idle_cpu = idle_.cpu;
  cost.idle_rss_bytes = idle_.idle_rss_bytes;
  cost.max_rss_bytes = StatusLine("VmHWM:");
  cost.received_bytes = ReceivedOnOpenSockets() - begin_received_bytes_;
  return cost;
}

void PrintOutcome(const Cost& cost, size_t asked, size_t answered) {
  fmt::print(
      "{{\"wall_ms\": {:.1f}, \"cpu_ms\": {:.1f}, \"idle_wall_ms\": {:.1f}, \"idle_cpu_ms\": "
      "{:.1f}, "
      "\"idle_rss_bytes\": {}, \"max_rss_bytes\": {}, "
      "\"received_bytes\": {}, \"asked\": {}, \"answered\": {}}}\n",
      InMilliseconds(cost.wall), InMilliseconds(cost.cpu), InMilliseconds(cost.idle_wall),
      InMilliseconds(cost.idle_cpu), cost.idle_rss_bytes, cost.max_rss_bytes, cost.received_bytes,
      asked, answered);
}

}  // namespace tidemark::bench
