/// Azure Blob Storage: requests to one container.
#pragma once

#include <memory>
#include <string>

#include "storage/azure_credentials.h"
#include "storage/bucket_service.h"
#include "storage/endpoint.h"
#include "storage/environment.h"
#include "storage/object_store.h"
#include "storage/store_uri.h"

namespace tidemark::storage {

/// Data Lake accounts (abfs) are asked through the same API: they have both. Such an account has
/// folders of its own, which are no objects here, and sorts its listings in its own way. The
/// service cannot begin a listing in the middle: one with start_after costs as much as a whole one.
/// Immutable but for the chain, which any thread may use.
class AzureService final : public BucketService {
  /// Only a factory of this class may construct it.
  class Private {
    friend class AzureService;
    Private() = default;
  };

 public:
  struct Place {
    std::string account;
    std::string container;
    Endpoint endpoint;  ///< of the account
  };
  AzureService(Private tag, Place place, std::shared_ptr<CredentialChain<AzureCredentials>> chain);

  /// The endpoint is that of the options, AZURE_STORAGE_BLOB_ENDPOINT's, the connection string's,
  /// or the URI's own. kInvalidArgument for one that is none, and where no account is named.
  static Result<std::unique_ptr<AzureService>> Make(const StoreUri& uri,
                                                    const StoreOptions& options,
                                                    const Environment& environment);

  BucketLimits limits() const override;
  std::unique_ptr<BucketCall> Begin(const BucketRequest& request) override;
  BucketRequest ListPageRequest(const ListQuestion& question,
                                std::string_view token) const override;
  Result<ListPage> ParsePage(std::string_view body) const override;
  BucketRequest ReadRequest(const std::string& key, const std::string& tag) const override;
  std::string TagOf(const HttpAnswer& answer) const override;
  BucketRequest StatRequest(const std::string& key) const override;
  Result<BucketRequest> PutRequest(const std::string& key, std::string_view bytes,
                                   PutCondition condition) const override;
  BucketRequest RemoveRequest(const std::string& key) const override;

 private:
  class Call;

  BucketRequest ObjectRequest(std::string_view method, const std::string& key) const;

  const Place place_;
  const std::shared_ptr<CredentialChain<AzureCredentials>> chain_;  ///< nullptr: anonymous
};

/// Errors as of OpenStore.
Result<std::unique_ptr<ObjectStore>> OpenAzureStore(const StoreUri& uri,
                                                    const StoreOptions& options,
                                                    const Environment& environment);

}  // namespace tidemark::storage
