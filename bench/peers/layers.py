#!/usr/bin/env python3
"""Layers beside cuDNN: the first and the fastest of eight engines that its heuristic proposes.

    bench/peers/layers.py --list bench/sweeps/layers.plan.toml --db kiln.db --seconds 20

cuDNN 9 is asked through its graph interface, by ctypes; numbers are those of cudnn_graph.h.
docs/benchmarks.md has the method. SPDX-License-Identifier: Apache-2.0
"""

import ctypes
import functools
from ctypes import byref, c_float, c_int, c_int64, c_void_p

import common
from common import Peer, Workload, address, check, stream, torch

ENGINES = 8
MOST_CONFIGS = 64  # that are looked at
TYPES = {"f32": 0, "f16": 2, "bf16": 9}
# Of values of attributes: cudnnBackendAttributeType_t.
HANDLE, DATA_TYPE, INT64, FLOAT, POINTER, CONVOLUTION_MODE, HEURISTIC_MODE = 0, 1, 3, 4, 6, 7, 8
NUMERICAL_NOTE, DESCRIPTOR = 11, 15
# Kinds of descriptors: cudnnBackendDescriptorType_t.
CONVOLUTION, ENGINE, CONFIG, HEURISTIC, PLAN = 1, 2, 3, 4, 5
FORWARD, GRAPH, PACK, TENSOR = 10, 15, 16, 17
INPUT, FILTER, OUTPUT = 1, 2, 3  # what tensors are called in a graph and in a pack
RECOMMENDED, FALLBACK = 3, 2  # heuristics: cuDNN's own choice; engines that always work
NOTE_TENSOR_CORE = 0  # the engine uses matrix units; operands of f32 are then rounded


@functools.lru_cache(maxsize=None)
def cudnn():
    """The library and a handle on the current stream. Raises OSError."""
    loaded = common.library("cudnn", (9,))
    loaded.cudnnGetVersion.restype = ctypes.c_size_t
    handle = c_void_p()
    check(loaded.cudnnCreate(byref(handle)), "cudnnCreate")
    check(loaded.cudnnSetStream(handle, stream()), "cudnnSetStream")
    return loaded, handle


def versions(options):
    """"cuDNN 9.19.0"."""
    del options
    number = cudnn()[0].cudnnGetVersion()
    return [f"cuDNN {number // 10000}.{number // 100 % 100}.{number % 100}"]


class Descriptor:
    """A descriptor of cuDNN with its attributes: (number, type of values, values)."""

    def __init__(self, kind, *attributes):
        self.handle = c_void_p()
        self.keep = attributes  # descriptors that this one refers to
        made = cudnn()[0].cudnnBackendCreateDescriptor(kind, byref(self.handle))
        check(made, "cudnnBackendCreateDescriptor")
        for number, type_, *values in attributes:
            ctype = {INT64: c_int64, FLOAT: c_float}.get(type_, c_int)
            if type_ in (HANDLE, POINTER, DESCRIPTOR):
                ctype = c_void_p
            plain = [getattr(value, "handle", value) for value in values]
            array = (ctype * len(plain))(*plain)
            set_attribute = cudnn()[0].cudnnBackendSetAttribute
            status = set_attribute(self.handle, number, type_, c_int64(len(plain)), array)
            check(status, f"cudnnBackendSetAttribute {number}")

    def finalize(self):
        """Raises RuntimeError if cuDNN does not take it. Returns itself."""
        check(cudnn()[0].cudnnBackendFinalize(self.handle), "cudnnBackendFinalize")
        return self

    def get(self, number, type_, array):
        """Reads values into an array of ctypes; returns how many there are."""
        count = c_int64()
        get_attribute = cudnn()[0].cudnnBackendGetAttribute
        room = c_int64(len(array))
        status = get_attribute(self.handle, number, type_, room, byref(count), array)
        check(status, f"cudnnBackendGetAttribute {number}")
        return count.value

    def __del__(self):
        cudnn()[0].cudnnBackendDestroyDescriptor(self.handle)


def tensor(name, dtype, extents, channels_last):
    """A dense tensor of images (or channels of the output), channels, rows, columns."""
    _, c, h, w = extents
    strides = (h * w * c, 1, w * c, c) if channels_last else (c * h * w, h * w, w, 1)
    return Descriptor(
        TENSOR,
        (901, DATA_TYPE, TYPES[dtype]),
        (902, INT64, *extents),
        (903, INT64, *strides),
        (906, INT64, name),
        (900, INT64, 16),  # bytes of alignment
    ).finalize()


def graph_of(problem, out_extents):
    """The layer as cuDNN describes it."""
    fields = ("n", "c", "h", "w", "k", "fh", "fw", "groups", "stride", "dilation")
    n, c, h, w, k, fh, fw, groups, stride, dilation = (problem[name] for name in fields)
    dtype, last = problem["dtype"], problem["layout"] == "nhwc"
    convolution = Descriptor(
        CONVOLUTION,
        (106, INT64, 2),  # dimensions
        (100, DATA_TYPE, TYPES["f32"]),  # of sums
        (101, CONVOLUTION_MODE, 1),  # cross-correlation
        (105, INT64, problem["pad_h"], problem["pad_w"]),
        (104, INT64, problem["pad_bottom"], problem["pad_right"]),
        (102, INT64, dilation, dilation),
        (103, INT64, stride, stride),
    ).finalize()
    forward = Descriptor(
        FORWARD,
        (704, DESCRIPTOR, tensor(INPUT, dtype, (n, c, h, w), last)),
        (703, DESCRIPTOR, tensor(FILTER, dtype, (k, c // groups, fh, fw), last)),
        (705, DESCRIPTOR, tensor(OUTPUT, dtype, (n, k, *out_extents), last)),
        (702, DESCRIPTOR, convolution),
        (700, FLOAT, 1),  # alpha
        (701, FLOAT, 0),  # beta
    ).finalize()
    return Descriptor(GRAPH, (800, HANDLE, cudnn()[1]), (801, DESCRIPTOR, forward)).finalize()


def uses_matrix_units(config):
    """Whether the engine of a config does."""
    engine, notes = Descriptor(ENGINE), (c_int * 64)()
    config.get(300, DESCRIPTOR, (c_void_p * 1)(engine.handle))
    return NOTE_TENSOR_CORE in notes[: engine.get(1303, NUMERICAL_NOTE, notes)]


def plans_of(graph, only_f32):
    """(plan, bytes of its workspace) of the first engines that take the layer."""
    plans = []
    for mode in (RECOMMENDED, FALLBACK):
        heuristic = Descriptor(HEURISTIC, (201, DESCRIPTOR, graph), (200, HEURISTIC_MODE, mode))
        configs = [Descriptor(CONFIG) for _ in range(MOST_CONFIGS)]
        handles = (c_void_p * MOST_CONFIGS)(*(config.handle for config in configs))
        try:
            heuristic.finalize()
            count = heuristic.get(202, DESCRIPTOR, handles)
        except RuntimeError:
            continue  # it has nothing for such a layer
        for config in configs[:count]:
            if len(plans) == ENGINES or (only_f32 and uses_matrix_units(config)):
                continue
            plan = Descriptor(PLAN, (400, HANDLE, cudnn()[1]), (401, DESCRIPTOR, config))
            try:
                plan.finalize()
            except RuntimeError:
                continue  # the engine does not take this layer
            size = (c_int64 * 1)()
            plan.get(402, INT64, size)
            plans.append((plan, size[0]))
        if plans:
            break
    return plans


def peers_of(problem, source, taps, target):
    """A peer for each engine; all write one result."""
    result = torch.empty_like(target)
    is_last = problem["layout"] == "nhwc"
    graph = graph_of(problem, target.shape[1:3] if is_last else target.shape[2:])
    plans = plans_of(graph, problem["dtype"] == "f32" and problem["precision"] == "highest")
    size = max([16, *(size for _, size in plans)])
    workspace = torch.empty(size, dtype=torch.uint8, device="cuda")
    pack = Descriptor(
        PACK,
        (1000, INT64, INPUT, FILTER, OUTPUT),
        (1001, POINTER, address(source), address(taps), address(result)),
        (1003, POINTER, address(workspace)),
    ).finalize()
    loaded, handle = cudnn()
    columns = {role: (f"cudnn_{role}_us", f"over_{role}") for role in ("first", "best")}

    def run(plan):
        check(loaded.cudnnBackendExecute(handle, plan.handle, pack.handle), "cudnnBackendExecute")

    return [
        Peer("cuDNN", functools.partial(run, plan), result, "cuDNN", columns, keep=workspace)
        for plan, _ in plans
    ]


def make(kernel, problem, parameters, options):
    """The operands of a layer and the engines of cuDNN."""
    del kernel, options
    arguments = {
        name: common.new(parameter, 0, 1, seed)
        for seed, (name, parameter) in enumerate(parameters.items(), common.SEED)
    }
    source, taps, target = (arguments[name] for name in ("in", "filter", "out"))
    agree = common.near(common.allowed_error(problem["dtype"], problem["precision"]))
    size = sum(x.nbytes for x in arguments.values())
    work = Workload(arguments, "out", agree, size, 2 * target.numel() * taps[0].numel())
    if problem["epilogue"] == "x":
        work.peers = peers_of(problem, source, taps, target)
        if not work.peers:
            work.notes.append("cuDNN: the heuristic found no engine")
    else:
        work.notes.append("cuDNN is asked for layers without an epilogue alone")
    return work


if __name__ == "__main__":
    common.main(
        __doc__,
        ["convolution"],
        make,
        columns=[
            "run", "problem", "variant", "cache", "match", "kiln_us", "tflop_per_s",
            "cudnn_first_us", "over_first", "cudnn_best_us", "over_best", "agree", "config",
        ],  # fmt: skip
        wide_csv=True,
        versions=versions,
    )
