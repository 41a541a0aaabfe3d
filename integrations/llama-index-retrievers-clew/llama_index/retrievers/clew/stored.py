"""A property graph store, read once: its chunks, and the triplets said in them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any

from llama_index.core.graph_stores.types import (
    TRIPLET_SOURCE_KEY,
    ChunkNode,
    EntityNode,
    LabelledNode,
    LabelledPropertyGraph,
    PropertyGraphStore,
    Relation,
    Triplet,
)
from llama_index.core.schema import BaseNode, TextNode
from llama_index.core.vector_stores.utils import metadata_dict_to_node
from llama_index.retrievers.clew.candidates import without_vector
from llama_index.retrievers.clew.given import graph_store

import clew
from clew.read import relation_words

BATCH = 1000  # entities whose triplets are asked for at once


@dataclass
class StoredGraph:
    """The index of what a store holds, read at the first question, by one thread, and again on `refresh`."""

    store: PropertyGraphStore
    embed_model: Any = None
    count: Callable[[str], Any] | str | None = None
    made: clew.Index | None = None
    lock: Any = field(default_factory=threading.Lock, repr=False, compare=False)

    def __post_init__(self) -> None:
        graph_store(self.store)

    def __getstate__(self) -> dict[str, Any]:
        """What the index is made of; the index itself is made again where it is unpickled."""
        return {
            name: value for name, value in self.__dict__.items() if name not in ("lock", "made")
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, made=None, lock=threading.Lock())

    def index(self) -> clew.Index | None:
        """Return the index; None while the store holds nothing to read, which the next call looks at again."""
        if self.made is None:
            with self.lock:
                if self.made is None:
                    self.made = self._read()
        return self.made

    def refresh(self) -> None:
        """Read the store again; questions under way keep what they started with."""
        with self.lock:
            self.made = self._read()

    def _read(self) -> clew.Index | None:
        return index_of(self.store, self.embed_model, self.count)


def index_of(
    store: PropertyGraphStore, embed_model: Any, count: Any, show_progress: bool = False
) -> clew.Index | None:
    """Return the index of what a store holds; None while that is nothing. Without an embed_model, embeddings in it are left alone."""
    nodes, facts, vectors = read(graph_store(store))
    if not nodes:
        return None
    if embed_model is None:
        nodes = [without_vector(node) for node in nodes]
        return clew.Index.from_documents(nodes, facts=facts, count=count, progress=show_progress)
    embedder = clew.Embedder.of(embed_model)
    embedder = replace(embedder, embed_texts=_Known(embedder.embed_texts, vectors))
    return clew.Index.from_documents(
        nodes, embedder=embedder, facts=facts, count=count, progress=show_progress
    )


@dataclass(frozen=True)
class _Known:
    """Embeds texts, but those whose vectors the store holds already."""

    texts: Callable[[list[str]], Any]
    vectors: dict[str, list[float]]

    def __call__(self, texts: list[str]) -> list[Any]:
        unknown = [text for text in texts if text not in self.vectors]
        fresh = dict(zip(unknown, self.texts(unknown), strict=True)) if unknown else {}
        return [self.vectors[text] if text in self.vectors else fresh[text] for text in texts]


def read(
    store: PropertyGraphStore,
) -> tuple[list[BaseNode], dict[str, list[tuple[str, str, str]]], dict[str, list[float]]]:
    """Return the chunks of a store as nodes, the facts by the id of the chunk they were read from, and entities' vectors by name.

    The order is that of document, place and id, not the store's, which may depend on the hash seed. A fact belongs to the chunk that its
    relation names, else its subject or object; a fact whose chunk is gone went with it. Facts that name no chunk, as in a graph made by
    hand, are read from a passage per subject that states them. Relations of chunks say how these follow one another, and are no facts.
    """
    held = {node.id: node for node in store.get()}
    chunks = {
        id: _chunk(node)
        for id, node in held.items()
        if isinstance(node, ChunkNode) and node.text.strip()
    }
    facts: dict[str, list[tuple[str, str, str]]] = {}
    alone: dict[str, list[tuple[str, str, str]]] = {}
    for subject, relation, object in sorted(_triplets(store, held), key=_key):
        if isinstance(subject, ChunkNode) or isinstance(object, ChunkNode):
            continue
        fact = _name(subject), relation_words(relation.label), _name(object)
        sources = [
            place.properties.get(TRIPLET_SOURCE_KEY) for place in (relation, subject, object)
        ]
        named = [source for source in sources if source is not None]
        if not named or not chunks:
            alone.setdefault(_name(subject), []).append(fact)
        elif named[0] in chunks:
            facts.setdefault(chunks[named[0]].node_id, []).append(fact)
    for name, said in alone.items():
        text = "\n".join(" -> ".join(fact) for fact in said)
        chunks[f"facts:{name}"] = TextNode(id_=f"facts:{name}", text=text)
        facts[f"facts:{name}"] = said
    vectors = {
        _name(node): node.embedding
        for node in held.values()
        if isinstance(node, EntityNode) and node.embedding is not None
    }
    return sorted(chunks.values(), key=_place), facts, vectors


def _chunk(chunk: ChunkNode) -> BaseNode:
    """The chunk as the node it was made of, with its embedding; a chunk without an id of its own is named by its text."""
    id = (
        chunk.id_ or f"chunk:{sha256(chunk.text.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"
    )
    if "_node_content" in chunk.properties:
        node = metadata_dict_to_node(chunk.properties, text=chunk.text)
        node.id_, node.embedding = id, chunk.embedding
        return node
    return TextNode(
        id_=id, text=chunk.text, metadata=dict(chunk.properties), embedding=chunk.embedding
    )


def _triplets(store: PropertyGraphStore, held: dict[str, LabelledNode]) -> Iterator[Triplet]:
    """All triplets of a store, each once; deleting one may have left others without their nodes, which are then known by name."""
    graph = getattr(store, "graph", None)
    if isinstance(
        graph, LabelledPropertyGraph
    ):  # asking it for each entity's triplets would go through all of them each time
        for subject, label, object in graph.triplets:
            relation = graph.relations.get(f"{subject}_{label}_{object}")
            relation = relation or Relation(label=label, source_id=subject, target_id=object)
            yield (
                held.get(subject) or EntityNode(name=subject),
                relation,
                held.get(object) or EntityNode(name=object),
            )
        return
    seen: set[tuple[str, str, str]] = set()
    entities = sorted(id for id, node in held.items() if not isinstance(node, ChunkNode))
    for start in range(0, len(entities), BATCH):
        for triplet in store.get_triplets(ids=entities[start : start + BATCH]):
            if _key(triplet) not in seen:
                seen.add(_key(triplet))
                yield triplet


def _key(triplet: Triplet) -> tuple[str, str, str]:
    return triplet[0].id, triplet[1].label, triplet[2].id


def _name(node: LabelledNode) -> str:
    return str(getattr(node, "name", node.id))


def _place(node: BaseNode) -> tuple[str, int, str]:
    return node.ref_doc_id or "", getattr(node, "start_char_idx", None) or 0, node.node_id
