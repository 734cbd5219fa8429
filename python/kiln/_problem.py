"""The text of a problem, as the command line and the C interface take it.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import re
from typing import Any, Mapping, Union

from .errors import ProblemError

Value = Union[int, float, bool, str]


def text_of(problem: Mapping[str, Value]) -> str:
    """`{"n": 1000, "map": "x * x"}` as `n=1000 map="x * x"`; None leaves a field out."""
    return " ".join(
        f"{name}={_value_text(name, value)}" for name, value in problem.items() if value is not None
    )


def plain(value: Any) -> Any:
    """A number of NumPy as Python's own; anything else as it is."""
    kind = getattr(getattr(value, "dtype", None), "kind", "")
    return value.item() if kind and kind in "biuf" and not getattr(value, "shape", ()) else value


def _value_text(name: str, value: Value) -> str:
    value = plain(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    text = str(value)
    if not re.search(r"[\s,\"']", text):
        return text
    for quote in ('"', "'"):
        if quote not in text:
            return f"{quote}{text}{quote}"
    raise ProblemError(f"problem field {name} has quotes of both kinds: {text}")
