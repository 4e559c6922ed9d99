/// S3: requests to one bucket, signed, sent to the region where the bucket is.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "storage/aws_credentials.h"
#include "storage/bucket_service.h"
#include "storage/environment.h"
#include "storage/object_store.h"
#include "storage/s3_endpoint.h"
#include "storage/store_uri.h"

namespace tidemark::storage {

/// One mutex for what is learnt (credentials, region); requests run side by side.
class S3Service final : public BucketService {
  /// Only a factory of this class may construct it.
  class Private {
    friend class S3Service;
    Private() = default;
  };

 public:
  S3Service(Private tag, std::string bucket, const StoreOptions& options, Environment environment);

  /// kInvalidArgument for an endpoint, or a region, that is none. Makes no request and reads no
  /// file.
  static Result<std::unique_ptr<S3Service>> Make(std::string bucket, const StoreOptions& options,
                                                 Environment environment);

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
  /// Where requests go at the moment.
  struct Place {
    std::string region;
    Endpoint endpoint;
  };
  class Call;

  Result<Place> CurrentPlace();
  Place PlaceIn(std::string region) const;
  void MoveTo(const std::string& region);
  /// nullptr: anonymous.
  std::shared_ptr<AwsCredentialChain> Chain();

  const std::string bucket_;
  const bool is_anonymous_;
  const std::optional<bool> is_path_style_;
  const Environment environment_;
  std::optional<Endpoint> service_;  ///< overridden endpoint
  std::mutex mutex_;
  std::string region_;                         // guarded by mutex_; empty until first needed
  std::shared_ptr<AwsCredentialChain> chain_;  // guarded by mutex_ until set, then any thread
};

/// Errors as of OpenStore.
Result<std::unique_ptr<ObjectStore>> OpenS3Store(const StoreUri& uri, const StoreOptions& options,
                                                 Environment environment);

}  // namespace tidemark::storage
