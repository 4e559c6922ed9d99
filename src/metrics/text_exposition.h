/// Prometheus' text format (version 0.0.4) and OpenMetrics' (1.0): values in, text out.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "metrics/family.h"

namespace tidemark::metrics {

enum class TextFormat { kPrometheus, kOpenMetrics };

/// In the order of exposition. Names must be valid (LabelName makes them so) and unique.
using Labels = std::vector<std::pair<std::string, std::string>>;

/// `text` as a label name: every other character than A-Z, a-z, 0-9 and _ becomes _, and one is put
/// in front of a leading digit. "team-name" -> "team_name"; never empty.
std::string LabelName(std::string_view text);

/// Writes families one after the other, each with all its samples. Single-threaded.
class TextExposition {
 public:
  explicit TextExposition(TextFormat format) : format_(format) {}

  /// Begins a family; its header is written with its first sample, so a family without samples
  /// leaves no trace.
  void Begin(const Family& family);

  /// One sample of the family begun. `value` is a plain decimal.
  void Sample(const Labels& labels, std::string_view value);

  /// The text; ends the exposition.
  std::string Finish() &&;

 private:
  TextFormat format_;
  const Family* family_ = nullptr;
  bool has_header_ = false;
  std::string text_;
};

}  // namespace tidemark::metrics
