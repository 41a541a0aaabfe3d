"""Which part of the graph is worth the budget?  prizes, candidates, budget -> subgraph"""

from clew.select.bridged import Bridges
from clew.select.budgeted import Budgeted
from clew.select.communities import Communities
from clew.select.descent import Descent
from clew.select.diverse import MMR
from clew.select.mcmi import MCMI
from clew.select.reports import Reports
from clew.select.top import Top

__all__ = ["MCMI", "MMR", "Bridges", "Budgeted", "Communities", "Descent", "Reports", "Top"]
