"""clew in LangChain: a retriever and a document compressor."""

from langchain_clew.compressor import ClewCompressor
from langchain_clew.retriever import ClewRetriever

__all__ = ["ClewCompressor", "ClewRetriever"]
__version__ = "0.1.0"
