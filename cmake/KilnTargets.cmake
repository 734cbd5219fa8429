# How a folder becomes a target: kiln_add_stage(NAME ... SOURCES ... LINKS ... PRIVATE_LINKS ...).

add_library(kiln_options INTERFACE)
target_compile_options(kiln_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wimplicit-fallthrough)
# GCC 12 sees overlaps in std::string that are not there (its bug 105651): a wrong warning in every optimised build.
# At -O2 it also takes the string of a moved std::variant for uninitialised. Its note on a change of GCC 4.6 concerns
# nobody.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(kiln_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>
    $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:Release>>:-Wno-maybe-uninitialized>)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(kiln_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-psabi>)
endif()
if(KILN_WERROR)
  target_compile_options(kiln_options INTERFACE -Werror)
endif()
if(KILN_SANITIZE)
  target_compile_options(kiln_options INTERFACE -fsanitize=${KILN_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(kiln_options INTERFACE -fsanitize=${KILN_SANITIZE})
endif()

function(kiln_add_stage name)
  cmake_parse_arguments(STAGE "" "" "SOURCES;LINKS;PRIVATE_LINKS" ${ARGN})
  add_library(kiln_${name} STATIC ${STAGE_SOURCES})
  set_target_properties(kiln_${name} PROPERTIES
    UNITY_BUILD ${KILN_UNITY} UNITY_BUILD_BATCH_SIZE ${KILN_UNITY_SOURCES})
  target_include_directories(kiln_${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>)
  target_link_libraries(kiln_${name} PUBLIC ${STAGE_LINKS}
                        PRIVATE $<BUILD_INTERFACE:kiln_options> ${STAGE_PRIVATE_LINKS})
endfunction()

# One test program a folder: kiln_add_tests(core SOURCES a_test.cpp ... LINKS kiln_core). FILTER, as of GoogleTest:
# the tests that are an entry of ctest each; the caller adds the others. COST: ctest starts tests of a higher one
# first, so that no long one is left alone at the end; in seconds, roughly, for programs with tests of many.
function(kiln_add_tests name)
  cmake_parse_arguments(TESTS "" "FILTER;COST" "SOURCES;LINKS" ${ARGN})
  add_executable(${name}_test ${TESTS_SOURCES} ${PROJECT_SOURCE_DIR}/tests/private_pocl_cache.cpp)
  set_target_properties(${name}_test PROPERTIES
    UNITY_BUILD ${KILN_UNITY} UNITY_BUILD_BATCH_SIZE ${KILN_UNITY_SOURCES})
  target_include_directories(${name}_test PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name}_test PRIVATE ${TESTS_LINKS} GTest::gtest_main GTest::gmock kiln_options)
  target_compile_definitions(${name}_test PRIVATE KILN_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  if(NOT TESTS_FILTER)
    set(TESTS_FILTER "*")
  endif()
  if(NOT TESTS_COST)
    set(TESTS_COST 0)
  endif()
  gtest_discover_tests(${name}_test TEST_PREFIX ${name}. TEST_FILTER "${TESTS_FILTER}" PROPERTIES COST ${TESTS_COST}
    DISCOVERY_TIMEOUT 60)
endfunction()
