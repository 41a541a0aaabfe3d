"""LlamaIndex nodes become documents, met by what they offer; the framework is never imported.

A node says what it was cut from (SOURCE), what it stands in (PARENT, CHILD) and what it follows (PREVIOUS, NEXT), under keys whose
values are "1" to "5". Its offsets are those in the text that was cut last: a node with a parent has them in the parent.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from clew.document import Document
from clew.read.formats.table import format_of
from clew.read.graph_documents import without_graph

SOURCE, PREVIOUS, NEXT, PARENT, CHILD = "1", "2", "3", "4", "5"
LONGEST_HEADING = 80


def unwrapped(source: Any) -> Any:
    """Return the node inside a scored node, else the object itself."""
    node = getattr(source, "node", None)
    return node if is_node(node) else source


def is_node(source: Any) -> bool:
    """Whether this is a LlamaIndex node or document, by its looks."""
    return not isinstance(source, type) and all(
        hasattr(source, name) for name in ("node_id", "get_content", "relationships")
    )


def from_node(node: Any) -> Document:
    """Return the document of a node, with the facts that its metadata holds; what other nodes say of it is added by `related`."""
    node, facts = without_graph(node)
    id, said = str(node.node_id), _said(node)
    text, embedded_as = (
        node.get_content(metadata_mode=_mode(node, name)) for name in ("NONE", "EMBED")
    )
    start, end = getattr(node, "start_char_idx", None), getattr(node, "end_char_idx", None)
    source = _first(said, SOURCE)
    return Document(
        id=id,
        text=text,
        metadata=dict(node.metadata),
        original=node,
        vector=_unit(node.embedding, id),
        source=source,
        span=None if source is None or start is None or end is None else (start, end),
        parent=_first(said, PARENT),
        previous=_first(said, PREVIOUS),
        embedded_as=None if embedded_as == text else embedded_as,
        format=format_of(node.metadata),
        facts=facts,
    )


def related(documents: list[Document]) -> list[Document]:
    """Return the documents with what nodes say of one another: containers become headings, offsets those in the source."""
    nodes = {document.id: document for document in documents if is_node(document.original)}
    around = {id: node.parent for id, node in nodes.items() if node.parent is not None}
    after: dict[str, str] = {}
    for id, node in nodes.items():
        said = _said(node.original)
        around |= {
            child: id for child in said.get(CHILD, ()) if child in nodes and child not in around
        }
        after |= {follower: id for follower in said.get(NEXT, ()) if follower in nodes}
    containers = set(around.values())

    def placed(node: Document) -> Document:
        span = _span_in_source(node, nodes, around)
        node = replace(
            node,
            parent=around.get(node.id),
            previous=node.previous or after.get(node.id),
            span=span,
        )
        return (
            replace(node, text=_heading(node), heading=True, embedded_as=None, vector=None)
            if node.id in containers
            else node
        )

    return [placed(document) if is_node(document.original) else document for document in documents]


def _mode(node: Any, name: str) -> Any:
    """The member of MetadataMode, out of the module that the node's class comes from."""
    for kind in type(node).__mro__:
        modes = getattr(sys.modules.get(kind.__module__), "MetadataMode", None)
        if modes is not None:
            return modes[name]
    return name.lower()  # the member's value, to which it is equal


def _said(node: Any) -> dict[str, list[str]]:
    """The ids that a node's relationships name, by the value of their key."""
    return {
        str(getattr(key, "value", key)): [
            str(one.node_id)
            for one in (other if isinstance(other, list) else [other])
            if one is not None
        ]
        for key, other in (node.relationships or {}).items()
    }


def _first(said: Mapping[str, list[str]], key: str) -> str | None:
    return next(iter(said.get(key, ())), None)


def _span_in_source(
    node: Document, nodes: Mapping[str, Document], around: Mapping[str, str]
) -> tuple[int, int] | None:
    """The span, moved by those of all the nodes around; None where one of these did not come."""
    if node.span is None:
        return None
    moved, above, seen = 0, around.get(node.id), {node.id}
    while above is not None:
        container = nodes.get(above)
        if container is None or container.span is None or above in seen:
            return None
        seen.add(above)
        moved, above = moved + container.span[0], around.get(above)
    return node.span[0] + moved, node.span[1] + moved


def _heading(node: Document) -> str:
    """What a container is called: its path of headings, its title, or how it begins."""
    path = [
        part.strip()
        for part in str(node.metadata.get("header_path") or "").split("/")
        if part.strip()
    ]
    title = " > ".join(path) or str(node.metadata.get("title") or "").strip()
    if title:
        return title
    first = next(
        (line.strip().lstrip("#").strip() for line in node.text.splitlines() if line.strip()), ""
    )
    return first if len(first) <= LONGEST_HEADING else first[: LONGEST_HEADING - 1].rstrip() + "…"


def _unit(vector: Any, id: str) -> Any:
    if vector is None:
        return None
    values = np.asarray(vector, np.float64)
    length = float(np.linalg.norm(values)) if values.ndim == 1 else math.nan
    if not (math.isfinite(length) and length > 0):
        raise ValueError(
            f"the embedding of node {id!r} must be one row of finite numbers, not all zero; got shape {values.shape}"
        )
    return (values / length).astype(np.float32)
