#!/usr/bin/env python3
# What torch makes of the same images as the kernel `preprocess`, and how long it takes on a GPU.
#
#   bench/peers/torch_images.py
#
# Prints the largest difference between torch.nn.functional.interpolate and the formulas of
# docs/kernels/preprocess.md in f64, on random images of several sizes; then the time of a batch of
# 32 images, 3840 x 2160 BGR bytes to 640 x 640 RGB f32 planes: eager and compiled, cold cache.
#
# SPDX-License-Identifier: Apache-2.0
import numpy
import torch
from torch.nn.functional import interpolate

SIZES = [(211, 101, 53, 37), (640, 480, 224, 224), (384, 216, 64, 64), (77, 61, 29, 30), (5, 3, 41, 48),
         (64, 31, 64, 32), (1, 1, 3, 2), (333, 222, 111, 74), (1920, 1080, 640, 640)]
SAMPLES = 20


def bilinear_shares(place, source, output):
    centre = max((place + 0.5) * source / output - 0.5, 0)
    first = min(int(centre), source - 1)
    return [(first, 1 - (centre - first)), (min(first + 1, source - 1), centre - first)]


def area_shares(place, source, output):
    begin, end = place * source, (place + 1) * source
    pixels = range(begin // output, (end + output - 1) // output)
    return [(i, (min(end, (i + 1) * output) - max(begin, i * output)) / source) for i in pixels]


def weights(shares, source, output):
    matrix = numpy.zeros((output, source))
    for place in range(output):
        for pixel, share in shares(place, source, output):
            matrix[place, pixel] += share
    return matrix


def resized(image, width, height, shares):
    rows = weights(shares, image.shape[0], height)
    columns = weights(shares, image.shape[1], width)
    return numpy.einsum("yj,jic,xi->yxc", rows, image.astype(numpy.float64), columns, optimize=True)


def torch_resized(image, width, height, mode):
    planes = torch.from_numpy(image).cuda().permute(2, 0, 1)[None].float()
    corners = {"align_corners": False} if mode == "bilinear" else {}
    output = interpolate(planes, size=(height, width), mode=mode, **corners)
    return output[0].permute(1, 2, 0).double().cpu().numpy()


def compare():
    random = numpy.random.default_rng(1)
    for mode, shares in (("bilinear", bilinear_shares), ("area", area_shares)):
        largest = {"whole ratios": 0.0, "others": 0.0}
        for source_w, source_h, width, height in SIZES:
            image = random.integers(0, 256, (source_h, source_w, 3), dtype=numpy.uint8)
            wanted = resized(image, width, height, shares)
            difference = numpy.abs(torch_resized(image, width, height, mode) - wanted).max()
            kind = "whole ratios" if source_w % width == 0 and source_h % height == 0 else "others"
            largest[kind] = max(largest[kind], difference)
        print(mode, {kind: f"{difference:.1e}" for kind, difference in largest.items()})


def measure():
    images = torch.randint(0, 256, (32, 2160, 3840, 3), dtype=torch.uint8, device="cuda")
    scale = torch.tensor([0.01712475, 0.01750700, 0.01742919], device="cuda").view(1, 3, 1, 1)
    shift = torch.tensor([-2.117904, -2.035714, -1.804444], device="cuda").view(1, 3, 1, 1)
    flushed = torch.empty(256 << 20, dtype=torch.uint8, device="cuda")

    def preprocess(batch):
        small = interpolate(batch.permute(0, 3, 1, 2).float(), size=(640, 640), mode="bilinear")
        return torch.addcmul(shift, small.flip(1), scale).contiguous()

    for name, function in (("eager", preprocess), ("compiled", torch.compile(preprocess))):
        times = []
        for sample in range(SAMPLES + 3):
            flushed.fill_(sample)
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            function(images)
            end.record()
            torch.cuda.synchronize()
            times.append(begin.elapsed_time(end) * 1e3)
        print(f"{name}: {numpy.median(times[3:]):.1f} us")


print(f"torch {torch.__version__}, {torch.cuda.get_device_name()}")
compare()
measure()
