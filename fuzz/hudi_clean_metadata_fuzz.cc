// Any bytes as the metadata of a clean, and as its plan.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "lake/hudi/clean_metadata.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tidemark::lake::hudi;
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  for (const auto parse : {ParseCleanMetadata, ParseCleanPlan}) {
    const auto clean = parse(body);
    if (!clean) continue;
    if (!std::ranges::is_sorted(clean->deleted_partitions)) std::abort();
    for (const auto& [partition, names] : clean->removed) {
      if (!std::ranges::is_sorted(names)) std::abort();
      for (const auto& name : names)
        if (name.contains('/')) std::abort();
    }
  }
  return 0;
}
