"""Helpers on rows that several methods need."""

from __future__ import annotations

import numpy as np

from clew.graph import Graph, Mask
from clew.types import Subgraph


def offered_mask(graph: Graph, candidates: Subgraph) -> Mask:
    """Return True for the nodes that a selector may choose, bool [n]."""
    offered = np.zeros(len(graph), np.bool_)
    offered[candidates.nodes] = True
    return offered
