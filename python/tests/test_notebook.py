"""A session in a notebook: progress while it runs, then a table and a plot.

SPDX-License-Identifier: Apache-2.0
"""

import pytest

nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")
pytest.importorskip("ipykernel")

CELL = """import kiln
kiln.tune("transpose", rows=300, cols=200, trials=5, device="opencl", db="notebook.db")"""


def test_a_cell_shows_progress_and_the_session(queue, tmp_path):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(CELL)])
    resources = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(notebook, timeout=600, kernel_name="python3", resources=resources).execute()
    outputs = notebook.cells[0].outputs
    shown = [output["data"] for output in outputs if "data" in output]
    assert any("session 1" in data.get("text/html", "") for data in shown)
    streams = "".join(output["text"] for output in outputs if output["output_type"] == "stream")
    assert "transpose rows=300 cols=200" in streams
