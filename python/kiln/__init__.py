"""Kiln: finds the fastest GPU kernel for your device and problem, and runs it on your arrays.

    session = kiln.tune("matmul", m=512, n=512, k=512, seconds=20)    # in processes of its own
    c = kiln.matmul(a, b)                                             # on your stream

docs/python.md is the guide. SPDX-License-Identifier: Apache-2.0
"""

from ._blas import accelerate
from .calls import bind, convolve, histogram, matmul, reduce, transpose
from .database import Database, Session
from .errors import *  # pylint: disable=wildcard-import
from .errors import __all__ as _errors
from .launcher import Call, Launcher, Match, Parameter, Prepared, reload
from .own import Kernel, kernel
from .rows import layer_norm, log_softmax, rms_norm, scan, softmax
from .tuning import Best, Sweep, best, check, sweep, tune
from .tuning import open_database as open  # pylint: disable=redefined-builtin

__version__ = "0.2.0"

__all__ = [
    *_errors, "Best", "Call", "Database", "Kernel", "Launcher", "Match", "Parameter", "Prepared", "Session",
    "Sweep", "accelerate", "best", "bind", "check", "convolve", "histogram", "kernel", "layer_norm",
    "log_softmax", "matmul", "open", "reduce", "reload", "rms_norm", "scan", "softmax", "sweep", "transpose",
    "tune",
]  # fmt: skip
