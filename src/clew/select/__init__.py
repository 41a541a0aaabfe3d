"""Which part of the graph is worth the budget?  prizes, candidates, budget -> subgraph."""

from clew.select.bridges import Bridges
from clew.select.budgeted import Budgeted
from clew.select.mcmi import MCMI
from clew.select.mmr import MMR
from clew.select.top import Top
from clew.select.top_reports import TopReports

__all__ = ["MCMI", "MMR", "Bridges", "Budgeted", "Top", "TopReports"]
