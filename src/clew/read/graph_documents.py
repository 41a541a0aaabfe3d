"""Facts that others have read already come with the texts: LlamaIndex nodes behind a path extractor, LangChain graph documents.

Both are met by what they offer; no framework is imported. LlamaIndex's extractors leave entities and relations in a node's metadata, under
"nodes" and "relations"; a LangChain graph document has `nodes`, `relationships` and the `source` they were read from.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

from clew.read.extract.extractor import Triple
from clew.read.langchain_documents import is_chunk

NODES, RELATIONS = "nodes", "relations"


def is_graph(source: Any) -> bool:
    """Whether this is a LangChain graph document, by its looks."""
    parts = (getattr(source, name, None) for name in ("nodes", "relationships"))
    return (
        not isinstance(source, type)
        and all(isinstance(part, list) for part in parts)
        and is_chunk(getattr(source, "source", None))
    )


def facts_of_graph(graph: Any) -> tuple[Triple, ...]:
    """Return the relationships of a graph document as facts; entities without any say nothing that could be compared with a question."""
    said = (
        (str(one.source.id), relation_words(str(one.type)), str(one.target.id))
        for one in graph.relationships
    )
    return _distinct(said)


def without_graph(node: Any) -> tuple[Any, tuple[Triple, ...]]:
    """Return a LlamaIndex node and the facts in its metadata; the node is a copy without these, if there are any, else the same.

    Relations between the nodes themselves, as `ImplicitPathExtractor` writes them, say how these follow one another, and are no facts.
    """
    metadata = getattr(node, "metadata", None) or {}
    entities, relations = metadata.get(NODES), metadata.get(RELATIONS)
    if (
        not isinstance(entities, list)
        or not isinstance(relations, list)
        or not all(hasattr(one, "target_id") for one in relations)
    ):
        return node, ()
    names = {str(one.id): str(one.name) for one in entities if hasattr(one, "name")}
    chunks = {str(one.id) for one in entities if hasattr(one, "text") and not hasattr(one, "name")}
    chunks |= {str(node.node_id)} | {
        str(one.node_id) for other in node.relationships.values() for one in _several(other)
    }
    said = [
        (
            names.get(str(one.source_id), str(one.source_id)),
            relation_words(str(one.label)),
            names.get(str(one.target_id), str(one.target_id)),
        )
        for one in relations
        if not {str(one.source_id), str(one.target_id)} & chunks
    ]
    bare = copy.copy(node)
    bare.metadata = {key: value for key, value in metadata.items() if key not in (NODES, RELATIONS)}
    return bare, _distinct(said)


def relation_words(label: str) -> str:
    """Return a relation's label as it would be said: WORKS_AT is "works at"."""
    words = " ".join(label.replace("_", " ").split())
    return words.lower() if words.isupper() else words


def _several(other: Any) -> Iterable[Any]:
    return [one for one in (other if isinstance(other, list) else [other]) if one is not None]


def _distinct(said: Iterable[Triple]) -> tuple[Triple, ...]:
    return tuple(
        dict.fromkeys(triple for triple in said if triple[0].strip() and triple[2].strip())
    )
