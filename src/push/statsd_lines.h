/// Points as StatsD gauges (github.com/statsd/statsd, docs/metric_types.md) and as DogStatsD's,
/// which have tags (docs.datadoghq.com, DogStatsD datagram format).
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "metrics/point.h"

namespace tidemark::push {

enum class StatsdDialect {
  kStatsd,     ///< no tags: what tells series apart becomes part of the name
  kDogstatsd,  ///< labels are tags
};

/// Fits into one packet of Ethernet's 1500 bytes with room for IPv6 and a tunnel.
inline constexpr size_t kDatagramBytesDefault = 1'432;
/// What UDP can carry at most over IPv4.
inline constexpr size_t kDatagramBytesMax = 65'507;

struct StatsdFormat {
  StatsdDialect dialect = StatsdDialect::kStatsd;
  std::string prefix{};    ///< put in front of every name as it is, "team."
  metrics::Labels tags{};  ///< of every line; DogStatsD only
  size_t datagram_bytes_max = kDatagramBytesDefault;

  friend bool operator==(const StatsdFormat&, const StatsdFormat&) = default;
};

struct StatsdDatagrams {
  std::vector<std::string>
      datagrams;        ///< lines separated by line feeds, none longer than the bound
  size_t left_out = 0;  ///< points whose line alone is longer
};

/// Everything is a gauge, counters too: a server adds up what it is sent as a counter, and these
/// are totals. kStatsd: "NAME.PIPELINE[.STATUS…]:VALUE|g"; characters that are no letters, digits,
/// '-' or '_' become '_', and a value that had some gets a hash so that no two series are mixed. It
/// leaves out the family "reason", whose series come and go: a StatsD server repeats the last value
/// for ever.
StatsdDatagrams StatsdLines(std::span<const metrics::Point> points, const StatsdFormat& format);

}  // namespace tidemark::push
