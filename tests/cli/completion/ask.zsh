# Prints what zsh proposes for each command line of stdin, one proposal a line, "." after the last:
#   zsh -f ask.zsh SCRIPT
# An interactive zsh on a terminal of its own is asked, for only its line editor completes.
# SPDX-License-Identifier: Apache-2.0
zmodload zsh/zpty zsh/zselect
folder=$(mktemp -d)
trap 'zpty -d asked 2>/dev/null; rm -rf $folder' EXIT
cp $1 $folder/_kiln
: >$folder/answers
cat >$folder/setup <<END
fpath=($folder \$fpath)
autoload -Uz compinit
compinit -u -D
bindkey -e
bindkey '^I' complete-word
unsetopt auto_list auto_menu auto_param_slash beep
# Every proposal ends here. With -O, -A or -D nothing is proposed yet.
compadd() {
  local -a proposals
  if [[ \${@[1,(i)(-|--)]} != *-[a-zA-Z]#[OAD]* ]]; then
    builtin compadd -O proposals "\$@"
    print -rl -- \$proposals >>$folder/answers
  fi
  builtin compadd "\$@"
}
setopt extended_glob
# Between two lines the terminal is not the editor's, and keys would be lost: all is asked within one line.
zle-line-init() { print ready >>$folder/answers }
zle -N zle-line-init
answered() {
  print . >>$folder/answers
  BUFFER=
}
zle -N answered
bindkey '^G' answered
END

# Waits until the file of answers ends with this line.
wait_for() {
  local tries=0
  until [[ $(tail -n 1 $folder/answers) == $1 ]]; do
    if ((++tries > 3000)); then
      print -u2 "zsh does not answer"
      exit 1
    fi
    zpty -rt asked output 2>/dev/null # else its terminal fills up
    zselect -t 1
  done
}

zpty asked "PS1= zsh -f -i"
zpty -w asked "source $folder/setup"
wait_for ready
while IFS= read -r line; do
  : >$folder/answers
  zpty -w -n asked "$line"$'\t\a'
  wait_for .
  sed -E '/^$/d; s/=$//' $folder/answers
done
