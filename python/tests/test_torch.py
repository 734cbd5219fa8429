"""The operators of kiln.torch: their registration anywhere, gradients and torch's own checks where
there is CUDA. gpu/check_gpu.py has their results, streams and graphs.

SPDX-License-Identifier: Apache-2.0
"""

import pytest

torch = pytest.importorskip("torch")

import kiln  # noqa: E402  pylint: disable=wrong-import-position
import kiln.torch  # noqa: E402  pylint: disable=wrong-import-position

on_cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="torch has no CUDA device")


def fake(*shape, dtype=torch.float32):
    """A tensor without memory, for fake implementations."""
    return torch.empty(shape, dtype=dtype, device="meta")


def test_fake_implementations_know_shapes_and_types():
    half = torch.float16
    assert kiln.torch.matmul(fake(5, 7), fake(7, 3)).shape == (5, 3)
    assert kiln.torch.reduce(fake(5, 7, dtype=half)).dtype == torch.float32
    assert kiln.torch.reduce(fake(5, 7), axis=0).shape == (7,)
    assert kiln.torch.reduce(fake(5, 7), axis=-1).shape == (5,)
    assert kiln.torch.transpose(fake(2, 5, 7)).shape == (2, 7, 5)
    assert kiln.torch.histogram(fake(9, dtype=torch.uint8)).shape == (256,)
    assert kiln.torch.convolve(fake(2, 4, 9, 9), fake(6, 4, 3, 3), 1, 1).shape == (2, 6, 9, 9)


def test_fake_matmuls_of_batches_and_narrow_types():
    assert kiln.torch.matmul(fake(2, 5, 7), fake(7, 3)).shape == (2, 5, 3)
    narrow = fake(5, 7).to(torch.float8_e4m3fn)
    assert kiln.torch.matmul(narrow, narrow.mT).dtype == torch.bfloat16


def test_a_fake_convolution_lies_in_memory_as_the_real_one():
    x, taps = fake(2, 4, 9, 8), fake(6, 4, 3, 3)
    assert kiln.torch.convolve(x, taps).stride() == (252, 42, 6, 1)
    last = [each.to(memory_format=torch.channels_last) for each in (x, taps)]
    out = kiln.torch.convolve(*last)
    assert (out.shape, out.stride()) == ((2, 6, 7, 6), (252, 1, 36, 6))
    assert kiln.torch.convolve(fake(9, 8), fake(3, 3), 1, 1).shape == (9, 8)
    with pytest.raises(RuntimeError, match="expected x and filter of 2 dimensions, or both of 4"):
        kiln.torch.convolve(fake(2, 4, 9, 8), fake(3, 3))


def test_a_fake_matmul_of_wrong_shapes_fails():
    with pytest.raises(RuntimeError, match="columns of a are not rows of b"):
        kiln.torch.matmul(fake(5, 7), fake(8, 3))


def test_a_kernel_of_ones_own_is_an_operator(queue):
    arguments = {"x": "read f32[2 * n + 1]", "y": "write f32[n]", "count": "read_write i32[1]"}
    arguments.update({"by": "f32 example 1", "n": "i32 = n"})
    source = (
        "KERNEL(64, 1, 1) shift(GLOBAL const f32* x, GLOBAL f32* y, GLOBAL i32* count, f32 by, i32 n) { "
        "if (THREAD_X < n) y[THREAD_X] = x[2 * THREAD_X + 1] + by; if (THREAD_X == 0) count[0] += 1; }"
    )
    op = kiln.torch.operator(kiln.kernel(source, arguments=arguments, grid="1", block="64"))
    count = torch.zeros(1, dtype=torch.int32)
    assert op(fake(9), count.to("meta"), 0.5).shape == (4,)
    with pytest.raises(kiln.ShapeError, match=r"'x' has 8 elements .* 2 \* n \+ 1: no n gives that"):
        op(fake(8), count.to("meta"), 0.5)
    with pytest.raises(kiln.HostArrayError, match="argument 'x' is in host memory"):
        op(torch.zeros(9), count, 0.5)
    graphs = []

    def backend(module, _):
        graphs.append(str(module.graph))
        return module.forward

    compiled = torch.compile(lambda x: op(x, count, 0.5) * 2, backend=backend, fullgraph=True, dynamic=True)
    with pytest.raises(kiln.HostArrayError):
        compiled(torch.zeros(9))
    assert "torch.ops.kiln_own.shift_" in graphs[0]


@on_cuda
def test_lazy_views_are_refused():
    x = torch.randn(8, 8, dtype=torch.complex64, device="cuda")
    with pytest.raises(kiln.LayoutError, match="resolve_conj"):
        kiln.transpose(x.conj())
    with pytest.raises(kiln.LayoutError, match="resolve_neg"):
        kiln.reduce(x.conj().imag)


@on_cuda
def test_operators_satisfy_torchs_own_checks():
    a, b = torch.randn(32, 16, device="cuda"), torch.randn(16, 8, device="cuda")
    torch.library.opcheck(kiln.torch.matmul, (a, b))
    torch.library.opcheck(kiln.torch.transpose, (a,))
    torch.library.opcheck(kiln.torch.reduce, (a,))
    x, taps = torch.randn(2, 4, 9, 8, device="cuda"), torch.randn(6, 4, 3, 3, device="cuda")
    torch.library.opcheck(kiln.torch.convolve, (x, taps))
    last = torch.channels_last
    pair = (x.to(memory_format=last), taps.to(memory_format=last))
    torch.library.opcheck(kiln.torch.convolve, pair)
    torch.library.opcheck(kiln.torch.convolve, (a, b[:3, :3].contiguous()))


@on_cuda
def test_gradients():
    a = torch.randn(32, 16, device="cuda", requires_grad=True)
    b = torch.randn(16, 8, device="cuda", requires_grad=True)
    kiln.torch.matmul(a, b).sum().backward()
    ones = torch.ones(32, 8, device="cuda")
    torch.testing.assert_close(a.grad, ones @ b.detach().t(), rtol=1e-3, atol=1e-3)
    torch.testing.assert_close(b.grad, a.detach().t() @ ones, rtol=1e-3, atol=1e-3)
