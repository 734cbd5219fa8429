# Packages of a later Debian suite, through a throw-away source list: signatures are checked, and the
# machine's own sources, pins and lists stay as they are.
# Sourced, never run. Takes for granted: lib/common.bash, and apt_get as scripts/install_dependencies has it.
#
# SPDX-License-Identifier: Apache-2.0

# shellcheck shell=bash

suite_folders=()
kiln_keyring=/usr/share/keyrings/debian-archive-keyring.gpg

# Prints the Debian mirror that the machine's own sources name (one-line and deb822 files alike: apt
# itself reads them); security and backports archives are not mirrors of everything.
debian_mirror() {
  if [[ -n ${KILN_DEBIAN_MIRROR:-} ]]; then
    printf '%s\n' "$KILN_DEBIAN_MIRROR"
    return 0
  fi
  [[ $(. /etc/os-release && printf '%s' "${ID:-}") == debian ]] || return 1
  local codename
  codename=$(. /etc/os-release && printf '%s' "${VERSION_CODENAME:-}")
  # shellcheck disable=SC2016 # apt-get fills these in
  apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' 2>/dev/null |
    awk -v codename="$codename" '
      $3 == "main" && ($2 == codename || $2 == "stable" || $2 == "testing" || $2 == "sid") && $1 !~ /security/ {
        print $1; found = 1; exit
      }
      END { exit !found }'
}

# make_suite_folder: makes the folder that apt works in, named by suite_folder, and sets suite_options to
# what apt-get needs to work there. The folder goes when the script ends.
make_suite_folder() {
  suite_folder=$(mktemp -d)
  suite_folders+=("$suite_folder")
  trap 'rm -rf "${suite_folders[@]}"' EXIT
  chmod 755 "$suite_folder"
  mkdir -p "$suite_folder"/lists/partial "$suite_folder"/cache/archives/partial "$suite_folder"/package
  suite_options=(-q -o "Dir::Etc::sourcelist=$suite_folder/list" -o Dir::Etc::sourceparts=/dev/null
    -o Dir::Etc::preferences=/dev/null -o Dir::Etc::preferencesparts=/dev/null
    -o "Dir::State::lists=$suite_folder/lists" -o "Dir::Cache=$suite_folder/cache"
    -o APT::Sandbox::User="$(id -un)" -o Acquire::Languages=none -o Acquire::Retries=3
    -o APT::Get::List-Cleanup=false)
}

# read_suite MIRROR SUITE: reads the package lists of the suite, alone, into the folder of apt.
read_suite() {
  printf 'deb [signed-by=%s] %s %s main\n' "$kiln_keyring" "$1" "$2" >"$suite_folder/list"
  apt-get "${suite_options[@]}" update
}
