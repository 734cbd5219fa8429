"""Which stream or queue a call goes to: the one that is named, else the current one of the library
whose arrays are passed.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import sys
from typing import Any, Callable, Iterable, Optional

from ._arrays import Array, Place
from .errors import ArgumentError

# Kiln's null queue is the launcher's own; CUDA's and HIP's default stream has this number there.
LEGACY_DEFAULT = 1


def null_of(place: Place) -> int:
    """What the stream 0 stands for: CUDA's and HIP's legacy default stream; OpenCL has none, there
    it is the launcher's own queue."""
    return 0 if place.backend == "opencl" else LEGACY_DEFAULT


def handle_of(stream: Any, null: int = LEGACY_DEFAULT) -> int:
    """The number of a stream: of torch, CuPy, pyopencl, an object with __cuda_stream__(), or a
    number; `null` instead of 0. Raises ArgumentError."""
    if isinstance(stream, int) and not isinstance(stream, bool):
        return stream or null
    for attribute in ("cuda_stream", "int_ptr", "ptr"):
        handle = getattr(stream, attribute, None)
        if isinstance(handle, int):
            return handle or null
    protocol = getattr(stream, "__cuda_stream__", None)
    if callable(protocol):
        return int(protocol()[1]) or null
    raise ArgumentError(
        f"stream is a {type(stream).__name__}; expected a stream of torch or CuPy, a pyopencl "
        "queue, or its address"
    )


def cl_device_of(queue: Any) -> Optional[int]:
    """Address of the cl_device of a pyopencl queue; None of anything else."""
    device: Optional[int] = getattr(getattr(queue, "device", None), "int_ptr", None)
    return device


def _torch_stream(ordinal: int) -> Callable[[], int]:
    torch = sys.modules["torch"]
    raw = getattr(torch._C, "_cuda_getCurrentRawStream", None)  # pylint: disable=protected-access
    if raw is not None:
        return lambda: raw(ordinal) or LEGACY_DEFAULT
    return lambda: torch.cuda.current_stream(ordinal).cuda_stream or LEGACY_DEFAULT


def _cupy_stream(ordinal: int) -> Callable[[], int]:
    stream = sys.modules["cupy"].cuda.get_current_stream
    # CuPy has a current stream for each device; the older ones take no device.
    try:
        stream(ordinal)
    except TypeError:
        return lambda: stream().ptr or LEGACY_DEFAULT
    return lambda: stream(ordinal).ptr or LEGACY_DEFAULT


def current(what: str, place: Place, arrays: Iterable[Array]) -> Callable[[], int]:
    """A function that returns the current stream for a call with these arrays.

    torch goes before CuPy. Arrays of pyopencl have a queue, other CUDA arrays may name a stream in
    __cuda_array_interface__. Raises ArgumentError if nobody names one."""
    arrays = list(arrays)
    libraries = {array.library for array in arrays}
    if "torch" in libraries:
        return _torch_stream(place.device)
    if "cupy" in libraries:
        return _cupy_stream(place.device)
    named: Optional[int] = next((a.stream for a in arrays if a.stream), None)
    if named is not None:
        return lambda: named
    if place.backend == "opencl":
        raise ArgumentError(f"{what}: no array has a queue; pass stream= with a pyopencl queue")
    raise ArgumentError(f"{what}: no array names its stream; pass stream=")
