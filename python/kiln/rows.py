"""Functions of the rows of an array: running sums, softmax, layer norm, RMS norm.

As the functions of calls.py: arrays in, arrays out, on the current stream; bind() takes them, too.
SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from typing import Any, Dict, Optional, Tuple

from . import _arrays, calls
from ._arrays import Array
from .calls import _Plan
from .errors import ArgumentError, DtypeError, ShapeError
from .launcher import Launcher, check_dense


def _rows_of(name: str, x: Array, axis: Optional[int]) -> Tuple[int, int]:
    """Rows and their length along `axis`: the last one, or None for all elements."""
    shape = calls._shape(f"{name}: argument 'x'", x, (1, 2, 3, 4, 5, 6))
    check_dense(f"{name}: argument 'x'", x)
    if axis is not None and axis not in (-1, len(shape) - 1):
        raise ShapeError(f"{name}: axis={axis} is not the last axis of shape {list(shape)}")
    if _arrays.count(shape) == 0:
        raise ShapeError(f"{name}: argument 'x' has no elements: shape {list(shape)}")
    length = _arrays.count(shape) if axis is None else shape[-1]
    return _arrays.count(shape) // length, length


def _matrix(what: str, array: Array, like: Array, rows: int, cols: int) -> Array:
    """`array`, of the shape of `like`, as the kernel's matrix."""
    if array.shape != like.shape:
        raise ShapeError(f"{what} has shape {list(array.shape or ())}; expected {list(like.shape or ())}")
    check_dense(what, array)
    return array._replace(shape=(rows, cols), strides=None)


def _plan_normalize(
    name: str,
    arrays: Dict[str, Any],
    eps: Optional[float],
    out_dtype: Optional[str] = None,
    scale: Optional[float] = None,
    deterministic: str = "no",
    out: Any = None,
) -> Tuple[_Plan, Array]:
    arrays = {key: array for key, array in arrays.items() if array is not None}
    described = dict(zip(arrays, calls._describe(name, **arrays)))
    first = described["x"]
    rows, cols = _rows_of(name, first, -1)
    calls._known(name, first, ("f32", "f16", "bf16"))
    if ("residual" in arrays) != ("sum" in arrays):
        raise ArgumentError(f"{name}: residual= and sum=, the array for x + residual, go together")
    if out is not None and out_dtype is None:
        out_dtype = str(calls._target(name, out).dtype)
    out_dtype = out_dtype or str(first.dtype)
    if out_dtype not in ("f32", "f16", "bf16", "e4m3"):
        raise DtypeError(f"{name}: results of {out_dtype} are not made; expected f32, f16, bf16, e4m3")
    if (out_dtype == "e4m3") != (scale is not None):
        raise ArgumentError(f"{name}: scale= and results of e4m3 go together")
    arguments: Dict[str, Any] = {}
    for key, array in described.items():
        what = f"{name}: argument '{key}'"
        if array.dtype != first.dtype:
            raise DtypeError(f"{what} holds {array.dtype}; 'x' holds {first.dtype}")
        if key in ("weight", "bias"):
            if array.shape != (cols,):
                raise ShapeError(f"{what} has shape {list(array.shape or ())}; expected [{cols}]")
            arguments[key] = array
        else:
            arguments["in" if key == "x" else key] = _matrix(what, array, first, rows, cols)
    out = calls._result(name, out, first, first.shape or (), out_dtype)
    target = calls._target(name, out)
    arguments["out"] = _matrix(f"{name}: argument 'out'", target, first, rows, cols)
    if eps is not None:
        arguments["eps"] = eps
    if scale is not None:
        arguments["scale"] = scale
    problem: Dict[str, Any] = {"rows": rows, "cols": cols, "dtype": first.dtype, "out": out_dtype}
    problem.update(op=name, deterministic=deterministic, residual="residual" in arrays)
    problem.update(weight="weight" in arrays, bias="bias" in arrays)
    return _Plan("normalize", problem, arguments, out), first


@calls.function("x")
def scan(
    x: Any,
    *,
    op: str = "sum",
    axis: Optional[int] = -1,
    exclusive: bool = False,
    deterministic: str = "no",
    out: Any = None,
    stream: Any = None,
    launcher: Optional[Launcher] = None,
) -> Any:
    """Running sums, minima or maxima of x (f32, f64, i32, i64) along its last axis.

    `axis=None`: of all elements; the result is then a vector. `op`: sum, min or max. `exclusive`: an
    element is not part of its own result. `deterministic`: "run" or "config" (docs/kernels/scan.md)."""
    (first,) = calls._describe("scan", x=x)
    rows, n = _rows_of("scan", first, axis)
    calls._known("scan", first, ("f32", "f64", "i32", "i64"))
    shape_out = (n,) if axis is None else first.shape or ()
    out = calls._result("scan", out, first, shape_out, str(first.dtype))
    target = calls._target("scan", out)
    problem = {"n": n, "rows": rows, "dtype": first.dtype, "op": op}
    problem.update(exclusive=exclusive, deterministic=deterministic)
    wanted = first._replace(shape=shape_out, strides=None)
    arguments = {
        "in": first._replace(shape=(rows, n), strides=None),
        "out": _matrix("scan: argument 'out'", target, wanted, rows, n),
    }
    return _Plan("scan", problem, arguments, out), first


@calls.function("x")
def softmax(
    x: Any,
    *,
    out_dtype: Optional[str] = None,
    scale: Optional[float] = None,
    deterministic: str = "no",
    out: Any = None,
    stream: Any = None,
    launcher: Optional[Launcher] = None,
) -> Any:
    """Softmax of x (f32, f16, bf16) along its last axis, computed in f32.

    `out_dtype`: f32, f16, bf16 or e4m3, instead of the type of x; e4m3 is the result times `scale`."""
    return _plan_normalize("softmax", {"x": x}, None, out_dtype, scale, deterministic, out)


@calls.function("x")
def log_softmax(x: Any, **options: Any) -> Any:
    """The logarithm of softmax(x); the same arguments."""
    return _plan_normalize("log_softmax", {"x": x}, None, **options)


@calls.function("x", "weight", "bias", "residual", "sum")
def layer_norm(
    x: Any,
    weight: Any = None,
    bias: Any = None,
    *,
    eps: float = 1e-5,
    residual: Any = None,
    sum: Any = None,  # pylint: disable=redefined-builtin
    out_dtype: Optional[str] = None,
    scale: Optional[float] = None,
    deterministic: str = "no",
    out: Any = None,
    stream: Any = None,
    launcher: Optional[Launcher] = None,
) -> Any:
    """(x - mean) / sqrt(variance + eps) * weight + bias of x (f32, f16, bf16) along its last axis.

    `weight` and `bias`: [last axis]. `residual`: is added to x first, and the sum, rounded to the type
    of x, is stored in `sum`; both have the shape of x. All have the type of x. `out_dtype` and `scale`:
    as in softmax()."""
    given = {"x": x, "weight": weight, "bias": bias, "residual": residual, "sum": sum}
    return _plan_normalize("layer_norm", given, eps, out_dtype, scale, deterministic, out)


@calls.function("x", "weight", "bias", "residual", "sum")
def rms_norm(
    x: Any, weight: Any = None, bias: Any = None, *, eps: float = 1e-6, residual: Any = None, **options: Any
) -> Any:
    """x / sqrt(mean of x^2 + eps) * weight + bias; the arguments of layer_norm()."""
    given = {"x": x, "weight": weight, "bias": bias, "residual": residual, "sum": options.pop("sum", None)}
    return _plan_normalize("rms_norm", given, eps, **options)
