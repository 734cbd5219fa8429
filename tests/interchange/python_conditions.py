#!/usr/bin/env python3
"""Random conditions in Python syntax, with the number of combinations for which Python holds them.

    python_conditions.py SEED COUNT > spaces.json

Prints a list of spaces (docs/search.md). Conditions that Python refuses for a type are drawn anew;
a combination that divides by zero counts as illegal, as it does in a space.

SPDX-License-Identifier: Apache-2.0
"""

import ast
import itertools
import json
import random
import sys
import warnings


class Whole(int):
    """An integer that refuses what has more than 95 bits, as expressions do on the way."""


def whole(value):
    if not isinstance(value, int) or isinstance(value, bool):
        return value
    if abs(value) >= 2**95:
        raise OverflowError
    return Whole(value)


for operation in ["add", "sub", "mul", "floordiv", "mod", "pow", "and", "or", "xor", "lshift", "rshift", "neg",
                  "invert", "abs"]:
    for method in [f"__{operation}__", f"__r{operation}__"]:
        if plain := getattr(int, method, None):
            setattr(Whole, method, lambda *values, plain=plain: whole(plain(*values)))


class Wholes(ast.NodeTransformer):
    def visit_Constant(self, node):
        return ast.Call(ast.Name("whole", ast.Load()), [node], [])


BUILTINS = {"min": min, "max": max, "abs": abs, "int": lambda value: whole(int(value)), "float": float, "bool": bool,
            "whole": whole}
NUMBERS = ["bx", "by", "neg", "fl", "big", "f32"]
LITERALS = ["0", "1", "2", "3", "32", "0x40", "0b101", "1_024", "0.5", "2.0", "-1", "-2",
            "9223372036854775807", "100000000000000000000"]


class Draw:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def one_of(self, *choices):
        """One of (weight, function) pairs, called."""
        weights = [weight for weight, _ in choices]
        return self.random.choices([make for _, make in choices], weights)[0]()

    def parameters(self):
        pick = self.random.sample
        return {
            "bx": pick([1, 2, 4, 8, 16, 32, 48, 64, 128, 256, 512, 1024], 4),
            "by": pick([1, 2, 3, 4, 5, 6, 7, 8, 16, 32], 3),
            "neg": pick([-8, -5, -3, -1, 0, 1, 2, 7], 3),
            "fl": pick([0.1, 0.25, 0.5, 1.0, 1.5, 2.0, 2.5, -0.5, 3.0], 2),
            "big": pick([0, 3, 3037000500, 10**11, -(2**62), 2**63 - 1], 2),
            "f32": pick([0, 1, 2, 4], 2),
            "prec": pick(["half", "float", "f64", ""], 2),
            "flag": [True, False],
        }

    def number(self, depth):
        atom = (35, lambda: self.random.choice(NUMBERS + LITERALS))
        if depth <= 0:
            return self.one_of(atom)
        below = lambda: self.number(depth - 1)
        return self.one_of(
            atom,
            (40, lambda: f"{below()} {self.random.choice(['+', '-', '*', '/', '//', '%'])} {below()}"),
            (10, lambda: f"({below()})"),
            (5, lambda: f"-{below()}"),
            (5, lambda: f"{self.random.choice(['bx', 'neg', 'fl', 'big', '(-2)'])}"
                        f"**{self.random.choice(['2', '3', '0', '-1', 'by'])}"),
            (5, lambda: f"{self.random.choice(['min', 'max'])}({below()}, {below()})"),
            (3, lambda: f"{self.random.choice(['abs', 'int', 'float'])}({below()})"),
            (8, lambda: f"({self.bits(depth - 1)})"),
            (3, lambda: f"({below()} if {self.condition(depth - 1)} else {below()})"),
            (3, lambda: f"({below()} {self.random.choice(['and', 'or'])} {below()})"),
        )

    def bits(self, depth):
        whole = lambda: self.random.choice(["bx", "by", "neg", "big", "(bx - 1)", "~by", "0xFF", "3"])
        del depth
        return self.one_of(
            (5, lambda: f"{whole()} {self.random.choice(['&', '|', '^'])} {whole()}"),
            (2, lambda: f"{whole()} << {self.random.choice(['1', '3', 'by', '62'])}"),
            (2, lambda: f"{whole()} >> {self.random.choice(['1', '3', 'by', '70'])}"),
            (1, lambda: f"{whole()} & {whole()} | {whole()} ^ {whole()}"),
        )

    def comparison(self, depth):
        sign = lambda: self.random.choice(["<", "<=", ">", ">=", "==", "!="])
        number = lambda: self.number(depth)
        lists = ["(1, 2, 32)", "[1, 2.0, -3]", "('half', 'float')", "[True, 0]", "(bx, by)", "(4,)"]
        names = ["bx", "by", "neg", "fl", "prec", "flag", "f32"]
        return self.one_of(
            (50, lambda: f"{number()} {sign()} {number()}"),
            (15, lambda: f"{number()} {sign()} {number()} {sign()} {number()}"),
            (8, lambda: f"prec {self.random.choice(['==', '!='])} '{self.random.choice(['half', 'f64'])}'"),
            (8, lambda: f"{self.random.choice(names)} {self.random.choice(['in', 'not in'])} "
                        f"{self.random.choice(lists)}"),
            (8, lambda: self.random.choice(["flag", "not flag", "flag == 1", "flag & (bx > 8)"])),
            (8, lambda: self.random.choice(["bx", "neg", "fl", "prec", "bx & (bx - 1) == 0", "neg % 3"])),
            (4, lambda: f"({self.comparison(depth)}) == ({self.comparison(depth)})"),
            (2, lambda: f"prec {self.random.choice(['==', '!='])} bx"),
        )

    def condition(self, depth):
        if depth <= 0:
            return self.comparison(1)
        below = lambda: self.condition(depth - 1)
        return self.one_of(
            (45, lambda: self.comparison(depth)),
            (17, lambda: f"{below()} and {below()}"),
            (17, lambda: f"{below()} or {below()}"),
            (9, lambda: f"not {below()}"),
            (7, lambda: f"({below()})"),
            (5, lambda: f"{below()} if {below()} else {below()}"),
        )


def count(condition, parameters):
    """The legal combinations; None for a condition that is not for us."""
    tree = Wholes().visit(ast.parse(condition, mode="eval"))
    code = compile(ast.fix_missing_locations(tree), "condition", "eval")
    legal = 0
    for values in itertools.product(*parameters.values()):
        names = dict(zip(parameters, map(whole, values)))
        try:
            result = eval(code, {"__builtins__": BUILTINS}, names)  # pylint: disable=eval-used
        except ZeroDivisionError:
            continue
        except (TypeError, OverflowError, ValueError):
            return None
        if isinstance(result, complex):
            return None
        legal += bool(result)
    return legal


def main():
    draw = Draw(int(sys.argv[1]))
    warnings.simplefilter("ignore")
    spaces = []
    while len(spaces) < int(sys.argv[2]):
        parameters = draw.parameters()
        condition = draw.condition(3)
        try:
            legal = count(condition, parameters)
        except SyntaxError:
            continue
        if legal is None or len(condition) > 1000:
            continue
        spaces.append({"name": f"space {len(spaces)}", "parameters": parameters,
                       "constraints": [condition], "valid_size": legal})
    json.dump({"spaces": spaces}, sys.stdout, indent=1)


if __name__ == "__main__":
    main()
