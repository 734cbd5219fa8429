"""Which form a bound launch has: the compiled module, or ctypes. test_calls.py checks what both do.

SPDX-License-Identifier: Apache-2.0
"""

import os
import pathlib
import subprocess
import sys

import pytest

import kiln
from kiln import _fast

MODULES = sorted(path.name for path in pathlib.Path(kiln.__file__).parent.glob("_native*"))


@pytest.fixture(autouse=True)
def with_module():
    """The wheel holds the compiled module, except where its build said that it cannot."""
    if not MODULES and os.environ.get("CI") != "true":
        pytest.skip("the wheel was built without the compiled module")
    assert MODULES == ["_native.abi3.so"], "one module, for the stable ABI"


def test_the_module_is_used_from_python_3_12_on():
    wanted = sys.version_info >= (3, 12) and not os.environ.get("KILN_PURE_PYTHON")
    assert _fast.IS_NATIVE == wanted


def test_the_environment_leaves_it_out():
    code = "from kiln import _fast; print(_fast.IS_NATIVE, 'kiln._native' in __import__('sys').modules)"
    environment = {**os.environ, "KILN_PURE_PYTHON": "1"}
    out = subprocess.run(
        [sys.executable, "-c", code], env=environment, check=True, capture_output=True, text=True
    )
    assert out.stdout == "False False\n"


def test_bound_calls_go_through_it(on_device, queue):
    import numpy as np

    x = np.arange(12, dtype="float32").reshape(3, 4)
    out = on_device(np.zeros((4, 3), "float32"))
    call = kiln.bind(kiln.transpose, on_device(x), out=out)
    launch = call._launch  # pylint: disable=protected-access
    module = type(launch).__module__
    assert module == ("kiln._native" if _fast.IS_NATIVE else "builtins")
    assert launch(queue.int_ptr) == 0
    queue.finish()
    assert (out.get() == x.T).all()
