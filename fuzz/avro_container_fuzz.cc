// Any bytes as an Avro container file.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "lake/avro/container.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tidemark::lake::avro;
  auto container = Container::Open({reinterpret_cast<const char*>(data), size});
  if (!container) return 0;
  for (int records = 0; records < 10000; ++records) {
    const auto record = container->Next();
    if (!record || !*record) break;
    if (!(*record)->Size()) continue;  // Next() will say so
  }
  return 0;
}
