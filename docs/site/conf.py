# The documentation site: the README and the pages of docs/ as they are, and the two public headers by Doxygen.
# scripts/docs_site builds it. The sources are those of the whole tree, so that links between pages hold.
# SPDX-License-Identifier: Apache-2.0
import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

project = "Kiln"
author = "the contributors of Kiln"
copyright = author  # noqa: A001, the name is Sphinx's
version = re.search(r"VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text().split("project(", 1)[1]).group(1)
release = version

extensions = ["myst_parser", "breathe"]
include_patterns = ["README.md", "CONTRIBUTING.md", "docs/**.md", "docs/site/*.rst", "data/README.md", "bench/**.md",
                    "examples/**.md"]
exclude_patterns = ["build/**", "dist/**"]
root_doc = "README"
html_theme = "furo"
html_title = f"Kiln {version}"
html_show_sphinx = False
breathe_domain_by_extension = {"h": "c"}
breathe_default_project = "kiln"  # scripts/docs_site says where it is
highlight_language = "text"
myst_heading_anchors = 4
# A heading's anchor: GitHub's rule, as scripts/check_docs has it.
myst_heading_slug_func = "docs_site_anchor.anchor"

PAGES = """
```{toctree}
:hidden:
:caption: Use

docs/five_minutes
docs/cli
docs/report
docs/drive_kiln
docs/packages
docs/programs_as_they_are
docs/python
docs/amd
docs/fleet
```

```{toctree}
:hidden:
:caption: Launch
:glob:

docs/launcher
docs/site/headers
examples/**
```

```{toctree}
:hidden:
:caption: Kernels
:glob:

docs/bring_your_kernel
docs/write_a_kernel
docs/spec_*
docs/dialect*
docs/kernels/*
```

```{toctree}
:hidden:
:caption: How it works
:glob:

docs/measurement
docs/checks*
docs/sessions
docs/search*
docs/lookup*
docs/database_format
docs/wisdom*
docs/reliability
docs/compatibility
data/README
```

```{toctree}
:hidden:
:caption: Work on Kiln
:glob:

CONTRIBUTING
docs/architecture
docs/glossary
docs/add_a_*
docs/mend_a_kernel
docs/benchmarks*
bench/**
```

```{toctree}
:hidden:
:caption: What was measured
:glob:

docs/results/README
docs/results/*
```

```{toctree}
:hidden:

docs/README
```
"""


def without_folders(page, text):
    """A link to a folder leads to its README.md; without one it is its text."""

    def renewed(link):
        name, target = link.group(1), link.group(2)
        folder = page.parent / target
        if re.match(r"[a-z]+:|#", target) or not folder.is_dir():
            return link.group(0)
        return f"[{name}]({target.rstrip('/')}/README.md)" if (folder / "README.md").exists() else name

    return re.sub(r"(?<!!)\[([^\]]*)\]\(([^)\s#]+)\)", renewed, text)


def with_help(text):
    """The comment <!-- kiln tune --help --> becomes what the program prints; scripts/docs_site names the program."""

    def printed(comment):
        command = comment.group(1) + "-all"
        help_text = subprocess.run([os.environ["KILN"], *command.split()[1:]], capture_output=True, text=True, check=True).stdout
        return f"```text\n$ {command}\n{help_text.rstrip()}\n```"

    return re.sub(r"^<!-- (kiln .*--help) -->$", printed, text, flags=re.MULTILINE)


def renew(app, name, source):
    page = pathlib.Path(app.srcdir) / app.env.doc2path(name, base=False)
    if page.suffix == ".md":
        source[0] = without_folders(page, source[0])
    if name == "docs/cli":
        source[0] = with_help(source[0])
    if name == root_doc:
        source[0] += PAGES


def setup(app):
    app.connect("source-read", renew)
