"""What came in the place of what is wanted is said at once, in words that help."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from llama_index.core.schema import BaseNode


def several(given: Any, what: str) -> list[Any]:
    """Return documents or nodes as a list; a single one is a list of one.

    Raises:
        TypeError: a text or a path, which would be read letter by letter, or nothing to go through.
    """
    if isinstance(given, BaseNode):
        return [given]
    if isinstance(given, (str, bytes, Path)) or not isinstance(given, Iterable):
        raise TypeError(
            f"{what} are a list of LlamaIndex {what}, not a {type(given).__name__} ({str(given)[:60]!r}); for a file or a folder: "
            "ClewRetriever(index=clew.Index.from_documents(folder, embedder=embed_model))"
        )
    return list(given)


def triples(facts: Any) -> Any:
    """Return facts as they came, where they are named by document.

    Raises:
        TypeError: no mapping.
    """
    if facts is not None and not isinstance(facts, Mapping):
        raise TypeError(
            f"facts are triples by document id, {{id: [(subject, relation, object), ...]}}, not a {type(facts).__name__}"
        )
    return facts


def graph_store(store: Any) -> Any:
    """Return a property graph store.

    Raises:
        TypeError: an index over one, or something else.
    """
    if hasattr(store, "property_graph_store"):
        raise TypeError(
            f"a {type(store).__name__} is not a property graph store but has one: give its .property_graph_store"
        )
    if not hasattr(store, "get") or not hasattr(store, "get_triplets"):
        raise TypeError(
            f"wanted a PropertyGraphStore, such as index.property_graph_store; got a {type(store).__name__}"
        )
    return store
