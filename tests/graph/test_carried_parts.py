"""Parts that a change carries on equal those that are computed of the same graph anew, to the bit."""

from __future__ import annotations

from dataclasses import fields, is_dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew import Document, Index, Splitter
from clew.graph import Graph, SourcesPart, carry_grown_parts, carry_shrunk_parts, with_nodes
from clew.graph.filtering import surviving_rows
from clew.graph.growth import GrowingPart, ShrinkingPart
from clew.index import in_place
from clew.overlap import DuplicatesPart, TextKeysPart
from clew.seed.section_sizes import SectionSizesPart

CARRIED = (SectionSizesPart(), SourcesPart(), TextKeysPart())
PARTS = (*CARRIED, DuplicatesPart())
TEXTS = (
    "NAME",
    "Abstract\n\nWhat ferries do.",
    "Abstract",
    "sail(to)\n\nSail to a harbour.",
    "sail",
    "sail(to)",
    "--all is an option",
    "PATH=where programs are",
    "-v says more",
    "It is all one and the same",
    "It is all one and\nthe same",
    "It is all one\nand the same",
    "It is all one and\n the same",
    "module sea",
    "A text of its own, " + "with many words " * 12,
)
METADATA = ({}, {}, {"path": "a.py"}, {"path": "b.py"}, {"module": "sea"}, {"source": "a.py"})
# Of each node: its kind, its text, its metadata, and what it is in, counted back from it.
NODE = st.tuples(
    st.sampled_from(["passage", "passage", "passage", "section", "document"]),
    st.sampled_from(TEXTS),
    st.sampled_from(METADATA),
    st.integers(0, 4),
    st.booleans(),
)
NODES = st.lists(NODE, min_size=1, max_size=24)


def graph_of(nodes, name):
    """A forest of nodes, each in a container before it or in none; some know their document."""
    kinds, parents, documents = [], [], []
    for row, (kind, _, _, back, owned) in enumerate(nodes):
        containers = [i for i in range(row) if kinds[i] != "passage"]
        parent = containers[-back] if 0 < back <= len(containers) and kind != "document" else -1
        top = parent
        while top >= 0 and parents[top] >= 0:
            top = parents[top]
        kinds.append(kind)
        parents.append(parent)
        documents.append(top if owned and top >= 0 and kinds[top] == "document" else -1)
    return Graph.of(
        [text for _, text, *_ in nodes],
        ids=[f"{name}{row}" for row in range(len(nodes))],
        kinds=kinds,
        parents=parents,
        documents=documents,
        metadata=tuple(metadata for _, _, metadata, *_ in nodes),
    )


def values_of(result):
    """What a result consists of, to be compared."""
    if isinstance(result, np.ndarray):
        return result.tolist()
    if isinstance(result, tuple):
        return [values_of(one) for one in result]
    if is_dataclass(result):
        return [values_of(getattr(result, one.name)) for one in fields(result)]
    return result


def check(graph, carried=CARRIED):
    anew = graph.unchecked()
    for part in PARTS:
        assert (graph.known_part(part) is not None) == (part in carried), part
    for part in PARTS:
        assert values_of(graph.part(part)) == values_of(anew.part(part)), part


@settings(max_examples=300)
@given(NODES, NODES, NODES, st.data())
def test_whatever_comes_and_goes_parts_are_those_of_what_is_left(first, more, last, data):
    graph = graph_of(first, "a")
    for name, nodes in (("b", more), ("c", last)):
        for part in CARRIED:
            graph.part(part)
        grown = with_nodes(graph, graph_of(nodes, name))
        carry_grown_parts(grown, graph)
        check(grown)
        tops = grown.part(TopsOf())
        if data.draw(st.booleans()):  # whole documents go, as an index has it
            gone = data.draw(st.sets(st.sampled_from(sorted(set(tops)))))
            allowed = np.array([top not in gone for top in tops], np.bool_)
        else:
            allowed = np.array(data.draw(st.lists(st.booleans(), min_size=len(grown), max_size=len(grown))))  # fmt: skip
        stays = surviving_rows(grown, allowed)
        graph = grown.filtered(stays)
        if stays.all() or not stays.any():
            graph = grown
            continue
        carry_shrunk_parts(graph, grown, stays)
        check(graph, PARTS)


@pytest.mark.parametrize(
    "nodes",
    [
        # Of the one document that is left, every chapter has a summary.
        "d a -1, p x 0, d b -1, s NAME 2, p y 3, s NAME 2, p z 5",
        # What stood between a heading and its signature was of another document.
        "d a -1, d b -1, s sail(to) 1, p x 0, p sail(to)\n\nSail. 2, p y 1, d c -1, p z 6",
        # Two documents named one source, of which one goes.
        "d a -1, p x 0, d b -1, p y 2, d c -1, p z 4",
    ],
)
def test_a_first_document_that_goes_changes_what_others_are(nodes):
    listed = [one.rsplit(" ", 1) for one in nodes.split(", ")]
    kinds = {"d": "document", "s": "section", "p": "passage"}
    graph = Graph.of(
        [text[2:] for text, _ in listed],
        kinds=[kinds[text[0]] for text, _ in listed],
        parents=[int(parent) for _, parent in listed],
        metadata=tuple({"path": "a"} if text in {"d a", "d b"} else {} for text, _ in listed),
    )
    for part in CARRIED:
        graph.part(part)
    stays = np.array([top != 0 for top in graph.part(TopsOf())])
    left = graph.filtered(stays)
    carry_shrunk_parts(left, graph, stays)
    check(left)


class TopsOf:
    """The outermost container of each node, found step by step."""

    def compute(self, graph):
        tops = []
        for row in range(len(graph)):
            while graph.parents[row] >= 0:
                row = int(graph.parents[row])
            tops.append(row)
        return tops


@pytest.fixture
def in_place_only(monkeypatch):
    monkeypatch.setattr(in_place, "MIN_PASSAGES", 0)
    monkeypatch.setattr(in_place, "MAX_CHANGED", 1e9)


def page(number, chance):
    sections = "\n\n".join(
        f"## part{i}\n\n{chance.choice(TEXTS)}\n\nFerry {number} sails at {i}."
        for i in range(int(chance.integers(1, 5)))
    )
    return Document(f"d{number}.md", f"# Page {number}\n\n{sections}", format="markdown")


@pytest.mark.usefixtures("in_place_only")
def test_an_index_carries_them_on_and_looks_at_what_came_alone(monkeypatch):
    chance = np.random.default_rng(3)
    pages = [page(number, chance) for number in range(30)]
    index = Index.from_documents(pages, splitter=Splitter(tokens=24))
    assert all(
        isinstance(part, GrowingPart) and isinstance(part, ShrinkingPart) for part in CARRIED
    )
    index.ask("When does ferry 3 sail?")
    computed = list[type]()
    for part in CARRIED:
        compute = type(part).compute
        monkeypatch.setattr(
            type(part),
            "compute",
            lambda self, graph, compute=compute: (
                computed.append(type(self)) or compute(self, graph)
            ),
        )
    for step in range(12):
        gone = index.documents[int(chance.integers(len(index.documents)))].id
        index = index.delete(gone).add([page(100 + step, chance)]).upsert([page(7, chance)])
        assert index.ask("When does ferry 7 sail?", recipe="hipporag").ids
    assert not computed
    check(index.graph, PARTS)
