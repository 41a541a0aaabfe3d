"""Which part of the graph is worth the budget?  prizes, candidates, budget -> subgraph."""

from typing import TYPE_CHECKING

from clew.on_demand import load_on_demand

if TYPE_CHECKING:
    from clew.select.bridges import Bridges
    from clew.select.budgeted import Budgeted
    from clew.select.mcmi import MCMI
    from clew.select.mmr import MMR
    from clew.select.top import Top
    from clew.select.top_reports import TopReports
else:
    __getattr__, __dir__ = load_on_demand(
        __name__,
        {
            "bridges": "Bridges",
            "budgeted": "Budgeted",
            "mcmi": "MCMI",
            "mmr": "MMR",
            "top": "Top",
            "top_reports": "TopReports",
        },
    )

__all__ = ["MCMI", "MMR", "Bridges", "Budgeted", "Top", "TopReports"]
