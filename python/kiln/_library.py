"""libkiln.so through ctypes: the structures and functions of kiln.h, and its errors as exceptions.

Takes for granted that the library has version 1 of the C interface.
SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import ctypes
import os
import pathlib
from ctypes import POINTER, Structure, c_char_p, c_double, c_int32, c_int64, c_size_t, c_void_p
from typing import Dict, Optional, Type

from . import errors

ABI_VERSION = 1
MEMORY, INTEGER, FLOATING, UNSIGNED = 0, 1, 2, 3
GRADES = ("exact", "near_size", "same_arch", "same_vendor", "default")
FOLDER = pathlib.Path(__file__).parent / "_lib"

_BAD_ARGUMENT = 5
_NO_DEVICE = 3
_ERRORS: Dict[int, Type[errors.KilnError]] = {
    1: errors.ProblemError,
    2: errors.ProblemError,
    _NO_DEVICE: errors.NoDeviceError,
    4: errors.NoConfigError,
    _BAD_ARGUMENT: errors.ArgumentError,
    6: errors.CompileError,
    7: errors.DeviceFault,
    8: errors.OutOfDeviceMemoryError,
    9: errors.ArgumentError,
    10: errors.InternalError,
}


class Options(Structure):
    """kiln_options."""

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
        ("unused", c_char_p),
        ("tune_on_miss", c_int32),
        ("caller_workspace", c_int32),
        ("tune_seconds", c_double),
        ("tune_budget_seconds", c_double),
        ("tuner", c_char_p),
        ("no_shipped", c_int32),
        ("timing", c_int32),
        ("statistics", c_char_p),
        ("untuned", c_int32),
        ("reserved", c_int32),
    ]


class Argument(Structure):
    """kiln_argument."""

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


class Match(Structure):
    """kiln_match."""

    _fields_ = [
        ("size", c_size_t),
        ("grade", c_int32),
        ("stale", c_int32),
        ("distance", c_double),
        ("config", ctypes.c_char * 512),
        ("reason", ctypes.c_char * 512),
    ]


def _declare(library: ctypes.CDLL) -> None:
    library.kiln_last_error.restype = c_char_p
    library.kiln_open.argtypes = [POINTER(Options), POINTER(c_void_p)]
    library.kiln_close.argtypes = [c_void_p]
    library.kiln_close.restype = None
    library.kiln_warning_count.argtypes = [c_void_p]
    library.kiln_warning_count.restype = c_size_t
    library.kiln_warning.argtypes = [c_void_p, c_size_t]
    library.kiln_warning.restype = c_char_p
    library.kiln_select.argtypes = [c_void_p, c_char_p, c_char_p, POINTER(Match)]
    library.kiln_prepare.argtypes = [c_void_p, c_char_p, c_char_p, POINTER(c_void_p)]
    library.kiln_kernel_release.argtypes = [c_void_p]
    library.kiln_kernel_release.restype = None
    library.kiln_forget_queue.argtypes = [c_void_p, c_void_p]
    library.kiln_wait_for_tuning.argtypes = [c_void_p, c_double]
    library.kiln_launch.argtypes = [c_void_p, c_void_p, c_void_p, c_size_t]


def path() -> str:
    """Path of libkiln.so: $KILN_LIBRARY, else the package's own, else the loader's."""
    named = os.environ.get("KILN_LIBRARY")
    if named:
        return named
    own = FOLDER / "libkiln.so"
    return str(own) if own.exists() else "libkiln.so.0"


_loaded: Optional[ctypes.CDLL] = None


def load() -> ctypes.CDLL:
    """The library, loaded by the first call. Raises LibraryMissingError."""
    global _loaded  # pylint: disable=global-statement
    if _loaded is None:
        try:
            library = ctypes.CDLL(path())
            version = library.kiln_abi_version()
        except (AttributeError, OSError) as reason:
            raise errors.LibraryMissingError(
                f"{reason}; KILN_LIBRARY names libkiln.so where the loader does not find it"
            ) from None
        if version != ABI_VERSION:
            raise errors.LibraryMissingError(
                f"{path()} has version {version} of the C interface, expected {ABI_VERSION}"
            )
        _declare(library)
        _loaded = library
    return _loaded


def error_of(status: int, text: str) -> errors.KilnError:
    """The exception for a kiln_status and its text."""
    if status == _NO_DEVICE and "library not found" in text:
        return errors.DriverMissingError(text)
    if status == _BAD_ARGUMENT:
        if " holds " in text and "a pointer to " in text:
            return errors.DtypeError(text)
        if " needs " in text and " bytes (" in text:
            return errors.ShapeError(text)
    return _ERRORS.get(status, errors.InternalError)(text)


def last_error() -> str:
    """The text of this thread's last failed call."""
    return load().kiln_last_error().decode(errors="replace")


def check(status: int) -> None:
    """Raises the exception of a call that failed."""
    if status != 0:
        raise error_of(status, last_error())
