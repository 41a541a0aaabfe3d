"""DA-RAG: community search over chunks, facts and similar entities."""

from clew.methods.da_rag.method import DaRag
from clew.methods.da_rag.selection import CommunitySearch

__all__ = ["CommunitySearch", "DaRag"]
