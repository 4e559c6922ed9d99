#include "metrics/text_exposition.h"

#include <algorithm>
#include <charconv>

#include "base/utf8.h"

namespace tidemark::metrics {

namespace {

constexpr std::string_view kTotal = "_total";

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}
bool IsNameCharacter(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || IsDigit(c) || c == '_';
}

/// Both formats escape backslash, quote and line feed in label values; help text leaves quotes as
/// they are in Prometheus' format and escapes them in OpenMetrics'. Ours has none.
std::string EscapedLabelValue(std::string_view text) {
  std::string result;
  for (const char c : ToValidUtf8(text)) {
    switch (c) {
      case '\\': result += "\\\\"; break;
      case '"': result += "\\\""; break;
      case '\n': result += "\\n"; break;
      default: result += c;
    }
  }
  return result;
}

void WriteHeader(std::string& text, const Family& family, TextFormat format) {
  const bool is_counter = family.type == FamilyType::kCounter;
  std::string_view name = family.name;
  // In OpenMetrics the family of a counter is called without the suffix of its samples.
  if (format == TextFormat::kOpenMetrics && is_counter) name.remove_suffix(kTotal.size());
  const auto line = [&](std::string_view keyword, std::string_view words) {
    text.append("# ").append(keyword).append(" ").append(name).append(" ");
    text.append(words).append("\n");
  };
  line("HELP", family.help);
  line("TYPE", is_counter                              ? "counter"
               : family.type == FamilyType::kHistogram ? "histogram"
                                                       : "gauge");
  if (format == TextFormat::kOpenMetrics && !family.unit.empty()) line("UNIT", family.unit);
}

void WriteSample(std::string& text, const Point& point) {
  text.append(point.family->name).append(point.suffix);
  char separator = '{';
  for (const auto& [name, label] : point.labels) {
    text += separator;
    text.append(name).append("=\"").append(EscapedLabelValue(label)).append("\"");
    separator = ',';
  }
  if (!point.labels.empty()) text += '}';
  text.append(" ").append(point.value).append("\n");
}

std::string_view Trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") + 1 - begin);
}

/// What stands before the first `mark`; `text` keeps what stands after it.
std::string_view TakeUntil(std::string_view& text, char mark) {
  const size_t end = text.find(mark);
  const std::string_view head = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  return Trimmed(head);
}

/// The weight of one entry of an Accept header, "q=0.5" among its parameters: 0 to 1.
double WeightOf(std::string_view parameters) {
  while (!parameters.empty()) {
    std::string_view parameter = TakeUntil(parameters, ';');
    if (TakeUntil(parameter, '=') != "q") continue;
    double weight = 0;
    parameter = Trimmed(parameter);
    std::from_chars(parameter.data(), parameter.data() + parameter.size(), weight);
    return weight;
  }
  return 1;
}

}  // namespace

std::string LabelName(std::string_view text) {
  std::string name;
  if (text.empty() || IsDigit(text.front())) name += '_';
  for (const char c : text) name += IsNameCharacter(c) ? c : '_';
  return name;
}

std::string TextExposition(std::span<const Point> points, TextFormat format) {
  std::string text;
  const Family* family = nullptr;
  for (const Point& point : points) {
    if (point.family != family) WriteHeader(text, *point.family, format);
    family = point.family;
    WriteSample(text, point);
  }
  if (format == TextFormat::kOpenMetrics) text += "# EOF\n";
  return text;
}

std::string_view ContentTypeOf(TextFormat format) {
  return format == TextFormat::kOpenMetrics
             ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
             : "text/plain; version=0.0.4; charset=utf-8";
}

TextFormat FormatFor(std::string_view accept) {
  double open = 0, plain = 0;
  while (!accept.empty()) {
    std::string_view entry = TakeUntil(accept, ',');
    const std::string_view type = TakeUntil(entry, ';');
    if (type == "application/openmetrics-text") open = std::max(open, WeightOf(entry));
    if (type == "text/plain") plain = std::max(plain, WeightOf(entry));
  }
  return open > 0 && open >= plain ? TextFormat::kOpenMetrics : TextFormat::kPrometheus;
}

}  // namespace tidemark::metrics
