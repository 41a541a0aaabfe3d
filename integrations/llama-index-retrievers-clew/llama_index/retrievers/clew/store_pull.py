"""The part of a property graph store that a question may need, frontier by frontier, within bounds.

The store is asked by `get`, `get_triplets` and `vector_query` alone, and never for an empty list of
ids, to which some stores answer with all that they hold. `get_rel_map` is not used: it knows no
filter, and lets the first nodes have all of its limit.
"""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from llama_index.core.graph_stores.types import (
    TRIPLET_SOURCE_KEY,
    VECTOR_SOURCE_KEY,
    ChunkNode,
    LabelledNode,
    PropertyGraphStore,
    Triplet,
)
from llama_index.core.schema import QueryBundle
from llama_index.core.vector_stores.types import BasePydanticVectorStore, VectorStoreQuery
from llama_index.retrievers.clew.filters import Test
from llama_index.retrievers.clew.questions import abundle_vector, bundle_vector
from llama_index.retrievers.clew.stored_graph import (
    StoreContents,
    contents_of,
    is_of_chunks,
    key_of,
    node_of_chunk,
    source_of,
)

import clew
from clew.adapters import aembed_question

BATCH = 500
"""Ids that one call names at most."""

WORDS_OF_A_NAME = 5
MAX_NAMES = 500
"""Runs of the question's words that are looked up as names, in the ways they may be written."""

FETCHED = 4
"""Nodes that are looked at for each that may be read, where a filter forbids some."""

WORD = re.compile(r"\w(?:[\w'’.-]*\w)?")


@dataclass(frozen=True)
class StoreBounds:
    """How much of a property graph store a question pulls at most.

    Attributes:
        nearest: nodes that the store is asked for by the question's vector, at least 1.
        per_node: triplets of a node that are followed, those with most of the question's words
            first; at least 1.
        nodes: entities whose triplets are read, at least 1; a store may take milliseconds for each.
        passages: chunks in all, at least 1.
        hops: how often triplets are followed from one entity to the next, at least 1.
        without: labels of relations that are not followed, and are no facts.
    """

    nearest: int = 50
    per_node: int = 32
    nodes: int = 200
    passages: int = 300
    hops: int = 2
    without: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("nearest", "per_node", "nodes", "passages", "hops"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is at least 1; got {getattr(self, name)}")


@dataclass(frozen=True)
class _Embed:
    """A request for the question's vector."""


@dataclass(frozen=True)
class _Get:
    """A request for nodes."""

    ids: list[str]


@dataclass(frozen=True)
class _Triplets:
    """A request for the triplets of entities."""

    ids: list[str]


@dataclass(frozen=True)
class _Nearest:
    """A request for what is nearest to a vector."""

    query: VectorStoreQuery


Request = _Embed | _Get | _Triplets | _Nearest
Requests = Generator[Request, Any, "Pulled"]
Asked = Generator[Request, Any, None]


@dataclass(frozen=True)
class Pulled:
    """What was read for a question.

    Attributes:
        contents: The chunks and facts.
        notes: Calls, sizes, and what the bounds have cut off, for the trace.
    """

    contents: StoreContents
    notes: Mapping[str, object]


@dataclass(eq=False)
class _Reading:
    """What was read so far.

    Attributes:
        entities: Ids of entities, in the order in which they were found.
        chunks: Chunks that are read, by id.
        allowed: Chunks that may be read, by id, also those that nothing has led to yet.
        seen: Ids of chunks that were asked for, also of those that are forbidden or not there.
        triplets: Triplets that may be read, by what each is known by.
        counts: Calls, and what bounds have cut off.
    """

    entities: dict[str, None] = field(default_factory=dict)
    chunks: dict[str, LabelledNode] = field(default_factory=dict)
    allowed: dict[str, LabelledNode] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)
    triplets: dict[tuple[str, str, str], Triplet] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)

    def count(self, what: str, number: int = 1) -> None:
        if number:
            self.counts[what] = self.counts.get(what, 0) + number


@dataclass(frozen=True, eq=False)
class StorePull:
    """Pulls from a property graph store what a question may need.

    Attributes:
        store: The store.
        bounds: How much is pulled.
        embedder: What the question is embedded with; None for names alone.
        vector_store: What finds the nearest nodes, where the graph store does not.
    """

    store: PropertyGraphStore
    bounds: StoreBounds = field(default_factory=StoreBounds)
    embedder: clew.Embedder | None = None
    vector_store: BasePydanticVectorStore | None = None

    @property
    def searches(self) -> bool:
        """Whether the nearest nodes are found by the question's vector."""
        has_search = self.store.supports_vector_queries or self.vector_store is not None
        return self.embedder is not None and has_search

    def pull(self, bundle: QueryBundle, where: Test | None) -> Pulled:
        """Return what a question may need.

        Args:
            bundle: The question.
            where: Whether the metadata of a chunk allow it; None for everything.
        """
        requests, answer = self._requests(bundle, where), None
        while True:
            request = _next(requests, answer)
            if isinstance(request, Pulled):
                return request
            answer = self._carry_out(request, bundle)

    async def apull(self, bundle: QueryBundle, where: Test | None) -> Pulled:
        """Return what `pull` returns, without blocking the event loop.

        A store without async calls of its own works in a thread.
        """
        requests, answer = self._requests(bundle, where), None
        while True:
            request = await asyncio.to_thread(_next, requests, answer)
            if isinstance(request, Pulled):
                return request
            answer = await self._acarry_out(request, bundle)

    def _requests(self, bundle: QueryBundle, where: Test | None) -> Requests:
        """Yield what is asked of the store and the embedder; return what was read."""
        reading, words = _Reading(), _words_of(bundle.query_str)
        yield from self._find_seeds(bundle, reading, where)
        frontier = list(reading.entities)
        for _ in range(self.bounds.hops):
            if not frontier:
                break
            found = yield from self._follow(frontier, words, reading, where)
            frontier = self._entities_beyond(found, reading)
        triplets = sorted(reading.triplets.values(), key=key_of)
        names = {end for triplet in reading.triplets for end in (triplet[0], triplet[2])}
        notes = {
            "store": type(self.store).__name__,
            "nodes": len(reading.chunks) + len(names),
            "edges": len(reading.triplets),
            **reading.counts,
        }
        return Pulled(contents_of(reading.chunks, triplets), notes)

    def _find_seeds(self, bundle: QueryBundle, reading: _Reading, where: Test | None) -> Asked:
        """Yield what finds the entities and chunks that the question leads to directly."""
        found = yield from self._get(names_in(bundle.query_str), reading)
        nearest: Sequence[LabelledNode] = ()
        if self.searches:
            vector = yield _Embed()
            query = VectorStoreQuery(
                query_embedding=[float(number) for number in vector],
                similarity_top_k=self.bounds.nearest * (1 if where is None else FETCHED),
            )
            reading.count("calls")
            near = yield _Nearest(query)
            if self.store.supports_vector_queries:
                nearest = near
            else:
                ids = list(dict.fromkeys(map(str, near)))
                by_id = {node.id: node for node in (yield from self._get(ids, reading))}
                nearest = [by_id[id] for id in ids if id in by_id]
        seeds = {node.id: node for node in (*found, *nearest)}
        own = [one for one in seeds.values() if isinstance(one, ChunkNode)]
        entities = [one for one in seeds.values() if not isinstance(one, ChunkNode)]
        sources = [one.properties.get(TRIPLET_SOURCE_KEY) for one in entities]
        _allow(own, reading, where)
        self._keep_chunks([one.id for one in own], reading)
        yield from self._read_chunks(sources, reading, where)
        self._keep_chunks(sources, reading)
        kept = entities[: self.bounds.nodes]
        reading.count("entities beyond the bound", len(entities) - len(kept))
        reading.entities.update(dict.fromkeys(one.id for one in kept))

    def _follow(
        self, frontier: Sequence[str], words: set[str], reading: _Reading, where: Test | None
    ) -> Generator[Request, Any, list[Triplet]]:
        """Yield what reads the triplets of a frontier and their chunks; return those that count."""
        found: dict[tuple[str, str, str], Triplet] = {}
        for ids in _batches(frontier):
            reading.count("calls")
            triplets: Iterable[Triplet] = yield _Triplets(ids)
            for triplet in triplets:
                is_left_out = is_of_chunks(triplet) or triplet[1].label in self.bounds.without
                if not is_left_out:
                    found.setdefault(key_of(triplet), triplet)
        ordered = [
            found[key] for key in sorted(found, key=lambda k: (-_shared(found[k], words), k))
        ]
        if where is None:
            chosen = self._best_of_each(ordered, frontier, reading)
            yield from self._read_chunks([source_of(one) for one in chosen], reading, where)
        else:  # what is forbidden takes nobody's place
            yield from self._read_chunks([source_of(one) for one in ordered], reading, where)
            allowed = [one for one in ordered if _may_read(one, reading, where)]
            chosen = self._best_of_each(allowed, frontier, reading)
            ends = {end for one in allowed for end in (one[0].id, one[2].id)}
            for id in set(frontier) - ends:
                reading.entities.pop(id, None)
        self._keep_chunks([source_of(one) for one in chosen], reading)
        reading.triplets.update({key_of(one): one for one in chosen})
        return chosen

    def _best_of_each(
        self, ordered: Sequence[Triplet], frontier: Sequence[str], reading: _Reading
    ) -> list[Triplet]:
        """Return the triplets of each node that are followed: of an ordered list, the first."""
        taken, chosen = dict.fromkeys(frontier, 0), list[Triplet]()
        over = set[str]()
        for triplet in ordered:
            ends = {triplet[0].id, triplet[2].id} & taken.keys()
            free = {end for end in ends if taken[end] < self.bounds.per_node}
            over |= ends - free
            if free:
                chosen.append(triplet)
                for end in ends:
                    taken[end] += 1
        reading.count("entities with triplets that were cut", len(over))
        return chosen

    def _entities_beyond(self, triplets: Sequence[Triplet], reading: _Reading) -> list[str]:
        """Return the entities that triplets lead to first now, within the bound."""
        new: dict[str, None] = {}
        for triplet in triplets:  # those with most of the question's words come first
            for end in (triplet[0].id, triplet[2].id):
                if end not in reading.entities:
                    new[end] = None
        kept = list(new)[: max(0, self.bounds.nodes - len(reading.entities))]
        reading.count("entities beyond the bound", len(new) - len(kept))
        reading.entities.update(dict.fromkeys(kept))
        return kept

    def _read_chunks(
        self, sources: Iterable[object], reading: _Reading, where: Test | None
    ) -> Asked:
        """Yield what reads chunks that were not asked for yet, as far as there is room for them."""
        ids = [id for id in _distinct(sources) if id not in reading.seen]
        most = self.bounds.passages * (1 if where is None else FETCHED)
        room = max(0, most - len(reading.seen))
        reading.count("passages that were not looked at", len(ids) - len(ids[:room]))
        nodes = yield from self._get(ids[:room], reading)
        reading.seen.update(ids)
        _allow(nodes, reading, where)

    def _keep_chunks(self, sources: Iterable[object], reading: _Reading) -> None:
        """Keep chunks that may be read, in this order and within the bound."""
        new = [id for id in _distinct(sources) if id in reading.allowed]
        new = [id for id in new if id not in reading.chunks]
        kept = new[: max(0, self.bounds.passages - len(reading.chunks))]
        reading.count("passages beyond the bound", len(new) - len(kept))
        reading.chunks.update({id: reading.allowed[id] for id in kept})

    def _get(
        self, ids: Sequence[str], reading: _Reading
    ) -> Generator[Request, Any, list[LabelledNode]]:
        found: list[LabelledNode] = []
        for batch in _batches(ids):
            reading.count("calls")
            wanted = set(batch)
            nodes: Iterable[LabelledNode] = yield _Get(batch)
            found += [node for node in nodes if node.id in wanted]
        return found

    def _carry_out(self, request: Request, bundle: QueryBundle) -> object:
        if isinstance(request, _Get):
            return self.store.get(ids=request.ids)
        if isinstance(request, _Triplets):
            return self.store.get_triplets(ids=request.ids)
        if isinstance(request, _Nearest):
            if self.store.supports_vector_queries:
                return _checked(*self.store.vector_query(request.query))
            assert self.vector_store is not None, "one of both searches"
            return _ids_of(self.vector_store.query(request.query))
        assert self.embedder is not None, "nothing else asks for a vector"
        vector = bundle_vector(self.embedder, bundle)
        return self.embedder.embed_question(bundle.query_str) if vector is None else vector

    async def _acarry_out(self, request: Request, bundle: QueryBundle) -> object:
        if isinstance(request, _Embed):
            assert self.embedder is not None, "nothing else asks for a vector"
            vector = await abundle_vector(self.embedder, bundle)
            if vector is None:
                vector = await aembed_question(self.embedder, bundle.query_str)
            if vector is not None:
                return vector
        elif isinstance(request, _Get) and _is_async(self.store, "aget"):
            return await self.store.aget(ids=request.ids)
        elif isinstance(request, _Triplets) and _is_async(self.store, "aget_triplets"):
            return await self.store.aget_triplets(ids=request.ids)
        elif (
            isinstance(request, _Nearest)
            and self.store.supports_vector_queries
            and _is_async(self.store, "avector_query")
        ):
            return _checked(*await self.store.avector_query(request.query))
        return await asyncio.to_thread(self._carry_out, request, bundle)


def size_of(store: PropertyGraphStore) -> int | None:
    """Return how many nodes a store says that it has; None where it does not say.

    It is asked in Cypher, which most stores with a query language speak.
    """
    if not store.supports_structured_queries:
        return None
    try:
        [row] = store.structured_query("MATCH (n) RETURN count(n) AS nodes")
        [value] = row.values() if isinstance(row, Mapping) else row
        return int(value)
    except Exception:  # noqa: BLE001  # it speaks another language, or answers in another form
        return None


def names_in(question: str) -> list[str]:
    """Return the runs of a question's words that may be names, in the ways they may be written.

    Example:
        >>> names_in("Where is corfu?")[-3:]
        ['corfu', 'Corfu', 'CORFU']
    """
    words = [re.sub(r"['’]s$", "", word) for word in WORD.findall(question)]
    found: dict[str, None] = {}
    for length in range(min(WORDS_OF_A_NAME, len(words)), 0, -1):
        for start in range(len(words) - length + 1):
            run = " ".join(words[start : start + length])
            capital = " ".join(word[:1].upper() + word[1:] for word in run.split())
            found.update(dict.fromkeys((run, run.lower(), capital, run.upper())))
    return list(found)[:MAX_NAMES]


def _distinct(ids: Iterable[object]) -> list[str]:
    """Return ids, each once, without what is none."""
    return list(dict.fromkeys(str(id) for id in ids if id is not None))


def _allow(nodes: Iterable[LabelledNode], reading: _Reading, where: Test | None) -> None:
    """Note the chunks that have a text, and that a filter allows."""
    for node in nodes:
        if not isinstance(node, ChunkNode) or not node.text.strip():
            continue
        reading.seen.add(node.id)
        if where is None or where(node_of_chunk(node).metadata):
            reading.allowed[node.id] = node


def _may_read(triplet: Triplet, reading: _Reading, where: Test) -> bool:
    """Whether a filter allows a fact: by its chunk, or as a text of its own without metadata."""
    source = source_of(triplet)
    return where({}) if source is None else source in reading.allowed


def _words_of(text: str) -> set[str]:
    return {word.casefold() for word in WORD.findall(text)}


def _shared(triplet: Triplet, words: set[str]) -> int:
    """Return how many of the question's words a triplet has."""
    subject, relation, object = triplet
    text = f"{subject.id} {relation.label.replace('_', ' ')} {object.id}"
    return len(_words_of(text) & words)


def _batches(ids: Sequence[str]) -> Iterator[list[str]]:
    """Yield ids in batches, each of at least one."""
    for start in range(0, len(ids), BATCH):
        yield list(ids[start : start + BATCH])


def _checked(nodes: Sequence[LabelledNode], scores: Sequence[float]) -> list[LabelledNode]:
    """Return the nodes that a search found.

    Raises:
        ValueError: A score is no finite number, as it is where a vector has no length.
    """
    for node, score in zip(nodes, scores, strict=True):
        if not math.isfinite(score):
            raise ValueError(
                f"the store gives {node.id!r} the score {score}: its vector, or the question's, "
                "is all zeros or has numbers that are none"
            )
    return list(nodes)


def _ids_of(result: Any) -> list[str]:  # noqa: ANN401  # of any vector store
    """Return the ids of graph nodes that a vector store found."""
    if result.nodes is not None:
        return [str(node.metadata.get(VECTOR_SOURCE_KEY, node.node_id)) for node in result.nodes]
    return list(result.ids or [])


def _is_async(store: PropertyGraphStore, name: str) -> bool:
    """Whether a store has an async call of its own; the framework's blocks the event loop."""
    return getattr(type(store), name, None) is not getattr(PropertyGraphStore, name)


def _next(requests: Requests, answer: object) -> Request | Pulled:
    """Return the next request, or what was read at the end; StopIteration crosses no thread."""
    try:
        return requests.send(answer)
    except StopIteration as stop:
        pulled: Pulled = stop.value
        return pulled
