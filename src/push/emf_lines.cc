#include "push/emf_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "push/json_text_internal.h"

namespace tidemark::push {

namespace {

/// pipeline, cluster and table stand first, what tells series of a pipeline apart stands last.
constexpr size_t kLabelsBeforeOwn = 3;

std::string_view UnitOf(const metrics::Family& family) {
  if (family.unit == "seconds") return "Seconds";
  if (family.unit == "bytes") return "Bytes";
  return "None";
}

std::string DimensionValue(std::string_view value) {
  std::string text;
  for (const char c : value) {
    std::string piece(1, c);
    if (c < ' ' || c > '~')
      piece = fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    if (text.size() + piece.size() > kEmfDimensionBytesMax) break;
    text += piece;
  }
  return text;
}

metrics::Labels Dimensions(const metrics::Labels& labels) {
  metrics::Labels dimensions;
  for (const auto& [name, value] : labels) {
    if (value.find_first_not_of(' ') == std::string::npos) continue;
    // Beside the metrics, in one object with them.
    const bool is_taken =
        name == "_aws" || name.starts_with("tidemark_") || name.starts_with("kafka_consumergroup_");
    dimensions.emplace_back(is_taken ? "label_" + name : name, DimensionValue(value));
  }
  if (dimensions.size() > kEmfDimensionsMax) {
    const auto own = dimensions.begin() + kLabelsBeforeOwn;
    dimensions.erase(own, own + static_cast<std::ptrdiff_t>(dimensions.size() - kEmfDimensionsMax));
  }
  return dimensions;
}

std::string LineOf(const metrics::Labels& dimensions, std::span<const metrics::Point* const> points,
                   std::string_view name_space, WallTime at) {
  std::string names, members, metrics;
  for (const auto& [name, value] : dimensions) {
    names += fmt::format("{}{}", names.empty() ? "" : ",", JsonString(name));
    members += fmt::format(",{}:{}", JsonString(name), JsonString(value));
  }
  for (const metrics::Point* point : points) {
    const std::string name = JsonString(point->family->name);
    metrics += fmt::format(R"({}{{"Name":{},"Unit":"{}"}})", metrics.empty() ? "" : ",", name,
                           UnitOf(*point->family));
    members += fmt::format(",{}:{}", name, point->value);
  }
  return fmt::format(R"({{"_aws":{{"Timestamp":{},"CloudWatchMetrics":[{{"Namespace":{},)"
                     R"("Dimensions":[[{}]],"Metrics":[{}]}}]}}{}}})"
                     "\n",
                     MillisOf(at), JsonString(name_space), names, metrics, members);
}

}  // namespace

Status CheckEmfNamespace(std::string_view name) {
  const auto is_good = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view(".-_/#:").contains(c);
  };
  if (name.empty() || name.size() > kEmfNamespaceBytesMax || name.starts_with(':') ||
      name.starts_with("AWS/") || !std::ranges::all_of(name, is_good))
    return Fail(ErrorKind::kInvalidArgument,
                "letters, digits and . - _ / # : are wanted, at most 256, not AWS/ in front");
  return {};
}

std::string EmfLines(std::span<const metrics::Point> points, std::string_view name_space,
                     WallTime at) {
  std::map<metrics::Labels, std::vector<const metrics::Point*>> by_labels;
  for (const metrics::Point& point : points) by_labels[Dimensions(point.labels)].push_back(&point);
  std::string lines;
  for (const auto& [dimensions, of_them] : by_labels) {
    const std::span<const metrics::Point* const> all(of_them);
    for (size_t begin = 0; begin < all.size(); begin += kEmfMetricsMax) {
      const size_t count = std::min(kEmfMetricsMax, all.size() - begin);
      lines += LineOf(dimensions, all.subspan(begin, count), name_space, at);
    }
  }
  return lines;
}

}  // namespace tidemark::push
