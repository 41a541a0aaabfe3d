"""Bags in an order in which a processor adds them up twice as fast.

Rows of many lengths let a processor guess wrong where each ends, so those of one length stand
together. An entry is the number of its pair of a column and a count, of which those that come most
often are the lowest: what is added are the numbers of one table, whose most used part stays near
the processor.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.algorithms.kernels.bags import (
    count_pairs,
    largest_counts,
    number_pairs,
    pair_sums,
)
from clew.graph import Floats, offsets_of, seal


@dataclass(frozen=True, eq=False)
class SortedBags:
    """Rows of entries, the shortest first.

    Attributes:
        order: int32 [n], the rows by their number of entries.
        starts: int64 [n + 1], where the entries of each of these start.
        pairs: uint16 or uint32 [m], the pair of each entry.
        columns: int32 [p], the column of each pair, those that come most often first.
        counts: uint8 [p], the count of each pair.

    Example:
        >>> from clew.embedding.bags import Bags
        >>> rows = Bags.of([1, 2], np.array([0, 0, 1], np.uint16), np.array([2, 1, 1], np.uint8))
        >>> SortedBags.of(rows.starts, rows.ends, rows.columns, rows.counts).sums(
        ...     np.array([0.0, 1.0, 3.0]), np.array([0.5, 0.25])).tolist()
        [1.5, 0.75]
    """

    order: NDArray[np.int32]
    starts: NDArray[np.int64]
    pairs: NDArray[Any]
    columns: NDArray[np.int32]
    counts: NDArray[np.uint8]

    @classmethod
    def of(
        cls,
        starts: NDArray[np.int32],
        ends: NDArray[np.int32],
        columns: NDArray[Any],
        counts: NDArray[np.uint8],
    ) -> SortedBags:
        """Return rows that are given as `clew.embedding.bags.Bags` has them."""
        lengths = ends - starts
        order = np.argsort(lengths, kind="stable").astype(np.int32)
        entries = (starts[order], ends[order], columns, counts)
        largest = largest_counts(*entries, int(columns.max(initial=0)) + 1)
        first_pairs = np.cumsum(largest) - largest  # of each column, that of a count of 1
        times = count_pairs(*entries, first_pairs, int(largest.sum()))
        used = np.flatnonzero(times)
        used = used[np.argsort(-times[used], kind="stable")]
        numbers = np.zeros(len(times), np.uint16 if len(used) <= 2**16 else np.uint32)
        numbers[used] = np.arange(len(used))
        pairs = number_pairs(*entries, first_pairs, numbers)
        of_columns = np.repeat(np.arange(len(largest)), largest)[used]
        return cls(
            seal(order),
            seal(offsets_of(lengths[order])),
            seal(pairs),
            seal(of_columns.astype(np.int32)),
            seal((used - first_pairs[of_columns] + 1).astype(np.uint8)),
        )

    def sums(self, weights_of: Floats, of_columns: Floats) -> Floats:
        """Return each row's sum of its counts' weights times the numbers of their columns.

        The sums are those of `clew.algorithms.kernels.bags.bag_sums`, to the bit.

        Args:
            weights_of: float64 [256], the weight of each count.
            of_columns: float64, the number of each column.
        """
        rows = (self.order, self.starts, self.pairs)
        found: Floats = pair_sums(*rows, self.columns, self.counts, weights_of, of_columns)
        return found
