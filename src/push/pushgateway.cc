#include "push/pushgateway.h"

#include <array>
#include <string_view>

#include "metrics/text_exposition.h"

namespace tidemark::push {

namespace {

/// RFC 4648 §5, with the padding that the gateway accepts; "=" for nothing, which it wants so.
std::string Base64Url(std::string_view text) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  if (text.empty()) return "=";
  std::string result;
  for (size_t at = 0; at < text.size(); at += 3) {
    const std::string_view part = text.substr(at, 3);
    std::array<unsigned, 3> bytes{};
    for (size_t i = 0; i < part.size(); ++i) bytes[i] = static_cast<unsigned char>(part[i]);
    const unsigned bits = bytes[0] << 16U | bytes[1] << 8U | bytes[2];
    for (size_t i = 0; i < 4; ++i)
      result += i <= part.size() ? kDigits[bits >> (18U - 6U * i) & 63U] : '=';
  }
  return result;
}

std::string Pair(std::string_view name, std::string_view value) {
  const bool fits = !value.empty() && !value.contains('/');
  return std::string("/")
      .append(name)
      .append(fits ? "/" : "@base64/")
      .append(fits ? PathSegment(value) : Base64Url(value));
}

}  // namespace

std::string PushgatewayUrl(const PushgatewayOptions& options) {
  std::string url = PushgatewayExporter::BaseOf(options.url);
  url += "/metrics" + Pair("job", options.job);
  for (const auto& [name, value] : options.grouping) url += Pair(name, value);
  return url;
}

Result<Delivery> PushgatewayExporter::Send(const Values& values, const Budget& budget) {
  constexpr auto kFormat = metrics::TextFormat::kPrometheus;
  const std::string body = metrics::TextExposition(values.points, kFormat);
  TRY(receiver_.Send(
      {.method = "PUT", .url = url_, .content_type = metrics::ContentTypeOf(kFormat), .body = body},
      budget));
  return Delivery{};
}

Status PushgatewayExporter::Retire(const Budget& budget) {
  if (!deletes_on_stop_) return {};
  TRY(receiver_.Send({.method = "DELETE", .url = url_, .content_type = {}, .body = {}}, budget));
  return {};
}

std::string PushgatewayExporter::BaseOf(std::string url) {
  while (url.ends_with('/')) url.pop_back();
  return url;
}

Status PushgatewayExporter::Check(const Budget& budget) {
  const HttpMessage message{.method = "GET", .url = ready_url_, .content_type = {}, .body = {}};
  TRY_ASSIGN(const storage::HttpAnswer answer, receiver_.Ask(message, budget));
  Status status = receiver_.Judge(message, answer);
  if (answer.status == 404 || answer.status == 405) status.error().kind = ErrorKind::kUnsupported;
  return status;
}

}  // namespace tidemark::push
