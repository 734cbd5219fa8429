# What the scripts share: where things are, how they talk, and which NVRTC they hand to the program.
# Sourced, never run. Takes for granted: bash 4.4 or later and `set -euo pipefail` in the caller.
#
# SPDX-License-Identifier: Apache-2.0

# shellcheck shell=bash

kiln_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
kiln_nvrtc_prefix=${XDG_DATA_HOME:-${HOME:-/root}/.local/share}/kiln/nvrtc
kiln_hip_prefix=${XDG_DATA_HOME:-${HOME:-/root}/.local/share}/kiln/hip6
kiln_vega_prefix=${XDG_DATA_HOME:-${HOME:-/root}/.local/share}/kiln/vega

say() { printf '%s\n' "$*"; }
step() { printf '\n== %s\n' "$*"; }
warn() { printf 'warning: %s\n' "$*" >&2; }
die() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

# need_value WHAT OPTION [VALUE...]: ends the script if no value follows the option.
need_value() { [[ $# -ge 3 && -n $3 ]] || die "$2 expects $1 (see --help)"; }

# Prints the comment block that opens a script: the help text has one source.
print_header() {
  awk 'NR == 1 { next } !/^#/ { exit } /SPDX-/ { next } { sub(/^# ?/, ""); print }' "$1"
}

# elapsed SECONDS -> "2 min 07 s"
elapsed() { printf '%d min %02d s' "$(($1 / 60))" "$(($1 % 60))"; }

# slowest_tests N <LOG: the N tests of a log of ctest that took longest, "SECONDS NAME" a line.
slowest_tests() {
  sed -nE 's|^ *[0-9]+/[0-9]+ Test +#[0-9]+: +([^ ]+) .* ([0-9.]+) sec.*|\2 \1|p' | sort -rn |
    awk -v n="$1" 'NR <= n { printf "%8.1f s  %s\n", $1, $2 }'
}

# Prints how many jobs fit: one a core, but no more than one for each 1.2 GiB of free memory,
# because a translation unit full of templates takes about that much.
job_count() {
  local cores memory_mib jobs
  cores=$(nproc)
  memory_mib=$(awk '/^MemAvailable:/ { print int($2 / 1024) }' /proc/meminfo 2>/dev/null || true)
  jobs=$cores
  if [[ -n $memory_mib ]] && ((memory_mib / 1200 < jobs)); then jobs=$((memory_mib / 1200)); fi
  if ((jobs < 1)); then jobs=1; fi
  printf '%s\n' "${KILN_JOBS:-$jobs}"
}

# Prints the project's own files that match the PATTERNs, relative to the root: what git tracks or would,
# or all of them where the tree is no git checkout. Golden files are data and the dialects are kernel
# language with hand-set columns: both are left out.
project_sources() {
  {
    git -C "$kiln_root" ls-files --cached --others --exclude-standard -- "$@" 2>/dev/null ||
      (cd "$kiln_root" && find . -path ./build -prune -o -type f -print | sed 's|^\./||' |
        grep -E "$(printf '%s\n' "$@" | sed 's/^\*\./\\./; s/$/$/' | paste -sd '|')")
  } | grep -vE '/golden/|^templates/dialects/' | sort -u | while IFS= read -r file; do
    if [[ -e $kiln_root/$file ]]; then printf '%s\n' "$file"; fi
  done
}

# Prints the folders in which a libnvrtc of the machine may lie, one a line.
nvrtc_folders() {
  local root
  for root in "${CUDA_PATH:-}" "${CUDA_HOME:-}" /usr/local/cuda /usr/local/cuda-*; do
    if [[ -n $root && -d $root ]]; then
      printf '%s\n' "$root"/lib64 "$root"/lib "$root"/targets/*/lib
    fi
  done
  if [[ -n ${LD_LIBRARY_PATH:-} ]]; then tr ':' '\n' <<<"$LD_LIBRARY_PATH"; fi
  { ldconfig -p 2>/dev/null || /sbin/ldconfig -p 2>/dev/null || true; } |
    sed -n 's|.*libnvrtc\.so.* => \(.*\)/[^/]*$|\1|p'
  python3 - 2>/dev/null <<'PYTHON' || true
import nvidia
for root in nvidia.__path__:
    for folder in ("cu13", "cuda_nvrtc"):
        print(f"{root}/{folder}/lib")
PYTHON
}

# Prints the newest libnvrtc.so.N with N >= 12 in FOLDER; fails when there is none.
nvrtc_in() {
  local file name found=
  for file in "$1"/libnvrtc.so.*; do
    name=${file##*/libnvrtc.so.}
    if [[ -e $file && $name =~ ^[0-9]+$ ]] && ((name >= 12)); then found=$file; fi
  done
  [[ -n $found ]] && printf '%s\n' "$found"
}

# Prints the folder with cuda_fp16.h that belongs to a LIBRARY; fails when there is none.
cuda_headers_of() {
  local folder parent
  folder=$(dirname "$1")
  parent=$(dirname "$folder")
  for folder in "$parent"/include "$parent"/../../include "$parent"/../cuda_runtime/include \
    "$parent"/targets/*/include /usr/include; do
    if [[ -e $folder/cuda_fp16.h ]]; then
      (cd "$folder" && pwd)
      return 0
    fi
  done
  return 1
}

# Prints the libnvrtc that the machine offers with its headers; fails when there is none.
find_system_nvrtc() {
  local folder library
  while IFS= read -r folder; do
    if library=$(nvrtc_in "$folder") && cuda_headers_of "$library" >/dev/null; then
      printf '%s\n' "$library"
      return 0
    fi
  done < <(nvrtc_folders)
  return 1
}

# Prints the libnvrtc of the private copy; fails when there is none or when it is not whole.
find_private_nvrtc() {
  local folder library
  [[ -e $kiln_nvrtc_prefix/complete ]] || return 1
  for folder in "$kiln_nvrtc_prefix"/nvidia/*/lib; do
    if library=$(nvrtc_in "$folder") && cuda_headers_of "$library" >/dev/null; then
      printf '%s\n' "$library"
      return 0
    fi
  done
  return 1
}

# Exports KILN_NVRTC_PATH (the library) and KILN_CUDA_INCLUDE (the folder with cuda_fp16.h) when a
# private copy was installed. What the caller's environment already says stays.
export_private_nvrtc() {
  local library
  if [[ -z ${KILN_NVRTC_PATH:-} ]] && library=$(find_private_nvrtc); then
    export KILN_NVRTC_PATH=$library
    KILN_CUDA_INCLUDE=${KILN_CUDA_INCLUDE:-$(cuda_headers_of "$library")}
    export KILN_CUDA_INCLUDE
    say "NVRTC: $KILN_NVRTC_PATH"
  fi
}

# Prints the folder with the private HIP 6.4; fails when there is none or when it is not whole.
find_private_hip() {
  [[ -e $kiln_hip_prefix/complete ]] && printf '%s\n' "$kiln_hip_prefix"
}
