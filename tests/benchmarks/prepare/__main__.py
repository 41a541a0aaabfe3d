"""Print the commands that bring all clones and packages: python -m tests.benchmarks.prepare SOURCES | sh"""

from __future__ import annotations

import sys

from tests.benchmarks.prepare.sets import CHECKOUTS, PACKAGES

if len(sys.argv) != 2:
    sys.exit("name the folder of clones: python -m tests.benchmarks.prepare SOURCES")
for source in (*CHECKOUTS, *PACKAGES):
    print(source.commands(sys.argv[1]))
