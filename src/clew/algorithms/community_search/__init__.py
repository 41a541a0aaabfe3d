"""Attributed community search: trusses, and Q-Peel on them.

- `trussness` decomposes a graph into trusses (Wang and Cheng, PVLDB 5, 2012).
- `search_communities` and `peel` are Q-Peel (DA-RAG, arXiv 2602.08545, section 5 and Algorithm 1).
"""

from typing import TYPE_CHECKING

from clew.on_demand import load_on_demand

if TYPE_CHECKING:
    from clew.algorithms.community_search.q_peel import (
        LEVELS,
        Community,
        CommunitySearchResult,
        Truss,
        Trusses,
        induced_community,
        k_truss,
        nested_trusses,
        peel,
        search_communities,
        search_trusses,
    )
    from clew.algorithms.community_search.truss import trussness
else:
    __getattr__, __dir__ = load_on_demand(
        __name__,
        {
            "q_peel": (
                "LEVELS Community CommunitySearchResult Truss Trusses induced_community k_truss "
                "nested_trusses peel search_communities search_trusses"
            ),
            "truss": "trussness",
        },
    )

__all__ = [
    "LEVELS",
    "Community",
    "CommunitySearchResult",
    "Truss",
    "Trusses",
    "induced_community",
    "k_truss",
    "nested_trusses",
    "peel",
    "search_communities",
    "search_trusses",
    "trussness",
]
