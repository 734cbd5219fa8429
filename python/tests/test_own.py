"""Kernels of one's own: the examples of docs/python.md, sizes from arrays, and mistakes.

SPDX-License-Identifier: Apache-2.0
"""

import ast
import pathlib
import pickle
import re
import subprocess
import sys
from types import SimpleNamespace

import pytest

import kiln
from kiln import launcher, sizes

np = pytest.importorskip("numpy")

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "python.md"
ADD = """
__kernel void add(__global const float* a, __global const float* b, __global float* c, int n) {
  int first = get_group_id(0) * (BLOCK * ITEMS) + get_local_id(0);
  for (int item = 0; item < ITEMS; ++item) {
    int i = first + item * BLOCK;
    if (i < n) c[i] = a[i] + b[i];
  }
}
"""
TEXTS = {
    "arguments": {"a": "read f32[n]", "b": "read f32[n]", "c": "write f32[n]", "n": "i32 = n"},
    "tunables": {"BLOCK": [64, 128], "ITEMS": [1, 2]},
    "grid": "ceil_div(n, BLOCK * ITEMS)",
    "block": "BLOCK",
}
TWO_RESULTS = """
KERNEL(64, 1, 1) split(GLOBAL const f32* x, GLOBAL f32* even, GLOBAL f32* odd, i32 n) {
  const i32 i = BLOCK_X * 64 + THREAD_X;
  if (i < n) { even[i] = x[2 * i]; odd[i] = x[2 * i + 1]; }
}
"""
UPDATE = """
KERNEL(64, 1, 1) scale(GLOBAL f32* y, f32 by, i32 n) {
  const i32 i = BLOCK_X * 64 + THREAD_X;
  if (i < n) y[i] *= by;
}
"""


def random(*shape):
    return np.random.default_rng(sum(shape)).standard_normal(shape, dtype="float32")


def add(**changed):
    return kiln.kernel(ADD, **{"formulas": {"c": "a + b"}, **TEXTS, **changed})


def example(word):
    """The kernel of this name as the page makes it (test_docs.py runs the whole page), and its block's names."""
    if not PAGE.exists():
        pytest.skip("the pages are not here")
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (block,) = [block for block in blocks if f"{word} = kiln.kernel(" in block]
    assert len(block.splitlines()) <= 25
    names = {"kiln": kiln}
    for statement in ast.parse(block).body:
        if word not in names:
            exec(compile(ast.Module([statement], []), str(PAGE), "exec"), names)
    return names[word], names


def test_the_softmax_of_the_page(on_device):
    softmax, names = example("softmax")
    x = random(40, 100)
    given = on_device(x)
    np.testing.assert_allclose(softmax(given).get(), names["exact"](x), atol=1e-6)
    session = softmax.tune(given, trials=3, progress=False)
    assert session.problem == {"rows": 40, "cols": 100} and not session.failures
    match = softmax.select(given)
    assert (match.grade, match.config) == ("exact", session.best["config"])


def test_the_rotary_embedding_of_the_page(on_device):
    x, angle = random(6, 4, 32), random(6, 16)
    y = example("rope")[0](on_device(x), on_device(angle))
    turned = (x[..., :16] + 1j * x[..., 16:]) * np.exp(1j * angle)[:, None]
    np.testing.assert_allclose(y.get(), np.concatenate([turned.real, turned.imag], axis=2), atol=1e-5)


def test_the_stencil_of_the_page(on_device):
    heat, u = example("heat")[0], random(50, 70)
    inner = u[1:-1, :-2] + u[1:-1, 2:] + u[:-2, 1:-1] + u[2:, 1:-1] - 4 * u[1:-1, 1:-1]
    for k in (0.2, 0.1, -0.3):  # repeated calls with another number
        expected = u.copy()
        expected[1:-1, 1:-1] += k * inner
        np.testing.assert_allclose(heat(on_device(u), k).get(), expected, atol=1e-5)


def test_outputs_are_taken_made_and_returned(on_device, queue):
    x = random(10)
    arguments = {"x": "read f32[2 * n]", "even": "write f32[n]", "odd": "write f32[n]", "n": "i32 = n"}
    split = kiln.kernel(TWO_RESULTS, arguments=arguments, grid="ceil_div(n, 64)", block="64")
    for _ in range(2):
        for given in ({}, {"odd": on_device(np.zeros(5, "float32"))}):
            even, odd = split(on_device(x), **given)
            assert (even.get() == x[::2]).all() and (odd.get() == x[1::2]).all()
            assert odd is given.get("odd", odd)
    arguments = {"y": "read_write f32[n]", "by": "f32 example 2", "n": "i32 = n"}
    scale = kiln.kernel(UPDATE, arguments=arguments, grid="ceil_div(n, 64)", block="64")
    y = on_device(x)
    for by in (2, 0.5, 3.0):
        assert scale(y, by) is y
    np.testing.assert_allclose(y.get(), 3 * x, rtol=1e-6)
    bound = kiln.bind(scale, y, 2.0)
    assert bound() is y and bound(queue.int_ptr) is y
    np.testing.assert_allclose(y.get(), 12 * x, rtol=1e-6)


def test_a_kernel_is_pickled_and_listed(on_device):
    kernel = add()
    again = pickle.loads(pickle.dumps(kernel))
    a = random(1000)
    assert again.folder == kernel.folder and (again(on_device(a), on_device(a)).get() == 2 * a).all()
    assert pickle.loads(pickle.dumps(kiln.kernel(kernel.folder))).spec == kernel.spec
    listed = [kiln._program.path(), "kernels", kernel.folder.parent]
    assert "add, given as text" in subprocess.run(listed, capture_output=True, text=True, check=True).stdout


def test_a_path_and_numbers_of_numpy_are_taken(on_device, tmp_path):
    source = tmp_path / "add.cl"
    source.write_text(ADD)
    tunables = {"BLOCK": np.array([64, 128]), "ITEMS": range(1, 3)}
    kernel = kiln.kernel(source, **{**TEXTS, "tunables": tunables, "grid": [TEXTS["grid"]]})
    a = on_device(random(1000))
    session = kernel.tune(a, trials=4, db=tmp_path / "kiln.db", progress=False)
    assert session.kernel == "add" and len(session.trials) == 4 and not session.failures
    assert kernel.tune(n=np.int64(8), trials=2, device="opencl", db=tmp_path / "kiln.db", progress=False).best


def exact(a, b):
    return {"c": a.astype("float64") + b}


def test_a_python_function_is_the_reference(on_device, tmp_path):
    a, b = on_device(random(1000)), on_device(random(1000) + 1)
    options = {"trials": 2, "progress": False, "warm_cache": True}
    right = pickle.loads(pickle.dumps(add(formulas=None, reference=exact)))
    assert right.tune(a, b, a, db=tmp_path / "right.db", **options).best
    assert not list(right.folder.parent.glob("add-*/*.npy"))
    assert kiln.best(right, n=1000, device="opencl", db=tmp_path / "right.db").grade == "exact"
    wrong = add(formulas=None, reference=lambda a, b: a - b)
    with pytest.warns(kiln.KilnWarning, match="the default config plain:BLOCK=64") as warned:
        with pytest.raises(kiln.NoConfigError, match="elements of 'c' are wrong") as refused:
            wrong.tune(a, b, db=tmp_path / "wrong.db", **options)
    assert refused.value.session.failures[0]["outcome"] == "wrong_result"
    assert warned[0].filename == __file__
    with pytest.raises(kiln.ArgumentError, match="by its own tune"):
        kiln.tune(right, n=1000)
    with pytest.raises(kiln.ArgumentError, match="add: the reference needs the array 'b'"):
        right.tune(a, **options)


def test_tuning_beside_the_program(on_device):
    kernel = add(name="add_beside", tune_on_miss="background", tune_seconds=30)  # ends with its four configs
    a = random(3000)
    given = on_device(a)
    assert (kernel(given, given).get() == 2 * a).all()
    plan, first = kernel.plan(given, given)
    launcher.launcher_of(first, None, plan.folder, plan.options).wait_for_tuning(120)
    assert kernel.select(given, given).grade == "exact"
    assert all((kernel(given, given).get() == 2 * a).all() for _ in range(2))


def test_it_needs_neither_torch_nor_numpy():
    code = (
        "import sys\nfor name in ('torch', 'numpy', 'pyopencl'): sys.modules[name] = None\n"
        f"import kiln; print(kiln.kernel({ADD!r}, **{TEXTS!r}))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout == "<kiln.Kernel add(a, b, c=None)>\n"


def spec_of(*shapes, **fields):
    named = {f"x{i}": sizes.Argument(f"x{i}", "read", "f32", s, False) for i, s in enumerate(shapes)}
    return sizes.Spec("k", named, fields)


def solved(spec, *shapes, **given):
    arrays = {f"x{i}": SimpleNamespace(shape=shape, dtype="f32") for i, shape in enumerate(shapes)}
    return sizes.solve(spec, arrays, given)


@pytest.mark.parametrize(
    "shapes, extents, expected",
    [
        ([("a", "2 * a + 1")], [(3, 7)], {"a": 3}),
        ([("a * b",), ("b - 2",)], [(12,), (1,)], {"a": 4, "b": 3}),
        ([("(a + 1) * 4 - a",)], [(10,)], {"a": 2}),
        ([("ceil_div(a, 4)",), ("a",)], [(2,), (7,)], {"a": 7}),
        ([("a", "b + 0 * a")], [(3, 1)], {"a": 3, "b": 1}),
    ],
)
def test_sizes_follow_from_extents(shapes, extents, expected):
    assert solved(spec_of(*shapes, **dict.fromkeys(expected)), *extents) == expected


@pytest.mark.parametrize(
    "shapes, extents, message",
    [
        ([("a",), ("a",)], [(3,), (4,)], r"'x1' has 4 elements .* 0; its spec says a = 3 \(a=3 from axis 0 of 'x0'\)"),
        ([("2 * a",)], [(3,)], r"'x0' has 3 elements along axis 0; its spec says 2 \* a: no a gives that"),
        ([("a", "a")], [(3,)], r"'x0' has shape \[3\]; its spec says read f32\[a\]\[a\]"),
        ([("max(a, 4)",)], [(3,)], r"k: axis 0 of 'x0', max\(a, 4\), does not tell the size 'a'; pass a="),
        ([("a // 0",)], [(3,)], "axis 0 of 'x0', a // 0, does not tell the size 'a'"),
        ([("4", "a")], [(3, 3)], "'x0' has 3 elements along axis 0; its spec says 4"),
    ],
)
def test_extents_that_do_not_fit(shapes, extents, message):
    with pytest.raises(kiln.ShapeError, match=message):
        solved(spec_of(*shapes, a=None), *extents)


def test_a_size_may_be_given_or_have_a_default():
    spec = spec_of(("a + b",), ("a - b",), a=None, b=None, c="7")
    with pytest.raises(kiln.ShapeError, match=r"axis 0 of 'x0', a \+ b, does not tell the size 'a'; pass a="):
        solved(spec, (5,), (1,))
    assert solved(spec, (5,), (1,), a=3) == {"a": 3, "b": 2, "c": 7}
    with pytest.raises(kiln.ShapeError, match="no array tells the size 'c'; pass c="):
        solved(spec_of(("a",), a=None, c=None), (3,))


def test_one_clear_error_for_each_mistake_in_a_call(on_device):
    kernel = add()
    a = on_device(random(8))
    for call, error, message in (
        (lambda: kernel(a), kiln.ArgumentError, r"add: argument 'b' is missing \(read f32\[n\]\)"),
        (lambda: kernel(a, a, a, a), TypeError, r"add\(a, b, c=None\): 4 arguments were given"),
        (lambda: kernel(a, a, a=a), TypeError, "argument 'a' is given twice"),
        (lambda: kernel(a, a, d=a), TypeError, r"add\(a, b, c=None\) has no 'd'; its sizes are n"),
        (lambda: kernel(a, on_device(random(9))), kiln.ShapeError, "'b' has 9 elements along axis 0"),
        (lambda: kernel(a, on_device(random(8).astype("f8"))), kiln.DtypeError, "'b' holds f32"),
        (lambda: kernel(a, random(8)), kiln.HostArrayError, "argument 'b' is in host memory"),
        (lambda: kernel(a, a, n=9), kiln.ShapeError, r"says n = 9 \(n=9 from n= of the call\)"),
        (lambda: kernel.tune(a, trails=3), TypeError, "add has no problem field 'trails'"),
        (lambda: kiln.bind(abs, a), kiln.ArgumentError, "bind: expected a function such as"),
    ):
        with pytest.raises(error, match=message):
            call()


def test_one_clear_error_for_each_mistake_in_a_text(tmp_path):
    for changed, message in (
        ({"arguments": {"a": "f32"}}, "argument 'a' is 'f32'; expected"),
        ({"arguments": {"a": "f32 example x"}}, "argument 'a' is 'f32 example x'"),
        ({"arguments": None}, "a source needs arguments="),
        ({"grid": ()}, "a source needs grid="),
        ({"tunables": {"BLOCK": [], "ITEMS": [1]}}, "tunable 'BLOCK' has no values"),
        ({"tunables": {"BLOCK": 64, "ITEMS": [1]}}, "is 64; expected a list"),
        ({"name": "../add"}, "name is '../add'; expected letters"),
        (
            {"arguments": dict(reversed(TEXTS["arguments"].items()))},
            "name n, c, b, a; the parameters of add are a, b, c, n",
        ),
        ({"defaults": {"BLOK": 64}}, "defaults= names 'BLOK'; the tunables are BLOCK, ITEMS"),
    ):
        with pytest.raises(ValueError, match=message):
            add(**changed)
    with pytest.raises(kiln.ProblemError, match=r"spec.toml:\d+:\d+: unknown name 'BLCOK'"):
        repr(add(grid="ceil_div(n, BLCOK)"))
    with pytest.raises(kiln.ProblemError, match="the source has no kernel"):
        kiln.kernel("int x;\n", **TEXTS)
    with pytest.raises(kiln.ProblemError, match="none.cl: No such file or directory; expected a source"):
        kiln.kernel(tmp_path / "none.cl", **TEXTS)
    with pytest.raises(kiln.ArgumentError, match="is a folder, whose spec says all"):
        kiln.kernel(tmp_path, grid="n")
    with pytest.raises(kiln.ArgumentError, match="untuned is 'later'"):
        kiln.kernel(ADD, **TEXTS, untuned="later")
