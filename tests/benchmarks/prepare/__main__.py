"""Print the commands that bring all clones: python -m tests.benchmarks.prepare SOURCES | sh"""

from __future__ import annotations

import sys

from tests.benchmarks.prepare.sets import CHECKOUTS

if len(sys.argv) != 2:
    sys.exit("name the folder of clones: python -m tests.benchmarks.prepare SOURCES")
for checkout in CHECKOUTS:
    print(checkout.commands(sys.argv[1]))
