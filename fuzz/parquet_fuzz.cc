// Any bytes as a Parquet file, through the module that tidemark ships.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "columnar/loader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto reader = tidemark::columnar::LoadColumnReader();
  if (!reader) std::abort();
  static const std::string kColumns[] = {"instantTime", "version"};
  size_t rows = 0;
  size_t sum = 0;
  const auto done = (*reader)->ReadRows(
      {reinterpret_cast<const char*>(data), size}, kColumns, [&](auto row) -> tidemark::Status {
        for (const auto& value : row) {
          for (const char byte : value.value_or("")) sum += static_cast<unsigned char>(byte);
        }
        if (++rows < 10000) return {};
        return tidemark::Fail(tidemark::ErrorKind::kCancelled, "enough");
      });
  return done && sum == SIZE_MAX ? 1 : 0;
}
