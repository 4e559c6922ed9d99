/// Google Cloud Storage: requests to one bucket through its JSON API.
#pragma once

#include <memory>
#include <string>

#include "storage/bucket_service.h"
#include "storage/endpoint.h"
#include "storage/environment.h"
#include "storage/gcs_credentials.h"
#include "storage/object_store.h"
#include "storage/store_uri.h"

namespace tidemark::storage {

/// What an object is called is its generation. Immutable but for the chain, which any thread may
/// use.
class GcsService final : public BucketService {
  /// Only a factory of this class may construct it.
  class Private {
    friend class GcsService;
    Private() = default;
  };

 public:
  GcsService(Private tag, std::string bucket, Endpoint endpoint,
             std::shared_ptr<CredentialChain<GcsCredentials>> chain);

  /// kInvalidArgument for an endpoint that is none, or to which a token would go in clear text. Of
  /// STORAGE_EMULATOR_HOST, which is asked without credentials, only when no endpoint is given.
  static Result<std::unique_ptr<GcsService>> Make(std::string bucket, const StoreOptions& options,
                                                  const Environment& environment);

  BucketLimits limits() const override;
  std::unique_ptr<BucketCall> Begin(const BucketRequest& request) override;
  BucketRequest ListPageRequest(const ListQuestion& question,
                                std::string_view token) const override;
  Result<ListPage> ParsePage(std::string_view body) const override;
  BucketRequest ReadRequest(const std::string& key, const std::string& tag) const override;
  std::string TagOf(const HttpAnswer& answer) const override;
  BucketRequest StatRequest(const std::string& key) const override;
  std::optional<ObjectInfo> ParseStat(const HttpAnswer& answer) const override;
  Result<BucketRequest> PutRequest(const std::string& key, std::string_view bytes,
                                   PutCondition condition) const override;
  BucketRequest RemoveRequest(const std::string& key) const override;

 private:
  class Call;

  BucketRequest ObjectRequest(std::string_view method, const std::string& key) const;

  const std::string bucket_;
  const Endpoint endpoint_;
  const std::shared_ptr<CredentialChain<GcsCredentials>> chain_;  ///< nullptr: anonymous
};

/// Errors as of OpenStore.
Result<std::unique_ptr<ObjectStore>> OpenGcsStore(const StoreUri& uri, const StoreOptions& options,
                                                  const Environment& environment);

}  // namespace tidemark::storage
