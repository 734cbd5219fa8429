"""cublasLt through ctypes: products by each algorithm that its heuristic proposes.

cublasLt thinks in columns. A row-major matrix is the column-major matrix of its transpose, so C =
op(A) op(B) is asked for as C' = op(B)' op(A)': the operands change places, and nothing is moved.
Numbers are those of cublasLt.h and library_types.h of CUDA 12 and 13.
SPDX-License-Identifier: Apache-2.0
"""

import ctypes
import functools
from ctypes import byref, c_double, c_float, c_int, c_int32, c_int64, c_size_t, c_uint64, c_void_p
from typing import NamedTuple

from common import Tensor, address, check, library, stream, torch

TYPES = {"f32": 0, "f64": 1, "f16": 2, "i8": 3, "i32": 10, "bf16": 14, "e4m3": 28, "e5m2": 29}
# Of operands: cublasComputeType_t, type of the scalars. Other types are computed as f32.
COMPUTE = {"f64": (70, "f64", c_double), "i8": (72, "i32", c_int32)}
COMPUTE_F32 = {"highest": 68, "high": 77, "medium": 75}  # f32 itself, tf32, bf16
ALGORITHMS = 8
WORKSPACE_BYTES = 64 << 20
OUTER_VECTORS = 3  # CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F


class Matrix(NamedTuple):
    """One operand as it is stored: row-major, for each matrix of a batch."""

    memory: Tensor
    dtype: str
    rows: int
    columns: int
    stride: int  # elements from one row to the next
    batch_stride: int  # elements from one matrix of the batch to the next

    def view(self, batch):
        """As [batch][rows][columns]."""
        shape, strides = (batch, self.rows, self.columns), (self.batch_stride, self.stride, 1)
        return self.memory.as_strided(shape, strides)


class Product(NamedTuple):
    """C = alpha * op(A) op(B) + beta * C. A is stored k x m if trans_a, B n x k if trans_b."""

    a: Matrix
    b: Matrix
    c: Matrix
    trans_a: bool
    trans_b: bool
    batch: int
    precision: str
    alpha: float
    beta: float

    @property
    def sizes(self):
        """m, n, k."""
        return self.c.rows, self.c.columns, self.a.rows if self.trans_a else self.a.columns

    def with_own_result(self):
        """The same product with other memory for C."""
        return self._replace(c=self.c._replace(memory=torch.empty_like(self.c.memory)))


@functools.lru_cache(maxsize=None)
def cublaslt():
    """The library and a handle. Raises OSError."""
    loaded = library("cublasLt", (13, 12))
    loaded.cublasLtGetVersion.restype = c_size_t
    handle = c_void_p()
    check(loaded.cublasLtCreate(byref(handle)), "cublasLtCreate")
    return loaded, handle


def version():
    """As "cublasLt 13.1.0"."""
    number = cublaslt()[0].cublasLtGetVersion()
    return f"cublasLt {number // 10000}.{number // 100 % 100}.{number % 100}"


class Heuristic(ctypes.Structure):
    """cublasLtMatmulHeuristicResult_t."""

    _fields_ = [
        ("algorithm", c_uint64 * 8),
        ("workspace_bytes", c_size_t),
        ("status", c_int),
        ("waves", c_float),
        ("reserved", c_int * 4),
    ]


def _make(kind, *arguments):
    """A descriptor. It lives until the program ends."""
    made, call = c_void_p(), f"cublasLt{kind}Create"
    check(getattr(cublaslt()[0], call)(byref(made), *arguments), call)
    return made


def _set(kind, descriptor, attribute, value):
    call = f"cublasLt{kind}SetAttribute"
    arguments = (descriptor, attribute, byref(value), c_size_t(ctypes.sizeof(value)))
    check(getattr(cublaslt()[0], call)(*arguments), call)


def _layout(matrix, batch):
    """Rows become columns: the same bytes."""
    sizes = (c_uint64(matrix.columns), c_uint64(matrix.rows), c_int64(matrix.stride))
    made = _make("MatrixLayout", TYPES[matrix.dtype], *sizes)
    if batch > 1:
        _set("MatrixLayout", made, 5, c_int32(batch))
        _set("MatrixLayout", made, 6, c_int64(matrix.batch_stride))
    return made


def _alignment(matrix, batch):
    """Bytes, 256 at most, of the pointer and of the step between matrices."""
    bits = matrix.memory.data_ptr() | 256
    if batch > 1:
        bits |= matrix.batch_stride * matrix.memory.element_size()
    return c_int32(bits & -bits)  # the lowest bit that is set


def algorithms(product, fast_sums=False, scales=None):
    """A call for each algorithm that the heuristic proposes, at most eight. `fast_sums`: of 8-bit
    floats. `scales`: two vectors of f32, a factor for each row of op(A) and each column of op(B).

    Raises RuntimeError if there is no algorithm."""
    loaded, handle = cublaslt()
    a, b, c = product.a, product.b, product.c
    compute = COMPUTE_F32[product.precision if a.dtype == "f32" else "highest"]
    compute, scalar_type, scalar = COMPUTE.get(a.dtype, (compute, "f32", c_float))
    operation = _make("MatmulDesc", compute, TYPES[scalar_type])
    _set("MatmulDesc", operation, 3, c_int32(product.trans_b))
    _set("MatmulDesc", operation, 4, c_int32(product.trans_a))
    if fast_sums:
        _set("MatmulDesc", operation, 25, ctypes.c_int8(1))
    for attribute, vector in zip((18, 17), scales or ()):  # of the second operand, of the first
        _set("MatmulDesc", operation, attribute, address(vector))
        _set("MatmulDesc", operation, attribute + 14, c_int32(OUTER_VECTORS))
    preference = _make("MatmulPreference")
    _set("MatmulPreference", preference, 1, c_uint64(WORKSPACE_BYTES))
    for attribute, matrix in zip((5, 6, 7, 8), (b, a, c, c)):
        _set("MatmulPreference", preference, attribute, _alignment(matrix, product.batch))
    first, second, result = (_layout(matrix, product.batch) for matrix in (b, a, c))

    found, count = (Heuristic * ALGORITHMS)(), c_int()
    layouts = (first, second, result, result, preference)
    find = loaded.cublasLtMatmulAlgoGetHeuristic
    check(find(handle, operation, *layouts, ALGORITHMS, found, byref(count)), find.__name__)
    usable = [one for one in found[: count.value] if one.status == 0]
    if not usable:
        raise RuntimeError("the heuristic found no algorithm")
    workspace = torch.empty(WORKSPACE_BYTES, dtype=torch.uint8, device="cuda")
    alpha, beta = byref(scalar(product.alpha)), byref(scalar(product.beta))
    out = address(c.memory)
    head = (handle, operation, alpha, address(b.memory), first, address(a.memory), second)
    head += (beta, out, result, out, result)
    tail = (address(workspace), c_size_t(WORKSPACE_BYTES), stream())
    keep = (workspace, scales)
    return [functools.partial(_multiply, (*head, byref(one), *tail), keep) for one in usable]


def _multiply(arguments, keep):
    """Runs one algorithm. `keep`: memory that it refers to."""
    del keep
    check(cublaslt()[0].cublasLtMatmul(*arguments), "cublasLtMatmul")
