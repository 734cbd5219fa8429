#!/usr/bin/env python3
"""Switches checks of docs/checks.md off, one at a time, and expects a test to fail.

Run it from the root of a clean tree, with a build folder: each check costs a build of the tests.
  tests/tuner/switched_off.py build/dev [WORD of a name]
SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import subprocess
import sys

PROGRAM = "tuner_device_test"
CHEATS = "OfEachComputation/Cheats.AreRefused"

# Name of the check, its file, what switches it off, and the tests of which one must fail.
CHECKS = [
    ("fences behind arguments", "checks/problem_data.cpp",
     "verify == VerifyInputs::filled ? Fence::none", "verify != VerifyInputs::with_edges ? Fence::none",
     "Fences.*Arguments*"),
    ("fences behind workspaces", "checks/problem_bench.cpp",
     "is_called ? Fence::behind", "false && is_called ? Fence::behind", "Fences.*Workspaces"),
    ("other scalars", "rules/drawn_scalars.cpp",
     "if (!plan) return drawn;", "if (!plan || drawn.empty()) return drawn;", f"{CHEATS}/1"),
    ("special values", "checks/extra_checks.cpp",
     "if (!any || !has_cpu_reference(spec_)) return Done{};", "if (any || !any) return Done{};", f"{CHEATS}/3"),
    ("a few altered elements", "checks/problem_data.cpp",
     "add_altered(argument.fills);", "add_altered(argument.fills), argument.fills[2].alters_few = false;", f"{CHEATS}/3"),
    ("calls over what is left", "checks/repeated_calls.cpp",
     "is_first ? here->run_checked", "is_first || true ? here->run_checked", f"{CHEATS}/3"),
    ("stirred inputs restored", "checks/problem_data.cpp",
     "argument.filled[position_of(set)] = false;", "argument.is_stirred = true;",
     "CheatsTest.InputsAreStirred*"),
]


def switched_off(build: str, name: str, file: str, on: str, off: str, tests: str) -> bool:
    """Whether a test fails without the check."""
    source = pathlib.Path("tuner") / file
    text = source.read_text(encoding="utf-8")
    if text.count(on) != 1:
        sys.exit(f"{source}: expected '{on}' once")
    try:
        source.write_text(text.replace(on, off), encoding="utf-8")
        subprocess.run(["ninja", "-C", build, "-j1", PROGRAM], check=True, stdout=subprocess.DEVNULL)
        run = subprocess.run(
            [f"{build}/{PROGRAM}", f"--gtest_filter={tests}"], capture_output=True, text=True, check=False
        )
    finally:
        source.write_text(text, encoding="utf-8")
    is_right_refused = "right.failure" in run.stdout or "(right).failure" in run.stdout
    is_noticed = run.returncode != 0 and "[  FAILED  ]" in run.stdout and not is_right_refused
    print(f"{'noticed' if is_noticed else 'NOT NOTICED'}: {name}", flush=True)
    return is_noticed


def main() -> int:
    """The exit code."""
    build, word = sys.argv[1], "".join(sys.argv[2:3])
    chosen = [check for check in CHECKS if word in check[0]]
    return 0 if all([switched_off(build, *check) for check in chosen]) else 1


if __name__ == "__main__":
    sys.exit(main())
