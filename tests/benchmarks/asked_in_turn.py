"""Questions to two versions of clew, asked in turn: milliseconds of the processor, and whether they answer alike.

    python -m tests.benchmarks.asked_in_turn SOURCE... --passages 10000 --before CHECKOUT
    python -m tests.benchmarks.asked_in_turn SOURCE... --passages 10000

Sources are read as `tests.benchmarks.scale` reads them, and an index with the facts of `clew.Names` is saved
by this version. Each version opens it in a process of its own and answers questions of nine words drawn from
the documents by turns; the first of them warm both up. Figures are medians, of a question that was not asked
before, and of the ratio of its two times. Answers are compared with their scores, paths and edges. One thread each:
`OPENBLAS_NUM_THREADS=1`. Without another checkout this one is measured alone.
"""

from __future__ import annotations

import argparse
import os
import pickle
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

from tests.benchmarks.checkouts import THIS
from tests.benchmarks.scale import apart

WARM_UP = 75
BUDGET = 2000
SMOKE = "{folder}/corpus.jsonl --passages 15 --questions 2 --recipes bm25"
ANSWER = """
import os, pickle, sys, time
import clew
from clew.algorithms.kernels.compiled import finish_compiling
index = clew.Index.load(sys.argv[1])
answers = os.fdopen(os.dup(1), "wb")
os.dup2(2, 1)
while True:
    question, recipe, budget = pickle.load(sys.stdin.buffer)
    finish_compiling()
    began = time.process_time()
    context = index.ask(question, recipe=recipe, budget=budget)
    spent = time.process_time() - began
    found = {k: v for k, v in context.to_dict().items() if k not in ("trace", "dropped")}
    pickle.dump((spent, found), answers)
    answers.flush()
"""


class Version:
    """A process that answers with the modules of a folder."""

    def __init__(self, source: Path, index: Path) -> None:
        environment = os.environ | {"PYTHONPATH": str(source), "OPENBLAS_NUM_THREADS": "1"}
        self.process = subprocess.Popen(
            [sys.executable, "-c", ANSWER, str(index)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
        )

    def ask(self, question: str, recipe: str) -> tuple[float, dict[str, Any]]:
        """Return the seconds of the processor, and the answer."""
        given, answers = self.process.stdin, self.process.stdout
        assert given is not None
        assert answers is not None
        pickle.dump((question, recipe, BUDGET), given)
        given.flush()
        found: tuple[float, dict[str, Any]] = pickle.load(answers)
        return found

    def end(self) -> None:
        """End the process."""
        with self.process:
            self.process.kill()


def compare(versions: dict[str, Version], recipe: str, questions: list[str]) -> str:
    """Return a row of the table: the medians, the ratio, and how many answers are different."""
    times: dict[str, list[float]] = {name: [] for name in versions}
    others = 0
    for i, question in enumerate(questions):
        turn = list(versions) if i % 2 else list(versions)[::-1]
        answers = {}
        for name in turn:
            spent, answers[name] = versions[name].ask(question, recipe)
            times[name].append(1000 * spent)
        others += answers["this"] != answers.get("before", answers["this"])
    timed = {name: values[min(WARM_UP, len(values) // 2) :] for name, values in times.items()}
    cells = [f"`{recipe}`", *(f"{median(timed[name]):.1f}" for name in sorted(timed))]
    if "before" in timed:
        pairs = zip(timed["this"], timed["before"], strict=True)
        cells += [f"{median(one / other for one, other in pairs):.3f}", str(others)]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sources", type=Path, nargs="+", metavar="SOURCE")
    parser.add_argument("--passages", type=int, default=10_000)
    parser.add_argument("--questions", type=int, default=200, help="beside those that warm up")
    parser.add_argument("--recipes", nargs="+", default=["hipporag"])
    parser.add_argument("--before", type=Path, help="another checkout of clew, to compare with")
    options = parser.parse_args()
    for source in options.sources:
        if not source.exists():
            raise FileNotFoundError(f"{source} is no folder and no file")
    with tempfile.TemporaryDirectory() as folder:
        file, index = Path(folder, "documents"), Path(folder, "index")
        n = WARM_UP + options.questions
        made = apart("prepare", options.sources, options.passages, n, file)
        built = apart("build_of_file", file, index, True)
        print(f"{built['passages']:,} passages\n")
        sources = {"this": THIS}
        if options.before is not None:
            sources["before"] = options.before / "src"
        versions = {name: Version(source, index) for name, source in sources.items()}
        compared = ["ratio", "other answers"] if "before" in versions else []
        head = ["ms of a question", *sorted(versions), *compared]
        print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}", flush=True)
        for recipe in options.recipes:
            print(compare(versions, recipe, made["questions"]), flush=True)
        for version in versions.values():
            version.end()


if __name__ == "__main__":
    main()
