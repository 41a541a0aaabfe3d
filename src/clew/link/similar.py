"""Passages that are similar in meaning."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from clew.graph import Edges, Graph, Mask, Rows, Vectors, distinct
from clew.link._shared import (
    edges_from,
    exchanged_edges,
    grown_edges,
    nearest_edges,
    shrunk_edges,
)

DEFINES = "defines"  # the relation of the facts that state the symbols of a file
CODE_FILE = re.compile(
    r"\.(?:py[iw]?|[cm]?js|jsx|[cm]?ts|tsx|java|go|rs|c|h|cc|cpp|cxx|hh|hpp|hxx)", re.IGNORECASE
)


@dataclass(frozen=True)
class Similar:
    """From each passage to its nearest others by cosine, which is the weight.

    They take a fifth of the time that an index takes, and many methods do not follow them. So an
    index makes them when something first asks for them, or when it is saved.

    Of more than 20,000 passages, some 99 in 100 of these edges are found, and edges to others a
    little farther in the place of the rest; see `clew.algorithms.nearest.pivots`.

    Attributes:
        k: the largest number of edges from a passage.
        min_similarity: the lowest cosine of an edge, > 0.
        kinds: the kinds of node that are compared with each other.
        code: whether passages of source code are compared where its symbols were read. Facts on
            what it defines, calls and imports link such passages, and questions find no more by
            links between similar ones. An index has these only where somebody asks for them:
            `links=` with `Similar()`. Code is what comes of a file of source code, by its name, in
            which a fact says that something is defined.

    Example:
        >>> graph = Graph.of(["a", "b", "c"], vectors=[[1, 0], [0.8, 0.6], [0, 1]])
        >>> edges = Similar(k=1).on(graph)
        >>> edges.tails, edges.heads
        (array([0, 1, 2], dtype=int32), array([1, 0, 1], dtype=int32))
    """

    k: int = 5
    min_similarity: float = 0.1
    kinds: tuple[str, ...] = ("passage",)
    code: bool = True

    kind: ClassVar[str] = "similar"
    corpus_wide: ClassVar[bool] = True

    @property
    def deferred(self) -> bool:
        """Whether they wait. What is no number is an error here, where the index is built."""
        return self.k > 0 and self.min_similarity > 0

    def on(self, graph: Graph) -> Edges:
        return nearest_edges(graph, self.kind, self._compared(graph), self.k, self.min_similarity)

    def among(self, graph: Graph, rows: Rows) -> Edges:
        """Return the edges from some rows, as `on` returns them where it finds all."""
        return edges_from(
            graph, self.kind, self._compared(graph), rows, self.k, self.min_similarity
        )

    def grow(self, graph: Graph, before: Edges, n_before: int) -> Edges:
        rows = self._compared(graph)
        return grown_edges(graph, before, n_before, self.kind, rows, self.k, self.min_similarity)

    def shrink(self, graph: Graph, left: Edges, bereft: Mask) -> Edges:
        rows = self._compared(graph)
        return shrunk_edges(graph, left, bereft, self.kind, rows, self.k, self.min_similarity)

    def exchange_some(
        self, graph: Graph, left: Edges, n_left: int, tails: Rows, weights: Vectors
    ) -> Edges:
        """Return the edges where some nodes have gone and others have come, in one step.

        Args:
            graph: the graph afterwards.
            left: the edges between the nodes that stay, which come first.
            n_left: how many these are.
            tails: the tails of all edges that those had which have lost one.
            weights: the weights of these edges.
        """
        lowest, lengths = np.full(n_left, np.inf), np.bincount(tails, minlength=n_left)
        np.minimum.at(lowest, tails, weights)
        lowest[lengths < self.k] = 0.0  # there was no other
        rows = self._compared(graph)
        return exchanged_edges(graph, left, lowest, self.kind, rows, self.k, self.min_similarity)

    def _compared(self, graph: Graph) -> Rows:
        """Return the rows that are compared; that of one depends on its own document alone."""
        rows = graph.rows(*self.kinds)
        return rows if self.code else rows[~_has_symbols(graph)[rows]]


def _has_symbols(graph: Graph) -> Mask:
    """Return whether each node is of a file of source code in which symbols were read."""
    facts, of_code = graph.facts, np.zeros(len(graph), np.bool_)
    if DEFINES not in facts.relations.names:  # as in prose
        return of_code
    stated = np.flatnonzero(facts.relations.mask(DEFINES))
    documents = distinct(graph.documents[facts.read_from.take(stated).values])
    for row in documents[documents >= 0].tolist():
        name = graph.ids[row].rpartition("/")[2]
        of_code[row] = CODE_FILE.fullmatch(name, max(name.rfind("."), 0)) is not None
    return (graph.documents >= 0) & of_code[graph.documents]
