"""The most prize that a token budget buys in one connected piece: rooted budgeted node-weighted Steiner trees.

    max  sum of prizes over S     such that  sum of tokens over S <= budget  and  S with the root Q is connected

Q is no node of the graph: it is linked to `roots`. The problem holds both the knapsack and the Steiner tree. It is no prize-collecting
Steiner tree, which is its Lagrangian relaxation and misses budgets between two corners of the convex hull; and it is more than "every
chosen node has a chosen neighbour", by which two nodes far from Q may hold each other up.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from clew.graph import NOTHING, Floats, Rows


@dataclass(frozen=True, eq=False)
class Problem:
    """What to choose from: an undirected simple graph in compressed rows.

    Attributes (n nodes): `starts` int64 [n + 1] and `targets` int32 [m], each edge both ways; `prizes` float64 [n], >= 0; `tokens`
    int64 [n], >= 0 (0: free to pass); `roots` int32, the rows linked to Q; `budget` >= 0.
    """

    starts: NDArray[np.int64]
    targets: Rows
    prizes: Floats
    tokens: NDArray[np.int64]
    roots: Rows
    budget: int

    def __len__(self) -> int:
        return len(self.starts) - 1


@dataclass(frozen=True, eq=False)
class Solution:
    """A feasible choice: its `rows` (ascending) and `value`; `bound` >= every feasible value (inf if none is known).

    `proved` says that no choice is worth more. `work` says what was done.
    """

    rows: Rows
    value: float
    bound: float = np.inf
    proved: bool = False
    work: Mapping[str, object] = field(default_factory=lambda: NOTHING)
