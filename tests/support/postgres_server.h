/// A PostgreSQL server of the tests.
#pragma once

#include <memory>
#include <string>

#include "base/error.h"
#include "support/child_process.h"

namespace tidemark::support {

/// One server on a free port with data of its own, ended with the object. As root it runs as
/// another user, since PostgreSQL refuses root. Needs scripts/bootstrap --tests.
class PostgresServer {
  /// Only Start() may construct it.
  class OnlyStart {
    friend class PostgresServer;
    OnlyStart() = default;
  };

 public:
  explicit PostgresServer(OnlyStart) {}

  static Result<std::unique_ptr<PostgresServer>> Start();

  /// Of the database "postgres", for a user who may do everything.
  std::string url() const;

  /// Ends the server as a crash would, and starts it again on the same data.
  Status Crash();

  /// Stops all its processes where they are: connections stay, and nothing answers.
  void Freeze();
  void Thaw();

 private:
  void SignalAll(int signal) const;
  Status Install();
  Status Run();

  TemporaryFolder folder_;
  int port_ = 0;
  std::unique_ptr<ChildProcess> server_;
};

}  // namespace tidemark::support
