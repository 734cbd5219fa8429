"""A bound launch: one call of the C interface with arguments that are laid out already.

_native, a stable-ABI module for Python 3.12 and later, does it where it is there; ctypes elsewhere.
SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import ctypes
import os
import sys
from typing import Any, Callable, Mapping, Union

from . import _library
from ._arrays import Array

try:
    if os.environ.get("KILN_PURE_PYTHON"):
        raise ImportError("KILN_PURE_PYTHON is set")
    if sys.version_info < (3, 12):
        raise ImportError("the module needs the stable ABI of Python 3.12")
    from . import _native  # type: ignore[attr-defined]
except ImportError:
    _native = None

#: Whether the compiled module is in use.
IS_NATIVE: bool = _native is not None

Launch = Callable[..., int]


def put(place: _library.Argument, value: Union[int, float]) -> None:
    """Writes a number into an argument."""
    if isinstance(value, float):
        place.kind = _library.FLOATING
        place.floating = value
    else:
        place.kind = _library.INTEGER if value < 2**63 else _library.UNSIGNED
        place.integer = value if value < 2**63 else value - 2**64


def laid_out(
    arrays: Mapping[str, Array], numbers: Mapping[str, Union[int, float]]
) -> "ctypes.Array[_library.Argument]":
    """The arguments of a launch: arrays, then numbers."""
    arguments = (_library.Argument * (len(arrays) + len(numbers)))()
    for place, (name, array) in zip(arguments, arrays.items()):
        place.name = name.encode()
        place.kind = _library.MEMORY
        place.memory = array.address
        place.bytes = array.size
        place.offset = array.offset
    for place, (name, value) in zip(arguments[len(arrays) :], numbers.items()):
        place.name = name.encode()
        put(place, value)
    return arguments


def launch_of(kernel: int, arguments: "ctypes.Array[_library.Argument]", arrays: int) -> Launch:
    """launch(stream, *addresses) -> kiln_status. `kernel`: address of a kiln_kernel, which the
    caller keeps alive. Without addresses those that are laid out are used; the first `arrays`
    arguments have some."""
    count = len(arguments)
    if _native is not None:
        function = ctypes.cast(_library.load().kiln_launch, ctypes.c_void_p).value
        return _native.Launch(function, kernel, ctypes.addressof(arguments), count, arguments)
    entry = _library.load().kiln_launch
    at = ctypes.addressof(arguments)

    def launch(stream: int, *addresses: Any) -> int:
        if addresses:
            if len(addresses) != arrays:
                raise TypeError(f"{arrays} addresses are needed, {len(addresses)} were given")
            for place, address in zip(arguments, addresses):
                place.memory = address
        return entry(kernel, stream, at, count)

    launch.keep = arguments  # type: ignore[attr-defined]
    return launch
