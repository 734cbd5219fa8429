#!/usr/bin/env python3
"""What a call from Python costs in host time: with tensors of torch on CUDA, else with pyopencl's arrays.

    call_cost.py [TIMES]

Prints the smallest mean of nine rounds of TIMES calls (1000) in microseconds. The first row is the
launch alone, which has its arguments laid out; what others cost beyond it is Python's part.
SPDX-License-Identifier: Apache-2.0
"""

import sys
import time

import kiln
from kiln import _fast

TWICE = """
KERNEL(64, 1, 1) twice(GLOBAL const f32* x, GLOBAL f32* y, f32 by, i32 n) {
  const i32 i = BLOCK_X * 64 + THREAD_X;
  if (i < n) y[i] = by * x[i];
}
"""
ARGUMENTS = {"x": "read f32[n]", "y": "write f32[n]", "by": "f32 example 2", "n": "i32 = n"}


def device():
    """(a function that makes an array of zeros, one that waits, rows of torch itself)"""
    try:
        import torch

        if torch.cuda.is_available():
            zeros = lambda *shape: torch.zeros(shape, device="cuda")
            a, c = zeros(16, 16), zeros(16, 16)
            rows = {"torch.mm(a, b, out=c)": lambda: torch.mm(a, a, out=c), "a @ b": lambda: a @ a}
            return zeros, torch.cuda.synchronize, rows
    except ImportError:
        pass
    import pyopencl
    import pyopencl.array

    queue = pyopencl.CommandQueue(pyopencl.create_some_context(interactive=False))
    return lambda *shape: pyopencl.array.zeros(queue, shape, "float32"), queue.finish, {}


def mean_us(function, wait, times):
    """The smallest mean of nine rounds."""
    best = float("inf")
    for _ in range(9):
        function()
        wait()
        started = time.perf_counter_ns()
        for _ in range(times):
            function()
        best = min(best, (time.perf_counter_ns() - started) / times / 1000)
        wait()
    return best


def main():
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    zeros, wait, rows = device()
    a, b, c, x, y = zeros(16, 16), zeros(16, 16), zeros(16, 16), zeros(256), zeros(256)
    twice = kiln.kernel(TWICE, arguments=ARGUMENTS, grid="ceil_div(n, 64)", block="64")
    bound = kiln.bind(kiln.matmul, a, b, out=c)
    stream, addresses = bound._current(), [place.memory for place in bound._laid_out[:3]]
    rows = {
        "the launch alone": lambda: bound._launch(stream),
        "bound call": bound,
        "bound call, other memory": lambda: bound.at(*addresses),
        "kiln.matmul(a, b, out=c)": lambda: kiln.matmul(a, b, out=c),
        "kiln.matmul(a, b)": lambda: kiln.matmul(a, b),
        "kiln.reduce(x)": lambda: kiln.reduce(x),
        "own kernel, twice(x, 2, y)": lambda: twice(x, 2, y),
        **rows,
    }
    print(f"Python {sys.version.split()[0]}, {'nanobind' if _fast.IS_NATIVE else 'ctypes'}; microseconds a call")
    for name, function in rows.items():
        print(f"  {name:30} {mean_us(function, wait, times):7.2f}")


if __name__ == "__main__":
    main()
