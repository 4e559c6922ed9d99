/// Collects one HTTP answer as curl hands it over, within bounds.
#pragma once

#include <cstdint>
#include <string>

#include "storage/http_client.h"

namespace tidemark::storage {

/// Single-threaded.
class HttpSink {
 public:
  explicit HttpSink(uint64_t bytes_max) : bytes_max_(bytes_max) {}

  /// Callbacks of curl; `user` is the sink. Taking less than was offered ends the transfer.
  static size_t OnHeader(char* bytes, size_t size, size_t count, void* user);
  static size_t OnBody(char* bytes, size_t size, size_t count, void* user);

  /// The transfer was ended because a success was longer than wanted, or its headers too many.
  bool is_too_long() const { return is_too_long_; }
  /// The transfer was ended because enough of an error's text is there.
  bool is_error_body_cut() const { return is_error_body_cut_; }

  HttpAnswer TakeAnswer() { return std::move(answer_); }

 private:
  bool TakeHeader(std::string_view line);
  bool TakeBody(std::string_view bytes);

  uint64_t bytes_max_;
  HttpAnswer answer_;
  size_t header_bytes_ = 0;
  bool is_too_long_ = false;
  bool is_error_body_cut_ = false;
};

}  // namespace tidemark::storage
