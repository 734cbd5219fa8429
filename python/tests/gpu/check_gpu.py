#!/usr/bin/env python3
"""Runs the installed package on a CUDA device: results against torch and CuPy, a side stream,
torch.compile and a captured graph. python/bench/call_cost.py has what a call costs.

    check_gpu.py [--seconds N]

Prints one line a check and ends with 1 if one failed, with 77 if there is no CUDA device. Tunes
matmul, reduce and transpose for N seconds each (default 10) in a database of its own.
SPDX-License-Identifier: Apache-2.0
"""

import argparse
import os
import pathlib
import sys
import tempfile
import traceback

FOLDER = pathlib.Path(tempfile.mkdtemp(prefix="kiln-gpu-"))
os.environ["KILN_DB"] = str(FOLDER / "kiln.db")
os.environ["KILN_CACHE"] = str(FOLDER / "cache")

import torch  # noqa: E402  pylint: disable=wrong-import-position

import kiln  # noqa: E402  pylint: disable=wrong-import-position
import kiln.torch as kt  # noqa: E402  pylint: disable=wrong-import-position

CHECKS = []
DTYPES = {torch.float32: 2e-3, torch.float16: 2e-2, torch.bfloat16: 5e-2}


def check(function):
    """Makes a function one of the checks; its name is the name of the check."""
    CHECKS.append(function)
    return function


def close(found, expected, tolerance):
    """Compares in f64, relative to the largest expected element."""
    found, expected = found.double(), expected.double()
    worst = ((found - expected).abs().max() / expected.abs().max().clamp(min=1e-30)).item()
    assert worst <= tolerance, f"differs by {worst:.2g} of the largest element"
    return f"error {worst:.1e}"


def operands(m, n, k, dtype=torch.float32):
    return (torch.randn(m, k, device="cuda").to(dtype), torch.randn(k, n, device="cuda").to(dtype))


@check
def matmul_against_torch():
    texts = []
    for dtype, tolerance in DTYPES.items():
        a, b = operands(513, 257, 1025, dtype)
        exact = a.double() @ b.double()
        texts.append(f"{str(dtype)[6:]} " + close(kiln.matmul(a, b), exact, tolerance))
        close(kiln.matmul(a, b.t().contiguous().t()), exact, tolerance)
    return ", ".join(texts)


@check
def reduce_against_torch():
    x = torch.randn(1 << 20, device="cuda")
    matrix = torch.randn(300, 700, device="cuda", dtype=torch.float64)
    close(kiln.reduce(matrix, axis=0), matrix.sum(0), 1e-9)
    close(kiln.reduce(matrix, axis=1, op="max"), matrix.amax(1), 0)
    close(kiln.reduce(x, map="x * x"), (x.double() ** 2).sum(), 1e-5)
    return close(kiln.reduce(x.abs()), x.abs().double().sum(), 1e-5)


@check
def transpose_against_torch():
    for dtype in (torch.uint8, torch.float16, torch.float32, torch.int64, torch.complex64):
        x = (100 * torch.randn(3, 130, 77, device="cuda")).to(dtype)
        assert torch.equal(kiln.transpose(x), x.transpose(1, 2).contiguous()), dtype


@check
def histogram_and_convolve_against_torch():
    x = torch.randint(0, 256, (100_000,), device="cuda", dtype=torch.uint8)
    assert torch.equal(kiln.histogram(x).long(), torch.bincount(x.int(), minlength=256))
    image, taps = torch.randn(2, 8, 40, 50, device="cuda"), torch.randn(16, 8, 3, 3, device="cuda")
    torch.backends.cudnn.allow_tf32 = False
    expected = torch.nn.functional.conv2d(image.double(), taps.double(), padding=1)
    return close(kiln.convolve(image, taps, padding=1), expected, 1e-4)


@check
def fused_layers_against_torch():
    texts = []
    for dtype, tolerance in DTYPES.items():
        a, b = operands(300, 264, 512, dtype)
        bias = torch.randn(264, device="cuda").to(dtype)
        linear = a.double() @ b.double() + bias.double()
        gelu = "(x + bias) * (1 + erf((x + bias) / sqrt(2))) / 2"
        close(kiln.matmul(a, b, bias=bias), linear, tolerance)
        found = kiln.matmul(a, b, bias=bias, epilogue=gelu)
        texts.append(close(found, torch.nn.functional.gelu(linear), tolerance))
        last = torch.channels_last
        image = torch.randn(2, 16, 24, 20, device="cuda").to(dtype).to(memory_format=last)
        taps = torch.randn(32, 16, 3, 3, device="cuda").to(dtype).to(memory_format=last)
        residual = torch.randn(2, 32, 24, 20, device="cuda").to(dtype).to(memory_format=last)
        layer = torch.nn.functional.conv2d(
            image.double(), taps.double(), bias[:32].double(), padding=1
        )
        found = kiln.convolve(
            image,
            taps,
            bias=bias[:32],
            residual=residual,
            epilogue="max(x + bias + residual, 0)",
        )
        assert found.is_contiguous(memory_format=last)
        texts.append(close(found, torch.relu(layer + residual.double()), tolerance))
    return ", ".join(texts)


@check
def precision_of_f32():
    a, b = operands(512, 512, 1024)
    exact = a.double() @ b.double()
    highest = close(kiln.matmul(a, b), exact, 1e-5)
    return highest + ", high " + close(kiln.matmul(a, b, precision="high"), exact, 2e-3)


@check
def batches_against_torch():
    texts = []
    for dtype, tolerance in DTYPES.items():
        a = torch.randn(5, 130, 72, device="cuda").to(dtype)
        b = torch.randn(5, 72, 96, device="cuda").to(dtype)
        exact = torch.bmm(a.double(), b.double())
        texts.append(close(kiln.matmul(a, b), exact, tolerance))
        close(kiln.matmul(a, b.mT.contiguous().mT), exact, tolerance)
        close(kiln.matmul(a, b[2]), a.double() @ b[2].double(), tolerance)
        heads = torch.randn(130, 5, 72, device="cuda").to(dtype).transpose(0, 1).contiguous()
        close(kt.matmul(heads, b), torch.bmm(heads.double(), b.double()), tolerance)
    return ", ".join(texts)


@check
def narrow_types_against_torch():
    a = torch.randint(-128, 128, (130, 512), device="cuda", dtype=torch.int8)
    b = torch.randint(-128, 128, (512, 96), device="cuda", dtype=torch.int8)
    assert torch.equal(kiln.matmul(a, b), torch._int_mm(a, b))
    texts = []
    for dtype in (torch.float8_e4m3fn, torch.float8_e5m2):
        a, b = operands(130, 96, 512, dtype)
        exact = a.double() @ b.double()
        texts.append(close(kiln.matmul(a, b.t().contiguous().t()), exact, 2e-2))
        texts.append(close(kiln.matmul(a, b, out_dtype="f32"), exact, 2e-3))
    return ", ".join(texts)


@check
def side_stream():
    a, b = operands(256, 256, 256)
    stream = torch.cuda.Stream()
    for function, expected in (
        (lambda x: kiln.matmul(x, b), lambda x: x.double() @ b.double()),
        (lambda x: kiln.transpose(x), lambda x: x.double().t()),
        (lambda x: kiln.reduce(x, map="x * x"), lambda x: (x.double() ** 2).sum()),
    ):
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            function(a)  # compiles, which takes longer than the device sleeps
            torch.cuda._sleep(100_000_000)  # work of another stream would overtake this
            late = a + 1
            result = function(late)
        assert not stream.query(), "the call waited for the device"
        stream.synchronize()
        close(result, expected(late), 2e-3)


@check
def explicit_stream():
    a, b = operands(256, 256, 256)
    out = torch.empty(256, 256, device="cuda")
    stream = torch.cuda.Stream()
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(50_000_000)
        late = a + 1
    kiln.matmul(late, b, out=out, stream=stream)
    torch.cuda.synchronize()
    return close(out, late.double() @ b.double(), 2e-3)


@check
def compiled_function():
    a, b = operands(256, 128, 64)

    @torch.compile(fullgraph=True)
    def layer(x, w):
        return torch.relu(kt.matmul(x, w)) + kt.reduce(x, "sum", 1)[:, None] + kt.transpose(w).sum()

    expected = torch.relu(a @ b) + a.sum(1)[:, None] + b.sum()
    close(layer(a, b), expected, 2e-3)
    a2, b2 = operands(300, 128, 64)
    return close(layer(a2, b2), torch.relu(a2 @ b2) + a2.sum(1)[:, None] + b2.sum(), 2e-3)


@check
def compiled_with_cuda_graphs():
    a, b = operands(256, 128, 64)

    @torch.compile(fullgraph=True, mode="reduce-overhead")
    def layer(x, w):
        return torch.relu(kt.matmul(x, w)) * 2

    for _ in range(4):
        result = layer(a, b).clone()
    return close(result, torch.relu(a @ b) * 2, 2e-3)


@check
def captured_graph():
    a, b = operands(256, 128, 512)
    stream, graph = torch.cuda.Stream(), torch.cuda.CUDAGraph()
    stream.wait_stream(torch.cuda.current_stream())

    def work():
        return kiln.matmul(a, b), kiln.transpose(a), kiln.reduce(a, axis=1)

    with torch.cuda.stream(stream):
        work()
    torch.cuda.synchronize()
    with torch.cuda.graph(graph, stream=stream):
        c, t, r = work()
    for seed in (1, 2):
        torch.manual_seed(seed)
        a.normal_()
        graph.replay()
        torch.cuda.synchronize()
        close(c, a.double() @ b.double(), 2e-3)
        assert torch.equal(t, a.t().contiguous())
        close(r, a.double().sum(1), 1e-3)


@check
def kernel_of_ones_own():
    source = "if (THREAD_X < n) y[THREAD_X] = x[2 * THREAD_X + 1] + by; }"
    add = kiln.kernel(
        "KERNEL(64, 1, 1) add(GLOBAL const f32* x, GLOBAL f32* y, f32 by, i32 n) { " + source,
        arguments={"x": "read f32[2 * n + 1]", "y": "write f32[n]", "by": "f32 example 1", "n": "i32 = n"},
        grid="1",
        block="64",
    )
    op = kt.operator(add)
    compiled = torch.compile(lambda x: op(x, 0.5) * 2, fullgraph=True, dynamic=True)
    for size in (9, 13):
        x = torch.randn(size, device="cuda")
        assert torch.equal(compiled(x), 2 * (x[1::2] + 0.5))
    torch.library.opcheck(op, (x, 0.5))
    stream, graph = torch.cuda.Stream(), torch.cuda.CUDAGraph()
    with torch.cuda.stream(stream):
        add(x, 0.5)
    torch.cuda.synchronize()
    with torch.cuda.graph(graph, stream=stream):
        y = add(x, 0.5)
    x.fill_(3)
    graph.replay()
    torch.cuda.synchronize()
    assert (y == 3.5).all()


@check
def arrays_of_cupy():
    import cupy

    x = cupy.random.default_rng(1).standard_normal((100, 60), dtype="float32")
    cupy.cuda.Device().synchronize()
    with cupy.cuda.Stream(non_blocking=True) as stream:
        result = kiln.transpose(x)
        stream.synchronize()
    assert type(result) is cupy.ndarray and (result == x.T).all()
    assert kiln.reduce(x).shape == ()
    return "cupy " + cupy.__version__


@check
def arrays_by_dlpack():
    class Exporter:
        """Only DLPack."""

        def __init__(self, tensor):
            self.tensor = tensor

        def __dlpack_device__(self):
            return self.tensor.__dlpack_device__()

        def __dlpack__(self, stream=None):
            return self.tensor.__dlpack__(stream=stream)

    x, out = torch.randn(40, 30, device="cuda"), torch.empty(30, 40, device="cuda")
    stream = torch.cuda.current_stream()
    kiln.transpose(Exporter(x), out=Exporter(out), stream=stream)
    assert torch.equal(out, x.t().contiguous())


@check
def errors():
    gpu = torch.zeros(4, 4, device="cuda")
    for wrong, kind in (
        (lambda: kiln.matmul(torch.zeros(4, 4), gpu), kiln.HostArrayError),
        (lambda: kiln.matmul(gpu, gpu.double()), kiln.DtypeError),
        (lambda: kiln.matmul(gpu, gpu[:3]), kiln.ShapeError),
        (lambda: kiln.transpose(gpu[:, ::2]), kiln.LayoutError),
        (lambda: kiln.reduce(gpu[:1, 1:]), kiln.ArgumentError),  # not aligned
        (lambda: kiln.Launcher("cuda:99"), kiln.NoDeviceError),
    ):
        try:
            wrong()
        except kind as error:
            assert str(error)
        else:
            raise AssertionError(f"no {kind.__name__}")
    if torch.cuda.device_count() > 1:
        try:
            kiln.matmul(gpu, gpu.to("cuda:1"))
        except kiln.DeviceMismatchError:
            return "with a second device"
        raise AssertionError("no DeviceMismatchError")
    return "one device: DeviceMismatchError is not tried"


def tune(seconds):
    for kernel, problem in (
        ("matmul", {"m": 513, "n": 257, "k": 1025, "dtype": "bf16"}),
        ("reduce", {"n": 1 << 20}),
        ("transpose", {"rows": 130, "cols": 77, "batch": 3}),
    ):
        print(
            "tuned:", kiln.tune(kernel, seconds=seconds, device="cuda", progress=False, **problem)
        )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=10)
    seconds = parser.parse_args().seconds
    if not torch.cuda.is_available():
        print("skipped: torch has no CUDA device")
        return 77
    print(
        f"{torch.cuda.get_device_name()}, torch {torch.__version__}, Python {sys.version.split()[0]}"
    )
    torch.manual_seed(0)
    if seconds > 0:
        tune(seconds)
    failed = 0
    for function in CHECKS:
        try:
            text = function()
        except Exception:  # pylint: disable=broad-except
            failed += 1
            text = "FAILED\n" + traceback.format_exc()
        print(f"{function.__name__}: {text or 'ok'}", flush=True)
    print(f"{len(CHECKS) - failed} of {len(CHECKS)} checks passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
