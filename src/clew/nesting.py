"""No two items of a context overlap: a sentence is not read beside the passage it is part of."""

from __future__ import annotations

from bisect import bisect_left, insort

from clew.graph import Graph


class Apart:
    """A set of nodes of which none lies within another, in one document; each is taken or refused in logarithmic time.

    Spans of one document none of which contains another are sorted by start and by end at once, so that only the neighbours of a new one
    can contain it or lie in it.
    """

    def __init__(self, graph: Graph) -> None:
        self.documents, self.spans = graph.documents, graph.spans
        self.taken: dict[int, list[tuple[int, int]]] = {}

    def take(self, row: int) -> bool:
        """Take a node and return True, unless it contains or lies in one that is taken."""
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
