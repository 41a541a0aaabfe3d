"""Helpers on rows that several methods need."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clew.graph import Graph, Mask
from clew.types import Subgraph


def expand_ranges(begins: NDArray[np.integer], ends: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return the numbers from each begin up to its end, one range after another.

    Example:
        >>> expand_ranges(np.array([0, 7]), np.array([2, 10])).tolist()
        [0, 1, 7, 8, 9]
    """
    lengths = ends - begins
    behind = np.cumsum(lengths)
    total = behind[-1] if len(behind) else 0
    numbers: NDArray[np.int64] = np.arange(total) + np.repeat(ends - behind, lengths)
    return numbers


def offered_mask(graph: Graph, candidates: Subgraph) -> Mask:
    """Return True for the nodes that a selector may choose, bool [n]."""
    offered = np.zeros(len(graph), np.bool_)
    offered[candidates.nodes] = True
    return offered
