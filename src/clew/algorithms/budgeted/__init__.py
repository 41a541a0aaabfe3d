"""The connected rows of most prize within a token budget: heuristics, bounds and proofs.

The rooted budgeted node-weighted Steiner tree (Moss and Rabani, SIAM J. Comput. 37, 2007), solved
by heuristics and proved by node-separator cuts (Alvarez-Miranda, Ljubic and Mutzel 2013; Fischetti
et al., Math. Program. Comput. 9, 2017).
"""

from clew.algorithms.budgeted.cuts import prove
from clew.algorithms.budgeted.problem import (
    Problem,
    Solution,
    attached_rows,
    feasible,
    spanning_edges,
)
from clew.algorithms.budgeted.solve import METHODS, solve

__all__ = [
    "METHODS",
    "Problem",
    "Solution",
    "attached_rows",
    "feasible",
    "prove",
    "solve",
    "spanning_edges",
]
