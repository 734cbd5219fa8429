# Writes the man pages and the completions that the program prints into FOLDER:
#   cmake -DKILN=PROGRAM -DFOLDER=FOLDER [-DGZIP=PROGRAM] -P texts.cmake
file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER})
foreach(pair bash/kiln.bash zsh/_kiln fish/kiln.fish)
  string(REPLACE "/" ";" pair ${pair})
  list(POP_FRONT pair shell file)
  execute_process(COMMAND ${KILN} completion ${shell} OUTPUT_FILE ${FOLDER}/${file} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
execute_process(COMMAND ${KILN} man --into ${FOLDER}/man1 COMMAND_ERROR_IS_FATAL ANY)
if(GZIP)
  file(GLOB pages ${FOLDER}/man1/*.1)
  execute_process(COMMAND ${GZIP} -9 -n ${pages} COMMAND_ERROR_IS_FATAL ANY)
endif()
