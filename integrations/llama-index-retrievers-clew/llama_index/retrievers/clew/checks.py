"""What came in place of what is wanted is refused at once, in words that help."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar, cast

from llama_index.core.graph_stores.types import PropertyGraphStore
from llama_index.core.schema import BaseNode

from clew.adapters import as_list

Node = TypeVar("Node", bound=BaseNode)
ADVICE = (
    "for a file or a folder: "
    "ClewRetriever(index=clew.Index.from_documents(folder, embedder=embed_model))"
)


def nodes_or_documents(given: Iterable[Node], what: str) -> list[Node]:
    """Return documents or nodes as a list; a single one is a list of one.

    Raises:
        TypeError: A text or a path, or nothing iterable.
    """
    return as_list(given, BaseNode, what, ADVICE)


def graph_store(store: object) -> PropertyGraphStore:
    """Return a property graph store.

    Raises:
        TypeError: An index over one, or something else.
    """
    name = type(store).__name__
    if hasattr(store, "property_graph_store"):
        raise TypeError(
            f"a {name} is not a property graph store but has one: give its .property_graph_store"
        )
    if not hasattr(store, "get") or not hasattr(store, "get_triplets"):
        raise TypeError(
            f"wanted a PropertyGraphStore, such as index.property_graph_store; got a {name}"
        )
    return cast("PropertyGraphStore", store)
