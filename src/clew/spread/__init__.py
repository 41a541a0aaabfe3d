"""What else is worth reading, given the links?  prizes -> prizes"""

from clew.spread.influence import Influence
from clew.spread.intent import AskModel, Cues
from clew.spread.nearby import Nearby
from clew.spread.pagerank import PageRank
from clew.spread.sharpened import Sharpened
from clew.spread.ways import BestFirst, Breadth

__all__ = ["AskModel", "BestFirst", "Breadth", "Cues", "Influence", "Nearby", "PageRank", "Sharpened"]
