"""An overlay is the extended graph, made without copying what is large: what is read of either is the same."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import clew
from clew import recipes
from clew.graph import (
    Edges,
    Generated,
    Graph,
    Labels,
    Overlay,
    Ragged,
    add_generated,
    overlay_generated,
)
from clew.methods.da_rag import method as da_rag
from clew.overlap import DuplicatesPart


@st.composite
def graphs_with_reports(draw):
    """A graph with parallel edges, copies of texts and entities, and reports with edges to it, to each other and to themselves."""
    n, m = draw(st.integers(1, 8)), draw(st.integers(0, 3))
    row, weight = st.integers(0, n - 1), st.sampled_from([0.25, 0.5, 1.0])
    ties = draw(st.lists(st.tuples(row, row, st.sampled_from(["a", "z"]), weight), max_size=12))
    graph = Graph.of(
        draw(st.lists(st.sampled_from(["one", "two", "three"]), min_size=n, max_size=n)),
        kinds=draw(st.lists(st.sampled_from(["passage", "entity"]), min_size=n, max_size=n)),
        vectors=np.ones((n, 4)) / 2,
        edges=edges_of(ties),
    )
    ends = st.tuples(st.integers(n, n + m - 1), st.integers(0, n + m - 1)) if m else st.nothing()
    new = (
        draw(
            st.lists(
                st.tuples(ends, st.booleans(), st.sampled_from(["a", "m"]), weight), max_size=8
            )
        )
        if m
        else []
    )
    generated = Generated(
        tuple(f"report {i}" for i in range(m)),
        ("report",) * m,
        tuple(f"text {i}" for i in range(m)),
        [[draw(row)] for _ in range(m)],
        tuple({"level": i} for i in range(m)),
        edges_of(
            [
                (*(ends if forward else ends[::-1]), kind, weight)
                for ends, forward, kind, weight in new
            ]
        ),
    )
    return graph, generated


def edges_of(ties):
    parts = [Edges.of(kind, [tail], [head], weight) for tail, head, kind, weight in ties]
    return Edges.join(parts)


def plain(value):
    """A column as lists, words for their codes."""
    if isinstance(value, Labels):
        return list(value)
    if isinstance(value, Ragged):
        return [part.tolist() for part in value]
    return value.tolist() if isinstance(value, np.ndarray) else value


@given(graphs_with_reports())
@pytest.mark.parametrize(
    "how", [{}, {"kinds": ("a", ("m", 0.5))}, {"directed": True}, {"merge": "sum"}], ids=str
)
def test_an_overlay_has_the_columns_links_content_and_copies_of_the_extended_graph(how, both):
    graph, written = both
    whole, over = add_generated(graph, written), overlay_generated(graph, written)
    for column in fields(Graph):
        if column.name not in ("vectors", "facts", "edges"):
            assert plain(getattr(over, column.name)) == plain(getattr(whole, column.name)), (
                column.name
            )
    for column in fields(Edges):
        assert plain(getattr(over.edges, column.name)) == plain(
            getattr(whole.edges, column.name)
        ), column.name
    one, other = whole.links(**how), over.links(**how)
    for column in fields(one):
        assert plain(getattr(one, column.name)) == plain(getattr(other, column.name)), column.name
    assert over.content.tolist() == whole.content.tolist()
    one, other = whole.part(DuplicatesPart()), over.part(DuplicatesPart())
    assert (one.first.tolist(), one.rows.tolist(), one.groups) == (
        other.first.tolist(),
        other.rows.tolist(),
        other.groups,
    )


def test_vectors_are_not_copied_and_nothing_of_the_base_is_made_twice():
    graph = Graph.of(["one", "two"], vectors=np.ones((2, 4)) / 2, edges=Edges.of("a", [0], [1]))
    over = overlay_generated(
        graph,
        Generated(("r",), ("report",), ("text",), [[0]], edges=Edges.of("summarises", [2], [0])),
    )
    assert over.vectors is graph.vectors
    assert over.part(DuplicatesPart()).groups is graph.part(DuplicatesPart()).groups
    assert over.links() is over.links()
    assert over.links().neighbours(0).tolist() == [1, 2]


def test_an_edge_between_old_nodes_is_refused():
    graph = Graph.of(["one", "two"])
    with pytest.raises(ValueError, match="one of its new texts at an end"):
        overlay_generated(
            graph, Generated(("r",), ("report",), ("text",), [[0]], edges=Edges.of("a", [0], [1]))
        )


@given(st.integers(0, 10**6), st.sampled_from([60, 150, 600, None]))
def test_da_rag_answers_over_an_overlay_as_over_a_graph_that_was_extended(embed, seed, budget):
    rng = np.random.default_rng(seed)
    names = ["Anna", "Ben", "Cleo", "Dora", "Emil"]
    facts = {f"d{i}": [(*rng.choice(names, 2, replace=False).tolist(), "")] for i in range(8)}
    facts = {id: [(a, "knows", b) for a, b, _ in said] for id, said in facts.items()}
    index = clew.Index.from_documents(
        [
            clew.Document(id, ". ".join(" ".join(fact) for fact in said))
            for id, said in facts.items()
        ],
        facts=facts,
        embedder=embed,
    )

    def judge(prompt):
        return f'{{"score": {len(prompt) % 90 + 5}, "report": "Report on {len(prompt)}"}}'

    def asked():
        context = index.ask(
            "Who knows Anna?",
            recipe=replace(recipes.get("da_rag"), workers=1),
            budget=budget,
            model=judge,
        )
        whole = context.to_dict()
        return {**whole, "trace": [{**step, "seconds": 0.0} for step in whole["trace"]]}

    made = []

    def copied(graph, written):
        made.append(add_generated(graph, written))
        return made[-1]

    over = asked()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(da_rag, da_rag.overlay_generated.__name__, copied)
        assert asked() == over
    assert not any(isinstance(graph, Overlay) for graph in made)
