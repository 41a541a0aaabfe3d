"""Texts that have a word more often than a bag can say: their words are counted from the text.

A segment keeps their vectors as they are (`clew.embedding.bag_segment`). Where words weigh
something else than when the vectors were made, these are made anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clew.embedding.bag_making import are_too_often
from clew.embedding.bag_table import BagTable, number_terms
from clew.embedding.mean_sample import keys_of_entries
from clew.embedding.static import StaticEmbedding, TextCounts
from clew.graph import Floats, Mask, Vectors, freeze


class TextsWithoutBags(NamedTuple):
    """The texts of some rows of a segment.

    Attributes:
        rows: int64 [k], ascending.
        counts: of the texts.
        numbers: int32, the number of each term in the table of the segment.
    """

    rows: NDArray[np.int64]
    counts: TextCounts
    numbers: NDArray[np.int32]

    @classmethod
    def of(cls, table: BagTable, rows: NDArray[np.int64], texts: Sequence[str]) -> TextsWithoutBags:
        """Return those of some texts that have a word too often, whose terms a table learns.

        Args:
            table: the table, which keeps what is counted.
            rows: int64 [n], the rows of the texts, ascending.
            texts: the texts.
        """
        known = table.counted_texts
        found = [known.get(text) or known.put(text, TextCounts.of([text])) for text in texts]
        chosen = [i for i, counts in enumerate(found) if are_too_often(counts).any()]
        if not chosen:
            return cls(rows[:0], TextCounts.of([]), np.zeros(0, np.int32))
        counts = TextCounts.joined([found[i] for i in chosen])
        number_terms(table, counts, kept=True)
        return cls(rows[chosen], counts, table.numbers(kept=True).of_all(counts.terms))

    def among(self, is_wanted: Mask) -> TextsWithoutBags:
        """Return those of some rows, by a mask over all rows of the segment."""
        chosen = np.flatnonzero(is_wanted[self.rows])
        return self._replace(rows=self.rows[chosen], counts=self.counts.take(chosen))

    @property
    def keys(self) -> NDArray[np.uint64]:
        """The key of each text by its pieces, as `BagSegment.keys` of one that has a bag."""
        pieces, of_pieces = self.counts.pieces, self.counts.of_pieces
        return keys_of_entries(pieces[of_pieces.columns], of_pieces.values, of_pieces.starts)

    def sum_without_mean(self, embedder: StaticEmbedding, rows: NDArray[np.int64]) -> Floats:
        """Return the sum of the vectors of some of the rows, before the mean is subtracted.

        Args:
            embedder: what embeds them.
            rows: rows of the segment, of which these may be some.
        """
        chosen = np.flatnonzero(np.isin(self.rows, rows))
        uncentred = replace(embedder, mean=freeze(np.zeros(embedder.dimensions), np.float32))
        vectors: Vectors = uncentred.vectors_of(self.counts.take(chosen))
        total: Floats = vectors.sum(axis=0, dtype=np.float64)
        return total
