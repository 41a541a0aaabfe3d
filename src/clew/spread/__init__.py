"""What else is worth reading, given the links?  prizes -> prizes"""

from clew.spread.influence import Influence
from clew.spread.intent import Cues, ModelIntent
from clew.spread.local_pagerank import LocalPageRank
from clew.spread.pagerank import PageRank
from clew.spread.power import Power
from clew.spread.traversal import BestFirst, BreadthFirst

__all__ = [
    "BestFirst",
    "BreadthFirst",
    "Cues",
    "Influence",
    "LocalPageRank",
    "ModelIntent",
    "PageRank",
    "Power",
]
