"""Which part of the graph is worth the budget?  prizes, candidates, budget -> subgraph"""

from clew.select.diverse import MMR
from clew.select.top import Top

__all__ = ["MMR", "Top"]
