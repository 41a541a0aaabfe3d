"""An index that changes: time to add and delete a document, against building; answers, against a rebuild.

    python -m tests.benchmarks.changes --folder FOLDER --questions FILE
    python -m tests.benchmarks.changes --folder FOLDER --questions FILE --share .02 --embedder hashed

The index is built of all documents but a share, which are then added one by one; as many others are
deleted one by one. Then it is asked, and so is an index that is built at once of what is left: the
share of questions with the same first passage, with the same five in the same order, and how many of
the five they share. Questions are lines of JSON with a "question". The index is saved, and opened and
asked once in a new process. Times are processor time, which a busy machine moves less.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import clew
from clew.cli.source import TOKENS
from clew.measure.files import read_lines
from clew.read import Splitter
from tests.benchmarks.indexing import hashed_words

RECIPES = ("bm25", "fused", clew.recipes.DEFAULT)
FIVE = 5
OPENING = """
import sys, time
import clew
started = time.process_time()
index = clew.Index.load(sys.argv[1], embedder=None)
opened = time.process_time()
index.ask("How is it done?")
print(f"{opened - started:.3f} {time.process_time() - opened:.3f}")
"""


def timed(function: Callable[[], Any]) -> tuple[Any, float]:
    """Return what a function returns, and its seconds of processor time."""
    started = time.process_time()
    result = function()
    return result, time.process_time() - started


def described(seconds: Sequence[float]) -> str:
    milliseconds = 1000 * np.array(seconds)
    return f"{np.median(milliseconds):.0f} ms in the median, {milliseconds.max():.0f} at most"


def compare(changed: clew.Index, whole: clew.Index, questions: Sequence[str]) -> None:
    """Print how far the answers of two indexes of the same documents agree."""
    for recipe in RECIPES:
        pairs = [
            tuple(index.ask(text, recipe=recipe, limit=FIVE).ids for index in (changed, whole))
            for text in questions
        ]
        first = np.mean([one[:1] == other[:1] for one, other in pairs])
        order = np.mean([one == other for one, other in pairs])
        common = np.mean([len({*one} & {*other}) / max(len(other), 1) for one, other in pairs])
        print(
            f"{recipe}: the same first {first:.3f}, five in order {order:.3f}, common {common:.3f}"
        )


SMOKE = "--folder {folder} --questions {folder}/everyday.jsonl --share .2"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--questions", type=Path, required=True)
    parser.add_argument("--share", type=float, default=0.04, help="of the documents, that change")
    parser.add_argument("--embedder", choices=("default", "hashed"), default="default")
    options = parser.parse_args()
    if not options.folder.is_dir():
        raise FileNotFoundError(f"{options.folder} is no folder")
    questions = [record["question"] for _, record in read_lines(options.questions)]
    embedder = hashed_words if options.embedder == "hashed" else None

    def build(documents: object) -> clew.Index:
        index = clew.Index.from_documents(
            documents, splitter=Splitter(tokens=TOKENS), embedder=embedder
        )
        index.ask(questions[0])
        return index

    documents = list(build(options.folder).documents)
    random.Random(1).shuffle(documents)
    n = max(1, round(options.share * len(documents)))
    index, building = timed(lambda: build(documents[:-n]))
    passages = len(index.graph.rows("passage"))
    print(f"{len(index):,} documents, {passages:,} passages, built and asked in {building:.2f} s")
    adding, deleting = [], []
    for document in documents[-n:]:
        index, seconds = timed(lambda now=index, one=document: now.add([one]))
        adding.append(seconds)
    for document in documents[:n]:
        index, seconds = timed(lambda now=index, one=document: now.delete(one.id))
        deleting.append(seconds)
    print(f"a document added: {described(adding)}; deleted: {described(deleting)}")
    _, seconds = timed(lambda: index.ask(questions[0]))
    print(f"the first question after a change: {1000 * seconds:.0f} ms")
    compare(index, build(documents[n:]), questions)
    if embedder is None:
        with tempfile.TemporaryDirectory() as folder:
            _, seconds = timed(lambda: index.save(folder))
            answer = subprocess.run(
                [sys.executable, "-c", OPENING, folder], check=True, capture_output=True, text=True
            )
            opening, asking = answer.stdout.split()
        print(
            f"saved in {seconds:.2f} s; in a new process opened in {opening} s, asked in {asking}"
        )


if __name__ == "__main__":
    main()
