"""The index: documents in, contexts out."""

from clew.index.index import DEFAULT_BUDGET, Index
from clew.index.narrow import narrow

__all__ = ["DEFAULT_BUDGET", "Index", "narrow"]
