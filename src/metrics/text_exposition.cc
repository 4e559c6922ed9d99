#include "metrics/text_exposition.h"

#include "base/check.h"
#include "base/utf8.h"

namespace tidemark::metrics {

namespace {

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

}  // namespace

std::string LabelName(std::string_view text) {
  std::string name;
  if (text.empty() || IsDigit(text.front())) name += '_';
  for (const char c : text) name += IsNameCharacter(c) ? c : '_';
  return name;
}

void TextExposition::Begin(const Family& family) {
  family_ = &family;
  has_header_ = false;
}

void TextExposition::Sample(const Labels& labels, std::string_view value) {
  CHECK(family_ != nullptr, "a sample needs a family");
  const auto header = [&](std::string_view keyword, std::string_view text) {
    text_.append("# ").append(keyword).append(" ").append(family_->name).append(" ");
    text_.append(text).append("\n");
  };
  if (!has_header_) {
    header("HELP", family_->help);
    header("TYPE", "gauge");
    if (format_ == TextFormat::kOpenMetrics && !family_->unit.empty())
      header("UNIT", family_->unit);
    has_header_ = true;
  }
  text_.append(family_->name);
  char separator = '{';
  for (const auto& [name, label] : labels) {
    text_ += separator;
    text_.append(name).append("=\"").append(EscapedLabelValue(label)).append("\"");
    separator = ',';
  }
  if (!labels.empty()) text_ += '}';
  text_.append(" ").append(value).append("\n");
}

std::string TextExposition::Finish() && {
  if (format_ == TextFormat::kOpenMetrics) text_ += "# EOF\n";
  return std::move(text_);
}

}  // namespace tidemark::metrics
