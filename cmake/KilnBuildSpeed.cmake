# What makes a build from nothing quicker, and changes no program: several sources in one compilation (KILN_UNITY),
# lld (KILN_FAST_LINKER), and precompiled headers (KILN_PRECOMPILE) for CLI11 in cli/.
#
# Most of a file's compile time goes to headers that its neighbours read as well. So eight sources of a folder are
# compiled as one, which takes half the time of a build; names of a folder's unnamed namespaces differ for it.
option(KILN_UNITY "Compile eight sources of a folder at once" ON)
set(KILN_UNITY_SOURCES 8)

# With ccache the headers are not precompiled: a hit costs less than reading a precompiled header, and the hash of
# one would tie the objects of a folder together.
if(CMAKE_CXX_COMPILER_LAUNCHER MATCHES "ccache")
  set(KILN_PRECOMPILE_DEFAULT OFF)
else()
  set(KILN_PRECOMPILE_DEFAULT ON)
endif()
option(KILN_PRECOMPILE "Precompile the headers of CLI11" ${KILN_PRECOMPILE_DEFAULT})

# lld links kiln in a third of the time of GNU ld.
include(CheckCXXSourceCompiles)
set(CMAKE_REQUIRED_LINK_OPTIONS -fuse-ld=lld)
check_cxx_source_compiles("int main() { return 0; }" KILN_HAS_LLD)
unset(CMAKE_REQUIRED_LINK_OPTIONS)
option(KILN_FAST_LINKER "Link with lld where it is installed" OFF)
if(KILN_HAS_LLD AND KILN_FAST_LINKER)
  add_link_options(-fuse-ld=lld)
endif()

# kiln_precompile(cli): the headers of precompiled/cli.hpp, for all files of the target kiln_cli.
function(kiln_precompile name)
  if(KILN_PRECOMPILE)
    target_precompile_headers(kiln_${name} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/precompiled/${name}.hpp)
  endif()
endfunction()
