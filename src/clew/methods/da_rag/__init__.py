"""DA-RAG (arXiv 2602.08545): communities around a question, among chunks, facts and similar names.

Where each part of the paper is:
- the layers of the index, section 3: `layers`;
- EACS and Q-Peel, section 5 and Algorithm 1: `clew.algorithms.community_search.q_peel`;
- retrieval from coarse to fine, and the choice of k: `selection.CommunitySearch`;
- reports by the caller's language model: `method.DaRag`.
"""

from typing import TYPE_CHECKING

from clew.on_demand import load_on_demand

if TYPE_CHECKING:
    from clew.methods.da_rag.method import DaRag
    from clew.methods.da_rag.selection import CommunitySearch
else:
    __getattr__, __dir__ = load_on_demand(
        __name__,
        {
            "method": "DaRag",
            "selection": "CommunitySearch",
        },
    )

__all__ = ["CommunitySearch", "DaRag"]
