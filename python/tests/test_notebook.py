"""The notebook of examples/ runs from its first cell to its last.

SPDX-License-Identifier: Apache-2.0
"""

import pathlib

import pytest

nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")
pytest.importorskip("ipykernel")
pytest.importorskip("pandas")

NOTEBOOK = pathlib.Path(__file__).parents[2] / "examples" / "notebook" / "tune.ipynb"


def test_the_notebook_runs(queue, tmp_path):
    if not NOTEBOOK.exists():
        pytest.skip("the examples are not here")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    client = nbclient.NotebookClient(
        notebook,
        timeout=600,
        kernel_name="python3",
        resources={"metadata": {"path": str(tmp_path)}},
    )
    client.execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    shown = [output["data"] for output in outputs if "data" in output]
    assert any("session 1" in data.get("text/html", "") for data in shown)
    streams = "".join(output["text"] for output in outputs if output["output_type"] == "stream")
    assert "transpose rows=300 cols=200" in streams  # progress is shown in the notebook
