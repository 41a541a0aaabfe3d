"""Maximal marginal relevance: a greedy choice that is relevant and not redundant.

Carbonell and Goldstein, SIGIR 1998, with a budget, and computed lazily (Minoux 1978).
"""

from clew.algorithms.mmr.mmr import MMRSelection, mean_cosine, select_mmr

__all__ = ["MMRSelection", "mean_cosine", "select_mmr"]
