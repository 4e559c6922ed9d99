#include "app/lane_record.h"

#include <fmt/format.h>

#include <utility>

#include "base/log.h"

namespace tidemark::app {

void LaneRecord::Arrived(size_t dropped) {
  const std::lock_guard lock(mutex_);
  if (failures_in_a_row_ > 0)
    Log(LogLevel::kInfo,
        fmt::format("exporter={} delivers again failures={}", health_.name, failures_in_a_row_));
  failures_in_a_row_ = 0;
  health_.is_up = true;
  ++health_.deliveries;
  health_.last_success = clock_.Now();
  health_.dropped += dropped;
  const bool is_news = dropped > 0 && !is_dropping_;
  is_dropping_ = dropped > 0;
  if (is_news)
    Log(LogLevel::kWarning,
        fmt::format("exporter={} some values are not taken dropped={}", health_.name, dropped));
}

void LaneRecord::Failed(const Error& error) {
  const std::lock_guard lock(mutex_);
  ++health_.failures;
  health_.is_up = false;
  if (failures_in_a_row_++ == 0)
    Log(LogLevel::kWarning,
        fmt::format("exporter={} does not deliver: {}", health_.name, error.message));
}

void LaneRecord::GaveUp(size_t count, std::string_view why) {
  const std::lock_guard lock(mutex_);
  health_.dropped += count;
  Log(LogLevel::kWarning,
      fmt::format("exporter={} gives up messages={}: {}", health_.name, count, why));
}

void LaneRecord::SetWaiting(size_t count) {
  const std::lock_guard lock(mutex_);
  health_.waiting = count;
}

metrics::ExporterHealth LaneRecord::Get() const {
  const std::lock_guard lock(mutex_);
  return health_;
}

}  // namespace tidemark::app
