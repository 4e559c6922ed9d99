// Events of the feed, bookmarks and kept tables, as they come from topics and files: no bytes may
// do more than be refused, and no event may leave a subscriber where it must not be.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "api/change_json.h"
#include "api/change_parse.h"
#include "api/replica_json.h"
#include "base/check.h"
#include "change/subscriber.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  static_cast<void>(tidemark::api::ParseBookmark(text));
  static_cast<void>(tidemark::api::ParseStateHead(text));
  if (const auto schema = tidemark::api::ParseSchemaFields(text)) {
    const auto again =
        tidemark::api::ParseSchemaFields(tidemark::api::SchemaFieldsJson(*schema));
    CHECK(again && again->fingerprint == schema->fingerprint, "a schema reads back");
  }
  if (const auto replica = tidemark::api::ParseReplicaText(text)) {
    const auto again = tidemark::api::ParseReplicaText(tidemark::api::ReplicaText(*replica));
    CHECK(again && *again == *replica, "a kept table reads back");
  }
  if (auto part = tidemark::api::ParseChangeEvent(text)) {
    CHECK(part->index < part->count, "a part has its place");
    tidemark::change::Subscriber subscriber;
    subscriber.Take(*part, {});
    subscriber.Take(*std::move(part), {});
    const auto& replica = subscriber.replica();
    tidemark::change::Digest digest;
    for (const auto& [path, seq] : replica.partitions) digest += tidemark::change::HashOf(path);
    CHECK(digest == replica.partition_digest, "what is held has its digest");
  }
  return 0;
}
