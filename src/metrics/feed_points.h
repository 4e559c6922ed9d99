/// What the change feed's publisher says of itself (change-feed R52-R55, F17, F23, §6.2).
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "metrics/latency_histogram.h"
#include "metrics/point.h"

namespace tidemark::metrics {

/// How long the share of good tries and the 99th percentile look back.
inline constexpr Milliseconds kSendWindow = std::chrono::minutes(10);

/// Tries and latencies of one table within kSendWindow, at most kSendSamplesMax of each: the
/// newest.
class SendWindow {
 public:
  void Tried(bool is_good, MonoTime now);
  void Confirmed(Milliseconds latency, MonoTime now);

  /// nullopt: nothing in the window.
  std::optional<double> success_rate(MonoTime now) const;
  std::optional<Milliseconds> latency_p99(MonoTime now) const;

 private:
  template <class T>
  struct Sample {
    MonoTime at;
    T value;
  };
  std::deque<Sample<bool>> tries_;
  std::deque<Sample<Milliseconds>> latencies_;
};
inline constexpr size_t kSendSamplesMax = 1000;

struct FeedTable {
  std::string table;  ///< its base path
  std::optional<double> send_success_rate{};
  std::optional<Milliseconds> send_latency_p99{};
  std::optional<int64_t> unpublished_instants{};
  std::optional<Milliseconds> oldest_unpublished{};
  std::optional<Milliseconds> check_age{};  ///< since the timeline was last read well
  bool is_parked = false;                   ///< tried and not sent
  bool is_paused = false;
};

struct FeedReport {
  std::vector<FeedTable> tables{};  ///< of the partitions that are held
  LatencyHistogram latency{};
  uint64_t send_tries = 0;
  uint64_t send_failures = 0;
  uint64_t groups = 0;
  uint64_t late_instants = 0;
  uint64_t snapshots = 0;
  uint64_t fenced = 0;  ///< partitions lost to another owner while they were held
  uint64_t control_refused = 0;
  size_t partitions_held = 0;
  size_t partitions_closed = 0;  ///< held, but not opened yet
};

/// No series of single tables when there are more than `table_series_max`.
Points FeedPoints(const FeedReport& report, size_t table_series_max);

}  // namespace tidemark::metrics
