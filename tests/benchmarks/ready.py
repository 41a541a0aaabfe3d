"""A new process: seconds until it has imported clew, opened an index, and answered, and those of its next questions.

    python -m tests.benchmarks.ready --folder FOLDER
    python -m tests.benchmarks.ready --folder FOLDER --as-it-comes --before CHECKOUT
    python -m tests.benchmarks.ready --folder FOLDER --change
    python -m tests.benchmarks.ready --folder FOLDER --changed 10

FOLDER is read once, with names or, `--as-it-comes`, without, the index is saved whole, and so is the machine code of what questions call.
Then new processes import clew, open it and ask twelve questions one after the other, by the default recipe, but for
those that nothing in FOLDER answers, which do not bind the recipe. With `--change` they ask one question, and
then add two documents of two lines, one after the other. With `--changed` the index that they open was changed in place before: so many
of the shortest documents got a line more, one after the other, each change saved by itself. The
figures are medians, in brackets the least and the worst; those of the processor are of all threads. With the folder of
another checkout of clew, both are measured by turns, each on an index that it has made itself.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from itertools import pairwise
from pathlib import Path
from statistics import median

from tests.benchmarks.checkouts import parser_of, sources_of

SMOKE = "--folder {folder} --processes 1"
QUESTIONS = (
    "How is a graph drawn with labels?",
    "Which error is raised for a negative weight?",
    "How is a table of commas read?",
    "What does a socket do when it is closed?",
    "How are threads joined?",
    "When is a weak reference dead?",
    "Who decides about a proposal?",
    "What is an asynchronous generator?",
    "How are archives named?",
    "Why are annotations not evaluated?",
    "What may an index serve?",
    "How are texts formatted?",
)
BUILD = """
import json, sys
import clew
from clew.algorithms.kernels.compiled import finish_compiling
index = clew.Index.from_documents(
    __import__("pathlib").Path(sys.argv[1]),
    splitter=clew.Splitter(tokens=256), extractor=eval(sys.argv[4]),
)
index.save(sys.argv[2])
print(len(index.graph.rows("passage")))
index = clew.Index.load(sys.argv[2])
for question in json.loads(sys.argv[3]):
    if index.ask(question).ids:
        print(question)
    finish_compiling()
"""
CHANGE = """
import json, sys, time
import clew
index = clew.Index.load(sys.argv[1])
index.ask(json.loads(sys.argv[2])[0])
moments = [(time.process_time(), time.perf_counter())]
for name in ("Anna", "Ben"):
    text = f"{name} keeps the bees.\\nThe hives stand behind the mill."
    index = index.add([clew.Document(f"notes/{name}.txt", text)])
    moments.append((time.process_time(), time.perf_counter()))
print(json.dumps(moments))
"""
SAVED_CHANGES = """
import sys
import clew
index = clew.Index.load(sys.argv[1])
for one in sorted(index.documents, key=lambda one: (len(one.text), one.id))[: int(sys.argv[2])]:
    text = f"{one.text}\\n\\nThe hives stand behind the mill.\\n"
    index = index.upsert([clew.Document(one.id, text, one.metadata, format=one.format)])
    index.save(sys.argv[1])
"""
OPEN = """
import json, sys, time
def now():
    return time.process_time(), time.perf_counter()
moments = [now()]
import clew
moments.append(now())
index = clew.Index.load(sys.argv[1])
moments.append(now())
for question in json.loads(sys.argv[2]):
    index.ask(question)
    moments.append(now())
print(json.dumps(moments))
"""


def figures_of(moments: list[tuple[float, float]]) -> dict[str, float]:
    """Return the figures of a process, by name."""
    processor, clock = (
        [after[i] - before[i] for before, after in pairwise(moments)] for i in range(2)
    )
    if len(processor) == 2:
        names = ("first change", "second change")
        clocks = (f"{one} by the clock" for one in names)
        return dict(zip((*names, *clocks), (*processor, *clock), strict=True))
    return {
        "import": processor[0],
        "open": processor[1],
        "first question": processor[2],
        "until the first answer": sum(processor[:3]),
        "by the clock": sum(clock[:3]),
        "second question": processor[3],
        "second by the clock": clock[3],
        "slowest of the next by the clock": max(clock[3:]),
        "all of the next": sum(processor[3:]),
        "all by the clock": sum(clock[3:]),
    }


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
    parser.add_argument("--as-it-comes", action="store_true", help="with symbols alone")
    parser.add_argument("--change", action="store_true", help="measure the first change")
    parser.add_argument("--changed", type=int, default=0, help="documents that changed before")
    options = parser.parse_args()
    sources, program = sources_of(options), CHANGE if options.change else OPEN
    with tempfile.TemporaryDirectory() as name:
        questions = list(QUESTIONS)
        extractor = "clew.NamesWhereMany()" if options.as_it_comes else "clew.NamesAndSymbols()"
        for version, source in sources.items():
            arguments = options.folder, Path(name, version), json.dumps(QUESTIONS), extractor
            passages, *answered = run(source, BUILD, *arguments).splitlines()
            questions = [question for question in questions if question in answered]
            print(f"{version}: {int(passages):,} passages, {len(answered)} questions")
            if options.changed:
                run(source, SAVED_CHANGES, Path(name, version), options.changed)
        if len(questions) < 2:  # of a folder that is about something else
            questions = list(QUESTIONS)
        took: dict[str, list[dict[str, float]]] = {version: [] for version in sources}
        for _ in range(options.processes):
            for version, source in sources.items():
                moments = run(source, program, Path(name, version), json.dumps(questions))
                took[version].append(figures_of(json.loads(moments)))
    for version, figures in took.items():
        print(f"{version}:")
        for part in figures[0]:
            own = [each[part] for each in figures]
            print(f"    {part} {median(own):.3f} ({min(own):.3f}, {max(own):.3f})")


if __name__ == "__main__":
    main()
