/// A real Hive Metastore of the tests' own.
#pragma once

#include <memory>
#include <string>

#include "base/error.h"
#include "support/child_process.h"

namespace tidemark::support {

/// Hive's stand-alone metastore 4.0.1 with Derby inside, on a free port of 127.0.0.1.
class HiveMetastore {
  struct OnlyStart {};

 public:
  enum class Login { kNone, kPlain };
  static constexpr const char* kUser = "etl";
  static constexpr const char* kPassword = "etl-5ecret";

  /// From the main thread. Takes some seconds; kUnavailable with the end of the server's log.
  /// kPlain: lets in kUser alone, by SASL PLAIN.
  static Result<std::unique_ptr<HiveMetastore>> Start(Login login = Login::kNone);

  explicit HiveMetastore(OnlyStart) {}

  int port() const { return port_; }
  /// A folder for tables.
  std::string folder() const { return folder_.path(); }
  std::string Log() const { return process_->Output(); }

  void Stop() { process_->Stop(); }
  /// After Stop: the same server with the same database.
  Status Restart();

 private:
  void WriteConfiguration(Login login);

  TemporaryFolder folder_;
  int port_ = 0;
  std::unique_ptr<ChildProcess> process_;
};

}  // namespace tidemark::support
