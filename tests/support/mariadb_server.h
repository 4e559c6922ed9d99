/// A real MariaDB server of the tests' own.
#pragma once

#include <memory>
#include <string>

#include "base/error.h"
#include "support/child_process.h"

namespace tidemark::support {

/// Debian's server on a free port of 127.0.0.1, with one user who may do anything.
class MariadbServer {
  struct OnlyStart {};

 public:
  static constexpr const char* kUser = "refresher";
  static constexpr const char* kPassword = "p'w-5ecret";

  /// From the main thread. Takes some seconds; kUnavailable with the end of the server's log.
  static Result<std::unique_ptr<MariadbServer>> Start();

  explicit MariadbServer(OnlyStart) {}

  int port() const { return port_; }
  /// Every statement that came, one after the other.
  std::string Statements() const;

 private:
  std::vector<std::string> Command() const;
  Status Install();

  TemporaryFolder folder_;
  int port_ = 0;
  std::unique_ptr<ChildProcess> process_;
};

}  // namespace tidemark::support
