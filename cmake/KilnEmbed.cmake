# kiln_embed(OUTPUT file.cpp HEADER file.hpp FUNCTION name ROOT dir [ROWS | STORED] FILES a b ...): a C++ file that
# defines kiln::<name>(), declared in the header, with the compressed files as EmbeddedFile (core/embedded_file.hpp),
# sorted by path. ROWS: the files are wisdom and become one part per kernel. STORED: they are kept as they are, for
# files that the first launch of every program reads. kiln_pack (embed/pack.cpp) compresses them, and the assembler
# includes the result, so that no compiler reads it. Made again when one of the files changes.
if(NOT TARGET kiln_pack)
  add_executable(kiln_pack ${CMAKE_CURRENT_LIST_DIR}/embed/pack.cpp)
  target_link_libraries(kiln_pack PRIVATE ZLIB::ZLIB)
  # Milliseconds matter here in every build type.
  target_compile_options(kiln_pack PRIVATE -O2)
endif()

function(kiln_embed)
  cmake_parse_arguments(EMBED "ROWS;STORED" "OUTPUT;HEADER;FUNCTION;ROOT" "FILES" ${ARGN})
  set(paths ${EMBED_FILES})
  list(TRANSFORM paths PREPEND ${EMBED_ROOT}/)
  string(REGEX REPLACE "\\.cpp$" ".bin" binary ${EMBED_OUTPUT})
  set(kind files)
  if(EMBED_ROWS)
    set(kind rows)
  elseif(EMBED_STORED)
    set(kind stored)
  endif()
  add_custom_command(
    OUTPUT ${EMBED_OUTPUT} ${binary}
    COMMAND kiln_pack ${EMBED_OUTPUT} ${binary} ${EMBED_HEADER} ${EMBED_FUNCTION} ${EMBED_ROOT} ${kind} ${EMBED_FILES}
    DEPENDS ${paths} kiln_pack
    COMMENT "Packing ${EMBED_FUNCTION}"
    VERBATIM)
  set_source_files_properties(${EMBED_OUTPUT} PROPERTIES OBJECT_DEPENDS ${binary} SKIP_PRECOMPILE_HEADERS ON)
endfunction()
