#include "metrics/sink_points.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/number_text.h"
#include "metrics/names.h"

namespace tidemark::metrics {

Points SinkPoints(std::span<const SinkHealth> sinks) {
  Points points;
  const Family& latency = FamilyNamed(FamilyGroup::kSink, names::kApplyLatency);
  for (const auto& sink : sinks)
    AddHistogram(latency, {{"sink", sink.name}}, sink.latency, ShortSecondsText(sink.latency.sum),
                 points);
  const auto add = [&](std::string_view name, auto value_of) {
    for (const auto& sink : sinks)
      points.push_back({.family = &FamilyNamed(FamilyGroup::kSink, name),
                        .labels = {{"sink", sink.name}},
                        .value = std::to_string(value_of(sink))});
  };
  add(names::kSinkQuarantined, [](const auto& sink) { return sink.quarantined; });
  add(names::kSinkPaused, [](const auto& sink) { return sink.paused; });
  add(names::kSinkBehind, [](const auto& sink) { return sink.behind; });
  add(names::kSinkApplied, [](const auto& sink) { return sink.applied; });
  add(names::kSinkFailures, [](const auto& sink) { return sink.failures; });
  add(names::kSinkStale, [](const auto& sink) { return sink.stale; });
  return points;
}

}  // namespace tidemark::metrics
