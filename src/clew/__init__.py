"""clew: from what a retriever finds to what a language model should read."""

from clew import cite, link, order, read, recipes, seed, select, spread, write
from clew.context import Context, Item, Step
from clew.document import Document
from clew.embed import Embedder
from clew.fitting import BudgetError
from clew.graph import Graph, Query, Seeds, Subgraph
from clew.index import Index
from clew.model import Answers, Model
from clew.narrow import narrow
from clew.pipeline import Pipeline
from clew.read import Names, Plain, Splitter, Triples, estimate
from clew.render import Render

__all__ = [
    "Answers",
    "BudgetError",
    "Context",
    "Document",
    "Embedder",
    "Graph",
    "Index",
    "Item",
    "Model",
    "Names",
    "Pipeline",
    "Plain",
    "Query",
    "Render",
    "Seeds",
    "Splitter",
    "Step",
    "Subgraph",
    "Triples",
    "cite",
    "estimate",
    "link",
    "narrow",
    "order",
    "read",
    "recipes",
    "seed",
    "select",
    "spread",
    "write",
]
__version__ = "0.1.0"
