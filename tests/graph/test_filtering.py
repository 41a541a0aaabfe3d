"""A filtered graph is what a plain reading of the rules leaves, and nothing forbidden can be reached from it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew import Document, Index
from clew.graph import Edges, Facts, Graph, Labels, Ragged, freeze


@st.composite
def graphs(draw):
    """Documents with sections and passages, made reports, entities, facts and edges; every text names its row."""
    kinds, documents, parents = [], [], []
    for _ in range(draw(st.integers(1, 4))):
        if draw(st.booleans()):
            documents.append(len(kinds)), parents.append(-1), kinds.append("passage")
            continue
        top = len(kinds)
        documents.append(top), parents.append(-1), kinds.append("document")
        for _ in range(draw(st.integers(0, 5))):
            around = draw(
                st.sampled_from(
                    [row for row in range(top, len(kinds)) if kinds[row] in ("document", "section")]
                )
            )
            (
                documents.append(top),
                parents.append(around),
                kinds.append(draw(st.sampled_from(["section", "passage", "passage"]))),
            )
    passages = [row for row, kind in enumerate(kinds) if kind == "passage"]
    some = st.lists(st.sampled_from(passages), max_size=3, unique=True) if passages else st.just([])
    read_from = [[] for _ in kinds]
    for kind in draw(st.lists(st.sampled_from(["entity", "entity", "report"]), max_size=6)):
        (
            documents.append(len(kinds) if kind == "report" else -1),
            parents.append(-1),
            kinds.append(kind),
        )
        reports = [row for row in range(len(kinds) - 1) if kinds[row] == "report"]
        read_from.append(
            draw(some) + (draw(st.lists(st.sampled_from(reports), max_size=1)) if reports else [])
        )
    n = len(kinds)
    row = st.integers(0, n - 1)
    facts = draw(st.lists(st.tuples(row, row, some), max_size=5))
    edges = draw(st.lists(st.tuples(row, row, st.integers(-1, len(facts) - 1), some), max_size=10))
    return Graph.of(
        [f"text {i}" for i in range(n)],
        ids=[f"id {i}" for i in range(n)],
        kinds=kinds,
        vectors=np.eye(n),
        tokens=list(range(n)),
        documents=documents,
        parents=parents,
        previous=[draw(st.integers(-1, i - 1)) if i else -1 for i in range(n)],
        spans=[(i, i + 1) for i in range(n)],
        references=tuple((f"reference {i}",) for i in range(n)),
        read_from=Ragged.of(read_from),
        generated=[kind == "report" for kind in kinds],
        metadata=tuple({"row": i} for i in range(n)),
        originals=tuple(f"original {i}" for i in range(n)),
        facts=Facts(
            tuple(f"fact {i}" for i in range(len(facts))),
            freeze(np.eye(len(facts), n), np.float32),
            freeze([s for s, _, _ in facts], np.int32),
            freeze([o for _, o, _ in facts], np.int32),
            Labels.of([f"relation {i}" for i in range(len(facts))]),
            Ragged.of([read for _, _, read in facts]),
        ),
        edges=Edges.join(
            [
                Edges.of(f"kind {i}", [t], [h], (i + 1) / 16, [f], Ragged.of([r]))
                for i, (t, h, f, r) in enumerate(edges)
            ]
        ),
    )


def surviving(graph, allowed):
    """The rules of `Graph.filtered`, one node at a time, until nothing changes."""
    stays = {
        row
        for row in range(len(graph))
        if allowed[row] and (graph.documents[row] < 0 or allowed[graph.documents[row]])
    }
    rows, kinds = range(len(graph)), list(graph.kinds)
    inside = {
        row: [
            child
            for child in rows
            if child != row and row in (graph.parents[child], graph.documents[child])
        ]
        for row in rows
    }
    while True:
        gone = set()
        for row in stays:
            sources = graph.read_from[row].tolist()
            left = [source for source in sources if source in stays]
            if sources and (len(left) < len(sources) if graph.generated[row] else not left):
                gone.add(row)
            if (
                kinds[row] in ("document", "section")
                and inside[row]
                and not any(child in stays for child in inside[row])
            ):
                gone.add(row)
        if not gone:
            return sorted(stays)
        stays -= gone


@given(graphs(), st.data())
def test_where_follows_its_rules_in_every_column(graph, data):
    allowed = data.draw(st.lists(st.booleans(), min_size=len(graph), max_size=len(graph)))
    before = (graph.ids, graph.edges.tails.tolist(), graph.facts.texts)

    left = graph.filtered(allowed)

    rows = surviving(graph, allowed)
    new = {row: i for i, row in enumerate(rows)}
    facts = [
        f
        for f in range(len(graph.facts))
        if graph.facts.subjects[f] in new
        and graph.facts.objects[f] in new
        and (
            not len(graph.facts.read_from[f])
            or any(p in new for p in graph.facts.read_from[f].tolist())
        )
    ]
    edges = [
        e
        for e in range(len(graph.edges))
        if graph.edges.tails[e] in new
        and graph.edges.heads[e] in new
        and (
            not len(graph.edges.read_from[e])
            or any(p in new for p in graph.edges.read_from[e].tolist())
        )
        and (graph.edges.facts[e] < 0 or graph.edges.facts[e] in facts)
    ]

    def renumbered(column):
        return [new.get(int(column[row]), -1) for row in rows]

    def sources(ragged, kept):
        return [[new[p] for p in ragged[i].tolist() if p in new] for i in kept]

    assert left.ids == tuple(graph.ids[row] for row in rows)
    assert left.texts == tuple(graph.texts[row] for row in rows)
    assert list(left.kinds) == [graph.kinds[row] for row in rows]
    assert np.array_equal(left.vectors, graph.vectors[rows])
    assert left.tokens.tolist() == rows
    assert left.documents.tolist() == renumbered(graph.documents)
    assert left.parents.tolist() == renumbered(graph.parents)
    assert left.previous.tolist() == renumbered(graph.previous)
    assert left.spans.tolist() == [[row, row + 1] for row in rows]
    assert left.references == tuple(graph.references[row] for row in rows)
    assert [left.read_from[i].tolist() for i in range(len(rows))] == sources(graph.read_from, rows)
    assert left.generated.tolist() == graph.generated[rows].tolist()
    assert left.metadata == tuple(graph.metadata[row] for row in rows)
    assert left.originals == tuple(graph.originals[row] for row in rows)

    assert left.facts.texts == tuple(graph.facts.texts[f] for f in facts)
    assert np.array_equal(left.facts.vectors, graph.facts.vectors[facts])
    assert left.facts.subjects.tolist() == [new[graph.facts.subjects[f]] for f in facts]
    assert left.facts.objects.tolist() == [new[graph.facts.objects[f]] for f in facts]
    assert list(left.facts.relations) == [graph.facts.relations[f] for f in facts]
    assert [left.facts.read_from[i].tolist() for i in range(len(facts))] == sources(
        graph.facts.read_from, facts
    )

    assert left.edges.tails.tolist() == [new[graph.edges.tails[e]] for e in edges]
    assert left.edges.heads.tolist() == [new[graph.edges.heads[e]] for e in edges]
    assert list(left.edges.kinds) == [graph.edges.kinds[e] for e in edges]
    assert np.array_equal(left.edges.weights, graph.edges.weights[edges])
    assert left.edges.facts.tolist() == [
        facts.index(f) if f >= 0 else -1 for f in graph.edges.facts[edges].tolist()
    ]
    assert [left.edges.read_from[i].tolist() for i in range(len(edges))] == sources(
        graph.edges.read_from, edges
    )

    assert (graph.ids, graph.edges.tails.tolist(), graph.facts.texts) == before, (
        "the graph itself stays as it was"
    )
    named = {
        text for texts in (left.texts, left.ids, left.originals, *left.references) for text in texts
    } | set(left.kinds.names)
    forbidden = {
        f"{word} {row}"
        for row, may in enumerate(allowed)
        if not may
        for word in ("text", "id", "original", "reference")
    }
    assert not named & forbidden
    assert set(left.edges.kinds.names) == set(left.edges.kinds), (
        "not even the name of a kind that is gone is kept"
    )
    assert set(left.facts.relations.names) == set(left.facts.relations)


@given(graphs(), st.data())
def test_filters_one_after_the_other_are_both_at_once(graph, data):
    flags = st.lists(st.booleans(), min_size=len(graph), max_size=len(graph))
    one, other = data.draw(flags), data.draw(flags)
    first = graph.filtered(one)
    second = first.filtered([other[graph.row(id)] for id in first.ids])
    both = graph.filtered([a and b for a, b in zip(one, other, strict=True)])
    assert set(both.ids) == set(second.ids)


def test_a_filter_that_forbids_nothing_is_the_graph_itself():
    graph = Graph.of(["a", "b"])
    assert graph.filtered([True, True]) is graph
    assert len(graph.filtered([False, False])) == 0


def test_a_filter_of_another_length_is_refused():
    with pytest.raises(ValueError, match=r"wanted shape \(2,\), got \(3,\)"):
        Graph.of(["a", "b"]).filtered([True] * 3)


def test_of_metadata_that_is_a_list_one_value_has_to_be_wanted():
    index = Index.from_documents(
        [
            Document("a", "Anna met Ben.", {"tags": ["x", "y"]}),
            Document("b", "Ben left.", {"tags": ["y"]}),
        ]
    )
    for wanted, ids in (
        ("y", {"a", "b"}),
        ("x", {"a"}),
        (["x", "z"], {"a"}),
        ({"z"}, set()),
        ([["y"]], {"b"}),
    ):
        assert set(index.ask("Who is Ben?", where={"tags": wanted}).ids) == ids
