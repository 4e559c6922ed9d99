// Any bytes as a Hudi log file: every byte is in one block or counted as lost.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "lake/hudi/log_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tidemark::lake::hudi;
  LogReader reader({reinterpret_cast<const char*>(data), size}, "fuzz", {});
  uint64_t accounted = 0;
  while (const auto block = reader.Next()) {
    accounted += block->size;
    auto records = LogRecords::Open(*block);
    while (records) {
      const auto record = records->Next();
      if (!record || !*record) break;
      if (!(*record)->datum.Size()) break;
    }
  }
  const auto& losses = reader.losses();
  if (accounted + losses.corrupt_bytes + losses.torn_bytes != size) std::abort();
  return 0;
}
