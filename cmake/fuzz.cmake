# tidemark_fuzz(NAME SRCS … DEPS … [CORPUS folder]): a libFuzzer program, and a ctest that runs it for a few seconds.
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  message(FATAL_ERROR "TIDEMARK_FUZZ needs clang 19 (cmake --preset fuzz)")
endif()
set(TIDEMARK_FUZZ_SECONDS 5 CACHE STRING "how long each fuzz test runs under ctest")
add_compile_options(-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all)
add_link_options(-fsanitize=address,undefined)

# A few seconds each do not pay for the optimiser; hours do.
option(TIDEMARK_FUZZ_OPTIMISE "optimise the fuzz targets, for long runs" OFF)
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O0 -g1")
if(TIDEMARK_FUZZ_OPTIMISE)
  set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O1 -g1")
endif()
add_custom_target(fuzz_targets)                 # the fuzz programs and what they link, not the whole program

function(tidemark_fuzz name)
  cmake_parse_arguments(arg "" "CORPUS" "SRCS;DEPS" ${ARGN})
  add_executable(${name}_fuzz ${arg_SRCS})
  target_include_directories(${name}_fuzz PRIVATE "${CMAKE_SOURCE_DIR}/src")
  target_link_libraries(${name}_fuzz PRIVATE ${arg_DEPS})
  target_link_options(${name}_fuzz PRIVATE -fsanitize=fuzzer)
  add_dependencies(fuzz_targets ${name}_fuzz)
  # New inputs go into the build tree; the committed corpus is only read.
  set(found "${CMAKE_CURRENT_BINARY_DIR}/${name}_corpus")
  file(MAKE_DIRECTORY "${found}")
  add_test(NAME fuzz.${name} COMMAND ${name}_fuzz -max_total_time=${TIDEMARK_FUZZ_SECONDS}
    -rss_limit_mb=2048 -timeout=10 -print_final_stats=1 -artifact_prefix=${CMAKE_CURRENT_BINARY_DIR}/
    ${found} ${arg_CORPUS})
  set_tests_properties(fuzz.${name} PROPERTIES LABELS fuzz TIMEOUT 120)
endfunction()
