#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "storage/azure_service.h"
#include "storage/gcs_service.h"
#include "storage/local_store.h"
#include "storage/memory_store.h"
#include "storage/object_key.h"
#include "storage/object_store.h"
#include "storage/s3_service.h"
#include "storage/store_uri.h"

namespace tidemark::storage {

Result<size_t> ObjectStore::ReadInto(std::string_view key, uint64_t offset, std::span<char> into,
                                     ObjectState&, const Budget& budget) const {
  TRY_ASSIGN(const std::string bytes, ReadRange(key, offset, into.size(), budget));
  const size_t size = std::min(bytes.size(), into.size());
  std::copy_n(bytes.begin(), size, into.begin());
  return size;
}

Result<std::string> ObjectStore::ReadUpTo(std::string_view key, uint64_t bytes_max,
                                          const Budget& budget) const {
  TRY_ASSIGN(std::string bytes, Read(key, budget));
  if (bytes.size() <= bytes_max) return bytes;
  return Fail(ErrorKind::kExhausted,
              fmt::format("the object is too large to be read whole: object={} bytes={} "
                          "bytes_max={}",
                          ObjectName(uri(), key), bytes.size(), bytes_max));
}

Result<std::unique_ptr<ObjectStore>> OpenStore(std::string_view uri, const StoreOptions& options) {
  TRY_ASSIGN(const StoreUri parsed, ParseStoreUri(uri));
  switch (parsed.kind) {
    case StoreKind::kLocal: return std::make_unique<LocalStore>(parsed.path, parsed.text);
    case StoreKind::kMemory: return std::make_unique<MemoryStore>(MemoryStore::Named(parsed.name));
    case StoreKind::kS3: return OpenS3Store(parsed, options, ProcessEnvironment());
    case StoreKind::kGcs: return OpenGcsStore(parsed, options, ProcessEnvironment());
    case StoreKind::kAzure: return OpenAzureStore(parsed, options, ProcessEnvironment());
  }
  std::unreachable();
}

}  // namespace tidemark::storage
