"""The pages show what runs: every Python block of a page, in its order, in one session of Python.

SPDX-License-Identifier: Apache-2.0
"""

import os
import pathlib
import re

import pytest

import kiln

ROOT = pathlib.Path(__file__).parents[2]


def blocks_of(page):
    """(line, text) of each Python block."""
    text = (ROOT / page).read_text(encoding="utf-8")
    for found in re.finditer(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        yield text.count("\n", 0, found.start()) + 2, found.group(1)


@pytest.mark.parametrize("page", ["README.md", "docs/python.md", "python/README.md"])
def test_every_block_runs_as_it_stands(page, tmp_path, monkeypatch, queue):
    pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KILN_DB", str(tmp_path / "kiln.db"))
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    names = {"__name__": "__main__"}
    blocks = list(blocks_of(page))
    assert blocks
    for line, text in blocks:
        code = compile("\n" * (line - 1) + text, page, "exec")
        if "torch.cuda" in text and not os.path.exists("/dev/nvidiactl"):
            continue  # CUDA graphs
        exec(code, names)  # pylint: disable=exec-used
    with kiln.open() as database:
        assert all(session.best for session in database.sessions) and database.sessions

