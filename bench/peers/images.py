#!/usr/bin/env python3
"""From the bytes of a camera to a network's input, beside NPP with its fewest calls, and torch.

    bench/peers/images.py --list bench/sweeps/preprocess.plan.toml --db kiln.db --seconds 10

docs/benchmarks.md has the method. SPDX-License-Identifier: Apache-2.0
"""

import ctypes
import functools
from ctypes import POINTER, c_float, c_int, c_size_t, c_uint, c_void_p

from torch.nn.functional import interpolate

import common
from common import Peer, Workload, check, stream, torch

LINEAR, SUPER = 2, 8  # NppiInterpolationMode; super: the mean of what lies under a pixel
NUMBERS = {"scale": (0.01712475, 0.017507, 0.01742919), "shift": (-2.117904, -2.035714, -1.804444)}


class Context(ctypes.Structure):
    """NppStreamContext."""

    _fields_ = [
        ("stream", c_void_p), ("device", c_int), ("units", c_int), ("threads_per_unit", c_int),
        ("threads_per_block", c_int), ("shared_bytes", c_size_t), ("major", c_int),
        ("minor", c_int), ("stream_flags", c_uint), ("reserved", c_uint),
    ]  # fmt: skip


class Size(ctypes.Structure):
    """NppiSize."""

    _fields_ = [("width", c_int), ("height", c_int)]


class Rect(ctypes.Structure):
    """NppiRect."""

    _fields_ = [("x", c_int), ("y", c_int), ("width", c_int), ("height", c_int)]


@functools.lru_cache(maxsize=None)
def npp():
    """The libraries: core, geometry, exchange, arithmetic. Raises OSError."""
    return [common.library(f"npp{part}", (13, 12)) for part in ("c", "ig", "idei", "ial")]


def versions(options):
    """Of NPP."""
    del options
    get = npp()[0].nppGetLibVersion
    get.restype = POINTER(c_int * 3)
    return ["NPP " + ".".join(map(str, get().contents))]


def npp_peer(problem, places):
    """A call that resizes all images, then conversion, factors and terms over all of them, as they
    stand one below the other, then a copy of each image to planes, which swaps channels."""
    n, out_w, out_h = problem["n"], problem["out_w"], problem["out_h"]
    pixels, row = out_w * out_h, 3 * out_w
    resized, floats, result = (
        torch.empty(3 * n * pixels, dtype=dtype, device="cuda")
        for dtype in (torch.uint8, torch.float32, torch.float32)
    )
    # NppiResizeBatchCXR: two addresses, each with a pitch behind it, padded to 8 bytes.
    images = [
        (place, problem["pitch"], resized.data_ptr() + 3 * pixels * i, row)
        for i, place in enumerate(places)
    ]
    batch = torch.tensor(images, dtype=torch.int64, device="cuda")
    device = torch.cuda.get_device_properties(0)
    threads = (device.max_threads_per_multi_processor, 1024, device.shared_memory_per_block)
    units, non_blocking = device.multi_processor_count, 1
    context = Context(stream(), 0, units, *threads, device.major, device.minor, non_blocking, 0)
    parts = (Size(problem["src_w"], problem["src_h"]), Size(out_w, out_h))
    parts = [(size, Rect(0, 0, size.width, size.height)) for size in parts]
    mode = SUPER if problem["filter"] == "area" else LINEAR
    sizes = (*parts[0], *parts[1], mode)
    order = (2, 1, 0) if problem["format"] != problem["to"] else (0, 1, 2)
    scales, shifts = ((c_float * 3)(*(values[i] for i in order)) for values in NUMBERS.values())
    below = Size(out_w, out_h * n)
    bytes_, values = common.address(resized), common.address(floats)
    copies = []
    for image in range(0, 12 * pixels * n, 12 * pixels):
        planes = (c_void_p * 3)(*(result.data_ptr() + image + 4 * pixels * i for i in order))
        one = c_void_p(floats.data_ptr() + image)
        copies.append((one, 4 * row, planes, 4 * out_w, parts[1][0]))

    def call(part, name, *arguments):
        check(getattr(npp()[part], name)(*arguments, context), name)

    def run():
        if n == 1:  # no batch
            source, target = (c_void_p(places[0]), problem["pitch"]), (bytes_, row)
            call(1, "nppiResize_8u_C3R_Ctx", *source, *parts[0], *target, *parts[1], mode)
        else:
            call(1, "nppiResizeBatch_8u_C3R_Ctx", *sizes, common.address(batch), n)
        call(2, "nppiConvert_8u32f_C3R_Ctx", bytes_, row, values, 4 * row, below)
        call(3, "nppiMulC_32f_C3IR_Ctx", scales, values, 4 * row, below)
        call(3, "nppiAddC_32f_C3IR_Ctx", shifts, values, 4 * row, below)
        for one in copies:
            call(2, "nppiCopy_32f_C3P3R_Ctx", *one)

    # Where it shrinks linearly, NPP looks at x * from / to, not at the centre of pixel x.
    shrinks = problem["src_w"] > out_w or problem["src_h"] > out_h
    is_comparable = not shrinks or problem["filter"] == "area"
    columns = {"only": ("npp_fewest_calls_us", "over_npp_fewest_calls")}
    name = f"NPP Resize{'Batch' if n > 1 else ''}, Convert, MulC, AddC, Copy C3P3"
    peer = Peer(name, run, result if is_comparable else None, columns=columns)
    peer.keep = (resized, floats, result, batch)
    return peer


def torch_peer(problem, images, target):
    """The same by operators of torch, without torch.compile."""
    size, mode = (problem["out_h"], problem["out_w"]), problem["filter"]
    scale, shift = (torch.tensor(v, device="cuda").view(1, 3, 1, 1) for v in NUMBERS.values())
    corners = {"align_corners": False} if mode == "bilinear" else {}
    swaps, is_planes = problem["format"] != problem["to"], problem["layout"] == "chw"
    result = torch.empty_like(target)

    def run():
        small = interpolate(images.permute(0, 3, 1, 2).float(), size=size, mode=mode, **corners)
        values = torch.addcmul(shift, small.flip(1) if swaps else small, scale)
        result.copy_(values if is_planes else values.permute(0, 2, 3, 1))

    is_whole = problem["src_h"] % size[0] == problem["src_w"] % size[1] == 0
    compared = result if mode == "bilinear" or is_whole else None  # else torch weighs pixels alike
    columns = {"only": ("torch_us", "over_torch")}
    return Peer("torch interpolate, addcmul", run, compared, columns=columns)


def bytes_of(problem):
    """That must be moved: rows and sectors of 32 bytes that no output needs stay where they are."""
    src_h, src_w, out_h, out_w = (problem[name] for name in ("src_h", "src_w", "out_h", "out_w"))
    if problem["fit"] == "letterbox":
        least = min(out_w / src_w, out_h / src_h)
        out_h, out_w = max(round(src_h * least), 1), max(round(src_w * least), 1)
    pixel = 3 if problem["format"] != "nv12" else 1
    row, rows = min(pixel * src_w, (2 * pixel + 31) * out_w), min(src_h, 2 * out_h)
    if problem["filter"] == "area":
        row, rows = pixel * src_w, src_h
    chroma = 0 if pixel == 3 else min(-(-src_h // 2), rows)
    written = 3 * problem["out_h"] * problem["out_w"] * common.TYPES[problem["dtype"]].itemsize
    return problem["n"] * ((rows + chroma) * row + written + 40)


def make(kernel, problem, parameters, options):
    """Random images one behind the other, and the peers that take them."""
    del kernel, options
    n, pitch, src_h = problem["n"], problem["pitch"], problem["src_h"]
    is_packed = problem["format"] != "nv12"
    image_bytes = pitch * (src_h + (0 if is_packed else -(-src_h // 2)))
    stride = (problem["source_bytes"] - image_bytes) // max(n - 1, 1)
    places = [stride * i for i in range(n)]
    regions = [
        (place, pitch, problem["src_w"], src_h, 0 if is_packed else place + src_h * pitch)
        for place in places
    ]
    arguments = {name: 0.0 for name, parameter in parameters.items() if parameter.shape is None}
    for name, numbers in NUMBERS.items():
        arguments.update({f"{name}_{i}": number for i, number in enumerate(numbers)})
    source, target = common.new(parameters["in"], 0, 255), common.new(parameters["out"])
    regions = torch.tensor(regions, dtype=torch.int64, device="cuda")
    arguments.update({"in": source, "regions": regions, "out": target})
    agree = common.near(max(common.allowed_error(problem["dtype"]), 1 / 128))  # NPP rounds to bytes
    work = Workload(arguments, "out", agree, bytes_of(problem))
    if is_packed and problem["fit"] == "stretch":
        if problem["layout"] == "chw" and problem["dtype"] == "f32":
            work.peers.append(npp_peer(problem, [source.data_ptr() + place for place in places]))
        shape = (n, src_h, problem["src_w"], 3)
        images = source.as_strided(shape, (stride, pitch, 3, 1))
        work.peers.append(torch_peer(problem, images, target))
    work.peers.append(common.device_copy(work.bytes))
    return work


if __name__ == "__main__":
    common.main(
        __doc__,
        ["preprocess"],
        make,
        columns=[
            "run", "problem", "variant", "cache", "match", "kiln_us", "kiln_gb_per_s", "copy_us",
            "over_copy", "npp_fewest_calls_us", "over_npp_fewest_calls", "torch_us", "over_torch",
            "agree", "config",
        ],  # fmt: skip
        wide_csv=True,
        versions=versions,
    )
