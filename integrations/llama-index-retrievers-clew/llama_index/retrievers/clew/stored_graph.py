"""A property graph store, read once: its chunks, and the triplets that were read in them."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
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
from llama_index.retrievers.clew.checks import graph_store

import clew
from clew.adapters import IndexConfig, remember_vectors, renew_after_fork
from clew.read import Triple, relation_words

BATCH = 1000
"""Entities whose triplets are asked for at once."""


@dataclass(eq=False)
class StoredGraph:
    """The index of what a store holds, read at the first question by one thread.

    Attributes:
        store: The property graph store.
        config: What the index is made with.
        built: The index, once it is built.
        lock: Held while the store is read.
    """

    store: PropertyGraphStore
    config: IndexConfig = field(default_factory=IndexConfig)
    built: clew.Index | None = None
    lock: AbstractContextManager[bool] = field(
        default_factory=threading.Lock, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        renew_after_fork(self)

    def renew_locks(self) -> None:
        """Release the lock: after a fork, no other thread is there to do so."""
        self.lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the index: it is made again where this is unpickled."""
        return {name: value for name, value in vars(self).items() if name not in ("lock", "built")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, built=None)
        self.renew_locks()
        renew_after_fork(self)

    def __deepcopy__(self, memo: dict[int, object]) -> StoredGraph:
        """Share the store and the index; what the one reads again is not read for the other."""
        return StoredGraph(self.store, self.config, self.built)

    def index(self) -> clew.Index | None:
        """Return the index.

        It is None while the store holds nothing to read; the next call looks again.
        """
        if self.built is None:
            with self.lock:
                if self.built is None:
                    self.built = index_of(self.store, self.config)
        return self.built

    def refresh(self) -> None:
        """Read the store again; questions under way keep what they started with."""
        with self.lock:
            self.built = index_of(self.store, self.config)


def index_of(
    store: PropertyGraphStore, config: IndexConfig, show_progress: bool = False
) -> clew.Index | None:
    """Return the index of what a store holds; None while that is nothing.

    Args:
        store: What is read.
        config: What the index is made with. Without an embedder, embeddings in the store are left
            alone.
        show_progress: Whether to show bars on stderr.
    """
    return index_of_contents(read_store(graph_store(store)), config, show_progress)


def index_of_contents(
    stored: StoreContents, config: IndexConfig, show_progress: bool = False
) -> clew.Index | None:
    """Return the index of what was read from a store; see `index_of`."""
    nodes = stored.nodes
    if not nodes:
        return None
    if config.embedder is None:
        nodes = [without_vector(node) for node in nodes]
    else:
        config = replace(config, embedder=remember_vectors(config.embedder, stored.vectors))
    return clew.Index.from_documents(
        nodes, facts=stored.facts, config=config, progress=show_progress
    )


@dataclass(frozen=True)
class StoreContents:
    """What was read from a store.

    Attributes:
        nodes: The chunks as nodes.
        facts: Triples by the id of the chunk that they were read from.
        vectors: Vectors of entities, by name.
    """

    nodes: list[BaseNode]
    facts: Mapping[str, list[Triple]]
    vectors: Mapping[str, list[float]]


def read_store(store: PropertyGraphStore) -> StoreContents:
    """Return what a store holds.

    The order is that of document, place and id, not the store's, which may depend on the hash seed.
    A fact belongs to the chunk that its relation names, or else its subject or object. A fact whose
    chunk is not there any more went with it. Facts that name no chunk, as in a graph made by hand,
    are read from a passage per subject that states them. Relations of chunks say how these follow
    one another, and are no facts.
    """
    labelled = {node.id: node for node in store.get()}
    return contents_of(labelled, sorted(_triplets(store, labelled), key=key_of))


def contents_of(labelled: Mapping[str, LabelledNode], triplets: Iterable[Triplet]) -> StoreContents:
    """Return what nodes and triplets of a store hold; see `read_store`.

    Args:
        labelled: The nodes by id.
        triplets: The triplets, each once and in an order of their own.
    """
    chunks = {
        id: node_of_chunk(node)
        for id, node in labelled.items()
        if isinstance(node, ChunkNode) and node.text.strip()
    }
    facts: dict[str, list[Triple]] = {}
    without_chunk: dict[str, list[Triple]] = {}
    for triplet in triplets:
        subject, relation, object = triplet
        if is_of_chunks(triplet):
            continue
        fact = _name(subject), relation_words(relation.label), _name(object)
        source = source_of(triplet)
        if source is None or not chunks:
            without_chunk.setdefault(_name(subject), []).append(fact)
        elif source in chunks:
            facts.setdefault(chunks[source].node_id, []).append(fact)
    for name, triples in without_chunk.items():
        id, text = f"facts:{name}", "\n".join(" -> ".join(fact) for fact in triples)
        chunks[id], facts[id] = TextNode(id_=id, text=text), triples
    vectors = {
        _name(node): node.embedding
        for node in labelled.values()
        if isinstance(node, EntityNode) and node.embedding is not None
    }
    return StoreContents(sorted(chunks.values(), key=_place), facts, vectors)


def is_of_chunks(triplet: Triplet) -> bool:
    """Return whether a triplet says how chunks follow one another, or what they mention."""
    return isinstance(triplet[0], ChunkNode) or isinstance(triplet[2], ChunkNode)


def source_of(triplet: Triplet) -> object:
    """Return the id of the chunk that a triplet names; None where it names none."""
    subject, relation, object = triplet
    sources = (part.properties.get(TRIPLET_SOURCE_KEY) for part in (relation, subject, object))
    return next((source for source in sources if source is not None), None)


def node_of_chunk(chunk: ChunkNode) -> BaseNode:
    """Return the node that a chunk was made of, with its embedding.

    A chunk without an id of its own is named by its text.
    """
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


def _triplets(store: PropertyGraphStore, labelled: Mapping[str, LabelledNode]) -> Iterator[Triplet]:
    """Yield all triplets of a store, each once.

    Deleting one may have left others without their nodes, which are then known by name.
    """
    graph = getattr(store, "graph", None)
    if isinstance(graph, LabelledPropertyGraph):
        # Asking it for each entity's triplets would go through all of them each time.
        for subject, label, object in graph.triplets:
            relation = graph.relations.get(f"{subject}_{label}_{object}")
            relation = relation or Relation(label=label, source_id=subject, target_id=object)
            yield (
                labelled.get(subject) or EntityNode(name=subject),
                relation,
                labelled.get(object) or EntityNode(name=object),
            )
        return
    seen: set[tuple[str, str, str]] = set()
    entities = sorted(id for id, node in labelled.items() if not isinstance(node, ChunkNode))
    for start in range(0, len(entities), BATCH):
        for triplet in store.get_triplets(ids=entities[start : start + BATCH]):
            if key_of(triplet) not in seen:
                seen.add(key_of(triplet))
                yield triplet


def key_of(triplet: Triplet) -> tuple[str, str, str]:
    """Return what a triplet is known by, and ordered by."""
    return triplet[0].id, triplet[1].label, triplet[2].id


def _name(node: LabelledNode) -> str:
    return str(getattr(node, "name", node.id))


def _place(node: BaseNode) -> tuple[str, int, str]:
    return node.ref_doc_id or "", getattr(node, "start_char_idx", None) or 0, node.node_id
