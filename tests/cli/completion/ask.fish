# Prints what fish proposes for each command line of stdin, one proposal a line, "." after the last:
#   fish --no-config ask.fish SCRIPT
# SPDX-License-Identifier: Apache-2.0
source $argv[1]
while read --line line
    complete -C $line | string replace -r '\t.*' ''
    echo .
end
