"""What must be true of a graph; checked once, when it is made, so that the stages can trust it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from clew.graph.core import Graph


def validate(graph: Graph) -> None:
    """Raise ValueError, saying what came and what was wanted, if `graph` is not one."""
    n = len(graph.ids)
    columns = ("kinds", "texts", "vectors", "tokens", "documents", "parents", "previous", "spans")
    for name in (*columns, "references", "read_from", "generated", "metadata", "originals"):
        _length(name, getattr(graph, name), n, "node")
    if len(set(graph.ids)) < n:
        twice = [id for id, times in Counter(graph.ids).items() if times > 1]
        raise ValueError(
            f"every node needs an id of its own: {len(twice)} ids came more than once, for instance {twice[0]!r}"
        )
    for name in ("documents", "parents", "previous"):
        _rows(name, getattr(graph, name), n, nothing=True)
    _acyclic(graph)
    _rows("read_from", graph.read_from.values, n)
    if len(wrong := np.flatnonzero(graph.tokens < 0)):
        raise ValueError(
            f"tokens must not be negative: {graph.ids[wrong[0]]!r} has {graph.tokens[wrong[0]]}"
        )
    if graph.spans.shape != (n, 2):
        raise ValueError(
            f"spans must have shape ({n}, 2), start and end of each node in its document; got {graph.spans.shape}"
        )
    validate_vectors("vectors", graph.vectors, graph.ids)

    facts, edges = graph.facts, graph.edges
    for name in ("vectors", "subjects", "objects", "relations", "read_from"):
        _length(f"facts.{name}", getattr(facts, name), len(facts.texts), "fact")
    _rows("facts.subjects", facts.subjects, n)
    _rows("facts.objects", facts.objects, n)
    _rows("facts.read_from", facts.read_from.values, n)
    validate_vectors("facts.vectors", facts.vectors, facts.texts)

    for name in ("heads", "kinds", "weights", "facts", "read_from"):
        _length(f"edges.{name}", getattr(edges, name), len(edges.tails), "edge")
    _rows("edges.tails", edges.tails, n)
    _rows("edges.heads", edges.heads, n)
    _rows("edges.facts", edges.facts, len(facts), nothing=True)
    _rows("edges.read_from", edges.read_from.values, n)
    wrong = np.flatnonzero(~((edges.weights > 0) & (edges.weights <= 1)))  # also true of NaN
    if len(wrong):
        raise ValueError(
            f"edge weights are affinities in (0, 1]: edge {wrong[0]} has {edges.weights[wrong[0]]}"
        )


def validate_vectors(name: str, vectors: NDArray[Any], owners: tuple[str, ...]) -> None:
    """Raise ValueError unless every row of `vectors` is of length one, or all zeros (no vector)."""
    if vectors.ndim != 2:
        raise ValueError(
            f"{name} must be a matrix, one row each; got an array of shape {vectors.shape}"
        )
    lengths = np.einsum(
        "ij,ij->i", vectors, vectors
    )  # NaN and infinities show in the sum of squares
    wrong = np.flatnonzero(~((np.abs(lengths - 1) < 1e-3) | (lengths == 0)))
    if len(wrong):
        row = int(wrong[0])
        raise ValueError(
            f"{name} must be finite rows of length 1 (or zeros, for none): the one of {owners[row]!r} has length "
            f"{np.sqrt(lengths[row]):.4g}; {len(wrong)} of {len(vectors)} are wrong"
        )


def _acyclic(graph: Graph) -> None:
    """Refuse a node that is inside itself: whoever walks up from it would never arrive."""
    above = np.append(graph.parents, -1)  # -1 leads to itself
    for _ in range(len(above).bit_length()):  # each round doubles the steps
        above = above[above]
    if len(ring := np.flatnonzero(above >= 0)):
        raise ValueError(
            f"parents must lead upwards to a node without one: {graph.ids[ring[0]]!r} is, over its parents, inside itself"
        )


def _length(name: str, column: Any, n: int, what: str) -> None:
    if len(column) != n:
        raise ValueError(f"{name} needs one entry per {what}: wanted {n}, got {len(column)}")


def _rows(name: str, rows: NDArray[Any], n: int, nothing: bool = False) -> None:
    low = -1 if nothing else 0
    if len(rows) and (rows.min() < low or rows.max() >= n):
        raise ValueError(
            f"{name} must be rows from {low} to {n - 1}; got {rows.min()} to {rows.max()}"
        )
