#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace tidemark::internal {

void CheckFailed(const char* file, int line, const char* condition, std::string_view detail) {
  std::fprintf(stderr, "%s:%d: check failed: %s: %.*s\n", file, line, condition,
               static_cast<int>(detail.size()), detail.data());
  std::abort();
}

}  // namespace tidemark::internal
