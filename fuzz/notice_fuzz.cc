#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "api/notice.h"

/// Any bytes are a notice that names something or nothing, or an error that repeats nothing of
/// them.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tidemark::api;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto notice = ParseNotice(bytes);
  if (!notice && !notice.error().message.starts_with("the body is ")) std::abort();
  if (notice) {
    for (const auto& uri : notice->objects) {
      if (!uri.starts_with("s3://")) std::abort();
      (void)TellsOfCommit(uri);
    }
  }
  (void)TellsOfCommit(bytes);
  return 0;
}
