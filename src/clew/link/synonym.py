"""Names that probably mean the same entity.

After Gutiérrez et al., "From RAG to Memory" (HippoRAG 2), arXiv 2502.14802: an edge for a cosine of
at least 0.8, at most 100 edges from a name. Names are never merged: an edge can be removed again, a
merge cannot.

By their words, names are compared by the cosine of tf-idf weights, which Cohen, Ravikumar and
Fienberg found the best measure of whole words that learns nothing, "A comparison of string distance
metrics for name-matching tasks" (2003). A word weighs idf^1.5, as in the embedded default, by the
names that have it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from clew.algorithms.compressed_rows import CompressedRows
from clew.algorithms.nearest.shared_columns import nearest_by_columns
from clew.graph import Edges, Graph, Mask, Rows, row_mask
from clew.link._shared import grown_edges, nearest_edges, shrunk_edges
from clew.link.name_words import NameWords, NameWordsPart

IDF_POWER = 1.5
PRIOR_NAMES = 1000  # counted with those of a graph, without any of their words: a few say little


@dataclass(frozen=True)
class Synonym:
    """From each entity to others with a similar name; the weight is the cosine.

    Attributes:
        min_similarity: the lowest cosine of an edge, > 0.
        k: the largest number of edges from an entity.
        min_letters: a name with fewer letters and digits has no edges from it: two letters are
            similar by chance.
        by: what is compared: the "vectors" of names, or their "words". Words need no vectors, and
            take a small part of the time; edges are found exactly, for any number of names. A
            lowest cosine of 0.75 of words joins about as many names as 0.8 of the vectors of the
            embedded default. An index with `clew.Names()` and the embedded default has these, and
            so has one that reads names without being asked for, by any embedder.

    Raises:
        ValueError: `by` is neither.

    Example:
        >>> graph = Graph.of(
        ...     ["Anna Bell", "Ann Bell"], kinds="entity", vectors=[[1, 0], [0.96, 0.28]]
        ... )
        >>> Synonym().on(graph).weights
        array([0.96, 0.96], dtype=float32)
        >>> names = Graph.of(["Anna Maria Bell", "Anna Bells", "Ben"], kinds="entity")
        >>> Synonym(0.75, by="words").on(names).heads
        array([1, 0], dtype=int32)
    """

    min_similarity: float = 0.8
    k: int = 100
    min_letters: int = 3
    by: Literal["vectors", "words"] = "vectors"

    kind: ClassVar[str] = "synonym"
    corpus_wide: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.by not in ("vectors", "words"):
            raise ValueError(f"names are compared by their 'vectors' or 'words'; got {self.by!r}")

    @property
    def grows(self) -> bool:
        """Whether a change takes less than all edges: a new name changes what all words weigh."""
        return self.by == "vectors"

    def on(self, graph: Graph) -> Edges:
        rows = graph.rows("entity")
        if self.by == "vectors":
            edges = nearest_edges(graph, self.kind, rows, self.k, self.min_similarity)
            return self._of_long_names(graph, edges)
        names = graph.part(NameWordsPart())
        tails, others, cosines = nearest_by_columns(
            _weighed(names.counts()), self.k, self.min_similarity
        )
        long = np.flatnonzero(names.letters[tails] >= self.min_letters)
        return Edges.of(self.kind, rows[tails[long]], rows[others[long]], cosines[long])

    def among(self, graph: Graph, rows: Rows) -> Edges:
        """Return the edges from some rows; all edges where any of these is a name."""
        is_name = row_mask(rows, len(graph)) & graph.kinds.mask("entity")
        return self.on(graph) if is_name.any() else Edges.of(self.kind, [], [])

    def grow(self, graph: Graph, before: Edges, n_before: int) -> Edges:
        if not self.grows:
            return self.on(graph)
        rows = graph.rows("entity")
        return self._of_long_names(
            graph,
            grown_edges(graph, before, n_before, self.kind, rows, self.k, self.min_similarity),
            before,
        )

    def shrink(self, graph: Graph, left: Edges, bereft: Mask) -> Edges:
        if not self.grows:
            return self.on(graph)
        rows = graph.rows("entity")
        return self._of_long_names(
            graph, shrunk_edges(graph, left, bereft, self.kind, rows, self.k, self.min_similarity)
        )

    def _of_long_names(self, graph: Graph, edges: Edges, known: Edges | None = None) -> Edges:
        """The edges from names that are long enough, as those are that known edges come from."""
        is_known = row_mask([] if known is None else known.tails, len(graph))
        others = np.flatnonzero(row_mask(edges.tails, len(graph)) & ~is_known).tolist()
        too_short = [
            row for row in others if sum(map(str.isalnum, graph.texts[row])) < self.min_letters
        ]
        return edges.take(np.flatnonzero(~row_mask(too_short, len(graph))[edges.tails]))


def weigh_words(names: Sequence[str]) -> CompressedRows:
    """Return the stems of the words of names as unit rows, the rarest first.

    Args:
        names: the names.

    Example:
        >>> weigh_words(["Anna Bell", "Anna Bells", "Ben"]).dense().round(2).tolist()
        [[0.0, 0.71, 0.71], [0.0, 0.71, 0.71], [1.0, 0.0, 0.0]]
    """
    return _weighed(NameWords.of(names).counts())


def _weighed(counts: CompressedRows) -> CompressedRows:
    """Return what `weigh_words` does, of how often each name has each stem."""
    n, width, columns = len(counts), counts.width, counts.columns
    n_names = np.bincount(columns, minlength=width)  # that have each stem
    weights = np.log1p((n + PRIOR_NAMES - n_names + 0.5) / (n_names + 0.5)) ** IDF_POWER
    rank = np.empty(width, np.int64)
    rank[np.argsort(n_names, kind="stable")] = np.arange(width)
    values = (1 + np.log(counts.values)) * weights[columns]
    rows = CompressedRows.summed(counts.rows, rank[columns], values, (n, width))
    lengths = np.sqrt(np.bincount(rows.rows, np.square(rows.values), n))
    return rows.with_values(rows.values / lengths[rows.rows])
