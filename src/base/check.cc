#include "base/check.h"

#include <fmt/core.h>

#include <cstdlib>

#include "base/log_internal.h"

namespace tidemark::internal {

void CheckFailed(const char* file, int line, const char* condition, std::string_view detail) {
  WriteLastLine(fmt::format("{}:{}: check failed: {}: {}\n", file, line, condition, detail));
  std::abort();
}

}  // namespace tidemark::internal
