"""The program `kiln`: where it is, and one run of it as a process of its own.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import codecs
import fcntl
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import termios
import threading
from typing import Any, Dict, List, NamedTuple, NoReturn, Optional, Sequence

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
    message: str  # its errors
    warnings: Sequence[str] = ()

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended it."""
        return self.code == _INTERRUPTED


def _is_terminal(stream: Any) -> bool:
    """Whether Python's stderr is a terminal: not in notebooks and under capture."""
    try:
        return stream is not None and stream is sys.__stderr__ and bool(stream.isatty())
    except (AttributeError, OSError, ValueError):
        return False


_WARNING = re.compile(r"(?:kiln: |.*?: )warning: .*", re.DOTALL)
_CONTROL = re.compile(r"\x1b\[[\d;]*[A-Za-z]|\x1b\]\S*?(?:\x07|\x1b\\)|.*\r")


class _Reader(threading.Thread):
    """Reads a child's stderr, which is a pipe or a terminal of its own: shows it where Python
    writes, and keeps errors and warnings."""

    def __init__(self, file: int, shown: bool, terminal: Optional[int]) -> None:
        super().__init__(daemon=True)
        self._file = file
        self._shown = shown
        self._terminal = terminal  # Python's stderr, whose size the child's terminal has
        self._size = b""
        self.texts: List[str] = []  # of errors and warnings
        self.fit()
        self.start()

    def fit(self) -> None:
        """Gives the child's terminal the size that Python's has now."""
        if self._terminal is not None:
            size = fcntl.ioctl(self._terminal, termios.TIOCGWINSZ, b"\0" * 8)
            if size != self._size:
                self._size = size
                fcntl.ioctl(self._file, termios.TIOCSWINSZ, size)

    def run(self) -> None:
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        rest = ""
        while True:
            try:
                piece = os.read(self._file, 65536)
            except OSError:  # a terminal that nobody writes to any more
                piece = b""
            text = decoder.decode(piece, not piece)
            *lines, rest = (rest + text).split("\n")
            if not piece and rest:
                lines.append(rest)
            hidden = [self._keep(_CONTROL.sub("", line.rstrip("\r"))) for line in lines]
            shown = text
            if self._terminal is None:
                shown = "".join(line + "\n" for line, hide in zip(lines, hidden) if not hide)
            if self._shown and shown:
                sys.stderr.write(shown)
                sys.stderr.flush()
            self.fit()
            if not piece:
                break
        os.close(self._file)

    def _keep(self, line: str) -> bool:
        """Whether a line is part of a warning or an error; only warnings are not shown."""
        if line.startswith("kiln: error: ") or _WARNING.fullmatch(line):
            self.texts.append(line)
        elif self.texts and line.startswith(" "):
            self.texts[-1] += "\n" + line
        elif not self.texts or not self.texts[-1].startswith("kiln: error: "):
            return False
        else:
            self.texts[-1] += "\n" + line  # a compiler's message
        return not self.texts[-1].startswith("kiln: error: ")


def _environment() -> Dict[str, str]:
    """The program ends with this process, and runs references in this Python."""
    folder = os.path.dirname(sys.executable or "")
    search = os.pathsep.join(filter(None, [folder, os.environ.get("PATH", os.defpath)]))
    return {**os.environ, "PATH": search, "KILN_PARENT": str(os.getpid())}


def run(arguments: Sequence[str], *, progress: bool = False) -> Answer:
    """Runs `kiln ARGUMENTS --json`. Ctrl-C goes to it once, which ends it after the trial in hand;
    the answer then says so. A second Ctrl-C ends it at once."""
    terminal = sys.stderr.fileno() if progress and _is_terminal(sys.stderr) else None
    ours, theirs = os.pipe() if terminal is None else os.openpty()
    try:
        # A session of its own, so that the terminal's Ctrl-C reaches it through here, once.
        process = subprocess.Popen(
            [path(), *arguments, "--json"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=theirs,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,
            env=_environment(),
        )
    except OSError as reason:
        os.close(ours)
        raise errors.LibraryMissingError(f"{path()} cannot be started: {reason}") from None
    finally:
        os.close(theirs)
    reader = _Reader(ours, progress, terminal)
    interrupted = False
    while True:
        try:
            output, _ = process.communicate()
            break
        except KeyboardInterrupt:
            interrupted = True
            process.send_signal(signal.SIGINT)
    reader.join()
    code = _INTERRUPTED if interrupted else process.returncode
    try:
        document = json.loads(output) if output else None
    except json.JSONDecodeError:
        document = None
    failed = [text for text in reader.texts if text.startswith("kiln: error: ")]
    warned = [re.sub(r"^kiln: warning: |(?<=: )warning: ", "", text, count=1) for text in reader.texts if text not in failed]
    # In a terminal the program wraps its lines.
    flat = (lambda text: re.sub(r"\n +", " ", text)) if terminal is not None else str
    return Answer(code, document, flat("\n".join(failed)), [flat(text) for text in warned])


_UNKNOWN_FIELD = re.compile(r"has no problem field '\w+'")


def error_of(answer: Answer) -> errors.KilnError:
    """The exception for an exit code."""
    text = answer.message.replace("kiln: error: ", "") or f"kiln ended with code {answer.code}"
    # Options as this package has them: `--no-progress` is `no_progress=`.
    text = re.sub(r" \(see kiln [a-z ]+ --help\)", "", text)
    text = re.sub(
        r"(?<![\w-])--([a-z][a-z-]+)", lambda found: found[1].replace("-", "_") + "=", text
    )
    if answer.code == 4 and re.match(r"\w+: unavailable: .*library not found", text):
        return errors.DriverMissingError(text)
    if answer.code in (2, 3) and _UNKNOWN_FIELD.search(text):
        return errors.KeywordError(text)
    return _ERRORS.get(answer.code, errors.InternalError)(text)
