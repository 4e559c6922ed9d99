#include "metrics/sink_points.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/number_text.h"
#include "metrics/names.h"

namespace tidemark::metrics {

namespace {

const Family& FamilyOf(std::string_view name) {
  const auto families = FamiliesOf(FamilyGroup::kSink);
  return *std::ranges::find(families, name, &Family::name);
}

void AddHistogram(const SinkHealth& sink, Points& points) {
  const Family& family = FamilyOf(names::kApplyLatency);
  uint64_t total = 0;
  for (size_t i = 0; i < sink.latency.counts.size(); ++i) {
    total += sink.latency.counts[i];
    const std::string bound =
        i < kLatencyBounds.size() ? fmt::format("{}", kLatencyBounds[i]) : "+Inf";
    points.push_back({.family = &family,
                      .labels = {{"sink", sink.name}, {"le", bound}},
                      .value = std::to_string(total),
                      .suffix = "_bucket"});
  }
  points.push_back({.family = &family,
                    .labels = {{"sink", sink.name}},
                    .value = ShortSecondsText(sink.latency.sum),
                    .suffix = "_sum"});
  points.push_back({.family = &family,
                    .labels = {{"sink", sink.name}},
                    .value = std::to_string(total),
                    .suffix = "_count"});
}

}  // namespace

Points SinkPoints(std::span<const SinkHealth> sinks) {
  Points points;
  for (const auto& sink : sinks) AddHistogram(sink, points);
  const auto add = [&](std::string_view name, auto value_of) {
    for (const auto& sink : sinks)
      points.push_back({.family = &FamilyOf(name),
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
