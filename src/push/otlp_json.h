/// Points as OpenTelemetry's ExportMetricsServiceRequest in its JSON encoding (OTLP 1.x,
/// opentelemetry-proto collector/metrics/v1).
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "push/exporter.h"

namespace tidemark::push {

/// A collector takes bodies of 20 MiB by default; a point is below 1 KiB as a rule.
inline constexpr size_t kOtlpPointsMax = 5'000;

/// Attributes of who speaks: "service.name" and the like.
using OtlpResource = std::map<std::string, std::string>;

/// One or more requests with at most `points_max` points each; none when there are no points. Names
/// and labels are those of the Prometheus endpoint. Numbers are doubles throughout: a series whose
/// type changes with its value is two series to some receivers. Counters are cumulative sums.
std::vector<std::string> OtlpRequests(const Values& values, const OtlpResource& resource,
                                      size_t points_max = kOtlpPointsMax);

/// How many points the answer to a request says were refused (partialSuccess). kCorrupt for what is
/// no such answer; an empty one refuses nothing.
Result<size_t> OtlpRejected(std::string_view answer);

}  // namespace tidemark::push
