"""Names that probably mean the same entity, by the words that they have in common.

The cosine of tf-idf weights, the best of the measures without learning that go by whole words in
Cohen, Ravikumar and Fienberg, "A comparison of string distance metrics for name-matching tasks"
(2003). A word weighs more the fewer names have it, by idf^1.5, as in the embedded default. Names
are never merged, as by `Synonym`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from clew.algorithms.compressed_rows import CompressedRows
from clew.algorithms.nearest.shared_columns import nearest_by_columns
from clew.graph import Edges, Graph, canonical_text
from clew.link._shared import from_long_names
from clew.text.numbering import Numbering
from clew.text.stems import stem_words
from clew.text.words import BOUNDARY, number_words, terms

LANGUAGE = "en"  # whose endings do not count, as the vectors of the embedded default are trained on
IDF_POWER = 1.5
PRIOR_NAMES = 1000  # counted with those of a graph, without any of their words: a few say little


@dataclass(frozen=True)
class Variant:
    """From each entity to others with most of its rare words; the weight is the cosine of these.

    It needs no vectors, and takes a small part of the time that `Synonym` takes. An index that is
    made with `clew.Names()` and the embedded default has these edges in the place of those.

    Attributes:
        min_similarity: the lowest cosine of an edge, > 0.
        k: the largest number of edges from an entity.
        min_letters: a name with fewer letters and digits has no edges from it: two letters are
            similar by chance.

    Example:
        >>> names = ["Anna Maria Bell", "Anna Bells", "Ben"]
        >>> edges = Variant().on(Graph.of(names, kinds="entity"))
        >>> edges.tails, edges.heads, edges.weights.round(2)
        (array([0, 1], dtype=int32), array([1, 0], dtype=int32), array([0.78, 0.78], dtype=float32))
    """

    min_similarity: float = 0.75
    k: int = 100
    min_letters: int = 3

    kind: ClassVar[str] = "synonym"
    corpus_wide: ClassVar[bool] = True

    def on(self, graph: Graph) -> Edges:
        rows = graph.rows("entity")
        names = [canonical_text(graph, graph.texts[row]) for row in rows.tolist()]
        pairs = nearest_by_columns(_weighted_words(names), self.k, self.min_similarity)
        edges = Edges.of(self.kind, rows[pairs.rows], rows[pairs.others], pairs.cosines)
        return from_long_names(graph, edges, self.min_letters)


def _weighted_words(names: Sequence[str]) -> CompressedRows:
    """Return the words of names as unit rows, the rarest word first."""
    counts = _counted_words(names)
    n, width, columns = len(names), counts.width, counts.columns
    n_names = np.bincount(columns, minlength=width)  # that have each word
    weights = np.log1p((n + PRIOR_NAMES - n_names + 0.5) / (n_names + 0.5)) ** IDF_POWER
    rank = np.empty(width, np.int64)
    rank[np.argsort(n_names, kind="stable")] = np.arange(width)
    values = (1 + np.log(counts.values)) * weights[columns]
    rows = CompressedRows.summed(counts.rows, rank[columns], values, (n, width))
    lengths = np.sqrt(np.bincount(rows.rows, np.square(rows.values), n))
    return rows.with_values(rows.values / lengths[rows.rows])


def _counted_words(names: Sequence[str]) -> CompressedRows:
    """Return how often each name has each stem of a word: float64 [names, stems]."""
    number_of, number_of_stem = Numbering[str]({BOUNDARY: 0}), Numbering[str]()
    plain = number_words([name.lower() for name in names], number_of)
    more, starts = number_of.of_lists(terms(names[i], identifiers=False) for i in plain.others)
    owners = np.repeat(np.array(plain.others, np.int64), np.diff(starts))
    rows = np.concatenate([plain.owners, owners])
    numbers = np.concatenate([plain.numbers, more])
    stems, _ = number_of_stem.of_lists([stem_words(number_of, LANGUAGE)])
    return CompressedRows.counted(rows, stems[numbers], (len(names), len(number_of_stem)))
