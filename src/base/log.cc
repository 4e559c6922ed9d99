#include "base/log.h"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <utility>

#include "base/utf8.h"

namespace tidemark {

namespace {

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
    spdlog::logger made("tidemark", std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
    made.set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %^%l%$ %v", spdlog::pattern_time_type::utc);
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

}  // namespace tidemark
