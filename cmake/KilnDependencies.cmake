# Third-party libraries, each found on the system (scripts/install_dependencies installs them).
# Header-only or static archives: the kiln program must run when copied alone to another machine.
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(CLI11 2.1 REQUIRED)
find_package(fmt 9 REQUIRED)
# The archive of SQLite where the distribution ships one, so that the program needs no libsqlite3.so.
find_library(KILN_SQLITE_ARCHIVE NAMES libsqlite3.a)
if(KILN_SQLITE_ARCHIVE)
  set(SQLite3_LIBRARY ${KILN_SQLITE_ARCHIVE} CACHE FILEPATH "SQLite library" FORCE)
endif()
find_package(SQLite3 REQUIRED)
find_package(SQLiteCpp 3 REQUIRED)
pkg_check_modules(INJA REQUIRED IMPORTED_TARGET inja)
find_path(KILN_XXHASH_INCLUDE_DIR xxhash.h REQUIRED)
find_path(KILN_OPENCL_INCLUDE_DIR CL/cl.h REQUIRED)
