"""The built-in kernels as functions of arrays: arrays in, arrays out, on the current stream.

Each function takes `out`, an array for the result, and `stream`; without `out` the result is made by
the library of the first array. bind() turns a function and its arrays into a Call.
SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import functools
import pathlib
import re
import threading
from types import MappingProxyType
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Tuple, TypeVar, Union, cast

from . import _arrays, _streams, launcher
from ._arrays import Array
from .errors import ArgumentError, DeviceMismatchError, DtypeError, LayoutError, ShapeError
from .launcher import Call, Launcher, check_dense


class _Plan(NamedTuple):
    """A call before it is checked: the problem follows from the arrays."""

    kernel: str
    problem: Dict[str, Any]
    arguments: Dict[str, Any]  # those that the caller passed, in its order, before results
    result: Any
    returned: Tuple[str, ...] = ("out",)  # names of the results, as the caller may pass them
    folder: Optional[pathlib.Path] = None  # of a kernel of one's own
    options: Mapping[str, Any] = MappingProxyType({})  # of its launchers


def _describe(kernel: str, **values: Any) -> Tuple[Array, ...]:
    """The arrays, all in one place."""
    arrays = [_arrays.describe(f"{kernel}: argument '{name}'", v) for name, v in values.items()]
    for name, array in zip(values, arrays):
        if array.place != arrays[0].place:
            first = next(iter(values))
            raise DeviceMismatchError(
                f"{kernel}: argument '{name}' is on {array.place}, '{first}' on {arrays[0].place}"
            )
    return tuple(arrays)


def _shape(what: str, array: Array, ranks: Tuple[int, ...]) -> Tuple[int, ...]:
    if array.shape is None:
        raise ShapeError(f"{what} is a buffer without a shape; pass an array")
    if len(array.shape) not in ranks:
        expected = " or ".join(map(str, ranks))
        raise ShapeError(f"{what} has shape {list(array.shape)}; expected {expected} dimensions")
    return array.shape


def _target(kernel: str, out: Any) -> Array:
    """The array of the caller that a result goes to. Raises ArgumentError if it is read-only."""
    target = _arrays.describe(f"{kernel}: argument 'out'", out)
    if target.read_only:
        raise ArgumentError(f"{kernel}: argument 'out' is read-only")
    return target


def _result(kernel: str, out: Any, model: Array, shape: Tuple[int, ...], dtype: str) -> Any:
    return _arrays.empty_like(kernel, model, shape, dtype) if out is None else out


class _Matrix(NamedTuple):
    """A dense matrix or its transposed view, or a batch of them."""

    batch: Optional[int]  # None: an array of two dimensions
    rows: int
    cols: int
    transposed: bool  # as it is stored
    stride: int  # elements from one matrix to the next

    def stored(self, array: Array, batch: int) -> Array:
        """`array` as the kernel sees it for a batch of products: the stored rows of all matrices."""
        height, width = (self.cols, self.rows) if self.transposed else (self.rows, self.cols)
        gap = (batch - 1) * self.stride
        return array._replace(shape=(height - (-gap // width), width), strides=None)


def _matrix(what: str, array: Array, with_batch: bool = False) -> _Matrix:
    shape = _shape(what, array, (2, 3) if with_batch else (2,))
    batch = shape[0] if len(shape) == 3 else None
    rows, cols = shape[-2:]
    strides = array.strides or (rows * cols, cols, 1)[-len(shape) :]
    stride = 0 if batch is None else strides[0]
    if _arrays.is_dense((rows, cols), strides[-2:]):
        return _Matrix(batch, rows, cols, False, stride)
    if _arrays.is_dense((cols, rows), strides[:-3:-1]):
        return _Matrix(batch, rows, cols, True, stride)
    raise LayoutError(
        f"{what} is not contiguous: shape {list(shape)}, strides {list(strides)}; "
        "rows or columns must be dense"
    )


def _batch_of(a: _Matrix, b: _Matrix) -> Optional[int]:
    """The number of products; None where both operands are single matrices."""
    if a.batch is not None and b.batch is not None and a.batch != b.batch:
        raise ShapeError(
            f"matmul: argument 'b' is a batch of {b.batch} matrices, 'a' one of {a.batch}; "
            "a single matrix (two dimensions) serves all products"
        )
    return b.batch if a.batch is None else a.batch


# What C may hold for each type of A and B; the first where nothing else is asked for.
OUT_DTYPES = {
    "f32": ("f32",),
    "f64": ("f64",),
    "f16": ("f16", "f32"),
    "bf16": ("bf16", "f32"),
    "e4m3": ("bf16", "f16", "f32"),
    "e5m2": ("bf16", "f16", "f32"),
    "i8": ("i32", "bf16", "f16", "f32"),
}


def _out_dtype(dtype: str, asked: Optional[str], out: Any) -> str:
    """The element type of C: what is asked for, else that of `out`, else the default."""
    if asked is None and out is not None:
        asked = _arrays.describe("matmul: argument 'out'", out).dtype
    allowed = OUT_DTYPES[dtype]
    if asked is None:
        return allowed[0]
    if asked not in _arrays.SIZES:
        raise DtypeError(
            f"matmul: out_dtype {asked!r} is no element type; expected {' or '.join(allowed)}"
        )
    if asked not in allowed:
        raise DtypeError(
            f"matmul: products of {dtype} are not given as {asked}; expected {' or '.join(allowed)}"
        )
    return asked


def _uses(formula: str, name: str) -> bool:
    return re.search(rf"\b{name}\b", formula) is not None


def _joined(text: str, *names: Tuple[str, Any]) -> str:
    """The formula with all terms added that are there."""
    return " + ".join([text, *(name for name, value in names if value is not None)])


def _known(kernel: str, array: Array, dtypes: Tuple[str, ...]) -> None:
    if array.dtype not in dtypes:
        raise DtypeError(
            f"{kernel}: arrays of {array.dtype} are not taken; expected {', '.join(dtypes)}"
        )


_Axes = Union[None, int, Tuple[int, ...]]


def _folded(shape: Tuple[int, ...], axis: Any) -> Tuple[int, int, str, Tuple[int, ...]]:
    """Elements of a result, results, which axis of the folded matrix is combined, shape of the results."""
    axes = (axis,) if isinstance(axis, int) else tuple(axis)
    along = sorted({a % len(shape) for a in axes if -len(shape) <= a < len(shape)})
    if len(along) != len(axes) or not along:
        raise ShapeError(f"reduce: axis={axis} does not name axes of shape {list(shape)}")
    left = tuple(extent for a, extent in enumerate(shape) if a not in along)
    n, results = _arrays.count(shape) // max(_arrays.count(left), 1), _arrays.count(left)
    # Whether each axis is combined; axes of one element may lie anywhere.
    kinds = [a in along for a, extent in enumerate(shape) if extent != 1]
    if kinds == sorted(kinds):
        return n, results, "last", left
    if kinds == sorted(kinds, reverse=True):
        return n, results, "first", left
    raise ShapeError(
        f"reduce: axis={axis} of shape {list(shape)}: expected the first axes or the last ones"
    )


# Only the size of elements matters to a transposition.
_MOVED_AS = {1: "u8", 2: "f16", 4: "f32", 8: "f64"}


_LAST = (0, 2, 3, 1)  # channels of a batch of images to the end


def _turned(values: Tuple[int, ...], order: Tuple[int, ...]) -> Tuple[int, ...]:
    return tuple(values[i] for i in order)


def _has_channels_last(array: Array) -> bool:
    shape, strides = array.shape, array.strides
    if shape is None or strides is None or len(shape) != 4:
        return False
    return _arrays.is_dense(_turned(shape, _LAST), _turned(strides, _LAST))


def _layout_of(arrays: Dict[str, Array]) -> str:
    """nchw where all arrays are dense, nhwc where all have their channels innermost in memory."""
    if all(array.is_dense for array in arrays.values()):
        return "nchw"
    if all(_has_channels_last(array) for array in arrays.values()):
        return "nhwc"
    name, array = next(item for item in arrays.items() if not item[1].is_dense)
    raise LayoutError(
        f"convolve: argument '{name}' is not contiguous: shape {list(array.shape or ())}, strides "
        f"{list(array.strides or ())}; all arrays must be dense, or all have their channels last"
    )


def _laid(name: str, array: Array, layout: str) -> Array:
    """The array as it lies in memory."""
    if layout == "nchw" or array.shape is None or len(array.shape) != 4:
        return array
    if not _has_channels_last(array):
        raise LayoutError(
            f"convolve: argument '{name}' has not its channels last, as 'x' has: shape "
            f"{list(array.shape)}, strides {list(array.strides or ())}"
        )
    return array._replace(shape=_turned(array.shape, _LAST), strides=None)


def _empty(kernel: str, model: Array, shape: Tuple[int, ...], dtype: str, layout: str) -> Any:
    """A new array; of the layout nhwc it is a view of one with the channels innermost."""
    if layout == "nchw":
        return _arrays.empty_like(kernel, model, shape, dtype)
    made = _arrays.empty_like(kernel, model, _turned(shape, _LAST), dtype)
    order = (0, 3, 1, 2)
    return made.permute(order) if hasattr(made, "permute") else made.transpose(order)


def _bind(planned: Tuple[_Plan, Array], stream: Any, known: Optional[Launcher]) -> Call:
    plan, first = planned
    if known is None:
        known = launcher.launcher_of(first, stream, plan.folder, plan.options)
    kernel = launcher.kernel_for(known, plan.kernel, plan.problem)
    call = kernel.bind(stream=stream, **plan.arguments)
    call.result = plan.result
    return call


class _Made(NamedTuple):
    """A result that a call makes."""

    shape: Tuple[int, ...]
    dtype: str
    layout: str


class _Known(NamedTuple):
    """A call that was made before, for arrays of the same layout."""

    call: Call
    results: Tuple[Union[str, _Made], ...]  # a name: what the caller passed
    first: Array  # without its memory: the first argument of the next call takes its place


# Of each thread its own: a call holds the addresses of its arrays.
_memory = threading.local()


def _known_calls() -> Dict[Tuple[Any, ...], _Known]:
    if getattr(_memory, "generation", None) != launcher.generation:
        _memory.generation, _memory.calls = launcher.generation, {}
    calls: Dict[Tuple[Any, ...], _Known] = _memory.calls
    if len(calls) >= launcher.MOST_KERNELS:
        calls.clear()
    return calls


_PLANS: Dict[Callable[..., Any], Callable[..., Tuple[_Plan, Array]]] = {}
_Function = TypeVar("_Function", bound=Callable[..., Any])


def function(*names: str) -> Callable[[_Function], _Function]:
    """Makes a function of arrays of one that plans their call. `names`: of its arrays, beside `out`.
    It takes `stream` and `launcher`, which the planning one does not see."""

    def decorate(plans: _Function) -> _Function:
        name = plans.__name__

        def plan(*arrays: Any, **options: Any) -> Tuple[_Plan, Array]:
            if options.get("out") is not None:
                _target(name, options["out"])
            planned: Tuple[_Plan, Array] = plans(*arrays, **options)
            return planned

        @functools.wraps(plans)
        def call(*given: Any, stream: Any = None, launcher: Optional[Launcher] = None, **options: Any) -> Any:
            known = {**dict(zip(names, given)), **options}
            arrays = {key: known.pop(key) for key in (*names, "out") if known.get(key) is not None}
            # Lists such as axis=[0, 1] are no keys.
            others = [(key, tuple(v) if isinstance(v, list) else v) for key, v in known.items()]
            planned = functools.partial(plan, *given, **options)
            return run(name, (name, *arrays, *others), planned, arrays, stream, launcher)

        _PLANS[call] = plan
        return cast(_Function, call)

    return decorate


def run(
    name: str,
    head: Tuple[Any, ...],
    plan: Callable[[], Tuple[_Plan, Array]],
    arrays: Dict[str, Any],
    stream: Any,
    known: Optional[Launcher],
    numbers: Mapping[str, Union[int, float]] = MappingProxyType({}),
) -> Any:
    """Plans and checks the first call with a head, arrays of a layout and names of numbers; repeats it
    with other addresses and numbers."""
    if known is not None:
        return _bind(plan(), stream, known)()
    layouts: List[Any] = [head, *numbers]
    addresses: List[int] = []
    for argument, value in arrays.items():
        seen = _arrays.glance(value)
        if seen is None:
            array = _arrays.describe(f"{name}: argument '{argument}'", value)
            seen = array.layout, array.address
        layouts.append(seen[0])
        addresses.append(seen[1])
    key = tuple(layouts)
    calls = _known_calls()
    repeated = calls.get(key)
    if repeated is None or (stream is not None and not repeated.call.kernel.runs_on(stream)):
        planned = plan()
        call = _bind(planned, stream, None)
        result = call()
        if stream is None and _stays(planned):
            returned = planned[0].returned
            made = [result] if len(returned) == 1 else result
            results = (k if k in arrays else _made(name, r) for k, r in zip(returned, made))
            first = planned[1]._replace(source=None)
            calls[key] = _Known(call.without_arrays(), tuple(results), first)
        return result
    call, made = repeated.call, []
    for each in repeated.results:
        if isinstance(each, str):
            made.append(arrays[each])
        else:
            model = repeated.first._replace(source=next(iter(arrays.values())))
            made.append(_empty(name, model, *each))
            seen = _arrays.glance(made[-1])
            addresses.append(seen[1] if seen else _arrays.describe(name, made[-1]).address)
    if numbers:
        call.set_numbers(numbers.values())
    at = None if stream is None else _streams.handle_of(stream, _streams.null_of(repeated.first.place))
    call.at(*addresses, stream=at)
    return made[0] if len(made) == 1 else tuple(made)


def _made(name: str, result: Any) -> _Made:
    array = _arrays.describe(name, result)
    return _Made(array.shape or (), str(array.dtype), "nchw" if array.is_dense else "nhwc")


def _stays(planned: Tuple[_Plan, Array]) -> bool:
    """Whether no session will find a better config for this call."""
    plan, first = planned
    known = launcher.launcher_of(first, None, plan.folder, plan.options)
    return not known.tunes or known.select(plan.kernel, **plan.problem).grade == "exact"


@function("a", "b", "bias")
def matmul(
    a: Any,
    b: Any,
    *,
    bias: Any = None,
    out: Any = None,
    alpha: float = 1.0,
    beta: float = 0.0,
    epilogue: Optional[str] = None,
    precision: str = "highest",
    out_dtype: Optional[str] = None,
    stream: Any = None,
    launcher: Optional[Launcher] = None,
) -> Any:  # pylint: disable=redefined-outer-name
    """C[m][n] = alpha * A[m][k] * B[k][n] + beta * C + bias, of f32, f64, f16, bf16, e4m3, e5m2 or i8.

    Floats of 8 and 16 bits are added up in f32, i8 in i32. A and B are dense, or transposed views of
    dense matrices. With a third dimension in front they are batches: C[b][m][n] is then a product of
    each A and each B; an operand of two dimensions, or one expanded along the first, serves all
    products. `out` is C. `out_dtype` is the type of C and bias: that of A and B (the default), or f32
    for f16 and bf16; bf16 (the default), f16 or f32 for 8-bit floats; i32 (the default), bf16, f16 or
    f32 for i8. `bias` has shape [n], one value for each column, or [m, 1], one for each row.
    `epilogue`: another formula of the sum x, bias, the old c, alpha and beta: "max(x + bias, 0)".
    `precision` of f32 is that of torch: "high" allows operands rounded to tf32, "medium" to bf16. Of
    8-bit floats "high" leaves sums to the matrix units, which keep about 14 bits of them."""
    given = {"a": a, "b": b} if bias is None else {"a": a, "b": b, "bias": bias}
    described = dict(zip(given, _describe("matmul", **given)))
    left, right = described["a"], described["b"]
    first = _matrix("matmul: argument 'a'", left, with_batch=True)
    second = _matrix("matmul: argument 'b'", right, with_batch=True)
    m, k, n = first.rows, first.cols, second.cols
    if second.rows != k:
        raise ShapeError(
            f"matmul: argument 'b' has shape {list(right.shape or ())}; it needs {k} rows, the columns "
            "of 'a'"
        )
    batch = _batch_of(first, second)
    products = 1 if batch is None else batch
    if right.dtype != left.dtype:
        raise DtypeError(f"matmul: argument 'b' holds {right.dtype}, 'a' {left.dtype}")
    _known("matmul", left, tuple(OUT_DTYPES))
    if out is None and (beta != 0 if epilogue is None else _uses(epilogue, "c")):
        name = "beta" if epilogue is None else "this epilogue"
        raise ArgumentError(f"matmul: {name} needs out=, the C that it is added to")
    out_dtype = _out_dtype(str(left.dtype), out_dtype, out)
    shape = (m, n) if batch is None else (batch, m, n)
    out = _result("matmul", out, left, shape, out_dtype)
    target: Any = out
    if batch is not None:
        target = _arrays.describe("matmul: argument 'out'", out)
        if _shape("matmul: argument 'out'", target, (3,)) != shape:
            raise ShapeError(
                f"matmul: argument 'out' has shape {list(target.shape)}; expected {list(shape)}"
            )
        check_dense("matmul: argument 'out'", target)
        target = target._replace(shape=(batch * m, n), strides=None)
    problem = {
        "m": m,
        "n": n,
        "k": k,
        "dtype": left.dtype,
        "trans_a": first.transposed,
        "trans_b": second.transposed,
        "precision": precision,
        "out": out_dtype,
    }
    if products > 1:
        problem.update(batch=batch, stride_a=first.stride, stride_b=second.stride)
    arguments: Dict[str, Any] = {
        "a": first.stored(left, products),
        "b": second.stored(right, products),
    }
    if epilogue is None and bias is not None:
        epilogue = _joined("alpha * x" if beta == 0 else "alpha * x + beta * c", ("bias", bias))
    if epilogue is None:
        problem["beta_zero"] = beta == 0
    else:
        problem["epilogue"] = epilogue
    if bias is not None:
        if epilogue is None or not _uses(epilogue, "bias"):
            raise ArgumentError(f"matmul: the epilogue '{epilogue}' has no bias")
        vector = described["bias"]
        extents = _shape("matmul: argument 'bias'", vector, (1, 2))
        if len(extents) == 2 and extents[1] == 1:  # a column: one value for each row of C
            check_dense("matmul: argument 'bias'", vector)
            problem["bias_along"] = "m"
            vector = vector._replace(shape=extents[:1], strides=None)
        arguments["bias"] = vector
    elif epilogue is not None and _uses(epilogue, "bias"):
        raise ArgumentError("matmul: this epilogue needs bias=")
    for name, factor in (("alpha", float(alpha)), ("beta", float(beta))):
        # i32 where C is; the kernel refuses a fraction then.
        arguments[name] = int(factor) if out_dtype == "i32" and factor.is_integer() else factor
    arguments["c"] = target
    return _Plan("matmul", problem, arguments, out), left


@function("x", "other")
def reduce(
    x: Any,
    *,
    op: str = "sum",
    axis: _Axes = None,
    map: str = "x",
    other: Any = None,
    out: Any = None,
    stream: Any = None,
    launcher: Optional[Launcher] = None,
) -> Any:  # pylint: disable=redefined-builtin,redefined-outer-name
    """Combines all elements of x (f32, f64, i32, f16, bf16), or those along an axis.

    `op`: sum, min, max, or dot of x and `other`. `map`: formula of the term of element x, its index i
    and n: "x * x". `axis` may name several axes, the first or the last ones of x:
    (0, 1). The result has the shape of the other axes; it is f32 where x is f16 or bf16."""
    values = _describe("reduce", x=x) if other is None else _describe("reduce", x=x, other=other)
    first = values[0]
    shape = _shape("reduce: argument 'x'", first, (1, 2, 3, 4, 5, 6))
    check_dense("reduce: argument 'x'", first)
    _known("reduce", first, ("f32", "f64", "i32", "f16", "bf16"))
    if (op == "dot") != (other is not None):
        raise ArgumentError("reduce: op='dot' and other= go together")
    problem: Dict[str, Any] = {
        "n": _arrays.count(shape),
        "dtype": first.dtype,
        "op": op,
        "map": map,
    }
    shape_out: Tuple[int, ...] = ()
    if axis is not None:
        problem["n"], results, side, shape_out = _folded(shape, axis)
        if results != 1:
            problem.update(results=results, axis=side)
    if problem["n"] == 0 or problem.get("results") == 0:
        raise ShapeError(f"reduce: argument 'x' has no elements: shape {list(shape)}")
    in_shape: Tuple[int, ...] = (problem["n"],)
    if "results" in problem:
        in_shape = (problem["results"], problem["n"])
        in_shape = in_shape if problem["axis"] == "last" else in_shape[::-1]
    arguments: Dict[str, Any] = {"in": first._replace(shape=in_shape, strides=None)}
    if other is not None:
        if values[1].shape != shape:
            raise ShapeError(
                f"reduce: argument 'other' has shape {list(values[1].shape or ())}; "
                f"'x' has {list(shape)}"
            )
        check_dense("reduce: argument 'other'", values[1])
        arguments["other"] = values[1]._replace(shape=in_shape, strides=None)
    dtype_out = "f32" if first.dtype in ("f16", "bf16") else str(first.dtype)
    out = _result("reduce", out, first, shape_out, dtype_out)
    target = _target("reduce", out)
    if len(shape_out) > 1 and target.shape == shape_out:
        check_dense("reduce: argument 'out'", target)
        target = target._replace(shape=(_arrays.count(shape_out),), strides=None)
    arguments["out"] = target
    return _Plan("reduce", problem, arguments, out), first


@function("x")
def histogram(
    x: Any,
    *,
    bins: int = 256,
    low: Optional[float] = None,
    high: Optional[float] = None,
    out: Any = None,
    stream: Any = None,
    launcher: Optional[Launcher] = None,
) -> Any:  # pylint: disable=redefined-outer-name
    """counts[bins]: how many elements of x fall into each bin. Bytes are their own bins (256).

    f32 and i32 go into even bins from `low` up to, not including, `high`. Counts are u32; i32 where
    torch makes them, and in an `out` of i32, for fewer than 2^31 elements."""
    (samples,) = _describe("histogram", x=x)
    shape = _shape("histogram: argument 'x'", samples, (1, 2, 3, 4, 5, 6))
    check_dense("histogram: argument 'x'", samples)
    _known("histogram", samples, ("u8", "f32", "i32"))
    n = _arrays.count(shape)
    problem = {"n": n, "dtype": samples.dtype, "bins": bins}
    arguments: Dict[str, Any] = {"in": samples._replace(shape=(n,), strides=None)}
    if samples.dtype == "u8":
        if low is not None or high is not None:
            raise ArgumentError("histogram: bytes are their own bins; leave out low and high")
    else:
        if low is None or high is None or not float("-inf") < low < high < float("inf"):
            raise ArgumentError(
                f"histogram: low must be below high, both finite: {low} and {high} were given"
            )
        whole = samples.dtype == "i32"
        ends = {"low": low, "high": high}
        for name, end in ends.items():
            if whole and end != int(end):
                raise ArgumentError(f"histogram: argument '{name}' is i32, {end} was given")
        arguments.update({k: int(v) if whole else float(v) for k, v in ends.items()})
        arguments["scale"] = bins / (high - low)
    # torch has few operations on u32, so counts may also be an i32 array; they stay below 2^31.
    if out is None:
        kind = "i32" if samples.library == "torch" else "u32"
        out = _arrays.empty_like("histogram", samples, (bins,), kind)
    counts = _arrays.describe("histogram: argument 'out'", out)
    if counts.dtype == "i32" and n < 2**31:
        counts = counts._replace(dtype="u32")
    arguments["counts"] = counts
    return _Plan("histogram", problem, arguments, out), samples


@function("x")
def transpose(
    x: Any, *, out: Any = None, stream: Any = None, launcher: Optional[Launcher] = None
) -> Any:  # pylint: disable=redefined-outer-name
    """out[b][c][r] = x[b][r][c] of a dense matrix or a batch of them; elements of 1, 2, 4 or 8 bytes."""
    (first,) = _describe("transpose", x=x)
    shape = _shape("transpose: argument 'x'", first, (2, 3))
    size = _arrays.SIZES.get(str(first.dtype), 0)
    if size not in _MOVED_AS:
        raise DtypeError(
            f"transpose: arrays of {first.dtype} are not taken; expected 1, 2, 4 or 8 bytes"
        )
    moved = str(first.dtype)
    if moved not in ("u8", "f16", "bf16", "i32", "f32", "f64"):
        moved = _MOVED_AS[size]
    batch, rows, cols = ((1,) + shape)[-3:]
    problem = {"rows": rows, "cols": cols, "batch": batch, "dtype": moved}
    if out is None:
        shape_out = shape[:-2] + (cols, rows)
        out = _arrays.empty_like("transpose", first, shape_out, str(first.dtype))
    target = _arrays.describe("transpose: argument 'out'", out)
    if target.dtype == first.dtype:
        target = target._replace(dtype=moved)
    return (
        _Plan("transpose", problem, {"in": first._replace(dtype=moved), "out": target}, out),
        first,
    )


@function("x", "filter", "bias", "residual")
def convolve(
    x: Any,
    filter: Any,
    *,
    bias: Any = None,
    residual: Any = None,
    stride: int = 1,
    padding: Union[int, Tuple[int, int], None] = None,
    dilation: int = 1,
    groups: int = 1,
    precision: str = "highest",
    epilogue: Optional[str] = None,
    out: Any = None,
    stream: Any = None,
    launcher: Optional[Launcher] = None,
) -> Any:  # pylint: disable=redefined-builtin,redefined-outer-name
    """Cross-correlation, as in layers of neural networks: the filter is not flipped.

    x[h][w] with filter[fh][fw], or x[n][c][h][w] with filter[k][c / groups][fh][fw], of f32, f16 or
    bf16 (summed in f32). Arrays of four dimensions may all have their channels last in memory, as
    torch's channels_last. `padding`: zeros on each side, one number or (rows, columns); None: half
    the filter, which keeps the size. `bias` [k] and `residual`, of the result's shape, are added,
    or used by the `epilogue`, a formula of the sum x and of both: "max(x + bias + residual, 0)".
    `precision` of f32 is that of torch, as for matmul."""
    more = {name: v for name, v in (("bias", bias), ("residual", residual)) if v is not None}
    described = _describe("convolve", x=x, filter=filter, **more)
    image, taps = described[:2]
    shape = _shape("convolve: argument 'x'", image, (2, 4))
    n, c, h, w = (1, 1, *shape) if len(shape) == 2 else shape
    filter_shape = _shape("convolve: argument 'filter'", taps, (2, 4))
    if len(filter_shape) != len(shape):
        raise ShapeError(
            f"convolve: argument 'filter' has shape {list(filter_shape)}, 'x' {list(shape)}; both "
            "have 2 or both 4 dimensions"
        )
    k, _, fh, fw = (1, 1, *filter_shape) if len(filter_shape) == 2 else filter_shape
    _known("convolve", image, ("f32", "f16", "bf16"))
    layout = _layout_of({"x": image, "filter": taps})
    if padding is None:
        padding = (fh // 2 * dilation, fw // 2 * dilation)
    pad_h, pad_w = (padding, padding) if isinstance(padding, int) else padding
    problem = {
        "h": h, "w": w, "fh": fh, "fw": fw, "n": n, "c": c, "k": k, "groups": groups,
        "stride": stride, "pad_h": pad_h, "pad_w": pad_w, "dtype": image.dtype,
        "dilation": dilation, "layout": layout, "precision": precision,
    }  # fmt: skip
    if epilogue is None and more:
        epilogue = _joined("x", ("bias", bias), ("residual", residual))
    if epilogue is not None:
        problem["epilogue"] = epilogue
    for name in ("bias", "residual"):
        if (epilogue is not None and _uses(epilogue, name)) != (name in more):
            raise ArgumentError(
                f"convolve: {name}= and an epilogue with {name} go together; epilogue='{epilogue}'"
            )
    if out is None:
        reach_h, reach_w = (fh - 1) * dilation + 1, (fw - 1) * dilation + 1
        size = ((h + 2 * pad_h - reach_h) // stride + 1, (w + 2 * pad_w - reach_w) // stride + 1)
        shape_out = size if len(shape) == 2 else (n, k, *size)
        if min(shape_out) < 1:
            raise ShapeError(f"convolve: the filter {[fh, fw]} does not fit into {[h, w]}")
        out = _empty("convolve", image, shape_out, str(image.dtype), layout)
    arguments = {"in": _laid("x", image, layout), "filter": _laid("filter", taps, layout)}
    for name, array in zip(more, described[2:]):
        arguments[name] = array if name == "bias" else _laid(name, array, layout)
    arguments["out"] = _laid("out", _arrays.describe("convolve: argument 'out'", out), layout)
    return _Plan("convolution", problem, arguments, out), image


def bind(
    function: Callable[..., Any],
    *arrays: Any,
    stream: Any = None,
    launcher: Optional[Launcher] = None,
    **options: Any,
) -> Call:  # pylint: disable=redefined-outer-name
    """A call of a function of this package, or of a kernel of your own, that repeats cheaply, with the same arrays each time.

    product = kiln.bind(kiln.matmul, a, b, out=c)
    product()           # returns c, which is written on the current stream"""
    plan = _PLANS.get(function) or getattr(function, "plan", None)
    if plan is None:
        raise ArgumentError("bind: expected a function such as kiln.matmul, or a kernel of kiln.kernel()")
    return _bind(plan(*arrays, **options), stream, launcher)
