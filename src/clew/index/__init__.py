"""The index: documents in, contexts out."""

from typing import TYPE_CHECKING

from clew.on_demand import load_on_demand

if TYPE_CHECKING:
    from clew.index.config import DEFAULT_LINKS, LINKS_OF_NAMES, IndexConfig
    from clew.index.index import Index
    from clew.index.narrowing import narrow
    from clew.index.question import DEFAULT_BUDGET, QueryOptions
else:
    __getattr__, __dir__ = load_on_demand(
        __name__,
        {
            "config": "DEFAULT_LINKS IndexConfig LINKS_OF_NAMES",
            "index": "Index",
            "narrowing": "narrow",
            "question": "DEFAULT_BUDGET QueryOptions",
        },
    )

__all__ = [
    "DEFAULT_BUDGET",
    "DEFAULT_LINKS",
    "LINKS_OF_NAMES",
    "Index",
    "IndexConfig",
    "QueryOptions",
    "narrow",
]
