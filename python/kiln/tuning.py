"""Tuning and asking: runs the program `kiln` in processes of its own and reads what it stored.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import fcntl
import os
import pathlib
import sys
import time
import warnings
from typing import Any, Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Union

from . import _problem, _program, launcher
from .database import Database, Session, file_of, pretty_time
from .errors import ArgumentError, Interrupted, KilnError, KilnWarning

PathLike = Union[str, "os.PathLike[str]"]


def _options(given: Mapping[str, Any]) -> List[str]:
    """`{"no_progress": 50, "fresh": True}` as options of the command line."""
    arguments: List[str] = []
    for name, value in given.items():
        option = "--" + name.replace("_", "-")
        if value is True:
            arguments.append(option)
        elif value is not None and value is not False:
            for one in value if isinstance(value, (list, tuple)) else [value]:
                arguments += [option, str(_problem.plain(one))]
    return arguments


def _warn(text: str) -> None:
    """A KilnWarning of the line outside of this package that called it."""
    level, frame = 1, sys._getframe(0)
    while frame.f_back is not None and frame.f_globals.get("__package__") == __package__:
        level, frame = level + 1, frame.f_back
    warnings.warn(text, KilnWarning, stacklevel=level)


def _named(kernel: Any) -> str:
    """A kernel's name or folder, for the command line."""
    name = os.fspath(kernel)
    if any(mark in name for mark in "\n{"):
        raise ArgumentError("a source is tuned by kiln.kernel(source, ...).tune(x)")
    return name


def _writer_of(db: pathlib.Path) -> str:
    """Who writes to a database now; "" if nobody does."""
    try:
        lock = os.open(f"{db.resolve()}.writer", os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:
        return ""
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return ""
    except OSError:
        return os.read(lock, 256).decode("utf-8", "replace") or "another process"
    finally:
        os.close(lock)


def _run_writing(command: List[str], options: Mapping[str, Any], *, progress: bool) -> _program.Answer:
    """Runs the program once nobody else writes to the database; one that came first is waited for."""
    db = file_of(options["db"])
    told = False
    while True:
        writer = _writer_of(db)
        if writer and not told:
            _warn(f"{db} is being written by {writer}: this session begins when that one ends")
            told = True
        if not writer:
            answer = _run(command, options, progress=progress)
            if answer.code != 5 or "is being written by" not in answer.message:
                return answer
        time.sleep(0.2)


def _run(command: List[str], options: Mapping[str, Any], *, progress: bool = False) -> _program.Answer:
    """Runs the program; what it warns of is a KilnWarning."""
    answer = _program.run([*command, *_options(options)], progress=progress)
    for text in answer.warnings:
        _warn(text)
    return answer


def _tried_only_the_default(answer: _program.Answer) -> bool:
    entries = (answer.document or {}).get("sessions", [])
    return bool(answer.code == 1 and entries and entries[0].get("only_default"))


def _failed(answer: _program.Answer, sessions: Sequence[Session]) -> KilnError:
    """The exception for an answer, with the session, and with the first reason where no config is right."""
    if answer.code == 1 and sessions and sessions[-1].best is None and sessions[-1].failures:
        failures = sessions[-1].failures
        first = failures[0]
        text = (
            f"none of {len(sessions[-1].trials)} configs is valid; the first: "
            f"{first['config']}: {first['outcome']}: {first['message']}"
        )
        answer = answer._replace(message=text)
    error = _program.error_of(answer)
    error.session = sessions[-1] if sessions else None
    return error


def _finished(answer: _program.Answer, db: Optional[PathLike]) -> List[Session]:
    """The sessions that an answer names, read from the database."""
    entries = (answer.document or {}).get("sessions", [])
    numbers = [entry["session"] for entry in entries if entry.get("session")]
    if not numbers:
        return []
    with Database(db) as database:
        return [database.session(number) for number in numbers]


def tune(
    kernel: "Union[str, os.PathLike[str]]",
    *,
    seconds: Optional[float] = None,
    trials: Optional[int] = None,
    no_progress: Optional[int] = None,
    device: Optional[str] = None,
    db: Optional[PathLike] = None,
    kernel_path: Optional[PathLike] = None,
    strategy: Optional[str] = None,
    seed: Optional[int] = None,
    objective: Optional[str] = None,
    variants: Union[str, Sequence[str]] = (),
    fresh: bool = False,
    warm_start: bool = True,
    timing: Optional[str] = None,
    warm_cache: bool = False,
    progress: bool = True,
    **problem: _problem.Value,
) -> Session:
    """Finds the best config of one kernel for one problem and returns the session.

    `kernel`: a name or the folder of your own. `timing`: "eager" or "graph"; `warm_cache`: do not flush
    the cache before each sample. `seconds`, `trials`, `no_progress`: the first limit reached ends the
    search (default: 60 seconds). `device`: as `kiln devices` names it.
    `db`: database file, not a server; another session that writes to it is waited for. `problem`:
    sizes in elements, and types.

    The same call goes on where an interrupted session stopped. Ctrl-C ends after the trial in hand,
    keeps everything, and raises Interrupted, whose `result` is the session. A second one ends at
    once. Raises NoConfigError, ProblemError, NoDeviceError or DatabaseError.

        kiln.tune("matmul", m=512, n=512, k=512, seconds=20)"""
    if hasattr(kernel, "tune"):
        raise ArgumentError("a kernel of kiln.kernel() is tuned by its own tune(x)")
    options = {
        "problem": _problem.text_of(problem) or None,
        "seconds": seconds,
        "trials": trials,
        "no_progress": no_progress,
        "device": device,
        "db": db,
        "kernel_path": kernel_path,
        "strategy": strategy,
        "seed": seed,
        "objective": objective,
        "variant": variants,
        "fresh": fresh,
        "no_warm_start": not warm_start,
        "timing": timing,
        "warm_cache": warm_cache,
        "quiet": not progress,
    }
    answer = _run_writing(["tune", _named(kernel), "--trust"], options, progress=progress)
    sessions = _finished(answer, db)
    launcher.reload()
    if answer.interrupted:
        raise Interrupted(
            "the session is stored; the same call goes on from there",
            sessions[0] if sessions else None,
        )
    if answer.code != 0 or not sessions:
        if not _tried_only_the_default(answer) or not sessions or sessions[0].best is None:
            raise _failed(answer, sessions)
        trials_made = len(sessions[0].trials)
        tried = "was tried" if trials_made == 1 else f"is ok of {trials_made} that were tried"
        _warn(
            f"only the default config {tried}: nothing is known to be better; allow more seconds or trials"
        )
    return sessions[0]


class Sweep(Sequence[Session]):
    """The sessions of a sweep, in the order of the plan. `failed` counts those without a valid
    config; they are in the list, with `best` None, if they began."""

    def __init__(self, sessions: List[Session], failed: int) -> None:
        self._sessions = sessions
        self.failed = failed

    def __getitem__(self, index: Any) -> Any:
        return self._sessions[index]

    def __len__(self) -> int:
        return len(self._sessions)

    def __iter__(self) -> Iterator[Session]:
        return iter(self._sessions)

    def __repr__(self) -> str:
        return "\n".join(map(repr, self._sessions)) or "<kiln.Sweep: no session>"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{s.kernel}</td><td>{_problem.text_of(s.problem)}</td><td>"
            f"{pretty_time(s.best['time_ns']) if s.best else ''}</td><td>{s.verdict or ''}</td></tr>"
            for s in self._sessions
        )
        head = "".join(f"<th>{name}</th>" for name in ("kernel", "problem", "best", "verdict"))
        return f"<table><tr>{head}</tr>{rows}</table>"


def sweep(
    plan: PathLike,
    *,
    seconds: Optional[float] = None,
    trials: Optional[int] = None,
    no_progress: Optional[int] = None,
    device: Optional[str] = None,
    db: Optional[PathLike] = None,
    kernels: Union[str, Sequence[str]] = (),
    strategy: Optional[str] = None,
    seed: Optional[int] = None,
    timing: Optional[str] = None,
    fresh: bool = False,
    progress: bool = True,
) -> Sweep:
    """Runs the sessions of a plan file; limits go before those of the plan. `kernels`: only their
    sessions. `db`, Ctrl-C and errors are as with tune(); a session that fails does not end all."""
    options = {
        "seconds": seconds,
        "trials": trials,
        "no_progress": no_progress,
        "device": device,
        "db": db,
        "kernel": kernels,
        "strategy": strategy,
        "seed": seed,
        "timing": timing,
        "fresh": fresh,
        "quiet": not progress,
    }
    answer = _run_writing(["sweep", os.fspath(plan), "--trust"], options, progress=progress)
    sessions = _finished(answer, db)
    launcher.reload()
    result = Sweep(sessions, sum(session.best is None for session in sessions))
    if answer.interrupted:
        raise Interrupted("the sessions are stored; the same call goes on from there", result)
    if answer.code not in (0, 1) or not sessions:
        raise _program.error_of(answer)
    return result


class Best(NamedTuple):
    """What a lookup answers."""

    kernel: str
    problem: Dict[str, Any]
    device: str
    config: str  #: variant:tunable=value,...
    variant: str
    tunables: Dict[str, Any]
    grade: str  #: exact, near_size, same_arch, same_vendor or default
    distance: float  #: in log2 units
    reason: str
    stale: bool  #: driver, compiler or source have changed since
    tuned: Optional[Dict[str, Any]]  #: the tuned row: time_ns, default_time_ns, verdict, ...


def best(
    kernel: PathLike,
    *,
    device: Optional[str] = None,
    db: Optional[PathLike] = None,
    kernel_path: Optional[PathLike] = None,
    objective: Optional[str] = None,
    timing: Optional[str] = None,
    shipped: bool = True,
    **problem: _problem.Value,
) -> Best:
    """Asks the database for the config to run, and how good the match is. Sizes in elements.
    `kernel`: a name, the folder of your own, or what kiln.kernel() made.

    Raises ProblemError, NoDeviceError, or DatabaseError if there is no database."""
    options = {
        "problem": _problem.text_of(problem),
        "device": device,
        "db": db,
        "kernel_path": kernel_path,
        "objective": objective,
        "timing": timing,
        "no_shipped": not shipped,
    }
    answer = _run(["best", _named(getattr(kernel, "folder", kernel))], options)
    if answer.code != 0 or answer.document is None:
        raise _program.error_of(answer)
    found = answer.document
    return Best(
        kernel=found["kernel"],
        problem=found["problem"],
        device=found["device"],
        config=found["config_text"],
        variant=found["config"]["variant"],
        tunables=found["config"]["tunables"],
        grade=found["grade"],
        distance=found["distance"],
        reason=found["reason"],
        stale=found["stale"],
        tuned=found.get("tuned"),
    )


def open_database(path: Optional[PathLike] = None) -> Database:
    """Opens a database for reading; without a path, the default one. Raises DatabaseError."""
    return Database(path)


def check(db: Optional[PathLike] = None) -> None:
    """Proves that a database, also one on a server, is sound, as `kiln db check` does. Raises
    DatabaseError."""
    answer = _program.run(["db", "check", *_options({"db": db})])
    if answer.code != 0:
        error = _program.error_of(answer._replace(code=5))
        raise error
