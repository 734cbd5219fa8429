"""One exception of a documented class for each mistake, with the argument's name in its text.

SPDX-License-Identifier: Apache-2.0
"""

import ctypes
import os
import subprocess
import sys
import types

import pytest

import kiln
from kiln import _arrays, _fast, _program, _streams

np = pytest.importorskip("numpy")


class CudaArray:
    """Says what a CUDA array would; there is no memory behind it."""

    def __init__(self, shape, typestr="<f4", device=0, strides=None, stream=None, read_only=False):
        self.__cuda_array_interface__ = {
            "shape": shape, "typestr": typestr, "data": (4096, read_only), "version": 3,
            "strides": strides, "stream": stream,
        }  # fmt: skip
        self._device = device

    def __dlpack_device__(self):
        return (2, self._device)


def zeros(*shape, dtype="float32"):
    return np.zeros(shape, dtype)


def test_host_memory(on_device):
    with pytest.raises(kiln.HostArrayError, match="matmul: argument 'a' is in host memory"):
        kiln.matmul(zeros(4, 4), zeros(4, 4))
    with pytest.raises(kiln.HostArrayError, match="matmul: argument 'b' is in host memory"):
        kiln.matmul(on_device(zeros(4, 4)), zeros(4, 4))


def test_a_cpu_tensor():
    torch = pytest.importorskip("torch")
    with pytest.raises(kiln.HostArrayError, match=r"'x' is in host memory \(torch.Tensor\)"):
        kiln.reduce(torch.zeros(5))


def test_no_array_at_all():
    with pytest.raises(kiln.ArgumentError, match="argument 'x' is a list; expected an array"):
        kiln.reduce([1.0, 2.0])


def test_wrong_dtype(on_device):
    with pytest.raises(kiln.DtypeError, match="matmul: argument 'b' holds f64, 'a' f32"):
        kiln.matmul(on_device(zeros(4, 4)), on_device(zeros(4, 4, dtype="float64")))
    with pytest.raises(kiln.DtypeError, match="products of f32 are not given as f64; expected f32"):
        kiln.matmul(
            on_device(zeros(4, 4)), on_device(zeros(4, 4)), out=on_device(zeros(4, 4, dtype="f8"))
        )
    with pytest.raises(kiln.DtypeError, match="arrays of i64 are not taken"):
        kiln.reduce(on_device(zeros(4, dtype="int64")))


def test_big_endian_numbers(on_device):
    big = on_device(zeros(4, 4, dtype=">f4"))
    for call in (kiln.transpose, kiln.reduce, lambda x: kiln.matmul(x, x)):
        with pytest.raises(kiln.DtypeError, match="arrays of >f4 are not taken"):
            call(big)


def test_out_dtype_that_is_no_type(on_device):
    a = on_device(zeros(4, 4))
    with pytest.raises(kiln.DtypeError, match="out_dtype 'flaot32' is no element type; expected f32"):
        kiln.matmul(a, a, out_dtype="flaot32")


def test_wrong_batch(on_device):
    a = on_device(zeros(2, 4, 4))
    with pytest.raises(kiln.ShapeError, match="'b' is a batch of 3 matrices, 'a' one of 2"):
        kiln.matmul(a, on_device(zeros(3, 4, 4)))
    with pytest.raises(kiln.ShapeError, match=r"'out' has shape \[2, 4, 5\]; expected \[2, 4, 4\]"):
        kiln.matmul(a, a, out=on_device(zeros(2, 4, 5)))
    with pytest.raises(kiln.DtypeError, match="products of i8 are not given as f64"):
        kiln.matmul(
            on_device(zeros(4, 4, dtype="int8")),
            on_device(zeros(4, 4, dtype="int8")),
            out_dtype="f64",
        )


def test_wrong_shape(on_device):
    with pytest.raises(kiln.ShapeError, match="it needs 4 rows, the columns of 'a'"):
        kiln.matmul(on_device(zeros(4, 4)), on_device(zeros(5, 4)))
    with pytest.raises(
        kiln.ShapeError, match=r"argument 'out' has shape \[4, 5\]; the problem needs \[1, 5, 4\]"
    ):
        kiln.transpose(on_device(zeros(4, 5)), out=on_device(zeros(4, 5)))
    with pytest.raises(kiln.ShapeError, match="no elements"):
        kiln.reduce(on_device(zeros(0)))


def test_not_contiguous(on_device):
    strided = on_device(zeros(8, 8))[:, ::2]
    with pytest.raises(kiln.LayoutError, match="'a' is not contiguous"):
        kiln.matmul(strided, on_device(zeros(4, 4)))
    with pytest.raises(kiln.LayoutError, match="'in' is not contiguous"):
        kiln.transpose(strided)
    a = on_device(zeros(8, 8))
    for bias in (a[:, 0], a[:, :1]):
        with pytest.raises(kiln.LayoutError, match="'bias' is not contiguous"):
            kiln.matmul(a, a, bias=bias)


def test_a_result_that_may_not_be_written(monkeypatch):
    def opened(*_):
        raise AssertionError("a launcher was opened")

    monkeypatch.setattr(kiln.launcher, "launcher_of", opened)
    x, out = CudaArray((4, 4), read_only=True), CudaArray((4, 4), read_only=True)
    for launcher in (None, object()):
        with pytest.raises(kiln.ArgumentError, match="transpose: argument 'out' is read-only"):
            kiln.transpose(x, out=out, stream=1, launcher=launcher)
        with pytest.raises(kiln.ArgumentError, match="transpose: argument 'out' is read-only"):
            kiln.bind(kiln.transpose, x, out=out, stream=1, launcher=launcher)
    with pytest.raises(AssertionError, match="a launcher was opened"):
        kiln.transpose(x, out=CudaArray((4, 4)), stream=1)  # what is read may be read-only


def test_another_device():
    with pytest.raises(
        kiln.DeviceMismatchError, match="matmul: argument 'b' is on cuda:1, 'a' on cuda:0"
    ):
        kiln.matmul(CudaArray((4, 4)), CudaArray((4, 4), device=1))


def test_another_context(cl, queue, on_device):
    import pyopencl.array

    other = cl.CommandQueue(cl.Context(queue.context.devices))
    with pytest.raises(kiln.DeviceMismatchError, match="'b' is on the OpenCL context"):
        kiln.matmul(on_device(zeros(4, 4)), pyopencl.array.to_device(other, zeros(4, 4)))


def test_missing_driver():
    code = (
        "import kiln\n"
        "try:\n  kiln.Launcher('cuda')\n"
        "except kiln.DriverMissingError as error: print('missing:', error)\n"
        "try:\n  kiln.tune('reduce', n=100, trials=1, device='cuda', progress=False)\n"
        "except kiln.DriverMissingError as error: print('missing:', error)\n"
    )
    environment = {**os.environ, "KILN_CUDA_LIBRARY": "/nowhere/libcuda.so.1"}
    result = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert result.stdout.count("missing:") == 2, result.stdout + result.stderr
    assert "CUDA driver library not found" in result.stdout


def test_corrupt_database(tmp_path):
    broken = tmp_path / "broken.db"
    broken.write_bytes(b"SQLite format 3\0" + bytes(range(256)) * 40)
    for ask in (
        lambda: kiln.open(broken),
        lambda: kiln.best("reduce", n=100, db=broken),
        lambda: kiln.check(broken),
        lambda: kiln.tune("reduce", n=100, trials=1, db=broken, progress=False),
    ):
        with pytest.raises(kiln.DatabaseError, match="broken.db"):
            ask()
    for name, found in (("none.db", "there is no such database"), ("", "is no file")):
        with pytest.raises(kiln.DatabaseError, match=found):
            kiln.open(tmp_path / name)


def test_a_database_on_a_server_is_refused_before_a_session(monkeypatch):
    asked = []

    def run(arguments, **_):
        asked.append(list(arguments))
        return _program.Answer(0, None, "")

    monkeypatch.setattr(_program, "run", run)
    for named, db in (("", "postgresql://host/kiln"), ("postgres://host/kiln", None)):
        monkeypatch.setenv("KILN_DB", named)
        for ask in (
            lambda: kiln.tune("reduce", n=100, db=db),
            lambda: kiln.sweep("plan.toml", db=db),
            lambda: kiln.open(db),
        ):
            with pytest.raises(kiln.DatabaseError, match="the database is on a server"):
                ask()
    assert not asked
    kiln.check("postgresql://host/kiln")
    assert asked == [["db", "check", "--db", "postgresql://host/kiln"]]


def test_damage_behind_a_good_header(tuned, tmp_path):
    _, database = tuned
    content = bytearray(database.read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)
    broken = tmp_path / "broken.db"
    broken.write_bytes(content)
    with kiln.open(broken) as opened, pytest.raises(kiln.DatabaseError, match="broken.db"):
        _ = opened.sessions


def test_an_unusable_database_is_a_warning_of_the_launcher(queue, tmp_path):
    broken = tmp_path / "broken.db"
    broken.write_bytes(b"no database at all" * 100)
    with pytest.warns(kiln.KilnWarning, match="broken.db"):
        kiln.Launcher(queue, database=broken)


def test_unknown_names(queue, on_device):
    with pytest.raises(kiln.ProblemError, match="redcue"):
        kiln.Launcher(queue).prepare("redcue", n=5)
    with pytest.raises(kiln.ProblemError, match="nn"):
        kiln.Launcher(queue).prepare("reduce", nn=5)
    kernel = kiln.Launcher(queue).prepare("reduce", n=5)
    with pytest.raises(kiln.ArgumentError, match="there is no argument 'ouy'; it takes in, out"):
        kernel(ouy=on_device(zeros(1)))
    with pytest.raises(kiln.ArgumentError, match=r"argument 'out' is missing \(f32\[1\] out\)"):
        kernel(**{"in": on_device(zeros(5))})


def test_histogram_of_nothing(on_device):
    with pytest.raises(kiln.ArgumentError, match="low must be below high"):
        kiln.histogram(on_device(zeros(5)), low=1, high=1)


def test_a_stream_must_be_known():
    with pytest.raises(kiln.ArgumentError, match="no array names its stream; pass stream="):
        _streams.current("reduce", kiln.calls._describe("reduce", x=CudaArray((4,)))[0].place, [])


def test_the_null_stream_is_the_legacy_one():
    class Stream:
        """As CuPy's null stream."""

        ptr = 0

    assert _streams.handle_of(Stream()) == 1
    assert _streams.handle_of(0) == 1
    assert _streams.handle_of(4096) == 4096
    with pytest.raises(kiln.ArgumentError, match="stream is a str"):
        _streams.handle_of("main")


def test_stream_zero_of_a_bound_call_is_the_legacy_one(monkeypatch):
    launches = []

    def launch(*given):
        launches.append(given)
        return 0

    monkeypatch.setattr(_fast, "launch_of", lambda *_: launch)
    handle = types.SimpleNamespace(value=ctypes.c_void_p(4096))
    kernel = types.SimpleNamespace(name="reduce", handle=handle)
    x = _arrays.describe("x", CudaArray((4,), stream=7))
    for bound, current in ((None, 7), (0, 1)):
        call = kiln.Call(kernel, {"x": x}, {}, bound)
        call()
        call(0)
        call(9)
        call.at(8192, stream=0)
        assert launches == [(current,), (1,), (9,), (1, 8192)]
        launches.clear()


def test_stream_zero_of_opencl_is_the_queue_of_the_launcher(on_device, queue):
    x = np.arange(12, dtype="float32").reshape(3, 4)
    given, out = on_device(x), on_device(zeros(4, 3))
    kiln.reload()  # the next call opens the package's launcher on this queue
    call = kiln.bind(kiln.transpose, given, out=out, stream=0)
    for again in (
        call,
        lambda: call(0),
        lambda: kiln.transpose(given, out=out),
        lambda: kiln.transpose(given, out=out, stream=0),
    ):
        out.fill(0)
        again()
        assert (out.get() == x.T).all()


def test_every_class_is_documented():
    """docs/python.md names each exception."""
    page = os.path.join(os.path.dirname(__file__), "..", "..", "docs", "python.md")
    if not os.path.exists(page):
        pytest.skip("the pages are not here")
    with open(page, encoding="utf-8") as file:
        text = file.read()
    missing = [name for name in kiln.errors.__all__ if f"`{name}`" not in text]
    assert not missing
