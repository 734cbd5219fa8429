"""The program `kiln`: where it is, and one run of it as a process of its own.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from typing import IO, Any, List, NamedTuple, NoReturn, Optional, Sequence

from . import _library, errors

_INTERRUPTED = 130
_ERRORS = {
    1: errors.NoConfigError,
    2: errors.ProblemError,
    3: errors.ProblemError,
    4: errors.NoDeviceError,
    5: errors.DatabaseError,
}


def path() -> str:
    """Path of the program: $KILN_PROGRAM, else the package's own, else that in $PATH."""
    named = os.environ.get("KILN_PROGRAM")
    if named:
        return named
    own = _library.FOLDER / "kiln"
    if own.exists():
        return str(own)
    found = shutil.which("kiln")
    if found is None:
        raise errors.LibraryMissingError(
            "the program kiln is not in this package, nor in $PATH; KILN_PROGRAM names it"
        )
    return found


def main() -> NoReturn:
    """The console script: becomes the program of the package."""
    own = _library.FOLDER / "kiln"
    program = os.environ.get("KILN_PROGRAM") or str(own)
    if not os.path.exists(program):
        sys.exit(f"kiln: error: {program} is not there")
    os.execv(program, ["kiln", *sys.argv[1:]])


class Answer(NamedTuple):
    """What a run of the program ended with."""

    code: int
    document: Any  # the JSON of stdout; None where there is none
    message: str  # the last lines of stderr that are errors or warnings

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended it."""
        return self.code == _INTERRUPTED


def _is_terminal(stream: Any) -> bool:
    """Whether a child may write to Python's stderr by itself: not in notebooks and under capture."""
    try:
        return stream is not None and stream is sys.__stderr__ and bool(stream.isatty())
    except (AttributeError, OSError, ValueError):
        return False


class _Copier(threading.Thread):
    """Copies a child's stderr line by line to where Python writes, and keeps the errors."""

    def __init__(self, pipe: IO[str], shown: bool) -> None:
        super().__init__(daemon=True)
        self._pipe = pipe
        self._shown = shown
        self.errors: List[str] = []
        self.start()

    def run(self) -> None:
        for line in self._pipe:
            if line.startswith("kiln:"):
                self.errors.append(line.rstrip())
            elif self.errors and line.startswith(" "):
                self.errors.append(line.rstrip())
            if self._shown:
                sys.stderr.write(line)
                sys.stderr.flush()


def run(arguments: Sequence[str], *, progress: bool = False) -> Answer:
    """Runs `kiln ARGUMENTS --json`. Ctrl-C goes to it once, which ends it after the trial in hand;
    the answer then says so. A second Ctrl-C ends it at once."""
    direct = progress and _is_terminal(sys.stderr)
    # A session of its own, so that the terminal's Ctrl-C reaches it through here, once.
    process = subprocess.Popen(
        [path(), *arguments, "--json"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=None if direct else subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,
    )
    copier: Optional[_Copier] = None
    if process.stderr is not None:
        copier = _Copier(process.stderr, progress)
        process.stderr = None  # the thread reads it
    interrupted = False
    while True:
        try:
            output, _ = process.communicate()
            break
        except KeyboardInterrupt:
            interrupted = True
            process.send_signal(signal.SIGINT)
    if copier is not None:
        copier.join()
    message = "\n".join(copier.errors) if copier else ""
    code = _INTERRUPTED if interrupted else process.returncode
    try:
        document = json.loads(output) if output else None
    except json.JSONDecodeError:
        document = None
    return Answer(code, document, message)


def error_of(answer: Answer) -> errors.KilnError:
    """The exception for an exit code."""
    text = answer.message.replace("kiln: error: ", "") or f"kiln ended with code {answer.code}"
    if answer.code == 4 and "library not found" in text:
        return errors.DriverMissingError(text)
    return _ERRORS.get(answer.code, errors.InternalError)(text)
