# Third-party libraries, each found on the system or below CMAKE_PREFIX_PATH (scripts/install_dependencies installs
# them). What is missing or too old is told in one message, with what to install.
#
# The kiln program must run when copied alone to another machine: header-only libraries and static archives, where there
# are archives. One without is linked as a shared library, and a line says so.
find_package(Threads REQUIRED)

# kiln_require(FOUND "what" deb rpm): notes what is missing, unless the variable FOUND is true.
set(missing "")
macro(kiln_require found what deb rpm)
  if(NOT ${found})
    list(APPEND missing "  ${what}: ${deb} of Debian and Ubuntu, ${rpm} of Fedora")
  endif()
endmacro()

# kiln_find_archive(VARIABLE name): the path of libNAME.a, else that of the shared library, which is told.
function(kiln_find_archive variable name)
  find_library(${variable} NAMES lib${name}.a ${name})
  set(${variable}_IS_ARCHIVE FALSE PARENT_SCOPE)
  if(${variable} MATCHES "\\.a$")
    set(${variable}_IS_ARCHIVE TRUE PARENT_SCOPE)
  elseif(${variable})
    message(STATUS "${name}: no static archive is here; kiln and libkiln.so will need ${${variable}}")
  endif()
endfunction()

find_package(nlohmann_json 3.11 QUIET)
kiln_require(nlohmann_json_FOUND "nlohmann-json 3.11 or later" nlohmann-json3-dev json-devel)
find_package(tomlplusplus 3.3 QUIET)
kiln_require(tomlplusplus_FOUND "toml++ 3.3 or later" libtomlplusplus-dev tomlplusplus-devel)
if(tomlplusplus_FOUND) # its headers alone: its library may be shared
  get_target_property(folders tomlplusplus::tomlplusplus INTERFACE_INCLUDE_DIRECTORIES)
  add_library(kiln_tomlplusplus INTERFACE)
  target_include_directories(kiln_tomlplusplus SYSTEM INTERFACE ${folders})
endif()
find_package(CLI11 2.1 QUIET)
kiln_require(CLI11_FOUND "CLI11 2.1 or later" libcli11-dev cli11-devel)
include(KilnFmt)
kiln_require(fmt_FOUND "{fmt} 9 or later" libfmt-dev fmt-devel)

kiln_find_archive(KILN_SQLITE_LIBRARY sqlite3)
if(KILN_SQLITE_LIBRARY)
  set(SQLite3_LIBRARY ${KILN_SQLITE_LIBRARY} CACHE FILEPATH "SQLite library" FORCE)
endif()
find_package(SQLite3 3.37 QUIET)
kiln_require(SQLite3_FOUND "SQLite 3.37 or later, which has strict tables" libsqlite3-dev sqlite-devel)
if(SQLite3_FOUND)
  find_package(SQLiteCpp 3 QUIET)
  kiln_require(SQLiteCpp_FOUND "SQLiteCpp 3 or later" libsqlitecpp-dev sqlitecpp-devel)
endif()

kiln_find_archive(KILN_ZLIB_LIBRARY z)
if(KILN_ZLIB_LIBRARY)
  set(ZLIB_LIBRARY ${KILN_ZLIB_LIBRARY} CACHE FILEPATH "zlib" FORCE)
endif()
find_package(ZLIB QUIET)
kiln_require(ZLIB_FOUND "zlib" zlib1g-dev zlib-devel)

# Eigen 5 follows 3.4; each refuses requests for the other. Only its parts under the MPL 2.0 are used.
find_package(Eigen3 3.4 QUIET NO_MODULE)
if(NOT Eigen3_FOUND)
  find_package(Eigen3 5 QUIET NO_MODULE)
endif()
kiln_require(Eigen3_FOUND "Eigen 3.4 or 5" libeigen3-dev eigen3-devel)
if(Eigen3_FOUND)
  add_library(kiln_eigen INTERFACE)
  target_link_libraries(kiln_eigen INTERFACE Eigen3::Eigen)
  target_compile_definitions(kiln_eigen INTERFACE EIGEN_MPL2_ONLY)
endif()

# PCRE2 of 8-bit code units (core/regex.cpp alone includes it).
kiln_find_archive(KILN_PCRE2_LIBRARY pcre2-8)
find_path(KILN_PCRE2_INCLUDE_DIR pcre2.h)
if(KILN_PCRE2_LIBRARY AND KILN_PCRE2_INCLUDE_DIR)
  file(STRINGS ${KILN_PCRE2_INCLUDE_DIR}/pcre2.h numbers REGEX "^#define PCRE2_(MAJOR|MINOR) +[0-9]+")
  string(REGEX REPLACE "[^0-9]*2_MAJOR +([0-9]+).*2_MINOR +([0-9]+).*" "\\1.\\2" KILN_PCRE2_VERSION "${numbers}")
endif()
if(KILN_PCRE2_VERSION VERSION_GREATER_EQUAL 10.30)
  add_library(kiln_pcre2 UNKNOWN IMPORTED)
  set_target_properties(kiln_pcre2 PROPERTIES
    IMPORTED_LOCATION ${KILN_PCRE2_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${KILN_PCRE2_INCLUDE_DIR})
  set(KILN_PCRE2_FOUND TRUE)
endif()
kiln_require(KILN_PCRE2_FOUND "PCRE2 10.30 or later" libpcre2-dev pcre2-devel)

find_path(KILN_XXHASH_INCLUDE_DIR xxhash.h)
kiln_require(KILN_XXHASH_INCLUDE_DIR "xxHash" libxxhash-dev xxhash-devel)
find_path(KILN_OPENCL_INCLUDE_DIR CL/cl.h)
kiln_require(KILN_OPENCL_INCLUDE_DIR "the headers of OpenCL" opencl-headers opencl-headers)
find_path(KILN_LIBPQ_INCLUDE_DIR libpq-fe.h PATH_SUFFIXES postgresql)
kiln_require(KILN_LIBPQ_INCLUDE_DIR "the headers of libpq" libpq-dev libpq-devel)

if(missing)
  list(JOIN missing "\n" missing)
  message(FATAL_ERROR "Kiln needs libraries that are not here, or older than needed:\n${missing}\n"
    "Install them (scripts/install_dependencies does so on Debian and Ubuntu), or name the folders "
    "under which they lie: -DCMAKE_PREFIX_PATH=FOLDER;FOLDER")
endif()

# libkiln.a holds them, so it is built only if all are archives.
set(KILN_HAS_ARCHIVES FALSE)
if(KILN_SQLITE_LIBRARY_IS_ARCHIVE AND KILN_ZLIB_LIBRARY_IS_ARCHIVE AND KILN_PCRE2_LIBRARY_IS_ARCHIVE)
  set(KILN_HAS_ARCHIVES TRUE)
endif()
