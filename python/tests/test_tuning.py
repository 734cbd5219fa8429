"""Tuning, asking and reading the database, on an OpenCL device.

SPDX-License-Identifier: Apache-2.0
"""

import os
import pathlib
import shutil
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
    with pytest.raises(kiln.ArgumentError, match="a source is tuned by"):
        kiln.best("__kernel void f() {}", n=8)


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


def with_reference(folder, call, text):
    """examples/twice with a Python function as its reference."""
    shutil.copytree(pathlib.Path(__file__).parents[2] / "examples" / "twice", folder, dirs_exist_ok=True)
    spec = folder / "spec.toml"
    formula = 'verify.formulas.y = "2 * x"'
    assert formula in spec.read_text()
    spec.write_text(spec.read_text().replace(formula, f'verify.function = "ref.py:{call}"'))
    (folder / "ref.py").write_text(text)
    return folder


def test_a_spec_names_a_python_function(tmp_path, queue):
    options = dict(n=1000, device="opencl", trials=2, progress=False, warm_cache=True)

    def tune(name, call, text):
        folder = with_reference(tmp_path / name, call, text)
        return kiln.tune(folder, db=tmp_path / f"{name}.db", **options)

    by_name = "from other import up\ndef f(x, n):\n    assert len(x) == n\n    return {'y': 2 * up(x)}\n"
    (tmp_path / "named").mkdir()
    (tmp_path / "named" / "other.py").write_text("def up(a):\n    print('x' * 100000)\n    return a.astype('f8')\n")
    assert tune("named", "f", by_name).best
    assert tune("placed", "f(x, n // 2)", "def f(a, half):\n    return a + a.astype('f8')\n").best
    with pytest.warns(kiln.KilnWarning):
        with pytest.raises(kiln.NoConfigError, match="elements of 'y' are wrong"):
            tune("wrong", "f", "def f(x):\n    return 3 * x\n")
    for name, text, message in (
        ("raises", "def f(x):\n    return 1 // 0\n", "line 2 of .*ref.py: ZeroDivisionError"),
        ("unknown", "def f(x, z):\n    return x\n", r"f\(\) missing 1 required positional argument: 'z'"),
        ("shape", "def f(x):\n    return x[:10]\n", r"'y' has the shape \[10\]; expected \[[0-9]+\]"),
        ("nothing", "def f(x):\n    pass\n", "it returned no 'y'"),
        ("missing", "def g(x):\n    pass\n", "there is no function 'f'"),
        ("ends", "import os\ndef f(x):\n    os._exit(7)\n", "python3 ended with exit code 7"),
    ):
        with pytest.raises(kiln.KilnError, match=rf"spec.toml:.*the function 'f' of ref.py: (\w+Error: )?{message}"):
            tune(name, "f", text)


def test_a_python_function_that_hangs_ends_with_the_session(tmp_path, queue):
    text = (
        "import os, pathlib, time\n"
        "def f(x):\n"
        "    pathlib.Path(__file__).with_name('pid').write_text(str(os.getpid()))\n"
        "    time.sleep(600)\n"
    )
    folder = with_reference(tmp_path / "hangs", "f", text)
    with pytest.raises(kiln.KilnError, match="it was running ref.py:f on n="):
        kiln.tune(folder, n=1000, seconds=2, device="opencl", db=tmp_path / "kiln.db", progress=False)
    deadline = time.monotonic() + 10
    process = pathlib.Path("/proc") / (folder / "pid").read_text()
    while process.exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not process.exists()


def test_two_sessions_of_one_database_wait_for_each_other(tmp_path, queue):
    database = tmp_path / "kiln.db"
    script = (
        "import kiln, sys\n"
        "kiln.tune('transpose', rows=64, cols=48, seconds=6, device='opencl', db=sys.argv[1], progress=False)\n"
    )
    first = subprocess.Popen([sys.executable, "-c", script, str(database)])
    deadline = time.monotonic() + 60
    while not _has_trials(database) and time.monotonic() < deadline:
        time.sleep(0.1)
    with pytest.warns(kiln.KilnWarning, match="kiln.db is being written by process .* this session begins when"):
        second = kiln.tune("transpose", rows=64, cols=49, trials=2, device="opencl", db=database, progress=False)
    assert first.wait() == 0
    with kiln.open(database) as opened:
        assert [each.state for each in opened.sessions] == ["finished", "finished"]
        assert second.id == opened.sessions[1].id


def test_what_is_wrong_has_its_class(tmp_path, queue):
    options = dict(trials=1, db=tmp_path / "kiln.db", progress=False)
    folder = with_reference(tmp_path / "wrong", "f", "def f(x):\n    return 3 * x\n")
    with pytest.warns(kiln.KilnWarning):
        with pytest.raises(kiln.NoConfigError, match="elements of 'y' are wrong"):
            kiln.tune(folder, n=100, device="opencl", **options)
    with pytest.raises(kiln.NoDeviceError, match="there is no device 'gpu'") as refused:
        kiln.tune("transpose", rows=3, cols=2, device="gpu", **options)
    assert type(refused.value) is kiln.NoDeviceError
    with pytest.raises(kiln.ProblemError, match="has no variant 'nothing'"):
        kiln.tune("transpose", rows=3, cols=2, variants="nothing", **options)
    script = "import kiln\ntry: kiln.Launcher('opencl')\nexcept kiln.LibraryMissingError: print('missing')"
    environment = dict(os.environ, KILN_LIBRARY="libc.so.6")
    result = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, check=False)
    assert result.stdout == b"missing\n"


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
