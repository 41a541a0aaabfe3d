"""A question keeps one core busy: BLAS shares small products among all, and its threads then spin."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import clew

ASK = """
import time
from clew import Document, Index, Names
from clew.algorithms.kernels import compiler
from clew.deadline import Deadline

names = ["Anna Bell", "Ben Carter", "Corfu", "Delphi", "Emma Dale", "Fort Grey"]
texts = [
    f"{names[i % 6]} met {names[i * 5 % 7 % 6]} in year {i} beside harbour {i % 97}, port {i * i}."
    for i in range(10_000)
]
index = Index.from_documents(
    [Document(id=str(i), text=text) for i, text in enumerate(texts)], extractor=Names()
)
for recipe in ("bm25", "dense", "fused", "hipporag", "agrag", "mmr"):
    for warm in range(2):
        index.ask("Where did Anna Bell meet Ben Carter?", recipe=recipe)
    compiler.finish(Deadline.after(60))
    index.ask("Where did Anna Bell meet Ben Carter?", recipe=recipe)
    time.sleep(0.1)
    whole, own = time.process_time(), time.thread_time()
    for year in range(20):
        index.ask(f"Whom did Emma Dale meet in year {year}?", recipe=recipe)
    print(recipe, (time.process_time() - whole) / (time.thread_time() - own))
"""

OVER_A_STORE = """
import time
from langchain_clew import ClewRetriever
from langchain_core.documents import Document
from clew import recipes
from clew.algorithms.kernels import compiler
from clew.deadline import Deadline
from clew.embedding.embedder import fit_default
from tests.benchmarks.dropin import ArrayStore, Counting

first = ["Anna", "Ben", "Cleo", "Dan", "Emma", "Finn", "Greta", "Hugo", "Ida", "Jan", "Kim"]
last = ["Bell", "Carter", "Dale", "Ek", "Fort", "Grey", "Hart", "Ives", "Jones", "Kerr", "Low"]
people = [f"{one} {other}" for one in first for other in last]
texts = [
    f"{people[i % 121]}\\n{people[i % 121]} met {people[i * 7 % 121]} and {people[i * 5 % 121]} "
    f"beside harbour {i % 97}. {people[i * 3 % 121]} of Port {last[i % 11]}dal saw it."
    for i in range(500)
]
store = ArrayStore(Counting(fit_default(texts)[0]))
store.add_documents([Document(text, id=str(i)) for i, text in enumerate(texts)])
for recipe in recipes.names():
    retriever = ClewRetriever.from_vectorstore(store, 50, recipe=recipe)
    for one in people[:4]:
        retriever.invoke(f"Whom did {one} meet?")
    compiler.finish(Deadline.after(60))
    time.sleep(0.15)
    whole, own = time.process_time(), time.thread_time()
    for one in people[20:26]:
        retriever.invoke(f"Whom did {one} meet?")
    ratio = (time.process_time() - whole) / (time.thread_time() - own)
    print("of a store:", recipe, ratio)
"""


def ratios_of(program: str) -> dict[str, float]:
    """Return the time of the process as a share of its thread's, by the name of a recipe."""
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "2", "OMP_NUM_THREADS": "2"}
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]  # a solver prints its licence
    return {line[-2]: float(line[-1]) for line in lines if line[-2:-1] and line[-2] in NAMES}


NAMES = frozenset(clew.recipes.names())


@pytest.mark.slow
def test_a_question_keeps_one_core_busy() -> None:
    cores = ratios_of(ASK)
    assert len(cores) == 6
    assert max(cores.values()) < 1.3, cores


@pytest.mark.slow
def test_a_question_over_a_store_keeps_one_core_busy() -> None:
    cores = ratios_of(OVER_A_STORE)
    assert cores.keys() == NAMES
    assert max(cores.values()) < 1.2, cores
