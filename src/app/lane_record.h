/// How one exporter fares: counted for the metrics, and said once in the log when it changes.
#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/error.h"
#include "metrics/exporter_points.h"

namespace tidemark::app {

/// Any thread.
class LaneRecord {
 public:
  /// `clock` outlives the record.
  LaneRecord(std::string name, const Clock& clock) : clock_(clock) {
    health_.name = std::move(name);
  }

  /// A delivery arrived, but for `dropped` values.
  void Arrived(size_t dropped);
  void Failed(const Error& error);
  /// `count` messages are given up.
  void GaveUp(size_t count, std::string_view why);
  void SetWaiting(size_t count);

  metrics::ExporterHealth Get() const;

 private:
  const Clock& clock_;
  mutable std::mutex mutex_;
  metrics::ExporterHealth health_;
  uint64_t failures_in_a_row_ = 0;
  bool is_dropping_ = false;
};

}  // namespace tidemark::app
