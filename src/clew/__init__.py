"""From the results of a retriever to the context of a language model.

`Index` is the object that most programs need: documents in, contexts out. `narrow` does the same
for the candidates of another retriever, without an index. A method is made of stages, which are in
`clew.seed`, `clew.spread`, `clew.select` and `clew.order`. The named methods are in `clew.recipes`.

Example:
    >>> index = Index.from_documents(["Anna married Ben.", "Ben lives on Corfu."])
    >>> print(index.ask("Who lives on Corfu?", recipe="bm25", budget=8).text)
    - Ben lives on Corfu.
"""

from clew import interruption  # noqa: F401  # Ctrl-C is quiet from here on, in the command

# isort: split
import importlib
import warnings
from typing import TYPE_CHECKING

from clew import (
    adapters,
    generate,
    link,
    methods,
    order,
    read,
    recipes,
    seed,
    select,
    spread,
)
from clew.algorithms.nearest.hnsw import HNSW
from clew.budget import BudgetError
from clew.context import Context
from clew.deadline import DeadlineError
from clew.document import Document
from clew.embedding.cached_embedder import CachedEmbedder
from clew.embedding.embedder import Embedder
from clew.graph import Graph
from clew.index.config import IndexConfig
from clew.index.index import Index
from clew.index.narrow import narrow
from clew.index.question import QueryOptions
from clew.items import Item, Step
from clew.model import AnswerCache, Model
from clew.pipeline import Pipeline
from clew.read import (
    Names,
    NamesAndSymbols,
    Plain,
    SplitFiles,
    Splitter,
    Symbols,
    Triples,
    estimate_extraction,
)
from clew.recipes import Recipe
from clew.render import Render
from clew.types import (
    Generate,
    Link,
    Method,
    Order,
    Prizes,
    Query,
    Reading,
    Seed,
    Seeds,
    Select,
    Spread,
    Subgraph,
)
from clew.version import __version__

if TYPE_CHECKING:
    from clew import cite, documentation
    from clew.conversation import Conversation

__all__ = [
    "HNSW",
    "AnswerCache",
    "BudgetError",
    "CachedEmbedder",
    "Context",
    "Conversation",
    "DeadlineError",
    "Document",
    "Embedder",
    "Generate",
    "Graph",
    "Index",
    "IndexConfig",
    "Item",
    "Link",
    "Method",
    "Model",
    "Names",
    "NamesAndSymbols",
    "Order",
    "Pipeline",
    "Plain",
    "Prizes",
    "Query",
    "QueryOptions",
    "Reading",
    "Recipe",
    "Render",
    "Seed",
    "Seeds",
    "Select",
    "SplitFiles",
    "Splitter",
    "Spread",
    "Step",
    "Subgraph",
    "Symbols",
    "Triples",
    "__version__",
    "adapters",
    "cite",
    "documentation",
    "estimate_extraction",
    "generate",
    "link",
    "methods",
    "narrow",
    "order",
    "read",
    "recipes",
    "seed",
    "select",
    "spread",
]

DEPRECATED = {
    "Answers": "clew.model.AnswerCache",
    "estimate": "clew.read.estimate_extraction",
    "write": "clew.generate",
}
"""What names of version 0.1 are called now; they work, with a warning, until version 0.3."""


ROOMS = ("cite", "documentation")
"""Rooms that are loaded when they are asked for: no question needs them."""


def __getattr__(name: str) -> object:
    """Return a room that was not loaded yet, or with a warning what a deprecated name means."""
    if name in ROOMS:
        return importlib.import_module(f"clew.{name}")
    if name == "Conversation":  # no question needs it, either
        from clew.conversation import Conversation

        return Conversation
    if name not in DEPRECATED:
        raise AttributeError(f"module 'clew' has no attribute {name!r}")
    new = DEPRECATED[name]
    warnings.warn(f"clew.{name} is now {new}", DeprecationWarning, stacklevel=2)
    home, _, attribute = new.rpartition(".")
    return getattr(importlib.import_module(home), attribute)
