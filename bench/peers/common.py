"""What the comparisons beside this file share: problems, Kiln's side, timing, agreement, report.

A script hands main() a function that makes the arrays of a problem and its peers: what a user would
call instead of Kiln. Takes for granted torch with CUDA and the Python package of Kiln.
SPDX-License-Identifier: Apache-2.0
"""

import argparse
import csv
import ctypes
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time
import tomllib
from dataclasses import dataclass, field, replace
from typing import Any, Callable, Dict, List, Optional, Tuple

import torch

import kiln
from kiln._arrays import NUMPY_NAMES
from kiln._problem import text_of

Tensor = torch.Tensor
SEED = 20261121
TYPES = {name: getattr(torch, theirs) for name, theirs in NUMPY_NAMES.items()}


@dataclass
class Peer:
    """What a user would call instead of Kiln, with all that can be done ahead done."""

    name: str  # as a user would look it up: "CUB DeviceReduce::Sum"
    run: Callable[[], Any]  # puts one whole run on the current stream
    result: Optional[Tensor] = None  # that run() writes; None: nothing that could be compared
    # One of several ways of a library, which share their result. It may fail, and is then left out;
    # of those that run, the first and the fastest are reported.
    family: str = ""
    # Columns of its time and its ratio in a CSV file with a line a problem: of "only", or of
    # "first" and "best" of a family.
    columns: Dict[str, Tuple[str, str]] = field(default_factory=dict)
    keep: Any = None  # memory that run() refers to


@dataclass
class Workload:
    """A problem with its arrays on the device."""

    arguments: Dict[str, Any]  # what Kiln's kernel takes: tensors and numbers by name
    output: str  # name of the argument that is compared
    agree: Callable[[Tensor, Tensor], Tuple[bool, str]]  # Kiln's result and a peer's
    bytes: float  # that the problem must move
    flops: float = 0
    peers: List[Peer] = field(default_factory=list)
    output_range: Tuple[float, float] = (0, 100)  # of what the output holds before a checked run
    error: Optional[Callable[[Tensor], float]] = None  # distance from the result in f64
    notes: List[str] = field(default_factory=list)  # what has no peer, and why


@dataclass
class Row:
    """Kiln and one peer under one cache mode; times are medians in microseconds."""

    number: int
    problem: str
    match: kiln.Match
    work: Workload
    peer: Optional[Peer] = None
    agreement: Optional[Tuple[bool, str]] = None
    kiln_error: Optional[float] = None
    peer_error: Optional[float] = None
    cache: str = "cold"
    kiln_us: float = 0
    peer_us: float = 0
    role: str = "only"
    which: str = ""  # "3/8": the third of the eight ways of its library


def fill(tensor, low, high, seed=SEED):
    """Overwrites a tensor by random numbers; of integers both ends count. Returns it."""
    if tensor.dtype in (torch.float8_e4m3fn, torch.float8_e5m2):
        return tensor.copy_(fill(torch.empty(tensor.shape, device="cuda"), low, high, seed))
    generator = torch.Generator("cuda").manual_seed(seed)
    if tensor.is_floating_point():
        return tensor.uniform_(low, high, generator=generator)
    numbers = tensor.view(torch.int32) if tensor.dtype == torch.uint32 else tensor
    numbers.random_(int(low), int(high) + 1, generator=generator)
    return tensor


def new(parameter, low=0, high=100, seed=SEED):
    """A random array as an argument of a kernel needs it."""
    shape, dtype = parameter.shape, TYPES[parameter.dtype]
    return fill(torch.empty(shape, dtype=dtype, device="cuda"), low, high, seed)


def equal(found, expected):
    """Agreement of data that is moved, and of integers."""
    if torch.equal(found, expected):
        return True, "equal"
    return False, f"{int((found != expected).sum())} of {found.numel()} elements differ"


def near(allowed):
    """Agreement of sums: the largest difference over the largest value is at most `allowed`."""

    def agree(found, expected):
        expected = expected.double()
        largest = expected.abs().max().clamp(min=1e-300)
        error = float((found.double() - expected).abs().max() / largest)
        return error <= allowed, f"largest error {error:.1e} of the largest value"

    return agree


def allowed_error(dtype, precision="highest"):
    """The coarser of the result's rounding and of the operands'. Two correct sums of many terms
    differ by far less; a wrong one by far more."""
    of_result = {"f64": 1e-12, "f32": 1e-4, "f16": 4e-3, "bf16": 3e-2, "e4m3": 0.25, "e5m2": 0.5}
    of_operands = {"highest": 0, "high": 4e-3, "medium": 3e-2}
    return max(of_result.get(dtype, 0), of_operands[precision])


def library(name, versions):
    """The first of libNAME.so.VERSION that loads, or the file that KILN_NAME_LIBRARY names. Raises
    OSError."""
    named = os.environ.get(f"KILN_{name.upper()}_LIBRARY")
    folders = ("", os.environ.get("CUDA_PATH", "/usr/local/cuda") + "/lib64/")
    places = [f"{folder}lib{name}.so.{version}" for version in versions for folder in folders]
    for place in [named] if named else places:
        try:
            return ctypes.CDLL(place, mode=ctypes.RTLD_GLOBAL)
        except OSError as error:
            reason = error
    raise reason


def check(status, call):
    """Raises RuntimeError unless a call succeeded. Positive numbers of NPP are warnings."""
    if status < 0 or (status > 0 and not call.startswith("nppi")):
        raise RuntimeError(f"{call}: status {status}")


def stream():
    """The stream that everything runs on."""
    return ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)


def address(tensor):
    """Where a tensor begins on the device."""
    return ctypes.c_void_p(tensor.data_ptr())


def device_copy(byte_count):
    """The driver's copy of as many bytes, half read and half written: a ceiling."""
    source = torch.zeros(int(byte_count) // 2, dtype=torch.uint8, device="cuda")
    target = torch.empty_like(source)
    columns = {"only": ("copy_us", "over_copy")}
    return Peer("copy of the same bytes", lambda: target.copy_(source), columns=columns)


class Timer:
    """Times candidates in turn, forth and back (A B, B A): clocks and heat are the same for all.

    A sample is the time between two events around one whole run. Cold: the last-level cache is
    overwritten before. Warm: the candidate runs once untimed. A kernel that only waits holds the
    stream until the host has enqueued the run, so that the host's speed does not show."""

    def __init__(self, samples, seconds):
        self._samples, self._seconds = samples, seconds
        cache_bytes = torch.cuda.get_device_properties(0).L2_cache_size
        self._flushed = torch.empty(2 * cache_bytes, dtype=torch.uint8, device="cuda")
        self._value = 0  # another one each time: no cache line is clean by chance
        self._events = [torch.cuda.Event(enable_timing=True) for _ in range(2)]

    def _once(self, run, cache, hold_seconds):
        begin, end = self._events
        if cache == "warm":
            run()
        torch.cuda._sleep(int(2e9 * hold_seconds))  # cycles; clocks are below 2 GHz
        if cache == "cold":
            self._value = (self._value + 1) % 256
            self._flushed.fill_(self._value)
        begin.record()
        run()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) * 1e3

    def _round(self, runs, cache, holds, forth):
        """One sample of each candidate, in their order, and the seconds that all took."""
        start = time.perf_counter()
        order = range(len(runs)) if forth else reversed(range(len(runs)))
        us = {i: self._once(runs[i], cache, holds[i]) for i in order}
        return [us[i] for i in range(len(runs))], time.perf_counter() - start

    def medians(self, runs, cache):
        """Of each candidate, in microseconds."""
        holds = []
        for run in runs:
            run()
            torch.cuda.synchronize()
            start = time.perf_counter()
            run()
            holds.append(20e-6 + 2 * (time.perf_counter() - start))
            torch.cuda.synchronize()
        start = time.perf_counter()
        for number in range(5):  # to warm up
            _, seconds = self._round(runs, cache, holds, number % 2 == 0)
            if time.perf_counter() - start > self._seconds / 10:
                break
        count = int(min(self._samples, max(10, self._seconds / seconds)))
        count = max(2, count // 2 * 2)
        rounds = [self._round(runs, cache, holds, i % 2 == 0)[0] for i in range(count)]
        return [statistics.median(samples) for samples in zip(*rounds)]


def listed(name):
    """(place, line) of each problem of a list, or of a plan of `kiln sweep`. Raises ValueError, OSError."""
    text = pathlib.Path(name).read_text(encoding="utf-8")
    if name.endswith(".toml"):
        groups = tomllib.loads(text)["kernels"]
        return [(name, f"{group['kernel']} {line}") for group in groups for line in group["problems"]]
    stripped = [line.partition("#")[0].strip() for line in text.splitlines()]
    return [(f"{name}:{number}", line) for number, line in enumerate(stripped, 1) if line]


def read_problems(options):
    """(number, place, line) of each problem that is to run. Raises ValueError, OSError."""
    found = [("--problem", line) for line in options.problem]
    for name in options.list:
        found += listed(name)
    if not found:
        raise ValueError("no problem is given: use --problem or --list")
    chosen = []
    for part in (options.only or f"1-{len(found)}").split(","):
        match = re.fullmatch(r"(\d+)(?:-(\d+))?", part)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
        if not 0 < first <= last <= len(found):
            raise ValueError(f"--only: '{part}': expected e.g. 1-6,9, of 1 to {len(found)}")
        chosen += range(first, last + 1)
    return [(number, *found[number - 1]) for number in chosen]


def parse(line, kernels):
    """Kernel and fields of "reduce n=2^20". Raises ValueError."""
    kernel, _, terms = line.partition(" ")
    pairs = re.findall(r"""(\w+)=("[^"]*"|'[^']*'|\S+)""", terms)
    if kernel not in kernels or not pairs:
        raise ValueError(f"'{line}' is no problem of {', '.join(kernels)}")
    return kernel, {name: value.strip("\"'") for name, value in pairs}


class Comparison:
    """Prepares Kiln's kernel and its peers for each problem, compares their results, times them."""

    def __init__(self, options, make):
        self._options, self._make = options, make
        self._timer = Timer(options.samples, options.sample_seconds)
        self.rows = []
        self.failed = False

    def run(self, number, kernel, given):
        """The rows of one problem, tuned first where the options say so."""
        options = self._options
        place = {"db": options.db, "device": "cuda:0"}
        if options.seconds:
            kiln.tune(kernel, seconds=options.seconds, progress=False, **place, **given)
        problem = kiln.best(kernel, **place, **given).problem  # every field, in the spec's order
        launcher = kiln.Launcher("cuda:0", database=options.db)
        prepared, match = launcher.prepare(kernel, **given), launcher.select(kernel, **given)
        work = self._make(kernel, problem, prepared.parameters, options)
        for note in [match.reason] * (match.grade != "exact") + work.notes:
            say(f"  {note}")
        title = text_of({name: value for name, value in problem.items() if name in given})
        call = prepared.bind(**work.arguments)
        rows = self._checked(Row(number, f"{kernel} {title}", match, work), call)
        kept = []
        for cache in ("cold", "warm") if options.cache == "both" else (options.cache,):
            us = self._timer.medians([call, *(row.peer.run for row in rows)], cache)
            kept += first_and_best(
                replace(row, cache=cache, kiln_us=us[0], peer_us=peer_us)
                for row, peer_us in zip(rows, us[1:])
            )
        self.rows += kept
        return kept

    def _checked(self, row, call):
        """Runs everything once. Returns a row for each peer that runs."""
        work, rows = row.work, []
        result = work.arguments[work.output]
        run_checked(call, result, work)
        kiln_error = work.error(result) if work.error else None
        for peer in work.peers:
            try:
                run_checked(peer.run, peer.result, work)
            except RuntimeError as error:
                if not peer.family:
                    raise
                say(f"  {error}")
                continue
            rows.append(replace(row, peer=peer, kiln_error=kiln_error))
            if peer.result is not None:
                rows[-1].agreement = work.agree(result.flatten(), peer.result.flatten())
                rows[-1].peer_error = work.error(peer.result) if work.error else None
                self.failed |= not rows[-1].agreement[0]
        return rows


def run_checked(run, result, work):
    """One run over an output that holds the same values for all: all must overwrite it."""
    if result is not None:
        fill(result, *work.output_range)
    run()
    torch.cuda.synchronize()


def first_and_best(rows):
    """Of the rows of each family keeps two: the first that ran and the fastest."""
    kept, families = [], {}
    for row in rows:
        if row.peer.family:
            families.setdefault(row.peer.family, []).append(row)
        else:
            kept.append(row)
    for ways in families.values():
        best = min(range(len(ways)), key=lambda i: ways[i].peer_us)
        for role, i in (("first", 0), ("best", best)):
            kept.append(replace(ways[i], role=role, which=f"{i + 1}/{len(ways)}"))
    return kept


def say(message):
    """Progress and notes; stdout is the report's."""
    print(message, file=sys.stderr, flush=True)


def cells_of(row):
    """All that is known of a row, by the names of the columns of bench/results."""
    work, match, peer = row.work, row.match, row.peer
    agreed, detail = row.agreement or (True, "-")
    cells = {"no": row.number, "problem": row.problem, "peer": peer.name, "cache": row.cache}
    if row.role != "only":
        cells["peer"] = f"{peer.name}, {row.role}: {row.which}"
    sides = ("kiln", row.kiln_us, row.kiln_error), ("peer", row.peer_us, row.peer_error)
    for side, us, error in sides:
        cells[f"{side}_us"] = f"{us:.2f}"
        cells[f"{side}_gb_per_s"] = f"{work.bytes / us * 1e-3:.1f}"
        cells[f"{side}_tflop_per_s"] = f"{work.flops / us * 1e-6:.1f}" if work.flops else ""
        cells[f"error_{side}"] = "" if error is None else f"{error:.1e}"
    cells["tflop_per_s"] = cells["kiln_tflop_per_s"]
    cells["kiln_tb_per_s"] = f"{work.bytes / row.kiln_us * 1e-6:.2f}"
    cells["moved_mb"] = f"{work.bytes * 1e-6:.1f}"
    cells["speed_up"] = f"{row.peer_us / row.kiln_us:.2f}"
    cells.update(match=match.grade, agree=detail if agreed else f"NO: {detail}")
    cells.update(variant=match.config.partition(":")[0], config=match.config)
    return cells


def wide(rows):
    """A line for each cache mode of one problem, with the columns of all its peers."""
    lines = {}
    for row, cells in zip(rows, map(cells_of, rows)):
        line = lines.setdefault(row.cache, {**cells, "problem": row.problem.partition(" ")[2]})
        if row.role in row.peer.columns:
            line.update(zip(row.peer.columns[row.role], (cells["peer_us"], cells["speed_up"])))
        if cells["agree"].startswith("NO"):
            line["agree"] = cells["agree"]
    return list(lines.values())


TABLE = [
    "no", "problem", "peer", "cache", "kiln_us", "peer_us", "speed_up", "kiln_gb_per_s",
    "kiln_tflop_per_s", "error_kiln", "error_peer", "match", "agree",
]  # fmt: skip


def print_report(rows):
    """The table, and geometric means of the ratios to a library's first and best ways, of several
    families the better one's."""
    lines = [TABLE] + [[str(cells_of(row)[name]) for name in TABLE] for row in rows]
    widths = [max(map(len, column)) for column in zip(*lines)]
    for line in lines:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip())
    for cache in dict.fromkeys(row.cache for row in rows):
        over = {"first": {}, "best": {}}
        for row in rows:
            if row.cache == cache and row.role in over:
                known = over[row.role].setdefault(row.number, row.peer_us / row.kiln_us)
                over[row.role][row.number] = min(known, row.peer_us / row.kiln_us)
        if over["best"]:
            first, best = (statistics.geometric_mean(values.values()) for values in over.values())
            least, number = min((value, number) for number, value in over["best"].items())
            means = f"{first:.3f} over the first, {best:.3f} over the best"
            print(f"{cache}: geometric mean {means}; least {least:.3f} (no. {number})")


def append(path, columns, lines):
    """Appends lines to a CSV file: with the columns that it has, or with these if it is new."""
    with open(path, "a+", encoding="utf-8", newline="") as file:
        file.seek(0)
        known = next(csv.reader(file), None)
        writer = csv.DictWriter(
            file, known or columns, restval="", extrasaction="ignore", lineterminator="\n"
        )
        if not known:
            writer.writeheader()
        writer.writerows(lines)


def main(description, kernels, make, *, columns, wide_csv, versions, add_options=None):
    """The program of a family. Ends with 1 if a problem cannot be run or results disagree.

    `make`: (kernel, problem, parameters, options) to a workload. `columns`: of the CSV file.
    `wide_csv`: it has a line a problem, not one a peer. `versions`: of the peers, as texts."""
    parser = argparse.ArgumentParser(description=description.partition("\n")[0])
    add = parser.add_argument
    add("--problem", action="append", default=[], help="a kernel and its problem; may repeat")
    add("--list", action="append", default=[], help="a file with a problem a line, or a plan; may repeat")
    add("--only", help="numbers of the problems to run, e.g. 1-6,9")
    add("--db", help="the database that `kiln tune` wrote (default: where Kiln looks)")
    add("--seconds", type=float, help="tune each problem for so long first, into --db")
    add("--cache", choices=["cold", "warm", "both"], default="cold")
    add("--samples", type=int, default=50, help="of each candidate (default 50)")
    add("--sample-seconds", type=float, default=10, help="fewer samples, but 10, beyond this")
    add("--csv", help="append each row to this table as soon as it is measured")
    add("--run", default="", help="name of the run, for the CSV file")
    if add_options:
        add_options(parser)
    options = parser.parse_args()
    if options.seconds and not options.db:
        parser.error("--seconds needs --db")
    try:
        problems = read_problems(options)
        torch.cuda.set_stream(torch.cuda.Stream())
        words = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader", "--id=0"]
        device = subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
        print(", ".join([device, f"torch {torch.__version__}", *versions(options)]), flush=True)
    except (ValueError, OSError, RuntimeError) as error:
        sys.exit(f"error: {error}")
    comparison = Comparison(options, make)
    for number, place, line in problems:
        say(f"{number}: {line}")
        try:
            rows = comparison.run(number, *parse(line, kernels))
        except (kiln.KilnError, RuntimeError, ValueError) as error:
            say(f"error: {place}: {error}")
            comparison.failed = True
            continue
        if options.csv:
            lines = wide(rows) if wide_csv else list(map(cells_of, rows))
            append(options.csv, columns, [{**cells, "run": options.run} for cells in lines])
        torch.cuda.empty_cache()
    print_report(comparison.rows)
    sys.exit(1 if comparison.failed else 0)
