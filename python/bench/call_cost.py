#!/usr/bin/env python3
"""What a call from Python costs over the C interface, in microseconds of host time.

    call_cost.py [TIMES]

Compiles a library whose kiln_launch returns at once, so that what is left is Python's part: a bound
call with its arguments laid out, with other addresses, and one that checks its arrays each time.
Needs a C compiler; no device. Prints the smallest mean of nine rounds of TIMES calls (20000).
SPDX-License-Identifier: Apache-2.0
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import time

STUB = r"""
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <kiln/kiln.h>
int kiln_abi_version(void) { return KILN_ABI_VERSION; }
static char text[512];
const char* kiln_last_error(void) { return text; }
kiln_status kiln_open(const kiln_options* o, kiln_launcher** l) { *l = (void*)8; return KILN_OK; }
void kiln_close(kiln_launcher* l) {}
size_t kiln_warning_count(const kiln_launcher* l) { return 0; }
const char* kiln_warning(const kiln_launcher* l, size_t i) { return ""; }
kiln_status kiln_select(const kiln_launcher* l, const char* k, const char* p, kiln_match* m) {
  return KILN_OK; }
kiln_status kiln_prepare(const kiln_launcher* l, const char* k, const char* p, kiln_kernel** x) {
  *x = (void*)8; return KILN_OK; }
void kiln_kernel_release(kiln_kernel* k) {}
size_t kiln_workspace_count(const kiln_kernel* k) { return 0; }
kiln_status kiln_workspace(const kiln_kernel* k, size_t i, kiln_workspace_info* w) { return KILN_OK; }
kiln_status kiln_forget_queue(const kiln_launcher* l, void* q) { return KILN_OK; }
kiln_status kiln_wait_for_tuning(const kiln_launcher* l, double s) { return KILN_OK; }
kiln_status kiln_launch(const kiln_kernel* k, void* queue, const kiln_argument* a, size_t n) {
  if (n >= 2) return KILN_OK;
  if (n == 0) strcpy(text, "transpose: argument 'in' is missing; it takes in, out");
  else sprintf(text, "transpose: argument '%s' needs 64 bytes (f32[1][4][4]), 0 were given", a->name);
  return KILN_BAD_ARGUMENT;
}
"""


class Array:
    """What a CUDA array says of itself; there is no memory behind it."""

    def __init__(self):
        self.__cuda_array_interface__ = {
            "shape": (4, 4), "typestr": "<f4", "data": (4096, False), "version": 3, "stream": 2,
        }  # fmt: skip


def build_stub(folder):
    """The library's path."""
    include = pathlib.Path(__file__).parents[2] / "launcher" / "include"
    (folder / "stub.c").write_text(STUB)
    library = folder / "libstub.so"
    subprocess.run(
        ["cc", "-O2", "-w", "-shared", "-fPIC", "-I", include, "-o", library, folder / "stub.c"],
        check=True,
    )
    return library


def mean_us(function, times):
    """The smallest mean of nine rounds."""
    best = float("inf")
    for _ in range(9):
        started = time.perf_counter_ns()
        for _ in range(times):
            function()
        best = min(best, (time.perf_counter_ns() - started) / times / 1000)
    return best


def main():
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 20000
    with tempfile.TemporaryDirectory() as folder:
        os.environ["KILN_LIBRARY"] = str(build_stub(pathlib.Path(folder)))
        import kiln  # pylint: disable=import-outside-toplevel
        from kiln import _fast  # pylint: disable=import-outside-toplevel

        x, out = Array(), Array()
        call = kiln.bind(kiln.transpose, x, out=out)
        rows = {
            "an empty Python function": lambda: None,
            "bound call": call,
            "bound call, named stream": lambda: call(2),
            "bound call, other addresses": lambda: call.at(4096, 8192, stream=2),
            "kiln.transpose(x, out=out)": lambda: kiln.transpose(x, out=out),
        }
        form = "nanobind" if _fast.IS_NATIVE else "ctypes"
        print(f"Python {sys.version.split()[0]}, {form}; microseconds a call")
        for name, function in rows.items():
            print(f"  {name:30} {mean_us(function, times):7.3f}")


if __name__ == "__main__":
    main()
