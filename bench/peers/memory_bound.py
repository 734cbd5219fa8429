#!/usr/bin/env python3
"""Reductions and histograms beside CUB, transposes beside cuBLAS, and a copy of the same bytes.

    bench/peers/memory_bound.py --list bench/sweeps/memory_bound.plan.toml --db kiln.db --seconds 10

docs/benchmarks.md has the method. SPDX-License-Identifier: Apache-2.0
"""

import ctypes
import functools
import os
import pathlib
import shutil
import subprocess
import tempfile
from ctypes import byref, c_double, c_float, c_int, c_int64, c_size_t, c_void_p

import common
from common import Peer, Workload, address, check, stream, torch

SOURCE = pathlib.Path(__file__).with_name("cub.cu")
CPP_TYPES = {
    "f32": "float", "f64": "double", "i32": "int", "u8": "unsigned char", "u32": "unsigned",
    "i64": "std::int64_t", "f16": "__half", "bf16": "__nv_bfloat16",
}  # fmt: skip
RANGES = {"u8": (0, 255), "i32": (-1e9, 1e9)}  # of inputs; floats: 0 to 1


@functools.lru_cache(maxsize=None)
def compiled(cub, call, in_type, out_type, op, level="int"):
    """The library of one call for one set of types."""
    nvcc = shutil.which("nvcc") or os.environ.get("CUDA_PATH", "/usr/local/cuda") + "/bin/nvcc"
    major, minor = torch.cuda.get_device_capability(0)
    made = pathlib.Path(tempfile.mkdtemp(prefix="kiln-cub-")) / "libcall.so"
    words = [nvcc, "-shared", "-O3", "-std=c++17", "-Xcompiler=-fPIC", f"-arch=sm_{major}{minor}"]
    # A checkout of CCCL has the headers in three folders.
    parts = ("cub", "thrust", "libcudacxx/include", "") if cub else ()
    words += [f"-I{pathlib.Path(cub) / part}" for part in parts]
    words += [f"-DCALL={call}", f"-DOP={op}", f"-DLEVEL={level}"]
    words += [f"-DIN={CPP_TYPES[in_type]}", f"-DOUT={CPP_TYPES[out_type]}", "-o", made, SOURCE]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, words))}\n{done.stderr}")
    loaded = ctypes.CDLL(str(made))
    shutil.rmtree(made.parent)
    return loaded


def cub_peer(name, loaded, source, result, n, rows=1, low=0.0, high=0.0, value=None):
    """A peer with its temporary storage."""
    data = [address(source), address(result), address(result if value is None else value)]
    sizes = [c_int64(n), c_int64(rows), c_double(low), c_double(high)]
    count = c_size_t(0)
    check(loaded.cub_run(None, byref(count), *data, *sizes, stream()), name)
    storage = torch.empty(max(1, count.value), dtype=torch.uint8, device="cuda")
    words = [address(storage), byref(count), *data, *sizes, stream()]
    return Peer(name, lambda: check(loaded.cub_run(*words), name), result, keep=(storage, value))


@functools.lru_cache(maxsize=None)
def cublas():
    """cuBLAS and a handle on the current stream. Raises OSError."""
    loaded, handle = common.library("cublas", (13, 12)), c_void_p()
    check(loaded.cublasCreate_v2(byref(handle)), "cublasCreate")
    check(loaded.cublasSetStream_v2(handle, stream()), "cublasSetStream")
    return loaded, handle


def geam_peer(source, result, rows, cols):
    """A peer for f32 or f64: 1 * in' + 0 * out of column-major matrices, in is cols x rows."""
    loaded, handle = cublas()
    is_f32 = source.dtype == torch.float32
    call, number = (loaded.cublasSgeam, c_float) if is_f32 else (loaded.cublasDgeam, c_double)
    out, one, zero = address(result), byref(number(1)), byref(number(0))
    words = (handle, 1, 0, rows, cols, one, address(source), cols, zero, out, rows, out, rows)
    name = "cuBLAS sgeam" if is_f32 else "cuBLAS dgeam"
    return Peer(name, lambda: check(call(*words), name), result)


def versions(options):
    """Those of CUB and of cuBLAS."""
    cub, blas = compiled(options.cub, "REDUCE", "f32", "f32", "Sum").cub_version(), c_int()
    check(cublas()[0].cublasGetVersion_v2(cublas()[1], byref(blas)), "cublasGetVersion")
    return [
        f"CUB {cub // 100000}.{cub // 100 % 1000}.{cub % 100}",
        f"cuBLAS {blas.value // 10000}.{blas.value // 100 % 100}.{blas.value % 100}",
    ]


def bytes_of(arguments):
    """Of all arrays: each must be moved once."""
    return sum(x.nbytes for x in arguments.values() if isinstance(x, common.Tensor))


def reduction(problem, parameters, cub):
    """Arrays and peers of `reduce`."""
    dtype, out, op = problem["dtype"], parameters["out"].dtype, problem["op"]
    arguments = {}
    for seed, (name, parameter) in enumerate(parameters.items(), common.SEED):
        span = RANGES.get(parameter.dtype, (0, 1)) if name != "out" else (0, 100)
        arguments[name] = common.new(parameter, *span, seed=seed)
    is_sum = op in ("sum", "dot") and out != "i32"
    agree = common.near(common.allowed_error(out)) if is_sum else common.equal
    work = Workload(arguments, "out", agree, bytes_of(arguments), problem["results"] * problem["n"])
    has_rows = problem["results"] > 1
    is_known = op != "dot" and problem["source"] == "array" and problem["map"] == "x"
    if not is_known or (has_rows and (problem["axis"] != "last" or dtype in ("f16", "bf16"))):
        return work
    call = "ROWS" if has_rows else "REDUCE" if dtype == out else "REDUCE_HALVES"
    loaded = compiled(cub, call, dtype, out, op.capitalize())
    name = f"CUB Device{'SegmentedReduce' if has_rows else 'Reduce'}::{op.capitalize()}"
    if call == "REDUCE_HALVES":
        name = f"CUB DeviceReduce::Reduce, f32 {op}"
    result = torch.empty_like(arguments["out"])
    sizes = (problem["n"], problem["results"])
    work.peers.append(cub_peer(name, loaded, arguments["in"], result, *sizes))
    return work


def arg_reduction(problem, parameters, cub):
    """Arrays and peers of `arg_reduce`. CUB takes the first of equal elements, as Kiln does."""
    dtype, has_rows = problem["dtype"], problem["results"] > 1
    arguments = {name: common.new(parameter) for name, parameter in parameters.items()}
    source = common.fill(arguments["in"], *RANGES.get(dtype, (0, 1)))
    work = Workload(arguments, "index", common.equal, bytes_of(arguments), source.numel())
    if has_rows and source.numel() >= 2**31:  # CUB counts the elements of all rows in 32 bits
        return work
    op = f"Arg{problem['op'].capitalize()}"
    loaded = compiled(cub, "ARG_ROWS" if has_rows else "ARG", dtype, "i64", op)
    result, value = (torch.empty_like(arguments[name]) for name in ("index", "value"))
    name = f"CUB Device{'SegmentedReduce' if has_rows else 'Reduce'}::{op}"
    sizes = (problem["n"], problem["results"])
    work.peers.append(cub_peer(name, loaded, source, result, *sizes, value=value))
    return work


def samples(dtype, n, distribution):
    """What a histogram counts."""
    low, high = {"u8": (0, 255), "i32": (-1e6, 1e6 - 1), "f32": (0, 1)}[dtype]
    made = common.fill(torch.empty(n, dtype=common.TYPES[dtype], device="cuda"), low, high)
    if distribution == "constant":
        made.fill_(low)
    elif distribution == "skewed":
        for part in made.split(1 << 28):
            part.masked_fill_(torch.rand(part.shape, device="cuda") < 0.9, low)
    elif distribution == "sorted":
        made = made.sort().values
    return made


def histogram(problem, parameters, cub):
    """Arrays and peers of `histogram`."""
    dtype, bins, n = problem["dtype"], problem["bins"], problem["n"]
    low, high = {"u8": (0, 256), "i32": (-1000000, 1000000), "f32": (0.0, 1.0)}[dtype]
    numbers = {"low": low, "high": high, "scale": bins / (high - low)}
    arguments = {name: numbers[name] for name in parameters if name in numbers}
    arguments["in"] = samples(dtype, n, problem["distribution"])
    arguments["counts"] = common.new(parameters["counts"])

    def agree(found, expected):
        """A sample on the border of two even bins may go to either; then it counts twice here."""
        moved = float((found.double() - expected.double()).abs().sum()) / 2 / n
        return moved <= (0 if dtype == "u8" else 1e-5), f"{moved:.1e} of the samples elsewhere"

    work = Workload(arguments, "counts", agree, bytes_of(arguments), n)
    level = "float" if dtype == "f32" else "int"
    loaded = compiled(cub, "HISTOGRAM", dtype, "u32", "Sum", level)
    result = torch.empty_like(arguments["counts"])
    peer = cub_peer("CUB HistogramEven", loaded, arguments["in"], result, n, bins, low, high)
    work.peers.append(peer)
    return work


def transposition(problem, parameters, cub):
    """Arrays and peers of `transpose`."""
    del cub
    arguments = {name: common.new(parameter) for name, parameter in parameters.items()}
    work = Workload(arguments, "out", common.equal, bytes_of(arguments))
    if problem["dtype"] in ("f32", "f64") and problem["batch"] == 1:
        result = torch.empty_like(arguments["out"])
        sizes = (problem["rows"], problem["cols"])
        work.peers.append(geam_peer(arguments["in"], result, *sizes))
    return work


FAMILIES = {
    "reduce": reduction,
    "arg_reduce": arg_reduction,
    "histogram": histogram,
    "transpose": transposition,
}


def make(kernel, problem, parameters, options):
    """The workload of one of the four kernels, with a copy."""
    work = FAMILIES[kernel](problem, parameters, options.cub)
    work.peers.append(common.device_copy(work.bytes))
    return work


if __name__ == "__main__":
    common.main(
        __doc__,
        list(FAMILIES),
        make,
        columns=[
            "run", "problem", "peer", "kiln_us", "peer_us", "kiln_gb_per_s", "peer_gb_per_s",
            "kiln_tflop_per_s", "peer_tflop_per_s", "speed_up", "cache", "match", "agree", "config",
        ],  # fmt: skip
        wide_csv=False,
        versions=versions,
        add_options=lambda parser: parser.add_argument(
            "--cub", help="folder of CUB's headers or checkout of CCCL (default: the toolkit's)"
        ),
    )
