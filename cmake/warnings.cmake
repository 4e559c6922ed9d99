# Warnings for our own targets; third-party headers are SYSTEM and stay out of it.
add_library(tidemark_warnings INTERFACE)
target_compile_options(tidemark_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Werror)
# librdkafka's macros for a record's fields are statement expressions, which clang counts as ours.
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  target_compile_options(tidemark_warnings INTERFACE -Wno-gnu-statement-expression-from-macro-expansion)
  # std::stable_sort of libstdc++ 12 calls what the same library has deprecated; g++ keeps quiet about it.
  target_compile_options(tidemark_warnings INTERFACE -Wno-deprecated-declarations)
endif()
# Under a sanitizer g++ loses sight of what it has just set: std::optional within std::optional, for one.
if(TIDEMARK_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(tidemark_warnings INTERFACE -Wno-maybe-uninitialized)
  # Boost.Asio has fences, which ThreadSanitizer does not see; what it then reports is in tools/tsan.supp.
  target_compile_options(tidemark_warnings INTERFACE -Wno-tsan)
endif()
