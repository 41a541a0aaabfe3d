"""The nearest and the farthest rows by cosine, exactly, of whole numbers that bound the cosines.

A row is kept as int8, a quarter of its bytes, and with the length of what rounding takes from it.
By Cauchy and Schwarz no cosine is farther from that of the rounded vectors than these lengths say.
So only the few rows that may be among the nearest, or be the farthest, are looked at themselves.
The same bounds are those of the "vector approximation file" (Weber, Schek and Blott, VLDB 1998).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clew.algorithms.cosines import LOW, check_width, cosines
from clew.algorithms.kernels.sums import products_of_codes
from clew.algorithms.ranking import TOLERANCE, top_k
from clew.graph import AnyVectors, Floats, Mask, Vectors, in_blocks, release_pages, seal

LARGEST, LARGEST_OF_QUERY = 127, 2047  # whole numbers
MAX_WIDTH = 2048  # dimensions; sums of more products might not fit into int32
BLOCK_ROWS = 256  # of 768 float32 they fit into a processor's cache
MARGIN = 4 * TOLERANCE  # rounding of float32, and scores that count as equal
LONGEST = 1e-3  # by which a unit row may be too long


class Extremes(NamedTuple):
    """The nearest rows of a query, and between which cosines all rows are.

    Attributes:
        rows: int64 [k], the nearest first.
        cosines: float64 [k], their cosines.
        lowest: the lowest cosine of all rows.
        highest: the highest cosine of all rows.
        farthest: the row with the lowest cosine of all; of equal ones the first.
    """

    rows: NDArray[np.int64]
    cosines: Floats
    lowest: float
    highest: float
    farthest: int


@dataclass(frozen=True, eq=False)
class CoarseVectors:
    """Rounded rows, by which the cosines of the rows themselves are bounded.

    Attributes:
        codes: int8 [n, d]. A row is about `codes * scales`.
        scales: float32 [n].
        rests: float32 [n], no less than the length of what the rounding of each row took.

    Example:
        >>> vectors = np.array([[1, 0], [0.8, 0.6], [-1, 0]], np.float32)
        >>> coarse = CoarseVectors.of(vectors)
        >>> found = coarse.extremes(vectors, np.float32([1, 0]), 1, np.ones(3, np.bool_))
        >>> found.rows.tolist(), found.lowest
        ([0], -1.0)
    """

    codes: NDArray[np.int8]
    scales: Vectors
    rests: Vectors

    @classmethod
    def of(cls, vectors: AnyVectors) -> CoarseVectors:
        """Return the rounded rows of float32 [n, d]: unit rows or zeros."""
        codes = np.empty(vectors.shape, np.int8)
        scales, rests = np.empty(len(vectors), np.float32), np.empty(len(vectors), np.float32)
        for start, block in in_blocks(vectors, BLOCK_ROWS):
            end = start + len(block)
            scales[start:end], whole = _rounded(block, LARGEST)
            codes[start:end] = whole
            rest = block - whole * scales[start:end, None]
            rests[start:end] = np.sqrt(np.einsum("ij,ij->i", rest, rest)) + MARGIN
        return cls(seal(codes), seal(scales), seal(rests))

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def has_vector(self) -> Mask:
        """True for the rows that are not all zeros: bool [n]."""
        has_vector: Mask = self.scales > 0
        return has_vector

    def with_rows(self, vectors: Vectors) -> CoarseVectors:
        """Return these rows with those of float32 [m, d] behind them."""
        more = CoarseVectors.of(vectors)
        return CoarseVectors(
            seal(np.concatenate([self.codes, more.codes])),
            seal(np.concatenate([self.scales, more.scales])),
            seal(np.concatenate([self.rests, more.rests])),
        )

    def extremes(self, vectors: AnyVectors, query: Vectors, k: int, among: Mask) -> Extremes | None:
        """Return the nearest of some rows, as `top_k` of their cosines does.

        None where all cosines are so low that noise makes some equal (see `cosines`), or fewer than
        k rows come into question: then all cosines are needed.

        Args:
            vectors: float32 [n, d], the rows themselves.
            query: [d], a unit vector.
            k: the number of rows, at least 1.
            among: bool [n], the rows of which the nearest are wanted.

        Raises:
            ValueError: The query vector is not as wide as the rows.
        """
        check_width(vectors, query)
        (scale,), (whole,) = _rounded(query.astype(np.float32)[None, :], LARGEST_OF_QUERY)
        rest = float(np.linalg.norm(query - whole * scale))
        products = products_of_codes(self.codes, whole.astype(np.int16))
        middle = products * (self.scales * np.float64(scale))
        width = (1 + rest) * self.rests.astype(np.float64) + rest * (1 + LONGEST)
        lower, upper = middle - width, middle + width
        count = int(among.sum())
        if count < k:
            return None
        wanted = lower if count == len(lower) else lower[among]
        kth = np.partition(wanted, count - k)[count - k]
        is_near = among & (upper >= kth - MARGIN)
        ends = (upper >= lower.max() - MARGIN) | (lower <= upper.min() + MARGIN)
        near, others = np.flatnonzero(is_near), np.flatnonzero(ends & ~is_near)
        rows = np.concatenate([near, others])
        exact = cosines(vectors[rows], query)
        release_pages(vectors)
        lowest, highest = float(exact.min()), float(exact.max())
        if highest < LOW:
            return None
        of_near = exact[: len(near)]
        largest = max(float(of_near.max()), -lowest)
        best = top_k(of_near, k, largest)
        order = np.argsort(rows)
        farthest = rows[order[top_k(-exact[order], 1, largest)[0]]]
        return Extremes(near[best], of_near[best], lowest, highest, int(farthest))


def _rounded(vectors: Vectors, largest: int) -> tuple[Vectors, Vectors]:
    """Return a scale for every row, 0 for zeros, and the row in whole numbers of it."""
    scales = np.abs(vectors).max(axis=1, initial=0) / np.float32(largest)
    divisors = np.where(scales > 0, scales, np.float32(1))
    return scales, np.rint(vectors / divisors[:, None])
