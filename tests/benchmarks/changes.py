"""An index that changes: time to add and delete a document, against building; answers, against a rebuild.

    python -m tests.benchmarks.changes --folder FOLDER --questions FILE
    python -m tests.benchmarks.changes --folder FOLDER --questions FILE --share .02 --embedder hashed
    python -m tests.benchmarks.changes --folder FOLDER --questions FILE --extractor names
    python -m tests.benchmarks.changes --folder FOLDER --questions FILE --extractor names --only-saves
    python -m tests.benchmarks.changes --folder FOLDER --questions FILE --share .03 --only-questions

The index is built of all documents but a share, which are then added one by one; as many others are
deleted one by one. Then it is asked, and so is an index that is built at once of what is left: the
share of questions with the same first passage, with the same five in the same order, and how many of
the five they share. Questions are lines of JSON with a "question". The index is saved, and opened,
asked and changed once in a new process. Then it is saved after each of some changes, beside which it is saved whole,
and opened with one change after the whole generation, with ten, and with as many as there may be. With
`--only-saves` nothing else is done, and each passage is a document of its own, of which one comes, changes
or goes before each save; at last one is saved that counts as too large. With `--only-questions` a document comes, changes or goes in turn, and two questions
are asked after each: the first finds out again what the change has made unknown. With `--loaded`, too, the index
is saved and loaded before. Times are processor time, which a busy machine moves less.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

import clew
from clew.cli.source import TOKENS
from clew.index.in_place import MAX_CHANGED
from clew.measure.files import read_lines
from clew.read import Splitter, read_passages
from clew.store import saving
from clew.store.saving import MAX_CHANGES
from clew.store.whole_beside import WRITERS
from tests.benchmarks.indexing import hashed_words

RECIPES = ("bm25", "fused", clew.recipes.DEFAULT)
FIVE = 5
EXTRACTORS = {
    "none": None,
    "names": clew.Names(),
    "symbols": clew.Symbols(),
    "both": clew.NamesAndSymbols(),
}
OPENING = """
import sys, time
import clew
started = time.process_time()
index = clew.Index.load(sys.argv[1], embedder=None)
opened = time.process_time()
index.ask("How is it done?")
asked = time.process_time()
index = index.add([clew.Document("a new one", "The changes of Corfu are new.")])
added = time.process_time()
print(f"{opened - started:.3f} {asked - opened:.3f} {added - asked:.3f}")
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


def written(folder: Path, save: Callable[[], None]) -> tuple[float, float]:
    """Return the seconds that a save takes, and the MB that it adds to the folder."""
    before = {file for file in folder.rglob("*") if file.is_file()}
    _, seconds = timed(save)
    new = {file for file in folder.rglob("*") if file.is_file()} - before
    return seconds, sum(file.stat().st_size for file in new) / 1e6


def opened(folder: Path, embedder: object) -> float:
    """Return the seconds that opening takes, the least of five."""
    return min(timed(lambda: clew.Index.load(folder, embedder=embedder))[1] for _ in range(5))


def next_change(
    index: clew.Index, n: int, spare: Sequence[clew.Document]
) -> tuple[str, clew.Index]:
    """Return the n-th change of an index, and the index after it: one document each."""
    one = index.documents[7 * n % len(index)]
    new = spare[n % len(spare)]
    kind = ("added", "changed", "deleted")[n % 3]
    if kind == "added":
        return kind, index.add([clew.Document(f"{new.id} {n}", new.text, format=new.format)])
    if kind == "deleted":
        return kind, index.delete(one.id)
    changed = clew.Document(one.id, f"{one.text}\n\nIt is {n}.", one.metadata, format=one.format)
    return kind, index.upsert([changed])


def save_changes(index: clew.Index, spare: Sequence[clew.Document], embedder: object) -> None:
    """Print what saving costs after a change, and opening after several."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        index.save(folder)
        index = clew.Index.load(folder, embedder=embedder)
        whole = [written(folder, lambda: replace(index, saved_as=None).save(folder)) for _ in "123"]
        seconds, size = np.median(whole, axis=0)
        print(f"saved whole: {1000 * seconds:.0f} ms, {size:.2f} MB; ", end="")
        index = clew.Index.load(folder, embedder=embedder)
        print(f"opened in {1000 * opened(folder, embedder):.0f} ms")
        costs: dict[str, list[tuple[float, ...]]] = {}
        passages = len(index.graph.rows("passage"))
        for n in range(MAX_CHANGES + 1):
            (kind, index), changing = timed(lambda now=index, i=n: next_change(now, i, spare))
            if index.saved_as is None or index.changed > MAX_CHANGED * passages:
                print(f"built whole after {n} changes")
                break
            seconds, size = written(folder, lambda now=index: now.save(folder))
            if n == MAX_CHANGES:
                print(f"with one more they become one: {1000 * seconds:.0f} ms, {size:.2f} MB")
            else:
                costs.setdefault(kind, []).append((changing, seconds, size))
            if n + 1 in (1, 10, MAX_CHANGES, MAX_CHANGES + 1):
                seconds = opened(folder, embedder)
                print(f"opened after {n + 1} changes: {1000 * seconds:.0f} ms")
        question = " ".join(spare[0].text.split()[:10])
        save_beyond_the_limit(next_change(index, 1, spare)[1], folder, question)
        for kind, some in costs.items():
            changing, seconds, size = np.median(some, axis=0)
            least = 1000 * np.min(some, axis=0)
            print(
                f"one document {kind}: {1000 * changing:.0f} ms in the median, {least[0]:.0f} at "
                f"least; then saved in {1000 * seconds:.0f}, {least[1]:.0f} at least, {size:.2f} MB"
            )


def save_beyond_the_limit(index: clew.Index, folder: Path, question: str) -> None:
    """Print what a save takes after which a thread writes the index whole, and questions beside it."""
    index.ask(question)  # what the first one makes is there then
    names = ("MAX_SHARE", "MAX_BYTES", "MIN_BYTES_BESIDE")  # the next change is too large
    with patch.multiple(saving, **dict.fromkeys(names, 0)):
        seconds, size = written(folder, lambda: index.save(folder))
    begun, waits = time.perf_counter(), list[float]()
    while WRITERS.is_at_work(folder):
        asked = time.perf_counter()
        index.ask(question)
        waits.append(1000 * (time.perf_counter() - asked))
    whole = time.perf_counter() - begun
    print(f"where they are too large: {1000 * seconds:.0f} ms, {size:.2f} MB", end="")
    if waits:
        print(
            f"; a thread writes the index whole in {whole:.1f} s by the clock, and {len(waits)} questions "
            f"beside it take {np.median(waits):.0f} ms in the median, {max(waits):.0f} at most",
            end="",
        )
    print()


def ask_after_changes(
    index: clew.Index, spare: Sequence[clew.Document], questions: Sequence[str]
) -> None:
    """Print what a change of one document costs, and the two questions after it."""
    costs: dict[str, list[tuple[float, ...]]] = {}
    for n in range(3 * (len(spare) + 1)):
        (kind, index), changing = timed(lambda now=index, i=n: next_change(now, i, spare))
        some = [questions[(2 * n + i) % len(questions)] for i in range(2)]
        asking = [timed(lambda now=index, text=text: now.ask(text))[1] for text in some]
        if n >= 3:  # what is computed once, and machine code that is loaded, is there then
            costs.setdefault(kind, []).append((changing, *asking))
    print(f"milliseconds of {len(spare)} changes of each kind, the median (the least)")
    for kind, rows in costs.items():
        middle, least = 1000 * np.median(rows, axis=0), 1000 * np.min(rows, axis=0)
        columns = [f"{a:.0f} ({b:.0f})" for a, b in zip(middle, least, strict=True)]
        print(f"one document {kind}: {columns[0]}; the first question {columns[1]}, ", end="")
        print(f"the second {columns[2]}")


SMOKE = "--folder {folder} --questions {folder}/everyday.jsonl --share .2"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--questions", type=Path, required=True)
    parser.add_argument("--share", type=float, default=0.04, help="of the documents, that change")
    parser.add_argument("--embedder", choices=("default", "hashed"), default="default")
    parser.add_argument("--extractor", choices=tuple(EXTRACTORS), default="none")
    parser.add_argument("--only-saves", action="store_true", help="time changes and saves alone")
    parser.add_argument("--only-questions", action="store_true", help="time changes and questions")
    parser.add_argument("--loaded", action="store_true", help="with --only-questions")
    parser.add_argument("--passages", type=int, help="at most, with --only-saves")
    options = parser.parse_args()
    if not options.folder.is_dir():
        raise FileNotFoundError(f"{options.folder} is no folder")
    questions = [record["question"] for _, record in read_lines(options.questions)]
    embedder = hashed_words if options.embedder == "hashed" else None

    def build(documents: object) -> clew.Index:
        index = clew.Index.from_documents(
            documents,
            splitter=Splitter(tokens=TOKENS),
            embedder=embedder,
            extractor=EXTRACTORS[options.extractor],
        )
        index.ask(questions[0])
        return index

    if options.only_saves:
        found = read_passages(options.folder, splitter=Splitter(tokens=TOKENS))
        texts = list(dict.fromkeys(passage.text for passage in found))[: options.passages]
        apart = [clew.Document(str(i), text) for i, text in enumerate(texts)]
        n = max(1, round(options.share * len(apart)))
        save_changes(build(apart[n:]), apart, embedder)
        return
    documents = list(build(options.folder).documents)
    random.Random(1).shuffle(documents)
    n = max(1, round(options.share * len(documents)))
    if options.only_questions:
        index = build(documents[:-n])
        with tempfile.TemporaryDirectory() as folder:
            if options.loaded:
                index.save(folder)
                index = clew.Index.load(folder, embedder=embedder)
                index.ask(questions[0])
            ask_after_changes(index, documents[-n:], questions)
        return
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
    upserting = []
    for document in documents[n : 2 * n]:
        new = clew.Document(document.id, f"{document.text}\n\nIt is new.", format=document.format)
        upserting.append(timed(lambda now=index, one=new: now.upsert([one]))[1])
    print(f"a document changed: {described(upserting)}")
    if index.knowledge is not None:
        tables = index.knowledge.tables.values()
        rows, letters = sum(map(len, tables)), sum(len(text) for table in tables for text in table)
        print(f"learnt: {rows:,} counts of {letters / 1e6:.2f} million letters")
    print(f"{index.changed:,} passages changed since it was built whole")
    _, seconds = timed(lambda: index.ask(questions[0]))
    print(f"the first question after a change: {1000 * seconds:.0f} ms")
    compare(index, build(documents[n:]), questions)
    if embedder is None:
        with tempfile.TemporaryDirectory() as folder:
            _, seconds = timed(lambda: index.save(folder))
            answer = subprocess.run(
                [sys.executable, "-c", OPENING, folder], check=True, capture_output=True, text=True
            )
            opening, asking, changing = answer.stdout.split()
        print(
            f"saved in {seconds:.2f} s; in a new process opened in {opening} s, asked in {asking}, "
            f"first changed in {changing}"
        )
    save_changes(build(documents[n:]), documents, embedder)


if __name__ == "__main__":
    main()
