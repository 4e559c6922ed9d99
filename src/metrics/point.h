/// One value of one family: what every exporter shows, each in its own words.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "metrics/family.h"

namespace tidemark::metrics {

/// In the order they are shown. Names must be valid (LabelName makes them so) and unique.
using Labels = std::vector<std::pair<std::string, std::string>>;

/// A number that is known; one that is not has no point.
struct Point {
  const Family* family = nullptr;  ///< never null; of FamiliesOf
  Labels labels;
  std::string value;  ///< a plain decimal, never negative
  /// Of a histogram's point: "_bucket", "_sum" or "_count".
  std::string_view suffix{};
};

/// Those of one family stand together; no two have the same family and labels.
using Points = std::vector<Point>;

/// `text` as a label name: every other character than A-Z, a-z, 0-9 and _ becomes _, and one is put
/// in front of a leading digit. "team-name" -> "team_name"; never empty.
std::string LabelName(std::string_view text);

}  // namespace tidemark::metrics
