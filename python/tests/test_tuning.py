"""Tuning, asking and reading the database, on an OpenCL device.

SPDX-License-Identifier: Apache-2.0
"""

import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

import kiln

np = pytest.importorskip("numpy")

def test_a_session_has_trials_best_and_verdict(tuned):
    session, _ = tuned
    assert session.kernel == "transpose" and session.state == "finished"
    assert session.problem["rows"] == 64
    assert len(session.trials) == 3
    trial = session.trials[0]
    assert trial["outcome"] == "ok" and trial["time_ns"] > 0 and trial["samples_ns"]
    assert set(session.best) == {"config", "variant", "tunables", "time_ns", "default_time_ns"}
    assert session.verdict in ("better", "tie", "unmeasurable")
    assert session.speedup > 0
    assert len(session.best_so_far()) == 3
    assert "transpose" in repr(session) and "<table>" in session._repr_html_()


def test_trials_as_a_frame(tuned):
    pytest.importorskip("pandas")
    frame = tuned[0].to_frame()
    assert len(frame) == 3
    assert {"sequence", "variant", "time_ns"} <= set(frame.columns)
    assert any(name.startswith("tunables.") for name in frame.columns)


def test_the_database_as_objects(tuned):
    session, path = tuned
    with kiln.open(path) as database:
        assert [known.id for known in database.sessions] == [session.id]
        assert database.session().trials == session.trials
        assert len(database.trials) == 3 and database.trials[0]["session"] == session.id
        assert database.failures == []
        with pytest.raises(kiln.ProblemError, match="there is no session 99"):
            database.session(99)
    kiln.check(path)


def test_best_answers_with_its_grade(tuned):
    session, path = tuned
    exact = kiln.best("transpose", rows=64, cols=48, db=path)
    assert (exact.grade, exact.config) == ("exact", session.best["config"])
    near = kiln.best("transpose", rows=60, cols=48, db=path)
    assert near.grade == "near_size" and near.distance > 0
    with pytest.raises(kiln.ProblemError, match="rows"):
        kiln.best("transpose", cols=48, db=path)


def test_a_launcher_uses_what_was_tuned(tuned, queue):
    session, path = tuned
    match = kiln.Launcher(queue, database=path).select("transpose", rows=64, cols=48)
    assert (match.grade, match.config) == ("exact", session.best["config"])


def test_a_typing_mistake_is_a_type_error():
    with pytest.raises(TypeError, match="transpose has no problem field 'row'"):
        kiln.tune("transpose", row=3, cols=2, progress=False)
    with pytest.raises(kiln.ArgumentError, match=r"a source is tuned by kiln.kernel\(source, "):
        kiln.tune("__kernel void f() {\n}", n=8)


def test_numbers_of_numpy_are_taken(tmp_path, queue):
    with pytest.warns(kiln.KilnWarning, match="only the default config was tried"):
        session = kiln.tune(
            "transpose",
            rows=np.int64(16),
            cols=16,
            trials=np.int32(1),
            device="opencl",
            db=tmp_path / "kiln.db",
            progress=False,
        )
    assert session.problem["rows"] == 16


def test_the_program_ends_with_python(tmp_path, queue):
    """Python is killed during a session: nothing goes on behind it."""
    database = tmp_path / "kiln.db"
    script = (
        "import kiln, sys\n"
        "kiln.tune('transpose', rows=3000, cols=2000, seconds=60, device='opencl', db=sys.argv[1],\n"
        "          progress=False)\n"
    )
    child = subprocess.Popen([sys.executable, "-c", script, str(database)])
    deadline = time.monotonic() + 60
    while not database.exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    child.kill()
    child.wait()
    while time.monotonic() < deadline:
        running = subprocess.run(["pgrep", "-f", str(database)], capture_output=True, check=False)
        if not running.stdout:
            return
        time.sleep(0.2)
    pytest.fail(f"kiln still runs: {running.stdout!r}")


def test_a_sweep_is_a_list_of_sessions(tmp_path, queue):
    plan = tmp_path / "plan.toml"
    plan.write_text(
        'name = "two"\n[defaults]\ntrials = 2\n[[kernels]]\nkernel = "transpose"\n'
        'problems = ["rows=16 cols=16", "rows=32 cols=8"]\n'
    )
    result = kiln.sweep(plan, device="opencl", db=tmp_path / "kiln.db", progress=False)
    assert [session.problem["rows"] for session in result] == [16, 32]
    assert result.failed == 0 and "<table>" in result._repr_html_()
    with pytest.raises(kiln.ProblemError):
        kiln.sweep(tmp_path / "none.toml", progress=False)


def test_progress_goes_to_pythons_stderr(tmp_path, queue, capsys):
    kiln.tune("transpose", rows=16, cols=16, trials=2, device="opencl", db=tmp_path / "kiln.db")
    assert "transpose rows=16 cols=16" in capsys.readouterr().err


def test_every_line_of_the_program_is_shown(tmp_path, monkeypatch, capsys):
    program = tmp_path / "kiln"
    printed = r"one\ntwo\nkiln: warning: w\nthree\nkiln: error: e"
    program.write_text(f"#!/bin/sh\nprintf '{printed}' >&2\nexit 3\n")
    program.chmod(0o755)
    monkeypatch.setenv("KILN_PROGRAM", str(program))
    answer = kiln._program.run(["tune"], progress=True)
    assert capsys.readouterr().err == "one\ntwo\nthree\nkiln: error: e\n"
    assert (answer.message, list(answer.warnings)) == ("kiln: error: e", ["w"])


def test_ctrl_c_keeps_everything(tmp_path, queue):
    database = tmp_path / "kiln.db"
    code = (
        "import kiln\n"
        "try:\n"
        "  kiln.tune('transpose', rows=64, cols=64, seconds=600, device='opencl',\n"
        f"            db={str(database)!r}, progress=False)\n"
        "except KeyboardInterrupt as stop:\n"
        "  print(type(stop).__name__, stop.result.state, len(stop.result.trials) > 0)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 240
    while time.monotonic() < deadline and not _has_trials(database):
        time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=120)
    assert output.split() == ["Interrupted", "interrupted", "True"]
    with kiln.open(database) as opened:
        assert opened.session().state == "interrupted" and opened.session().trials


def _has_trials(database: pathlib.Path) -> bool:
    try:
        with kiln.open(database) as opened:
            return bool(opened.trials)
    except kiln.DatabaseError:
        return False


def test_the_program_is_a_console_script():
    environment = dict(os.environ)
    result = subprocess.run(
        [sys.executable, "-c", "from kiln._program import main; main()", "--version"],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert result.stdout.startswith("kiln ")
