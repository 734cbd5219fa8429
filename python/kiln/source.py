"""A kernel given as text: the folder with its source and spec that the tuner and launcher take.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import difflib
import hashlib
import json
import os
import pathlib
import re
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Union

from . import _problem
from ._arrays import SIZES
from .errors import ArgumentError, KeywordError, ProblemError

_SUFFIXES = {"opencl": ".cl", "cuda": ".cu", "hip": ".hip"}
_MEMORY = re.compile(r"(read|write|read_write) (\w+)((?:\[[^\]]+\])+)")
# The words of tune() and write_kernel() that a keyword may have been meant for.
_OPTIONS = (
    "arguments block bytes_moved constraints db defaults device entry flops formulas fresh grid inputs kernel_path "
    "language no_progress objective progress reference seconds seed strategy timing trials tunables variants warm_cache"
).split()
_NUMBER = re.compile(r"(\w+) (=|example) (.+)")


def language_of(source: str) -> str:
    """opencl or cuda, by the kernel's own words."""
    if "__global__" in source:
        return "cuda"
    if re.search(r"\b(__)?kernel\b", source):
        return "opencl"
    raise ProblemError("the source has neither __global__ (CUDA, HIP) nor __kernel (OpenCL)")


def entry_of(source: str) -> str:
    """Name of the first kernel of a source."""
    found = re.search(
        r"(?:__global__|\b(?:__)?kernel\b)[^(;{]*?(?:__launch_bounds__\s*\([^)]*\)\s*)?(\w+)\s*\(",
        source,
    )
    if found is None:
        raise ProblemError("no kernel is found in the source; pass entry=")
    return found.group(1)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _list(values: Sequence[Any]) -> str:
    return "[" + ", ".join(_value(value) for value in values) + "]"


def _values_of(name: str, values: Any) -> List[Any]:
    """The values of a tunable: a list, a tuple, a range or an array of one dimension."""
    if isinstance(values, str) or not hasattr(values, "__iter__") or not hasattr(values, "__len__"):
        raise ArgumentError(f"tunable '{name}' is {values!r}; expected a list of its values, as in [32, 64]")
    if len(values) == 0:
        raise ArgumentError(f"tunable '{name}' has no values; expected a list, as in [32, 64]")
    return [_problem.plain(value) for value in values]


def _check_fields(problem: Mapping[str, Any], texts: str) -> None:
    """Refuses a keyword that is no option and that no text of the kernel names: a typing mistake."""
    for key in problem:
        if not re.search(rf"\b{re.escape(key)}\b", texts):
            near = difflib.get_close_matches(key, _OPTIONS, 1)
            hint = f"; did you mean '{near[0]}'?" if near else ""
            raise KeywordError(f"'{key}' is neither an option nor named by the kernel's texts{hint}")


def _texts(given: Any) -> List[str]:
    """Expressions: one text, or a sequence of texts and numbers."""
    return [given] if isinstance(given, str) else [str(_problem.plain(one)) for one in given]


def _value(value: Any) -> str:
    value = _problem.plain(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return _quoted(value) if isinstance(value, str) else repr(value)


def _argument(name: str, text: str) -> str:
    memory = _MEMORY.fullmatch(text)
    if memory:
        access, dtype, dims = memory.groups()
        shape = _list(re.findall(r"\[([^\]]+)\]", dims))
        return f'[[arguments]]\nname = "{name}"\naccess = "{access}"\ndtype = "{dtype}"\nshape = {shape}\n'
    number = _NUMBER.fullmatch(text)
    if number:
        dtype, kind, value = number.groups()
        line = f"value = {_quoted(value)}" if kind == "=" else f"example = {value}"
        return f'[[arguments]]\nname = "{name}"\naccess = "scalar"\ndtype = "{dtype}"\n{line}\n'
    raise ProblemError(
        f'argument \'{name}\' is {text!r}; expected "read f32[n]", "write f32[rows][cols]", '
        '"i32 = n" or "f32 example 0.5"'
    )


def _field(name: str, value: Any) -> str:
    value = _problem.plain(value)
    if isinstance(value, bool):
        return f'problem.{name} = {{ type = "bool" }}'
    if isinstance(value, int):
        return f'problem.{name} = {{ type = "int" }}'
    kind = "dtype" if value in SIZES else "string"
    return f'problem.{name} = {{ type = "{kind}", values = [{_quoted(value)}] }}'


def write_kernel(
    source: str,
    *,
    arguments: Mapping[str, str],
    tunables: Mapping[str, Sequence[Any]],
    grid: Sequence[str],
    block: Sequence[str],
    problem: Mapping[str, Any],
    formulas: Optional[Mapping[str, str]] = None,
    reference: Optional[Callable[..., Any]] = None,
    inputs: Optional[Mapping[str, Any]] = None,
    constraints: Sequence[str] = (),
    defaults: Optional[Mapping[str, Any]] = None,
    name: Optional[str] = None,
    entry: Optional[str] = None,
    language: Optional[str] = None,
    bytes_moved: Optional[str] = None,
    flops: Optional[str] = None,
    folder: "Union[str, os.PathLike[str], None]" = None,
) -> pathlib.Path:
    """Writes the folder of a kernel and returns it. Tunables reach the source as macros.

    `arguments`, in the kernel's order: "read f32[n]" (access, element type, extents slowest first),
    "i32 = n" (a number that follows from the problem) or "f32 example 0.5" (one that the caller
    passes). `grid` and `block`: expressions, fastest dimension first, in blocks and threads.
    `formulas`: what each element of an output is, e.g. {"c": "a + b"}. `reference`: a function that
    computes the outputs for this problem; it is called once with the arrays of `inputs` by name and
    returns a dict of NumPy arrays by output, or the only output. Without either the default config is
    the reference. `defaults`: of tunables; else the first value of each. `bytes_moved` and
    `flops`: expressions, for rates. `folder`: where to write (default: kernels/NAME-HASH in Kiln's
    data folder)."""
    entry = entry or entry_of(source)
    name = name or entry
    language = language or language_of(source)
    if language not in _SUFFIXES:
        raise ProblemError(f"language '{language}' is none of {', '.join(_SUFFIXES)}")
    tunables = {key: _values_of(key, values) for key, values in tunables.items()}
    known: Dict[str, Any] = {key: values[0] for key, values in tunables.items()}
    for key, value in (defaults or {}).items():
        if key not in tunables:
            raise ArgumentError(f"defaults= names '{key}'; the tunables are {', '.join(tunables)}")
        known[key] = _problem.plain(value)
    for option, given in (("grid", grid), ("block", block)):
        if not given:
            raise ArgumentError(f'{option}= is missing; expected one text a dimension, as in ["ceil_div(n, BLOCK)"]')
    rules = [*arguments.values(), *_texts(grid), *_texts(block), *_texts(constraints)]
    _check_fields(problem, " ".join([source, *rules, *(formulas or {}).values(), flops or "", bytes_moved or ""]))
    file = name + _SUFFIXES[language]
    lines: List[str] = [f'name = "{name}"', f'summary = "{name}, given as text"']
    lines += [_field(key, value) for key, value in problem.items()]
    if bytes_moved:
        lines.append(f"cost.bytes = {_quoted(bytes_moved)}")
    if flops:
        lines.append(f"cost.flops = {_quoted(flops)}")
    arrays = _recorded(reference, inputs or {}, problem, arguments)
    if arrays:
        lines.append(_expected(problem, inputs or {}, arrays))
    if formulas:
        lines += [f"verify.formulas.{key} = {_quoted(text)}" for key, text in formulas.items()]
    elif not arrays:
        lines.append('verify.device_reference = "plain"')
    lines += [_argument(key, text) for key, text in arguments.items()]
    lines += ["[[variants]]", 'name = "plain"', f'source = "{file}"', "[variants.tunables]"]
    lines += [
        f"{key} = {{ values = {_list(values)}, default = {_value(known[key])} }}"
        for key, values in tunables.items()
    ]
    for rule in _texts(constraints):
        lines += [
            "[[variants.constraints]]",
            f"require = {_quoted(rule)}",
            'because = "given with the kernel"',
        ]
    lines += ["[[variants.steps]]", f'entry = "{entry}"', f"grid = {_list(_texts(grid))}"]
    lines += [f"block = {_list(_texts(block))}", f"arguments = {_list(list(arguments))}"]
    spec = "\n".join(lines) + "\n"
    # Other arrays are another kernel: they lie in its folder.
    content = "".join(
        f"{key} {array.dtype} {array.shape} {array.tobytes().hex()}"
        for key, array in arrays.items()
    )
    at = pathlib.Path(folder) if folder is not None else _place(name, source + spec + content)
    at.mkdir(parents=True, exist_ok=True)
    (at / file).write_text(source, encoding="utf-8")
    if arrays:
        import numpy

        (at / "arrays").mkdir(exist_ok=True)
        for key, array in arrays.items():
            numpy.save(at / "arrays" / f"{key}.npy", numpy.ascontiguousarray(array))
    (at / "spec.toml").write_text(spec, encoding="utf-8")
    return at


def _recorded(
    reference: Optional[Callable[..., Any]],
    inputs: Mapping[str, Any],
    problem: Mapping[str, Any],
    arguments: Mapping[str, str],
) -> Dict[str, Any]:
    """The arrays to save, by file name; empty without a reference."""
    if reference is None:
        if inputs:
            raise ProblemError("inputs= needs reference=, a function that computes the outputs")
        return {}
    known = {key: _access(text) for key, text in arguments.items()}
    for key, access in known.items():
        if access in ("read", "read_write") and key not in inputs:
            raise ProblemError(f"reference= needs the input '{key}' in inputs=")
    outputs = [key for key, access in known.items() if access in ("write", "read_write")]
    found = reference(**inputs)
    if not isinstance(found, Mapping):
        if len(outputs) != 1:
            raise ProblemError(f"reference= must return a dict with {', '.join(outputs)}")
        found = {outputs[0]: found}
    if sorted(found) != sorted(outputs):
        raise ProblemError(
            f"reference= returned {', '.join(sorted(found))}; expected {', '.join(outputs)}"
        )
    arrays = {f"in_{key}": array for key, array in inputs.items()}
    arrays.update({f"out_{key}": array for key, array in found.items()})
    return arrays


def _access(text: str) -> str:
    memory = _MEMORY.fullmatch(text)
    return memory.group(1) if memory else ""


def _expected(
    problem: Mapping[str, Any], inputs: Mapping[str, Any], arrays: Mapping[str, Any]
) -> str:
    """`verify.expected` of the spec, in one line."""
    named = ", ".join(f'{key} = "arrays/in_{key}.npy"' for key in inputs)
    outputs = [key[len("out_") :] for key in arrays if key.startswith("out_")]
    results = ", ".join(f'{key} = "arrays/out_{key}.npy"' for key in outputs)
    text = _quoted(_problem.text_of(problem))
    return (
        f"verify.expected = [{{ problem = {text}, inputs = {{ {named} }}, "
        f"outputs = {{ {results} }} }}]"
    )


def _place(name: str, text: str) -> pathlib.Path:
    data = os.environ.get("XDG_DATA_HOME")
    base = pathlib.Path(data) if data else pathlib.Path.home() / ".local" / "share"
    digest = hashlib.sha256(text.encode()).hexdigest()[:12]
    return base / "kiln" / "kernels" / f"{name}-{digest}"
