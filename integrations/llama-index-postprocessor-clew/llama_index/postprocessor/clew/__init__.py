"""clew's postprocessor for LlamaIndex."""

from llama_index.postprocessor.clew.base import ClewPostprocessor

__all__ = ["ClewPostprocessor"]
