"""clew's retrievers for LlamaIndex."""

from llama_index.retrievers.clew.base import ClewRetriever
from llama_index.retrievers.clew.property_graph import ClewPGRetriever

__all__ = ["ClewPGRetriever", "ClewRetriever"]
