# What cpack makes: one .deb for each component, and one .tar.gz with all of them. scripts/package builds and checks
# them. Takes for granted that every install rule above named its component.
#
#   program   kiln          the program, its man pages and completions
#   library   libkiln0      libkiln.so of one ABI
#   dev       libkiln-dev   headers, libkiln.a, the CMake package and kiln.pc
set(KILN_PACKAGE_CONTACT "Kiln maintainers <maintainers@kiln.invalid>" CACHE STRING
    "Who answers for the packages: NAME <ADDRESS>")

set(soname_package libkiln${PROJECT_VERSION_MAJOR})
set(packages program kiln library ${soname_package} dev libkiln-dev)

# --- share/doc: who may do what with the package, and what changed. ---
# The licences of the libraries that are inside the program and the library, as the distribution states them.
set(inside libfmt-dev libsqlitecpp-dev libsqlite3-dev zlib1g-dev libpcre2-dev nlohmann-json3-dev libtomlplusplus-dev libeigen3-dev
    libxxhash-dev libcli11-dev opencl-c-headers)
file(READ ${CMAKE_CURRENT_LIST_DIR}/packages/copyright copyright)
foreach(library ${inside})
  set(file /usr/share/doc/${library}/copyright)
  if(EXISTS ${file})
    file(READ ${file} text)
    string(APPEND copyright "\n\n---- ${library} ----\n\n${text}")
  else()
    message(STATUS "The notice of ${library} is not in ${file}: packages and wheels will lack it")
  endif()
endforeach()
foreach(name vega.licence vega-lite.licence vega-embed.licence)
  get_property(file GLOBAL PROPERTY KILN_REPORT_${name})
  if(file)
    file(READ ${file} text)
    string(APPEND copyright "\n\n---- ${name}, inside the pages of kiln report ----\n\n${text}")
  endif()
endforeach()
set(folder ${CMAKE_BINARY_DIR}/packages)
file(WRITE ${folder}/copyright "${copyright}")

find_program(KILN_GZIP gzip)
configure_file(${CMAKE_CURRENT_LIST_DIR}/packages/changelog.in ${folder}/changelog @ONLY)
if(KILN_GZIP)
  execute_process(COMMAND ${KILN_GZIP} -9 -n -f -k ${folder}/changelog COMMAND_ERROR_IS_FATAL ANY)
endif()

while(packages)
  list(POP_FRONT packages component package)
  set(folder_of_docs ${CMAKE_INSTALL_DATADIR}/doc/${package})
  install(FILES ${folder}/copyright DESTINATION ${folder_of_docs} COMPONENT ${component})
  if(KILN_GZIP)
    install(FILES ${folder}/changelog.gz DESTINATION ${folder_of_docs} COMPONENT ${component})
  endif()
  if(EXISTS ${CMAKE_CURRENT_LIST_DIR}/packages/${component}.lintian-overrides)
    configure_file(${CMAKE_CURRENT_LIST_DIR}/packages/${component}.lintian-overrides ${folder}/${package}.overrides @ONLY)
    install(FILES ${folder}/${package}.overrides DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides
            RENAME ${package} COMPONENT ${component})
  endif()
  string(TOUPPER ${component} key)
  set(CPACK_DEBIAN_${key}_PACKAGE_NAME ${package})
endwhile()

# --- What all packages say of themselves. ---
set(CPACK_PACKAGE_NAME kiln)
set(CPACK_PACKAGE_VENDOR "Kiln maintainers")
set(CPACK_PACKAGE_CONTACT ${KILN_PACKAGE_CONTACT})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "") # each component has one of its own
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_COMPONENTS_ALL program library dev)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
# A folder that a build's umask made private would stay private in the package.
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
    WORLD_READ WORLD_EXECUTE)

set(CPACK_GENERATOR DEB TGZ)

# --- .tar.gz: one archive with everything, which may be unpacked anywhere. ---
string(TOLOWER ${CMAKE_SYSTEM_NAME} system)
set(CPACK_ARCHIVE_FILE_NAME kiln-${PROJECT_VERSION}-${system}-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_PACKAGE_FILE_NAME ${CPACK_ARCHIVE_FILE_NAME})
set(CPACK_ARCHIVE_COMPONENT_INSTALL OFF)

# --- .deb: one a component, named as Debian names them. ---
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS OFF)

# The first line of a description is the package's summary.
set(of_library "A program that links this library picks the config of a CUDA, HIP or OpenCL
kernel from the tuning database of Kiln, compiles it once and launches it on a
stream or queue of its own.")

set(CPACK_COMPONENT_PROGRAM_DESCRIPTION "autotuner for GPU kernels
Kiln generates the configs of a CUDA, HIP or OpenCL kernel, proves each of them
correct, measures them on the device at hand, and keeps the fastest in a
database. Drivers and compilers are found at run time.

This package contains the program.")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS "libkiln-dev, ocl-icd-libopencl1")

set(CPACK_COMPONENT_LIBRARY_DESCRIPTION "launcher of tuned GPU kernels
${of_library}

This package contains the shared library.")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SUGGESTS kiln)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
# The loader's cache is renewed by a trigger. Scripts that do nothing keep cpack from adding some that call ldconfig.
file(WRITE ${folder}/triggers "activate-noawait ldconfig\n")
foreach(script postinst postrm)
  file(WRITE ${folder}/${script} "#!/bin/sh\n# The trigger of this package calls ldconfig.\nset -e\n")
endforeach()
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${folder}/triggers ${folder}/postinst ${folder}/postrm)

set(CPACK_COMPONENT_DEV_DESCRIPTION "launcher of tuned GPU kernels, development files
${of_library}

This package contains the headers for C++ and C, the static library, and the
files for CMake and pkg-config.")
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "${soname_package} (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_DEV_PACKAGE_SUGGESTS kiln)

include(CPack)
