"""What an engine takes: each step in a new process, on the processor's clock."""

from __future__ import annotations

import os
import pickle
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from clew.processes import end_others
from tests.benchmarks.engines.columns import COLUMNS
from tests.benchmarks.engines.engine import Engine, Question, Row, UnsupportedError
from tests.benchmarks.engines.vectors import VECTORS
from tests.benchmarks.engines.words import WORDS
from tests.benchmarks.reading import processor_seconds
from tests.benchmarks.rivals import require

K = 10
CHANGES = 3  # documents that are added, and deleted, one at a time
LONG = 20.0  # seconds of additions, after which no other follows
GROUPS = 10  # of which a filter allows one
NEW = "Quokkaberry ferries sail at the zwieback hour, number {}."  # words of no other passage
PARTS = ("words", "vectors", "columns")
ENGINES: dict[str, type[Engine]] = {one.name: one for one in (*WORDS, *VECTORS, *COLUMNS)}


@dataclass(frozen=True)
class Corpus:
    """What all engines are given.

    Attributes:
        rows: the passages.
        questions: some questions.
        gold: of each question, the ids of passages that answer it; empty where nobody knows.
    """

    rows: list[Row]
    questions: list[Question]
    gold: list[frozenset[int]]

    @classmethod
    def load(cls, file: Path) -> Corpus:
        """Return the corpus that the process before has written."""
        corpus: Corpus = pickle.loads(file.read_bytes())  # its own file
        return corpus


def rare_word(number: int) -> str:
    """Return a word of no passage, of letters alone: some engines leave digits out."""
    return f"zq{str(number).translate(str.maketrans('0123456789', 'bcdfghjklm'))}zq"


def new_row(number: int, id: int, group: int = 0) -> Row:
    """Return a passage that is like no other."""
    vector = np.random.default_rng(number).standard_normal(384).astype(np.float32)
    return Row(id, NEW.format(rare_word(number)), vector / np.linalg.norm(vector), group)


def question_for(row: Row, number: int) -> Question:
    """Return the question that a new passage alone answers."""
    return Question(rare_word(number), row.vector, row.id)


def timed(function: Callable[..., Any], *arguments: Any) -> tuple[Any, float, float]:
    """Return what a function returns, its seconds of the processor, and by the clock."""
    began, processor = time.perf_counter(), time.process_time()
    result = function(*arguments)
    return result, time.process_time() - processor, time.perf_counter() - began


def load_modules(engine: type[Engine], rows: Sequence[Row] = ()) -> float:
    """Import what the engine needs, and give it its rows; return the import's seconds."""
    began = time.process_time()
    for module in engine.modules:
        require(module)
    took = time.process_time() - began
    engine.prepare(rows)
    return took


def measure_building(engine: type[Engine], corpus: Corpus, folder: Path) -> dict[str, Any]:
    """Return what it takes to build an index in an empty folder, by all processes that do it."""
    load_modules(engine, corpus.rows)
    one = engine()
    before = processor_seconds()
    _, _, wall = timed(one.build, folder, corpus.rows)
    end_others()  # what a process has taken is known when it has ended
    return {"build s": processor_seconds() - before, "build wall s": wall}


def measure_asking(engine: type[Engine], corpus: Corpus, folder: Path) -> dict[str, Any]:
    """Return what opening, asking and changing take in a process that has done nothing else."""
    took: dict[str, Any] = {"import s": load_modules(engine, corpus.rows)}
    one = engine()
    _, opening, _ = timed(one.open, folder)
    _, first, _ = timed(one.ask, corpus.questions[0], K)
    took["open and first s"] = opening + first
    one.ask(corpus.questions[-1], K)
    one.settle()
    answers = [timed(one.ask, question, K) for question in corpus.questions]
    took["question ms"] = 1000 * statistics.median(processor for _, processor, _ in answers)
    took["question wall ms"] = 1000 * statistics.median(wall for *_, wall in answers)
    took["answers"] = [[id for id, _ in hits] for hits, *_ in answers]
    took |= measure_filters(one, corpus.questions)
    return took | measure_changes(one, len(corpus.rows))


def measure_filters(one: Engine, questions: Sequence[Question]) -> dict[str, Any]:
    """Return the milliseconds of the first question under a new filter, and of the next ones."""
    try:
        asked = [timed(one.ask, question, K, GROUPS - 1)[1] for question in questions[:21]]
    except UnsupportedError:
        return {}
    return {
        "first filtered ms": 1000 * asked[0],
        "filtered ms": 1000 * statistics.median(asked[1:] or asked),
    }


def measure_changes(one: Engine, n: int) -> dict[str, Any]:
    """Return the milliseconds of adding and deleting a document durably."""
    took: dict[str, Any] = {}
    new = [new_row(number, n + number) for number in range(CHANGES)]
    added: list[tuple[Any, float, float]] = []
    for row in new:
        added.append(timed(one.add, [row]))
        if sum(wall for *_, wall in added) > LONG:
            break
    new = new[: len(added)]
    for number, row in enumerate(new):
        found = one.ask(question_for(row, number), K)
        assert found[0][0] == row.id, f"the new passage {row.id} is not found: {found}"
    took |= summary_of("add", added)
    try:
        took |= summary_of("delete", [timed(one.delete, [row.id]) for row in new])
    except UnsupportedError as error:
        return took | {"delete": str(error)}
    for number, row in enumerate(new):
        found = one.ask(question_for(row, number), K)
        assert row.id not in [id for id, _ in found], f"the deleted {row.id} is found: {found}"
    return took


def summary_of(name: str, took: Sequence[tuple[Any, float, float]]) -> dict[str, float]:
    return {
        f"{name} ms": 1000 * statistics.median(processor for _, processor, _ in took),
        f"{name} wall ms": 1000 * statistics.median(wall for *_, wall in took),
    }


def bytes_in(folder: Path) -> int:
    """Return the bytes of the files below a folder."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def hits_of(answers: Sequence[Sequence[int]], gold: Sequence[frozenset[int]]) -> float | None:
    """Return the share of questions that one of their ten passages answers; None if nobody knows."""
    known = [(own, right) for own, right in zip(answers, gold, strict=True) if right]
    if not known:
        return None
    return sum(not right.isdisjoint(own) for own, right in known) / len(known)


def exact_answers(corpus: Corpus) -> list[list[int]]:
    """Return the ten nearest of each question, of all products in double precision."""
    vectors = np.array([row.vector for row in corpus.rows], np.float64)
    products = vectors @ np.array([one.vector for one in corpus.questions], np.float64).T
    best = np.argsort(-products, axis=0, kind="stable")[:K].T
    return [[corpus.rows[place].id for place in places] for places in best.tolist()]


def shared(answers: Sequence[Sequence[int]], exact: Sequence[Sequence[int]]) -> float:
    """Return the mean share of the nearest that were found."""
    pairs = zip(answers, exact, strict=True)
    return float(np.mean([len({*own} & {*right}) / len(right) for own, right in pairs]))


def step_command(step: str, engine: str, corpus: Path, place: Path, start: int = 0) -> list[str]:
    """Return the command of a process that takes one step."""
    command = [sys.executable, "-m", "tests.benchmarks.engines.steps"]
    return [*command, step, engine, str(corpus), str(place), str(start)]


def one_thread() -> dict[str, str]:
    """Return the environment of a process in which libraries of arrays have one thread."""
    return os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
