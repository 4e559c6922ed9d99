/// Real S3 API servers for tests. They check signatures: only their own keys are let in.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "storage/object_store.h"
#include "support/child_process.h"

namespace tidemark::support {

/// One running server with empty buckets. Ends with the object. Start it from the main thread.
class S3Server {
  /// Only a factory of this class may construct it.
  class Private {
    friend class S3Server;
    Private() = default;
  };

 public:
  explicit S3Server(Private) {}

  /// moto 5, a Python emulation of AWS. `filled`: "bucket/folder=count" puts so many small objects
  /// "folder/000000", "folder/000001", … there before the server answers. `telling`: buckets that
  /// tell an SQS queue of their name what comes about in them.
  static Result<std::unique_ptr<S3Server>> StartMoto(const std::vector<std::string>& buckets,
                                                     const std::vector<std::string>& filled = {},
                                                     const std::vector<std::string>& telling = {});

  /// s3rver 3, on Node. Its conditional writes overwrite.
  static Result<std::unique_ptr<S3Server>> StartS3rver(const std::vector<std::string>& buckets,
                                                       bool is_tls = false);

  const std::string& endpoint() const { return endpoint_; }  ///< "http[s]://127.0.0.1:PORT"
  /// The certificate to trust, of a server that speaks TLS.
  std::string ca_file() const { return folder_.path() + "/cert.pem"; }
  const std::string& access_key_id() const { return access_key_id_; }
  const std::string& secret_access_key() const { return secret_access_key_; }

  /// Options for OpenStore.
  storage::StoreOptions Options() const;

  /// Makes the keys those of this process' environment, for OpenStore and children.
  void ExportKeys() const;

  /// How many of the requests that the server has logged begin so, e.g. "GET /lake?". moto only.
  int CountRequests(const std::string& beginning) const;

  ChildProcess& process() { return *process_; }

 private:
  TemporaryFolder folder_;
  std::unique_ptr<ChildProcess> process_;
  std::string endpoint_;
  std::string access_key_id_;
  std::string secret_access_key_;
};

}  // namespace tidemark::support
