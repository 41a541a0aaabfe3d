"""What lies within what."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from clew.graph import Graph
from clew.nesting import Apart

SPANS = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 6)).map(lambda s: (s[0], s[0] + s[1])), min_size=1, max_size=25)


@given(SPANS)
def test_a_node_is_taken_unless_it_contains_or_lies_in_one_that_is(spans):
    graph = Graph.of(["text"] * len(spans), spans=spans, documents=[0] * len(spans))
    apart, taken = Apart(graph), []
    for row, (start, end) in enumerate(spans):
        nests = any((s <= start and end <= e) or (start <= s and e <= end) for s, e in taken)
        assert apart.take(row) is not nests
        if not nests:
            taken.append((start, end))


def test_nodes_of_other_documents_and_of_none_are_apart():
    graph = Graph.of(["a", "b", "anna"], kinds=["passage", "passage", "entity"], spans=[(0, 5)] * 3)
    apart = Apart(graph)
    assert [apart.take(row) for row in (0, 1, 2, 2)] == [True] * 4
