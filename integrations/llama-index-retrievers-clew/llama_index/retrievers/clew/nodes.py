"""A context becomes the framework's nodes: copies of the caller's own where there are any, in reading order.

A node's hash covers its metadata, so a node that says its rank, role and reason there has another hash than the one it was copied from:
it is for reading, not for writing back into a document store, nor for what tells nodes apart by their hash, as fusion does.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

from llama_index.core.schema import (
    BaseNode,
    NodeRelationship,
    NodeWithScore,
    RelatedNodeInfo,
    TextNode,
)

import clew

RANK, ROLE, WHY, HEADING = "clew_rank", "clew_role", "clew_why", "clew_heading"
OF_FILES = (
    "path",
    "title",
    "read_as",
)  # what clew notes of a file it read: beside its name and the heading they tell a model nothing
SHARED = (
    "metadata_template",
    "metadata_separator",
    "text_template",
    "mimetype",
    "excluded_embed_metadata_keys",
    "excluded_llm_metadata_keys",
)


def nodes_of(
    context: clew.Context, known: Callable[[str], Any] = lambda _: None, explain: bool = True
) -> list[NodeWithScore]:
    """Return the items of a context as nodes with their prize as the score, in reading order.

    Args:
        known: the caller's node of an id, or None; asked for the items and for the documents that they are pieces of.
        explain: say rank, role, reason and heading in the metadata; without it that is the caller's own, and so is the hash. A piece
            that clew cut is no node of the caller's: it says its heading in any case.
    """
    return [
        NodeWithScore(node=_node(item, rank if explain else None, known), score=float(item.score))
        for rank, item in enumerate(context, 1)
    ]


def _node(item: clew.Item, rank: int | None, known: Callable[[str], Any]) -> TextNode:
    own = known(item.id) or item.original
    if isinstance(own, TextNode) and own.node_id == item.id:
        return _marked(own, own, item, rank)
    if (
        isinstance(own, BaseNode) and own.node_id == item.id
    ):  # a Document is no TextNode, and consumers want one
        like = {name: getattr(own, name) for name in SHARED if hasattr(own, name)}
        return _marked(
            TextNode(id_=item.id, text=item.text, embedding=own.embedding, **deepcopy(like)),
            own,
            item,
            rank,
        )
    piece = _piece(item, known)
    return _marked(piece, piece, item, rank, made=True)


def _piece(item: clew.Item, known: Callable[[str], Any]) -> TextNode:
    """The node of an item that came as no node of its own: a piece of a document, a fact, a report."""
    noted = [key for key in OF_FILES if key in item.metadata]
    node = TextNode(
        id_=item.id,
        text=item.text,
        metadata=deepcopy(dict(item.metadata)),
        excluded_llm_metadata_keys=noted,
    )
    if item.document is not None and item.document != item.id:
        source = known(item.document)
        if isinstance(source, BaseNode):
            node = TextNode(
                id_=item.id,
                text=item.text,
                **{k: deepcopy(getattr(source, k)) for k in SHARED if hasattr(source, k)},
            )
            node.metadata = deepcopy(dict(item.metadata))
        info = (
            source.as_related_node_info()
            if isinstance(source, BaseNode)
            else RelatedNodeInfo(node_id=item.document)
        )
        node.relationships = {
            NodeRelationship.SOURCE: info.model_copy(update={"metadata": deepcopy(info.metadata)})
        }
    if item.span is not None:
        node.start_char_idx, node.end_char_idx = item.span
    return node


def _marked(
    node: TextNode, own: BaseNode, item: clew.Item, rank: int | None, made: bool = False
) -> TextNode:
    """A copy that shares nothing that can be changed with the node it was made from, with the reasons in its metadata.

    A model sees of these the heading alone, since a piece seldom repeats what it is about; not where its metadata show it the same.
    """
    reasons = {} if rank is None else {RANK: rank, ROLE: item.role, WHY: _way(item)}
    heading = {HEADING: item.heading} if item.heading and (reasons or made) else {}
    shown = [
        value for key, value in own.metadata.items() if key not in own.excluded_llm_metadata_keys
    ]
    hidden, marks = reasons | (heading if item.heading in shown else {}), reasons | heading
    return node.model_copy(
        update={
            "metadata": deepcopy(dict(own.metadata)) | marks,
            "relationships": deepcopy(own.relationships),
            "embedding": None if own.embedding is None else list(own.embedding),
            "excluded_llm_metadata_keys": _with(own.excluded_llm_metadata_keys, hidden),
            "excluded_embed_metadata_keys": _with(own.excluded_embed_metadata_keys, marks),
        }
    )


def _with(keys: list[str], more: dict[str, Any]) -> list[str]:
    return [*keys, *(key for key in more if key not in keys)]


def _way(item: clew.Item) -> str:
    """For instance `question -touches-> a -mentions-> entity:corfu`."""
    return (
        "".join([item.why[0].source, *(f" -{hop.kind}-> {hop.target}" for hop in item.why)])
        if item.why
        else ""
    )
