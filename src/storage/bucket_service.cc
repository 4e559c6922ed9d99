#include "storage/bucket_service.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "storage/http_time.h"

namespace tidemark::storage {

namespace {

constexpr size_t kMessageBytesMax = 300;

}  // namespace

std::optional<ObjectInfo> BucketService::ParseStat(const HttpAnswer& answer) const {
  const auto size = ParseNumber(answer.Header("content-length"));
  const auto modified = ParseHttpDate(answer.Header("last-modified"));
  if (!size || !modified) return std::nullopt;
  return ObjectInfo{"", *size, *modified};
}

ErrorKind KindOfStatus(int status) {
  switch (status) {
    case 401:
    case 403: return ErrorKind::kDenied;
    case 404:
    case 410: return ErrorKind::kNotFound;
    case 409:
    case 412: return ErrorKind::kConflict;
    case 405:
    case 501: return ErrorKind::kUnsupported;
    case 408:
    case 429: return ErrorKind::kUnavailable;
    default: break;
  }
  if (status >= 500) return ErrorKind::kUnavailable;
  if (status >= 300) return ErrorKind::kInvalidArgument;
  return ErrorKind::kCorrupt;
}

bool IsPassing(int status) {
  return status == 408 || status == 429 || (status >= 500 && status != 501);
}

Error ErrorOf(const BucketRequest& request, const HttpAnswer& answer, std::string_view host,
              const BucketRefusal& refusal) {
  std::string message = fmt::format("{}: object={} request={} http={}", refusal.text, request.name,
                                    request.method, answer.status);
  if (!refusal.code.empty()) message += fmt::format(" code={}", refusal.code);
  if (refusal.kind == ErrorKind::kDenied && !refusal.identity.empty())
    message += fmt::format(" {}", refusal.identity);
  message += fmt::format(" host={}", host);
  if (!refusal.server_text.empty()) message += fmt::format(" server='{}'", refusal.server_text);
  return {refusal.kind, std::move(message)};
}

std::string OneLine(std::string_view text) {
  std::string line(text.substr(0, kMessageBytesMax));
  std::ranges::replace_if(
      line, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
  return line;
}

std::optional<uint64_t> ParseNumber(std::string_view text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace tidemark::storage
