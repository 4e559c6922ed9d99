#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "kafka/bootstrap.h"

/// Any bytes are a list of addresses or an error; what is taken names hosts only, and what may be a
/// password is not repeated.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto status = tidemark::kafka::CheckBootstrapServers(text);
  if (status) {
    if (text.empty() || text.find_first_of("@/\r\n") != text.npos) std::abort();
    if (text.starts_with(',') || text.ends_with(',') || text.ends_with(':')) std::abort();
  } else if (text.contains('@') && !status.error().message.ends_with("entry=(not shown)")) {
    std::abort();
  }
  return 0;
}
