#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "storage/object_key.h"
#include "storage/s3_endpoint.h"
#include "storage/s3_time.h"
#include "storage/store_uri.h"

/// Any bytes are a place or an error; what is taken keeps the promises of its fields.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tidemark::storage;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto uri = ParseStoreUri(text)) {
    if (uri->kind == StoreKind::kS3 &&
        (uri->bucket.empty() || (!uri->prefix.empty() && !IsKey(uri->prefix))))
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
