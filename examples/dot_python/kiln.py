"""Kiln's C interface for Python: ctypes and the standard library only.

A class for what kiln.h calls kiln_launcher and kiln_kernel; every failure is a KilnError with the text of
kiln_last_error(). Device memory is the program's own: pass a cl_mem or a device address as an integer.
SPDX-License-Identifier: Apache-2.0
"""

import ctypes
import os
from ctypes import POINTER, Structure, byref, c_char_p, c_double, c_int32, c_int64, c_size_t, c_void_p

_library = ctypes.CDLL(os.environ.get("KILN_LIBRARY", "libkiln.so.0"))
_ABI_VERSION = 1
_MEMORY, _INTEGER, _FLOATING, _UNSIGNED = 0, 1, 2, 3
TUNE_NEVER, TUNE_BACKGROUND, TUNE_FIRST_USE = 0, 1, 2


class KilnError(Exception):
    """What a call of Kiln answered; `status` is one of the numbers in kiln.h."""

    def __init__(self, status):
        super().__init__(_library.kiln_last_error().decode())
        self.status = status


class _Options(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("backend", c_char_p),
        ("ordinal", c_int32),
        ("use_native", c_int32),
        ("context", c_void_p),
        ("device", c_void_p),
        ("queue", c_void_p),
        ("database", c_char_p),
        ("kernel_path", c_char_p),
        ("cache_folder", c_char_p),
        ("lock", c_char_p),
        ("record_requests", c_char_p),
        ("tune_on_miss", c_int32),
        ("caller_workspace", c_int32),
        ("tune_seconds", c_double),
        ("tune_budget_seconds", c_double),
        ("tuner", c_char_p),
        ("no_shipped", c_int32),
        ("reserved", c_int32),
    ]


class _Argument(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("kind", c_int32),
        ("memory", c_void_p),
        ("bytes", c_size_t),
        ("offset", c_size_t),
        ("dtype", c_char_p),
        ("integer", c_int64),
        ("floating", c_double),
    ]


class _Match(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("grade", c_int32),
        ("stale", c_int32),
        ("distance", c_double),
        ("config", ctypes.c_char * 512),
        ("reason", ctypes.c_char * 512),
    ]


_library.kiln_last_error.restype = c_char_p
_library.kiln_open.argtypes = [POINTER(_Options), POINTER(c_void_p)]
_library.kiln_close.argtypes = [c_void_p]
_library.kiln_close.restype = None
_library.kiln_select.argtypes = [c_void_p, c_char_p, c_char_p, POINTER(_Match)]
_library.kiln_prepare.argtypes = [c_void_p, c_char_p, c_char_p, POINTER(c_void_p)]
_library.kiln_kernel_release.argtypes = [c_void_p]
_library.kiln_kernel_release.restype = None
_library.kiln_launch.argtypes = [c_void_p, c_void_p, POINTER(_Argument), c_size_t]
if _library.kiln_abi_version() != _ABI_VERSION:
    raise ImportError("libkiln.so has another version of the C interface")


def _check(status):
    if status != 0:
        raise KilnError(status)


def memory(name, handle, size, dtype=None):
    """An argument in device memory of `size` bytes."""
    return _Argument(
        name=name.encode(), kind=_MEMORY, memory=handle, bytes=size, dtype=dtype and dtype.encode()
    )


def scalar(name, value):
    """A number passed by value."""
    if isinstance(value, int):
        if not -(2**63) <= value < 2**64:
            raise OverflowError(f"argument '{name}': {value} does not fit into 64 bits")
        kind = _INTEGER if value < 2**63 else _UNSIGNED  # ctypes keeps the bits
        return _Argument(name=name.encode(), kind=kind, integer=value)
    return _Argument(name=name.encode(), kind=_FLOATING, floating=value)


class Kernel:
    """A kernel ready to launch for one problem."""

    def __init__(self, handle):
        self._handle = handle

    def bind(self, *arguments):
        """The arguments as launch() takes them: made once for many launches."""
        return (_Argument * len(arguments))(*arguments)

    def launch(self, queue, arguments):
        """Puts the kernel on `queue` and returns at once."""
        _check(_library.kiln_launch(self._handle, queue, arguments, len(arguments)))

    def __del__(self):
        _library.kiln_kernel_release(self._handle)


class Launcher:
    """Kiln on the program's own queue."""

    def __init__(
        self,
        backend,
        queue,
        database=None,
        shipped=True,
        lock=None,
        tune_on_miss=TUNE_NEVER,
        tune_seconds=0,
        kernel_path=None,
    ):
        """`database`: a file of `kiln tune`; None: the default places. `shipped`: whether the rows that
        are part of Kiln answer after it. `lock`: a file of `kiln db lock`. `tune_on_miss`: whether
        `kiln` tunes what is not known. `kernel_path`: the folder of a kernel of your own."""
        options = _Options(
            size=ctypes.sizeof(_Options),
            backend=backend.encode(),
            use_native=1,
            queue=queue,
            database=database and database.encode(),
            kernel_path=kernel_path and kernel_path.encode(),
            no_shipped=not shipped,
            lock=lock and lock.encode(),
            tune_on_miss=tune_on_miss,
            tune_seconds=tune_seconds,
        )
        self._handle = c_void_p()
        _check(_library.kiln_open(byref(options), byref(self._handle)))

    def select(self, kernel, problem):
        """Which config would run, and why."""
        match = _Match(size=ctypes.sizeof(_Match))
        _check(_library.kiln_select(self._handle, kernel.encode(), problem.encode(), byref(match)))
        return match.config.decode(), match.reason.decode()

    def prepare(self, kernel, problem):
        """The kernel, compiled or taken from the cache."""
        handle = c_void_p()
        _check(
            _library.kiln_prepare(self._handle, kernel.encode(), problem.encode(), byref(handle))
        )
        return Kernel(handle)

    def __del__(self):
        _library.kiln_close(self._handle)
