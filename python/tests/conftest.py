"""What the tests share: private caches and databases, and an OpenCL queue.

SPDX-License-Identifier: Apache-2.0
"""

import os
import pathlib
import tempfile

import pytest

_PRIVATE = pathlib.Path(tempfile.mkdtemp(prefix="kiln-python-"))
os.environ["KILN_DB"] = str(_PRIVATE / "kiln.db")
os.environ["KILN_CACHE"] = str(_PRIVATE / "cache")
os.environ["XDG_DATA_HOME"] = str(_PRIVATE / "data")
os.environ.setdefault("POCL_CACHE_DIR", str(_PRIVATE / "pocl"))
os.makedirs(os.environ["POCL_CACHE_DIR"], exist_ok=True)


@pytest.fixture(scope="session")
def cl():
    """The module pyopencl, where there is a device for it."""
    module = pytest.importorskip("pyopencl")
    try:
        found = any(platform.get_devices() for platform in module.get_platforms())
    except module.Error as reason:
        pytest.skip(f"no OpenCL: {reason}")
    if not found:
        pytest.skip("no OpenCL device")
    pytest.importorskip("numpy")
    return module


@pytest.fixture(scope="session")
def queue(cl):
    """A queue on the first OpenCL device."""
    platform = next(platform for platform in cl.get_platforms() if platform.get_devices())
    return cl.CommandQueue(cl.Context(platform.get_devices()[:1]))


@pytest.fixture(scope="session")
def on_device(queue):
    """A function that copies a NumPy array to the device."""
    import pyopencl.array

    return lambda array: pyopencl.array.to_device(queue, array)


@pytest.fixture(scope="session")
def tuned(tmp_path_factory, queue):
    """(session, database): a short session of a small kernel; tuned once for all tests."""
    import kiln

    database = tmp_path_factory.mktemp("tuned") / "kiln.db"
    session = kiln.tune(
        "transpose", rows=64, cols=48, trials=3, device="opencl", db=database, progress=False
    )
    return session, database
