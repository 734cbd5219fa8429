"""What a caller passes as an array, described in one way: address, shape, element type, device.

Understands torch tensors (and what has their data_ptr()), __cuda_array_interface__, DLPack, and
pyopencl's arrays and buffers. Imports none of these libraries.
SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import ctypes
import functools
import os
import sys
from typing import Any, Callable, Dict, NamedTuple, Optional, Tuple

from .errors import ArgumentError, DtypeError, HostArrayError, LayoutError

SIZES = {
    "i8": 1,
    "u8": 1,
    "i16": 2,
    "u16": 2,
    "i32": 4,
    "u32": 4,
    "i64": 8,
    "u64": 8,
    "f16": 2,
    "bf16": 2,
    "f32": 4,
    "f64": 8,
    "e4m3": 1,
    "e5m2": 1,
    "c64": 8,
    "c128": 16,
    "bool": 1,
}

# NumPy's and torch's names of element types.
_NAMES = {
    "int8": "i8",
    "uint8": "u8",
    "int16": "i16",
    "uint16": "u16",
    "int32": "i32",
    "uint32": "u32",
    "int64": "i64",
    "uint64": "u64",
    "float16": "f16",
    "half": "f16",
    "bfloat16": "bf16",
    "float32": "f32",
    "float": "f32",
    "float64": "f64",
    "double": "f64",
    "float8_e4m3fn": "e4m3",
    "float8_e5m2": "e5m2",
    "complex64": "c64",
    "complex128": "c128",
    "bool": "bool",
}
NUMPY_NAMES: Dict[str, str] = {}
for _name, _kiln_name in _NAMES.items():
    if _name not in ("half", "float", "double"):
        NUMPY_NAMES[_kiln_name] = _name
_TYPESTR_KINDS = {"i": "i", "u": "u", "f": "f", "c": "c"}


class Place(NamedTuple):
    """Where an array is. Arrays of one call must have the same place."""

    backend: str  # "cuda", "hip", "opencl"
    device: int  # index within the backend; OpenCL: address of the cl_context

    def __str__(self) -> str:
        if self.backend == "opencl":
            return f"the OpenCL context at {self.device:#x}"
        return f"{self.backend}:{self.device}"


class Array(NamedTuple):
    """Device memory of a caller."""

    source: Any  # the caller's object
    library: str  # "torch", "cupy", "pyopencl", "": another one
    place: Place
    address: int  # device address, or the cl_mem
    offset: int  # bytes behind it; 0 but for OpenCL
    size: int  # bytes
    shape: Optional[Tuple[int, ...]]  # None: unknown (a plain buffer)
    strides: Optional[Tuple[int, ...]]  # elements; None: dense, row-major
    dtype: Optional[str]  # Kiln's name; None: unknown (a plain buffer)
    stream: Optional[int] = None  # that its producer asks for; the queue of a pyopencl array
    read_only: bool = False

    @property
    def layout(self) -> Tuple[Any, ...]:
        """All but the memory: arrays of one layout can take each other's place in a call."""
        return self._replace(source=None, address=0)

    @property
    def is_dense(self) -> bool:
        """Whether it is dense and row-major; extents of 1 may have any stride."""
        return self.strides is None or is_dense(self.shape or (), self.strides)


def is_dense(shape: Tuple[int, ...], strides: Tuple[int, ...]) -> bool:
    """Whether a shape with strides, both in elements, is dense and row-major."""
    if 0 in shape:
        return True
    expected = 1
    for extent, stride in zip(reversed(shape), reversed(strides)):
        if extent != 1 and stride != expected:
            return False
        expected *= extent
    return True


def count(shape: Tuple[int, ...]) -> int:
    """Number of elements."""
    product = 1
    for extent in shape:
        product *= extent
    return product


@functools.lru_cache(maxsize=None)
def dtype_name(dtype: Any) -> str:
    """Kiln's name of an element type of NumPy, CuPy or torch; the type's own name if there is none,
    ">f4" of big-endian numbers."""
    if getattr(dtype, "byteorder", "=") == ">":
        return str(dtype.str)
    name = getattr(dtype, "name", None) or str(dtype).rpartition(".")[2]
    return _NAMES.get(name, name)


def _dtype_of_typestr(typestr: str) -> str:
    kind, size = typestr[1], int(typestr[2:])
    if typestr[0] == ">":
        return typestr
    if kind == "b":
        return "bool"
    return f"{_TYPESTR_KINDS[kind]}{8 * size}" if kind in _TYPESTR_KINDS else typestr


def library_of(value: Any) -> str:
    """Name of the library that a value's type comes from; subclasses count as their base."""
    for base in type(value).__mro__:
        root = base.__module__.partition(".")[0]
        if root in ("torch", "cupy", "pyopencl", "numpy"):
            return root
    return ""


def _host(what: str, value: Any) -> HostArrayError:
    kind = type(value)
    return HostArrayError(
        f"{what} is in host memory ({kind.__module__}.{kind.__qualname__}); pass an array that is "
        "on a device"
    )


def describe(what: str, value: Any) -> Array:
    """The array that `value` is; `what` names it in errors ("matmul: argument 'a'").

    Raises HostArrayError for host memory, LayoutError for a lazy view of torch, and ArgumentError
    for what is no array."""
    library = library_of(value)
    if library == "pyopencl":
        return _describe_pyopencl(what, value)
    if library == "numpy" or isinstance(value, (bytes, bytearray, memoryview)):
        raise _host(what, value)
    if callable(getattr(value, "data_ptr", None)):
        return _describe_tensor(what, value)
    if hasattr(value, "__cuda_array_interface__"):
        return _describe_cuda(what, value, library)
    if hasattr(value, "__dlpack_device__"):
        return _describe_dlpack(what, value, library)
    if hasattr(value, "__array_interface__"):
        raise _host(what, value)
    raise ArgumentError(
        f"{what} is a {type(value).__name__}; expected an array with __cuda_array_interface__, "
        "DLPack or data_ptr(), or one of pyopencl"
    )


def glance(value: Any) -> Optional[Tuple[Tuple[Any, ...], int]]:
    """(all but its address, the address) of an array that was described before: arrays with equal first
    parts can take each other's place in a call. None of what has no short way."""
    kind = type(value)
    way = _glances.get(kind)
    if way is None:
        ways: Dict[str, _Glance] = {"torch": _glance_tensor, "pyopencl": _glance_pyopencl}
        way = _glances[kind] = ways.get(library_of(value), lambda _: None)
    return way(value)


_Glance = Callable[[Any], Optional[Tuple[Tuple[Any, ...], int]]]
_glances: Dict[type, _Glance] = {}


def _glance_tensor(value: Any) -> Optional[Tuple[Tuple[Any, ...], int]]:
    bits = value.is_conj(), value.is_neg()
    return (value.dtype, value.shape, value.stride(), value.device, bits), value.data_ptr()


def _glance_pyopencl(value: Any) -> Optional[Tuple[Tuple[Any, ...], int]]:
    memory = getattr(value, "base_data", None)
    if memory is None or not hasattr(memory, "int_ptr"):
        return None  # a buffer, an array of nothing, or shared virtual memory
    queue = value.queue
    where = value.context.int_ptr, None if queue is None else queue.int_ptr, value.offset
    return (value.dtype, value.shape, value.strides, where), memory.int_ptr


def _describe_tensor(what: str, value: Any) -> Array:
    kind = value.device.type
    if kind == "cpu":
        raise _host(what, value)
    if kind != "cuda":
        raise ArgumentError(f"{what} is on the device '{value.device}'; expected cuda")
    # Views of torch that note in a bit what is still to be done to the values in memory.
    for bit, resolved in (("is_conj", "resolve_conj()"), ("is_neg", "resolve_neg()")):
        has_bit = getattr(value, bit, None)
        if has_bit is not None and has_bit():
            raise LayoutError(f"{what} is a lazy view ({bit}() is true); pass its {resolved}")
    torch = sys.modules.get("torch")
    is_hip = getattr(getattr(torch, "version", None), "hip", None) is not None
    shape = tuple(value.shape)
    dtype = dtype_name(value.dtype)
    return Array(
        source=value,
        library="torch",
        place=Place("hip" if is_hip else "cuda", value.device.index or 0),
        address=value.data_ptr(),
        offset=0,
        size=count(shape) * value.element_size(),
        shape=shape,
        strides=tuple(value.stride()),
        dtype=dtype,
    )


def _describe_cuda(what: str, value: Any, library: str) -> Array:
    interface = value.__cuda_array_interface__
    if interface.get("mask") is not None:
        raise ArgumentError(f"{what} has a mask; masked arrays are not taken")
    shape = tuple(interface["shape"])
    dtype = _dtype_of_typestr(interface["typestr"])
    if dtype not in SIZES and not dtype.startswith(">"):
        dtype = dtype_name(getattr(value, "dtype", dtype))
    size = int(interface["typestr"][2:])
    strides = interface.get("strides")
    address, read_only = interface["data"]
    address = address or 0
    return Array(
        source=value,
        library=library,
        place=Place("cuda", _cuda_ordinal(what, value, address)),
        address=address,
        offset=0,
        size=count(shape) * size,
        shape=shape,
        strides=None if strides is None else tuple(stride // size for stride in strides),
        dtype=dtype,
        stream=interface.get("stream"),
        read_only=bool(read_only),
    )


def _cuda_ordinal(what: str, value: Any, address: int) -> int:
    """Index of the device: as the array says, else as the driver says."""
    if hasattr(value, "__dlpack_device__"):
        kind, ordinal = value.__dlpack_device__()
        if int(kind) in (_DL_CUDA, _DL_CUDA_MANAGED):
            return int(ordinal)
    # Behind DLPack: the id of a device of JAX counts those of all processes.
    device = getattr(value, "device", None)
    for known in (getattr(device, "id", None), getattr(device, "index", None)):
        if isinstance(known, int):
            return known
    return _driver_ordinal(what, address)


_POINTER_DEVICE_ORDINAL = 9  # of CUpointer_attribute


@functools.lru_cache(maxsize=None)
def _cuda_driver() -> Any:
    """libcuda; None where it is not there."""
    named = os.environ.get("KILN_CUDA_LIBRARY")
    for name in [named] if named else ["libcuda.so.1", "libcuda.so"]:
        try:
            return ctypes.CDLL(name)
        except OSError:
            pass
    return None


def _driver_ordinal(what: str, address: int) -> int:
    """Index of the device that memory is on. 0 where there is no memory, no driver or only one
    device; raises ArgumentError where the driver does not know."""
    driver = _cuda_driver()
    if address == 0 or driver is None:
        return 0
    ordinal, devices = ctypes.c_int(-1), ctypes.c_int(0)
    at = ctypes.c_void_p(address)
    status = driver.cuPointerGetAttribute(ctypes.byref(ordinal), _POINTER_DEVICE_ORDINAL, at)
    if status == 0 and ordinal.value >= 0:
        return ordinal.value
    if driver.cuDeviceGetCount(ctypes.byref(devices)) == 0 and devices.value > 1:
        raise ArgumentError(
            f"{what} does not say on which device it is, and the driver knows no memory at "
            f"{address:#x}"
        )
    return 0


class _DlTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


_DL_CPU, _DL_CUDA, _DL_CUDA_HOST, _DL_ROCM, _DL_CUDA_MANAGED = 1, 2, 3, 10, 13
_DL_BACKENDS = {_DL_CUDA: "cuda", _DL_CUDA_MANAGED: "cuda", _DL_ROCM: "hip"}
_DL_CODES = {0: "i", 1: "u", 2: "f", 4: "bf", 5: "c", 6: "bool"}
_get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_get_pointer.restype = ctypes.c_void_p
_get_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]


def dlpack_view(capsule: Any) -> _DlTensor:
    """The tensor inside a DLPack capsule, which stays its owner."""
    return _DlTensor.from_address(_get_pointer(capsule, b"dltensor"))


def _describe_dlpack(what: str, value: Any, library: str) -> Array:
    kind, ordinal = value.__dlpack_device__()
    kind = int(kind)
    if kind in (_DL_CPU, _DL_CUDA_HOST):
        raise _host(what, value)
    if kind not in _DL_BACKENDS:
        raise ArgumentError(f"{what} is on a DLPack device of type {kind}; expected CUDA or ROCm")
    # -1: no synchronisation; the call is put on the stream that the caller names.
    capsule = value.__dlpack__(stream=-1)
    view = dlpack_view(capsule)
    shape = tuple(view.shape[i] for i in range(view.ndim))
    strides = tuple(view.strides[i] for i in range(view.ndim)) if view.strides else None
    code = _DL_CODES.get(view.code)
    if code is None or view.lanes != 1:
        raise DtypeError(f"{what} has DLPack type {view.code} with {view.lanes} lanes")
    dtype = "bool" if code == "bool" else f"{code}{view.bits}"
    return Array(
        source=(value, capsule),
        library=library,
        place=Place(_DL_BACKENDS[kind], int(ordinal)),
        address=(view.data or 0) + view.byte_offset,
        offset=0,
        size=count(shape) * view.bits // 8,
        shape=shape,
        strides=strides,
        dtype=dtype,
    )


def _describe_pyopencl(what: str, value: Any) -> Array:
    if hasattr(value, "base_data"):  # pyopencl.array.Array
        memory = value.base_data  # None of an array without elements
        if memory is not None and not hasattr(memory, "int_ptr"):
            raise ArgumentError(f"{what} is shared virtual memory; expected a pyopencl buffer")
        size = value.dtype.itemsize
        return Array(
            source=value,
            library="pyopencl",
            place=Place("opencl", value.context.int_ptr),
            address=0 if memory is None else memory.int_ptr,
            offset=value.offset,
            size=value.size * size,
            shape=tuple(value.shape),
            strides=tuple(stride // size for stride in value.strides),
            dtype=dtype_name(value.dtype),
            stream=None if value.queue is None else value.queue.int_ptr,
        )
    if hasattr(value, "int_ptr") and hasattr(value, "size"):  # pyopencl.Buffer
        return Array(
            source=value,
            library="pyopencl",
            place=Place("opencl", value.context.int_ptr),
            address=value.int_ptr,
            offset=0,
            size=value.size,
            shape=None,
            strides=None,
            dtype=None,
        )
    raise ArgumentError(f"{what} is a {type(value).__name__}; expected a pyopencl array or buffer")


def empty_like(what: str, model: Array, shape: Tuple[int, ...], dtype: str) -> Any:
    """A new array of the model's library on its device. The content is undefined."""
    name = NUMPY_NAMES.get(dtype, dtype)
    if model.library == "torch":
        torch = sys.modules["torch"]
        return torch.empty(shape, dtype=getattr(torch, name), device=model.source.device)
    if model.library == "cupy":
        cupy = sys.modules["cupy"]
        with cupy.cuda.Device(model.place.device):
            return cupy.empty(shape, dtype=name)
    if model.library == "pyopencl" and hasattr(model.source, "queue"):
        import pyopencl.array  # pylint: disable=import-outside-toplevel

        queue = model.source.queue
        if queue is None:
            raise ArgumentError(f"{what}: its first array has no queue; pass out=")
        return pyopencl.array.empty(queue, shape, dtype=name, allocator=model.source.allocator)
    raise ArgumentError(f"{what}: pass out=; only torch, CuPy and pyopencl arrays are made here")


def to_host(array: Array) -> Any:
    """A copy as a NumPy array; waits for the device."""
    source = array.source
    if hasattr(source, "get"):  # of CuPy and pyopencl
        return source.get()
    return (source.detach() if hasattr(source, "detach") else source).cpu().numpy()
