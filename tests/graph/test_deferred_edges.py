"""Edges that are made late are those that would be made at once, and nobody makes them in vain."""

from __future__ import annotations

import copy
import gc
import os
import pickle
import signal
import threading
import weakref
from dataclasses import fields
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.graph import DeferredEdges, Edges, Graph, LateEdges, Ragged, kinds_without

N = 7
EARLY, LATE = ("fact", "next"), ("alike", "similar")
KINDS = (*EARLY, *LATE)
EDGE = st.tuples(st.integers(0, N - 1), st.integers(0, N - 1), st.sampled_from([0.125, 0.5, 1.0]))
PARTS = st.lists(st.tuples(st.sampled_from(KINDS), st.lists(EDGE, max_size=6)), max_size=6).filter(
    lambda parts: any(kind in LATE for kind, _ in parts)
)
CHOSEN = st.none() | st.lists(
    st.sampled_from([*KINDS, "unheard of"]) | st.tuples(st.sampled_from(KINDS), st.just(0.5)),
    max_size=3,
    unique_by=lambda kind: kind if isinstance(kind, str) else kind[0],
)


def edges_of(kind, triples):
    tails, heads, weights = zip(*triples, strict=True) if triples else ((), (), ())
    read_from = Ragged.of([[tail] if tail % 2 else [] for tail in tails])
    return Edges.of(kind, tails, heads, weights, read_from=read_from)


def late(kind, triples):
    return LateEdges(kind, lambda: edges_of(kind, triples))


def both(parts):
    """The same graph, with all edges at once and with some of them late."""
    texts = [f"node {row}" for row in range(N)]
    at_once = Edges.join([edges_of(kind, triples) for kind, triples in parts])
    deferred = DeferredEdges(
        [late(*part) if part[0] in LATE else edges_of(*part) for part in parts]
    )
    return Graph.of(texts, edges=at_once), Graph.of(texts).unchecked(edges=deferred)


def check_alike(one, other):
    """All arrays are of one type, with the same bytes."""
    for column in fields(Edges):
        mine, theirs = getattr(one, column.name), getattr(other, column.name)
        if column.name in ("kinds", "read_from"):
            assert type(mine) is type(theirs)
            names = [one.name for one in fields(mine)]
            pairs = [(getattr(mine, name), getattr(theirs, name)) for name in names]
        else:
            pairs = [(mine, theirs)]
        for a, b in pairs:
            assert (
                a == b if isinstance(a, tuple) else (a.dtype, a.tolist()) == (b.dtype, b.tolist())
            )


@given(PARTS)
def test_they_are_the_edges_that_are_made_at_once(parts):
    at_once, deferred = both(parts)
    check_alike(at_once.edges, deferred.edges)
    assert len(at_once.edges) == len(deferred.edges)
    assert deferred.edges.is_made
    assert not deferred.edges.tails.flags.writeable


@given(PARTS, CHOSEN, st.booleans(), st.sampled_from(["max", "sum"]), st.booleans())
def test_links_are_the_same_and_wait_until_single_edges_are_wanted(
    parts, kinds, directed, merge, other_first
):
    at_once, deferred = both(parts)
    names = KINDS if kinds is None else {k if isinstance(k, str) else k[0] for k in kinds}
    wants_late = kinds is None or bool(set(names) & {kind for kind, _ in parts} & set(LATE))
    if other_first:
        deferred.links(kinds, directed=directed, merge="sum" if merge == "max" else "max")
    mine = deferred.links(kinds, directed=directed, merge=merge)
    assert deferred.edges.is_made == wants_late
    theirs = at_once.links(kinds, directed=directed, merge=merge)
    for name in ("starts", "targets", "weights"):
        assert getattr(mine, name).dtype == getattr(theirs, name).dtype
        assert getattr(mine, name).tolist() == getattr(theirs, name).tolist()
    assert mine.edges.lengths.tolist() == theirs.edges.lengths.tolist()
    assert deferred.edges.is_made == wants_late
    assert mine.edges.values.dtype == theirs.edges.values.dtype
    assert mine.edges.values.tolist() == theirs.edges.values.tolist()
    if kinds is None or len(mine.edges.values):
        assert deferred.edges.is_made


@given(PARTS, st.lists(st.sampled_from(KINDS), max_size=3))
def test_excluded_kinds_are_not_made(parts, excluded):
    at_once, deferred = both(parts)
    mine = deferred.links(kinds_without(deferred, None, tuple(excluded)))
    assert deferred.edges.is_made == bool({kind for kind, _ in parts} & set(LATE) - set(excluded))
    theirs = at_once.links(kinds_without(at_once, None, tuple(excluded)))
    assert mine.targets.tolist() == theirs.targets.tolist()
    assert mine.weights.tolist() == theirs.weights.tolist()


class Counted:
    """Makes one edge, each time anew."""

    def __init__(self, *errors):
        self.times, self.errors = 0, list(errors)

    def __call__(self):
        self.times += 1
        if self.errors:
            raise self.errors.pop()
        return edges_of("similar", [(0, 1, 0.5)])


def test_many_threads_make_them_once():
    make, start = Counted(), threading.Barrier(8)
    edges, found = DeferredEdges([LateEdges("similar", make)]), []

    def read(name):
        start.wait(30)
        found.append(getattr(edges, name))

    names = ["tails", "heads", "kinds", "weights", "facts", "read_from", "tails", "tails"]
    threads = [threading.Thread(target=read, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(found) == 8
    assert make.times == 1


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_an_interrupted_making_leaves_nothing_and_is_begun_again(error):
    make = Counted(error())
    edges = DeferredEdges([edges_of("next", [(1, 2, 1.0)]), LateEdges("similar", make)])
    with pytest.raises(error):
        len(edges)
    assert not edges.is_made
    assert edges.of_kinds(["next"]).heads.tolist() == [2]
    assert edges.heads.tolist() == [2, 1]
    assert edges.tails.tolist() == [1, 0]
    assert make.times == 2


def test_copies_share_them_and_pickled_ones_are_whole():
    make = Counted()
    edges = DeferredEdges([LateEdges("similar", make)])
    graph = Graph.of(["a", "b"]).unchecked(edges=edges)
    assert graph.unchecked(texts=("c", "d")).edges is copy.copy(graph).edges is edges
    sent = pickle.loads(pickle.dumps(graph))
    assert type(sent.edges) is type(copy.deepcopy(edges)) is Edges
    check_alike(sent.edges, edges)
    assert graph.with_edges(Edges()).edges.heads.tolist() == []
    assert make.times == 1


def made_of(nodes):
    return edges_of("similar", [(0, len(nodes) - 1, 0.5)])


def test_what_they_were_made_of_is_let_go():
    nodes, next_edges = Graph.of(["a", "b"]), edges_of("next", [(0, 1, 1.0)])
    edges = DeferredEdges([next_edges, LateEdges("similar", partial(made_of, nodes))])
    links = nodes.unchecked(edges=edges).links(["next"])
    kept = [weakref.ref(one) for one in (nodes, edges.of_kinds(["next"]))]
    del nodes
    gc.collect()
    assert [reference() is None for reference in kept] == [False, False]
    assert len(edges) == 2
    gc.collect()
    assert [reference() is None for reference in kept] == [True, True]
    assert links.edges.values.tolist() == [0, 0]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_child_makes_them_while_another_thread_does():
    begun, go_on = threading.Event(), threading.Event()

    def make():
        if threading.current_thread() is not threading.main_thread():
            begun.set()
            go_on.wait(30)
        return edges_of("similar", [(0, 1, 0.5)])

    edges = DeferredEdges([LateEdges("similar", make)])
    thread = threading.Thread(target=len, args=(edges,))
    thread.start()
    assert begun.wait(10)
    child = os.fork()
    if child == 0:  # pragma: no cover
        signal.alarm(10)
        os._exit(0 if len(edges) == 1 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    go_on.set()
    thread.join(30)
    assert edges.heads.tolist() == [1]
