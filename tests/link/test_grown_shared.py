"""`Shared` of a graph that grew, against all at once."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from clew import Graph
from clew.graph import Ragged
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
