"""The sizes of a problem from the arrays of a call, by the shapes in the kernel's spec.

Sees a shape as linear in one unknown size at a time: 2 * n + 1 tells n, a * b tells a where b is known.
SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import ast
import functools
import operator
import re
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Tuple

from . import _program
from .errors import DtypeError, ShapeError


class Argument(NamedTuple):
    """An argument that the caller passes."""

    name: str
    access: str  # read, write, read_write, scalar
    dtype: str  # an element type, or the field that holds it
    shape: Tuple[str, ...]  # expressions, slowest first
    is_optional: bool  # some problems have none

    @property
    def is_needed(self) -> bool:
        """Whether each call passes it."""
        return self.access != "write" and not self.is_optional

    def __str__(self) -> str:
        return f"{self.access} {self.dtype}" + "".join(f"[{text}]" for text in self.shape)


class Spec(NamedTuple):
    """What `kiln kernels --json` says of a kernel."""

    name: str
    arguments: Dict[str, Argument]  # inputs and numbers before outputs
    fields: Dict[str, Optional[str]]  # of the problem, with the default; None: it has none

    @property
    def outputs(self) -> List[str]:
        """What it writes; what it updates, if it writes nothing."""
        known = self.arguments.values()
        written = [argument.name for argument in known if argument.access == "write"]
        return written or [argument.name for argument in known if argument.access == "read_write"]


def read(folder: str) -> Spec:
    """Reads the spec of a folder. Raises ProblemError with file and line."""
    answer = _program.run(["kernels", folder])
    if answer.code != 0 or answer.document is None:
        raise _program.error_of(answer)
    found = answer.document
    arguments = [
        Argument(a["name"], a["access"], a["dtype"], tuple(a["shape"]), a["when"] is not None)
        for a in found["arguments"]
        if a["value"] is None
    ]
    arguments.sort(key=lambda argument: argument.access == "write")
    return Spec(
        found["name"],
        {argument.name: argument for argument in arguments},
        {field["name"]: field["default"] for field in found["problem"]},
    )


class _Unknown(Exception):
    """An expression has no linear form in the sizes that are known so far."""


# The unknown sizes of an expression with their factors; the rest under "".
_Form = Dict[str, Any]

_FUNCTIONS: Dict[Any, Callable[..., Any]] = {
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    "min": min,
    "max": max,
    "ceil_div": lambda a, b: -(-a // b),
}


def _number(form: _Form) -> Any:
    if len(form) > 1:
        raise _Unknown
    return form[""]


def _sum(left: _Form, right: _Form, sign: int) -> _Form:
    terms = {name: left.get(name, 0) + sign * right.get(name, 0) for name in {**left, **right}}
    return {name: factor for name, factor in terms.items() if name == "" or factor != 0}


def _form(tree: Any, known: Mapping[str, Any], fields: Mapping[str, Any]) -> _Form:
    """The linear form of an expression. Raises _Unknown."""
    if isinstance(tree, ast.Constant) and isinstance(tree.value, int):
        return {"": tree.value}
    if isinstance(tree, ast.Name) and tree.id in known:
        return {"": known[tree.id]}
    if isinstance(tree, ast.Name) and tree.id in fields:
        return {"": 0, tree.id: 1}
    if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and tree.func.id in _FUNCTIONS:
        values = [_number(_form(each, known, fields)) for each in tree.args]
        if len(values) != 2 or tree.func.id == "ceil_div" and values[1] == 0:
            raise _Unknown
        return {"": _FUNCTIONS[tree.func.id](*values)}
    if not isinstance(tree, ast.BinOp):
        raise _Unknown
    left, right = _form(tree.left, known, fields), _form(tree.right, known, fields)
    if isinstance(tree.op, (ast.Add, ast.Sub)):
        return _sum(left, right, 1 if isinstance(tree.op, ast.Add) else -1)
    if isinstance(tree.op, ast.Mult):
        factor, terms = (_number(left), right) if len(left) == 1 else (_number(right), left)
        return {name: factor * value for name, value in terms.items()}
    if type(tree.op) in _FUNCTIONS and right != {"": 0}:
        return {"": _FUNCTIONS[type(tree.op)](_number(left), _number(right))}
    raise _Unknown


@functools.lru_cache(maxsize=1000)
def _parsed(text: str) -> Any:
    try:
        return ast.parse(text, mode="eval").body
    except SyntaxError:  # an expression that Python does not have
        return None


class _Equation(NamedTuple):
    """An axis of an array: what the spec says must be equal to its extent."""

    argument: str
    axis: int
    text: str
    extent: Any


class _Solver:
    def __init__(self, spec: Spec, given: Mapping[str, Any]) -> None:
        self.spec = spec
        self.known = dict(given)
        self.origins = {name: f"{name}= of the call" for name in given}

    def learn(self, field: str, value: Any, origin: str) -> None:
        self.known[field] = value
        self.origins[field] = origin

    def settle(self, waiting: List[_Equation]) -> List[_Equation]:
        """Goes over the equations until none tells a size any more; returns those that are left."""
        while True:
            left = [equation for equation in waiting if not self.try_one(equation)]
            if len(left) == len(waiting):
                return left
            waiting = left

    def try_one(self, equation: _Equation) -> bool:
        """Whether it gave a size, or agrees with those that are known."""
        try:
            form = _form(_parsed(equation.text), self.known, self.spec.fields)
        except _Unknown:
            return False
        names = [name for name in form if name]
        if len(names) > 1:
            return False
        rest = equation.extent - form[""]
        if not names and rest != 0:
            value = str(form[""])
            raise self.wrong(equation, "" if value == equation.text else f" = {value}")
        if names:
            factor = form[names[0]]
            if rest % factor != 0 or rest // factor < 0:
                raise self.wrong(equation, f": no {names[0]} gives that")
            place = f"axis {equation.axis} of '{equation.argument}'"
            self.learn(names[0], rest // factor, place)
        return True

    def wrong(self, equation: _Equation, why: str) -> ShapeError:
        names = re.findall(r"\w+", equation.text)
        known = [f"{n}={self.known[n]} from {self.origins[n]}" for n in names if n in self.origins]
        return ShapeError(
            f"{self.spec.name}: argument '{equation.argument}' has {equation.extent} elements along "
            f"axis {equation.axis}; its spec says {equation.text}{why}"
            + (f" ({', '.join(known)})" if known else "")
        )


def solve(spec: Spec, arrays: Mapping[str, Any], given: Mapping[str, Any]) -> Dict[str, Any]:
    """The problem of a call: the sizes that its arrays have, beside those that are `given`. Of an
    array only shape and dtype are looked at.

    Raises ShapeError or DtypeError: a rank, an extent or a type does not fit, or no array tells a size
    that has no default."""
    solver = _Solver(spec, given)
    waiting: List[_Equation] = []
    for name, array in arrays.items():
        argument, what = spec.arguments[name], f"{spec.name}: argument '{name}'"
        if argument.dtype in spec.fields and array.dtype is not None:
            known = solver.known.get(argument.dtype, array.dtype)
            if known != array.dtype:
                origin = solver.origins[argument.dtype]
                raise DtypeError(f"{what} holds {array.dtype}; {argument.dtype}={known} from {origin}")
            solver.learn(argument.dtype, array.dtype, f"'{name}'")
        # The size of a buffer, which has no shape, is checked before the launch.
        if array.shape is not None and len(array.shape) != len(argument.shape):
            raise ShapeError(f"{what} has shape {list(array.shape)}; its spec says {argument}")
        for axis, (text, extent) in enumerate(zip(argument.shape, array.shape or ())):
            waiting.append(_Equation(name, axis, text, extent))
    waiting = solver.settle(waiting)
    for field, default in spec.fields.items():
        if field in solver.known:
            continue
        if default is None:
            named = [e for e in waiting if re.search(rf"\b{field}\b", e.text)]
            why = f"no array tells the size '{field}'"
            for e in named[:1]:
                why = f"axis {e.axis} of '{e.argument}', {e.text}, does not tell the size '{field}'"
            raise ShapeError(f"{spec.name}: {why}; pass {field}=")
        try:
            solver.learn(field, ast.literal_eval(default), "its default")
        except (ValueError, SyntaxError):
            pass  # it follows from other fields
    solver.settle(waiting)
    return solver.known


def shape_of(spec: Spec, argument: Argument, problem: Mapping[str, Any]) -> Tuple[Any, ...]:
    """The shape of an argument for a problem. Raises ShapeError for one that is not computed here."""
    try:
        return tuple(_number(_form(_parsed(text), problem, spec.fields)) for text in argument.shape)
    except _Unknown:
        raise ShapeError(
            f"{spec.name}: pass the array '{argument.name}'; its shape is not computed in Python: {argument}"
        ) from None
