# Prints what bash proposes for each command line of stdin, one proposal a line, "." after the last:
#   bash --norc ask.bash SCRIPT
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash source=/dev/null
source "$1"
function_name=$(complete -p kiln | sed 's/.*-F \([^ ]*\).*/\1/')
while IFS= read -r line; do
  # The words as readline makes them: "=" is one of its own.
  words=${line//=/ = }
  read -ra COMP_WORDS <<<"$words"
  if [[ $line == *' ' ]]; then COMP_WORDS+=(''); fi
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMP_LINE=$line COMP_POINT=${#line} COMPREPLY=()
  "$function_name" kiln "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
  if ((${#COMPREPLY[@]} > 0)); then printf '%s\n' "${COMPREPLY[@]}"; fi
  echo .
done
