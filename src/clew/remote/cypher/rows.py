"""The rows of an index as a graph database has them: one for each node, fact and edge."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from clew.graph import AnyVectors, Graph, Ragged, Rows, take_vectors
from clew.remote.packed_rows import metadata_text
from clew.remote.rows import RowNumbers
from clew.seed._shared import MentionCountsPart
from clew.seed.languages import LanguagesPart
from clew.seed.section_sizes import SectionSizesPart
from clew.store.graph_tables import EDGES, FACTS, NODES

BLOCK = 512  # vectors that are made at once


def rows_of(
    table: str, graph: Graph, numbers: RowNumbers, rows: NDArray[np.int64]
) -> Iterator[tuple[object, ...]]:
    """Yield rows of a table; those of nodes and facts end with the vector, or None.

    Args:
        table: Nodes, facts or edges, by the name that the store has for them.
        graph: The graph.
        numbers: Those of its rows.
        rows: Which rows.
    """
    if table == EDGES:
        yield from _edge_rows(graph, numbers, rows)
        return
    make, vectors = {
        NODES: (_node_rows, graph.vectors),
        FACTS: (_fact_rows, graph.facts.vectors),
    }[table]
    plain = make(graph, numbers, rows)
    for values, vector in zip(plain, _each_vector(vectors, rows), strict=True):
        yield (*values, vector)


def _each_vector(vectors: AnyVectors, rows: NDArray[np.int64]) -> Iterator[object]:
    """Yield the vector of each row; None for none."""
    for start in range(0, len(rows), BLOCK):
        block = np.asarray(take_vectors(vectors, rows[start : start + BLOCK]))
        has: list[bool] = np.any(block, axis=1).tolist()
        if not np.isfinite(block).all():
            raise ValueError("a vector of the index is not finite")
        yield from (vector if there else None for vector, there in zip(block, has, strict=True))


def _node_rows(
    graph: Graph, numbers: RowNumbers, rows: NDArray[np.int64]
) -> Iterator[tuple[object, ...]]:
    own, some = numbers.nodes, rows.tolist()
    texts: dict[int, str] = {}
    columns: tuple[Iterable[object], ...] = (
        own[rows].tolist(),
        (_bytes(graph.ids[row]) for row in some),
        (graph.kinds[row] for row in some),
        (_bytes(graph.texts[row]) for row in some),
        graph.tokens[rows].tolist(),
        *(_numbers_of(own, rows_[rows]) for rows_ in (graph.documents, graph.parents)),
        _numbers_of(own, graph.previous[rows]),
        graph.spans[rows, 0].tolist(),
        graph.spans[rows, 1].tolist(),
        ([_bytes(link) for link in graph.references[row]] for row in some),
        _lists_of(own, graph.read_from, rows),
        graph.generated[rows].tolist(),
        (metadata_text(graph, row, texts) for row in some),
        (own[nodes_above(graph, row)].tolist() for row in some),
        graph.part(MentionCountsPart())[rows].tolist(),
        graph.part(SectionSizesPart())[rows].tolist(),
        graph.part(LanguagesPart()).of_rows[rows].tolist(),
    )
    return zip(*columns, strict=True)


def nodes_above(graph: Graph, row: int) -> list[int]:
    """Return what contains a node: its document, and its containers outwards."""
    found, parent = dict.fromkeys([int(graph.documents[row])]), int(graph.parents[row])
    while parent >= 0:
        found[parent], parent = None, int(graph.parents[parent])
    return [one for one in found if one >= 0 and one != row]


def _fact_rows(
    graph: Graph, numbers: RowNumbers, rows: NDArray[np.int64]
) -> Iterator[tuple[object, ...]]:
    facts = graph.facts
    return zip(
        numbers.facts[rows].tolist(),
        (_bytes(facts.texts[row]) for row in rows.tolist()),
        numbers.nodes[facts.subjects[rows]].tolist(),
        numbers.nodes[facts.objects[rows]].tolist(),
        (_bytes(facts.relations[row]) for row in rows.tolist()),
        _lists_of(numbers.nodes, facts.read_from, rows),
        strict=True,
    )


def _edge_rows(
    graph: Graph, numbers: RowNumbers, rows: NDArray[np.int64]
) -> Iterator[tuple[object, ...]]:
    edges = graph.edges
    names = edges.kinds.names
    return zip(
        numbers.edges[rows].tolist(),
        numbers.nodes[edges.tails[rows]].tolist(),
        numbers.nodes[edges.heads[rows]].tolist(),
        (names[code] for code in edges.kinds.codes[rows].tolist()),
        edges.weights[rows].tolist(),
        _numbers_of(numbers.facts, edges.facts[rows]),
        _lists_of(numbers.nodes, edges.read_from, rows),
        strict=True,
    )


def _numbers_of(numbers: Rows, rows: Rows) -> list[int]:
    """Return the numbers of rows; -1 stays."""
    if not len(numbers):
        return [-1] * len(rows)
    found: list[int] = np.where(rows >= 0, numbers[rows], -1).tolist()
    return found


def _lists_of(numbers: Rows, lists: Ragged, rows: NDArray[np.int64]) -> Iterator[list[int]]:
    taken = lists.take(rows)
    values = numbers[taken.values].tolist() if len(taken.values) else []
    starts = taken.starts.tolist()
    return (values[a:b] for a, b in pairwise(starts))


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
