#include "storage/memory_store.h"

#include <fmt/format.h>

#include "storage/object_key.h"

namespace tidemark::storage {

MemoryStore::MemoryStore(std::string uri)
    : uri_(std::move(uri)), objects_(std::make_shared<Objects>()) {}

MemoryStore MemoryStore::Named(const std::string& name) {
  static std::mutex mutex;
  static std::map<std::string, MemoryStore> stores;
  const std::scoped_lock lock(mutex);
  return stores.try_emplace(name, "memory://" + name).first->second;
}

Result<Listing> MemoryStore::List(std::string_view folder, const ListOptions& options,
                                  const Budget& budget) const {
  TRY(budget.Check());
  TRY_ASSIGN(const std::string prefix, FolderPrefix(uri_, folder));
  const std::scoped_lock lock(objects_->mutex);
  Listing listing;
  for (auto it = objects_->by_key.lower_bound(prefix); it != objects_->by_key.end(); ++it) {
    const std::string& key = it->first;
    if (!key.starts_with(prefix)) break;
    const size_t slash = key.find('/', prefix.size());
    if (!options.is_recursive && slash != std::string::npos) {
      std::string deeper = key.substr(0, slash + 1);
      if (FolderIsListed(deeper, options.start_after)) listing.folders.push_back(std::move(deeper));
    } else if (key > options.start_after) {
      listing.objects.push_back({key, it->second.bytes.size(), it->second.modified});
    }
  }
  SortListing(listing);
  return listing;
}

Result<const MemoryStore::Object*> MemoryStore::Find(std::string_view key) const {
  const auto it = objects_->by_key.find(key);
  if (it == objects_->by_key.end()) {
    return Fail(ErrorKind::kNotFound,
                fmt::format("no such object: object={}", ObjectName(uri_, key)));
  }
  return &it->second;
}

Result<std::string> MemoryStore::Read(std::string_view key, const Budget& budget) const {
  TRY(budget.Check());
  TRY(CheckKey(uri_, key));
  const std::scoped_lock lock(objects_->mutex);
  TRY_ASSIGN(const Object* object, Find(key));
  std::string bytes;
  bytes.reserve(object->bytes.size() + kReadRoomBytes);
  bytes = object->bytes;
  return bytes;
}

Result<std::string> MemoryStore::ReadRange(std::string_view key, uint64_t offset, uint64_t length,
                                           const Budget& budget) const {
  TRY(budget.Check());
  TRY(CheckKey(uri_, key));
  const std::scoped_lock lock(objects_->mutex);
  TRY_ASSIGN(const Object* object, Find(key));
  if (offset >= object->bytes.size()) return std::string();
  return object->bytes.substr(offset, length);
}

Result<size_t> MemoryStore::ReadInto(std::string_view key, uint64_t offset, std::span<char> into,
                                     ObjectState& state, const Budget& budget) const {
  TRY(budget.Check());
  TRY(CheckKey(uri_, key));
  const std::scoped_lock lock(objects_->mutex);
  TRY_ASSIGN(const Object* object, Find(key));
  const bool may_grow = state.change() == ObjectChange::kGrow;
  TRY(state.Hold(may_grow ? "" : std::to_string(object->number), object->bytes.size(),
                 ObjectName(uri_, key)));
  if (offset >= object->bytes.size()) return 0;
  return object->bytes.copy(into.data(), into.size(), offset);
}

Result<ObjectInfo> MemoryStore::Stat(std::string_view key, const Budget& budget) const {
  TRY(budget.Check());
  TRY(CheckKey(uri_, key));
  const std::scoped_lock lock(objects_->mutex);
  TRY_ASSIGN(const Object* object, Find(key));
  return ObjectInfo{std::string(key), object->bytes.size(), object->modified};
}

Status MemoryStore::Put(std::string_view key, std::string_view bytes, const Budget& budget) {
  TRY(budget.Check());
  TRY(CheckKey(uri_, key));
  const std::scoped_lock lock(objects_->mutex);
  objects_->by_key.insert_or_assign(
      std::string(key), Object{std::string(bytes), SystemClock().Now(), ++objects_->written});
  return {};
}

Status MemoryStore::PutIfAbsent(std::string_view key, std::string_view bytes,
                                const Budget& budget) {
  TRY(budget.Check());
  TRY(CheckKey(uri_, key));
  const std::scoped_lock lock(objects_->mutex);
  const bool is_new =
      objects_->by_key
          .try_emplace(std::string(key),
                       Object{std::string(bytes), SystemClock().Now(), ++objects_->written})
          .second;
  if (!is_new) {
    return Fail(ErrorKind::kConflict,
                fmt::format("the object exists already: object={}", ObjectName(uri_, key)));
  }
  return {};
}

Status MemoryStore::Remove(std::string_view key, const Budget& budget) {
  TRY(budget.Check());
  TRY(CheckKey(uri_, key));
  const std::scoped_lock lock(objects_->mutex);
  const auto it = objects_->by_key.find(key);
  if (it != objects_->by_key.end()) objects_->by_key.erase(it);
  return {};
}

}  // namespace tidemark::storage
