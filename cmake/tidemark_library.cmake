# tidemark_library(NAME SRCS … HDRS … DEPS … PRIVATE_DEPS … TESTS … TEST_DEPS …)
#
# The only way to add a module: one folder, one target tidemark::NAME, one test program NAME_test with the label "unit".
# DEPS are what its headers expose; PRIVATE_DEPS what only its sources include. HDRS lists every header of the folder
# (tools/tidy fails on an orphan). TESTS are the *_test.cc beside the code.
include(GoogleTest)

# Tests run once for each time they are compiled: what the compiler saves (two fifths) is worth more than their speed.
set(TIDEMARK_TEST_OPTIONS "$<$<CONFIG:RelWithDebInfo>:-O0>")

function(tidemark_library name)
  cmake_parse_arguments(arg "" "" "SRCS;HDRS;DEPS;PRIVATE_DEPS;TESTS;TEST_DEPS" ${ARGN})
  string(REPLACE "/" "_" target "tidemark_${name}")
  string(REPLACE "/" "_" short "${name}")
  if(arg_SRCS)
    add_library(${target} STATIC ${arg_SRCS} ${arg_HDRS})
    target_include_directories(${target} PUBLIC "${CMAKE_SOURCE_DIR}/src")
    target_link_libraries(${target} PUBLIC ${arg_DEPS} PRIVATE tidemark_warnings ${arg_PRIVATE_DEPS})
  else()
    add_library(${target} INTERFACE)
    target_include_directories(${target} INTERFACE "${CMAKE_SOURCE_DIR}/src")
    target_link_libraries(${target} INTERFACE ${arg_DEPS})
  endif()
  add_library(tidemark::${short} ALIAS ${target})
  if(arg_TESTS AND TIDEMARK_TESTS)
    tidemark_test(${short}_test LABEL unit SRCS ${arg_TESTS} DEPS ${target} ${arg_PRIVATE_DEPS} ${arg_TEST_DEPS})
  endif()
endfunction()

# tidemark_test(NAME LABEL unit|contract|acceptance|system SRCS … DEPS … [TIMEOUT seconds])
function(tidemark_test name)
  cmake_parse_arguments(arg "" "LABEL;TIMEOUT" "SRCS;DEPS" ${ARGN})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  add_executable(${name} ${arg_SRCS})
  target_compile_options(${name} PRIVATE ${TIDEMARK_TEST_OPTIONS})
  target_include_directories(${name} PRIVATE "${CMAKE_SOURCE_DIR}/src" "${CMAKE_SOURCE_DIR}/tests")
  target_link_libraries(${name} PRIVATE tidemark_warnings ${arg_DEPS} GTest::gmock GTest::gtest GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE TIDEMARK_TESTDATA="${CMAKE_SOURCE_DIR}/testdata")
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60
    PROPERTIES LABELS ${arg_LABEL} TIMEOUT ${arg_TIMEOUT})
endfunction()
