"""Truss decomposition: the largest k for which each edge is in a k-truss.

The k-truss is the largest part of a graph whose every edge is in at least k - 2 triangles of that
part. The trussness of an edge is the largest k of a truss that has it, and at least 2.

Edges are removed in the order of rising number of triangles; the edges that close a triangle with a
removed one lose one (Wang and Cheng, "Truss decomposition in massive networks", PVLDB 5 (2012)).
The triangles are counted by merging the neighbours of both ends that have more neighbours than the
edge's own (Chiba and Nishizeki, SIAM J. Comput. 14 (1985)). O(m^1.5) time for all k at once, O(m)
memory.

A truss is a set of edges, not of nodes: the graph may have further edges between its nodes. It is
no clique either: the octahedron is a 4-truss without a clique of 4.
"""

from __future__ import annotations

import numpy as np

from clew.graph import Links, Rows, freeze


def trussness(links: Links) -> Rows:
    """Return the trussness of every slot, int32; both slots of an edge have the same.

    Args:
        links: undirected, without self-loops, as `Graph.links` returns them.

    Raises:
        ValueError: an edge has one direction only, or is a self-loop.

    Example:
        >>> from clew.graph import Edges, Graph
        >>> edges = Edges.of("next", [0, 0, 1, 2], [1, 2, 2, 3])
        >>> trussness(Graph.of(list("abcd"), edges=edges).links()).tolist()
        [3, 3, 3, 3, 3, 3, 2, 2]
    """
    if not len(links.targets):
        return freeze([], np.int32)
    from clew.algorithms.community_search.kernels import truss

    # Writable copies: read-only arrays would compile the loops a second time.
    starts, targets = np.array(links.starts, np.int64), np.array(links.targets, np.int32)
    values = truss.decompose(starts, targets, truss.MAX_LISTED)
    if values[0] < 0:
        raise ValueError(
            "trusses are of undirected links: an edge came that has one direction only,"
            " or is a self-loop"
        )
    return freeze(values, np.int32)
