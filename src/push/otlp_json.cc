#include "push/otlp_json.h"

#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>
#include <span>

#include "push/json_text_internal.h"
#include "push/otlp_points_internal.h"

namespace tidemark::push {

namespace {

std::string NanosOf(WallTime time) {
  return fmt::format("\"{}000000\"", MillisOf(time));
}

template <class Pairs>
std::string Attributes(const Pairs& pairs) {
  std::string text = "[";
  for (const auto& [key, value] : pairs) {
    if (text.size() > 1) text += ',';
    text += fmt::format(R"({{"key":{},"value":{{"stringValue":{}}}}})", JsonString(key),
                        JsonString(value));
  }
  return text + "]";
}

std::string MetricOf(OtlpMetric points, const Values& values) {
  const metrics::Family& family = *points.front().family;
  const bool is_counter = family.type == metrics::FamilyType::kCounter;
  std::string text = fmt::format(R"({{"name":{},"description":{},"unit":{},"{}":{{"dataPoints":[)",
                                 JsonString(family.name), JsonString(family.help),
                                 JsonString(OtlpUnit(family)), is_counter ? "sum" : "gauge");
  const std::string since =
      is_counter ? fmt::format("\"startTimeUnixNano\":{},", NanosOf(values.counting_since)) : "";
  for (const metrics::Point& point : points) {
    if (&point != &points.front()) text += ',';
    text += fmt::format(R"({{"attributes":{},{}"timeUnixNano":{},"asDouble":{}}})",
                        Attributes(point.labels), since, NanosOf(values.taken_at), point.value);
  }
  text += ']';
  // The JSON encoding wants the number, not the name.
  if (is_counter)
    text += fmt::format(R"(,"aggregationTemporality":{},"isMonotonic":true)", kOtlpCumulative);
  return text + "}}";
}

std::string RequestOf(std::span<const OtlpMetric> metrics, const Values& values,
                      const OtlpResource& resource) {
  std::string text =
      fmt::format(R"({{"resourceMetrics":[{{"resource":{{"attributes":{}}},"scopeMetrics":[{{)"
                  R"("scope":{{"name":{}}},"metrics":[)",
                  Attributes(resource), JsonString(kOtlpScope));
  for (const OtlpMetric& points : metrics) {
    if (&points != &metrics.front()) text += ',';
    text += MetricOf(points, values);
  }
  return text + "]}]}]}";
}

}  // namespace

std::vector<std::string> OtlpRequests(const Values& values, const OtlpResource& resource,
                                      size_t points_max) {
  std::vector<std::string> requests;
  for (const auto& metrics : OtlpMetrics(values.points, points_max))
    requests.push_back(RequestOf(metrics, values, resource));
  return requests;
}

Result<size_t> OtlpRejected(std::string_view answer) {
  if (answer.find_first_not_of(" \t\r\n") == std::string_view::npos) return size_t{0};
  const auto json = nlohmann::json::parse(answer, nullptr, false);
  const auto refuse = [] {
    return Fail(ErrorKind::kCorrupt, "the answer is no ExportMetricsServiceResponse");
  };
  if (!json.is_object()) return refuse();
  const auto partial = json.find("partialSuccess");
  if (partial == json.end() || partial->is_null()) return size_t{0};
  if (!partial->is_object()) return refuse();
  const auto count = partial->find("rejectedDataPoints");
  if (count == partial->end()) return size_t{0};
  if (count->is_number_unsigned()) return count->get<size_t>();
  // An int64 of protobuf is a string in JSON.
  if (!count->is_string()) return refuse();
  const auto& text = count->get_ref<const std::string&>();
  size_t number = 0;
  const char* const text_end = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), text_end, number);
  if (error != std::errc{} || end != text_end) return refuse();
  return number;
}

}  // namespace tidemark::push
