/// Prometheus' text format (version 0.0.4) and OpenMetrics' (1.0): points in, text out.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "metrics/point.h"

namespace tidemark::metrics {

enum class TextFormat { kPrometheus, kOpenMetrics };

/// The whole text. A family without points leaves no trace.
std::string TextExposition(std::span<const Point> points, TextFormat format);

/// How HTTP names the format.
std::string_view ContentTypeOf(TextFormat format);

/// What a client that sends `accept` (RFC 9110) is given: OpenMetrics when it asks for that and
/// does not like plain text better, else Prometheus' format.
TextFormat FormatFor(std::string_view accept);

}  // namespace tidemark::metrics
