"""The exceptions of the package: one class for each kind of mistake.

Every class but Interrupted derives from KilnError, and from the standard exception that it is a case of.
SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from typing import Any

__all__ = [
    "ArgumentError",
    "CompileError",
    "DatabaseError",
    "DeviceFault",
    "DeviceMismatchError",
    "DriverMissingError",
    "DtypeError",
    "HostArrayError",
    "InternalError",
    "Interrupted",
    "KeywordError",
    "KilnError",
    "KilnWarning",
    "LayoutError",
    "LibraryMissingError",
    "NoConfigError",
    "NoDeviceError",
    "OutOfDeviceMemoryError",
    "ProblemError",
    "ShapeError",
]


class KilnError(Exception):
    """Base of all exceptions of Kiln, except Interrupted. `session`: what was stored until then, of
    tune(); else None."""

    session: Any = None


class ArgumentError(KilnError, ValueError):
    """An argument is missing, unknown, not aligned, read-only, or not an array."""


class HostArrayError(ArgumentError, TypeError):
    """An array is in host memory: a CPU tensor, a NumPy array."""


class DtypeError(ArgumentError, TypeError):
    """An array has another element type than the kernel takes."""


class ShapeError(ArgumentError):
    """An array has another shape than the problem needs."""


class LayoutError(ArgumentError):
    """An array is not dense and row-major, or a view of torch that is conjugated or negated later."""


class DeviceMismatchError(ArgumentError):
    """The arrays or the queue of one call are on different devices or in different contexts."""


class ProblemError(KilnError, ValueError):
    """A kernel, spec, problem, config or plan is unknown or wrong."""


class KeywordError(ProblemError, TypeError):
    """A keyword is neither an option of the function nor a field of the kernel's problem."""


class NoDeviceError(KilnError, RuntimeError):
    """The device or backend is not there."""


class DriverMissingError(NoDeviceError):
    """The driver's library is not there: no libcuda, libamdhip64 or libOpenCL."""


class DatabaseError(KilnError, RuntimeError):
    """A database is missing, damaged, of another program, or being written by another process."""


class NoConfigError(KilnError, RuntimeError):
    """No config is legal for this problem and device, or tuning found none that works."""


class CompileError(KilnError, RuntimeError):
    """The kernel does not compile on this machine."""


class DeviceFault(KilnError, RuntimeError):
    """The driver refused a launch."""


class OutOfDeviceMemoryError(KilnError, MemoryError):
    """The device has no memory for the kernel's workspaces."""


class InternalError(KilnError, RuntimeError):
    """A defect of Kiln."""


class LibraryMissingError(KilnError, ImportError):
    """libkiln.so or the program `kiln` is not there, or has another interface version."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during tune() or sweep(). `result` is what the sessions found until then; the database
    keeps it, and the same call goes on where it stopped."""

    def __init__(self, message: str, result: object = None) -> None:
        super().__init__(message)
        self.result = result


class KilnWarning(UserWarning):
    """What a session warns of, and a database or cache that a launcher goes on without."""
