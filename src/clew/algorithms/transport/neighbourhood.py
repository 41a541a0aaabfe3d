"""A small graph around a node, before and after some of its nodes are fused or linked.

An edge is as long as its ends differ, exp(sharpness * (1 - cos)) - 1, so that it is 0 between equal
nodes. Distances are those of the shortest paths, as shares of the longest before any change, and 1
where no path leads.

Kurisu-G2 (ICLR 2026 submission 18441, section 2.2.3) adds 1 for every edge and takes the bare
length between any two nodes. Then nothing is at distance 0 from itself, and no new edge is ever
seen. A neighbourhood that is `direct` does so, less the 1, which the differences of distances do
not see.

The nodes are on slots. Fused nodes keep their slots, with equal rows and distance 0 between them,
so that a fused node has the mass of all.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from clew.algorithms.transport.fused_gromov_wasserstein import TransportVerdict, decide
from clew.graph import Floats, Mask

SHORTEST = 1e-3  # an edge between equal nodes is still a step


@dataclass(frozen=True, eq=False)
class Neighbourhood:
    """A small graph on n slots.

    Attributes:
        products: float64 [n, n], products of the nodes' vectors.
        joined: bool [n, n], symmetric, which slots an edge joins.
        alike: bool [n, n], which slots are one node.
        sharpness: the exponent of the lengths.
        scale: the length that is a distance of 1; 0 for that of the longest path.
        direct: True for the bare length between any two slots in the place of shortest paths.

    Example:
        >>> pair = Neighbourhood.of(np.eye(2), np.array([[False, True], [True, False]]))
        >>> pair.distances.tolist()
        [[0.0, 1.0], [1.0, 0.0]]
    """

    products: Floats
    joined: Mask
    alike: Mask
    sharpness: float
    scale: float = 0.0
    direct: bool = False

    @classmethod
    def of(
        cls, products: Floats, joined: Mask, sharpness: float = 1.0, *, direct: bool = False
    ) -> Neighbourhood:
        """Return the neighbourhood before any change.

        Args:
            products: float64 [n, n], products of unit vectors or zeros.
            joined: bool [n, n], symmetric.
            sharpness: the exponent of the lengths.
            direct: as in the class.
        """
        alike = np.eye(len(products), dtype=np.bool_)
        return cls(products, joined, alike, sharpness, direct=direct)

    @cached_property
    def _distances_and_scale(self) -> tuple[Floats, float]:
        from clew.algorithms.transport.kernels.fusing import slot_distances

        distances, scale = slot_distances(
            self.products,
            self.joined,
            self.alike,
            self.sharpness,
            SHORTEST,
            self.scale,
            self.direct,
        )
        return distances, scale

    @property
    def distances(self) -> Floats:
        """Distances between slots, as shares of the longest before any change: float64 [n, n]."""
        return self._distances_and_scale[0]

    def fused(
        self, members: NDArray[np.int64], products: Floats | None = None
    ) -> tuple[Neighbourhood, Floats]:
        """Return the neighbourhood in which these slots are one node, and the content costs.

        The node is joined to all slots that its members were joined to.

        Args:
            members: the slots.
            products: float64 [n], products of the node's vector with those of all slots. None for
                the members' mean as its vector, scaled to a unit vector.

        Returns:
            (the neighbourhood, float64 [n, n]: the cost of taking each old slot for each new one).
        """
        from clew.algorithms.transport.kernels.fusing import fuse

        given = np.zeros(0) if products is None else products
        fused_products, joined, alike, costs = fuse(
            self.products, self.joined, self.alike, members, given
        )
        after = replace(
            self,
            products=fused_products,
            joined=joined,
            alike=alike,
            scale=self._distances_and_scale[1],
        )
        return after, costs

    def linked(self, at: NDArray[np.int64], to: NDArray[np.int64]) -> Neighbourhood:
        """Return the neighbourhood with an edge between each of some slots and each of others.

        Args:
            at: slots that are one node.
            to: the slots that it is joined to.
        """
        joined = self.joined.copy()
        for slot in at.tolist():
            joined[slot, to] = joined[to, slot] = True
        return replace(self, joined=joined, scale=self._distances_and_scale[1])

    @cached_property
    def costs(self) -> Floats:
        """The cost of taking one slot's node for another's, float64 [n, n]."""
        own = self.products.diagonal()
        return np.maximum(own[:, None] + own[None, :] - 2 * self.products, 0) / 4

    def may_fuse(
        self,
        members: NDArray[np.int64],
        limit: float,
        content_weight: float,
        products: Floats | None = None,
    ) -> TransportVerdict:
        """Return whether fusing these slots changes the neighbourhood by at most `limit`.

        `products` are as in `fused`.
        """
        after, costs = self.fused(members, products)
        return decide(costs, self.distances, after.distances, limit, content_weight)

    def may_link(
        self, at: NDArray[np.int64], to: NDArray[np.int64], limit: float, content_weight: float
    ) -> TransportVerdict:
        """Return whether these edges change the neighbourhood by at most `limit`."""
        after = self.linked(at, to)
        return decide(self.costs, self.distances, after.distances, limit, content_weight)
