"""What is alike: passages by their meaning, and names that are probably written two ways.

Synonym edges after Gutierrez et al., arXiv 2502.14802: cosine at least 0.8, at most 100 each. Names are never merged, as an edge can
be undone and a merge cannot.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from clew.algorithms.nearest.exact import nearest_pairs
from clew.graph import Edges, Graph


@dataclass(frozen=True)
class Similar:
    """From each passage to its `k` nearest by cosine, where that is at least `least`; the weight is the cosine."""

    k: int = 5
    min_similarity: float = 0.1
    kinds: tuple[str, ...] = ("passage",)

    kind: ClassVar[str] = "similar"
    corpus_wide: ClassVar[bool] = True

    def on(self, graph: Graph) -> Edges:
        return _nearest(graph, self.kind, graph.rows(*self.kinds), self.k, self.min_similarity)


@dataclass(frozen=True)
class Synonym:
    """From each entity to the at most `k` others whose names are alike, by a cosine of at least `least`.

    Names of fewer than `shortest` letters and digits start none: two letters are alike by chance.
    """

    min_similarity: float = 0.8
    k: int = 100
    min_letters: int = 3

    kind: ClassVar[str] = "synonym"
    corpus_wide: ClassVar[bool] = True

    def on(self, graph: Graph) -> Edges:
        rows = graph.rows("entity")
        edges = _nearest(graph, self.kind, rows, self.k, self.min_similarity)
        long = np.array(
            [sum(map(str.isalnum, text)) >= self.min_letters for text in graph.texts], np.bool_
        )
        return edges.take(np.flatnonzero(long[edges.tails])) if len(edges) else edges


def _nearest(graph: Graph, kind: str, rows: np.ndarray, k: int, least: float) -> Edges:
    near, other, cosine = nearest_pairs(graph.vectors[rows], k, least)
    return Edges.of(kind, rows[near], rows[other], cosine)
