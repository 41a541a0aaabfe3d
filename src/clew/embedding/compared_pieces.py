"""The pieces of words that some rows have, as a question is compared with them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clew.algorithms.kernels.block_products import WIDTH, block_products, in_blocks
from clew.embedding.word_vectors import PIECES, piece_vectors, stored_vectors
from clew.graph import Mask, Vectors, products

MAX_COPIED = PIECES * 3 // 4  # pieces whose vectors are copied, not to go through those of all
MIN_IN_BLOCKS = 2048  # pieces from which on another order of their numbers gains more than it costs
MIN_ASKED = 16  # vectors compared, after which it is made: it takes about as long as so many


class ComparedPieces:
    """Pieces, and their products with a vector.

    Args:
        pieces: int64 [p].
        vectors: float32 [p, d], nobody else's; None for all pieces, which are not copied.
    """

    def __init__(self, pieces: NDArray[np.int64], vectors: Vectors | None) -> None:
        self.pieces, self._vectors = pieces, vectors
        self._blocks: Vectors | None = None
        self._times = 0

    @classmethod
    def of(cls, compared: Mask) -> ComparedPieces:
        """Return these pieces; all of them, which are not copied, where they are most.

        Args:
            compared: bool [32000].
        """
        if np.count_nonzero(compared) > MAX_COPIED:
            return cls(np.arange(PIECES), None)
        pieces = np.flatnonzero(compared)
        return cls(pieces, stored_vectors()[pieces].astype(np.float32))

    def products(self, vector: Vectors) -> Vectors:
        """Return the dot products with a vector, float32 [p].

        Args:
            vector: float32 [d].
        """
        blocks, vectors = self._blocks, self._vectors
        if blocks is not None:
            of_blocks: Vectors = block_products(blocks, vector)
            return of_blocks[: len(self.pieces)]
        found = products(piece_vectors() if vectors is None else vectors, vector)
        if vectors is not None and len(self.pieces) >= MIN_IN_BLOCKS:
            self._times += 1
            if self._times == MIN_ASKED:
                self._stand_in_blocks(vectors, vector, found)
        return found

    def several_products(self, vectors: Vectors) -> Vectors:
        """Return what `products` does for each of several vectors, float32 [m, p].

        Some pieces are compared with all vectors before the next are read.

        Args:
            vectors: float32 [m, d].
        """
        found = np.empty((len(vectors), len(self.pieces)), np.float32)
        found[0] = self.products(vectors[0])  # which may bring them into blocks
        blocks, rows = self._blocks, piece_vectors() if self._vectors is None else self._vectors
        for start in range(0, len(self.pieces), WIDTH):
            some = slice(start, start + WIDTH)
            own = rows[some] if blocks is None else blocks[start // WIDTH :][:1]
            for row, vector in zip(found[1:, some], vectors[1:], strict=True):
                of_own = products(own, vector) if blocks is None else block_products(own, vector)
                row[:] = of_own[: len(row)]
        if self._times < MIN_ASKED:  # the next one brings them into blocks
            self._times = min(self._times + len(vectors), MIN_ASKED) - 1
        return found

    def _stand_in_blocks(self, vectors: Vectors, vector: Vectors, expected: Vectors) -> None:
        """Keep the vectors in blocks, unless numpy adds in another order on this processor."""
        blocks = in_blocks(vectors)
        found = block_products(blocks, vector)[: len(self.pieces)]
        if found.tobytes() == expected.tobytes():
            # A view of no rows would keep them all.
            self._blocks, self._vectors = blocks, np.empty((0, vectors.shape[1]), np.float32)
