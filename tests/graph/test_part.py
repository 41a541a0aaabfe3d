"""What is computed once per graph is computed once, also by sixteen threads at a time, and never copied or pickled along."""

from __future__ import annotations

import contextlib
import copy
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pytest

from clew.graph import Edges, Graph

CALLS = []


@dataclass(frozen=True)
class Slow:
    """A part that says when it is made, and asks for another one on its way."""

    name: str

    def compute(self, graph):
        CALLS.append(self.name)
        threading.Event().wait(0.02)
        return object() if self.name == "inner" else graph.part(Slow("inner"))


@pytest.fixture
def graph():
    CALLS.clear()
    return Graph.of(
        ["one", "two", "three"],
        vectors=np.eye(3),
        edges=Edges.of("next", [0, 1], [1, 2]),
        metadata=({"a": 1}, {}, {}),
    )


def test_sixteen_threads_compute_a_part_once(graph):
    start = threading.Barrier(16)

    def ask(_):
        start.wait()
        return graph.part(Slow("outer"))

    with ThreadPoolExecutor(16) as threads:
        found = list(threads.map(ask, range(16)))

    assert sorted(CALLS) == ["inner", "outer"]
    assert all(one is found[0] for one in found)


def test_a_part_that_fails_is_tried_again(graph):
    attempts = []

    @dataclass(frozen=True)
    class Fails:
        def compute(self, graph):
            attempts.append(1)
            if len(attempts) == 1:
                raise RuntimeError("the first time")
            return "made"

    with pytest.raises(RuntimeError, match="the first time"):
        graph.part(Fails())
    assert graph.part(Fails()) == "made"


@pytest.mark.parametrize(
    "copied",
    [lambda g: pickle.loads(pickle.dumps(g)), copy.deepcopy, copy.copy],
    ids=["pickle", "deepcopy", "copy"],
)
def test_a_copy_is_equal_column_by_column_and_has_parts_of_its_own(graph, copied):
    graph.part(Slow("inner"))
    other = copied(graph)
    assert (other.ids, other.texts, list(other.kinds)) == (
        graph.ids,
        graph.texts,
        list(graph.kinds),
    )
    assert [dict(m) for m in other.metadata] == [dict(m) for m in graph.metadata]
    assert np.array_equal(other.vectors, graph.vectors)
    assert np.array_equal(other.edges.heads, graph.edges.heads)
    assert other.count("some words") == graph.count("some words")
    other.part(Slow("inner"))
    assert CALLS == ["inner", "inner"], "nothing computed for the one is handed to the other"
    assert other.links().neighbours(1).tolist() == [0, 2]


def test_the_next_graph_computes_its_own_parts(graph):
    assert graph.links().neighbours(0).tolist() == [1]
    assert replace(graph, edges=Edges.of("next", [0], [2])).links().neighbours(0).tolist() == [2]
    assert graph.with_edges(Edges()).links().neighbours(0).tolist() == []


def test_rows_are_found_by_id_and_an_unknown_id_is_named(graph):
    assert graph.row("2") == 2
    with pytest.raises(KeyError, match="'nine' among the 3"):
        graph.row("nine")


@pytest.mark.parametrize(
    "column", ["vectors", "tokens", "documents", "parents", "previous", "spans", "generated"]
)
def test_no_column_can_be_written(graph, column):
    with pytest.raises(ValueError, match="read-only"):
        getattr(graph, column)[0] = 0


def test_the_callers_array_may_change_afterwards():
    own = np.eye(2, dtype=np.float32)
    graph = Graph.of(["a", "b"], vectors=own)
    own[0] = 0
    assert graph.vectors[0].tolist() == [1, 0]


@dataclass(frozen=True)
class Numbered:
    number: int

    def compute(self, graph):
        CALLS.append(self.number)
        return object()


def test_of_one_class_the_parts_of_least_recent_use_go(graph):
    first = graph.part(Numbered(0))
    for number in range(1, 200):
        graph.part(Numbered(number))
        assert graph.part(Numbered(0)) is first
    assert list(range(200)) == CALLS
    graph.part(Numbered(1))
    assert CALLS[-1] == 1, "it was computed again"
    other = graph.part(Slow("inner"))
    assert graph.part(Slow("inner")) is other, "parts of another class are not pushed out"


def test_a_part_that_takes_long_holds_up_no_other(graph):
    begun, go_on = threading.Event(), threading.Event()

    @dataclass(frozen=True)
    class Long:
        def compute(self, graph):
            begun.set()
            assert go_on.wait(20)
            return "done"

    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(graph.part, Long())
        assert begun.wait(20)
        graph.part(Numbered(7))
        go_on.set()
        assert waiting.result() == "done"


class Interrupting:
    """A part that is interrupted while it is hashed or compared for the n-th time from now on."""

    moment = None

    def __init__(self, name):
        self.name = name

    @classmethod
    def _pass(cls):
        if cls.moment is not None:
            cls.moment -= 1
            if cls.moment == 0:
                raise KeyboardInterrupt

    def __hash__(self):
        self._pass()
        return hash(self.name) % 2

    def __eq__(self, other):
        self._pass()
        return self.name == other.name

    def compute(self, graph):
        return [self.name]


@pytest.mark.parametrize("moment", range(1, 40))
def test_an_interrupt_while_parts_are_compared_leaves_the_others_whole(moment, monkeypatch):
    graph = Graph.of(["one"])
    for name in "abc":
        graph.part(Interrupting(name))
    monkeypatch.setattr(Interrupting, "moment", moment)
    with contextlib.suppress(KeyboardInterrupt):
        for name in "adbec":
            graph.part(Interrupting(name))
    monkeypatch.setattr(Interrupting, "moment", None)
    for name in "abcdefg":
        assert graph.part(Interrupting(name)) == [name]


class Original:
    """An object of the caller's that counts how often somebody measures it."""

    measured = 0

    def __sizeof__(self):
        Original.measured += 1
        return 64


@dataclass(frozen=True)
class OfAnEarlierGraph:
    """A part whose result still needs the graph as it was before it had edges."""

    name: str

    def compute(self, graph):
        return partial(len, graph.unchecked(edges=Edges()))


def test_what_parts_keep_is_measured_without_the_callers_own_objects():
    graph = Graph.of(["one"], originals=(Original(),), metadata=({"own": Original()},))
    for name in ("first", "second"):
        graph.part(OfAnEarlierGraph(name))
    assert graph.kept_bytes > graph.own_bytes
    assert Original.measured == 0
