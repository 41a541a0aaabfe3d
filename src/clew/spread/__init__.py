"""What else is worth reading, given the links?  prizes -> prizes"""

from clew.spread.pagerank import PageRank

__all__ = ["PageRank"]
