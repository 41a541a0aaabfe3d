"""What must be true of a graph. It is checked once, when the graph is built; stages rely on it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence, Sized
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from clew.graph.columns import in_blocks
from clew.graph.core import GraphColumns
from clew.graph.deferred_vectors import DeferredSegment
from clew.graph.vector_column import AnyVectors, DenseSegment, VectorColumn

BLOCK_ROWS = 1024  # of vectors that are checked together
MAX_NAMED = 6  # nodes of a cycle that a message names
NODE_COLUMNS = (
    "kinds",
    "texts",
    "vectors",
    "tokens",
    "documents",
    "parents",
    "previous",
    "spans",
    "references",
    "read_from",
    "generated",
    "metadata",
    "originals",
)

# Columns that were found sound, by their id: a graph that is made of another has its very columns.
_SOUND: WeakValueDictionary[int, Any] = WeakValueDictionary()


def validate(graph: GraphColumns) -> None:
    """Raise ValueError, with what came and what was wanted, unless the columns fit together."""
    _check_nodes(graph)
    _check_facts(graph)
    validate_edges(graph)


def validate_vectors(name: str, vectors: AnyVectors, owners: Sequence[str]) -> None:
    """Raise ValueError unless every row of `vectors` has length 1, or is all zeros (no vector).

    Args:
        name: the column's name, for the message.
        vectors: the column.
        owners: an id or text for every row, for the message.
    """
    if vectors.ndim != 2:
        raise ValueError(
            f"{name} must be a matrix, one row each; got an array of shape {vectors.shape}"
        )
    if isinstance(vectors, VectorColumn):
        start = 0
        for segment in vectors.segments:
            n = segment.shape[0]
            if isinstance(segment, DenseSegment) and not isinstance(segment, DeferredSegment):
                validate_vectors(name, segment.array, owners[start : start + n])
            start += n
        return
    if _SOUND.get(id(vectors)) is vectors:
        return
    squares = np.empty(len(vectors), vectors.dtype)  # NaN and infinity show in the sums
    for start, block in in_blocks(vectors, BLOCK_ROWS):
        np.einsum("ij,ij->i", block, block, out=squares[start : start + len(block)])
    wrong = np.flatnonzero(~((np.abs(squares - 1) < 1e-3) | (squares == 0)))
    if len(wrong):
        row = int(wrong[0])
        raise ValueError(
            f"{name} must be finite rows of length 1 (or zeros, for none): the one of "
            f"{owners[row]!r} has length {np.sqrt(squares[row]):.4g}; "
            f"{len(wrong)} of {len(vectors)} are wrong"
        )
    if not vectors.flags.writeable:
        _SOUND[id(vectors)] = vectors


def _check_nodes(graph: GraphColumns) -> None:
    n = len(graph.ids)
    for name in NODE_COLUMNS:
        _check_length(name, getattr(graph, name), n, "node")
    ids: Any = graph.ids
    if _SOUND.get(id(ids)) is not ids and _has_repeats(ids):
        repeated = [id for id, times in Counter(graph.ids).items() if times > 1]
        raise ValueError(
            f"every node needs an id of its own: {len(repeated)} ids came more than once, "
            f"for instance {repeated[0]!r}"
        )
    if not isinstance(ids, tuple):  # which nothing can refer to weakly
        _SOUND[id(ids)] = ids
    for name in ("documents", "parents", "previous"):
        _check_rows(name, getattr(graph, name), n, none_allowed=True)
    _check_no_cycle(graph)
    _check_rows("read_from", graph.read_from.values, n)
    if len(wrong := np.flatnonzero(graph.tokens < 0)):
        raise ValueError(
            f"tokens must not be negative: {graph.ids[wrong[0]]!r} has {graph.tokens[wrong[0]]}"
        )
    if graph.spans.shape != (n, 2):
        raise ValueError(
            f"spans must have shape ({n}, 2), start and end of each node in its document; "
            f"got {graph.spans.shape}"
        )
    validate_vectors("vectors", graph.vectors, graph.ids)


def _has_repeats(ids: Any) -> bool:  # noqa: ANN401  # texts, perhaps stored ones
    count_distinct = getattr(ids, "count_distinct", None)  # without making the texts
    return (len(set(ids)) if count_distinct is None else count_distinct()) < len(ids)


def _check_facts(graph: GraphColumns) -> None:
    facts, n = graph.facts, len(graph.ids)
    for name in ("vectors", "subjects", "objects", "relations", "read_from"):
        _check_length(f"facts.{name}", getattr(facts, name), len(facts.texts), "fact")
    _check_rows("facts.subjects", facts.subjects, n)
    _check_rows("facts.objects", facts.objects, n)
    _check_rows("facts.read_from", facts.read_from.values, n)
    validate_vectors("facts.vectors", facts.vectors, facts.texts)


def validate_edges(graph: GraphColumns) -> None:
    """Raise ValueError unless the edges fit the nodes and the facts."""
    edges, n = graph.edges, len(graph.ids)
    for name in ("heads", "kinds", "weights", "facts", "read_from"):
        _check_length(f"edges.{name}", getattr(edges, name), len(edges.tails), "edge")
    _check_rows("edges.tails", edges.tails, n)
    _check_rows("edges.heads", edges.heads, n)
    _check_rows("edges.facts", edges.facts, len(graph.facts), none_allowed=True)
    _check_rows("edges.read_from", edges.read_from.values, n)
    in_range = (edges.weights > 0) & (edges.weights <= 1)  # False for NaN
    if len(wrong := np.flatnonzero(~in_range)):
        raise ValueError(
            f"edge weights are affinities in (0, 1]: edge {wrong[0]} has {edges.weights[wrong[0]]}"
        )


def _check_no_cycle(graph: GraphColumns) -> None:
    """Raise ValueError if a node is inside itself: a walk up from it would never end."""
    if (graph.parents < 0).all():
        return
    above = np.append(graph.parents, -1)  # -1 leads to itself
    for _ in range(len(above).bit_length()):  # each round doubles the number of steps
        above = above[above]
    if len(endless := np.flatnonzero(above >= 0)):
        row = int(above[endless[0]])  # so many steps lead into the cycle
        cycle = [row]
        while (row := int(graph.parents[row])) != cycle[0]:
            cycle.append(row)
        shown = [repr(graph.ids[row]) for row in cycle[:MAX_NAMED]]
        more = f" … {len(cycle) - MAX_NAMED} more" if len(cycle) > MAX_NAMED else ""
        raise ValueError(
            "parents must lead upwards to a node without one: a node must not be, over its "
            f"parents, inside itself; these are: {' in '.join(shown)}{more} in {shown[0]}"
        )


def _check_length(name: str, column: Sized, n: int, owner: str) -> None:
    if len(column) != n:
        raise ValueError(f"{name} needs one entry per {owner}: wanted {n}, got {len(column)}")


def _check_rows(name: str, rows: NDArray[Any], n: int, none_allowed: bool = False) -> None:
    low = -1 if none_allowed else 0
    if len(rows) and (rows.min() < low or rows.max() >= n):
        raise ValueError(
            f"{name} must be rows from {low} to {n - 1}; got {rows.min()} to {rows.max()}"
        )
