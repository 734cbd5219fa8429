"""Makes a session with many trials from a session with few: what a long search stores.

    many_trials.py DATABASE COUNT [SEED]

Adds invented trials to every session of DATABASE, a copy that the caller owns, until each has COUNT.
Their configs are always the same, their times are of the SEED. One trial in ten of the first hundred
and one in fifty of the others fails, with a message that would be markup if nobody escaped it.

SPDX-License-Identifier: Apache-2.0
"""

import json
import random
import sqlite3
import sys

HOSTILE = "</script><script>window.broken=1</script><img src=x onerror=window.broken=1> & 'it'"


def invented(random_numbers, noise):
    variant = random_numbers.choice(["made_tiled", "made_tiled", "made_register", "made_split"])
    values = {"tile_m": random_numbers.choice([32, 64, 128, 256]),
              "tile_n": random_numbers.choice([32, 64, 128, 256]),
              "unroll": random_numbers.choice([1, 2, 4, 8]),
              "stages": random_numbers.choice([1, 2, 3, 4]),
              "swizzle": random_numbers.choice([True, False]),
              "layout": random_numbers.choice(["plain", "padded", "packed"]),
              **{f"option_{i}": random_numbers.choice([1, 2, 4]) for i in range(8)}}
    time = 5e4 * (1 + abs(values["tile_m"] - 128) / 64) * (1 + values["unroll"] / 8)
    return variant, values, time * noise.uniform(0.9, 1.4)


def add_to_session(database, session, count, seed):
    random_numbers = random.Random(1)
    noise = random.Random(seed)
    seen = set()
    sequence = database.execute("SELECT max(sequence) FROM trials WHERE session = ?", (session,)).fetchone()[0]
    while sequence < count:
        variant, values, time = invented(random_numbers, noise)
        words = ",".join(f"{name}={json.dumps(value).strip(chr(34))}" for name, value in values.items())
        if (variant, words) in seen:
            continue
        seen.add((variant, words))
        sequence += 1
        failed = sequence % (10 if sequence < 100 else 50) == 0
        database.execute(
            "INSERT INTO trials (session, sequence, config, config_json, outcome, message, time_ns,"
            " max_error, registers, spill_bytes, shared_bytes, source_key, render_ns, compile_ns,"
            " verify_ns, measure_ns, recorded_at)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, 0, 64, 0, 0, '', 1000, 1000000, 200000, 500000,"
            " '2026-01-01T00:00:00Z')",
            (session, sequence, f"{variant}:{words}", json.dumps({"variant": variant, "tunables": values}),
             "compile_error" if failed else "ok", HOSTILE if failed else "", 0 if failed else time))


def add_trials(path, count, seed=1):
    with sqlite3.connect(path) as database:
        for (session,) in database.execute("SELECT id FROM sessions").fetchall():
            add_to_session(database, session, count, seed)


if __name__ == "__main__":
    add_trials(sys.argv[1], *map(int, sys.argv[2:]))
