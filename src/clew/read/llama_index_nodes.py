"""LlamaIndex nodes become documents, by their attributes; the framework is never imported.

A node names the text that it was cut from (SOURCE), the node that contains it (PARENT, CHILD) and
the node before and behind it (PREVIOUS, NEXT), under keys whose values are "1" to "5". Its offsets
count in the text that was cut last: in the parent for a node that has one.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace
from functools import lru_cache
from itertools import compress
from typing import Any, Protocol, TypeGuard

import numpy as np
from numpy.typing import ArrayLike

from clew.document import Document
from clew.graph import Vectors
from clew.read.formats.table import format_of_piece
from clew.read.graph_documents import ids_of_related, split_off_facts

SOURCE, PREVIOUS, NEXT, PARENT, CHILD = "1", "2", "3", "4", "5"
MAX_HEADING_LENGTH = 80  # characters


class LlamaIndexNode(Protocol):
    """What is read of a `llama_index.core.schema.BaseNode`."""

    node_id: str
    metadata: Any
    relationships: Mapping[Any, Any]
    embedding: Any

    def get_content(self, metadata_mode: Any) -> str: ...  # noqa: ANN401  # the framework's enum


def is_node(source: object) -> TypeGuard[LlamaIndexNode]:
    """Return whether an object has the attributes of a LlamaIndex node or document."""
    kind: Any = type(source)  # which mypy does not know to be hashable
    return (
        _may_be_node(kind)
        and hasattr(source, "node_id")  # most have none
        and hasattr(source, "get_content")
        and hasattr(source, "relationships")
        and not isinstance(source, type)
    )


@lru_cache(256)
def _may_be_node(kind: type) -> bool:
    """Return False for LangChain's documents, which take long to say what they do not have."""
    return "page_content" not in getattr(kind, "model_fields", ())


def unwrap_node(source: object) -> object:
    """Return the node inside a scored node, else the object itself."""
    node = getattr(source, "node", None)
    return node if is_node(node) else source


def from_node(original: LlamaIndexNode) -> Document:
    """Return the document of a node, with the facts that its metadata holds.

    What other nodes tell about the node is added by `relate_nodes`.
    """
    node, facts = split_off_facts(original)
    id, related = str(node.node_id), _related_ids(node)
    text = node.get_content(metadata_mode=_metadata_mode(node, "NONE"))
    embedded_as = node.get_content(metadata_mode=_metadata_mode(node, "EMBED"))
    start, end = getattr(node, "start_char_idx", None), getattr(node, "end_char_idx", None)
    source = _first(related, SOURCE)
    return Document(
        id=id,
        text=text,
        metadata=dict(node.metadata),
        original=node,
        vector=_unit_vector(node.embedding, id),
        source=source,
        span=None if source is None or start is None or end is None else (start, end),
        parent=_first(related, PARENT),
        previous=_first(related, PREVIOUS),
        embedded_as=None if embedded_as == text else embedded_as,
        format=format_of_piece(node.metadata),
        facts=facts,
    )


def relate_nodes(documents: list[Document]) -> list[Document]:
    """Return the documents with what nodes tell about one another.

    Containers become headings, and offsets become those in the source.

    Args:
        documents: Documents of any origin; only those of LlamaIndex nodes change.
    """
    are_nodes = [is_node(document.original) for document in documents]
    if not any(are_nodes):
        return documents
    nodes = {document.id: document for document in compress(documents, are_nodes)}
    container_of = {id: node.parent for id, node in nodes.items() if node.parent is not None}
    previous_of: dict[str, str] = {}
    for id, node in nodes.items():
        related = _related_ids(node.original)
        for child in related.get(CHILD, ()):
            if child in nodes:
                container_of.setdefault(child, id)
        previous_of |= {behind: id for behind in related.get(NEXT, ()) if behind in nodes}
    containers = set(container_of.values())

    def place(node: Document) -> Document:
        own = (
            container_of.get(node.id),
            node.previous or previous_of.get(node.id),
            _span_in_source(node, nodes, container_of),
        )
        if own != (node.parent, node.previous, node.span):  # most candidates have none of these
            node = replace(node, parent=own[0], previous=own[1], span=own[2])
        if node.id not in containers:
            return node
        return replace(node, text=_heading(node), heading=True, embedded_as=None, vector=None)

    return [
        place(document) if one_is else document
        for document, one_is in zip(documents, are_nodes, strict=True)
    ]


def without_relationships(original: Any, allowed: AbstractSet[str], came: AbstractSet[str]) -> Any:  # noqa: ANN401  # the caller's
    """Return the caller's object without relationships to other nodes than the allowed ones.

    A relationship holds the metadata of the other node, too. Of the text that a node was cut from,
    and that did not come itself, the id and what the node's own metadata tell stay. What is no node
    is returned as it is.

    Args:
        original: The caller's object.
        allowed: The ids of what a filter allows.
        came: The ids of all that the filter was asked about.
    """
    if not is_node(original) or not hasattr(original, "model_copy"):
        return original
    kept: dict[Any, Any] = {}
    for key, related in (original.relationships or {}).items():
        some = related if isinstance(related, list) else [related]
        left = [one for one in some if allowed >= set(ids_of_related(one))]
        if str(getattr(key, "value", key)) == SOURCE and came.isdisjoint(ids_of_related(related)):
            left = [_telling_no_more(one, original.metadata) for one in some]
        if left:
            kept[key] = left if isinstance(related, list) else left[0]
    if kept == dict(original.relationships or {}):
        return original
    return original.model_copy(update={"relationships": kept})


def _telling_no_more(related: Any, metadata: Mapping[str, object]) -> Any:  # noqa: ANN401  # the framework's
    """Return a related node with that part of its metadata that a node has itself."""
    known = {k: v for k, v in related.metadata.items() if k in metadata and metadata[k] == v}
    if known == related.metadata:
        return related
    return related.model_copy(update={"metadata": known})


def _metadata_mode(node: LlamaIndexNode, name: str) -> object:
    """Return the member of MetadataMode, from the module that the class of the node comes from."""
    for cls in type(node).__mro__:
        modes = getattr(sys.modules.get(cls.__module__), "MetadataMode", None)
        if modes is not None:
            member: object = modes[name]
            return member
    return name.lower()  # the value of the member, which is equal to it


def _related_ids(node: LlamaIndexNode) -> dict[str, list[str]]:
    """Return the ids that the relationships of a node name, by the value of their key."""
    return {
        str(getattr(key, "value", key)): ids_of_related(related)
        for key, related in (node.relationships or {}).items()
    }


def _first(related: Mapping[str, list[str]], key: str) -> str | None:
    return next(iter(related.get(key, ())), None)


def _span_in_source(
    node: Document, nodes: Mapping[str, Document], container_of: Mapping[str, str]
) -> tuple[int, int] | None:
    """Return the span of a node, moved by those of all its containers.

    It is None where one of these did not come.
    """
    if node.span is None:
        return None
    offset, above, seen = 0, container_of.get(node.id), {node.id}
    while above is not None:
        container = nodes.get(above)
        if container is None or container.span is None or above in seen:
            return None
        seen.add(above)
        offset, above = offset + container.span[0], container_of.get(above)
    return node.span[0] + offset, node.span[1] + offset


def _heading(node: Document) -> str:
    """Return what a container is called: its path of headings, its title, or how it begins."""
    header_path = str(node.metadata.get("header_path") or "")
    path = [part.strip() for part in header_path.split("/") if part.strip()]
    title = " > ".join(path) or str(node.metadata.get("title") or "").strip()
    if title:
        return title
    lines = (line.strip().lstrip("#").strip() for line in node.text.splitlines() if line.strip())
    first = next(lines, "")
    if len(first) <= MAX_HEADING_LENGTH:
        return first
    return first[: MAX_HEADING_LENGTH - 1].rstrip() + "…"


def _unit_vector(vector: ArrayLike | None, id: str) -> Vectors | None:
    if vector is None:
        return None
    values = np.asarray(vector, np.float64)
    length = float(np.linalg.norm(values)) if values.ndim == 1 else math.nan
    if not (math.isfinite(length) and length > 0):
        raise ValueError(
            f"the embedding of node {id!r} must be one row of finite numbers, not all zero; "
            f"got shape {values.shape}"
        )
    return (values / length).astype(np.float32)
