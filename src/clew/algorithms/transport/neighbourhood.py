"""A small graph around a node, before and after some of its nodes are fused or linked: what the distance between the two is taken of.

An edge is as long as its ends differ, exp(sharpness * (1 - cos)) - 1, so that it is 0 between equals; distances are those of the shortest
ways, as shares of the longest before any change, and 1 where no way leads. (Kurisu-G2, ICLR 2026 submission 18441, section 2.2.3, takes
1 more for every edge and the bare length between any two nodes: then nothing is at distance 0 from itself, and no new edge is ever seen.)

The nodes stand on slots. Fused ones keep their slots, with equal rows and no way between them, so that a fused node has the mass of all.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from clew.algorithms.transport.fused_gromov_wasserstein import TransportVerdict, accepted
from clew.graph import Floats, Mask

SHORTEST = 1e-3  # an edge between equals is still a step


@dataclass(frozen=True, eq=False)
class Neighbourhood:
    """Nodes on n slots: the `products` of their vectors, float64 [n, n]; which are `joined`, and which are one (`alike`), bool [n, n].

    `scale` is the length that is a distance of 1; 0 for that of the longest way.
    """

    products: Floats
    joined: Mask
    alike: Mask
    sharpness: float
    scale: float = 0.0

    @classmethod
    def of(cls, products: Floats, joined: Mask, sharpness: float = 1.0) -> Neighbourhood:
        """Return the neighbourhood before any change: `products` of unit vectors (or zeros), `joined` symmetric."""
        return cls(products, joined, np.eye(len(products), dtype=np.bool_), sharpness)

    @cached_property
    def _measured(self) -> tuple[Floats, float]:
        from clew.algorithms.transport.kernels.fusing import distances

        found: tuple[Floats, float] = distances(
            self.products, self.joined, self.alike, self.sharpness, SHORTEST, self.scale
        )
        return found

    @property
    def distances(self) -> Floats:
        """Distances between slots, as shares of the longest before any change: float64 [n, n]."""
        return self._measured[0]

    def fused(self, members: NDArray[np.int64]) -> tuple[Neighbourhood, Floats]:
        """Return the neighbourhood in which these slots are one node, and the cost of taking each old slot for each new one, [n, n].

        The node's vector is the members' mean, made a unit vector again; it is joined to all that they were joined to.
        """
        from clew.algorithms.transport.kernels.fusing import fuse

        products, joined, alike, costs = fuse(self.products, self.joined, self.alike, members)
        return Neighbourhood(products, joined, alike, self.sharpness, self._measured[1]), costs

    def linked(self, at: NDArray[np.int64], to: NDArray[np.int64]) -> Neighbourhood:
        """Return the neighbourhood with an edge between each of the slots `at`, which are one node, and each of the slots `to`."""
        joined = self.joined.copy()
        for slot in at.tolist():
            joined[slot, to] = joined[to, slot] = True
        return Neighbourhood(self.products, joined, self.alike, self.sharpness, self._measured[1])

    @cached_property
    def costs(self) -> Floats:
        """The cost of taking one slot's node for another's, [n, n]."""
        own = self.products.diagonal()
        return np.maximum(own[:, None] + own[None, :] - 2 * self.products, 0) / 4

    def may_fuse(
        self, members: NDArray[np.int64], most: float, content_weight: float
    ) -> TransportVerdict:
        """Return whether fusing these slots changes it by at most `most`; see `accepted`."""
        after, costs = self.fused(members)
        return accepted(costs, self.distances, after.distances, most, content_weight)

    def may_link(
        self, at: NDArray[np.int64], to: NDArray[np.int64], most: float, content_weight: float
    ) -> TransportVerdict:
        """Return whether these edges change it by at most `most`."""
        return accepted(
            self.costs, self.distances, self.linked(at, to).distances, most, content_weight
        )
