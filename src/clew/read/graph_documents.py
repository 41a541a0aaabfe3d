"""Facts that someone else has read come along with the texts.

LlamaIndex's path extractors leave entities and relations in the metadata of a node, under "nodes"
and "relations". A LangChain graph document has `nodes`, `relationships` and the `source` that they
were read from. Both are known by their attributes; no framework is imported.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from typing import Any, Protocol, TypeGuard, TypeVar

from clew.read.extract.extractor import Triple
from clew.read.langchain_documents import LangChainDocument, is_langchain_document

NODES, RELATIONS = "nodes", "relations"


class LangChainGraphDocument(Protocol):
    """What is read of a graph document; a relationship has `source.id`, `type` and `target.id`."""

    nodes: list[Any]
    relationships: list[Any]
    source: LangChainDocument


class RelatedNode(Protocol):
    """What is read of a related node of LlamaIndex."""

    @property
    def node_id(self) -> str: ...


class NodeWithRelations(Protocol):
    """What is read of a LlamaIndex node."""

    node_id: str
    metadata: Any
    relationships: Mapping[Any, Any]


Node = TypeVar("Node", bound=NodeWithRelations)


def is_graph_document(source: object) -> TypeGuard[LangChainGraphDocument]:
    """Return whether an object has the attributes of a LangChain graph document."""
    parts = (getattr(source, name, None) for name in ("nodes", "relationships"))
    return (
        not isinstance(source, type)
        and all(isinstance(part, list) for part in parts)
        and is_langchain_document(getattr(source, "source", None))
    )


def facts_of_graph_document(graph: LangChainGraphDocument) -> tuple[Triple, ...]:
    """Return the relationships of a graph document as facts.

    Its entities without a relationship make no fact, since a question cannot be compared with them.
    """
    return _distinct(
        (str(relation.source.id), relation_words(str(relation.type)), str(relation.target.id))
        for relation in graph.relationships
    )


def split_off_facts(node: Node) -> tuple[Node, tuple[Triple, ...]]:
    """Return a LlamaIndex node without the facts in its metadata, and these facts.

    Relations between the nodes themselves, as `ImplicitPathExtractor` writes them, tell how the
    nodes follow one another and are no facts.

    Args:
        node: The node. It is returned itself if its metadata holds no facts, else a copy.
    """
    metadata = node.metadata or {}
    entities, relations = metadata.get(NODES), metadata.get(RELATIONS)
    if (
        not isinstance(entities, list)
        or not isinstance(relations, list)
        or not all(hasattr(relation, "target_id") for relation in relations)
    ):
        return node, ()
    names = {str(entity.id): str(entity.name) for entity in entities if hasattr(entity, "name")}
    text_nodes = {
        str(entity.id)
        for entity in entities
        if hasattr(entity, "text") and not hasattr(entity, "name")
    }
    text_nodes.add(str(node.node_id))
    for related in node.relationships.values():
        text_nodes.update(ids_of_related(related))
    facts = []
    for relation in relations:
        source, target = str(relation.source_id), str(relation.target_id)
        if source not in text_nodes and target not in text_nodes:
            words = relation_words(str(relation.label))
            facts.append((names.get(source, source), words, names.get(target, target)))
    bare = copy.copy(node)
    bare.metadata = {key: value for key, value in metadata.items() if key not in (NODES, RELATIONS)}
    return bare, _distinct(facts)


def ids_of_related(related: RelatedNode | list[RelatedNode | None] | None) -> list[str]:
    """Return the ids in one entry of a node's relationships: one related node or a list of them."""
    nodes = related if isinstance(related, list) else [related]
    return [str(node.node_id) for node in nodes if node is not None]


def relation_words(label: str) -> str:
    """Return the label of a relation as words.

    Example:
        >>> relation_words("WORKS_AT"), relation_words("isPartOf")
        ('works at', 'isPartOf')
    """
    words = " ".join(label.replace("_", " ").split())
    return words.lower() if words.isupper() else words


def _distinct(facts: Iterable[Triple]) -> tuple[Triple, ...]:
    """Return the facts that name both of their ends, each once."""
    return tuple(dict.fromkeys(fact for fact in facts if fact[0].strip() and fact[2].strip()))
