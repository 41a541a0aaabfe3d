"""The first question after an installation: how long it takes, and how far it runs past a deadline.

    python -m tests.benchmarks.first_question FOLDER [--passages 50,200] [--recipes agrag,budgeted] [--deadline 0.5]

FOLDER is a benchmark folder (see `clew.measure.benchmark`), of whose passages the first so many are indexed with their
facts and vectors. Each recipe is asked in processes of its own whose folder for machine code is empty, once without a
deadline and once with one. The columns:

    first     wall seconds of the first question; `cpu` are those of the processor, of all threads
    second    milliseconds of the same question again, once nothing is being compiled any more (median of nine)
    overrun   seconds that the first question of another process took beyond the deadline
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import clew
from clew.measure import Benchmark

REPEATS = 9
SMOKE = "{folder} --passages 8 --recipes bm25"


def ask_first(folder: Path, passages: int, recipe: str, deadline: float | None) -> None:
    """Ask the first question of this process, and print what it took."""
    data = Benchmark.open(folder)
    documents = data.documents[:passages]
    ids = {document.id for document in documents}
    facts = {id: triples for id, triples in data.facts.items() if id in ids}
    index = clew.Index.from_documents(documents, facts=facts, embedder=data.embedder)
    question = data.questions[0].text
    wall, processor = time.perf_counter(), time.process_time()
    index.ask(question, recipe=recipe, deadline=deadline)
    took = {"first": time.perf_counter() - wall, "cpu": time.process_time() - processor}
    if deadline is None:
        took["second"] = _seconds_again(index, question, recipe)
    print(json.dumps(took))


def _seconds_again(index: clew.Index, question: str, recipe: str) -> float:
    try:
        from clew.algorithms.kernels.compiled import finish_compiling
    except ImportError:  # an earlier version, which compiles before it answers
        pass
    else:
        finish_compiling()
    times = []
    for _ in range(REPEATS):
        wall = time.perf_counter()
        index.ask(question, recipe=recipe)
        times.append(time.perf_counter() - wall)
    return median(times)


def in_new_process(
    folder: Path, passages: int, recipe: str, deadline: float | None
) -> dict[str, float]:
    """Return what a first question takes in a process without stored machine code."""
    arguments = [str(folder), "--passages", str(passages), "--recipes", recipe, "--here"]
    if deadline is not None:
        arguments += ["--deadline", str(deadline)]
    with tempfile.TemporaryDirectory() as empty:
        done = subprocess.run(
            [sys.executable, "-m", "tests.benchmarks.first_question", *arguments],
            env={**os.environ, "NUMBA_CACHE_DIR": empty},
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        raise SystemExit(done.stderr)
    took: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return took


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--passages", default="50,200")
    parser.add_argument("--recipes", default=",".join(clew.recipes.names()))
    parser.add_argument("--deadline", type=float)
    parser.add_argument("--here", action="store_true", help="in this process, without a table")
    options = parser.parse_args()
    recipes = options.recipes.split(",")
    if options.here:
        ask_first(options.folder, int(options.passages), recipes[0], options.deadline)
        return
    Benchmark.open(options.folder)  # what is wrong with the folder is told before the table
    deadline = options.deadline or 0.5
    print(f"{'recipe':24} {'passages':>8} {'first':>7} {'cpu':>7} {'second':>8} {'overrun':>8}")
    for passages in map(int, options.passages.split(",")):
        for recipe in recipes:
            free = in_new_process(options.folder, passages, recipe, None)
            bound = in_new_process(options.folder, passages, recipe, deadline)
            print(
                f"{recipe:24} {passages:8} {free['first']:6.2f}s {free['cpu']:6.2f}s "
                f"{1000 * free['second']:6.1f}ms {max(0.0, bound['first'] - deadline):7.2f}s",
                flush=True,
            )


if __name__ == "__main__":
    main()
