#include "storage/http_sink.h"

#include <algorithm>
#include <charconv>

#include "base/letter_case.h"
#include "storage/object_store.h"

namespace tidemark::storage {

namespace {

constexpr size_t kHeaderBytesMax = size_t{64} << 10;
/// What is set aside on the word of a Content-Length alone.
constexpr uint64_t kReserveBytesMax = uint64_t{64} << 20;

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

}  // namespace

size_t HttpSink::OnHeader(char* bytes, size_t size, size_t count, void* user) {
  const size_t length = size * count;
  return static_cast<HttpSink*>(user)->TakeHeader({bytes, length}) ? length : 0;
}

size_t HttpSink::OnBody(char* bytes, size_t size, size_t count, void* user) {
  const size_t length = size * count;
  return static_cast<HttpSink*>(user)->TakeBody({bytes, length}) ? length : 0;
}

bool HttpSink::TakeHeader(std::string_view line) {
  header_bytes_ += line.size();
  if (header_bytes_ > kHeaderBytesMax) {
    is_too_long_ = true;
    return false;
  }
  if (line.starts_with("HTTP/")) {
    // A new status line also ends an interim answer ("100 Continue", a proxy's "200 established").
    answer_ = {};
    const size_t blank = line.find(' ');
    if (blank != std::string_view::npos)
      std::from_chars(line.data() + blank + 1, line.data() + line.size(), answer_.status);
    return true;
  }
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos) return true;
  std::string name = LowerCase(Trimmed(line.substr(0, colon)));
  answer_.headers.insert_or_assign(std::move(name), std::string(Trimmed(line.substr(colon + 1))));
  return true;
}

bool HttpSink::TakeBody(std::string_view bytes) {
  const bool is_success = answer_.status >= 200 && answer_.status < 300;
  if (!is_success) {
    const size_t room = kErrorBodyBytesMax - answer_.body.size();
    answer_.body.append(bytes.substr(0, room));
    is_error_body_cut_ = bytes.size() > room;
    return !is_error_body_cut_;
  }
  if (answer_.body.empty()) {
    uint64_t length = 0;
    const std::string_view text = answer_.Header("content-length");
    std::from_chars(text.data(), text.data() + text.size(), length);
    answer_.body.reserve(std::min({length, bytes_max_, kReserveBytesMax}) + kReadRoomBytes);
  }
  if (bytes.size() > bytes_max_ - answer_.body.size()) {
    is_too_long_ = true;
    return false;
  }
  answer_.body.append(bytes);
  return true;
}

}  // namespace tidemark::storage
