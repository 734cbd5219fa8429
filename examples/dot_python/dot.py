#!/usr/bin/env python3
"""A dot product a hundred times over from Python, with the vectors kept on an OpenCL device.

    dot.py [N]

kiln.py beside it wraps Kiln's C interface; OpenCL is called through ctypes as well. Ends with 77 where there is no
OpenCL device. KILN_LIBRARY names libkiln.so where the loader does not find it.
SPDX-License-Identifier: Apache-2.0
"""

import array
import ctypes
import sys
from ctypes import byref, c_int, c_size_t, c_uint64, c_void_p

import kiln

SKIPPED = 77
TIMES = 100
DEVICE_TYPE_ALL = 0xFFFFFFFF
READ_WRITE, COPY_HOST_PTR = 1, 1 << 5


class OpenCl:
    """The first device, a context, a queue and memory."""

    def __init__(self):
        self._library = ctypes.CDLL("libOpenCL.so.1")
        for name in ("clCreateContext", "clCreateCommandQueue", "clCreateBuffer"):
            getattr(self._library, name).restype = c_void_p
        platform, device, code = c_void_p(), c_void_p(), c_int()
        self._check(self._library.clGetPlatformIDs(1, byref(platform), None), "clGetPlatformIDs")
        self._check(
            self._library.clGetDeviceIDs(
                platform, c_uint64(DEVICE_TYPE_ALL), 1, byref(device), None
            ),
            "clGetDeviceIDs",
        )
        self._context = c_void_p(
            self._library.clCreateContext(None, 1, byref(device), None, None, byref(code))
        )
        self._check(code.value, "clCreateContext")
        self.queue = c_void_p(
            self._library.clCreateCommandQueue(self._context, device, c_uint64(0), byref(code))
        )
        self._check(code.value, "clCreateCommandQueue")

    @staticmethod
    def _check(code, call):
        if code != 0:
            raise OSError(f"{call} failed: {code}")

    def upload(self, values):
        """The numbers of an array.array in memory of the device."""
        code = c_int()
        address, _ = values.buffer_info()
        size = len(values) * values.itemsize
        memory = self._library.clCreateBuffer(
            self._context,
            c_uint64(READ_WRITE | COPY_HOST_PTR),
            c_size_t(size),
            c_void_p(address),
            byref(code),
        )
        self._check(code.value, "clCreateBuffer")
        return memory

    def download(self, memory, values):
        """Waits for the queue and fills an array.array."""
        address, _ = values.buffer_info()
        size = len(values) * values.itemsize
        blocking = 1
        self._check(
            self._library.clEnqueueReadBuffer(
                self.queue, c_void_p(memory), blocking, c_size_t(0), c_size_t(size),
                c_void_p(address), 0, None, None,
            ),
            "clEnqueueReadBuffer",
        )


def main():
    """Computes, compares, prints."""
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 100000
    try:
        device = OpenCl()
    except OSError as reason:
        print(f"skipped: {reason}")
        return SKIPPED
    x = array.array("f", (i % 3 - 1 for i in range(n)))
    y = array.array("f", (i % 5 - 2 for i in range(n)))
    result = array.array("f", [0])
    device_result = device.upload(result)

    launcher = kiln.Launcher("opencl", device.queue)
    problem = f"op=dot n={n}"
    config, reason = launcher.select("reduce", problem)
    print(f"reduce: {config}\n  {reason}")
    dot = launcher.prepare("reduce", problem)
    arguments = dot.bind(
        kiln.memory("in", device.upload(x), 4 * n, "f32"),
        kiln.memory("other", device.upload(y), 4 * n, "f32"),
        kiln.memory("out", device_result, 4, "f32"),
    )
    for _ in range(TIMES):
        dot.launch(device.queue, arguments)
    device.download(device_result, result)

    expected = sum(a * b for a, b in zip(x, y))
    print(f"dot product, {TIMES} times: {result[0]:g} (expected {expected:g})")
    try:
        dot.launch(device.queue, dot.bind(kiln.memory("in", device_result, 4)))
    except kiln.KilnError as error:
        print(f"a launch without arguments: {error}")
    else:
        return 1
    return 0 if result[0] == expected else 1


if __name__ == "__main__":
    sys.exit(main())
