"""Nothing is read twice: no sentence beside the passage it is part of, and no copy of a text beside another."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from clew.algorithms.ranking import levels
from clew.graph import Floats, Graph, freeze, heading_of


@dataclass(frozen=True)
class DuplicatesPart:
    """The part that finds what has the text of another node of its kind, under the same heading."""

    def compute(self, graph: Graph) -> Duplicates:
        by_text: defaultdict[str, list[int]] = defaultdict(list)
        for row in np.flatnonzero(graph.content).tolist():
            by_text[graph.texts[row].strip()].append(row)
        groups: defaultdict[tuple[str, str, str], list[int]] = defaultdict(list)
        for text, rows in by_text.items():
            for row in rows if len(rows) > 1 else ():
                groups[text, heading_of(graph, row), graph.kinds[row]].append(row)
        first = np.arange(len(graph))
        several = {rows[0]: tuple(rows) for rows in groups.values() if len(rows) > 1}
        for row, copies in several.items():
            first[list(copies)] = row
        return Duplicates(
            freeze(first, np.int64),
            freeze([row for copies in several.values() for row in copies], np.int64),
            several,
        )

    def grown(self, graph: Graph, base: Graph, before: Duplicates) -> Duplicates:
        """Return what `of` returns, where all nodes that came to the base are made texts, which are no copies."""
        return replace(
            before,
            first=freeze(np.append(before.first, np.arange(len(base), len(graph))), np.int64),
        )


@dataclass(frozen=True, eq=False)
class Duplicates:
    """The first of its copies for every row (itself, where there is no other), all rows that have some, and these by the first."""

    first: NDArray[np.int64]
    rows: NDArray[np.int64]
    groups: Mapping[int, tuple[int, ...]]

    def best_alone(self, prizes: Floats) -> Floats:
        """Return the prizes with those of all copies but the best at 0, so that no room is kept for these."""
        if not len(self.rows):
            return prizes
        ranked = self.rows[
            np.lexsort(
                (
                    self.rows,
                    levels(prizes[self.rows], float(np.abs(prizes).max())),
                    self.first[self.rows],
                )
            )
        ]
        best = np.append(True, np.diff(self.first[ranked]) != 0)
        alone = prizes.copy()
        alone[ranked[~best]] = 0.0
        return alone

    def others(self, row: int) -> list[int]:
        """Return the rows that say the same as this one."""
        return [other for other in self.groups.get(int(self.first[row]), ()) if other != row]


class OverlapFilter:
    """A set of nodes none of which lies within another, in one document, or is its copy; each is taken or refused in logarithmic time.

    Spans of one document none of which contains another are sorted by start and by end at once, so that only the neighbours of a new one
    can contain it or lie in it.
    """

    def __init__(self, graph: Graph) -> None:
        self.documents, self.spans = graph.documents, graph.spans
        self.copies = graph.part(DuplicatesPart())
        self.taken: dict[int, list[tuple[int, int]]] = {}
        self.said = set[int]()

    def take(self, row: int) -> bool:
        """Take a node and return True, unless it contains, lies in or says the same as one that is taken."""
        if self.copies.first[row] in self.said:
            return False
        if self._fits(row):
            self.said.add(int(self.copies.first[row]))
            return True
        return False

    def _fits(self, row: int) -> bool:
        document = int(self.documents[row])
        if document < 0:
            return True
        start, end = self.spans[row].tolist()
        taken = self.taken.setdefault(document, [])
        at = bisect_left(taken, (start, end))
        if at < len(taken) and taken[at][1] <= end:
            return False  # it begins no earlier and ends no later: it lies inside
        if at > 0 and (taken[at - 1][1] >= end or taken[at - 1][0] == start):
            return False  # it begins no later and ends no earlier, or they begin together: one is around the other
        if at < len(taken) and taken[at][0] == start:
            return False
        insort(taken, (start, end))
        return True
