#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "storage/endpoint.h"
#include "storage/http_time.h"
#include "storage/object_key.h"
#include "storage/store_uri.h"

/// Any bytes are a place or an error; what is taken keeps the promises of its fields.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tidemark::storage;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto uri = ParseStoreUri(text)) {
    const bool is_bucket = uri->kind == StoreKind::kS3 || uri->kind == StoreKind::kGcs ||
                           uri->kind == StoreKind::kAzure;
    if (uri->host.find_first_of("/?#@: \r\n") != std::string::npos) std::abort();
    if (is_bucket && (uri->bucket.empty() || (!uri->prefix.empty() && !IsKey(uri->prefix))))
      std::abort();
    if (uri->kind == StoreKind::kLocal && (uri->path.empty() || uri->path.contains('\0')))
      std::abort();
  }
  if (const auto endpoint = ParseEndpoint(text)) {
    if (endpoint->host.find_first_of("/?#@ \r\n") != std::string::npos) std::abort();
    if (endpoint->path.find_first_of("?#@ \r\n") != std::string::npos) std::abort();
  }
  (void)ParseIsoSeconds(text);
  (void)ParseHttpDate(text);
  return 0;
}
