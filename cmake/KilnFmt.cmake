# kiln_fmt: {fmt} without a shared library, for the kiln program must run when copied alone to another machine.
#
# Debian ships the headers and a shared library. Used as headers alone, all of {fmt} is compiled again in each of some
# 300 files, half of what they cost; so its implementation, which is among the headers, is compiled here, once. Another
# version may want other templates from its library: where a probe does not link, the headers alone must do.
find_package(fmt 9 QUIET)
if(NOT fmt_FOUND)
  return()
endif()
get_target_property(KILN_FMT_TYPE fmt::fmt TYPE)
get_target_property(KILN_FMT_INCLUDE_DIRS fmt::fmt-header-only INTERFACE_INCLUDE_DIRECTORIES)
if(NOT KILN_FMT_TYPE STREQUAL STATIC_LIBRARY AND NOT DEFINED KILN_FMT_ONCE)
  try_compile(KILN_FMT_ONCE ${CMAKE_BINARY_DIR}/probe_fmt
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/fmt/probe.cpp ${CMAKE_CURRENT_LIST_DIR}/fmt/implementation.cpp
    CMAKE_FLAGS -DINCLUDE_DIRECTORIES=${KILN_FMT_INCLUDE_DIRS}
    CXX_STANDARD 20)
endif()

if(KILN_FMT_TYPE STREQUAL STATIC_LIBRARY)
  add_library(kiln_fmt ALIAS fmt::fmt)
elseif(KILN_FMT_ONCE)
  add_library(kiln_fmt STATIC ${CMAKE_CURRENT_LIST_DIR}/fmt/implementation.cpp)
  target_include_directories(kiln_fmt SYSTEM PUBLIC ${KILN_FMT_INCLUDE_DIRS})
else()
  add_library(kiln_fmt INTERFACE)
  target_link_libraries(kiln_fmt INTERFACE fmt::fmt-header-only)
endif()
