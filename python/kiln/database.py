"""The database as Python objects: sessions, their trials and failures, and the bests.

Reads the SQLite file without writing to it, also while a session is running.
SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import contextlib
import html
import json
import os
import pathlib
import sqlite3
import struct
from typing import Any, Dict, Iterator, List, Optional, Union

from .errors import DatabaseError, ProblemError

APPLICATION_ID = 1263094862
SCHEMA_VERSION = 5

_TRIALS = """
SELECT t.sequence, t.config, t.config_json, t.outcome, t.message, t.time_ns, t.max_error,
       t.registers, t.spill_bytes, t.shared_bytes, t.render_ns, t.compile_ns, t.verify_ns,
       t.measure_ns, t.recorded_at, s.ns AS samples
FROM trials t LEFT JOIN samples s ON s.trial = t.id WHERE t.session = ? ORDER BY t.sequence
"""


def default_path() -> pathlib.Path:
    """$KILN_DB, else kiln/kiln.db in the user's data folder."""
    named = os.environ.get("KILN_DB")
    if named:
        return pathlib.Path(named)
    data = os.environ.get("XDG_DATA_HOME")
    return (
        (pathlib.Path(data) if data else pathlib.Path.home() / ".local" / "share")
        / "kiln"
        / "kiln.db"
    )


def file_of(db: "Union[str, os.PathLike[str], None]") -> pathlib.Path:
    """The file that `db` names, else the default one. Raises DatabaseError if it is on a server."""
    named = os.environ.get("KILN_DB", "") if db is None else os.fspath(db)
    if named.startswith(("postgresql://", "postgres://")):
        raise DatabaseError(
            "the database is on a server, of which Python does not read sessions: pass a file, which "
            "`kiln db merge FILE --into URL` takes there, or use the program"
        )
    return default_path() if db is None else pathlib.Path(db)


class Database:
    """A database file, open for reading. kiln.open() makes it; `with` or close() closes it.

    Raises DatabaseError if the file is missing, damaged, of another program or of a newer Kiln, or
    if the database is on a server."""

    def __init__(self, path: "Union[str, os.PathLike[str], None]" = None) -> None:
        self.path = file_of(path)
        if not self.path.is_file():
            found = "is no file" if self.path.exists() else "there is no such database"
            raise DatabaseError(f"{self.path}: {found}")
        with self._errors():
            uri = self.path.resolve().as_uri() + "?mode=ro"
            self._connection = sqlite3.connect(uri, uri=True, check_same_thread=False)
            self._connection.row_factory = sqlite3.Row
            application = self._connection.execute("PRAGMA application_id").fetchone()[0]
            version = self._connection.execute("PRAGMA user_version").fetchone()[0]
        if application != APPLICATION_ID:
            raise DatabaseError(f"{self.path}: is an SQLite file of another program")
        if version > SCHEMA_VERSION:
            raise DatabaseError(
                f"{self.path}: has schema version {version}, this Kiln knows versions up to "
                f"{SCHEMA_VERSION}"
            )

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<kiln.Database {self.path}>"

    def close(self) -> None:
        """Closes the file. Sessions that were read stay usable."""
        self._connection.close()

    @contextlib.contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as reason:
            raise DatabaseError(f"{self.path}: {reason}") from None

    def rows(self, query: str, *values: Any) -> List[Dict[str, Any]]:
        """The rows of a query as dicts. The tables are those of docs/database_format.md."""
        with self._errors():
            return [dict(row) for row in self._connection.execute(query, values)]

    @property
    def sessions(self) -> List[Session]:
        """All sessions, the oldest first."""
        found = self.rows("SELECT * FROM sessions ORDER BY id")
        bests = {row["session"]: row for row in self.rows("SELECT * FROM best ORDER BY id")}
        return [self._session(row, bests.get(row["id"])) for row in found]

    def session(self, number: Optional[int] = None) -> Session:
        """The session of a number; without one, the latest. Raises ProblemError if there is none."""
        if number is None:
            found = self.rows("SELECT * FROM sessions ORDER BY id DESC LIMIT 1")
        else:
            found = self.rows("SELECT * FROM sessions WHERE id = ?", number)
        if not found:
            raise ProblemError(
                f"{self.path}: there is no session {'' if number is None else number}"
            )
        best = self.rows(
            "SELECT * FROM best WHERE session = ? ORDER BY id DESC LIMIT 1", found[0]["id"]
        )
        return self._session(found[0], best[0] if best else None)

    @property
    def trials(self) -> List[Dict[str, Any]]:
        """The trials of all sessions, each with its `session`."""
        return [dict(trial, session=s.id) for s in self.sessions for trial in s.trials]

    @property
    def failures(self) -> List[Dict[str, Any]]:
        """The trials of all sessions whose outcome is not ok."""
        return [trial for trial in self.trials if trial["outcome"] != "ok"]

    def _session(self, row: Dict[str, Any], best: Optional[Dict[str, Any]]) -> Session:
        trials = [_trial(found) for found in self.rows(_TRIALS, row["id"])]
        return Session(row, best, trials, self.path)


def _trial(row: Dict[str, Any]) -> Dict[str, Any]:
    config = json.loads(row.pop("config_json"))
    blob = row.pop("samples") or b""
    samples = list(struct.unpack(f"<{len(blob) // 8}d", blob[: len(blob) // 8 * 8]))
    trial = dict(row, variant=config["variant"], tunables=config["tunables"], samples_ns=samples)
    if trial["outcome"] != "ok":
        trial["time_ns"] = None
    return trial


class Session:
    """One session of the tuner, as the database had it when it was read.

    `trials` is a list of dicts: sequence, config (text), variant, tunables (dict), outcome, message,
    time_ns (median of the search, None of a failure), samples_ns, max_error, registers, spill_bytes,
    shared_bytes, render_ns, compile_ns, verify_ns, measure_ns, recorded_at."""

    def __init__(
        self,
        row: Dict[str, Any],
        best: Optional[Dict[str, Any]],
        trials: List[Dict[str, Any]],
        database: pathlib.Path,
    ) -> None:
        self.id: int = row["id"]
        self.kernel: str = row["kernel"]
        self.problem: Dict[str, Any] = json.loads(row["problem_json"])
        self.device: str = row["device"]
        self.state: str = row["state"]  #: running, finished or interrupted
        self.strategy: str = row["strategy"]
        self.space_size: int = row["space_size"]
        self.wall_seconds: float = row["wall_seconds"]
        self.row = row  #: the row of the table sessions
        self.trials = trials
        self.database = database
        self._best = best

    @property
    def failures(self) -> List[Dict[str, Any]]:
        """The trials whose outcome is not ok."""
        return [trial for trial in self.trials if trial["outcome"] != "ok"]

    @property
    def best(self) -> Optional[Dict[str, Any]]:
        """config, variant, tunables, time_ns and default_time_ns: of the finals if the session has
        finished, else the fastest trial so far. None: no config worked."""
        if self._best is not None and self._best["verdict"] != "none":
            config = json.loads(self._best["config_json"])
            return {
                "config": self._best["config"],
                "variant": config["variant"],
                "tunables": config["tunables"],
                "time_ns": self._best["time_ns"],
                "default_time_ns": self._best["default_time_ns"] or None,
            }
        good = [trial for trial in self.trials if trial["outcome"] == "ok"]
        if not good:
            return None
        fastest = min(good, key=lambda trial: trial["time_ns"])
        names = ("config", "variant", "tunables", "time_ns")
        return {**{name: fastest[name] for name in names}, "default_time_ns": None}

    @property
    def verdict(self) -> Optional[str]:
        """better, tie, unmeasurable or none, against the default config; None before the finals."""
        return None if self._best is None else self._best["verdict"]

    @property
    def speedup(self) -> Optional[float]:
        """Time of the default config over time of the best; None where either is not known."""
        best = self.best
        if best is None or not best["default_time_ns"] or not best["time_ns"]:
            return None
        return float(best["default_time_ns"] / best["time_ns"])

    def best_so_far(self) -> List[float]:
        """For each trial the time in nanoseconds of the fastest trial up to it; infinity before the
        first that worked."""
        times, fastest = [], float("inf")
        for trial in self.trials:
            fastest = min(fastest, trial["time_ns"] or float("inf"))
            times.append(fastest)
        return times

    def to_frame(self) -> Any:
        """The trials as a pandas.DataFrame, each tunable a column `tunables.NAME`. Needs pandas."""
        import pandas  # pylint: disable=import-outside-toplevel

        flat = []
        for trial in self.trials:
            row = {name: value for name, value in trial.items() if name != "tunables"}
            row.update({f"tunables.{name}": value for name, value in trial["tunables"].items()})
            flat.append(row)
        return pandas.DataFrame(flat)

    def __repr__(self) -> str:
        return f"<kiln.Session {self.id}: {self._summary()}>"

    def _summary(self) -> str:
        problem = " ".join(f"{name}={value}" for name, value in self.problem.items())
        text = f"{self.kernel} {problem}: {len(self.trials)} trials, {len(self.failures)} failed"
        best = self.best
        if best is not None:
            text += f", best {pretty_time(best['time_ns'])}"
        if self.speedup is not None:
            text += f", {self.speedup:.2f}x the default ({self.verdict})"
        return text

    def _repr_html_(self) -> str:
        """A table of the ten fastest trials and a plot of the best time so far."""
        good = [trial for trial in self.trials if trial["outcome"] == "ok"]
        rows = "".join(
            f"<tr><td style='text-align:right'>{pretty_time(trial['time_ns'])}</td>"
            f"<td style='text-align:left'><code>{html.escape(trial['config'])}</code></td></tr>"
            for trial in sorted(good, key=lambda trial: trial["time_ns"])[:10]
        )
        return (
            f"<p><b>session {self.id}</b>: {html.escape(self._summary())}</p>{_plot(self.best_so_far())}"
            f"<table><tr><th>time</th><th>config</th></tr>{rows}</table>"
        )


def pretty_time(nanoseconds: float) -> str:
    """ "1.23 ms": three digits."""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if nanoseconds >= size:
            return f"{nanoseconds / size:.3g} {unit}"
    return f"{nanoseconds:.3g} ns"


def _plot(times: List[float]) -> str:
    """The best time so far over the trials, as a small SVG without a scale of its own."""
    known = [(index, time) for index, time in enumerate(times) if time != float("inf")]
    if len(known) < 2:
        return ""
    width, height = 400, 80
    slowest, fastest = known[0][1], known[-1][1]
    spread = (slowest - fastest) or 1.0
    points = " ".join(
        f"{width * index / (len(times) - 1):.1f},{5 + (height - 10) * (slowest - time) / spread:.1f}"
        for index, time in known
    )
    label = f"best time so far: {pretty_time(slowest)} to {pretty_time(fastest)}"
    return (
        f"<svg width='{width}' height='{height}' role='img' aria-label='{label}'><title>{label}"
        f"</title><polyline points='{points}' fill='none' stroke='#3b7dd8' stroke-width='2'/></svg>"
    )
