/// An object store in an S3 bucket, or below a prefix of it.
#pragma once

#include <memory>
#include <string>

#include "storage/aws_environment.h"
#include "storage/object_store.h"
#include "storage/s3_client.h"
#include "storage/store_uri.h"

namespace tidemark::storage {

/// Strongly consistent, as S3 is. A listing is one request per 1,000 entries, every other method
/// one request. Put needs the rights of s3:PutObject only.
///
/// PutIfAbsent is one conditional write. When an earlier try of the same call may have written the
/// object, a conflict is kUnavailable: read it back. A server without conditional writes that
/// ignores the condition (old releases of S3-like servers) cannot be told from one that has them.
class S3Store final : public ObjectStore {
  /// Only a factory of this class may construct it.
  class Private {
    friend class S3Store;
    Private() = default;
  };

 public:
  S3Store(Private tag, const StoreUri& uri, std::unique_ptr<S3Client> client);

  /// Errors as of OpenStore.
  static Result<std::unique_ptr<S3Store>> Make(const StoreUri& uri, const StoreOptions& options,
                                               Environment environment);

  const std::string& uri() const override { return uri_; }
  Result<Listing> List(std::string_view folder, const ListOptions& options,
                       const Budget& budget) const override;
  Result<std::string> Read(std::string_view key, const Budget& budget) const override;
  Result<std::string> ReadUpTo(std::string_view key, uint64_t bytes_max,
                               const Budget& budget) const override;
  Result<std::string> ReadRange(std::string_view key, uint64_t offset, uint64_t length,
                                const Budget& budget) const override;
  Result<size_t> ReadInto(std::string_view key, uint64_t offset, std::span<char> into,
                          ObjectState& state, const Budget& budget) const override;
  Result<ObjectInfo> Stat(std::string_view key, const Budget& budget) const override;
  Status Put(std::string_view key, std::string_view bytes, const Budget& budget) override;
  Status PutIfAbsent(std::string_view key, std::string_view bytes, const Budget& budget) override;
  Status Remove(std::string_view key, const Budget& budget) override;

 private:
  /// A request about one object; kInvalidArgument for what is no key.
  Result<S3Request> About(std::string_view method, std::string_view key) const;

  /// `state` may be nullptr.
  Result<std::string> ReadOf(ObjectState* state, std::string_view key, uint64_t offset,
                             uint64_t length, const Budget& budget) const;

  std::string uri_;
  std::string root_;  ///< "" or "a/b/"
  std::unique_ptr<S3Client> client_;
};

}  // namespace tidemark::storage
