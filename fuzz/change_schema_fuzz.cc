// Any text as a schema in Avro and in Hudi's internal form, and two of them compared: there are
// differences exactly when the fingerprints differ. Two texts are parted by a line feed.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "change/schema.h"
#include "change/schema_diff.h"

namespace {

using namespace tidemark::change;

void Keep(tidemark::Result<Schema> schema, std::vector<Schema>& schemas) {
  if (schema) schemas.push_back(*std::move(schema));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const size_t end = text.find('\n');
  const std::string_view first = text.substr(0, end);
  const std::string_view second = end == text.npos ? std::string_view() : text.substr(end + 1);
  std::vector<Schema> schemas;
  Keep(ParseAvroColumns(first), schemas);
  Keep(ParseAvroColumns(second), schemas);
  Keep(ParseInternalColumns(first, second), schemas);
  Keep(ParseInternalColumns(second, ""), schemas);
  for (const Schema& from : schemas) {
    for (const Schema& to : schemas) {
      CHECK(DiffSchemas(from, to).empty() == (from.fingerprint == to.fingerprint),
            "differences and fingerprints disagree");
    }
  }
  return 0;
}
