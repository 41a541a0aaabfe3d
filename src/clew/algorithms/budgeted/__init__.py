"""The connected rows of most prize within a token budget: heuristics, bounds and proofs.

The rooted budgeted node-weighted Steiner tree (Moss and Rabani, SIAM J. Comput. 37, 2007), solved
by heuristics and proved by node-separator cuts (Alvarez-Miranda, Ljubic and Mutzel 2013; Fischetti
et al., Math. Program. Comput. 9, 2017).
"""

from typing import TYPE_CHECKING

from clew.on_demand import load_on_demand

if TYPE_CHECKING:
    from clew.algorithms.budgeted.cuts import prove
    from clew.algorithms.budgeted.problem import (
        Problem,
        Solution,
        articulation_mask,
        is_feasible,
        spanning_parents,
    )
    from clew.algorithms.budgeted.shared_costs import SharedCosts, solve_with_shared_costs
    from clew.algorithms.budgeted.solve import METHODS, solve_budgeted
else:
    __getattr__, __dir__ = load_on_demand(
        __name__,
        {
            "cuts": "prove",
            "problem": "Problem Solution articulation_mask is_feasible spanning_parents",
            "shared_costs": "SharedCosts solve_with_shared_costs",
            "solve": "METHODS solve_budgeted",
        },
    )

__all__ = [
    "METHODS",
    "Problem",
    "SharedCosts",
    "Solution",
    "articulation_mask",
    "is_feasible",
    "prove",
    "solve_budgeted",
    "solve_with_shared_costs",
    "spanning_parents",
]
