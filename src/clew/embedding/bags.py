"""How often texts have words: bags, the counts that vectors of the embedded default are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clew.algorithms.compressed_rows import CompressedRows
from clew.algorithms.kernels.bags import bag_sums
from clew.graph import (
    CopiedAtOnce,
    Floats,
    Vectors,
    expand_ranges,
    freeze,
    offsets_of,
    seal,
)

BATCH = 8192  # texts that are counted at once
MAX_COUNT = 255  # of a term or a piece in a text; a text with more keeps its vector
COUNTS = np.arange(MAX_COUNT + 1, dtype=np.float64)
OF_PIECES: Floats = np.sqrt(COUNTS)
OF_TERMS: Floats = np.append(0.0, 1 + np.log(COUNTS[1:]))
MOST_COUNTS = 256  # of which one is a byte
MAX_IN_KEYS = 1 << 32  # rows, or columns times counts: a half of a whole number each


@dataclass(frozen=True, eq=False)
class Bags(CopiedAtOnce):
    """How often each row has each of its columns.

    Attributes:
        starts: int32 [n], where the entries of each row start.
        ends: int32 [n], where they end.
        columns: uint16 or int32 [m], the column of each entry.
        counts: uint8 [m], how often it comes.
    """

    starts: NDArray[np.int32]
    ends: NDArray[np.int32]
    columns: NDArray[Any]
    counts: NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def lengths(self) -> NDArray[np.int32]:
        """The number of entries of each row."""
        return self.ends - self.starts

    @cached_property
    def n_entries(self) -> int:
        """The number of entries of all rows."""
        return int(self.lengths.sum())

    @property
    def places(self) -> NDArray[np.int64]:
        """The entries of all rows, row by row."""
        return expand_ranges(self.starts, self.lengths)

    @property
    def entries(self) -> tuple[NDArray[Any], NDArray[np.uint8]]:
        """The columns and the counts of the entries of all rows, row by row."""
        if len(self) and (self.ends[:-1] == self.starts[1:]).all():  # as built
            run = slice(int(self.starts[0]), int(self.ends[-1]))
            return self.columns[run], self.counts[run]
        places = self.places
        return self.columns[places], self.counts[places]

    def take(self, rows: slice | NDArray[np.int64]) -> Bags:
        """Return some rows, which share the entries."""
        return replace(self, starts=self.starts[rows], ends=self.ends[rows])

    def compact(self) -> Bags:
        """Return the same rows with entries of their own, row by row; as it is where they are."""
        columns, counts = self.entries
        if not np.may_share_memory(columns, self.columns):
            return Bags.of(self.lengths, columns, counts)
        if len(columns) == len(self.columns):
            return self
        return Bags.of(self.lengths, columns.copy(), counts.copy())

    @classmethod
    def of(cls, lengths: NDArray[Any], columns: NDArray[Any], counts: NDArray[np.uint8]) -> Bags:
        """Return rows of these lengths, one after the other."""
        starts = freeze(offsets_of(lengths), np.int32)
        return cls(starts[:-1], starts[1:], columns, counts)

    @classmethod
    def of_rows(cls, columns: Sequence[NDArray[Any]], counts: Sequence[NDArray[np.uint8]]) -> Bags:
        """Return rows of which each is given by its columns and counts; there is at least one."""
        lengths = np.array(list(map(len, columns)), np.int64)
        return cls.of(lengths, np.concatenate(columns), np.concatenate(counts))

    @classmethod
    def joined(cls, parts: Sequence[Bags]) -> Bags:
        """Return bags one after the other, each with entries of its own."""
        columns, counts = (
            seal(np.concatenate([getattr(part, name) for part in parts]))
            for name in ("columns", "counts")
        )
        return cls.of(np.concatenate([part.lengths for part in parts]), columns, counts)

    def sums(self, weights_of: Floats, of_columns: Floats) -> Floats:
        """Return each row's sum of its counts' weights times the numbers of their columns."""
        entries = (self.columns, self.counts)
        found: Floats = bag_sums(self.starts, self.ends, *entries, weights_of, of_columns)
        return found


class TextBags(NamedTuple):
    """The bags of one text, as a row of a `clew.embedding.bag_segment.BagSegment` has them.

    Attributes:
        pieces: the columns of its pieces.
        piece_counts: how often each comes.
        terms: the columns of its terms.
        term_counts: how often each comes.
        scales: float32 [3].
        others: float32 [1, d], its vector, where it has no bag; else [0, d].
    """

    pieces: NDArray[Any]
    piece_counts: NDArray[np.uint8]
    terms: NDArray[Any]
    term_counts: NDArray[np.uint8]
    scales: Vectors
    others: Vectors


def columns_in_use(bags: Bags, rank: NDArray[np.int64]) -> tuple[CompressedRows, NDArray[np.int64]]:
    """Return bags as a matrix whose columns are those in use, by rank, and which these are."""
    places = bags.places
    ranks = rank[bags.columns[places]]
    used = np.flatnonzero(np.bincount(ranks))
    number_of = np.zeros(int(used.max(initial=-1)) + 1, np.int64)
    number_of[used] = np.arange(len(used))
    rows, columns = np.repeat(np.arange(len(bags)), bags.lengths), number_of[ranks]
    starts, times = offsets_of(bags.lengths), bags.counts[places].astype(np.int64)
    if ((columns[1:] > columns[:-1]) | (rows[1:] > rows[:-1])).all():  # as those of pieces are
        pass
    elif len(bags) < MAX_IN_KEYS // 2 and len(used) <= MAX_IN_KEYS // MOST_COUNTS:
        # A row, a column and a count in one number are sorted in a tenth of the time.
        keys = rows << 32
        keys |= columns * MOST_COUNTS
        keys |= times
        keys.sort()
        columns, times = (keys & (MAX_IN_KEYS - 1)) // MOST_COUNTS, keys & (MOST_COUNTS - 1)
    else:
        order = np.lexsort((columns, rows))
        columns, times = columns[order], times[order]
    counted = CompressedRows(starts, columns.astype(np.int32), times.astype(np.float64), len(used))
    return counted, used
