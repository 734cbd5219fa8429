"""Completions and man pages hold every command and option that the help lists.

    completion_test.py KILN

Each shell reads its script and is asked as a user asks it. Without zsh or fish their part is skipped;
it fails instead where KILN_TEST_REQUIRE names them.

SPDX-License-Identifier: Apache-2.0
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

KILN = ""
ASK = pathlib.Path(__file__).parent / "completion"
SHELLS = {"bash": ["bash", "--norc"], "zsh": ["zsh", "-f"], "fish": ["fish", "--no-config"]}


def kiln(*words):
    return subprocess.run([KILN, *words], capture_output=True, text=True, check=False)


def made(*words):
    """What a command that must succeed prints."""
    result = kiln(*words)
    if result.returncode != 0:
        raise RuntimeError(f"{words}: {result.stderr}")
    return result.stdout


def options_in(text):
    """The options of a help text: -h, --help, --db."""
    names = re.findall(r"^  (-[-\w,]+)", text, re.MULTILINE)
    return {name for group in names for name in group.split(",")}


def commands_in(text):
    """The commands that a help text lists."""
    return set(re.findall(r"^  ([a-z]\S*)  ", text, re.MULTILINE))


def all_helps(*words):
    """The help of every command, by its words: {("db", "info"): text}."""
    text = made(*words, "--help-all")
    helps = {words: text}
    for command in commands_in(text):
        helps.update(all_helps(*words, command))
    return helps


def plain(page):
    """A man page without its escapes."""
    page = re.sub(r"\\f[BIR]", "", page)
    for escape, letter in {"\\-": "-", "\\(aq": "'", "\\(ga": "`", "\\(ha": "^", "\\(ti": "~",
                           "\\&": "", "\\e": "\\"}.items():
        page = page.replace(escape, letter)
    return page


class ManPages(unittest.TestCase):
    def test_each_command_has_a_page_with_all_that_its_help_lists(self):
        for words, text in all_helps().items():
            with self.subTest(words=words):
                page = plain(made("man", *words))
                self.assertIn("-".join(["kiln", *words]) + " - ", page)
                for name in options_in(text) | commands_in(text):
                    self.assertRegex(page, rf"(?m)^(.*, )?{name}( |,|$)")
                # Every sentence too: words are compared, for lines are broken elsewhere.
                told = " ".join(page.split())
                for line in re.findall(r"^  -\S+ \S* {3,}(\w.*)$", text, re.MULTILINE):
                    self.assertIn(" ".join(line.split()), told)

    def test_into_writes_one_page_a_command(self):
        with tempfile.TemporaryDirectory() as folder:
            made("man", "--into", f"{folder}/man1")
            names = {path.name for path in pathlib.Path(folder, "man1").iterdir()}
        self.assertEqual(names, {"-".join(["kiln", *words]) + ".1" for words in all_helps()})

    @unittest.skipUnless(shutil.which("groff"), "groff is not installed")
    def test_groff_reads_each_page_without_a_warning(self):
        for words in all_helps():
            result = subprocess.run(["groff", "-man", "-ww", "-z", "-k"], input=made("man", *words),
                                    capture_output=True, text=True, check=False)
            self.assertEqual((words, result.returncode, result.stderr), (words, 0, ""))

    def test_a_word_that_is_no_command_is_refused(self):
        result = kiln("man", "tun")
        self.assertEqual(result.returncode, 2)
        self.assertEqual(result.stderr, "kiln: error: there is no command 'kiln tun'; did you mean"
                                        " 'tune'? (kiln --help lists them)\n")


class Refused(unittest.TestCase):
    def test_another_shell_is_refused_in_one_line(self):
        result = kiln("completion", "tcsh")
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertRegex(result.stderr, r"^kiln: error: .*'tcsh'.*\(there are: bash, zsh, fish\).*\n$")


class OfEachShell:
    """What holds in every shell; `shell` is its name."""

    @classmethod
    def setUpClass(cls):
        if not shutil.which(cls.shell):
            reason = f"{cls.shell} is not installed"
            if cls.shell in os.environ.get("KILN_TEST_REQUIRE", "").split(","):
                raise RuntimeError(reason)
            raise unittest.SkipTest(reason)
        cls.folder = tempfile.TemporaryDirectory()
        pathlib.Path(cls.folder.name, "mine").mkdir()
        pathlib.Path(cls.folder.name, "mine.db").touch()
        pathlib.Path(cls.folder.name, "script").write_text(made("completion", cls.shell))
        cls.helps = all_helps()

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def ask(self, *lines):
        """What the shell proposes for the last word of each line: a list of sets."""
        result = subprocess.run(
            [*SHELLS[self.shell], str(ASK / f"ask.{self.shell}"), "./script"], cwd=self.folder.name,
            input="".join(line + "\n" for line in lines), capture_output=True, text=True, check=False,
            timeout=240, env={"PATH": f"{pathlib.Path(KILN).resolve().parent}:{os.environ['PATH']}", "HOME": self.folder.name, "TERM": "xterm"})
        self.assertEqual(result.stderr, "")
        answers = result.stdout.split(".\n")
        self.assertEqual(len(answers), len(lines) + 1, result.stdout)
        return [{word.strip().rstrip("/").removeprefix("./") for word in answer.splitlines()}
                for answer in answers[:-1]]

    def test_each_option_of_each_command_is_proposed(self):
        lines = [" ".join(["kiln", *words, "--"]) for words in self.helps]
        for (words, text), words_proposed in zip(self.helps.items(), self.ask(*lines)):
            expected = {name for name in options_in(text) if name.startswith("--")}
            self.assertEqual((words, words_proposed), (words, expected))

    def test_each_command_is_proposed(self):
        groups = {words: text for words, text in self.helps.items() if commands_in(text)}
        self.assertGreater(len(groups), 1)
        lines = [" ".join(["kiln", *words, ""]) for words in groups]
        for (words, text), proposed in zip(groups.items(), self.ask(*lines)):
            expected = commands_in(text) | (set() if words else {"help", "version"})
            self.assertEqual((words, {word for word in proposed if not word.startswith("-")}),
                             (words, expected))

    def test_values_are_proposed(self):
        asked = {
            "kiln tu": {"tune"},
            "kiln tune re": {"reduce"},
            "kiln kernels hist": {"histogram"},
            "kiln tune mi": {"mine"},  # the folder of a kernel
            "kiln tune reduce --strategy ban": {"bandit"},
            "kiln tune reduce --strategy=ban": {"bandit"},
            "kiln tune reduce --device cu": {"cuda"},
            "kiln sweep --kernel mat": {"matmul"},
            "kiln db info --db mine.": {"mine.db"},
            "kiln db export --format t": {"t4"},
            "kiln best reduce --kernel-path mi": {"mine"},
            "kiln help db inf": {"info"},
            "kiln completion z": {"zsh"},
            "kiln --ver": {"--version"},
            "kiln show lat": {"latest"},
            "kiln tune --db tune --strat": {"--strategy"},  # a value that is the name of a command
        }
        for line, proposed in zip(asked, self.ask(*asked)):
            proposed = {word.rpartition("=")[2] for word in proposed}
            self.assertEqual((line, proposed), (line, asked[line]))


class Bash(OfEachShell, unittest.TestCase):
    shell = "bash"


class Zsh(OfEachShell, unittest.TestCase):
    shell = "zsh"


class Fish(OfEachShell, unittest.TestCase):
    shell = "fish"


if __name__ == "__main__":
    KILN = sys.argv.pop(1)
    unittest.main()
