"""A promise that content is connected, kept while a page drops entries and adds others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from clew.algorithms.traversal.reached import induced_links
from clew.graph import Links, Mask, Rows, distinct


@dataclass(frozen=True, eq=False)
class LinkedToQuestion:
    """Content is connected if each row is reached from the question over content that is read.

    Attributes:
        links: the links that may be followed.
        roots: the rows that the question is linked to.
        connectors: rows that are passed without being read.

    Example:
        >>> from clew.graph import Edges, Graph
        >>> links = Graph.of(list("abc"), edges=Edges.of("next", [0, 1], [1, 2])).links()
        >>> connection = LinkedToQuestion(links, np.array([0]), np.array([], np.int32))
        >>> connection.reached(np.array([0, 2])).tolist()
        [True, False]
    """

    links: Links
    roots: Rows
    connectors: Rows

    def reached(self, rows: Rows) -> Mask:
        """Return, for each of these rows, whether it is connected where no others are read."""
        inside = distinct(np.concatenate([rows, self.connectors]).astype(np.int64))
        links, _ = induced_links(self.links, inside, edges=False)
        reached = np.isin(inside, self.roots)
        waiting = np.flatnonzero(reached).tolist()
        while waiting:
            near = links.neighbours(waiting.pop())
            new = near[~reached[near]]
            reached[new] = True
            waiting += new.tolist()
        return reached[np.searchsorted(inside, rows)]
