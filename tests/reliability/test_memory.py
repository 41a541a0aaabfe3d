"""What an index keeps of past questions is bounded, however different they are."""

from __future__ import annotations

import logging
from dataclasses import dataclass

import numpy as np
import pytest

from clew import AnswerCache, Document, Index, order, seed, select
from clew.graph import Graph, part_cache
from clew.graph.part_cache import MAX_RESULTS
from clew.index.filtering import FilteredIndexesPart
from clew.pipeline import Pipeline
from tests.reliability import memory

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


@dataclass(frozen=True)
class Large:
    """A part of a megabyte of its own, behind a function, and of what another part has."""

    number: int

    def compute(self, graph):
        own, shared = np.zeros(2**17), graph.part(Shared())
        return lambda: (own, shared, graph.vectors)


@dataclass(frozen=True)
class Shared:
    """A part that others hold, too."""

    def compute(self, graph):
        return np.ones(2**20)


def test_results_of_a_class_of_part_are_bounded_by_their_bytes(monkeypatch):
    monkeypatch.setattr(part_cache, "MAX_BYTES", 9 * 2**19)
    graph = Graph.of(["the sea"])
    shared = graph.part(Shared())
    for number in range(12):
        graph.part(Large(number))
        graph.part(Large(0))  # which is in use, and stays
    kept = [part.number for part in graph._parts._results[Large]]
    assert sorted(kept) == [0, 9, 10, 11]  # a fifth would be above four and a half megabytes
    assert graph.part(Shared()) is shared
    assert 12 * 2**20 <= graph.kept_bytes <= 12.1 * 2**20
    assert set(graph._parts._sizes) == {Large(n) for n in kept} | {Shared()}


def test_results_that_are_small_with_all_that_they_share_are_measured_when_somebody_asks():
    graph = Graph.of(["the sea", "an island"])
    graph.links(), graph.links(directed=True)
    assert not graph._parts._sizes
    assert graph.kept_bytes > graph.own_bytes
    assert len(graph._parts._sizes) >= 2


def test_filtered_indexes_are_bounded_by_their_bytes(embed):
    index = Index.from_documents(DOCUMENTS, embedder=embed, links=())
    counts = {}
    for max_bytes in (1, 2**30):
        cache = FilteredIndexesPart(max_bytes=max_bytes).compute(index.graph)
        for number in range(20):
            allowed = np.arange(60) % 20 != number
            cache.get(index, allowed, lambda whole, mask: whole.filtered(lambda m: m["hall"] < 20))
        counts[max_bytes] = len(cache.indexes)
    assert counts[2**30] == 8
    assert counts[1] <= 2  # twice the bytes of the graph that is filtered is the least bound


def test_answers_in_memory_are_bounded_and_it_is_logged(caplog):
    cache = AnswerCache(max_bytes=10_000)
    with caplog.at_level(logging.WARNING, "clew"):
        for number in range(40):
            cache.put("model", f"{number}", "a" * 1000)
            assert cache.get("model", "0") == "a" * 1000  # the one in use stays
    found = [n for n in range(40) if cache.get("model", f"{n}") is not None]
    assert found[0] == 0
    assert found[1:] == list(range(41 - len(found), 40))
    assert 5 <= len(found) <= 10
    assert caplog.text.count("are forgotten") == 1


@pytest.mark.slow
def test_the_command_finds_that_memory_levels_off(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["memory", *memory.SMOKE.split()])
    assert memory.main() == 0
    assert capsys.readouterr().out.count("\n") == 12
