/// An object store in a folder of a file system.
#pragma once

#include <string>

#include "storage/object_store.h"

namespace tidemark::storage {

/// Immutable after construction. Symbolic links are followed, also out of the root: tables are
/// assembled that way. Folders without files show up as `folders` of a listing; no other store has
/// such. A listing of a missing root is kNotFound; a Put makes the missing folders.
///
/// Put and PutIfAbsent write a file that no listing shows and no key can name, bring it to the
/// disk, then give it its name in one step. A crash may leave such a file (".tidemark-put-…")
/// behind.
class LocalStore final : public ObjectStore {
 public:
  /// `path` is the folder; `uri` what messages call it (the path when empty).
  explicit LocalStore(std::string path, std::string uri = "");

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
  bool is_local() const override { return true; }
  Result<ObjectInfo> Stat(std::string_view key, const Budget& budget) const override;
  Status Put(std::string_view key, std::string_view bytes, const Budget& budget) override;
  Status PutIfAbsent(std::string_view key, std::string_view bytes, const Budget& budget) override;
  Status Remove(std::string_view key, const Budget& budget) override;

 private:
  std::string PathOf(std::string_view key) const;

  std::string path_;
  std::string uri_;
};

}  // namespace tidemark::storage
