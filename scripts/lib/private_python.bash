# A Python that is new enough for the compiled module of the wheel (3.12 or later, with its headers), for machines
# whose own is older: Python 3.13 of Debian 13 in a private folder, with the C library that it needs.
# Sourced, never run. Takes for granted: lib/common.bash and lib/debian_suite.bash. Needs no root.
#
# SPDX-License-Identifier: Apache-2.0

# shellcheck shell=bash

kiln_python_prefix=${XDG_DATA_HOME:-${HOME:-/root}/.local/share}/kiln/python313

# is_native_python PYTHON: can the compiled module be built with it and run in it?
is_native_python() {
  "$1" - 2>/dev/null <<'PYTHON'
import os, sys, sysconfig
header = os.path.join(sysconfig.get_path("include"), "Python.h")
sys.exit(not (sys.version_info >= (3, 12) and os.path.exists(header)))
PYTHON
}

# Prints the private Python; fails when there is none or when it is not whole.
find_private_python() {
  [[ -e $kiln_python_prefix/complete ]] && printf '%s\n' "$kiln_python_prefix/usr/bin/python3"
}

# native_python PYTHON: prints PYTHON if it is new enough and has its headers, else the private Python; fails when
# there is neither.
native_python() {
  if is_native_python "$1"; then
    printf '%s\n' "$1"
  else
    find_private_python
  fi
}

# Unpacks Python 3.13 with its headers and all libraries that it needs, down to libc and its loader, into a folder of
# its own. Nothing is installed. Fails, with a warning, when the packages cannot be had.
fetch_private_python() {
  if find_private_python >/dev/null; then return 0; fi
  local mirror package
  if ! command -v apt-get >/dev/null || ! command -v dpkg-deb >/dev/null; then
    warn "Python 3.13 could not be fetched: this machine has no apt"
    return 1
  fi
  if ! mirror=$(debian_mirror); then
    warn "Python 3.13 could not be fetched: the sources name no Debian mirror (KILN_DEBIAN_MIRROR names one)"
    return 1
  fi
  if [[ ! -e $kiln_keyring ]]; then
    warn "Python 3.13 could not be fetched: the package debian-archive-keyring is missing, whose keys sign it"
    return 1
  fi
  say "Fetching Python 3.13 for yourself alone, into $kiln_python_prefix (55 MB):"
  say "  the compiled module of the wheel: python3.13 and its headers from $mirror trixie (signature checked)"
  make_suite_folder
  : >"$suite_folder/status" # as if nothing were installed: every library comes along
  suite_options+=(-o "Dir::State::status=$suite_folder/status")
  # Only the headers of libpython3.13-dev: what it depends on is for the C library of its own release.
  if ! { read_suite "$mirror" trixie &&
    apt-get "${suite_options[@]}" -y --no-install-recommends --download-only install python3.13 &&
    (cd "$suite_folder/package" &&
      apt-get "${suite_options[@]}" download libpython3.13-dev python3.13-venv python3-pip-whl); } \
    >"$suite_folder/log" 2>&1; then
    sed 's/^/    /' "$suite_folder/log" >&2
    warn "Python 3.13 could not be fetched (see the lines above)"
    return 1
  fi
  rm -rf "$kiln_python_prefix"
  mkdir -p "$kiln_python_prefix"
  for package in "$suite_folder"/cache/archives/*.deb "$suite_folder"/package/*.deb; do
    dpkg-deb -x "$package" "$kiln_python_prefix"
  done
  finish_private_python
  if ! { "$kiln_python_prefix/usr/bin/python3" -c 'import ctypes, ensurepip, ssl, venv' &&
    is_native_python "$kiln_python_prefix/usr/bin/python3"; }; then
    warn "Python 3.13 was unpacked into $kiln_python_prefix, but does not work there"
    return 1
  fi
  touch "$kiln_python_prefix/complete"
}

# Makes what was unpacked work where it lies.
finish_private_python() {
  local root=$kiln_python_prefix libraries loader file
  loader=$(printf '%s\n' "$root"/usr/lib/*/ld-linux-*.so.* | head -n 1)
  libraries=$(dirname "$loader")
  # Started by its own loader, with its own libraries first. Programs that it starts do not notice: no variable is set.
  cat >"$root/usr/bin/python3" <<SCRIPT
#!/bin/bash
exec '$loader' --library-path '$libraries' --argv0 "\$0" '$root/usr/bin/python3.13' "\$@"
SCRIPT
  chmod 755 "$root/usr/bin/python3"
  # Debian's pyconfig.h includes the one of the architecture by a path below /usr/include.
  for file in "$root"/usr/include/*/python3.13/pyconfig.h; do
    if [[ $(dirname "$(dirname "$file")") == */"$(basename "$libraries")" ]]; then
      cp "$file" "$root/usr/include/python3.13/pyconfig.h"
    fi
  done
  # Where ensurepip looks for the pip of new environments.
  sed -i "s|'/usr/share/python-wheels/'|'$root/usr/share/python-wheels/'|" \
    "$root"/usr/lib/python3.13/_sysconfigdata_*.py
  # Half of what was unpacked: what programs that embed Python are linked with, and documentation.
  rm -rf "$root"/usr/lib/*/libpython3.13.* "$root"/usr/lib/python3.13/config-* "$root"/usr/share/{doc,man,locale,lintian}
}
