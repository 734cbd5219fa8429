"""A kernel given as text: the folder with its source and spec that the tuner and launcher take.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
import re
import tempfile
import threading
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

from . import _problem
from ._arrays import SIZES
from .errors import ArgumentError, ProblemError

_MEMORY = re.compile(r"(read|write|read_write) (\w+)((?:\[[^\]]+\])+)")
_NUMBER = re.compile(r"(\w+) (?:= (.+)|example ([-+]?[\d.]+(?:[eE][-+]?\d+)?))")
_NO_FIELDS = {*SIZES, "and", "or", "not", "in", "if", "else", "true", "false", "device"}
# How the entry point of a source begins, by the ending of its file, which says what compiles it.
_ENTRIES = {
    ".inja": r"\bKERNEL(?:_MIN_BLOCKS)?\s*\([^;]*?\)\s*(\w+)\s*\(",
    ".cpp": r"__global__[^(;{]*?(?:__launch_bounds__\s*\([^)]*\)\s*)?(\w+)\s*\(",
    ".cl": r"\b(?:__)?kernel\b[^(;{]*?(\w+)\s*\(",
}


def read(path: "Union[str, os.PathLike[str]]") -> str:
    """The text of a source file. Raises ProblemError."""
    try:
        return pathlib.Path(path).read_text(encoding="utf-8")
    except OSError as reason:
        raise ProblemError(f"{path}: {reason.strerror}; expected a source file or a folder") from None


def entry_of(source: str) -> Tuple[str, str]:
    """Name of the first kernel of a source, and the ending of its file."""
    for ending, pattern in _ENTRIES.items():
        found = re.search(pattern, source)
        if found is not None:
            return found.group(1), ending
    raise ProblemError("the source has no kernel: neither KERNEL(), __global__ nor __kernel")


def check_order(source: str, entry: str, arguments: Mapping[str, str]) -> None:
    """Refuses arguments that are the parameters of the kernel in another order."""
    texts = re.findall(rf"\b{re.escape(entry)}\s*\(([^()]*)\)", source)
    orders = [[one.split()[-1].lstrip("*&") for one in text.split(",") if one.split()] for text in texts]
    same = [order for order in orders if sorted(order) == sorted(arguments)]
    if same and list(arguments) not in same:
        names = ", ".join(same[0])
        raise ArgumentError(f"arguments= name {', '.join(arguments)}; the parameters of {entry} are {names}")


def fields_of(arguments: Mapping[str, str]) -> List[str]:
    """The sizes of the problem: the names in extents and in numbers that follow."""
    texts = []
    for text in arguments.values():
        number = _NUMBER.fullmatch(text)
        if _MEMORY.fullmatch(text):
            texts += re.findall(r"\[([^\]]+)\]", text)
        elif number and number.group(2):
            texts.append(number.group(2))
    names = re.findall(r"(?<![\w.])[A-Za-z_]\w*(?!\w*\s*\()", " ".join(texts))
    return [name for name in dict.fromkeys(names) if name not in _NO_FIELDS]


def tunable(name: str, values: Any, defaults: Mapping[str, Any]) -> str:
    """A line of the spec. `values`: a list, a tuple, a range or an array of one dimension."""
    if isinstance(values, str) or not hasattr(values, "__iter__") or not hasattr(values, "__len__"):
        raise ArgumentError(f"tunable '{name}' is {values!r}; expected a list of its values, as in [32, 64]")
    if len(values) == 0:
        raise ArgumentError(f"tunable '{name}' has no values; expected a list, as in [32, 64]")
    default = value(defaults.get(name, values[0]))
    return f"{name} = {{ values = [{', '.join(map(value, values))}], default = {default} }}"


def value(given: Any) -> str:
    """A value as TOML has it."""
    given = _problem.plain(given)
    if isinstance(given, bool):
        return "true" if given else "false"
    return json.dumps(given, ensure_ascii=False) if isinstance(given, str) else repr(given)


def expressions(given: Any) -> List[str]:
    """Expressions as TOML has them: of one text, or of a sequence of texts and numbers."""
    return [value(str(_problem.plain(one))) for one in ([given] if isinstance(given, str) else given)]


def argument(name: str, text: str) -> str:
    """A table of the spec."""
    memory, number = _MEMORY.fullmatch(text), _NUMBER.fullmatch(text)
    if memory:
        access, dtype, dims = memory.groups()
        line = f"shape = [{', '.join(expressions(re.findall(r'.([^]]+).', dims)))}]"
    elif number:
        access, (dtype, rule, example) = "scalar", number.groups()
        line = f"value = {value(rule)}" if rule else f"example = {example}"
    else:
        raise ProblemError(
            f'argument \'{name}\' is {text!r}; expected "read f32[n]", "write f32[rows][cols]", '
            '"i32 = n" or "f32 example 0.5"'
        )
    return f'[[arguments]]\nname = "{name}"\naccess = "{access}"\ndtype = "{dtype}"\n{line}'


class Text(NamedTuple):
    """A kernel's source and spec."""

    name: str
    file: str  # of the source, in the folder
    source: str
    spec: str
    arguments: Mapping[str, str]  # in the words of kernel()

    def write(self, recorded: str = "", arrays: Mapping[str, Any] = {}) -> pathlib.Path:
        """Writes its folder, kernels/NAME-HASH in Kiln's data folder, and returns it. `recorded`: a
        line of the spec that names `arrays`, by file; they have a new folder, for the caller to remove."""
        spec = recorded + self.spec
        digest = hashlib.sha256((self.source + spec).encode()).hexdigest()[:12]
        data = pathlib.Path(os.environ.get("XDG_DATA_HOME") or pathlib.Path.home() / ".local" / "share")
        folder = data / "kiln" / "kernels" / f"{self.name}-{digest}"
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
            if arrays:
                folder = pathlib.Path(tempfile.mkdtemp(prefix=f"{self.name}-", dir=folder.parent))
            folder.mkdir(exist_ok=True)
            for file, array in arrays.items():
                import numpy  # pylint: disable=import-outside-toplevel

                numpy.save(folder / file, array)
            for file, text in ((self.file, self.source), ("spec.toml", spec)):
                if not (folder / file).exists():  # another process may be reading it
                    part = folder / f"{file}.{os.getpid()}.{threading.get_ident()}"
                    part.write_text(text, encoding="utf-8")
                    part.replace(folder / file)
        except OSError as reason:
            raise ProblemError(f"{folder}: {reason.strerror}; $XDG_DATA_HOME names another place") from None
        return folder

    def write_with_results(
        self, reference: Callable[..., Any], arrays: Mapping[str, Any], problem: Mapping[str, Any]
    ) -> pathlib.Path:
        """The same with what the reference makes of the arrays for this problem."""
        given: Dict[str, Any] = {}
        inputs: Dict[str, Any] = {}
        outputs = []
        for name, text in self.arguments.items():
            memory, number = _MEMORY.fullmatch(text), _NUMBER.fullmatch(text)
            if memory and memory.group(1) != "read":
                outputs.append(name)
            if memory and memory.group(1) != "write":
                if name not in arrays:
                    raise ArgumentError(f"{self.name}: the reference needs the array '{name}'")
                inputs[name] = arrays[name]
                given[name] = arrays[name].copy()
            elif number and number.group(3):
                given[name] = float(number.group(3))
        found = reference(**given)
        if not isinstance(found, Mapping) and len(outputs) == 1:
            found = {outputs[0]: found}
        if not isinstance(found, Mapping) or sorted(found) != sorted(outputs):
            names = ", ".join(found) if isinstance(found, Mapping) else f"a {type(found).__name__}"
            raise ProblemError(f"{self.name}: the reference returned {names}; expected a dict of {', '.join(outputs)}")
        read = ", ".join(f'{name} = "in_{name}.npy"' for name in inputs)
        made = ", ".join(f'{name} = "out_{name}.npy"' for name in found)
        line = (
            f"verify.expected = [{{ problem = {value(_problem.text_of(problem))}, "
            f"inputs = {{ {read} }}, outputs = {{ {made} }} }}]\n"
        )
        import numpy  # pylint: disable=import-outside-toplevel

        files = {f"in_{name}.npy": array for name, array in inputs.items()}
        files.update({f"out_{name}.npy": array for name, array in found.items()})
        return self.write(line, {file: numpy.ascontiguousarray(array) for file, array in files.items()})
