"""Tuned kernels on the caller's arrays: Launcher chooses, Prepared checks and launches, Call repeats.

Takes for granted that arrays stay alive until the device is done with them, as with any
asynchronous call. Handles may be used from many threads; one Call from one thread at a time.
SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import ctypes
import os
import pathlib
import re
import threading
import warnings
from ctypes import byref, c_void_p
from typing import Any, Callable, Dict, Iterable, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

from . import _arrays, _fast, _library, _problem, _program, _streams
from ._arrays import Array, Place
from .errors import (
    ArgumentError,
    DeviceMismatchError,
    DtypeError,
    KilnWarning,
    LayoutError,
    ShapeError,
)

# The values of options, each with its number in the C interface.
CHOICES = {
    "tune_on_miss": ("never", "background", "first_use"),
    "timing": ("automatic", "eager", "graph"),
    "untuned": ("wait", "ready", "race"),
}
PathLike = Union[str, "os.PathLike[str]"]


def check_choices(**options: str) -> None:
    """Raises ArgumentError for a value that an option does not have."""
    for name, value in options.items():
        *others, last = CHOICES[name]
        if value not in CHOICES[name]:
            raise ArgumentError(f"{name} is '{value}'; expected {', '.join(others)} or {last}")


class Match(NamedTuple):
    """Which config a lookup chose."""

    config: str  #: variant:tunable=value,...
    grade: str  #: exact, near_size, same_arch, same_vendor or default
    reason: str  #: one sentence
    distance: float  #: between the problem and the tuned one, in log2 units
    stale: bool  #: tuned under another driver, compiler or source


class Parameter(NamedTuple):
    """An argument that a kernel takes for one problem."""

    name: str
    dtype: str  #: "f32"
    shape: Optional[Tuple[int, ...]]  #: elements, slowest first; None: a number passed by value
    size: int  #: bytes of the memory; 0 of a number

    def __str__(self) -> str:
        if self.shape is None:
            return f"{self.dtype} {self.name}"
        return self.dtype + "".join(f"[{extent}]" for extent in self.shape) + f" {self.name}"


class _Handle:
    """Owns what the C interface opened."""

    def __init__(self, close: Callable[[c_void_p], None], keep: Any = None) -> None:
        self.value = c_void_p()
        self._close = close
        self.keep = keep  # what must outlive it

    def __del__(self) -> None:
        if self.value:
            self._close(self.value)


def _encode(text: Optional[PathLike]) -> Optional[bytes]:
    return None if text is None else os.fsencode(text)


class Launcher:
    """Chooses, compiles and launches kernels on one device. Reads its databases once, when opened.

    `device`: "cuda", "cuda:1", "hip", "opencl:0", a pyopencl queue, or None: the first backend that
    has a device. On CUDA and HIP it is the device's primary context, which torch and CuPy use.
    `database`: file of `kiln tune`; None: the default places. `shipped`: whether the rows that are
    part of Kiln answer after it. `kernel_path`: folder of a kernel of your own. `lock`: file of
    `kiln db lock`. `cache`: folder of compiled kernels. `tune_on_miss`: "never", "background" or
    "first_use", each session for `tune_seconds`. `timing`: whose rows come first, those timed
    "eager" or in a "graph"; "automatic": by each launch, whether its stream is being captured.
    `untuned`: what happens for a problem that nobody tuned: "wait" for the compiler, run what is
    "ready" until the chosen config is compiled, or "race": then configs take turns on your calls.
    `statistics`: file for the calls that `kiln coverage` weighs, or "1" to print a line at exit.

    Raises NoDeviceError, or DriverMissingError if the driver's library is not there. An unusable
    database is a KilnWarning; kernels then run with the next best config."""

    def __init__(
        self,
        device: Any = None,
        *,
        database: Optional[PathLike] = None,
        shipped: bool = True,
        kernel_path: Optional[PathLike] = None,
        lock: Optional[PathLike] = None,
        cache: Optional[PathLike] = None,
        tune_on_miss: str = "never",
        tune_seconds: float = 0,
        timing: str = "automatic",
        untuned: str = "wait",
        statistics: Optional[PathLike] = None,
    ) -> None:
        check_choices(tune_on_miss=tune_on_miss, timing=timing, untuned=untuned)
        library = _library.load()
        options = _library.Options(
            size=ctypes.sizeof(_library.Options),
            database=_encode(database),
            kernel_path=_encode(kernel_path),
            lock=_encode(lock),
            cache_folder=_encode(cache),
            no_shipped=not shipped,
            tune_on_miss=CHOICES["tune_on_miss"].index(tune_on_miss),
            tune_seconds=tune_seconds,
            timing=CHOICES["timing"].index(timing),
            statistics=_encode(statistics),
            untuned=CHOICES["untuned"].index(untuned),
        )
        if tune_on_miss != "never":
            options.tuner = _encode(_program.path())
        self.place = _choose_device(options, device)
        #: Of a pyopencl queue: a context may have several devices.
        self.cl_device = _streams.cl_device_of(device)
        #: Whether a later kernel_for() may find a better config for the same problem.
        self.tunes = tune_on_miss != "never"
        #: What kernel_for() has prepared, by name and problem.
        self.kernels: Dict[Tuple[Any, ...], Prepared] = {}
        self._handle = _Handle(library.kiln_close, keep=device)
        _library.check(library.kiln_open(byref(options), byref(self._handle.value)))
        self._told = 0  # of its warnings
        self._tell(told_of_database=database is not None)

    def _tell(self, told_of_database: bool = True) -> None:
        """Warns the caller's caller of what the launcher has to tell since the last time."""
        library = _library.load()
        while self._told < library.kiln_warning_count(self._handle.value):
            text = library.kiln_warning(self._handle.value, self._told).decode(errors="replace")
            self._told += 1
            if told_of_database or "no such database" not in text:
                warnings.warn(text, KilnWarning, stacklevel=3)

    def __repr__(self) -> str:
        return f"<kiln.Launcher on {self.place.backend if self.place else 'the default device'}>"

    def select(self, kernel: str, **problem: _problem.Value) -> Match:
        """Which config would run for a problem, without preparing it."""
        match = _library.Match(size=ctypes.sizeof(_library.Match))
        _library.check(
            _library.load().kiln_select(
                self._handle.value,
                kernel.encode(),
                _problem.text_of(problem).encode(),
                byref(match),
            )
        )
        return Match(
            config=match.config.decode(errors="replace"),
            grade=_library.GRADES[match.grade],
            reason=match.reason.decode(errors="replace"),
            distance=match.distance,
            stale=bool(match.stale),
        )

    def prepare(self, kernel: str, **problem: _problem.Value) -> Prepared:
        """The kernel for a problem: chosen, compiled or taken from the cache, and loaded.

        Raises ProblemError, NoConfigError, CompileError or DeviceFault."""
        text = _problem.text_of(problem)
        library = _library.load()
        handle = _Handle(library.kiln_kernel_release, keep=self._handle)
        _library.check(
            library.kiln_prepare(
                self._handle.value, kernel.encode(), text.encode(), byref(handle.value)
            )
        )
        self._tell()
        return Prepared(self.place, self.cl_device, kernel, text, handle)

    def forget_stream(self, stream: Any) -> None:
        """Releases what kernels keep for a stream or queue that will be destroyed. Wait for it
        before."""
        _library.check(
            _library.load().kiln_forget_queue(self._handle.value, _streams.handle_of(stream))
        )

    def wait_for_tuning(self, seconds: float) -> None:
        """Waits until no problem waits to be tuned, for at most `seconds`."""
        _library.check(_library.load().kiln_wait_for_tuning(self._handle.value, seconds))
        self._tell()


def _choose_device(options: _library.Options, device: Any) -> Optional[Place]:
    """Fills in the device; returns its place, None where it is not known."""
    if device is None:
        return None
    if not isinstance(device, str):
        if _arrays.library_of(device) != "pyopencl":
            raise ArgumentError(
                f"device is a {type(device).__name__}; expected a text like 'cuda:0' or a "
                "pyopencl queue"
            )
        options.backend, options.use_native = b"opencl", 1
        options.queue = device.int_ptr
        return Place("opencl", device.context.int_ptr)
    backend, _, ordinal = device.partition(":")
    if backend not in ("cuda", "hip", "opencl") or not re.fullmatch(r"\d*", ordinal):
        raise ArgumentError(
            f"device '{device}' is not like 'cuda', 'cuda:0', 'hip:0' or 'opencl:0'"
        )
    options.backend, options.ordinal = backend.encode(), int(ordinal or 0)
    return None if backend == "opencl" else Place(backend, int(ordinal or 0))


class Prepared:
    """A kernel that is ready for one problem. Made by Launcher.prepare()."""

    def __init__(
        self,
        place: Optional[Place],
        cl_device: Optional[int],
        name: str,
        problem: str,
        handle: _Handle,
    ) -> None:
        self.place = place  # of its launcher, as cl_device; None where it is not known
        self.cl_device = cl_device
        self.name = name
        self.problem = problem
        self.handle = handle
        self._parameters: Optional[Dict[str, Parameter]] = None

    def __repr__(self) -> str:
        return f"<kiln.Prepared {self.name} {self.problem}>"

    @property
    def parameters(self) -> Dict[str, Parameter]:
        """What the kernel takes, by name, in the order of the spec."""
        if self._parameters is None:
            self._parameters = _parameters_of(self)
        return self._parameters

    def bind(self, *, stream: Any = None, **arguments: Any) -> Call:
        """Checks arrays and numbers against the spec and returns a call that repeats cheaply.

        `stream`: a stream of torch or CuPy, a pyopencl queue, or an address; None: the one that is
        current for the arrays' library at each call. Raises a subclass of ArgumentError that names
        the argument."""
        parameters = self.parameters
        arrays: Dict[str, Array] = {}
        numbers: Dict[str, Union[int, float]] = {}
        for name, value in arguments.items():
            what = f"{self.name}: argument '{name}'"
            parameter = parameters.get(name)
            if parameter is None:
                raise ArgumentError(
                    f"{self.name}: there is no argument '{name}'; it takes {', '.join(parameters)}"
                )
            if parameter.shape is None:
                numbers[name] = number(what, value)
            else:
                array = value if isinstance(value, Array) else _arrays.describe(what, value)
                _check(what, array, parameter)
                arrays[name] = array
        missing = [parameter for name, parameter in parameters.items() if name not in arguments]
        if missing:
            raise ArgumentError(
                f"{self.name}: argument '{missing[0].name}' is missing ({missing[0]})"
            )
        self._check_places(arrays)
        if not self.runs_on(queue_among(arrays.values()) if stream is None else stream):
            raise DeviceMismatchError(
                f"{self.name}: the queue is on another device of its context than the launcher"
            )
        return Call(self, arrays, numbers, stream)

    def _check_places(self, arrays: Dict[str, Array]) -> None:
        place = self.place
        owner = "the launcher"
        for name, array in arrays.items():
            if place is None:
                place, owner = array.place, f"'{name}'"
            elif array.place != place:
                raise DeviceMismatchError(
                    f"{self.name}: argument '{name}' is on {array.place}, {owner} on {place}"
                )

    def runs_on(self, queue: Any) -> bool:
        """Whether it may be launched on a queue: not on one of another device of the same OpenCL
        context. What is no pyopencl queue is not looked at."""
        device = None if self.cl_device is None else _streams.cl_device_of(queue)
        return device is None or device == self.cl_device

    def __call__(self, *, stream: Any = None, **arguments: Any) -> None:
        """Checks the arguments and puts the kernel on the stream; returns at once."""
        self.bind(stream=stream, **arguments)()


def number(what: str, value: Any) -> Union[int, float]:
    if hasattr(value, "__index__"):
        whole = int(value.__index__())
        if not -(2**63) <= whole < 2**64:
            raise ArgumentError(f"{what}: {whole} does not fit into 64 bits")
        return whole
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ArgumentError(f"{what} is a number; a {type(value).__name__} was given") from None


def _check(what: str, array: Array, parameter: Parameter) -> None:
    if array.dtype is not None and array.dtype != parameter.dtype:
        raise DtypeError(f"{what} holds {parameter.dtype}, an array of {array.dtype} was given")
    shape = parameter.shape or ()
    if array.shape is not None and _squeezed(array.shape) != _squeezed(shape):
        raise ShapeError(f"{what} has shape {list(array.shape)}; the problem needs {list(shape)}")
    if array.shape is None and array.size < parameter.size:
        raise ShapeError(
            f"{what} has {array.size} bytes; the problem needs {parameter.size} ({parameter})"
        )
    check_dense(what, array)


def check_dense(what: str, array: Array) -> None:
    """Raises LayoutError for an array that is not dense and row-major."""
    if not array.is_dense:
        raise LayoutError(
            f"{what} is not contiguous: shape {list(array.shape or ())}, strides "
            f"{list(array.strides or ())}; it must be dense and row-major"
        )


def _squeezed(shape: Sequence[int]) -> List[int]:
    return [extent for extent in shape if extent != 1]


# The C interface has no list of arguments, but its errors name them: an empty launch fails before
# anything runs and says what the kernel takes; memory of no bytes, what each must be.
def _parameters_of(kernel: Prepared) -> Dict[str, Parameter]:
    takes = re.search(r"; it takes (.+)$", _failure(kernel, None))
    names = takes.group(1).split(", ") if takes else []
    return {name: _parameter_of(kernel, name) for name in names}


def _failure(kernel: Prepared, argument: Optional[_library.Argument]) -> str:
    library = _library.load()
    count = 0 if argument is None else 1
    at = None if argument is None else byref(argument)
    status = library.kiln_launch(kernel.handle.value, None, at, count)
    if status != 5:
        _library.check(status)
        raise AssertionError("a launch without arguments was accepted")
    return _library.last_error()


def _parameter_of(kernel: Prepared, name: str) -> Parameter:
    text = _failure(kernel, _library.Argument(name=name.encode(), kind=_library.MEMORY))
    memory = re.search(r"needs (\d+) bytes \((\w+?)((?:\[\d+\])*)\),", text)
    if memory:
        shape = tuple(int(extent) for extent in re.findall(r"\d+", memory.group(3)))
        return Parameter(name, memory.group(2), shape, int(memory.group(1)))
    number = re.search(r"is a number \((\w+)\)", text)
    if number:
        return Parameter(name, number.group(1), None, 0)
    raise AssertionError(f"what '{name}' is cannot be read from: {text}")


class Call:
    """A kernel with checked arguments. Calling it puts it on the stream again and returns at once.

    Holds references to its arrays. Not for several threads at once. `result` is what a function like
    kiln.matmul() would return."""

    def __init__(
        self,
        kernel: Prepared,
        arrays: Dict[str, Array],
        numbers: Dict[str, Union[int, float]],
        stream: Any = None,
        result: Any = None,
    ) -> None:
        self.kernel = kernel
        self.result = result
        self._arrays = arrays
        self._numbers = numbers
        first = next(iter(arrays.values()))
        self._null = _streams.null_of(first.place)
        if stream is None:
            self._current = _streams.current(kernel.name, first.place, arrays.values())
        else:
            handle = _streams.handle_of(stream, self._null)
            self._current = lambda: handle
        self._keep = (stream, [array.source for array in arrays.values()])
        self._laid_out = _fast.laid_out(arrays, numbers)
        self._launch = _fast.launch_of(kernel.handle.value.value or 0, self._laid_out, len(arrays))

    def __repr__(self) -> str:
        return f"<kiln.Call of {self.kernel!r} with {', '.join([*self._arrays, *self._numbers])}>"

    def __call__(self, stream: Optional[int] = None) -> Any:
        """Launches on `stream`, an address; None: the stream that bind() was given, else the one
        that is current now; 0: CUDA's and HIP's default stream. Returns `result`."""
        status = self._launch(self._current() if stream is None else stream or self._null)
        if status:
            _library.check(status)
        return self.result

    def at(self, *addresses: int, stream: Optional[int] = None) -> None:
        """Launches with other memory: one address for each array of `names`, in that order.

        Nothing is checked but alignment: the memory must have the size and type of the first."""
        handle = self._current() if stream is None else stream or self._null
        status = self._launch(handle, *addresses)
        if status:
            _library.check(status)

    def set_numbers(self, numbers: Iterable[Union[int, float]]) -> None:
        """Replaces the numbers, in the order of bind()."""
        for place, value in zip(self._laid_out[len(self._arrays) :], numbers):
            _fast.put(place, value)

    def without_arrays(self) -> Call:
        """Lets go of its arrays: from now on only at() may be used. Returns itself."""
        self.result = None
        self._keep = (self._keep[0], [])
        self._arrays = {
            name: array._replace(source=getattr(array.source, "queue", None))
            for name, array in self._arrays.items()
        }
        return self

    @property
    def names(self) -> List[str]:
        """Names of the arrays, in the order that at() takes their addresses."""
        return list(self._arrays)


_mutex = threading.Lock()
_launchers: Dict[Tuple[Any, ...], Launcher] = {}
MOST_KERNELS = 1000  # of one launcher; as many as the library keeps
generation = 0  # how often reload() was called


def launcher_of(
    first: Array, stream: Any, folder: Optional[pathlib.Path], options: Mapping[str, Any]
) -> Launcher:
    """The launcher of the package for a call with this array, opened by the first one. `folder`,
    `options`: of a kernel of one's own."""
    place, queue = first.place, queue_of([first], stream)
    key = (place, _streams.cl_device_of(queue), folder, *options.values())
    with _mutex:
        known = _launchers.get(key)
        if known is None:
            device = queue if place.backend == "opencl" else f"{place.backend}:{place.device}"
            known = Launcher(device, kernel_path=folder, **options)
            _launchers[key] = known
        return known


def kernel_for(launcher: Launcher, name: str, problem: Dict[str, _problem.Value]) -> Prepared:
    """The kernel for a problem; prepared by the first call, by each call of a launcher that tunes."""
    if launcher.tunes:
        return launcher.prepare(name, **problem)
    kernels = launcher.kernels
    key = (name, *problem.items())
    known = kernels.get(key)
    if known is None:
        known = launcher.prepare(name, **problem)
        with _mutex:
            while len(kernels) >= MOST_KERNELS:
                kernels.pop(next(iter(kernels)))
            kernels[key] = known
    return known


def reload() -> None:
    """Closes the package's launchers: the next call reads the databases again. tune() and sweep()
    do so."""
    global generation  # pylint: disable=global-statement
    with _mutex:
        generation += 1
        _launchers.clear()


def queue_of(arrays: Sequence[Array], stream: Any) -> Any:
    """The pyopencl queue that a launcher can be opened on; None for other backends."""
    if arrays[0].place.backend != "opencl":
        return None
    if stream is not None and hasattr(stream, "context"):
        return stream
    queue = queue_among(arrays)
    if queue is None:
        raise ArgumentError("no array has a queue; pass stream= with a pyopencl queue")
    return queue


def queue_among(arrays: Iterable[Array]) -> Any:
    """The queue of the first array that has one; None where none has."""
    queues = (getattr(array.source, "queue", None) for array in arrays)
    return next((queue for queue in queues if queue is not None), None)


def device_of(arrays: Sequence[Array]) -> str:
    """The device of arrays, as `kiln devices` names it."""
    place = arrays[0].place
    if place.backend != "opencl":
        return f"{place.backend}:{place.device}"
    import pyopencl  # pylint: disable=import-outside-toplevel

    wanted = _streams.cl_device_of(queue_of(arrays, None))
    platforms = pyopencl.get_platforms()
    devices = [device.int_ptr for platform in platforms for device in platform.get_devices()]
    if wanted not in devices:
        raise ArgumentError("tune: the queue is on a part of a device; pass device=, as in 'opencl:0'")
    return f"opencl:{devices.index(wanted)}"
