"""The built-in kernels on pyopencl arrays, against NumPy.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import subprocess
import sys
import weakref

import pytest

import kiln

np = pytest.importorskip("numpy")


def random(*shape, dtype="float32"):
    """Numbers that are the same in every run."""
    return np.random.default_rng(7).standard_normal(shape).astype(dtype)


def test_matmul_makes_its_result(on_device):
    a, b = random(50, 70), random(70, 33)
    c = kiln.matmul(on_device(a), on_device(b))
    assert c.shape == (50, 33)
    np.testing.assert_allclose(c.get(), a @ b, rtol=1e-4, atol=1e-4)


def test_matmul_fills_out_and_returns_it(on_device):
    a, b, c = random(20, 30), random(30, 20), random(20, 20)
    out = on_device(c)
    assert kiln.matmul(on_device(a), on_device(b), out=out, alpha=2, beta=3) is out
    np.testing.assert_allclose(out.get(), 2 * (a @ b) + 3 * c, rtol=1e-4, atol=1e-4)


def test_matmul_adds_a_bias_along_either_side(on_device):
    a, b = random(20, 30), random(30, 24)
    columns, rows = random(24), random(20, 1)
    for bias in (columns, rows):
        c = kiln.matmul(on_device(a), on_device(b), bias=on_device(bias))
        np.testing.assert_allclose(c.get(), a @ b + bias, rtol=1e-4, atol=1e-4)
    twice = [
        kiln.matmul(on_device(a), on_device(b), bias=on_device(v), epilogue="max(2 * x - bias, 0)")
        for v in (columns, columns + 1)
    ]
    for c, v in zip(twice, (columns, columns + 1)):
        np.testing.assert_allclose(c.get(), np.maximum(2 * (a @ b) - v, 0), rtol=1e-4, atol=1e-4)


def test_an_epilogue_and_its_bias_go_together(on_device):
    a = on_device(random(8, 8))
    with pytest.raises(kiln.ArgumentError, match="the epilogue 'max\\(x, 0\\)' has no bias"):
        kiln.matmul(a, a, bias=on_device(random(8)), epilogue="max(x, 0)")
    with pytest.raises(kiln.ArgumentError, match="this epilogue needs bias="):
        kiln.matmul(a, a, epilogue="x + bias")
    with pytest.raises(kiln.ArgumentError, match="this epilogue needs out="):
        kiln.matmul(a, a, epilogue="x * c")
    with pytest.raises(kiln.ArgumentError, match="residual= and an epilogue with residual"):
        kiln.convolve(a, on_device(random(3, 3)), epilogue="x + residual")


def test_matmul_takes_a_transposed_view_as_it_is(on_device):
    a, b = random(30, 20), random(30, 40)
    c = kiln.matmul(on_device(a).T, on_device(b))
    np.testing.assert_allclose(c.get(), a.T @ b, rtol=1e-4, atol=1e-4)


def test_matmul_of_batches(on_device):
    a, b = random(3, 20, 30), random(3, 30, 12)
    c = kiln.matmul(on_device(a), on_device(b))
    assert c.shape == (3, 20, 12)
    np.testing.assert_allclose(c.get(), a @ b, rtol=1e-4, atol=1e-4)
    shared = kiln.matmul(on_device(a), on_device(b[1]))
    np.testing.assert_allclose(shared.get(), a @ b[1], rtol=1e-4, atol=1e-4)
    turned = kiln.matmul(on_device(a[0].copy()).T, on_device(random(3, 20, 8)))
    np.testing.assert_allclose(turned.get(), a[0].T @ random(3, 20, 8), rtol=1e-4, atol=1e-4)
    out = on_device(random(1, 20, 12))
    assert kiln.matmul(on_device(a[:1]), on_device(b[:1]), out=out) is out
    np.testing.assert_allclose(out.get(), a[:1] @ b[:1], rtol=1e-4, atol=1e-4)


def test_matmul_of_whole_numbers(on_device):
    draw = np.random.default_rng(7)
    a = draw.integers(-128, 128, (20, 300), dtype=np.int8)
    b = draw.integers(-128, 128, (300, 12), dtype=np.int8)
    exact = a.astype(np.int32) @ b.astype(np.int32)
    c = kiln.matmul(on_device(a), on_device(b))
    assert c.dtype == np.int32
    np.testing.assert_array_equal(c.get(), exact)
    scaled = kiln.matmul(on_device(a), on_device(b), alpha=0.5, out_dtype="f32")
    np.testing.assert_allclose(scaled.get(), exact * np.float32(0.5), rtol=1e-6)


def test_reduce_to_one_number(on_device):
    x = random(1000)
    for op, expected in (("sum", x.sum()), ("min", x.min()), ("max", x.max())):
        result = kiln.reduce(on_device(x), op=op)
        assert result.shape == ()
        np.testing.assert_allclose(result.get(), expected, rtol=1e-4)


def test_reduce_with_a_formula_and_two_vectors(on_device):
    x, y = random(1000), random(1000)[::-1].copy()
    squares = kiln.reduce(on_device(x), map="x * x")
    np.testing.assert_allclose(squares.get(), (x * x).sum(), rtol=1e-4)
    dot = kiln.reduce(on_device(x), op="dot", other=on_device(y))
    np.testing.assert_allclose(dot.get(), x @ y, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_reduce_along_an_axis(on_device, axis):
    x = random(40, 60)
    np.testing.assert_allclose(
        kiln.reduce(on_device(x), axis=axis).get(), x.sum(axis=axis), rtol=1e-3, atol=1e-4
    )


@pytest.mark.parametrize("axis", [(0, 1), (1, 2, 3), -1, (0, 2), [3], (0, 1, 2, 3)])
def test_reduce_over_several_axes(on_device, axis):
    x = random(5, 1, 7, 11)
    got = kiln.reduce(on_device(x), axis=axis).get()
    expected = x.sum(axis=tuple(np.atleast_1d(axis)))
    assert got.shape == expected.shape
    np.testing.assert_allclose(got, expected, rtol=1e-3, atol=1e-4)


def test_reduce_names_axes_that_it_does_not_take(on_device):
    x = on_device(random(5, 6, 7))
    for axis in (1, (0, 2)):
        with pytest.raises(kiln.ShapeError, match="expected the first axes or the last ones"):
            kiln.reduce(x, axis=axis)
    for axis in (3, (0, 0), ()):
        with pytest.raises(kiln.ShapeError, match="does not name axes of shape \\[5, 6, 7\\]"):
            kiln.reduce(x, axis=axis)


def test_histogram_of_bytes_and_of_floats(on_device):
    samples = np.random.default_rng(7).integers(0, 256, 5000).astype("uint8")
    counts = kiln.histogram(on_device(samples))
    assert counts.dtype == np.uint32
    assert (counts.get() == np.bincount(samples, minlength=256)).all()
    x = np.random.default_rng(7).random(5000).astype("float32")
    counts = kiln.histogram(on_device(x), bins=16, low=0, high=1)
    assert (counts.get() == np.histogram(x, 16, (0, 1))[0]).all()


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "int64", "complex64"])
def test_transpose_moves_elements_of_any_kind(on_device, dtype):
    x = (100 * random(30, 40)).astype(dtype)
    out = kiln.transpose(on_device(x))
    assert out.dtype == x.dtype
    assert (out.get() == x.T).all()


def test_transpose_of_a_batch(on_device):
    x = random(3, 10, 20)
    assert (kiln.transpose(on_device(x)).get() == x.transpose(0, 2, 1)).all()


def test_convolve_image_and_layer(on_device):
    x, taps = random(12, 15), random(3, 3)
    padded = np.pad(x, 1)
    expected = sum(taps[i, j] * padded[i : i + 12, j : j + 15] for i in range(3) for j in range(3))
    result = kiln.convolve(on_device(x), on_device(taps))
    np.testing.assert_allclose(result.get(), expected, rtol=1e-4, atol=1e-4)
    coarse = kiln.convolve(on_device(x), on_device(taps), precision="medium")
    np.testing.assert_allclose(coarse.get(), expected, rtol=5e-2, atol=5e-2)
    layer = kiln.convolve(on_device(random(2, 4, 9, 9)), on_device(random(6, 4, 3, 3)), padding=0)
    assert layer.shape == (2, 6, 7, 7)


def convolved(x, taps, dilation=1):
    """Of x[n][c][h][w] and taps[k][c][3][3], zeros around."""
    n, _, h, w = x.shape
    padded = np.pad(x, ((0, 0), (0, 0), (dilation, dilation), (dilation, dilation)))
    out = np.zeros((n, taps.shape[0], h, w))
    for i in range(3):
        for j in range(3):
            rows, cols = slice(i * dilation, i * dilation + h), slice(j * dilation, j * dilation + w)
            out += np.einsum("nchw,kc->nkhw", padded[:, :, rows, cols], taps[:, :, i, j])
    return out


def test_convolve_with_bias_residual_and_activation(on_device):
    x, taps = random(2, 4, 9, 11), random(6, 4, 3, 3)
    bias, residual = random(6), random(2, 6, 9, 11)
    plain = convolved(x, taps, dilation=2) + bias[:, None, None]
    device = [on_device(v) for v in (x, taps, bias, residual)]
    for _ in range(2):  # the second time by the call that is known
        added = kiln.convolve(device[0], device[1], bias=device[2], dilation=2)
        np.testing.assert_allclose(added.get(), plain, rtol=1e-4, atol=1e-4)
    active = kiln.convolve(
        device[0],
        device[1],
        bias=device[2],
        residual=device[3],
        dilation=2,
        epilogue="max(x + bias + residual, 0)",
    )
    np.testing.assert_allclose(active.get(), np.maximum(plain + residual, 0), rtol=1e-4, atol=1e-4)


def test_convolve_of_arrays_with_their_channels_last(on_device):
    x, taps, residual = random(2, 4, 9, 11), random(6, 4, 3, 3), random(2, 6, 9, 11)

    def channels_last(values):
        return on_device(np.ascontiguousarray(values.transpose(0, 2, 3, 1))).transpose((0, 3, 1, 2))

    turned = [channels_last(v) for v in (x, taps, residual)]
    for _ in range(2):
        out = kiln.convolve(turned[0], turned[1], residual=turned[2])
        assert out.shape == (2, 6, 9, 11)
        found = out.transpose((0, 2, 3, 1)).get().transpose(0, 3, 1, 2)
        np.testing.assert_allclose(found, convolved(x, taps) + residual, rtol=1e-4, atol=1e-4)
    with pytest.raises(kiln.LayoutError, match="all have their channels last"):
        kiln.convolve(turned[0], on_device(taps))


def test_a_bound_call_repeats(on_device):
    a, b = random(16, 16), random(16, 16)
    device_a = on_device(a)
    product = kiln.bind(kiln.matmul, device_a, on_device(b))
    first = product()
    assert product() is first
    np.testing.assert_allclose(first.get(), a @ b, rtol=1e-4, atol=1e-4)
    device_a.fill(0)
    product()
    assert (first.get() == 0).all()


def test_a_bound_call_takes_other_memory(on_device, queue):
    x, y = random(8, 4), random(8, 4)[::-1].copy()
    device_y, out = on_device(y), on_device(random(4, 8))
    call = kiln.bind(kiln.transpose, on_device(x), out=on_device(random(4, 8)))
    assert call.names == ["in", "out"]
    addresses = device_y.base_data.int_ptr, out.base_data.int_ptr
    call.at(*addresses, stream=queue.int_ptr)
    assert (out.get() == y.T).all()
    with pytest.raises(TypeError, match="2 addresses are needed, 1 were given"):
        call.at(addresses[0], stream=queue.int_ptr)


def test_a_plain_buffer_with_a_named_queue(cl, queue):
    x, result = random(256), np.empty(1, "float32")
    flags = cl.mem_flags
    given = cl.Buffer(queue.context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=x)
    out = cl.Buffer(queue.context, flags.WRITE_ONLY, 4)
    kernel = kiln.Launcher(queue).prepare("reduce", n=256)
    kernel(**{"in": given, "out": out}, stream=queue)
    cl.enqueue_copy(queue, result, out)
    np.testing.assert_allclose(result[0], x.sum(), rtol=1e-4, atol=1e-4)


def test_an_explicit_launcher(queue, on_device):
    launcher = kiln.Launcher(queue)
    x = random(8, 8)
    assert (kiln.transpose(on_device(x), launcher=launcher).get() == x.T).all()
    match = launcher.select("transpose", rows=8, cols=8)
    assert match.grade in ("default", "same_vendor", "same_arch", "near_size", "exact")
    assert match.config and match.reason
    launcher.forget_stream(queue)


class Counting(kiln.Launcher):
    """Counts the kernels that it prepares."""

    prepared = 0

    def prepare(self, kernel, **problem):
        self.prepared += 1
        return super().prepare(kernel, **problem)


def test_a_launcher_prepares_once_unless_it_tunes(queue, on_device, monkeypatch):
    monkeypatch.setenv("KILN_PROGRAM", "/bin/false")  # every session ends at once
    x = on_device(random(8, 8))
    for tune_on_miss, expected in (("never", 1), ("background", 3)):
        launcher = Counting(queue, tune_on_miss=tune_on_miss)
        for _ in range(3):
            kiln.transpose(x, launcher=launcher)
        assert launcher.prepared == expected


def test_a_launcher_closes_when_it_is_let_go(queue, on_device):
    launcher = kiln.Launcher(queue)
    kiln.transpose(on_device(random(8, 8)), launcher=launcher)
    seen = weakref.ref(launcher)
    del launcher
    assert seen() is None


def test_a_launcher_writes_down_its_calls_when_the_program_ends(queue, tmp_path):
    calls = tmp_path / "calls.jsonl"
    program = (
        "import sys, kiln\n"
        "launcher = kiln.Launcher('opencl:0', timing='eager', statistics=sys.argv[1])\n"
        "for _ in range(2):\n"
        "    launcher.select('transpose', rows=8, cols=8)\n"
    )
    subprocess.run([sys.executable, "-c", program, str(calls)], check=True)
    row = json.loads(calls.read_text().splitlines()[-1])
    assert row["kernel"] == "transpose"
    assert row["selections"] == 2
    with pytest.raises(kiln.ArgumentError, match="timing is 'lazy'; expected automatic, eager or"):
        kiln.Launcher(queue, timing="lazy")


def test_parameters_say_what_a_kernel_takes(queue):
    kernel = kiln.Launcher(queue).prepare("matmul", m=5, n=6, k=7)
    assert list(map(str, kernel.parameters.values())) == [
        "f32[5][7] a", "f32[7][6] b", "f32[5][6] c", "f32 alpha", "f32 beta",
    ]  # fmt: skip


def test_a_repeated_call_reads_the_arrays_that_it_is_given(on_device):
    results = []
    for seed in range(3):
        x = np.random.default_rng(seed).standard_normal((12, 10)).astype("float32")
        results.append((kiln.transpose(on_device(x)), x))
    for result, x in results:
        assert (result.get() == x.T).all()
    kiln.reload()
    assert (kiln.transpose(on_device(results[0][1])).get() == results[0][1].T).all()


def test_a_repeated_call_still_checks(on_device):
    a, b = on_device(random(4, 6)), on_device(random(6, 4))
    kiln.matmul(a, b)
    kiln.matmul(a, b)
    with pytest.raises(kiln.ShapeError):
        kiln.matmul(a, b, out=on_device(random(6, 4)))
    with pytest.raises(kiln.ShapeError):
        kiln.matmul(a, on_device(random(5, 4)))


def test_arrays_that_begin_behind_others_in_one_buffer(on_device):
    whole = on_device(random(8, 16))
    for first in (4, 0, 4):
        rows = whole[first : first + 4]
        assert (kiln.transpose(rows).get() == whole.get()[first : first + 4].T).all()


TWO_DEVICES = """
import numpy as np, pyopencl as cl, pyopencl.array, kiln
devices = [each for platform in cl.get_platforms() for each in platform.get_devices()]
if len(devices) < 2 or devices[0].platform != devices[1].platform:
    raise SystemExit("no two devices")
context = cl.Context(devices[:2])
queues = [cl.CommandQueue(context, device) for device in devices[:2]]
x = np.arange(12, dtype="float32").reshape(3, 4)
given = [cl.array.to_device(queue, x) for queue in queues]
out = cl.array.zeros(queues[0], (4, 3), "float32")
for index, stream in ((0, None), (0, None), (1, None), (0, queues[1])):
    out.fill(0)
    queues[0].finish()
    kiln.transpose(given[index], out=out, stream=stream)
    for queue in queues:
        queue.finish()
    print((out.get() == x.T).all())
kernel = kiln.Launcher(queues[0]).prepare("transpose", rows=3, cols=4)
for wrong in (
    lambda: kernel(**{"in": given[0], "out": out}, stream=queues[1]),
    lambda: kiln.transpose(given[1], launcher=kiln.Launcher(queues[0])),
):
    try:
        wrong()
    except kiln.DeviceMismatchError as error:
        print(error)
"""


def test_two_devices_of_one_context(cl):
    environment = {**os.environ, "POCL_DEVICES": "pthread pthread"}
    program = [sys.executable, "-c", TWO_DEVICES]
    result = subprocess.run(program, env=environment, capture_output=True, text=True, check=False)
    if "no two devices" in result.stderr:
        pytest.skip("there is no context of two OpenCL devices")
    refusal = "transpose: the queue is on another device of its context than the launcher"
    assert result.stdout.splitlines() == ["True"] * 4 + [refusal] * 2, result.stderr


def test_calls_from_many_threads(cl, queue):
    import threading

    import pyopencl.array

    failures = []

    def work(seed):
        own = cl.CommandQueue(queue.context)
        x = np.random.default_rng(seed).standard_normal((32, 24)).astype("float32")
        for _ in range(20):
            out = kiln.transpose(pyopencl.array.to_device(own, x))
            if not (out.get() == x.T).all():
                failures.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
