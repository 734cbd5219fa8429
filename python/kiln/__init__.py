"""Kiln: finds the fastest GPU kernel for your device and problem, and runs it on your arrays.

    session = kiln.tune("matmul", m=512, n=512, k=512, seconds=20)    # in processes of its own
    c = kiln.matmul(a, b)                                             # on your stream

docs/python.md is the guide. SPDX-License-Identifier: Apache-2.0
"""

from ._blas import accelerate
from .calls import bind, convolve, histogram, matmul, reduce, transpose
from .database import Database, Session
from .errors import (
    ArgumentError,
    CompileError,
    DatabaseError,
    DeviceFault,
    DeviceMismatchError,
    DriverMissingError,
    DtypeError,
    HostArrayError,
    InternalError,
    Interrupted,
    KilnError,
    KilnWarning,
    LayoutError,
    LibraryMissingError,
    NoConfigError,
    NoDeviceError,
    OutOfDeviceMemoryError,
    ProblemError,
    ShapeError,
)
from .launcher import Call, Kernel, Launcher, Match, Parameter, prepare, reload
from .rows import layer_norm, log_softmax, rms_norm, scan, softmax
from .source import write_kernel
from .tuning import Best, Sweep, best, check, sweep, tune
from .tuning import open_database as open  # pylint: disable=redefined-builtin

__version__ = "0.2.0"

__all__ = [
    "ArgumentError", "Best", "Call", "CompileError", "Database", "DatabaseError", "DeviceFault",
    "DeviceMismatchError", "DriverMissingError", "DtypeError", "HostArrayError", "InternalError",
    "Interrupted", "Kernel", "KilnError", "KilnWarning", "Launcher", "LayoutError",
    "LibraryMissingError", "Match", "NoConfigError", "NoDeviceError", "OutOfDeviceMemoryError",
    "Parameter", "ProblemError", "Session", "ShapeError", "Sweep", "accelerate", "best", "bind", "check",
    "convolve", "histogram", "layer_norm", "log_softmax", "matmul", "open", "prepare", "reduce", "reload",
    "rms_norm", "scan", "softmax", "sweep", "transpose", "tune", "write_kernel",
]  # fmt: skip
