"""From the results of a retriever to the context of a language model.

`Index` is the object that most programs need: documents in, contexts out. `narrow` does the same
for the candidates of another retriever, without an index. A method is made of stages, which are in
`clew.seed`, `clew.spread`, `clew.select` and `clew.order`. The named methods are in `clew.recipes`.

Example:
    >>> from clew import Index
    >>> index = Index.from_documents(["Anna married Ben.", "Ben lives on Corfu."])
    >>> print(index.ask("Who lives on Corfu?", recipe="bm25", budget=8).text)
    - Ben lives on Corfu.
"""

from clew import interruption  # noqa: F401  # Ctrl-C is quiet from here on, in the command

# isort: split
import importlib
import warnings
from typing import TYPE_CHECKING

from clew.on_demand import load_on_demand

if TYPE_CHECKING:
    from clew import (
        adapters,
        cite,
        documentation,
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
    from clew.conversation import Conversation
    from clew.deadline import DeadlineError
    from clew.document import Document
    from clew.embedding.cached_embedder import CachedEmbedder
    from clew.embedding.embedder import Embedder
    from clew.graph import Graph
    from clew.index.config import IndexConfig
    from clew.index.index import Index
    from clew.index.narrowing import narrow
    from clew.index.question import QueryOptions
    from clew.items import Item, Step
    from clew.model import AnswerCache, Model
    from clew.pipeline import Pipeline
    from clew.read import (
        Names,
        NamesAndSymbols,
        NamesWhereMany,
        Plain,
        SplitFiles,
        Splitter,
        Symbols,
        Terms,
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
    "NamesWhereMany",
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
    "Terms",
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


_load, __dir__ = load_on_demand(
    __name__,
    {
        "algorithms.nearest.hnsw": "HNSW",
        "budget": "BudgetError",
        "context": "Context",
        "conversation": "Conversation",
        "deadline": "DeadlineError",
        "document": "Document",
        "embedding.cached_embedder": "CachedEmbedder",
        "embedding.embedder": "Embedder",
        "graph.graph": "Graph",
        "index.config": "IndexConfig",
        "index.index": "Index",
        "index.narrowing": "narrow",
        "index.question": "QueryOptions",
        "items": "Item Step",
        "model.cache": "AnswerCache",
        "model.model": "Model",
        "pipeline": "Pipeline",
        "read.canonical": "Plain",
        "read.extract.language_model": "Triples",
        "read.extract.names": "Names",
        "read.extract.names_where_many": "NamesWhereMany",
        "read.extract.symbols": "NamesAndSymbols Symbols",
        "read.extract.terms": "Terms",
        "read.nodes": "estimate_extraction",
        "read.split.files": "SplitFiles",
        "read.split.splitter": "Splitter",
        "recipes": "Recipe",
        "render": "Render",
        "types": (
            "Generate Link Method Order Prizes Query Reading Seed Seeds Select Spread Subgraph"
        ),
        "version": "__version__",
    },
    rooms=(
        *("adapters", "cite", "documentation", "generate", "link", "methods", "order", "read"),
        *("recipes", "seed", "select", "spread"),
    ),
)

if not TYPE_CHECKING:  # a type checker knows the names above, and that there are no others

    def __getattr__(name: str) -> object:
        """Return what was not loaded yet, or with a warning what a deprecated name means."""
        if name not in DEPRECATED:
            return _load(name)
        new = DEPRECATED[name]
        warnings.warn(f"clew.{name} is now {new}", DeprecationWarning, stacklevel=2)
        home, _, attribute = new.rpartition(".")
        return getattr(importlib.import_module(home), attribute)
