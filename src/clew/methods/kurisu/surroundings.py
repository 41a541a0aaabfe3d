"""The surroundings of one step of a descent: a node, its children and theirs, as a small graph.

The fused Gromov-Wasserstein distance of a fusion or a graft is taken on these surroundings; on the
whole graph, as the paper has it, every test would cost the cube of its nodes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from clew.algorithms.ranking import top_k
from clew.algorithms.transport.neighbourhood import Neighbourhood
from clew.graph import Floats, Graph, Vectors
from clew.methods.kurisu.children import RankedChildren
from clew.methods.kurisu.hierarchy import DocumentTree, IntRows, node_vectors
from clew.methods.kurisu.parameters import DescentParameters

# What float32 vectors are good for. A product that noise moves over a line of this grid moves a
# distance by as much, and changes no order.
DECIMALS = 6


@dataclass(frozen=True, eq=False)
class Surroundings:
    """A neighbourhood: slot 0 is the node, then its relevant children, then others below it.

    Attributes:
        hood: the small graph, which knows its distances.
        rows: the graph's row of each slot from 1 on.
        order: sorts `rows`.
        vectors: of the slots, float64 [slots, d].
    """

    hood: Neighbourhood
    rows: IntRows
    order: IntRows
    vectors: Floats

    @classmethod
    def around(
        cls,
        graph: Graph,
        tree: DocumentTree,
        rows: IntRows,
        ranked: RankedChildren,
        scores: Floats,
        parameters: DescentParameters,
    ) -> Surroundings:
        """Return the surroundings of a node, with at most `parameters.n_loc` slots.

        Args:
            graph: the graph.
            tree: its document hierarchy.
            rows: the node's rows; none is the root.
            ranked: its children. The relevant ones come first, as far as there are slots.
            scores: similarity of every node of the graph to the question, float64 [n]; the most
                similar nodes below the node have the slots that are left.
            parameters: `n_loc`, `sharpness` and `structure` say how they are measured.
        """
        from clew.algorithms.transport.kernels.fusing import joins

        children, n_loc = ranked.children.rows, parameters.n_loc
        relevant = children[ranked.order[: min(ranked.n_relevant, n_loc - 1)]]
        below = np.zeros(len(graph), np.bool_)
        below[children] = below[tree.heads[tree.slots(children)]] = True
        below[relevant] = below[rows] = False
        others = np.flatnonzero(below)
        nearest = others[top_k(scores[others], n_loc - 1 - len(relevant))]
        slot_rows = np.concatenate([relevant, nearest])

        centre = _mean_direction(tree, node_vectors(graph, tree, rows))
        vectors = np.concatenate([centre, node_vectors(graph, tree, slot_rows)]).astype(np.float64)
        products = np.round(vectors @ vectors.T, DECIMALS)
        joined = joins(slot_rows, tree.starts, tree.heads, children)
        hood = Neighbourhood.of(
            products, joined, parameters.sharpness, direct=parameters.structure == "embedding"
        )
        return cls(hood, slot_rows, np.argsort(slot_rows), vectors)

    def products_with(self, vector: Vectors) -> Floats:
        """Return the products of a unit vector with those of all slots, float64 [slots]."""
        cosines = np.einsum("ij,j->i", self.vectors, vector.astype(np.float64))
        products: Floats = np.round(cosines, DECIMALS)
        return products

    def slots_of(self, rows: IntRows) -> IntRows:
        """Return the slot of each row; 0 for a row that has none."""
        ascending = self.rows[self.order]
        places = np.minimum(np.searchsorted(ascending, rows), len(ascending) - 1)
        return np.where(ascending[places] == rows, self.order[places] + 1, 0)


def _mean_direction(tree: DocumentTree, vectors: Vectors) -> Vectors:
    """Return the mean of vectors as a unit vector, [1, d]; of no vectors, that of the corpus."""
    if not len(vectors):
        return tree.root_vector[None, :]
    total = vectors.sum(axis=0, keepdims=True)
    length = float(np.linalg.norm(total))
    unit: Vectors = total / length if length > 0 else total
    return unit
