/// Numbers as text for machines: plain decimals that every parser reads the same way, without
/// exponents.
#pragma once

#include <string>

#include "base/clock.h"

namespace tidemark {

/// A duration in seconds, exact to the millisecond, at least one fraction digit: "2700.0", "0.041",
/// "-1.5".
std::string SecondsText(Milliseconds duration);

/// Like SecondsText, but whole seconds without fraction: "1800", "0.5".
std::string ShortSecondsText(Milliseconds duration);

/// A finite number with at least one and at most nine fraction digits, rounded: "1.5", "0.0",
/// "0.333333333".
std::string DecimalText(double number);

}  // namespace tidemark
