"""Kernels of one's own as functions of arrays: kernel() makes one of a text, a file or a folder.

The sizes of a call come from its arrays, the config from the databases, as for the built-in kernels.
SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import functools
import inspect
import os
import pathlib
import re
import shutil
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from . import _arrays, _problem, calls, sizes, source, tuning
from . import launcher as launchers
from ._arrays import Array
from .database import Session
from .errors import ArgumentError, KeywordError
from .launcher import Launcher, Match

PathLike = Union[str, "os.PathLike[str]"]


class Kernel:
    """A kernel of one's own, made by kernel(). Call it with arrays:

        y = softmax(x)      # or softmax(x, y), which writes y

    Inputs and numbers stand first, in the order of the spec, then outputs. An output that is left out
    is made and returned. A size that no array tells is a keyword.

    `folder`: its spec and source, as `kiln tune FOLDER` and launchers of other languages take it."""

    def __init__(
        self,
        made_of: Union[str, source.Text],
        reference: Optional[Callable[..., Any]],
        options: Dict[str, Any],
    ) -> None:
        self.folder = made_of.write() if isinstance(made_of, source.Text) else pathlib.Path(made_of)
        self._made_of = made_of
        self._reference = reference
        self._options = options  # of its launchers

    def __reduce__(self) -> Any:
        return Kernel, (self._made_of, self._reference, self._options)

    @functools.cached_property
    def spec(self) -> sizes.Spec:
        """Arguments and sizes. Raises ProblemError for a wrong spec, with file and line."""
        return sizes.read(os.fspath(self.folder))

    @property
    def __signature__(self) -> inspect.Signature:
        kind, none = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.empty
        known = self.spec.arguments.values()
        return inspect.Signature(
            [inspect.Parameter(a.name, kind, default=none if a.is_needed else None) for a in known]
        )

    def __repr__(self) -> str:
        return f"<kiln.Kernel {self.spec.name}{self.__signature__}>"

    def __call__(
        self, *arguments: Any, stream: Any = None, launcher: Optional[Launcher] = None, **named: Any
    ) -> Any:
        """Puts the kernel on the stream and returns its outputs: an array, or a tuple of them. A
        kernel without outputs returns what it updates. `launcher`: instead of the package's own."""
        arrays, numbers, given = self._taken(arguments, named)
        head = (self, *arrays, *given.items())
        plan = functools.partial(self._plan, arrays, numbers, given)
        return calls.run(self.spec.name, head, plan, arrays, stream, launcher, numbers)

    def plan(self, *arguments: Any, **named: Any) -> Tuple[calls._Plan, Array]:
        """What kiln.bind() binds."""
        return self._plan(*self._taken(arguments, named))

    def tune(self, *arguments: Any, **options: Any) -> Session:
        """Tunes for the sizes of these arrays, on their device; the next call uses the best config.

            session = softmax.tune(x, seconds=20)

        Sizes may be keywords instead. All other keywords are those of kiln.tune(). A `reference` is
        called once, with the inputs as NumPy arrays."""
        known = {*self.spec.arguments, *self.spec.fields}
        named = {key: options.pop(key) for key in list(options) if key in known}
        described, problem = self._problem_of(arguments, named)
        if described and options.get("device") is None:
            options["device"] = launchers.device_of(list(described.values()))
        if self._reference is None or not isinstance(self._made_of, source.Text):
            return tuning.tune(self.folder, **options, **problem)
        hosted = {key: _arrays.to_host(array) for key, array in described.items()}
        folder = self._made_of.write_with_results(self._reference, hosted, problem)
        try:
            return tuning.tune(folder, **options, **problem)
        finally:
            shutil.rmtree(folder, ignore_errors=True)  # the arrays may be large

    def select(self, *arguments: Any, **named: Any) -> Match:
        """Which config a call with these arrays runs, and why."""
        described, problem = self._problem_of(arguments, named)
        known = launchers.launcher_of(_first(self.spec.name, described), None, self.folder, self._options)
        return known.select(self.spec.name, **problem)

    def _problem_of(
        self, arguments: Sequence[Any], named: Mapping[str, Any]
    ) -> Tuple[Dict[str, Array], Dict[str, Any]]:
        arrays, _, given = self._taken(arguments, named)
        described = self._described(arrays)
        return described, sizes.solve(self.spec, described, given)

    def _taken(
        self, arguments: Sequence[Any], named: Mapping[str, Any]
    ) -> Tuple[Dict[str, Any], Dict[str, Union[int, float]], Dict[str, Any]]:
        """Arrays, numbers and sizes of a call."""
        spec = self.spec
        if len(arguments) > len(spec.arguments):
            raise KeywordError(f"{spec.name}{self.__signature__}: {len(arguments)} arguments were given")
        values = dict(zip(spec.arguments, arguments))
        given: Dict[str, Any] = {}
        for key, value in named.items():
            if key in values:
                raise KeywordError(f"{spec.name}: argument '{key}' is given twice")
            if key in spec.fields:
                given[key] = _problem.plain(value)
            elif key in spec.arguments:
                values[key] = value
            else:
                fields = ", ".join(spec.fields)
                raise KeywordError(f"{spec.name}{self.__signature__} has no '{key}'; its sizes are {fields}")
        arrays: Dict[str, Any] = {}
        numbers: Dict[str, Union[int, float]] = {}
        for key, value in values.items():
            if spec.arguments[key].access == "scalar":
                numbers[key] = launchers.number(f"{spec.name}: argument '{key}'", value)
            elif value is not None:
                arrays[key] = value
        return arrays, numbers, given

    def _described(self, arrays: Mapping[str, Any]) -> Dict[str, Array]:
        name, known = self.spec.name, self.spec.arguments
        found = {key: _arrays.describe(f"{name}: argument '{key}'", array) for key, array in arrays.items()}
        for key, array in found.items():
            if array.read_only and known[key].access != "read":
                raise ArgumentError(f"{name}: argument '{key}' is read-only")
        return found

    def _plan(
        self, arrays: Mapping[str, Any], numbers: Mapping[str, Any], given: Mapping[str, Any]
    ) -> Tuple[calls._Plan, Array]:
        spec = self.spec
        for key, argument in spec.arguments.items():
            if argument.is_needed and key not in arrays and key not in numbers:
                raise ArgumentError(f"{spec.name}: argument '{key}' is missing ({argument})")
        described = self._described(arrays)
        first = _first(spec.name, described)
        problem = sizes.solve(spec, described, given)
        results = dict(arrays)
        for key in spec.outputs:
            argument = spec.arguments[key]
            if key not in results and not argument.is_optional:
                shape = sizes.shape_of(spec, argument, problem)
                dtype = problem.get(argument.dtype, argument.dtype)
                results[key] = _arrays.empty_like(spec.name, first, shape, dtype)
                described[key] = _arrays.describe(spec.name, results[key])
        returned = tuple(key for key in spec.outputs if key in results)
        made = [results[key] for key in returned]
        result = made[0] if len(made) == 1 else tuple(made)
        passed = {**described, **numbers}
        return calls._Plan(spec.name, problem, passed, result, returned, self.folder, self._options), first


def _first(name: str, described: Mapping[str, Array]) -> Array:
    for array in described.values():
        return array
    raise ArgumentError(f"{name}: pass an array; without one no device is known")


def kernel(
    text: PathLike,
    *,
    arguments: Optional[Mapping[str, str]] = None,
    tunables: Optional[Mapping[str, Sequence[Any]]] = None,
    grid: Union[str, Sequence[str]] = (),
    block: Union[str, Sequence[str]] = (),
    formulas: Optional[Mapping[str, str]] = None,
    reference: Optional[Callable[..., Any]] = None,
    constraints: Union[str, Sequence[str]] = (),
    defaults: Optional[Mapping[str, Any]] = None,
    name: Optional[str] = None,
    entry: Optional[str] = None,
    bytes_moved: Optional[str] = None,
    flops: Optional[str] = None,
    untuned: str = "wait",
    tune_on_miss: str = "never",
    tune_seconds: float = 0,
) -> Kernel:
    """Makes a function of arrays of a kernel of your own.

    `text`: the source or the path of its file; or a folder with a spec, which needs nothing else.
    `arguments`, in the kernel's order: "read f32[n]", "i32 = n" (a number that follows from sizes) or
    "f32 example 0.5" (one that the caller passes). `tunables`: {"BLOCK": [64, 128]}, with `defaults`
    (else the first values) and `constraints`. `grid`, `block`: expressions of blocks and threads,
    fastest dimension first. `formulas`: what each element of an output is, {"c": "a + b"}, or
    `reference`: a function that gets inputs by name, as NumPy arrays, and returns the output, or a
    dict of them; without either the default config is the reference. `name`, `entry`: else the first
    kernel's. `bytes_moved`, `flops`: expressions, for rates. docs/python.md has examples.

    `untuned`, `tune_on_miss`, `tune_seconds`: of the Launcher, for sizes that nobody tuned."""
    launchers.check_choices(tune_on_miss=tune_on_miss, untuned=untuned)
    options = {"untuned": untuned, "tune_on_miss": tune_on_miss, "tune_seconds": tune_seconds}
    if os.path.isdir(text):
        if arguments or tunables or grid or block or formulas or reference:
            raise ArgumentError(f"kernel: {text} is a folder, whose spec says all but how it is launched")
        return Kernel(os.fspath(text), None, options)
    is_text = isinstance(text, str) and re.search(r"[\n{]", text)
    body = str(text) if is_text else source.read(text)
    for option, given in (("arguments", arguments), ("grid", grid), ("block", block)):
        if not given:
            raise ArgumentError(f"kernel: a source needs {option}=; help(kiln.kernel) says what it is")
    tunables, arguments, defaults = tunables or {}, arguments or {}, defaults or {}
    for key in defaults:
        if key not in tunables:
            raise ArgumentError(f"defaults= names '{key}'; the tunables are {', '.join(tunables)}")
    first, ending = source.entry_of(body)
    entry = entry or first
    source.check_order(body, entry, arguments)
    name = name or re.split(r"\W", entry)[0]  # of step<{BLOCK}> the first word
    if not name.isidentifier():
        raise ArgumentError(f"kernel: name is '{name}'; expected letters, digits and underscores")
    lines = [f'name = "{name}"', f'summary = "{name}, given as text"']
    fields = [key for key in source.fields_of(arguments) if key not in tunables]
    lines += [f'problem.{key} = {{ type = "int", min = 0 }}' for key in fields]
    for key, cost in (("bytes", bytes_moved), ("flops", flops)):
        if cost:
            lines.append(f"cost.{key} = {source.value(cost)}")
    lines += [f"verify.formulas.{key} = {source.value(rule)}" for key, rule in (formulas or {}).items()]
    if not formulas:  # beside recorded results, too: a folder with others is the same kernel then
        lines.append('verify.device_reference = "plain"')
    lines += [source.argument(key, words) for key, words in arguments.items()]
    kind = "template" if ending == ".inja" else "source"
    lines += ["[[variants]]", 'name = "plain"', f'{kind} = "{name}{ending}"', "[variants.tunables]"]
    lines += [source.tunable(key, values, defaults) for key, values in tunables.items()]
    for rule in source.expressions(constraints):
        lines += ["[[variants.constraints]]", f"require = {rule}", 'because = "given with the kernel"']
    lines += ["[[variants.steps]]", f"entry = {source.value(entry)}"]
    for key, texts in (("grid", grid), ("block", block), ("arguments", list(arguments))):
        lines.append(f"{key} = [{', '.join(source.expressions(texts))}]")
    spec = "\n".join(lines) + "\n"
    return Kernel(source.Text(name, name + ending, body, spec, arguments), reference, options)
