/// The list `sinks:` of the configuration: where a mirror brings what it knows.
#pragma once

#include <string>
#include <vector>

#include "app/hidden_values.h"
#include "base/clock.h"
#include "sink/make_sink.h"
#include "sink/sink_pace.h"

namespace tidemark::app {

/// `target` may hold secrets: never printed.
struct SinkConfig {
  std::string name;  ///< unique; the kind when none is given
  std::string kind;  ///< "hive", "glue", "trino", "presto", "starrocks", "doris", …
  sink::SinkTarget target;
  /// Table ids, uids or base paths; '*' stands for any run of characters. Empty: all.
  std::vector<std::string> tables;
  Milliseconds timeout = std::chrono::minutes(5);  ///< of bringing one table up to date
  sink::BackOff back_off{};

  friend bool operator==(const SinkConfig&, const SinkConfig&) = default;
};

struct SinksConfig {
  std::vector<SinkConfig> sinks;
  HiddenValues hidden;  ///< those that came from `${env:}` and `${file:}`

  friend bool operator==(const SinksConfig& a, const SinksConfig& b) { return a.sinks == b.sinks; }
};

}  // namespace tidemark::app
