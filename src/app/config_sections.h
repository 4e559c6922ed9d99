/// The sections of the configuration that only the daemon needs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"
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

/// `coordination:` Whom the pipelines are shared with (app/coordination.h).
struct CoordinationConfig {
  std::string group;
  std::string cluster;  ///< one of the configuration's
  std::string topic = "tidemark.coordination";
  bool creates_topic = true;
  /// How long a dead instance's pipelines wait for another one, before they are looked at. Longer
  /// than brokers take to replace one of theirs (broker.session.timeout.ms, 9 s), so that this
  /// alone moves nothing.
  Milliseconds session = std::chrono::seconds(30);

  friend bool operator==(const CoordinationConfig&, const CoordinationConfig&) = default;
};

/// "127.0.0.1:8080", "[::1]:8080", "localhost:8080" into address and port; kInvalidArgument for
/// anything else.
Status ParseListen(const std::string& text, HttpConfig& http);

}  // namespace tidemark::app
