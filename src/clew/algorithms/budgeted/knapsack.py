"""The knapsack on a tree: the best choice that takes nothing without what it hangs on.

A tree is given by the row before each row: -1 at the top, -2 for a row outside it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clew.graph import Floats, Mask

CELLS = 4_000_000  # of the table: above, tokens are counted in coarser units, rounded up, so that the budget is still kept


def best_within(
    came: NDArray[np.int64], prizes: Floats, tokens: NDArray[np.int64], budget: int
) -> tuple[Mask, int]:
    """Return the choice of most prize whose tokens are within the budget, and the unit that they were counted in.

    Exact by dynamic programming where the unit is 1. O(rows * budget), and never more than a fixed number of cells.
    """
    from clew.algorithms.budgeted.kernels.knapsack import preorder, tree_knapsack

    order, sizes = preorder(came, prizes)
    most = min(budget, int(tokens.sum()))
    unit = max(1, -(-len(order) * most // CELLS))
    chosen: Mask = tree_knapsack(order, sizes, -(-tokens // unit), prizes, most // unit)
    return chosen, unit


def paying(came: NDArray[np.int64], prizes: Floats, tokens: Floats, price: float) -> Mask:
    """Return the choice of most prize less the price of its tokens."""
    from clew.algorithms.budgeted.kernels.knapsack import preorder

    order, _ = preorder(came, prizes)
    worth = prizes - price * tokens
    for row in order[::-1].tolist():
        if came[row] >= 0 and worth[row] > 0:
            worth[came[row]] += worth[row]
    taken = np.zeros(len(worth), np.bool_)
    for row in order.tolist():
        taken[row] = worth[row] > 0 and (came[row] < 0 or taken[came[row]])
    return taken
