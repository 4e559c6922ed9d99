// Any text as an Avro schema, then as the schema of a few bytes.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "lake/avro/schema.h"
#include "lake/avro/wire.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tidemark::lake::avro;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto schema = Schema::Parse(text);
  if (!schema) return 0;
  Wire wire(text);
  wire.Skip(schema->root());
  return 0;
}
