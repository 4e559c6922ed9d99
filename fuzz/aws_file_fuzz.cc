#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "storage/aws_profile.h"

/// Any bytes are sections of settings or an error that repeats nothing of them but a line number.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tidemark::storage;
  const auto sections = ParseAwsFile({reinterpret_cast<const char*>(data), size});
  if (!sections && sections.error().message.size() > 100) std::abort();
  return 0;
}
