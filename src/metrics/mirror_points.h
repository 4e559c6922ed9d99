/// What a mirror of the change feed says of itself (change-feed R54, R55, §6.2).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "metrics/point.h"

namespace tidemark::metrics {

struct MirroredTable {
  std::string table;  ///< its base path
  int64_t lag = 0;    ///< groups that are published and not applied
  std::optional<double> version_gap_seconds{};
  bool is_waiting = false;  ///< for what is missing
};

struct MirrorReport {
  std::vector<MirroredTable> tables{};
  uint64_t applied = 0;  ///< groups
  uint64_t gaps = 0;
  std::map<std::string, uint64_t> relists{};  ///< by reason
  uint64_t mismatches = 0;
  uint64_t duplicates = 0;
  uint64_t conflicts = 0;
  uint64_t late = 0;
  uint64_t dropped = 0;  ///< parts: broken, or no room for them
  uint64_t buried = 0;
  size_t open_groups = 0;
};

/// No series of single tables when there are more than `table_series_max`.
Points MirrorPoints(const MirrorReport& report, size_t table_series_max);

}  // namespace tidemark::metrics
