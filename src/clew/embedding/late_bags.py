"""Bags of words that are counted when one of them is first asked for.

Names and facts are most of the texts of a graph. To count them takes longer than to read them, and
nothing compares them with anything until a question does. Many questions compare facts alone: the
bags of names wait for one that compares names.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from clew.embedding.bag_making import bags_of_counts, narrowed
from clew.embedding.bag_segment import BagSegment
from clew.embedding.bag_table import BagTable, number_terms
from clew.embedding.static import CountsOf, TextCounts
from clew.forking import renew_after_fork
from clew.garbage import collecting_rarely
from clew.graph import Mask, Vectors


class LateTexts:
    """Texts in groups, whose words are counted when one of them is first compared.

    All are counted at once, by one thread while others wait, so that their terms have the same
    numbers whichever group is compared first. What fails or is interrupted leaves nothing behind:
    who asks next counts them.

    Args:
        table: what their bags have in common with others; it learns their terms.
        texts: returns the texts.
        counts_of: counts texts; None for `TextCounts.of`.
        bounds: where each group starts, and where the last one ends.
        rounded: whether their scales may be rounded otherwise than those of vectors that are made,
            as for a graph that is not saved.
    """

    def __init__(
        self,
        table: BagTable,
        texts: Callable[[], Sequence[str]],
        counts_of: CountsOf | None,
        bounds: Sequence[int],
        *,
        rounded: bool = False,
    ) -> None:
        self.table, self._texts, self._counts_of = table, texts, counts_of
        self._bounds, self.rounded = bounds, rounded
        self._counted: dict[int, tuple[TextCounts, NDArray[np.int64]]] | None = None
        self.renew_locks()
        renew_after_fork(self)
        table.expect_terms_of(self)

    def renew_locks(self) -> None:
        """Renew the lock: after a fork, what another thread was counting is counted again."""
        self._lock = threading.RLock()

    @property
    def is_counted(self) -> bool:
        """Whether their words are counted."""
        return self._counted is not None

    def of_group(self, group: int) -> tuple[TextCounts, NDArray[np.int64]]:
        """Return the counts of the distinct texts of a group, and the place of each among them.

        They are as `narrowed` returns them.
        """
        with self._lock:
            return self.count()[group]

    def count(self) -> dict[int, tuple[TextCounts, NDArray[np.int64]]]:
        """Count the words of all, where they are not counted; return the counts of every group."""
        with self._lock:
            if self._counted is None:
                with collecting_rarely():
                    self._counted = dict(enumerate(self._count()))
                self._texts, self._counts_of = tuple, None  # they are not needed any more
            return self._counted

    def forget(self, group: int) -> None:
        """Forget the counts of a group, whose bags are made."""
        if self._counted is not None:
            self._counted.pop(group, None)

    def _count(self) -> list[tuple[TextCounts, NDArray[np.int64]]]:
        texts = self._texts()
        distinct = list(dict.fromkeys(texts))
        places = np.arange(len(texts))
        if len(distinct) < len(texts):  # as hardly ever
            place_of = dict(zip(distinct, range(len(distinct)), strict=True))
            places = np.fromiter(map(place_of.__getitem__, texts), np.int64, len(texts))
        counts = narrowed((self._counts_of or TextCounts.of)(distinct))
        number_terms(self.table, counts)
        if len(distinct) == len(texts):
            bounds = pairwise(self._bounds)
            return [(counts.part(start, end), np.arange(end - start)) for start, end in bounds]
        groups = list[tuple[TextCounts, NDArray[np.int64]]]()
        for start, end in pairwise(self._bounds):
            own, among = np.unique(places[start:end], return_inverse=True)
            groups.append((counts.take(own), among))
        return groups


class LateBags:
    """Bags of a group of texts, which one thread makes while others wait.

    What fails or is interrupted leaves nothing behind: who asks next makes them.

    Args:
        texts: the texts.
        group: which group of them.
    """

    def __init__(self, texts: LateTexts, group: int = 0) -> None:
        self.width = texts.table.embedder.dimensions
        self._texts, self._group = texts, group
        self._made: tuple[BagSegment, NDArray[np.int64]] | None = None
        self.renew_locks()
        renew_after_fork(self)

    def renew_locks(self) -> None:
        """Renew the lock: after a fork, what another thread was making is made again."""
        self._lock = threading.RLock()

    @property
    def table(self) -> BagTable:
        """What they have in common with others."""
        return self._texts.table

    @property
    def is_made(self) -> bool:
        """Whether they are there."""
        return self._made is not None

    @property
    def is_counted(self) -> bool:
        """Whether the words of the texts are counted."""
        return self._texts.is_counted

    def of(self, rows: NDArray[np.int64]) -> BagSegment:
        """Return the bags of some of the texts, by their places in the group."""
        made = self._made
        if made is None:
            with self._lock:
                made = self._made = self._made or self._make()
                self._texts.forget(self._group)
        segment, places = made
        return segment.take(places[rows])

    def _make(self) -> tuple[BagSegment, NDArray[np.int64]]:
        counts, places = self._texts.of_group(self._group)
        with collecting_rarely():
            own = self._texts
            return bags_of_counts(own.table, counts, rounded=own.rounded), places


class MadeLate(Protocol):
    """Bags that are made when one of them is first asked for, as `LateBags` are."""

    @property
    def width(self) -> int:
        """The number of dimensions of a vector."""
        ...

    @property
    def table(self) -> BagTable:
        """What they have in common with others."""
        ...

    @property
    def is_made(self) -> bool:
        """Whether they are there."""
        ...

    @property
    def is_counted(self) -> bool:
        """Whether the words of the texts are counted."""
        ...

    def of(self, rows: NDArray[np.int64]) -> BagSegment:
        """Return some of them."""
        ...


class LateBagSegment:
    """Rows of a column of vectors that are bags of words from the time on that one is asked for.

    Args:
        late: the bags of these and other rows.
        rows: int64 [n], which of them are the rows.

    Example:
        >>> from clew.embedding.bag_making import fit_bags
        >>> static, passages = fit_bags(["The ferry to Corfu leaves at nine.", "Anna met Ben."])
        >>> late = LateBags(LateTexts(passages.table, lambda: ["Anna", "Corfu"], None, [0, 2]))
        >>> segment = LateBagSegment(late, np.array([1]))
        >>> late.is_made, bool((segment[:] == static(["Corfu"])).all()), late.is_made
        (False, True, True)
    """

    def __init__(self, late: MadeLate, rows: NDArray[np.int64]) -> None:
        self._late, self._rows = late, rows
        self._segment: BagSegment | None = None

    def __reduce__(self) -> tuple[Callable[[BagSegment], BagSegment], tuple[BagSegment]]:
        return _itself, (self.bags,)

    @property
    def is_made(self) -> bool:
        """Whether the bags are there."""
        return self._late.is_made

    @property
    def is_counted(self) -> bool:
        """Whether the words of the texts are counted, from which bags are made soon."""
        return self._late.is_counted

    @property
    def table(self) -> BagTable:
        """What the bags have in common with others."""
        return self._late.table

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

    def several_products(self, queries: Vectors) -> Vectors:
        return self.bags.several_products(queries)

    def release_pages(self) -> None:
        if self._segment is not None:
            self._segment.release_pages()


def _itself(segment: BagSegment) -> BagSegment:
    return segment
