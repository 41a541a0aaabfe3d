"""Bags of words that are counted when one of them is first asked for.

Names and facts are most of the texts of a graph. To count them takes longer than to read them, and
nothing compares them with anything until a question does.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from clew.embedding.bags import BagSegment, BagTable, bags_of_texts
from clew.embedding.static import CountsOf
from clew.forking import renew_after_fork
from clew.graph import Mask, Vectors


class LateBags:
    """Bags of some texts, which one thread makes while others wait.

    What fails or is interrupted leaves nothing behind: who asks next makes them.

    Args:
        table: what they have in common with other bags; it learns their terms.
        texts: returns the texts.
        counts_of: counts texts; None for `TextCounts.of`.
    """

    def __init__(
        self,
        table: BagTable,
        texts: Callable[[], Sequence[str]],
        counts_of: CountsOf | None = None,
    ) -> None:
        self.width = table.embedder.dimensions
        self._table, self._texts, self._counts_of = table, texts, counts_of
        self._made: tuple[BagSegment, NDArray[np.int64]] | None = None
        self.renew_locks()
        renew_after_fork(self)

    def renew_locks(self) -> None:
        """Renew the lock: after a fork, what another thread was making is made again."""
        self._lock = threading.RLock()

    @property
    def is_made(self) -> bool:
        """Whether they are there."""
        return self._made is not None

    def of(self, rows: NDArray[np.int64]) -> BagSegment:
        """Return the bags of some of the texts."""
        made = self._made
        if made is None:
            with self._lock:
                made = self._made = self._made or self._make()
                self._texts, self._counts_of = tuple, None  # they are not needed any more
        segment, places = made
        return segment.take(places[rows])

    def _make(self) -> tuple[BagSegment, NDArray[np.int64]]:
        """Return the bags of the distinct texts, and the place of each text among them."""
        texts = self._texts()
        distinct = list(dict.fromkeys(texts))
        made = bags_of_texts(self._table, distinct, self._counts_of)
        if len(distinct) == len(texts):  # as nearly always
            return made, np.arange(len(texts))
        place_of = dict(zip(distinct, range(len(distinct)), strict=True))
        return made, np.fromiter(map(place_of.__getitem__, texts), np.int64, len(texts))


class LateBagSegment:
    """Rows of a column of vectors that are bags of words from the time on that one is asked for.

    Args:
        late: the bags of these and other rows.
        rows: int64 [n], which of them are the rows.

    Example:
        >>> from clew.embedding.bags import fit_bags
        >>> static, passages = fit_bags(["The ferry to Corfu leaves at nine.", "Anna met Ben."])
        >>> late = LateBags(passages.table, lambda: ["Anna", "Corfu"])
        >>> segment = LateBagSegment(late, np.array([1]))
        >>> late.is_made, bool((segment[:] == static(["Corfu"])).all()), late.is_made
        (False, True, True)
    """

    def __init__(self, late: LateBags, rows: NDArray[np.int64]) -> None:
        self._late, self._rows = late, rows
        self._segment: BagSegment | None = None

    def __reduce__(self) -> tuple[Callable[[BagSegment], BagSegment], tuple[BagSegment]]:
        return _itself, (self.bags,)

    @property
    def is_made(self) -> bool:
        """Whether the bags are there."""
        return self._late.is_made

    @property
    def bags(self) -> BagSegment:
        """The bags, which are made where they are not there."""
        if self._segment is None:
            self._segment = self._late.of(self._rows)
        return self._segment

    @property
    def shape(self) -> tuple[int, int]:
        return len(self._rows), self._late.width

    @property
    def has_vector(self) -> Mask:
        return self.bags.has_vector

    @property
    def addresses(self) -> NDArray[np.int64]:
        return self.bags.addresses

    def __getitem__(self, rows: slice | NDArray[np.int64]) -> Vectors:
        return self.bags[rows]

    def take(self, rows: NDArray[np.int64]) -> BagSegment | LateBagSegment:
        return (
            self.bags.take(rows) if self.is_made else LateBagSegment(self._late, self._rows[rows])
        )

    def compact(self) -> BagSegment:
        return self.bags.compact()

    def products(self, query: Vectors) -> Vectors:
        return self.bags.products(query)

    def release_pages(self) -> None:
        if self._segment is not None:
            self._segment.release_pages()


def _itself(segment: BagSegment) -> BagSegment:
    return segment
