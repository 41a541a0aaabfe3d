"""What else is worth reading, given the links?  prizes -> prizes"""

from clew.spread.influence import Influence
from clew.spread.pagerank import PageRank
from clew.spread.sharpened import Sharpened

__all__ = ["Influence", "PageRank", "Sharpened"]
