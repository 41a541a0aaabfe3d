"""What else is worth reading, given the links?  prizes -> prizes"""

from clew.spread.influence import Influence
from clew.spread.pagerank import PageRank

__all__ = ["Influence", "PageRank"]
