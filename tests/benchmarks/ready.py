"""A new process: seconds of the processor until it has imported clew, opened an index, and answered.

    python -m tests.benchmarks.ready --folder FOLDER
    python -m tests.benchmarks.ready --folder FOLDER --before CHECKOUT

FOLDER is read once, with names, and the index is saved whole. Then new processes import clew, open it
and ask two questions, by the default recipe; the figures are medians. With the folder of another
checkout of clew, both are measured by turns, each on an index that it has made itself.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from tests.benchmarks.checkouts import parser_of, sources_of

SMOKE = "--folder {folder} --processes 1"
BUILD = """
import sys
import clew
index = clew.Index.from_documents(
    __import__("pathlib").Path(sys.argv[1]),
    splitter=clew.Splitter(tokens=256), extractor=clew.NamesAndSymbols(),
)
index.save(sys.argv[2])
index.ask("How is it done?")
print(len(index.graph.rows("passage")))
"""
OPEN = """
import json, sys, time
began = time.process_time()
import clew
imported = time.process_time()
index = clew.Index.load(sys.argv[1])
opened = time.process_time()
index.ask("How is a graph drawn with labels?")
first = time.process_time()
index.ask("Which error is raised for a negative weight?")
second = time.process_time()
print(json.dumps({
    "import": imported - began, "open": opened - imported, "first question": first - opened,
    "second question": second - first, "until the first answer": first - began,
}))
"""


def run(source: Path, program: str, *arguments: object) -> str:
    """Return what a program prints in a new process that has clew from a folder."""
    # The bytes of compiled modules are kept, as they are where a package is installed.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-c", program, *map(str, arguments)]
    environment |= {"PYTHONPATH": str(source)}
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    return done.stdout


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--processes", type=int, default=15, help="that are measured of each")
    options = parser.parse_args()
    sources = sources_of(options)
    with tempfile.TemporaryDirectory() as name:
        for version, source in sources.items():
            passages = run(source, BUILD, options.folder, Path(name, version)).strip()
            print(f"{version}: {int(passages):,} passages")
        took: dict[str, list[dict[str, float]]] = {version: [] for version in sources}
        for _ in range(options.processes):
            for version, source in sources.items():
                took[version].append(json.loads(run(source, OPEN, Path(name, version))))
    for version, figures in took.items():
        parts = [f"{part} {median(each[part] for each in figures):.3f}" for part in figures[0]]
        print(f"{version}: {', '.join(parts)}")


if __name__ == "__main__":
    main()
