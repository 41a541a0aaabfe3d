"""The children of a node of the path: where each edge leads, how strongly, and from which row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from clew.graph import Floats, Mask, freeze
from clew.methods.kurisu.hierarchy import DocumentTree, IntRows

ROOT = -1  # the row of the virtual corpus root


@dataclass(frozen=True, eq=False)
class Children:
    """The children of one node of a path.

    Attributes:
        rows: the children, ascending, int64 [m].
        strengths: of the edge that leads to each, float64 [m], from 0 to 1.
        sources: the row that each edge starts from; -1 for the root.
    """

    rows: IntRows
    strengths: Floats
    sources: IntRows

    def sources_of(self, rows: IntRows) -> tuple[int, ...]:
        """Return for each of these children the row that its edge starts from."""
        return tuple(self.sources[np.searchsorted(self.rows, rows)].tolist())

    def not_visited(self, visited: Mask) -> Children:
        """Return the children that are not `visited`, bool [n]."""
        hidden = visited[self.rows]
        return self._filtered(~hidden) if hidden.any() else self

    def without(self, rows: IntRows) -> Children:
        """Return the children that are not among `rows`."""
        retained = np.ones(len(self.rows), np.bool_)
        retained[np.searchsorted(self.rows, rows)] = False
        return self._filtered(retained)

    def _filtered(self, mask: Mask) -> Children:
        return Children(self.rows[mask], self.strengths[mask], self.sources[mask])


NO_CHILDREN = Children(*(freeze([], dtype) for dtype in (np.int64, np.float64, np.int64)))


class RankedChildren(NamedTuple):
    """Children by falling strength times similarity.

    Attributes:
        children: all of them.
        order: their places in `children`, best first; empty where none is similar.
        n_relevant: how many pass the similarity threshold.
    """

    children: Children
    order: IntRows
    n_relevant: int


def successors(tree: DocumentTree, rows: IntRows, grafts: Children = NO_CHILDREN) -> Children:
    """Return the children of a node of the path: line 6 of Algorithm 1.

    Args:
        tree: the document hierarchy.
        rows: the node's rows: one, several for a fused node, none for the root. A fused node has
            an edge to every child of its members, with the mean strength of their edges.
        grafts: what was grafted on to the node, if anything.
    """
    if not len(rows):
        root = np.full(len(tree.top_rows), ROOT)
        return Children(tree.top_rows.astype(np.int64), tree.top_strengths, root)
    slots, sources = tree.slots(rows), tree.sources(rows)
    heads, strengths = tree.heads[slots].astype(np.int64), tree.strengths[slots]
    if len(grafts.rows):
        heads = np.concatenate([heads, grafts.rows])
        strengths = np.concatenate([strengths, grafts.strengths])
        sources = np.concatenate([sources, grafts.sources])
    elif len(rows) == 1:
        return Children(heads, strengths, sources)
    order = np.argsort(heads, kind="stable")
    if (np.diff(heads[order]) > 0).all():  # a tree: every head has one edge
        return Children(heads[order], strengths[order], sources[order])
    unique, first, inverse = np.unique(heads, return_index=True, return_inverse=True)
    sums = np.bincount(inverse, strengths, len(unique))
    counts = np.bincount(inverse, minlength=len(unique))
    return Children(unique, sums / np.maximum(counts, 1), sources[first])
