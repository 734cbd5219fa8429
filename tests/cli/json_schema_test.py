"""What each command prints with --json fits its schema in docs/schemas, and the schema names all of it.

    json_schema_test.py KILN

A kernel of two tunables is tuned on the CPU by OpenCL, and every command is asked about it. Without the package
jsonschema or without OpenCL the tests are skipped; they fail instead where KILN_TEST_REQUIRE names them.

SPDX-License-Identifier: Apache-2.0
"""

import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

try:
    import jsonschema
except ImportError:
    jsonschema = None

KILN = ""
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SCHEMAS = {path.name: json.loads(path.read_text()) for path in (ROOT / "docs/schemas").glob("*.schema.json")}
REQUIRED = os.environ.get("KILN_TEST_REQUIRE", "").split(",")
HERE = ("--kernel-path", "kernels", "--device", "opencl")
SHARED = {"common.schema.json", "trial.schema.json"}

SPEC = (ROOT / "examples/twice/spec.toml").read_text().replace("[[variants]]", """
[metrics.bandwidth]
goal = "maximise"
unit = "GB/s"
value = "cost.bytes / measured.time_ns"
doc = "bytes moved in a second"
[[variants]]""").replace("[[variants.steps]]", """
[[variants.constraints]]
require = "block_size * items <= 2048"
because = "the test wants one config to be refused"
[[variants.steps]]""")
BROKEN = SPEC.replace('name = "twice"', 'name = "broken"').replace("2 * x", "3 * x")
PLAN = """name = "two"
[defaults]
trials = 3
[[kernels]]
kernel = "twice"
problems = ["n=5000"]
[[kernels]]
kernel = "twice"
problems = ["n=1e15"]  # more than any memory
"""
SPACES = {"spaces": [{"name": "one", "parameters": {"a": [1, 2], "b": [1, 2]}, "constraints": ["a <= b"], "valid_size": 4}]}
CACHE = {"kernel_name": "scale", "tune_params_keys": ["block"], "tune_params": {"block": [32, 64, 128]},
         "cache": {str(block): {"block": block, "time": 1 + block / 100} for block in (32, 64, 128)}}


def skip_or_fail(requirement, reason):
    if requirement in REQUIRED:
        raise RuntimeError(reason)
    raise unittest.SkipTest(reason)


def closed(schema):
    """`schema`, with members that it does not name forbidden; other schemas extend those called _members."""
    if isinstance(schema, list):
        return [closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    result = {key: value if key.endswith("_members") else closed(value) for key, value in schema.items()}
    if "allOf" in schema:
        result["unevaluatedProperties"] = False
    elif isinstance(schema.get("properties"), dict):
        result.setdefault("additionalProperties", False)
    return result


def validator(name):
    """Of the schema of this name, closed; references lead to the other schemas."""
    schemas = {each: closed(schema) for each, schema in SCHEMAS.items()}
    try:
        import referencing
    except ImportError:  # jsonschema before 4.18
        resolver = jsonschema.RefResolver(name, schemas[name], store=schemas)
        return jsonschema.Draft202012Validator(schemas[name], resolver=resolver)
    registry = referencing.Registry().with_resources(
        (each, referencing.Resource.from_contents(schema)) for each, schema in schemas.items())
    return jsonschema.Draft202012Validator(schemas[name], registry=registry)


def commands_with_json(*words):
    """The words of each command whose help lists --json."""
    text = subprocess.run([KILN, *words, "--help"], capture_output=True, text=True, check=True).stdout
    found = [words] if re.search("^  --json ", text, re.MULTILINE) else []
    for command in re.findall(r"^  ([a-z]\S*)  ", text, re.MULTILINE):
        found += commands_with_json(*words, command)
    return found


def schema_name(words):
    return "_".join(words) + ".schema.json"


@unittest.skipIf(jsonschema is None and "jsonschema" not in REQUIRED, "the Python package jsonschema is not installed")
class Schemas(unittest.TestCase):
    def test_each_is_a_schema(self):
        for name, schema in SCHEMAS.items():
            with self.subTest(schema=name):
                jsonschema.Draft202012Validator.check_schema(schema)
                self.assertEqual(schema["$id"], name)

    def test_each_command_with_json_has_one(self):
        self.assertEqual({schema_name(words) for words in commands_with_json()} | SHARED, set(SCHEMAS))

    def test_the_page_links_each(self):
        page = (ROOT / "docs/drive_kiln.md").read_text()
        self.assertEqual(set(re.findall(r"\(schemas/([^)]*)\)", page)), set(SCHEMAS))

    def test_each_member_is_described(self):
        def check(schema, place):
            if isinstance(schema, list):
                for number, each in enumerate(schema):
                    check(each, f"{place}/{number}")
            elif isinstance(schema, dict):
                members = schema.get("properties")
                for member, about in members.items() if isinstance(members, dict) else []:
                    self.assertTrue({"description", "$ref"} & about.keys(), f"{place}/{member}")
                for key, each in schema.items():
                    check(each, f"{place}/{key}")

        for name, schema in SCHEMAS.items():
            check(schema, name)


@unittest.skipIf(jsonschema is None and "jsonschema" not in REQUIRED, "the Python package jsonschema is not installed")
class Outputs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.scratch.name)
        for name, spec in {"twice": SPEC, "broken": BROKEN}.items():
            kernel = cls.folder / "kernels" / name
            kernel.mkdir(parents=True)
            (kernel / "spec.toml").write_text(spec)
            (kernel / "plain.inja").write_text((ROOT / "examples/twice/plain.inja").read_text())
        (cls.folder / "plan.toml").write_text(PLAN)
        (cls.folder / "spaces.json").write_text(json.dumps(SPACES))
        (cls.folder / "cache.json").write_text(json.dumps(CACHE))
        cls.environment = {**os.environ, "KILN_DB": str(cls.folder / "kiln.db"), "KILN_CACHE": str(cls.folder / "cache")}
        (cls.folder / "pocl").mkdir()
        cls.environment.setdefault("POCL_CACHE_DIR", str(cls.folder / "pocl"))
        backends = json.loads(cls.run_kiln("devices", "--json").stdout)
        if not any(each["backend"] == "opencl" and each["devices"] for each in backends):
            skip_or_fail("opencl", "there is no OpenCL device")
        tuned = cls.run_kiln("tune", "twice", "--problem", "n=4096", "--trials", "4", *HERE, "--json")
        if tuned.returncode != 0:
            raise RuntimeError(tuned.stderr)
        cls.tuned = tuned.stdout

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    @classmethod
    def run_kiln(cls, *words):
        return subprocess.run([KILN, *words], capture_output=True, text=True, check=False, cwd=cls.folder,
                              env=cls.environment)

    def fits(self, name, text):
        """Reads `text` and holds it against the schema of the command."""
        document = json.loads(text)
        errors = [f"{'/'.join(map(str, error.absolute_path))}: {error.message}"[:2000]
                  for error in validator(schema_name(name.split())).iter_errors(document)]
        self.assertEqual(errors, [], name)
        return document

    def printed(self, name, *words, code=0):
        """What `kiln NAME WORDS --json` prints; it must exit with `code` and fit the schema."""
        result = self.run_kiln(*name.split(), *words, "--json")
        self.assertEqual((words, result.returncode), (words, code), result.stderr)
        return self.fits(name, result.stdout)

    def test_tune(self):
        report = self.fits("tune", self.tuned)
        self.assertIn("config", report["sessions"][0])

    def test_tune_without_a_valid_config(self):
        report = self.printed("tune", "broken", "--problem", "n=4096", "--trials", "2", *HERE, code=1)
        self.assertNotIn("config", report["sessions"][0])
        rows = self.printed("show", "latest")["rows"]
        self.assertEqual({row["outcome"] for row in rows}, {"wrong_result"})

    def test_tune_interrupted(self):
        words = (KILN, "tune", "twice", "--problem", "n=4097", "--fresh", "--db", "interrupted.db", *HERE, "--json")
        started = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=self.folder,
                                   env=self.environment)
        deadline = time.monotonic() + 120
        trials = 0
        while trials < 2 and started.poll() is None and time.monotonic() < deadline:
            time.sleep(0.1)
            shown = self.run_kiln("show", "--db", "interrupted.db", "--json")
            trials = json.loads(shown.stdout)[0]["trials"] if shown.stdout.startswith("[\n  {") else 0
        started.send_signal(signal.SIGINT)
        printed, _ = started.communicate()
        self.assertEqual(started.returncode, 130)
        session = self.fits("tune", printed)["sessions"][0]
        self.assertEqual((session["state"], "so_far" in session), ("interrupted", True))

    def test_sweep_with_a_session_that_cannot_run(self):
        report = self.printed("sweep", "plan.toml", "--ceilings", *HERE, code=1)
        self.assertIn("config", report["sessions"][0])
        self.assertIn("error", report["sessions"][1])
        self.assertIn("ceilings", report)

    def test_best(self):
        self.assertEqual(self.printed("best", "twice", "--problem", "n=4096", *HERE)["grade"], "exact")
        self.assertIsNone(self.printed("best", "broken", "--problem", "n=9", *HERE)["tuned"])
        self.assertEqual(len(self.printed("best", "twice", *HERE)), 1)
        front = self.printed("best", "twice", "--problem", "n=4096", "--pareto", "time,bandwidth", *HERE)
        self.assertEqual(front["objectives"], ["time", "bandwidth"])

    def test_prove(self):
        self.printed("prove", "twice", "--problem", "n=4096", "--config", "default", *HERE)

    def test_compare(self):
        configs = ("--config", "default", "--config", "plain:items=2")
        self.printed("compare", "twice", "--problem", "n=4096", "--rounds", "8", *configs, *HERE)

    def test_check(self):
        result = self.run_kiln("check", "--rounds", "8", "--kernel", "twice", *HERE, "--json")
        self.assertIn(result.returncode, (0, 1))  # by the noise of the machine
        self.assertEqual(len(self.fits("check", result.stdout)), 1)

    def test_show(self):
        self.assertEqual(self.printed("show")[0]["id"], 1)
        session = self.printed("show", "1")
        self.assertEqual(session["trials"], len(session["rows"]))
        self.assertEqual(session["finals"][0]["name"], "best")

    def test_replay(self):
        self.printed("replay", "cache.json", "--seeds", "2", "--strategy", "random,local")

    def test_db(self):
        self.assertGreater(self.printed("db info")["bests"], 0)
        self.assertTrue(self.printed("db check")["ok"])
        self.printed("db merge", "kiln.db", "--into", "merged.db")
        exported = self.run_kiln("db", "export", "bests.jsonl")
        self.assertEqual(exported.returncode, 0, exported.stderr)
        imported = ("bests.jsonl", "--db", "other.db", "--kernel-path", "kernels")
        self.assertGreater(self.printed("db import", *imported)["imported"], 0)
        self.printed("db portfolio", "twice", "--kernel-path", "kernels")
        self.printed("db portfolio", "twice", "--kernel-path", "kernels", "--leave-one-out")

    def test_db_check_of_a_damaged_file(self):
        shutil.copy(self.folder / "kiln.db", self.folder / "damaged.db")
        with contextlib.closing(sqlite3.connect(self.folder / "damaged.db")) as database:
            database.execute("UPDATE trials SET sequence = sequence + 9")
            database.commit()
        self.assertFalse(self.printed("db check", "damaged.db", code=1)["ok"])

    def test_devices_and_kernels(self):
        self.printed("devices")
        self.assertTrue(self.printed("doctor")["works"])
        self.assertGreater(len(self.printed("kernels")), 4)
        self.assertEqual(self.printed("kernels", "twice", "--kernel-path", "kernels")["name"], "twice")

    def test_space(self):
        self.printed("space", "twice", "--problem", "n=4096", "--kernel-path", "kernels")
        self.assertEqual(len(self.printed("space", "--file", "spaces.json", code=1)["differences"]), 1)

    def test_render(self):
        for backend, library in {"cuda": "nvrtc", "hip": "hiprtc"}.items():
            with self.subTest(backend=backend):
                words = ("render", "reduce", "--problem", "n=4096", "--backend", backend, "--report", "--json")
                result = self.run_kiln(*words)
                if result.returncode == 4:
                    skip_or_fail(library, result.stderr)
                self.assertEqual(result.returncode, 0, result.stderr)
                self.fits("render", result.stdout)

    def test_prebuild(self):
        self.printed("prebuild", "twice", "--problem", "n=4096", *HERE)

    def test_run(self):
        result = self.run_kiln("run", "--json", "--", "sh", "-c", "echo the program speaks; exit 7")
        self.assertEqual((result.returncode, result.stderr), (7, "the program speaks\n"))
        self.assertEqual(self.fits("run", result.stdout)["calls"], [])

    def test_errors_print_a_line_on_stderr_and_nothing_on_stdout(self):
        refused = {
            ("tune", "twice", "--tials", "1", "--json"): 2,
            ("tune", "twce", "--problem", "n=1", "--json"): 3,
            ("tune", "twice", "--problem", "n=1", "--device", "opencl:99", "--kernel-path", "kernels", "--json"): 4,
            ("show", "--db", "cache.json", "--json"): 5,
        }
        for words, code in refused.items():
            result = self.run_kiln(*words)
            self.assertEqual((words, result.returncode, result.stdout), (words, code, ""))
            self.assertRegex(result.stderr, r"^kiln: error: ")


if __name__ == "__main__":
    KILN = os.path.abspath(sys.argv.pop(1))
    unittest.main()
