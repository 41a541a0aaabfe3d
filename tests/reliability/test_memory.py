"""What an index keeps of past questions is bounded, however different they are."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from clew import Document, Index, order, seed, select
from clew.graph import Graph
from clew.graph.graph import MAX_RESULTS
from clew.pipeline import Pipeline

DOCUMENTS = [
    Document(f"d{i}", f"Passage {i} tells of hall {i % 40} and of the sea.", {"hall": i % 40})
    for i in range(60)
]


def recipe(i):
    return Pipeline(seed.BM25(k1=1.0 + i / 1000), selects=(select.Top(5),), order=order.ByPrize())


@pytest.mark.parametrize("questions", [96, pytest.param(960, marks=pytest.mark.slow)])
def test_many_recipes_filters_and_questions_level_off(embed, questions):
    """The small form of what it is for: 100,000 questions with 1,000 recipes and 1,000 filters."""
    index = Index.from_documents(DOCUMENTS, embedder=embed, links=())
    parts, kept = index.graph._parts, []
    for i in range(questions):
        index.ask(f"What of hall {i}?", recipe=recipe(i), budget=60)
        if i % 8 == 0:
            index.ask(f"What of hall {i}?", recipe="bm25", where={"hall": i // 8}, budget=60)
        if i % (questions // 3) == questions // 3 - 1:
            kept.append({kind: len(results) for kind, results in parts._results.items()})
    assert kept[-1] == kept[-2]
    assert max(kept[-1].values()) <= MAX_RESULTS
    assert not parts._locks


@dataclass(frozen=True)
class Failing:
    """A part that cannot be computed."""

    number: int

    def compute(self, graph):
        raise ValueError("it cannot be computed")


def test_parts_that_fail_leave_nothing_behind():
    graph = Graph.of(["the sea"])
    for i in range(50):
        with pytest.raises(ValueError, match="cannot be computed"):
            graph.part(Failing(i))
    assert not graph._parts._locks
