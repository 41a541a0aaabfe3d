"""A context becomes the framework's nodes: copies of the caller's own where there are any.

A node's hash covers its metadata. Retrievers that tell nodes apart by their hash, as fusion does,
must know one that two questions found, or two retrievers: so a copy that says its rank, role and
reason in its metadata keeps the hash of the node it was made from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import deepcopy
from typing import Any

from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.schema import (
    BaseNode,
    MediaResource,
    MetadataMode,
    Node,
    NodeRelationship,
    NodeWithScore,
    RelatedNodeInfo,
    TextNode,
)

import clew
from clew.adapters import HEADING, SCORE, own_metadata, reasons_of, source_metadata

LEAST = 1e-3  # of the best score: nodes of no relevance have an order, too

FILE_KEYS = ("path", "title", "read_as")
"""What clew notes of a file it read: beside its name and heading they tell a model nothing."""

INHERITED = (
    "metadata_template",
    "metadata_separator",
    "text_template",
    "mimetype",
    "excluded_embed_metadata_keys",
    "excluded_llm_metadata_keys",
)
"""Fields that a piece has of the node it was cut from."""

MEDIA = ("image_resource", "audio_resource", "video_resource")
"""Fields of a `Node` that a `TextNode` does not have."""


class MediaNode(TextNode):
    """A text node with the pictures, sounds and films of the `Node` that it is a copy of."""

    image_resource: MediaResource | None = None
    audio_resource: MediaResource | None = None
    video_resource: MediaResource | None = None

    @property
    def text_resource(self) -> MediaResource:
        """The text, as a `Node` has it."""
        return MediaResource(text=self.text, mimetype=self.mimetype)

    def get_content_blocks(self, metadata_mode: MetadataMode = MetadataMode.NONE) -> list[Any]:
        """Return the text and the media for a model that sees or hears, as a `Node` does."""
        return Node.get_content_blocks(self, metadata_mode)  # type: ignore[arg-type]  # it has all


class Explained:
    """What a node keeps whose metadata say why it is read: the hash of the node it is a copy of.

    `explained_class` puts it before the class of that node.
    """

    _own_hash: str

    def __init_subclass__(cls, **_: object) -> None:
        """Tell nothing to a class of nodes that wants to know its subclasses."""

    @classmethod
    def __pydantic_init_subclass__(cls, **_: object) -> None:
        """As above."""

    @property
    def hash(self) -> str:
        """The hash of the node as it was indexed."""
        return self._own_hash or str(super().hash)  # type: ignore[misc]  # of the node's class

    def __reduce__(self) -> tuple[Any, ...]:
        """Name the class of the node: this one is made where it is needed."""
        return _blank, (type(self).__bases__[1],), self.__getstate__()

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)  # type: ignore[misc]  # it leaves out what is private
        self._own_hash = (state.get("__pydantic_private__") or {}).get("_own_hash", "")


EXPLAINED: dict[type[TextNode], type[TextNode]] = {}
"""What `explained_class` has made: nodes of two classes would never be equal."""


def explained_class(kind: type[TextNode]) -> type[TextNode]:
    """Return the class of the nodes of this class that keep the hash of the node they copy."""
    if kind not in EXPLAINED:
        own = {"__module__": __name__, "_own_hash": PrivateAttr("")}
        metaclass: Any = type(kind)
        made = metaclass(f"Explained{kind.__name__}", (Explained, kind), own)
        EXPLAINED.setdefault(kind, made)  # another thread may have been first
    return EXPLAINED[kind]


def _blank(kind: type[TextNode]) -> TextNode:
    explained = explained_class(kind)
    return explained.__new__(explained)


def nodes_of(
    context: clew.Context,
    node_of: Callable[[str], object] = lambda _: None,
    explain: bool = True,
) -> list[NodeWithScore]:
    """Return the items of a context as nodes with a score, in reading order.

    The score is the share of the highest prize that the item has, times the relevance of the best
    passage to the question, where that is known: in [0, 1], in the order of the prizes, so that a
    cutoff means the same for every question.

    Args:
        context: What to read.
        node_of: Returns the caller's node of an id, or None. It is asked for the items and for the
            documents that they are pieces of.
        explain: Whether to write rank, role, relevance, reason and heading into the metadata, and
            where the item is from (`clew.adapters.source_metadata`), which a model does not see.
            Without it the metadata are the caller's own. A piece that clew cut is no node of the
            caller's: it says its heading and where it is from in any case.
    """
    highest = max((item.score for item in context), default=0.0)
    best = 1.0 if context.relevance is None else max(context.relevance, LEAST)
    unit = 0.0 if highest <= 0 else best / highest
    return [
        NodeWithScore(
            node=_node(item, rank if explain else None, node_of), score=float(item.score * unit)
        )
        for rank, item in enumerate(context, 1)
    ]


def _node(item: clew.Item, rank: int | None, node_of: Callable[[str], object]) -> TextNode:
    own = node_of(item.id) or item.original
    if isinstance(own, BaseNode) and own.node_id == item.id:
        return _with_reasons(_as_text_node(own, item), own, item, rank)
    piece = _piece(item, node_of)
    return _with_reasons(piece, piece, item, rank, is_piece=True)


def _as_text_node(own: BaseNode, item: clew.Item) -> TextNode:
    """Return a node as a TextNode, which consumers want; a Document is none."""
    if isinstance(own, TextNode):
        return own
    resources = {name: getattr(own, name, None) for name in MEDIA}
    media: dict[str, Any] = {name: deepcopy(one) for name, one in resources.items() if one}
    kind = MediaNode if media else TextNode
    return kind(id_=item.id, text=item.text, embedding=own.embedding, **_inherited(own), **media)


def _piece(item: clew.Item, node_of: Callable[[str], object]) -> TextNode:
    """Return the node of an item that came as none: a piece of a document, a fact, a report."""
    metadata = own_metadata(item.metadata)
    file_keys = [key for key in FILE_KEYS if key in metadata]
    fields: dict[str, Any] = {"excluded_llm_metadata_keys": file_keys}
    relationships: dict[NodeRelationship, Any] = {}
    if item.document is not None and item.document != item.id:
        source = node_of(item.document)
        info = RelatedNodeInfo(node_id=item.document)
        if isinstance(source, BaseNode):
            fields, info = _inherited(source), source.as_related_node_info()
        relationships = {NodeRelationship.SOURCE: _own_info(info)}
    node = TextNode(id_=item.id, text=item.text, metadata=metadata, **fields)
    node.relationships = relationships
    if item.span is not None:
        node.start_char_idx, node.end_char_idx = item.span
    return node


def _inherited(source: BaseNode) -> dict[str, Any]:
    own = {name: deepcopy(getattr(source, name)) for name in INHERITED if hasattr(source, name)}
    text = getattr(source, "text_resource", None)
    return own if text is None or text.mimetype is None else {**own, "mimetype": text.mimetype}


def _own_info(info: RelatedNodeInfo) -> RelatedNodeInfo:
    return info.model_copy(update={"metadata": own_metadata(info.metadata)})


def _with_reasons(
    node: TextNode, own: BaseNode, item: clew.Item, rank: int | None, is_piece: bool = False
) -> TextNode:
    """Return a copy that shares nothing with the node it was made from, with the reasons.

    A model sees of these the heading alone, since a piece seldom repeats what it is about; and not
    where its metadata show it the same already.
    """
    reasons = {} if rank is None else reasons_of(item, rank)
    reasons.pop(SCORE, None)  # a node has its score beside it
    above = _heading(item)
    heading = {HEADING: above} if above and (reasons or is_piece) else {}
    places = source_metadata(item) if reasons or is_piece else {}
    places = {key: value for key, value in places.items() if key not in own.metadata}
    shown = {
        value
        for key, value in own.metadata.items()
        if isinstance(value, str) and key not in own.excluded_llm_metadata_keys
    }
    hidden = {*reasons, *places, *(heading if above in shown else {})}
    added = {**places, **reasons, **heading}
    copy = node.model_copy(
        update={
            "metadata": own_metadata(own.metadata) | added,
            "relationships": {
                kind: [*map(_own_info, named)] if isinstance(named, list) else _own_info(named)
                for kind, named in own.relationships.items()
            },
            "embedding": None if own.embedding is None else list(own.embedding),
            "excluded_llm_metadata_keys": _with_keys(
                own.excluded_llm_metadata_keys, (key for key in added if key in hidden)
            ),
            "excluded_embed_metadata_keys": _with_keys(own.excluded_embed_metadata_keys, added),
        }
    )
    if copy.hash == own.hash:
        return copy
    own_private = {**(copy.__pydantic_private__ or {}), "_own_hash": own.hash}
    object.__setattr__(copy, "__class__", explained_class(type(copy)))
    object.__setattr__(copy, "__pydantic_private__", own_private)
    return copy


def _heading(item: clew.Item) -> str:
    """Return the headings above an item, without a title that is no value, as pandas has it."""
    title, parts = item.metadata.get("title"), item.heading.split(" > ")
    is_missing = not isinstance(title, str) and str(title) in ("nan", "NaT", "<NA>")
    return " > ".join(parts[1:] if is_missing and parts[0] == str(title) else parts)


def _with_keys(keys: list[str], more: Iterable[str]) -> list[str]:
    return [*keys, *(key for key in more if key not in keys)]
