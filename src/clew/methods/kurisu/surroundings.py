"""What a step of a descent looks at: the node, its children and theirs, as a small graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from clew.algorithms.ranking import top_k
from clew.algorithms.transport.neighbourhood import Neighbourhood
from clew.graph import Floats, Graph, Mask, Vectors, freeze
from clew.methods.kurisu.edge_learning import strength_changes
from clew.methods.kurisu.hierarchy import DocumentTree

if TYPE_CHECKING:
    from clew.methods.kurisu.descent import Descent

IntRows = NDArray[np.int64]
ROOT = -1
DECIMALS = 6  # what float32 vectors are good for; a product that noise moves over a line moves a distance by so much and no order


@dataclass(frozen=True, eq=False)
class Children:
    """What a node leads to: rows (ascending), how strongly, and the row whose edge it is (the root's is -1)."""

    rows: IntRows
    strengths: Floats
    sources: IntRows

    def rewards(
        self, ranked: IntRows, scores: Floats, rule: Descent
    ) -> list[tuple[int, int, float]]:
        """Return how the edges to the best of them would change: (row of the tail or -1, row of the head, change)."""
        near = np.sort(ranked[: rule.n_loc - 1])
        rows, sources = self.rows[near], self.sources[near]
        found = strength_changes(
            np.minimum(scores[rows], 1), reward=rule.reward, penalty_share=rule.penalty_share
        )
        return list(zip(sources.tolist(), rows.tolist(), found.tolist(), strict=True))

    def of(self, rows: IntRows) -> tuple[int, ...]:
        """Return the rows whose edges lead to these, one for each."""
        return tuple(self.sources[np.searchsorted(self.rows, rows)].tolist())

    def outside(self, visited: Mask) -> Children:
        """Return those that are not `visited` (bool [n])."""
        gone = visited[self.rows]
        return (
            Children(self.rows[~gone], self.strengths[~gone], self.sources[~gone])
            if gone.any()
            else self
        )

    def without(self, rows: IntRows) -> Children:
        """Return the others."""
        kept = np.ones(len(self.rows), np.bool_)
        kept[np.searchsorted(self.rows, rows)] = False
        return Children(self.rows[kept], self.strengths[kept], self.sources[kept])


NO_CHILDREN = Children(*(freeze([], kind) for kind in (np.int64, np.float64, np.int64)))


def children_of(tree: DocumentTree, at: IntRows, grafted: Children = NO_CHILDREN) -> Children:
    """Return what the root (no rows) leads to; or a node of these rows, each by the mean of its edges from them; and what was grafted."""
    if not len(at):
        return Children(tree.tops.astype(np.int64), tree.entrances, np.full(len(tree.tops), ROOT))
    slots, sources = tree.slots(at), tree.sources(at)
    heads, strengths = tree.heads[slots].astype(np.int64), tree.strengths[slots]
    if len(grafted.rows):
        heads, strengths = (
            np.concatenate([heads, grafted.rows]),
            np.concatenate([strengths, grafted.strengths]),
        )
        sources = np.concatenate([sources, grafted.sources])
    elif len(at) == 1:
        return Children(heads, strengths, sources)
    order = np.argsort(heads, kind="stable")
    if (np.diff(heads[order]) > 0).all():  # as in a tree, nothing is reached twice
        return Children(heads[order], strengths[order], sources[order])
    rows, first, where = np.unique(heads, return_index=True, return_inverse=True)
    means = np.bincount(where, strengths, len(rows)) / np.maximum(
        np.bincount(where, minlength=len(rows)), 1
    )
    return Children(rows, means, sources[first])


@dataclass(frozen=True, eq=False)
class Surroundings:
    """A neighbourhood whose slot 0 is the node, the next its children, best first, and the last others that are likely.

    `rows` are those of the slots from 1 on; `order` sorts them.
    """

    hood: Neighbourhood
    rows: IntRows
    order: IntRows
    children: Children

    @classmethod
    def of(
        cls,
        graph: Graph,
        tree: DocumentTree,
        at: IntRows,
        children: Children,
        ranked: IntRows,
        relevant: int,
        scores: Floats,
        most: int,
        sharpness: float,
    ) -> Surroundings:
        """Return the surroundings of at most `most` slots: the node, its relevant children, and the likeliest of all below it."""
        from clew.algorithms.transport.kernels.fusing import joins

        sure = children.rows[ranked[: min(relevant, most - 1)]]
        below = np.zeros(len(graph), np.bool_)
        below[children.rows] = below[tree.heads[tree.slots(children.rows)]] = True
        below[sure] = below[at] = False
        others = np.flatnonzero(below)
        rows = np.concatenate([sure, others[top_k(scores[others], most - 1 - len(sure))]])
        order = np.argsort(rows)

        vectors = np.concatenate(
            [_unit(tree, unit_vectors(graph, tree, at)), unit_vectors(graph, tree, rows)]
        ).astype(np.float64)
        products = np.round(vectors @ vectors.T, DECIMALS)
        joined = joins(rows, tree.starts, tree.heads, children.rows)
        return cls(Neighbourhood.of(products, joined, sharpness), rows, order, children)

    def place(self, rows: NDArray[np.signedinteger[Any]]) -> IntRows:
        """Return the slot of each row; 0 for those that have none."""
        at = np.minimum(np.searchsorted(self.rows[self.order], rows), len(self.rows) - 1)
        return np.where(self.rows[self.order[at]] == rows, self.order[at] + 1, 0)


def unit_vectors(graph: Graph, tree: DocumentTree, rows: IntRows) -> Vectors:
    """Return the vectors of these rows, containers' by what is in them."""
    found: Vectors = graph.vectors[rows]
    bare = tree.place[rows]
    if (bare >= 0).any():
        found[bare >= 0] = tree.means[bare[bare >= 0]]
    return found


def _unit(tree: DocumentTree, vectors: Vectors) -> Vectors:
    """The mean of vectors, made a unit vector again; of none, the corpus's."""
    if not len(vectors):
        return tree.root[None, :]
    total = vectors.sum(axis=0, keepdims=True)
    length = float(np.linalg.norm(total))
    unit: Vectors = total / length if length > 0 else total
    return unit
