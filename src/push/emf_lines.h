/// Points in CloudWatch's embedded metric format (Amazon CloudWatch user guide, "Specification:
/// Embedded metric format"): JSON in a log line that CloudWatch Logs turns into metrics.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/error.h"
#include "metrics/point.h"

namespace tidemark::push {

// The specification's limits.
inline constexpr size_t kEmfMetricsMax = 100;           ///< metrics a line
inline constexpr size_t kEmfDimensionsMax = 30;         ///< dimensions of a metric
inline constexpr size_t kEmfDimensionBytesMax = 1'024;  ///< of a dimension's value
inline constexpr size_t kEmfNamespaceBytesMax = 256;

/// kInvalidArgument for what CloudWatch does not take as a namespace.
Status CheckEmfNamespace(std::string_view name);

/// One line for each set of labels (more when it has more metrics than a line may), each with its
/// line feed. Labels are dimensions; empty ones, which CloudWatch refuses, are left out, and what
/// is not printable ASCII in a value is percent-encoded, and cut off at the limit. Of more labels
/// than there may be dimensions, the pipeline's own go first.
std::string EmfLines(std::span<const metrics::Point> points, std::string_view name_space,
                     WallTime at);

}  // namespace tidemark::push
