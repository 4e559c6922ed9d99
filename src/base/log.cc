#include "base/log.h"

#include <fmt/core.h>
#include <poll.h>
#include <spdlog/details/os.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <climits>
#include <memory>
#include <mutex>
#include <utility>

#include "base/line_queue_internal.h"
#include "base/log_internal.h"
#include "base/utf8.h"

namespace tidemark {

namespace {

constexpr size_t kQueuedBytesMax = 4'000'000;
/// How long the end of a process waits for whoever reads stderr.
constexpr Milliseconds kEndMax{1'000};

/// Where lines go.
struct Outlet {
  std::mutex mutex;                            // never held while a descriptor is written
  std::shared_ptr<internal::LineQueue> queue;  // guarded by mutex; null: written at once
};

/// Lives as long as any thread that may log: it is never destroyed.
Outlet& TheOutlet() {
  static Outlet& outlet = *std::make_unique<Outlet>().release();
  return outlet;
}

void Write(std::string line) {
  {
    Outlet& outlet = TheOutlet();
    const std::lock_guard lock(outlet.mutex);
    if (outlet.queue) return outlet.queue->Put(std::move(line));
  }
  internal::WriteAll(STDERR_FILENO, line);
}

std::string_view ColourOf(spdlog::level::level_enum level) {
  switch (level) {
    case spdlog::level::debug: return "\x1b[36m";
    case spdlog::level::info: return "\x1b[32m";
    case spdlog::level::warn: return "\x1b[33m\x1b[1m";
    default: return "\x1b[31m\x1b[1m";
  }
}

std::unique_ptr<spdlog::formatter> MakeFormatter() {
  return std::make_unique<spdlog::pattern_formatter>("%Y-%m-%dT%H:%M:%S.%eZ %^%l%$ %v",
                                                     spdlog::pattern_time_type::utc);
}

std::string LineOf(spdlog::formatter& formatter, const spdlog::details::log_msg& message) {
  static const bool has_colour =
      spdlog::details::os::in_terminal(stderr) && spdlog::details::os::is_color_terminal();
  spdlog::memory_buf_t buffer;
  formatter.format(message, buffer);
  std::string line(buffer.data(), buffer.size());
  if (has_colour && message.color_range_end > message.color_range_start) {
    line.insert(message.color_range_end, "\x1b[m");
    line.insert(message.color_range_start, ColourOf(message.level));
  }
  return line;
}

std::string LostLine(uint64_t lost) {
  const std::string text =
      fmt::format("lines of the log are missing here, nobody read it lost={}", lost);
  return LineOf(*MakeFormatter(), {"tidemark", spdlog::level::warn, text});
}

class OutletSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  OutletSink() : base_sink(MakeFormatter()) {}

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    Write(LineOf(*formatter_, message));
  }
  void flush_() override {}
};

spdlog::level::level_enum Translate(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug: return spdlog::level::debug;
    case LogLevel::kInfo: return spdlog::level::info;
    case LogLevel::kWarning: return spdlog::level::warn;
    case LogLevel::kError: return spdlog::level::err;
  }
  return spdlog::level::err;
}

spdlog::logger& Logger() {
  static spdlog::logger logger = [] {
    spdlog::logger made("tidemark", std::make_shared<OutletSink>());
    made.set_level(spdlog::level::warn);
    return made;
  }();
  return logger;
}

std::function<std::string(std::string)>& Filter() {
  static std::function<std::string(std::string)> filter;
  return filter;
}

}  // namespace

void SetLogLevel(LogLevel level) {
  Logger().set_level(Translate(level));
}

void SetLogFilter(std::function<std::string(std::string)> filter) {
  Filter() = std::move(filter);
}

void Log(LogLevel level, std::string_view message) {
  if (!Logger().should_log(Translate(level))) return;
  // Messages quote tables and brokers.
  Logger().log(Translate(level), "{}",
               Printable(Filter() ? Filter()(std::string(message)) : std::string(message)));
}

void Say(std::string_view line) {
  Write(fmt::format("{}\n", line));
}

QueuedLog::QueuedLog() {
  Outlet& outlet = TheOutlet();
  const std::lock_guard lock(outlet.mutex);
  if (outlet.queue) return;  // an earlier one, which nobody reads
  outlet.queue = std::make_shared<internal::LineQueue>(internal::LineQueue::Options{
      .descriptor = STDERR_FILENO, .bytes_max = kQueuedBytesMax, .lost_line = LostLine});
}

QueuedLog::~QueuedLog() {
  Outlet& outlet = TheOutlet();
  std::unique_lock lock(outlet.mutex);
  const auto queue = outlet.queue;
  lock.unlock();
  queue->Drain(kEndMax);
  lock.lock();
  // Else nobody reads, and who logs later must not wait for that either.
  if (queue->Drain(Milliseconds(0))) outlet.queue.reset();
}

namespace internal {

void WriteLastLine(std::string_view line) {
  std::shared_ptr<LineQueue> queue;
  {
    Outlet& outlet = TheOutlet();
    const std::lock_guard lock(outlet.mutex);
    queue = outlet.queue;
  }
  if (queue) queue->Drain(kEndMax);
  // A pipe with room has it for PIPE_BUF bytes.
  pollfd writable{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
  if (::poll(&writable, 1, static_cast<int>(kEndMax.count())) > 0)
    WriteAll(STDERR_FILENO, line.substr(0, PIPE_BUF));
}

}  // namespace internal

}  // namespace tidemark
