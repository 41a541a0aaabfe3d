"""clew: from what a retriever finds to what a language model should read."""

from clew import (
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
from clew.budget import BudgetError
from clew.context import Context, Item, Step
from clew.document import Document
from clew.embedding.embedder import Embedder
from clew.graph import Graph
from clew.index.index import Index
from clew.index.narrow import narrow
from clew.model import AnswerCache, Model
from clew.pipeline import Pipeline
from clew.read import Names, Plain, Splitter, Triples, estimate_extraction
from clew.render import Render
from clew.types import Query, Seeds, Subgraph

__all__ = [
    "AnswerCache",
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
__version__ = "0.1.0"
