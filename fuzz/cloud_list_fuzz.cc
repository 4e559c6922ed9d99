#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "storage/azure_credentials.h"
#include "storage/azure_xml.h"
#include "storage/bucket_listing.h"
#include "storage/digest.h"
#include "storage/gcs_json.h"
#include "storage/object_key.h"
#include "storage/token_request.h"

namespace {

using namespace tidemark::storage;

/// A page that is taken gives an ordered listing of keys, whatever its own order.
void Check(tidemark::Result<ListPage> page, ListOrder order) {
  if (!page) return;
  if (page->is_truncated == page->next_token.empty()) std::abort();
  const ListQuestion question{"", "", {.start_after = "a", .is_recursive = false}};
  ListingBuilder builder(question, order);
  if (!builder.Add(*std::move(page))) return;
  const auto listing = builder.TakeListing();
  if (!listing) return;
  for (size_t i = 0; i < listing->objects.size(); ++i) {
    if (!IsKey(listing->objects[i].key) || listing->objects[i].key <= "a") std::abort();
    if (i > 0 && listing->objects[i].key <= listing->objects[i - 1].key) std::abort();
  }
}

}  // namespace

/// Any bytes are an answer of Google's or Azure's, or an error.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Check(ParseGcsListPage(text), ListOrder::kBytes);
  Check(ParseAzureListPage(text), ListOrder::kOwn);
  (void)ParseGcsObject(text).has_value();
  if (ParseGcsError(text).message.contains('\n')) std::abort();
  if (ParseAzureError(text).message.contains('\n')) std::abort();
  (void)ParseAzureConnection(text).has_value();
  if (const auto token = ParseAccessToken(text, {}, "host")) {
    if (token->token.find_first_of(" \r\n") != std::string::npos) std::abort();
  }
  if (const auto bytes = Base64Decoded(text); bytes && Base64(*bytes) != text) std::abort();
  return 0;
}
