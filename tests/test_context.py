"""A context's edges and what it dropped are made when they are first asked for."""

import copy
import gc
import pickle
import weakref
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier

import numpy as np
import pytest

import clew
from clew.context import Context
from clew.explain import paths_to_nodes
from clew.graph import DeferredEdges, Edges, Graph, LateEdges
from clew.items import ContextEdge, Dropped, Hop, Item
from clew.types import Seeds, Subgraph

TEXTS = [
    "Anna paints boats in Corfu.",
    "Anna met Ben in Corfu.",
    "Ben sells boats.",
    "Anna met Ben in Corfu.",
    "Cleo counts the boats that Ben sells.",
]
DOCUMENTS = [clew.Document(text=text, id=f"{i}.md") for i, text in enumerate(TEXTS)]
MADE = ContextEdge("a", "b", "next", 1.0), Dropped("c", "too long")


def ask(**options):
    index = clew.Index.from_documents(DOCUMENTS, extractor=clew.Names())
    return index, index.ask("Who met Ben in Corfu?", recipe="hipporag", **options)


def later(calls=()):
    """A context whose edges and drops are made later, with a record of when they were."""
    record = list(calls)

    def make(value):
        record.append(value)
        return (value,)

    context = Context((), "", 0, None, "Who?", "dense")
    edges, dropped = (lambda one=one: make(one) for one in MADE)
    return context.made_when_asked(edges=edges, dropped=dropped), record


def test_made_once_and_not_before():
    context, made = later()
    changed = context.changed(question="Where?")
    assert not made
    assert changed.question == "Where?"
    assert (context.dropped, context.dropped) == ((MADE[1],),) * 2
    assert made == [MADE[1]]
    assert changed.edges == (MADE[0],)
    assert context == Context((), "", 0, None, "Who?", "dense", (MADE[0],), dropped=(MADE[1],))


def test_likeness_explains_what_nothing_else_leads_to():
    """Whether its edges are there already makes no difference, and none are made for other paths."""
    stated = Edges.of("next", [0], [1], 0.5)
    alike = Edges.of("similar", [0, 0], [1, 2], [0.75, 0.25])
    late = DeferredEdges([LateEdges("similar", lambda: alike), stated])
    hop_to_a = Hop("question", "touches", "0", weight=1.0)
    by_next = Hop("0", "next", "1", weight=0.5, forward=True)
    by_likeness = Hop("0", "similar", "2", weight=0.25, forward=True)
    for edges in (late, Edges.join([alike, stated])):
        graph = Graph.of(["a", "b", "c", "d"], ids=list("0123")).unchecked(edges=edges)
        some = Subgraph(np.array([0, 1, 2, 3], np.int32))
        seeds = Seeds(np.array([1.0, 0, 0, 0.5]), np.array([0], np.int32))
        paths = paths_to_nodes(graph, seeds, some, [0, 1, 3])
        hop_to_d = Hop("question", "touches", "3", weight=0.5)
        assert paths == {0: (hop_to_a,), 1: (hop_to_a, by_next), 3: (hop_to_d,)}
        if edges is late:
            assert not late.is_made
        assert paths_to_nodes(graph, seeds, some, [1, 2]) == {
            1: (hop_to_a, by_next),
            2: (hop_to_a, by_likeness),
        }


def test_a_path_is_made_once_and_not_before():
    """One for all of the item's copies that are the same object, and what is pickled has it."""
    made = []

    def make():
        made.append(None)
        return (Hop("question", "touches", "a.md", weight=0.5),)

    plain = Item("a.md", "Anna paints.", 0.5, "seed", "passage", 3)
    item = plain.explained_by(make)
    located = item.placed_by(lambda: ("a.md:1", (1, 1), None, None))
    assert not made
    assert item.why is item.why
    assert len(made) == 1
    assert item == replace(plain, why=make())
    assert located == replace(item, location="a.md:1", lines=(1, 1))
    assert plain.lines is None
    n = len(made)
    other = plain.explained_by(make).with_original("mine")
    assert len(made) == n
    assert (other.original, other.why, other) == ("mine", item.why, item)
    unmade = plain.explained_by(make)
    for copied in (copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))):
        assert copied(unmade) == item
    assert plain.why == ()
    with pytest.raises(AttributeError, match="an item has no 'colour'"):
        item.colour  # noqa: B018


def test_paths_are_those_of_the_graph_whenever_they_are_asked_for():
    """Of the first and of the last item alone, in either order, as of all at once."""
    index, context = ask()
    wanted = [item.why for item in context]
    assert all(path[0].source == "question" for path in wanted)
    for order in (range(len(wanted)), reversed(range(len(wanted)))):
        items = index.ask("Who met Ben in Corfu?", recipe="hipporag").items
        assert {i: items[i].why for i in order} == dict(enumerate(wanted))


def test_a_given_value_is_not_made_again():
    context, made = later()
    assert context.changed(dropped=()).dropped == ()
    assert not made


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda c: pickle.loads(pickle.dumps(c))]
)
def test_copies_have_all(copied):
    _, context = ask(budget=20)
    whole = copied(context)
    assert whole == context
    assert whole.dropped
    assert whole.edges == context.edges
    assert whole.to_dict() == context.to_dict()


def test_threads_get_the_same():
    barrier = Barrier(4)
    for _ in range(20):
        context, _ = later()

        def edges(context=context):
            barrier.wait()
            return context.edges, context.dropped

        with ThreadPoolExecutor(4) as pool:
            found = [future.result() for future in [pool.submit(edges) for _ in range(4)]]
        assert all(one[0] is context.edges and one[1] is context.dropped for one in found)


def test_the_graph_goes_with_the_index():
    index, context = ask(budget=20)
    graph = weakref.ref(index.graph)
    assert context.edges is not None
    assert context.dropped
    assert all(item.why and item.location for item in context)
    del index
    gc.collect()
    assert graph() is None


def test_other_names():
    context, _ = later()
    with pytest.raises(TypeError, match="a context has no colour"):
        context.changed(colour="red")
    with pytest.raises(AttributeError, match="a context has no 'colour'"):
        context.colour  # noqa: B018


def test_the_copies_of_what_is_read_are_named():
    """By looking at all texts."""
    index, context = ask()
    read = set(context.ids)
    copies = {
        document.id
        for document in index.documents
        if document.id not in read and document.text in {item.text for item in context}
    }
    assert copies
    assert {one.id for one in context.dropped if "the same text" in one.reason} == copies


@pytest.mark.parametrize("budget", range(10, 60, 3))
def test_what_does_not_fit_does_not_fit(budget):
    index = clew.Index.from_documents(DOCUMENTS, extractor=clew.Names())
    text_of = {document.id: document.text for document in index.documents}
    context = index.ask("Who met Ben in Corfu?", recipe="hipporag", budget=budget)
    for one in context.dropped:
        if " left" in one.reason:
            tokens = clew.Index.from_documents([text_of[one.id]]).graph.tokens[0]
            assert context.tokens + tokens > budget
