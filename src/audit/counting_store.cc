#include "audit/counting_store.h"

namespace tidemark::audit {
namespace {

Status RefuseChange(std::string_view key) {
  return Fail(ErrorKind::kUnsupported, "an audit changes nothing, key=" + std::string(key));
}

}  // namespace

Result<storage::Listing> CountingStore::List(std::string_view folder,
                                             const storage::ListOptions& options,
                                             const Budget& budget) const {
  return store_.List(folder, options, budget);
}

Result<std::string> CountingStore::Read(std::string_view key, const Budget& budget) const {
  auto bytes = store_.Read(key, budget);
  if (bytes) bytes_read_ += bytes->size();
  return bytes;
}

Result<std::string> CountingStore::ReadRange(std::string_view key, uint64_t offset, uint64_t length,
                                             const Budget& budget) const {
  auto bytes = store_.ReadRange(key, offset, length, budget);
  if (bytes) bytes_read_ += bytes->size();
  return bytes;
}

Result<size_t> CountingStore::ReadInto(std::string_view key, uint64_t offset, std::span<char> into,
                                       storage::ObjectState& state, const Budget& budget) const {
  auto size = store_.ReadInto(key, offset, into, state, budget);
  if (size) bytes_read_ += *size;
  return size;
}

Result<storage::ObjectInfo> CountingStore::Stat(std::string_view key, const Budget& budget) const {
  return store_.Stat(key, budget);
}

Status CountingStore::Put(std::string_view key, std::string_view, const Budget&) {
  return RefuseChange(key);
}

Status CountingStore::PutIfAbsent(std::string_view key, std::string_view, const Budget&) {
  return RefuseChange(key);
}

Status CountingStore::Remove(std::string_view key, const Budget&) {
  return RefuseChange(key);
}

}  // namespace tidemark::audit
