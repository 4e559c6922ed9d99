#include <algorithm>

#include "push/otlp_points_internal.h"

namespace tidemark::push {

std::vector<std::vector<OtlpMetric>> OtlpMetrics(const metrics::Points& points, size_t points_max) {
  std::vector<std::vector<OtlpMetric>> requests;
  const OtlpMetric all(points);
  for (size_t first = 0; first < all.size(); first += points_max) {
    const OtlpMetric part = all.subspan(first, std::min(points_max, all.size() - first));
    std::vector<OtlpMetric>& metrics = requests.emplace_back();
    for (size_t begin = 0; begin < part.size();) {
      size_t end = begin;
      while (end < part.size() && part[end].family == part[begin].family) ++end;
      metrics.push_back(part.subspan(begin, end - begin));
      begin = end;
    }
  }
  return requests;
}

std::string_view OtlpUnit(const metrics::Family& family) {
  if (family.unit == "seconds") return "s";
  if (family.unit == "bytes") return "By";
  if (family.unit == "ratio") return "1";
  return "";
}

}  // namespace tidemark::push
