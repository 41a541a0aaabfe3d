"""clew's retrievers for LlamaIndex."""

from llama_index.retrievers.clew.base import ClewRetriever
from llama_index.retrievers.clew.property_graph import ClewPGRetriever
from llama_index.retrievers.clew.store_pull import StoreBounds

__all__ = ["ClewPGRetriever", "ClewRetriever", "StoreBounds"]
