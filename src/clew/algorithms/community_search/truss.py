"""Trusses: the parts of a graph in which every edge closes triangles.

The k-truss is the largest part whose every edge lies in at least k - 2 triangles of that part; the trussness of an edge is the largest k
of a truss that has it, and at least 2. Edges are taken away by rising number of triangles, those that close one with it losing one
(Wang and Cheng, "Truss decomposition in massive networks", PVLDB 5 (2012)); the triangles are counted by merging the neighbours of both
ends that have more neighbours than the edge's own (Chiba and Nishizeki, SIAM J. Comput. 14 (1985)). O(m^1.5) time for all k at once,
O(m) memory.

A truss is a set of edges, not of nodes: the graph may have further edges between its nodes. It is no clique either: the octahedron is a
4-truss without a clique of 4.
"""

from __future__ import annotations

import numpy as np

from clew.graph import Links, Rows, freeze


def trussness(links: Links) -> Rows:
    """Return the trussness of every slot, int32, as long as `targets`; both slots of an edge have the same.

    Args:
        links: undirected, without self-loops, as `Graph.links` makes them. Raises ValueError where a slot has no way back.
    """
    if not len(links.targets):
        return freeze([], np.int32)
    from clew.algorithms.community_search.kernels import truss

    # Plain arrays, as read-only ones would compile the loops anew.
    starts, targets = np.array(links.starts, np.int64), np.array(links.targets, np.int32)
    found = truss.trusses(starts, targets, truss.LISTED)
    if found[0] < 0:
        raise ValueError(
            "trusses are of undirected links: an edge came that has no way back, or leads to its own end"
        )
    return freeze(found, np.int32)
