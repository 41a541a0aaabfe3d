"""What an index of LlamaIndex's gives: all its nodes, or the best ones of its vector store."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from inspect import isawaitable, iscoroutinefunction
from typing import Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.indices.base import BaseIndex
from llama_index.core.indices.vector_store.base import VectorStoreIndex
from llama_index.core.schema import BaseNode, NodeWithScore, ObjectType, QueryBundle
from llama_index.core.vector_stores.types import (
    BasePydanticVectorStore,
    MetadataFilters,
)
from llama_index.retrievers.clew.faiss_searches import (
    find_in_faiss,
    gives_vectors,
    is_over_faiss,
    vectors_in_faiss,
)
from llama_index.retrievers.clew.nodes import nodes_of
from llama_index.retrievers.clew.prompt_budget import within_budget
from llama_index.retrievers.clew.questions import abundle_vector, bundle_vector, with_vector
from llama_index.retrievers.clew.store_searches import (
    NODE_ID,
    RELATIONSHIPS,
    Embed,
    Fetch,
    Found,
    Read,
    Request,
    Requests,
    Search,
    SearchResults,
    Value,
    allowed_by,
    distinct,
    joined,
    reading_once,
    related_ids,
    search_having,
    values_of,
    with_text,
)
from llama_index.retrievers.clew.store_vectors import (
    ReadVectors,
    Vectors,
    nodes_by_id,
    reader_of,
    recording_of,
    vectors_on,
)
from numpy.typing import ArrayLike

import clew
from clew.adapters import (
    FEW_NAMES,
    HOPS,
    LEAD_DOCUMENTS,
    FactsByDocument,
    IndexConfig,
    LeadSearches,
    QueryOptions,
    aembed_question,
    ask_candidates,
    check_hops,
    cosines_by_id,
    facts_among,
    with_first_step,
)


def nodes_with_vectors(index: BaseIndex[Any]) -> list[BaseNode] | None:
    """Return the nodes of an index, in its order, as copies with the vectors of its vector store.

    It is None where the vector store keeps their text.

    Raises:
        TypeError: A property graph index, or no index.
    """
    name = type(index).__name__
    if hasattr(index, "property_graph_store"):
        raise TypeError(
            "a property graph index is read by ClewPGRetriever(index.property_graph_store, …)"
        )
    if not hasattr(index, "docstore") or not hasattr(index, "index_struct"):
        raise TypeError(
            f"wanted an index of LlamaIndex's, such as a VectorStoreIndex; got a {name}"
        )
    documents, listed = index.docstore.docs, listed_ids(index)
    # A docstore may be shared between indexes.
    nodes = [documents[id] for id in (documents if listed is None else listed) if id in documents]
    store = getattr(index, "vector_store", None)
    has_text = any(node.get_type() == ObjectType.TEXT for node in nodes)
    if store is not None and store.stores_text and not has_text:
        return None  # its docstore has only what is no text: pictures and references
    vectors = _vectors_in_memory(index) or vectors_in_faiss(index)
    return [
        node.model_copy(update={"embedding": vectors.get(node.node_id, node.embedding)})
        for node in nodes
    ]


def _vectors_in_memory(index: BaseIndex[Any]) -> Vectors | None:
    """Return the vectors of the store in memory, by the ids of the nodes; None of another store."""
    return _vectors_kept_by(getattr(index, "vector_store", None))


def _vectors_kept_by(store: object) -> Vectors | None:
    return getattr(getattr(store, "data", None), "embedding_dict", None)


def is_in_memory(index: BaseIndex[Any]) -> bool:
    """Return whether an index has its vectors in LlamaIndex's own store in memory.

    One of pictures, too, is none: these are in a store of their own.
    """
    return _vectors_in_memory(index) is not None and not hasattr(index, "image_vector_store")


def is_searched_by_vectors(index: BaseIndex[Any]) -> bool:
    """Return whether an index with its nodes in a docstore is searched by vectors that can be had.

    They are in memory or in FAISS then.
    """
    has_pictures = hasattr(index, "image_vector_store")
    return is_in_memory(index) or (
        is_over_faiss(index) and not has_pictures and gives_vectors(index)
    )


def listed_ids(index: BaseIndex[Any]) -> list[str] | None:
    """Return the ids of the nodes that an index lists, in its order; None where it has no list."""
    struct = index.index_struct
    if hasattr(struct, "nodes_dict"):  # a vector store index: id in the store -> id of the node
        listed = list(dict.fromkeys(struct.nodes_dict.values()))
        known, pictures = _vectors_in_memory(index), getattr(index, "image_vector_store", None)
        if known is None or (pictures is not None and not hasattr(pictures, "data")):
            return listed
        seen = _vectors_kept_by(pictures) or {}  # `delete_nodes` deletes in these two alone
        return [id for id in listed if id in known or id in seen]
    nodes = getattr(struct, "nodes", None)
    if isinstance(nodes, list):
        return list(dict.fromkeys(nodes))
    numbered = getattr(struct, "all_nodes", None)  # of a tree
    if isinstance(numbered, dict):
        return [numbered[number] for number in sorted(numbered)]
    table = getattr(struct, "table", None)
    if isinstance(table, dict):  # of keywords, whose own list of ids wants at least one
        return sorted(set[str]().union(*table.values()))
    named = getattr(struct, "node_id_to_summary_id", None)  # of an index of summaries
    return None if named is None else sorted(named)


def scored_candidates(
    nodes: Sequence[NodeWithScore], prepare: Callable[[BaseNode], BaseNode] = lambda node: node
) -> list[BaseNode | tuple[BaseNode, float]]:
    """Return candidates for `clew.narrow`: pairs of a node and its score, or the nodes alone.

    Alone, their rank counts. So it is where a node has no score, or one below zero (a logit, a
    distance turned round): such scores have no common zero. A node that came twice counts once,
    where it came first. One without text, such as a picture, comes without a score: it is dropped.

    Args:
        nodes: What a retriever found.
        prepare: What is done to each node.

    Raises:
        ValueError: A score is not a number.
    """
    first_of_id: dict[str, NodeWithScore] = {}
    for scored in with_text(nodes):
        first_of_id.setdefault(scored.node.node_id, scored)
    distinct = list(first_of_id.values())
    others = [scored.node for scored in nodes if not scored.get_content().strip()]
    for scored in distinct:
        if scored.score is not None and scored.score != scored.score:
            raise ValueError(
                f"the score of node {scored.node.node_id!r} is not a number; "
                "wanted a number or None"
            )
    scores = [scored.score for scored in distinct if scored.score is not None]
    if len(scores) == len(distinct) and min(scores, default=0) >= 0 and any(scores):
        pairs = zip(distinct, scores, strict=True)
        return [*((prepare(scored.node), score) for scored, score in pairs), *others]
    return [*(prepare(scored.node) for scored in distinct), *others]


def narrow_within_budget(
    ask: Callable[[QueryOptions], clew.Context],
    count: Callable[[str], int],
    options: QueryOptions,
    *,
    explain: bool,
) -> clew.Context:
    """Return what `ask_candidates` makes of candidates, within the budget as it is printed.

    Args:
        ask: What it returned.
        count: The tokenizer.
        options: What the question says.
        explain: As in `nodes_of`.
    """
    shown = partial(nodes_of, explain=explain)
    return within_budget(lambda *, options: ask(options), shown, count, options)


def without_vector(node: BaseNode) -> BaseNode:
    """Return the node without its embedding, where that is of another space than the index's."""
    return node if node.embedding is None else node.model_copy(update={"embedding": None})


def facts_of_nodes(
    facts: FactsByDocument | None, nodes: Sequence[NodeWithScore]
) -> FactsByDocument:
    """Return the facts of these nodes and of the documents they are pieces of."""
    ids = {scored.node.node_id for scored in nodes} | {s.node.ref_doc_id for s in nodes}
    return facts_among(facts, ids)


def check_searches(candidates: object, hops: object, edges: object) -> tuple[tuple[str, str], ...]:
    """Return the edges as pairs of keys, once what the searches of a store are is known to be so.

    Args:
        candidates: How many nodes the store is asked for.
        hops: How many more searches there are.
        edges: Pairs of keys of metadata.

    Raises:
        ValueError: A number is out of range, or relationships lead to something else than ids.
        TypeError: An edge is no pair of keys.
    """
    if not isinstance(candidates, int) or isinstance(candidates, bool) or candidates < 1:
        raise ValueError(f"candidates is a whole number of at least 1; got {candidates!r}")
    pairs = check_hops(hops, edges)
    wrong = [pair for pair in pairs if pair[0] == RELATIONSHIPS and pair[1] != NODE_ID]
    if wrong:
        raise ValueError(f"relationships lead to ids: {(RELATIONSHIPS, NODE_ID)}; got {wrong[0]}")
    return pairs


@dataclass(frozen=True, eq=False)
class Candidates:
    """An index whose vector store is searched: each question narrows the store's best nodes.

    What a question asks of the store is a row of requests, each made of what came before.
    `_requests` yields them, and `find` and `afind` carry them out.

    Attributes:
        index: The index of LlamaIndex's, or one that has a vector store as it has.
        config: What the small graph of the candidates is made with. Without an embedder, no node is
            embedded: the store says how near each is.
        top_k: How many nodes the store is asked for, where the question wants no more.
        facts: Triples by node or document id.
        embedder: What the questions to the store are embedded with.
        hops: How many more searches there are, each for what the nodes so far lead to.
        edges: Pairs of keys of metadata: a node leads to those whose value of the second key is its
            own value of the first. Each pair is one more call of the store. `text` as the first
            stands for the links in the text, and ("relationships", "node_id") for the nodes that
            LlamaIndex relates to one.
    """

    index: VectorStoreIndex
    config: IndexConfig
    top_k: int = 50
    facts: FactsByDocument = field(default_factory=dict)
    embedder: clew.Embedder = field(kw_only=True)
    hops: int = HOPS
    edges: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        edges = check_searches(self.top_k, self.hops, self.edges)
        object.__setattr__(self, "edges", edges)

    def find(
        self, bundle: QueryBundle, filters: MetadataFilters | None, limit: int | None = None
    ) -> Found:
        """Return the store's best nodes for the question, and those that they lead to.

        Args:
            bundle: The question.
            filters: What may be found.
            limit: How many nodes the question wants; the store is asked for no fewer.
        """
        requests, answer = reading_once(self._requests(bundle, filters, limit)), None
        while True:
            request = _next(requests, answer)
            if isinstance(request, Found):
                return request
            answer = self._carry_out(request)

    async def afind(
        self, bundle: QueryBundle, filters: MetadataFilters | None, limit: int | None = None
    ) -> Found:
        """Return what `find` returns without blocking the event loop.

        A store without an async query of its own works in a thread.
        """
        requests, answer = reading_once(self._requests(bundle, filters, limit)), None
        while True:
            request = await asyncio.to_thread(_next, requests, answer)
            if isinstance(request, Found):
                return request
            answer = await self._acarry_out(request)

    def narrow(
        self, bundle: QueryBundle, found: Found, options: QueryOptions, *, explain: bool = True
    ) -> clew.Context:
        """Return the context made of these nodes; facts of other documents are left out."""
        ask = ask_candidates(
            bundle.query_str,
            scored_candidates(found.nodes),
            self.config,
            facts=facts_of_nodes(self.facts, found.nodes),
            has_names=found.has_names,
        )
        context = narrow_within_budget(ask, self.config.count, options, explain=explain)
        return with_first_step(context, "candidates", found.notes)

    def _requests(
        self, bundle: QueryBundle, filters: MetadataFilters | None, limit: int | None
    ) -> Requests:
        """Yield what is asked of the store and its embedder; return the nodes."""
        question, searches = bundle.query_str, list[Mapping[str, object]]()
        vector = yield Embed(bundle)
        first = Search(with_vector(bundle, vector), max(self.top_k, limit or 0), filters)
        found: Sequence[NodeWithScore] = yield first
        nodes = distinct(found, filters)
        of_question = [scored.node.node_id for scored in nodes]
        further, leads, n_before = LeadSearches(question), list[ArrayLike](), 0
        for _ in range(self.hops):  # what the last search added comes first
            best = [scored.node for scored in (*nodes[n_before:], *nodes[:n_before])]
            lead = further.following(best, facts_of_nodes(self.facts, nodes))
            if lead is None:
                break
            n_before, text = len(nodes), QueryBundle(lead.text)
            leads.append((yield Embed(text)))
            near = with_vector(text, leads[-1])
            more = yield Search(near, len(nodes) + lead.limit, filters)
            new = distinct(more, filters)
            nodes = joined(nodes, new, searches, "looked for", lead.names, lead.limit)
        for edge in self.edges:
            nodes = yield from self._follow(edge, nodes, found, first, searches)
        scores, meaning = {}, "similarity of the store"
        if self._reader is not None and nodes:
            vectors = yield Read([scored.node.node_id for scored in nodes])
            scores = cosines_by_id(vectors, vector, leads, of_question)
        if len(scores) == len(nodes) and nodes:
            meaning = "cosine of the store's vectors"
            nodes = sorted(nodes, key=lambda n: scores[n.node.node_id], reverse=True)
            nodes = [  # further than at right angles is as far
                NodeWithScore(node=n.node, score=max(0.0, scores[n.node.node_id])) for n in nodes
            ]
        notes = {"store": type(self.index.vector_store).__name__, "scores": meaning}
        if further.has_names is False:
            notes["names"] = FEW_NAMES
        counts = {"candidates": len(nodes), "further": tuple(searches)}
        return Found(nodes, {**notes, **counts}, further.has_names)

    def _follow(
        self,
        edge: tuple[str, str],
        nodes: list[NodeWithScore],
        found: Sequence[NodeWithScore],
        first: Search,
        searches: list[Mapping[str, object]],
    ) -> Generator[Request, Any, list[NodeWithScore]]:
        """Yield what an edge asks of the store; return the nodes, with those that it leads to.

        Args:
            edge: Two keys.
            nodes: What came before.
            found: What the first search gave, with all relationships.
            first: That search.
            searches: What was searched for, to which this is added.
        """
        (source, target), more = edge, list[NodeWithScore]()
        values: Sequence[Value]
        if source == RELATIONSHIPS:
            values = related = related_ids([scored.node for scored in (*found, *nodes)])
            if values:
                more = allowed_by(first.filters, (yield Fetch(related)))
        elif values := values_of(nodes, source, target):
            wide = replace(first, limit=len(nodes) + LEAD_DOCUMENTS)
            more = yield search_having(wide, self.index.vector_store, target, values)
        if not values:
            return nodes
        new = distinct(more, first.filters)
        return joined(nodes, new, searches, f"{source} -> {target}", values)

    @property
    def _reader(self) -> ReadVectors | None:
        if is_over_faiss(self.index):  # which knows places, and the index has those of the nodes
            return lambda _, ids: vectors_in_faiss(self.index, ids)
        return reader_of(self.index.vector_store)

    @property
    def _is_empty(self) -> bool:
        """Whether a store in memory holds nothing: an older LlamaIndex fails to search it."""
        return _vectors_in_memory(self.index) == {}

    def _carry_out(self, request: Request) -> object:
        if isinstance(request, Read):
            vectors = self._read(request)
            if isawaitable(vectors):  # as such a store does in `query`
                return asyncio.get_event_loop().run_until_complete(vectors)
            return vectors
        if isinstance(request, Fetch):
            return self._fetch(request)
        if isinstance(request, Search):
            if is_over_faiss(self.index):
                return find_in_faiss(self.index, request)
            if self._is_empty:
                return SearchResults([])
            retriever, vectors = self._retriever(request)
            try:
                return self._results(retriever.retrieve(request.bundle), vectors)
            except Warning as error:
                if "results are empty" not in str(error):  # LanceDB's, where nothing was found
                    raise
                return SearchResults([])
        vector = bundle_vector(self.embedder, request.bundle)
        text = request.bundle.query_str
        return self.embedder.embed_question(text) if vector is None else vector

    async def _acarry_out(self, request: Request) -> object:
        if isinstance(request, Read) and iscoroutinefunction(self._reader):
            return await self._reader(self.index.vector_store, request.ids)
        if isinstance(request, (Read, Fetch)):
            return await asyncio.to_thread(self._carry_out, request)
        if isinstance(request, Embed):
            vector = await abundle_vector(self.embedder, request.bundle)
            if vector is None:
                vector = await aembed_question(self.embedder, request.bundle.query_str)
            if vector is None:
                return await asyncio.to_thread(self._carry_out, request)
            return vector
        has_query = type(self.index.vector_store).aquery is not BasePydanticVectorStore.aquery
        if self._is_empty or not has_query:
            return await asyncio.to_thread(self._carry_out, request)
        retriever, vectors = self._retriever(request)
        return self._results(await retriever.aretrieve(request.bundle), vectors)

    def _read(self, request: Read) -> Vectors | Awaitable[Vectors]:
        reader = self._reader
        return {} if reader is None else reader(self.index.vector_store, request.ids)

    def _fetch(self, request: Fetch) -> list[NodeWithScore]:
        """Return nodes of the docstore, and of the vector store what is not there."""
        nodes = self.index.docstore.get_nodes(list(request.ids), raise_error=False)
        known = {node.node_id for node in nodes}
        others = [id for id in request.ids if id not in known]
        if others:
            with suppress(NotImplementedError):  # not every store gives nodes by their ids
                nodes = [*nodes, *nodes_by_id(self.index.vector_store, others)]
        by_id = {node.node_id: node for node in nodes}
        return [NodeWithScore(node=by_id[id]) for id in request.ids if id in by_id]

    def _retriever(self, request: Search) -> tuple[BaseRetriever, Vectors]:
        """Return the index's own retriever, and where the vectors of what it finds are kept."""
        how = {"vector_store_kwargs": dict(request.arguments)} if request.arguments else {}
        retriever: Any = self.index.as_retriever(
            similarity_top_k=request.limit, filters=request.filters, **how
        )
        store = self.index.vector_store
        if getattr(retriever, "_vector_store", None) is not store:
            return retriever, {}
        recording = recording_of(store)
        if recording is None:
            return retriever, {}
        retriever._vector_store = recording.store
        return retriever, recording.vectors

    def _results(self, nodes: Sequence[NodeWithScore], vectors: Vectors) -> SearchResults:
        """Return the results of a search, with the vectors that were kept or are on the nodes."""
        return SearchResults(nodes, vectors or vectors_on(self.index.vector_store, nodes))


def _next(requests: Requests, answer: object) -> Request | Found:
    """Return the next request, or what was found at the end; StopIteration crosses no thread."""
    try:
        return requests.send(answer)
    except StopIteration as stop:
        found: Found = stop.value
        return found
