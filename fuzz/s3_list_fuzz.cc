#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "storage/bucket_listing.h"
#include "storage/object_key.h"
#include "storage/s3_xml.h"

/// Any bytes are a page, an error text or nothing; a page that is taken gives an ordered listing of
/// keys.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tidemark::storage;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)ParseS3Error(text);
  (void)ParseStsCredentials(text).has_value();
  auto page = ParseS3ListPage(text);
  if (!page) return 0;
  if (page->is_truncated == page->next_token.empty()) std::abort();
  const ListQuestion question{"", "", {.start_after = "a", .is_recursive = false}};
  ListingBuilder builder(question);
  if (!builder.Add(*std::move(page))) return 0;
  const auto listing = builder.TakeListing();
  if (!listing) std::abort();
  for (size_t i = 0; i < listing->objects.size(); ++i) {
    if (!IsKey(listing->objects[i].key) || listing->objects[i].key <= "a") std::abort();
    if (i > 0 && listing->objects[i].key <= listing->objects[i - 1].key) std::abort();
  }
  return 0;
}
