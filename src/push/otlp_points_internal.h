/// What both encodings of OpenTelemetry share: how points become requests.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "metrics/point.h"

namespace tidemark::push {

/// Points of one family: one metric of a request.
using OtlpMetric = std::span<const metrics::Point>;

/// The metrics of each request, with at most `points_max` points a request.
std::vector<std::vector<OtlpMetric>> OtlpMetrics(const metrics::Points& points, size_t points_max);

/// UCUM, as OpenTelemetry's conventions want it.
std::string_view OtlpUnit(const metrics::Family& family);

inline constexpr std::string_view kOtlpScope = "tidemark";
inline constexpr int kOtlpCumulative = 2;  ///< AGGREGATION_TEMPORALITY_CUMULATIVE

}  // namespace tidemark::push
