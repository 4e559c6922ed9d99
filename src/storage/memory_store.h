/// An object store in this process' memory, for tests.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "storage/object_store.h"

namespace tidemark::storage {

/// Holds its objects behind one mutex. Copies share the objects: a test keeps one, the code under
/// test another.
class MemoryStore final : public ObjectStore {
 public:
  /// A store of its own.
  explicit MemoryStore(std::string uri = "memory://test");

  /// The process-wide store that OpenStore("memory://NAME") opens; made empty on first use.
  static MemoryStore Named(const std::string& name);

  const std::string& uri() const override { return uri_; }
  Result<Listing> List(std::string_view folder, const ListOptions& options,
                       const Budget& budget) const override;
  Result<std::string> Read(std::string_view key, const Budget& budget) const override;
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
  struct Object {
    std::string bytes;
    WallTime modified;
    uint64_t number = 0;  // of its writing
  };
  struct Objects {
    std::mutex mutex;
    std::map<std::string, Object, std::less<>> by_key;  // guarded by mutex
    uint64_t written = 0;                               // guarded by mutex
  };

  /// The object under the lock that the caller holds; kNotFound when there is none.
  Result<const Object*> Find(std::string_view key) const;

  std::string uri_;
  std::shared_ptr<Objects> objects_;
};

}  // namespace tidemark::storage
