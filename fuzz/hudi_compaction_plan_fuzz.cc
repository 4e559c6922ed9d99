// Any bytes as the plan of a compaction.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "lake/hudi/compaction_plan.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tidemark::lake::hudi;
  const auto plan = ParseCompactionPlan({reinterpret_cast<const char*>(data), size});
  if (!plan) return 0;
  for (const CompactionOperation& operation : *plan) {
    for (const std::string& file : operation.log_files)
      if (file.contains('/')) std::abort();
  }
  return 0;
}
