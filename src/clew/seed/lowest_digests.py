"""The documents with the lowest digests: a sample of any part of a corpus that none is read for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clew.graph import Mask, freeze


@dataclass(frozen=True, eq=False)
class LowestDigests:
    """The documents of a corpus whose beginnings have the lowest digests.

    Attributes:
        keys: int64 [m], the digests, ascending.
        rows: int64 [m], the node of each document; of equal digests, ascending.
        are_all: whether they are all documents. Otherwise no other has a lower digest than the
            highest of these had, when the others were there.
    """

    keys: NDArray[np.int64]
    rows: NDArray[np.int64]
    are_all: bool

    @classmethod
    def of(cls, digests: Iterable[tuple[int, int]], most: int) -> LowestDigests:
        """Return the lowest digests.

        Args:
            digests: the digest and the node of each document, the nodes ascending.
            most: how many there are at most.

        Example:
            >>> lowest = LowestDigests.of([(7, 0), (-3, 4), (5, 6)], most=2)
            >>> lowest.keys.tolist(), lowest.rows.tolist(), lowest.are_all
            ([-3, 5], [4, 6], False)
        """
        pairs = np.array([*digests], np.int64).reshape(-1, 2)
        return cls._of_pairs(pairs, most, are_all=True)

    @classmethod
    def _of_pairs(cls, pairs: NDArray[np.int64], most: int, are_all: bool) -> LowestDigests:
        order = np.argsort(pairs[:, 0], kind="stable")[:most]
        keys, rows = (freeze(column, np.int64) for column in pairs[order].T)
        return cls(keys, rows, are_all and len(pairs) <= most)

    def among(self, stays: Mask) -> LowestDigests:
        """Return the documents that stay, by their new rows.

        Args:
            stays: bool [nodes], which nodes do.

        Example:
            >>> lowest = LowestDigests.of([(7, 0), (-3, 4), (5, 6)], most=3)
            >>> stays = np.array([True, False, False, False, False, False, True])
            >>> lowest.among(stays).rows.tolist()
            [1, 0]
        """
        left = stays[self.rows]
        rows = (np.cumsum(stays) - 1)[self.rows[left]]
        return LowestDigests(
            freeze(self.keys[left], np.int64), freeze(rows, np.int64), self.are_all
        )

    def with_more(self, digests: Iterable[tuple[int, int]], most: int) -> LowestDigests:
        """Return the lowest digests when some documents came.

        Args:
            digests: the digest and the node of each that came, behind all nodes before.
            most: how many there are at most.

        Example:
            >>> lowest = LowestDigests.of([(7, 0), (-3, 4), (5, 6)], most=2)
            >>> lowest.with_more([(6, 8), (1, 9)], most=2).rows.tolist()
            [4, 9]
        """
        pairs = np.array([*digests], np.int64).reshape(-1, 2)
        if not self.are_all:  # what is not here may be lower than what is above the highest
            pairs = pairs[pairs[:, 0] <= (self.keys[-1] if len(self.keys) else -(2**63))]
        old = np.stack([self.keys, self.rows], axis=1)
        return self._of_pairs(np.concatenate([old, pairs]), most, self.are_all)

    def lowest(self, n: int) -> list[tuple[int, int]] | None:
        """Return the `n` lowest digests with their nodes, or all; None where others may be lower.

        Example:
            >>> LowestDigests.of([(7, 0), (-3, 4)], most=1).lowest(2) is None
            True
        """
        if len(self.keys) < n and not self.are_all:
            return None
        return list(zip(self.keys[:n].tolist(), self.rows[:n].tolist(), strict=True))
