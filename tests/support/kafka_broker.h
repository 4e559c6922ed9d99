/// A real Kafka broker of the tests' own.
#pragma once

#include <memory>
#include <string>

#include "base/error.h"
#include "kafka/partition_probe.h"
#include "support/child_process.h"

namespace tidemark::support {

/// One KRaft node in a temporary folder, on ports of 127.0.0.1 that were free. Everybody on the
/// plain and the TLS listener may do anything; a SASL user may do what an ACL allows. Topics are
/// created by whoever names them, so that a client that does so is found out. Nothing expires by
/// default; retention and compaction look often.
class KafkaBroker {
  struct OnlyStart {};

 public:
  static constexpr const char* kUser = "reader";
  static constexpr const char* kPassword = "reader-5ecret";

  /// From the main thread. Takes some seconds; kUnavailable with the end of the broker's log.
  static Result<std::unique_ptr<KafkaBroker>> Start();

  explicit KafkaBroker(OnlyStart) {}

  kafka::ClusterOptions plain() const;
  /// For kUser (PLAIN, SCRAM-SHA-256, SCRAM-SHA-512 and, without a password, OAUTHBEARER).
  kafka::ClusterOptions sasl(const std::string& mechanism, const std::string& password) const;
  /// Trusts the authority in the file.
  kafka::ClusterOptions tls(const std::string& ca_file) const;
  std::string tls_address() const;

  std::string ca_file() const { return folder_.path() + "/ca.pem"; }
  /// An authority that has signed nothing of the broker's.
  std::string other_ca_file() const { return folder_.path() + "/other-ca.pem"; }

 private:
  Status MakeCertificates();
  void WriteProperties();
  Status Format();
  Status Run();

  TemporaryFolder folder_;
  int plain_port_ = 0;
  int controller_port_ = 0;
  int sasl_port_ = 0;
  int tls_port_ = 0;
  std::unique_ptr<ChildProcess> process_;
};

}  // namespace tidemark::support
