/// Requests to one bucket: signed, retried, sent to the region where the bucket is.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/budget.h"
#include "base/clock.h"
#include "base/error.h"
#include "storage/aws_credentials.h"
#include "storage/aws_environment.h"
#include "storage/http_client.h"
#include "storage/object_store.h"
#include "storage/s3_endpoint.h"

namespace tidemark::storage {

struct S3Request {
  std::string method;
  std::string key;   ///< whole key in the bucket; empty: the bucket
  std::string name;  ///< what messages call it
  std::vector<std::pair<std::string, std::string>> query;
  std::vector<std::pair<std::string, std::string>> headers;  ///< names in lower case; signed
  std::string_view body;                                     ///< must outlive the call
  uint64_t answer_bytes_max = 0;
  /// Statuses besides 2xx that the caller understands, e.g. 412.
  std::vector<int> wanted_statuses;
};

struct S3Answer {
  HttpAnswer http;
  /// An earlier try of this call may have been carried out, its answer lost.
  bool may_have_happened_before = false;
};

/// One mutex for what is learnt (credentials, region); requests run side by side.
class S3Client {
  /// Only a factory of this class may construct it.
  class Private {
    friend class S3Client;
    Private() = default;
  };

 public:
  S3Client(Private tag, std::string bucket, const StoreOptions& options, Environment environment);

  /// kInvalidArgument for an endpoint, or a region, that is none. Makes no request and reads no
  /// file.
  static Result<std::unique_ptr<S3Client>> Make(std::string bucket, const StoreOptions& options,
                                                Environment environment);

  /// A 2xx answer or one of the wanted; everything else is an Error that names the object. Waits
  /// between tries as the budget and the server say.
  Result<S3Answer> Send(const S3Request& request, const Budget& budget);

 private:
  /// Where requests go at the moment.
  struct Place {
    std::string region;
    Endpoint endpoint;
  };
  struct Call;

  Result<Place> CurrentPlace();
  Place PlaceIn(std::string region) const;
  void MoveTo(const std::string& region);
  Result<std::optional<AwsCredentials>> CurrentCredentials(const Budget& budget);
  static HttpRequest Signed(const S3Request& request, const Place& place,
                            const std::optional<AwsCredentials>& credentials);
  /// nullopt: try at once again, or after a wait, as `call` now says.
  std::optional<Result<S3Answer>> TryOnce(const S3Request& request, Call& call,
                                          const Budget& budget);
  std::optional<Result<S3Answer>> Judge(const S3Request& request, Call& call, const Place& place,
                                        const std::optional<AwsCredentials>& credentials,
                                        HttpAnswer answer, const Budget& budget);

  const std::string bucket_;
  const bool is_anonymous_;
  const std::optional<bool> is_path_style_;
  const Environment environment_;
  std::optional<Endpoint> service_;  ///< overridden endpoint
  std::mutex mutex_;
  std::string region_;                      // guarded by mutex_; empty until first needed
  std::shared_ptr<CredentialChain> chain_;  // guarded by mutex_ until set, then itself any thread
};

}  // namespace tidemark::storage
