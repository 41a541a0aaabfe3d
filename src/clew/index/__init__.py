"""The index: documents in, contexts out."""

from clew.index.config import DEFAULT_LINKS, IndexConfig
from clew.index.index import Index
from clew.index.narrow import narrow
from clew.index.question import DEFAULT_BUDGET, QueryOptions

__all__ = ["DEFAULT_BUDGET", "DEFAULT_LINKS", "Index", "IndexConfig", "QueryOptions", "narrow"]
