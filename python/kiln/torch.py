"""The built-in kernels as operators of torch: `torch.ops.kiln.matmul` and so on.

Registered with fake implementations, so that torch.compile traces through them, and launched on the
current stream, so that CUDA graphs capture them. Importing this module needs torch 2.4 or later.

    import kiln.torch

    @torch.compile
    def layer(x, w):
        return torch.relu(kiln.torch.matmul(x, w))

SPDX-License-Identifier: Apache-2.0
"""

# No `from __future__ import annotations`: torch reads the annotations of operators as types.
import hashlib
import os
from types import SimpleNamespace
from typing import Any, Optional, Tuple

import torch

from . import _arrays, calls, sizes
from .own import Kernel

__all__ = ["convolve", "histogram", "matmul", "operator", "reduce", "transpose"]


def _torch_type(name: str) -> torch.dtype:
    found: torch.dtype = getattr(torch, _arrays.NUMPY_NAMES[name])
    return found


@torch.library.custom_op("kiln::matmul", mutates_args=(), device_types="cuda")
def matmul(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """C[m][n] = A[m][k] * B[k][n], or a batch of them. Floats of 16 bits and more have a gradient.

    8-bit floats give bf16, i8 gives i32."""
    return calls.matmul(a, b)


@matmul.register_fake
def _(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    torch._check(
        a.dim() in (2, 3) and b.dim() in (2, 3),
        lambda: "kiln::matmul: expected two matrices, or batches of matrices",
    )
    torch._check(a.shape[-1] == b.shape[-2], lambda: "kiln::matmul: columns of a are not rows of b")
    batch = a.shape[:-2] if a.dim() == 3 else b.shape[:-2]
    shape = (*batch, a.shape[-2], b.shape[-1])
    return a.new_empty(shape, dtype=_torch_type(calls.OUT_DTYPES[_arrays.dtype_name(a.dtype)][0]))


def _keep_operands(ctx: Any, inputs: Tuple[Any, ...], output: torch.Tensor) -> None:
    ctx.save_for_backward(*inputs)


def _matmul_backward(
    ctx: Any, grad: torch.Tensor
) -> Tuple[Optional[torch.Tensor], Optional[torch.Tensor]]:
    a, b = ctx.saved_tensors
    grad = grad.contiguous()
    grad_a = _summed_to(matmul(grad, b.mT), a) if ctx.needs_input_grad[0] else None
    grad_b = _summed_to(matmul(a.mT, grad), b) if ctx.needs_input_grad[1] else None
    return grad_a, grad_b


def _summed_to(grad: torch.Tensor, operand: torch.Tensor) -> torch.Tensor:
    """The gradient of an operand that may have served all products of a batch."""
    return grad.sum(0) if grad.dim() > operand.dim() else grad


matmul.register_autograd(_matmul_backward, setup_context=_keep_operands)


@torch.library.custom_op("kiln::reduce", mutates_args=(), device_types="cuda")
def reduce(
    x: torch.Tensor, op: str = "sum", axis: Optional[int] = None, map: str = "x"
) -> torch.Tensor:
    """All elements of x, or those along an axis of a matrix: sum, min or max. See kiln.reduce()."""
    return calls.reduce(x, op=op, axis=axis, map=map)


@reduce.register_fake
def _(x: torch.Tensor, op: str = "sum", axis: Optional[int] = None, map: str = "x") -> torch.Tensor:
    dtype = torch.float32 if x.dtype in (torch.float16, torch.bfloat16) else x.dtype
    shape = () if axis is None else (x.shape[1 - axis % 2],)
    return x.new_empty(shape, dtype=dtype)


@torch.library.custom_op("kiln::transpose", mutates_args=(), device_types="cuda")
def transpose(x: torch.Tensor) -> torch.Tensor:
    """The last two dimensions of a matrix, or of a batch of them, exchanged in memory. Has a
    gradient."""
    return calls.transpose(x)


@transpose.register_fake
def _(x: torch.Tensor) -> torch.Tensor:
    torch._check(x.dim() in (2, 3), lambda: "kiln::transpose: expected 2 or 3 dimensions")
    return x.new_empty((*x.shape[:-2], x.shape[-1], x.shape[-2]))


def _transpose_backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
    return transpose(grad.contiguous())


transpose.register_autograd(_transpose_backward)


@torch.library.custom_op("kiln::histogram", mutates_args=(), device_types="cuda")
def histogram(
    x: torch.Tensor, bins: int = 256, low: Optional[float] = None, high: Optional[float] = None
) -> torch.Tensor:
    """Counts, i32[bins], of u8, f32 or i32 elements. See kiln.histogram()."""
    return calls.histogram(x, bins=bins, low=low, high=high)


@histogram.register_fake
def _(
    x: torch.Tensor, bins: int = 256, low: Optional[float] = None, high: Optional[float] = None
) -> torch.Tensor:
    return x.new_empty((bins,), dtype=torch.int32)


@torch.library.custom_op("kiln::convolve", mutates_args=(), device_types="cuda")
def convolve(
    x: torch.Tensor, filter: torch.Tensor, stride: int = 1, padding: int = 0, groups: int = 1
) -> torch.Tensor:
    """x[n][c][h][w] with filter[k][c / groups][fh][fw], as torch.nn.functional.conv2d(); or x[h][w]
    with filter[fh][fw]. Of f32, f16 or bf16."""
    return calls.convolve(x, filter, stride=stride, padding=padding, groups=groups)


@convolve.register_fake
def _(
    x: torch.Tensor, filter: torch.Tensor, stride: int = 1, padding: int = 0, groups: int = 1
) -> torch.Tensor:
    torch._check(
        x.dim() in (2, 4) and filter.dim() == x.dim(),
        lambda: "kiln::convolve: expected x and filter of 2 dimensions, or both of 4",
    )
    rows = (x.shape[-2] + 2 * padding - filter.shape[-2]) // stride + 1
    cols = (x.shape[-1] + 2 * padding - filter.shape[-1]) // stride + 1
    if x.dim() == 2:
        return x.new_empty((rows, cols))
    n, k = x.shape[0], filter.shape[0]
    if x.is_contiguous() and filter.is_contiguous():
        return x.new_empty((n, k, rows, cols))
    # As kiln.convolve makes it where x and filter have their channels last.
    return x.new_empty((n, rows, cols, k)).permute(0, 3, 1, 2)


def operator(kernel: Kernel) -> Any:
    """A kernel of your own as an operator, for torch.compile: a torch.library.CustomOpDef.

        softmax_op = kiln.torch.operator(softmax)
        softmax_op.register_autograd(...)    # where it needs a gradient

    It takes inputs and numbers as the kernel does, sizes as keywords, and makes the outputs."""
    spec = kernel.spec
    texts, updated = [], []
    for index, (name, argument) in enumerate(spec.arguments.items()):
        if argument.access == "scalar":
            texts.append(f"{'float' if argument.dtype.startswith(('f', 'b', 'e')) else 'int'} {name}")
        elif argument.access == "read_write":
            updated.append(name)
            texts.append(f"Tensor(a{index}!){'?' if argument.is_optional else ''} {name}")
        elif argument.access == "read":
            texts.append(f"Tensor{'?' if argument.is_optional else ''} {name}")
    texts += ["*"] + [f"Scalar? {name}=None" for name in spec.fields]
    made = [spec.arguments[name] for name in spec.outputs if name not in updated]
    results = "Tensor" if len(made) == 1 else "(" + ", ".join(["Tensor"] * len(made)) + ")"

    def run(*arguments: Any, **given: Any) -> Any:
        found = kernel(*arguments, **{name: value for name, value in given.items() if value is not None})
        return found if made else None

    def fake(*arguments: Any, **given: Any) -> Any:
        tensors = {n: t for n, t in zip(spec.arguments, arguments) if isinstance(t, torch.Tensor)}
        arrays = {
            name: SimpleNamespace(shape=tuple(tensor.shape), dtype=_arrays.dtype_name(tensor.dtype))
            for name, tensor in tensors.items()
        }
        problem = sizes.solve(spec, arrays, {n: v for n, v in given.items() if v is not None})
        first = next(iter(tensors.values()))
        found = []
        for argument in made:
            dtype = _torch_type(problem.get(argument.dtype, argument.dtype))
            found.append(first.new_empty(sizes.shape_of(spec, argument, problem), dtype=dtype))
        return found[0] if len(found) == 1 else tuple(found) or None

    digest = hashlib.sha256(os.fsencode(kernel.folder.resolve())).hexdigest()[:12]
    schema = f"({', '.join(texts)}) -> {results}"
    name = f"kiln_own::{spec.name}_{digest}"
    op = torch.library.custom_op(name, run, mutates_args=updated, schema=schema)
    op.register_fake(fake)
    return op
