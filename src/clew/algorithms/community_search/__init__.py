"""Attributed community search: trusses, and Q-Peel on them.

- `trussness` decomposes a graph into trusses (Wang and Cheng, PVLDB 5, 2012).
- `search_communities` and `peel` are Q-Peel (DA-RAG, arXiv 2602.08545, section 5 and Algorithm 1).
"""

from clew.algorithms.community_search.q_peel import (
    LEVELS,
    Community,
    CommunitySearchResult,
    Truss,
    peel,
    search_communities,
    truss_of,
    whole_community,
)
from clew.algorithms.community_search.truss import trussness

__all__ = [
    "LEVELS",
    "Community",
    "CommunitySearchResult",
    "Truss",
    "peel",
    "search_communities",
    "truss_of",
    "trussness",
    "whole_community",
]
