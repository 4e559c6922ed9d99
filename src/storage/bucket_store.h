/// An object store in a bucket of a service (S3, Google, Azure), or below a prefix of it.
#pragma once

#include <memory>
#include <string>

#include "storage/bucket_service.h"
#include "storage/object_store.h"
#include "storage/store_uri.h"

namespace tidemark::storage {

/// Strongly consistent, as the services are. A listing is one request per page, every other method
/// one request. Put needs the right to write only.
///
/// PutIfAbsent is one conditional write. When an earlier try of the same call may have written the
/// object, a conflict is kUnavailable: read it back. A server without conditional writes that
/// ignores the condition (old releases of S3-like servers) cannot be told from one that has them.
class BucketStore final : public ObjectStore {
 public:
  BucketStore(const StoreUri& uri, std::unique_ptr<BucketService> service);

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
  /// The whole key in the bucket; kInvalidArgument for what is no key.
  Result<std::string> WholeKey(std::string_view key) const;
  Result<BucketAnswer> PutWith(std::string_view key, std::string_view bytes, PutCondition condition,
                               const Budget& budget) const;
  /// `state` may be nullptr.
  Result<std::string> ReadOf(ObjectState* state, std::string_view key, uint64_t offset,
                             uint64_t length, const Budget& budget) const;

  std::string uri_;
  std::string root_;  ///< "" or "a/b/"
  std::unique_ptr<BucketService> service_;
};

}  // namespace tidemark::storage
