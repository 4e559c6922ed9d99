# tidemark::arrow and tidemark::parquet: an installed Arrow C++ >= 20, or the unpacked wheel of scripts/bootstrap.
# Only src/columnar links them.
set(ARROW_WHEEL_DIR "${TIDEMARK_DEPS}/arrow-26.0.1" CACHE PATH "unpacked pyarrow wheel")

find_package(Arrow CONFIG QUIET)
if(Arrow_FOUND AND Arrow_VERSION VERSION_GREATER_EQUAL 20)
  find_package(Parquet CONFIG REQUIRED)
  add_library(tidemark::arrow ALIAS Arrow::arrow_shared)
  add_library(tidemark::parquet ALIAS Parquet::parquet_shared)
  set(ARROW_LIB_DIR "")
  return()
endif()

if(NOT EXISTS "${ARROW_WHEEL_DIR}/.complete")
  message(FATAL_ERROR "Arrow C++ is missing: run scripts/bootstrap")
endif()
file(GLOB _arrow_so "${ARROW_WHEEL_DIR}/lib/libarrow.so.*")
string(REGEX REPLACE ".*\\.so\\." "" ARROW_SO_VERSION "${_arrow_so}")
set(ARROW_LIB_DIR "${ARROW_WHEEL_DIR}/lib")

function(_arrow_import name file)
  add_library(tidemark::${name} SHARED IMPORTED GLOBAL)
  # The versioned file goes on the link line; the SONAME makes CMake write the run path for it.
  set_target_properties(tidemark::${name} PROPERTIES
    IMPORTED_LOCATION "${ARROW_LIB_DIR}/${file}.so.${ARROW_SO_VERSION}"
    IMPORTED_SONAME "${file}.so.${ARROW_SO_VERSION}")
  target_include_directories(tidemark::${name} SYSTEM INTERFACE "${ARROW_WHEEL_DIR}/include")
  foreach(dependency IN LISTS ARGN)
    set_property(TARGET tidemark::${name} APPEND PROPERTY INTERFACE_LINK_LIBRARIES tidemark::${dependency})
  endforeach()
endfunction()
_arrow_import(arrow libarrow)
_arrow_import(parquet libparquet arrow)
