/// The sections of the configuration that only the daemon needs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "http/server.h"

namespace tidemark::app {

/// `http:` Where the daemon answers.
struct HttpConfig {
  std::string address = "127.0.0.1";  ///< numeric
  uint16_t port = 8080;               ///< 0: any free one
  std::optional<http::TlsFiles> tls;
  /// One token a line. Empty: everybody may ask.
  std::string bearer_tokens_file;
};

/// "127.0.0.1:8080", "[::1]:8080", "localhost:8080" into address and port; kInvalidArgument for
/// anything else.
Status ParseListen(const std::string& text, HttpConfig& http);

}  // namespace tidemark::app
