"""`Shared` of a graph that grew, against all at once."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew import Graph
from clew.graph import Edges, NodeChange, Ragged
from clew.link import Shared

MENTIONS = st.lists(st.sets(st.integers(0, 7), max_size=4), min_size=1, max_size=9)


def graph_of(mentions, order):
    """Passages, and behind the first of them the entities that those mention, in that order."""
    first, later = mentions
    known = [entity for entity in order if any(entity in one for one in first)]
    new = [e for e in order if e not in known and any(e in one for one in later)]
    passages = [*range(len(first)), *range(len(first) + len(known), 1000)]
    passages = passages[: len(first) + len(later)]
    kinds = ["passage"] * len(first) + ["entity"] * len(known)
    kinds += ["passage"] * len(later) + ["entity"] * len(new)
    rows = {}
    for entity in (*known, *new):
        found = [passages[i] for i, one in enumerate([*first, *later]) if entity in one]
        rows[len(first) + len(rows) + (len(later) if entity in new else 0)] = found
    read_from = Ragged.of([rows.get(row, []) for row in range(len(kinds))])
    return Graph.of([str(row) for row in range(len(kinds))], kinds=kinds, read_from=read_from)


@given(MENTIONS, MENTIONS, st.permutations(range(8)), st.integers(2, 5))
def test_edges_of_a_graph_that_grew_are_those_of_all_at_once(first, later, order, most):
    base, graph = graph_of((first, []), order), graph_of((first, later), order)
    link = Shared(max_passages=most)
    grown, at_once = link.grow(graph, link.on(base), len(base)), link.on(graph)
    for name in ("tails", "heads", "weights"):
        assert np.array_equal(getattr(grown, name), getattr(at_once, name))
    assert list(grown.kinds) == list(at_once.kinds)


def of_nodes(nodes):
    """Passages by their numbers, and entities by their letters with the passages they are in."""
    row_of = {node: row for row, (node, _) in enumerate(nodes)}
    return Graph.of(
        [str(node) for node, _ in nodes],
        kinds=["entity" if isinstance(node, str) else "passage" for node, _ in nodes],
        read_from=Ragged.of([[row_of[one] for one in passages] for _, passages in nodes]),
    )


def with_entities(passages, known, mentions):
    """Those entities that some passages mention, and the passages: known ones first, in order."""
    return [
        (entity, [one for one in passages if entity in mentions[one]])
        for entity in known
        if any(entity in mentions[one] for one in passages)
    ]


@pytest.mark.parametrize("seed", range(100))
def test_edges_after_some_passages_went_and_others_came_are_those_of_all_at_once(seed):
    draw = np.random.default_rng(seed)
    n_mentions = draw.integers(1, 5, draw.integers(4, 12))
    mentions = [set(draw.choice(list("abcdefgh"), n, replace=False).tolist()) for n in n_mentions]
    n, most = int(draw.integers(2, len(mentions))), int(draw.integers(2, 5))
    stays = (draw.random(n) < 0.7).tolist()
    before, left = list(range(n)), [one for one in range(n) if stays[one]]
    came = list(range(n, len(mentions)))
    known = with_entities(before, "abcdefgh", mentions)
    base = of_nodes([*((one, []) for one in before), *known])
    names = [entity for entity, _ in with_entities(left, "abcdefgh", mentions)]
    new = [each for each in "hgfedcba" if each not in names]
    nodes = [
        *((one, []) for one in left),
        *((each, [p for p in left + came if each in mentions[p]]) for each in names),
        *((one, []) for one in came),
        *with_entities(came, new, mentions),
    ]
    graph, n_left = of_nodes(nodes), len(left) + len(names)
    link, row_of = Shared(max_passages=most), {node: row for row, (node, _) in enumerate(nodes)}
    edges = link.on(base)
    is_left = np.array(
        [stays[t] and stays[h] for t, h in zip(edges.tails, edges.heads, strict=True)], np.bool_
    )
    ends = [[row_of[one] for one in rows[is_left].tolist()] for rows in (edges.tails, edges.heads)]
    kept = Edges.of("shared", *ends, edges.weights[is_left])
    bereft = np.array(
        [
            isinstance(node, str) and any(node in mentions[p] for p in before if not stays[p])
            for node, _ in nodes
        ]
    )
    is_there = np.ones(len(base), np.bool_)
    change = NodeChange(base, graph.filtered(np.arange(len(graph)) < n_left), graph, is_there)
    changed, at_once = link.exchange(change, kept, bereft[:n_left]), link.on(graph)
    for name in ("tails", "heads", "weights"):
        assert np.array_equal(getattr(changed, name), getattr(at_once, name))
