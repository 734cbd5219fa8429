"""Small programs as people write them, for libkiln_blas.so: bench/programs/README.md.

    python3 programs.py record NAME...     a few steps of each
    python3 programs.py compare NAME...    steps with and without Kiln in turn, as CSV
    python3 programs.py curves             200 training steps beside the same in f64, as CSV

The last two want libkiln_blas.so preloaded: they switch it on and off in one process.

SPDX-License-Identifier: Apache-2.0
"""

import ctypes
import os
import statistics
import sys
import time

import torch

nn = torch.nn
DEVICE = "cuda"


def transformer(dtype=torch.float32):
    layer = nn.TransformerEncoderLayer(1024, 16, 4096, dropout=0.0, batch_first=True, norm_first=True)
    return nn.TransformerEncoder(layer, 6, enable_nested_tensor=False).to(DEVICE, dtype)


def training(net, optimizer, x):
    def step():
        optimizer.zero_grad()
        net(x).square().mean().backward()
        optimizer.step()

    return step


def transformer_training(dtype=torch.float32):
    net = transformer(dtype)
    x = torch.randn(8, 512, 1024, device=DEVICE, dtype=dtype)
    return training(net, torch.optim.AdamW(net.parameters(), 1e-4), x)


def transformer_inference(dtype=torch.float32):
    net = transformer(dtype).train()
    x = torch.randn(7, 497, 1024, device=DEVICE, dtype=dtype)

    def step():
        with torch.no_grad():
            net(x)

    return step


def table_net(dtype=torch.float32):
    sizes = [311, 1000, 1000, 1000, 1]
    layers = []
    for before, after in zip(sizes, sizes[1:]):
        layers += [nn.Linear(before, after), nn.ReLU()]
    net = nn.Sequential(*layers[:-1]).to(DEVICE, dtype)
    x = torch.randn(5000, 311, device=DEVICE, dtype=dtype)
    return training(net, torch.optim.Adam(net.parameters()), x)


def convolution_net():
    layers = []
    for i in range(8):
        layers += [nn.Conv2d(3 if i == 0 else 96, 96, 5 if i == 0 else 3, padding="same"),
                   nn.BatchNorm2d(96), nn.ReLU()]
    net = nn.Sequential(*layers).to(DEVICE)
    x = torch.randn(32, 3, 96, 96, device=DEVICE)
    torch.backends.cudnn.benchmark = True
    return lambda: net(x).square().mean().backward()


def k_means():
    points = torch.randn(200000, 96, device=DEVICE)
    centres = torch.randn(3000, 96, device=DEVICE)

    def step():
        nearest = torch.cdist(points, centres).argmin(1)
        torch.zeros(3000, 96, device=DEVICE).index_add_(0, nearest, points)

    return step


def gaussian_process():
    n = 8000
    x = torch.randn(n, 20, device=DEVICE)
    y = torch.randn(n, 1, device=DEVICE)

    def step():
        kernel = torch.exp(-torch.cdist(x, x) ** 2 / 40) + 0.1 * torch.eye(n, device=DEVICE)
        torch.cholesky_solve(y, torch.linalg.cholesky(kernel))

    return step


def randomised_svd():
    a = torch.randn(300000, 500, device=DEVICE)
    q = torch.randn(500, 64, device=DEVICE)
    return lambda: torch.linalg.qr(a.t() @ (a @ q))


def product_f64():
    a = torch.randn(3000, 3000, device=DEVICE, dtype=torch.float64)
    return lambda: (a @ a) @ a.t()


PROGRAMS = {
    "transformer_training": transformer_training,
    "transformer_inference": transformer_inference,
    "table_net": table_net,
    "transformer_training_bf16": lambda: transformer_training(torch.bfloat16),
    "transformer_inference_bf16": lambda: transformer_inference(torch.bfloat16),
    "table_net_bf16": lambda: table_net(torch.bfloat16),
    "convolution_net": convolution_net,
    "k_means": k_means,
    "gaussian_process": gaussian_process,
    "randomised_svd": randomised_svd,
    "product_f64": product_f64,
}


def time_of(step, count):
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(count):
        step()
    torch.cuda.synchronize()
    return (time.perf_counter() - start) / count * 1e3


def compare(name):
    enable = ctypes.CDLL(None).kiln_blas_enable
    step = PROGRAMS[name]()
    for _ in range(4):
        step()
    torch.cuda.synchronize()
    time.sleep(float(os.environ.get("PROGRAMS_WAIT", "6")))  # kernels are compiled meanwhile
    with_kiln, without = [], []
    once = time_of(step, 3)
    count = max(1, min(50, int(100 / once)))
    for _ in range(9):
        for on, times in ((1, with_kiln), (0, without)):
            enable(on)
            time_of(step, 1)
            times.append(time_of(step, count))
    enable(1)
    ratios = sorted(b / a for a, b in zip(with_kiln, without))
    print(f"{name},{statistics.median(without):.3f},{statistics.median(with_kiln):.3f},"
          f"{statistics.median(ratios):.3f},{ratios[1]:.3f},{ratios[-2]:.3f}", flush=True)


def losses(dtype, steps=200):
    """The losses of a regression net that learns a fixed function, from a fixed start."""
    torch.manual_seed(3)
    sizes = [311, 1000, 1000, 1000, 1]
    layers = []
    for before, after in zip(sizes, sizes[1:]):
        layers += [nn.Linear(before, after), nn.ReLU()]
    net = nn.Sequential(*layers[:-1]).to(DEVICE, dtype)
    x = torch.randn(5000, 311, device=DEVICE).to(dtype)
    y = torch.sin(x[:, :7].sum(1, keepdim=True))
    optimizer = torch.optim.SGD(net.parameters(), 0.05)
    found = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = (net(x) - y).square().mean()
        loss.backward()
        optimizer.step()
        found.append(loss.item())
    return torch.tensor(found, dtype=torch.float64)


def curves():
    enable = ctypes.CDLL(None).kiln_blas_enable
    right = losses(torch.float64)
    print("products,steps,largest_error_of_loss,mean_error_of_loss,last_loss,last_loss_f64")
    for on, name in ((0, "cublas"), (1, "kiln")):
        enable(on)
        losses(torch.float32, 5)
        time.sleep(float(os.environ.get("PROGRAMS_WAIT", "6")))
        found = losses(torch.float32)
        error = ((found - right) / right).abs()
        print(f"{name},200,{error.max():.3e},{error.mean():.3e},{found[-1]:.6f},{right[-1]:.6f}", flush=True)


def main():
    torch.manual_seed(0)
    if sys.argv[1] == "curves":
        return curves()
    mode, names = sys.argv[1], sys.argv[2:] or list(PROGRAMS)
    if mode == "compare":
        print("program,cublas_ms,kiln_ms,ratio,ratio_low,ratio_high")
    for name in names:
        if mode == "compare":
            compare(name)
            continue
        step = PROGRAMS[name]()
        for _ in range(int(os.environ.get("PROGRAMS_STEPS", "12"))):
            step()
        torch.cuda.synchronize()


main()
