"""The knapsack on a tree: the best choice that takes no row without the row's parent.

A tree is given by the parent of each row: -1 at the top, -2 for a row outside the tree.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clew.graph import Floats, Mask

MAX_CELLS = 4_000_000  # of the table; above, tokens are counted in larger units, rounded up


def best_subtree(
    parents: NDArray[np.int64], prizes: Floats, tokens: NDArray[np.int64], budget: int
) -> tuple[Mask, int]:
    """Return the choice of most prize whose tokens are within the budget, and the unit of tokens.

    It is exact, by dynamic programming, where the unit is 1. O(rows * budget), and never more than
    a fixed number of cells. Tokens are rounded up to the unit, so the budget holds in any case.

    Args:
        parents: int64 [n], the tree.
        prizes: float64 [n].
        tokens: int64 [n].
        budget: tokens allowed.
    """
    from clew.algorithms.budgeted.kernels.knapsack import preorder, tree_knapsack

    order, sizes = preorder(parents, prizes)
    spendable = min(budget, int(tokens.sum()))
    unit = max(1, -(-len(order) * spendable // MAX_CELLS))
    chosen: Mask = tree_knapsack(order, sizes, -(-tokens // unit), prizes, spendable // unit)
    return chosen, unit


def profitable_subtree(
    parents: NDArray[np.int64], prizes: Floats, tokens: Floats, price: float
) -> Mask:
    """Return the choice of most prize less the price of its tokens.

    Args:
        parents: int64 [n], the tree.
        prizes: float64 [n].
        tokens: float64 [n].
        price: of one token.
    """
    from clew.algorithms.budgeted.kernels.knapsack import preorder

    order, _ = preorder(parents, prizes)
    profit = prizes - price * tokens
    for row in order[::-1].tolist():
        if parents[row] >= 0 and profit[row] > 0:
            profit[parents[row]] += profit[row]
    chosen = np.zeros(len(profit), np.bool_)
    for row in order.tolist():
        chosen[row] = profit[row] > 0 and (parents[row] < 0 or chosen[parents[row]])
    return chosen
