#!/usr/bin/env python3
"""Runs the program on files that nobody meant, and expects an answer each time.

Usage: hostile_runs.py KILN [--runs N] [--seed N] [--jobs N]

Each run gives one command one file that was changed: bits and lines, numbers that are too large,
escapes, names of fields, a copy cut short; or something that is no file at all, a pipe, a device, a
folder. Memory is limited (ulimit -v); some runs have little of it, few open files, or no PATH. A run
fails if the program ends with 70 or by a signal, takes longer than its time, or writes a byte that
steers a terminal. No run may hold more than LARGEST bytes. The first failures are kept.

SPDX-License-Identifier: Apache-2.0
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SECONDS = 30  # of one run, on a machine that does other things too
MEMORY = 3 << 30
LITTLE_MEMORY = 1 << 30
LARGEST = 3 << 29  # resident, of which LLVM and PoCL take a part
COSTLY = 100  # one run in so many is of a command that compiles or measures
STEERS = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]")
SPECIAL = ("/dev/zero", "/dev/null", "/proc/self/maps", "/proc/kmsg", "fifo", ".", "nowhere")
PLANTS = (b"\x1b[2J", b"\xc2\x9b31m", b"\x00", b"\xff\xfe", b"-1", b"1e308", b"NaN", b"Infinity", b"null",
          b"18446744073709551616", b"[" * 5000, b"{" * 300, b"(" * 3000, b"\"", b"'", b"\\", b"%s%n", b"../../x",
          b"1,120.5", b"[1] * 10**9", b"A" * 70000, b"\r\n", b"//", b"$(touch x)", b"lambda: 0")


def read(path):
    return (ROOT / path).read_bytes()


def seeds(kiln, folder):
    """Commands with {} for the file, each with the bytes that are changed and the name of the file: those that answer at
    once, then those that compile or measure."""
    scale = ROOT / "tests/cli/kernels/scale"
    for words in (["tune", scale, "--problem", "n=100", "--trials", "3", "--device", "opencl:0"], ["db", "export", "seed.jsonl"],
                  ["db", "lock", "seed.lock", "--kernel-path", scale.parent], ["db", "export", "t4", "--format", "t4"]):
        subprocess.run([kiln, *words, "--db", "seed.db"], cwd=folder, stdout=subprocess.DEVNULL, check=True)
    t1 = (b'{"General": {"BenchmarkName": "x"}, "ConfigurationSpace": {"TuningParameters": [{"Name": "block_size_x", '
          b'"Type": "int", "Values": "[16*i for i in range(1,9)]", "Default": 32}], "Conditions": [{"Expression": '
          b'"block_size_x % 32 == 0"}]}, "KernelSpecification": {"Language": "OpenCL", "KernelName": "f", "KernelFile": '
          b'"k.cl", "ProblemSize": [4096], "GridDivX": ["block_size_x"], "Arguments": [{"Name": "x", "Type": "float", '
          b'"Size": "ProblemSize[0] * max(block_size_x)", "FillType": "Random", "FillValue": 1.0}]}}')
    source = (b"#ifndef BLOCK\n#define BLOCK 64\n#endif\ntemplate <int N>\n__global__ void f(float* x, const float* y, int n) {\n"
              b"  int i = blockIdx.x * BLOCK + threadIdx.x;\n  if (i < n) x[i] += y[i] * TILE;\n}\n")
    (folder / "k.cl").write_bytes(b"#ifndef block_size\n#define block_size 32\n#endif\n__kernel void f(__global float* x) { x[get_global_id(0)] = block_size_x * block_size; }\n")
    call = (b'{"kernel":"reduce","problem":"n=1000","device":"cpu","grade":"default","config":"naive","selections":1,'
            b'"launches":5,"recorded_at":"2026-01-01T00:00:00Z"}\n')
    plan = read("tests/fuzz/corpus/plan/all_keys.plan.toml")
    spec = read("tests/cli/kernels/scale/spec.toml")
    database, lock, wisdom = ((folder / name).read_bytes() for name in ("seed.db", "seed.lock", "seed.jsonl"))
    t4 = next((folder / "t4").iterdir()).read_bytes()
    name = next(json.loads(line)["info"]["name"] for line in wisdom.splitlines() if b'"info"' in line)
    rows = {f"{block},2": {"block_size": block, "items": 2, "time": block / 8, "times": [0.5, block / 4], "GFLOP/s": 12.5,
                           "timestamp": "2026-05-01 10:00:00"} for block in (32, 64)}
    rows["128,2"] = {"block_size": 128, "items": 2, "time": "CompilationFailedConfig"}
    cache = json.dumps({"device_name": name, "kernel_name": "scale", "problem_size": [4096], "tune_params_keys": ["block_size", "items"],
                        "tune_params": {"block_size": [32, 64, 128], "items": [2]}, "objective": "time", "cache": rows}).encode()
    opencl = ["--backend", "opencl", "--arch", "opencl"]
    path = ["--kernel-path", str(scale.parent)]
    measured = ["--problem", "n=100", "--device", "opencl:0", "--db", "to.db"]
    night = b'name = "night"\n[[kernels]]\nkernel = "./own"\nproblems = ["n=1", "n=100"]\ntrials = 1\nseed = 7\n'
    answered = [
        (["kernels", "{}"], spec, "own/spec.toml"), (["render", "{}", "--problem", "n=100", *opencl], spec, "own/spec.toml"),
        (["space", "{}", "--problem", "n=100", *opencl], spec, "own/spec.toml"),
        (["space", "--file", "{}"], t1, "t1.json"), (["init", "--t1", "{}", "--force"], t1, "t1.json"),
        (["init", "{}", "--force"], source, "k.cu"), (["replay", "{}", "--seeds", "1"], cache, "cache.json"),
        (["init", "k.cl", "--kernel-tuner", "{}", "--force"], cache, "cache.json"),
        (["db", "import", "{}", "--kernel", str(scale), "--problem", "n={0}", "--device", "opencl:0", "--db", "to.db"], cache,
         "cache.json"),
        (["replay", "{}", "--seeds", "1"], read("tests/interchange/foreign/ktt.json"), "ktt.json"),
        (["replay", "{}", "--seeds", "1"], t4, "t4.json"),
        (["db", "import", "{}", "--db", "to.db", *path], wisdom, "w.jsonl"),
        (["db", "import", "{}", "--db", "to.db", *path], t4, "t4.json"),
        (["best", "reduce", "--problem", "n=1000", "--lock", "{}"], lock, "a.lock"),
        (["coverage", "{}"], call, "calls.jsonl"), (["sweep", "--requested", "--requests", "{}", "--db", "to.db"], call, "r.jsonl"),
        (["show", "--db", "{}"], database, "some.db"), (["show", "1", "--db", "{}"], database, "some.db"),
        (["show", "1", "--csv", "--db", "{}"], database, "some.db"), (["db", "info", "--db", "{}"], database, "some.db"),
        (["db", "check", "{}"], database, "some.db"), (["db", "dump", "--db", "{}"], database, "some.db"),
        (["db", "merge", "--into", "m.db", "{}"], database, "some.db"), (["report", "-o", "-", "--db", "{}"], database, "some.db"),
        (["best", "scale", *path, "--problem", "n=99", "--db", "{}"], database, "some.db"),
        (["report", "--db", "seed.db", "-o", "-", "--ceilings", "{}"], b'{"ceilings": {"read_bytes_per_s": 1e9}}', "c.json"),
        (["db", "publish", "public.db", "--db", "{}"], database, "some.db"), (["db", "export", "-", "--db", "{}"], database, "some.db"),
        (["db", "export", "t4", "--format", "t4", "--db", "{}"], database, "some.db"), (["db", "rm", "1", "--db", "{}"], database, "some.db"),
        (["db", "lock", "{}", "--db", "seed.db"], lock, "a.lock"), (["db", "lock", "-", "--db", "{}"], database, "some.db"),
        (["db", "portfolio", "scale", *path, "--db", "{}"], database, "some.db"),
        (["fleet", "submit", "{}", "--db", "postgresql://127.0.0.1:1/none"], plan, "p.plan.toml"),
        (["fleet", "work", "--db", "postgresql://127.0.0.1:1/none", "--patience", "0", "--outbox", "{}"], b"x", "outbox"),
        (["run", "--record", "{}", "--", "true"], call, "calls.jsonl"),
    ]
    costly = [
        (["prebuild", "--plan", "{}"], plan, "p.plan.toml"),
        (["tune", "{}", "--trials", "1", *measured], spec, "own/spec.toml"), (["prove", "{}", *measured], spec, "own/spec.toml"),
        (["compare", "{}", "--config", "default", "--config", "plain:block_size=64,items=1", *measured[:-1], "seed.db"], spec, "own/spec.toml"),
        (["sweep", "{}", "--db", "to.db"], night, "night.toml"), (["check", "{}", "--device", "opencl:0", "--db", "seed.db"], night, "night.toml"),
        (["check", "{}", "--device", "opencl:0", *path], database, "some.db"),
        (["export", "{}", "--source", "out", *measured], spec, "own/spec.toml"),
        (["prebuild", "{}", "--cache", "out", *measured], spec, "own/spec.toml"),
    ]
    return answered, costly


def changed(data, draw):
    data = bytearray(data)
    for _ in range(draw.choice((1, 1, 2, 5))):
        at = draw.randrange(len(data) + 1)
        deed = draw.randrange(7)
        if deed == 0 and data:
            data[at % len(data)] ^= 1 << draw.randrange(8)
        elif deed == 1:
            data[at:at] = draw.choice(PLANTS)
        elif deed == 2:
            del data[at:at + draw.choice((1, 10, 100))]
        elif deed == 3:
            del data[at:]
        elif deed == 4:
            data[at:at] = data[at:at + draw.choice((5, 50, 500))] * draw.choice((1, 3, 50))
        elif deed == 5:
            numbers = list(re.finditer(rb"\d+", data))
            if numbers:
                found = draw.choice(numbers)
                data[found.start():found.end()] = draw.choice((b"0", b"-7", b"4294967296", b"1e400", b"0.5", b"99999999999999999999"))
        else:
            words = list(re.finditer(rb'"[^"\n]*"', data))
            if words:
                found, other = draw.choice(words), draw.choice(words)
                data[found.start():found.end()] = other.group()
    return bytes(data)


def limits(memory, files):
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if files:
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))


def one_run(kiln, folder, seed, number, seeds_of, patience=1):
    """What was wrong with the run; None: nothing. A busy machine gets a second try, with more time."""
    draw = random.Random(f"{seed} {number}")
    commands = seeds_of[draw.randrange(COSTLY) == 0]
    words, data, name = commands[number % len(commands)]
    seconds = SECONDS * patience * (4 if commands is seeds_of[1] else 1)
    with tempfile.TemporaryDirectory(prefix="run-", dir=folder) as own:
        own = pathlib.Path(own)
        for shared in ("seed.db", "k.cl"):
            if (folder / shared).exists():
                shutil.copy(folder / shared, own / shared)
        shutil.copytree(ROOT / "tests/cli/kernels/scale", own / "own")
        file = own / name
        given = str(file.parent) if name.endswith("spec.toml") else str(file)
        if draw.randrange(40) == 0:
            given = draw.choice(SPECIAL)
            os.mkfifo(own / "fifo")
        else:
            file.write_bytes(changed(data, draw))
        command = [kiln, *(given if word == "{}" else word for word in words)]
        environment = {"HOME": str(own), "TMPDIR": str(own)}
        if draw.randrange(10) > 0:
            environment["PATH"] = os.environ.get("PATH", "")
        memory = LITTLE_MEMORY if draw.randrange(10) == 0 else MEMORY
        files = draw.randrange(3, 16) if draw.randrange(10) == 0 else 0
        try:
            done = subprocess.run(command, cwd=own, env=environment, capture_output=True, stdin=subprocess.DEVNULL,
                                  timeout=seconds, preexec_fn=lambda: limits(memory, files))
        except subprocess.TimeoutExpired:
            if patience == 1:
                return one_run(kiln, folder, seed, number, seeds_of, patience=3)
            return f"{number}: {' '.join(words)}: no answer within {seconds} s (memory {memory}, files {files or 'all'})"
        html = words[0] == "report"
        steers = [where for where, text in (("stdout", done.stdout), ("stderr", done.stderr)) if STEERS.search(text)]
        if done.returncode == 70 or done.returncode < 0 or (steers and not html):
            kept = folder.parent / f"failed-{number}"
            shutil.copytree(own, kept, ignore=shutil.ignore_patterns("fifo"), dirs_exist_ok=True)
            return (f"{number}: {' '.join(words)}: {done.returncode} {steers} {done.stderr[-300:]!r} "
                    f"(memory {memory}, files {files or 'all'}); see {kept}")
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kiln", type=lambda text: str(pathlib.Path(text).resolve()))
    parser.add_argument("--runs", type=int, default=100_000 if os.environ.get("KILN_SOAK") == "1" else 480)
    parser.add_argument("--seed", default=os.environ.get("KILN_PART", "1"))
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="kiln-hostile-") as root:
        folder = pathlib.Path(root) / "runs"
        folder.mkdir()
        seeds_of = seeds(options.kiln, folder)
        failures = []
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            for begin in range(0, options.runs, 1000):
                numbers = range(begin, min(begin + 1000, options.runs))
                for failure in pool.map(lambda number: one_run(options.kiln, folder, options.seed, number, seeds_of), numbers):
                    if failure:
                        failures.append(failure)
                        print(failure, flush=True)
                if numbers[-1] % 1000 == 999:
                    print(f"{numbers[-1] + 1} runs, {len(failures)} failures", flush=True)
                if len(failures) >= 20:
                    break
        if failures:
            kept = tempfile.mkdtemp(prefix="kiln-hostile-failed-")
            for failed in pathlib.Path(root).glob("failed-*"):
                shutil.move(str(failed), kept)
            print(f"{len(failures)} failures of {options.runs} runs; their files are in {kept}")
            return 1
    largest = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss << 10
    print(f"{options.runs} runs, each answered; the largest held {largest >> 20} MiB")
    return 0 if largest <= LARGEST else 1


if __name__ == "__main__":
    sys.exit(main())
