/// CHECK: for mistakes of ours only, always on, never for bytes that came from outside.
#pragma once

#include <string_view>

namespace tidemark::internal {
/// Prints the place and the condition to stderr and aborts.
[[noreturn]] void CheckFailed(const char* file, int line, const char* condition,
                              std::string_view detail);
}  // namespace tidemark::internal

/// Aborts when `condition` is false. `detail` is a string with the values at fault.
#define CHECK(condition, detail)                                                 \
  do {                                                                           \
    if (!(condition)) {                                                          \
      ::tidemark::internal::CheckFailed(__FILE__, __LINE__, #condition, detail); \
    }                                                                            \
  } while (false)
