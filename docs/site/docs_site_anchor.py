"""The anchor that a heading of a page gets: GitHub's rule, as scripts/check_docs has it.

SPDX-License-Identifier: Apache-2.0
"""

import re


def anchor(heading):
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")
