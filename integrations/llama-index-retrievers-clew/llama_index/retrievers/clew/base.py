"""A retriever over an index of clew's, or over the candidates of a vector store that keeps text."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Self, Unpack, cast

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.callbacks.base import CallbackManager
from llama_index.core.graph_stores.types import PropertyGraphStore
from llama_index.core.indices.base import BaseIndex
from llama_index.core.indices.vector_store.base import VectorStoreIndex
from llama_index.core.schema import (
    BaseNode,
    Document,
    IndexNode,
    NodeWithScore,
    QueryBundle,
    TransformComponent,
)
from llama_index.retrievers.clew import persistence
from llama_index.retrievers.clew.asking_retriever import (
    DEFAULTS,
    NAMES,
    AskingRetriever,
    OtherRetrieverKeywords,
    RetrieverKeywords,
    check_options,
)
from llama_index.retrievers.clew.callbacks import shared_callback_manager
from llama_index.retrievers.clew.candidates import (
    Candidates,
    check_searches,
    is_searched_by_vectors,
    listed_ids,
    nodes_with_vectors,
    without_vector,
)
from llama_index.retrievers.clew.checks import nodes_or_documents
from llama_index.retrievers.clew.living import Held, Living
from llama_index.retrievers.clew.nodes import nodes_of
from llama_index.retrievers.clew.questions import bundle_of
from llama_index.retrievers.clew.store_searches import Found
from llama_index.retrievers.clew.stored_graph import index_of

import clew
from clew.adapters import (
    HOPS,
    EmbedderSource,
    FactsByDocument,
    IndexConfig,
    IndexKeywords,
    Method,
    QueryOptions,
    empty_context,
    facts_by_document,
)
from clew.read import Split, Triple
from clew.remote import PulledIndex

CANDIDATES = 50
"""How many nodes a vector store is asked for."""

CONSTRUCTOR = ("callback_manager", "object_map", "objects", "verbose")
"""What the constructor of LlamaIndex's base class takes."""

Facts = Mapping[str, Iterable[Triple]]


class UnusedOptionsWarning(UserWarning):
    """Options came that an index of this kind does not use."""


class MakerKeywords(RetrieverKeywords, IndexKeywords, total=False):
    """What the makers of a retriever take: options of the index, arguments of the constructor."""

    callback_manager: CallbackManager | None
    object_map: dict[str, object] | None
    objects: list[IndexNode] | None
    verbose: bool
    splitter: Split | TransformComponent | None  # type: ignore[misc]  # clew's own and LlamaIndex's


class ClewRetriever(AskingRetriever, BaseRetriever):
    """Retrieves a connected context under a token budget, in reading order.

    The score of a node is its share of the best prize for this question, times the relevance of the
    best passage: in [0, 1]. A `SimilarityPostprocessor` cuts them at the same line for every
    question, and one that was tuned for cosines is another. The metadata of a node says its
    `clew_rank`, `clew_role`, `clew_relevance` and `clew_why`, none of which is shown to a model,
    and its `clew_heading` where it stands under one, which is. A filter that allows nothing gives
    an empty list.
    """

    _changes = "_living"

    def __init__(
        self,
        index: clew.Index | PulledIndex | Candidates,
        recipe: str | Method = clew.recipes.DEFAULT,
        budget: int | None = 2000,
        *,
        callback_manager: CallbackManager | None = None,
        object_map: dict[str, object] | None = None,
        objects: list[IndexNode] | None = None,
        verbose: bool = False,
        **options: Unpack[OtherRetrieverKeywords],
    ) -> None:
        """Make a retriever over an index that exists already.

        Args:
            index: What is asked; a `RemoteIndex` is one in a database, a `ShardedIndex` several.
            recipe: As in `AskingRetriever`.
            budget: As in `AskingRetriever`.
            callback_manager: As in LlamaIndex.
            object_map: As in LlamaIndex.
            objects: As in LlamaIndex.
            verbose: As in LlamaIndex.
            **options: The other attributes of `AskingRetriever`.
        """
        # Of an index in a database the embedder would be asked over a network.
        embedder = index.embedder if isinstance(index, (clew.Index, Candidates)) else None
        super().__init__(
            shared_callback_manager(callback_manager, embedder), object_map, objects, verbose
        )
        if not isinstance(index, (clew.Index, PulledIndex, Candidates)):
            raise TypeError(
                f"index is a clew.Index or a RemoteIndex, not a {type(index).__name__}; for "
                "documents, nodes or an index of LlamaIndex's there are "
                "ClewRetriever.from_documents, from_nodes and from_index"
            )
        self._living = Living(Held(index))
        self._parser: TransformComponent | None = None
        self._set_options({**DEFAULTS, "recipe": recipe, "budget": budget, **options})

    @property
    def index(self) -> clew.Index | PulledIndex | Candidates | None:
        """What is asked; None where there is no document."""
        return self._living.now().index

    @classmethod
    def from_documents(
        cls,
        documents: Sequence[Document],
        embed_model: EmbedderSource | None = None,
        *,
        facts: Facts | None = None,
        show_progress: bool = False,
        **options: Unpack[MakerKeywords],
    ) -> Self:
        """Index documents and return a retriever over them.

        Args:
            documents: What is read. Without any, the retriever finds nothing until some come.
            embed_model: A LlamaIndex embedding, or anything else that `clew.Index` embeds with.
                None stands for clew's own embedder, fitted on these texts.
            facts: Triples (subject, relation, object) by document id.
            show_progress: Whether to show bars on stderr.
            **options: What else `clew.Index.from_documents` takes (`extractor`, `count`,
                `canonical`, `links`, ...), and the arguments of the constructor but the index. The
                `splitter` may be a LlamaIndex node parser, too.
        """
        _check(options)
        documents, triples = nodes_or_documents(documents, "documents"), facts_by_document(facts)
        rest, parser = _without_parser(options)
        if parser is not None:
            nodes = parser(documents)
            retriever = cls.from_nodes(
                nodes, embed_model, facts=triples, show_progress=show_progress, **rest
            )
            retriever._parser = parser
            return retriever
        return cls._over(documents, embed_model, triples, show_progress, options)

    @classmethod
    def from_nodes(
        cls,
        nodes: Sequence[BaseNode],
        embed_model: EmbedderSource | None = None,
        *,
        facts: Facts | None = None,
        show_progress: bool = False,
        **options: Unpack[MakerKeywords],
    ) -> Self:
        """Index nodes as they are and return a retriever over them.

        Args:
            nodes: What is read. An embedding that a node has must be `embed_model`'s. Without any,
                the retriever finds nothing until some come.
            embed_model: As in `from_documents`.
            facts: Triples by node id, or by the id of its source.
            show_progress: As in `from_documents`.
            **options: As in `from_documents`.
        """
        _check(options)
        nodes, triples = nodes_or_documents(nodes, "nodes"), facts_by_document(facts)
        if embed_model is None:
            nodes = [without_vector(node) for node in nodes]
        return cls._over(nodes, embed_model, triples, show_progress, options)

    @classmethod
    def from_index(
        cls,
        index: BaseIndex[Any],
        embed_model: EmbedderSource | None = None,
        *,
        candidates: int | None = CANDIDATES,
        facts: Facts | None = None,
        hops: int = HOPS,
        edges: Iterable[tuple[str, str]] = (),
        show_progress: bool = False,
        **options: Unpack[MakerKeywords],
    ) -> Self:
        """Return a retriever over the nodes of a LlamaIndex index.

        Where its vector store can be searched for all there is, since it keeps the text itself or
        is LlamaIndex's own in memory or over FAISS, each question searches the store, reads names
        and symbols in what it finds (`extractor=None` reads none), and searches twice more for what
        this leads to: names that a node which the question names gives for its other words, as a
        film gives its director, then the question with three names. Where it finds few names, as in
        documentation, none is read or followed. Filters go to the store; FAISS takes none, so what
        they allow is looked for among more and more of its nearest. How near a node is, the store's
        own vectors say, where they can be had: those in memory and those of Chroma, Elasticsearch,
        FAISS, LanceDB, Postgres and Qdrant; else its similarities. No node is embedded. The
        searches bring these vectors along. So a question calls the store three times by default,
        once for each search, and once more for each edge, and for the vectors of nodes that were
        fetched by their ids.

        Of another index, and with `candidates=None` of one in memory or over FAISS, too, all nodes
        are read from the docstore into an index of clew's own, with the vectors that the vector
        store can give. A question after nodes were inserted or deleted there sees that, and, where
        the docstore is in memory, after one was replaced under its own id. Of a docstore elsewhere
        such a node is read anew by `refresh`.

        Args:
            index: Any index with a docstore.
            embed_model: The model the index was embedded with. None stands for the one it knows.
            candidates: How many nodes the vector store is asked for, where `similarity_top_k` is no
                more; None for an index of clew's own of all nodes. Where there is no other, a
                warning says that this is not used, nor `hops` or `edges`.
            facts: As in `from_nodes`.
            hops: How many more searches of the store follow the first, each adding up to 15 nodes.
            edges: Pairs of keys of metadata. A node leads to those whose value of the second key is
                its own value of the first, or one of its own: `[("see", "url")]`. Values are texts
                or numbers: no filter of LlamaIndex's takes a truth value. Each pair is one more
                search, for up to 15 nodes, under the same filters. `("text", "url")` follows
                the links in the texts of the ten best nodes, relative to their own `url`.
                `("relationships", "node_id")` fetches the next, previous, parent and child nodes by
                their ids, from the docstore or else the store, without a search.
            show_progress: As in `from_documents`.
            **options: As in `from_documents`.
        """
        _check(options)
        edges = check_searches(CANDIDATES if candidates is None else candidates, hops, edges)
        for name in ("object_map", "callback_manager"):  # those of its own retriever
            if options.get(name) is None:
                options[name] = getattr(index, f"_{name}", None)
        triples = facts_by_document(facts)
        embed_model = getattr(index, "_embed_model", None) if embed_model is None else embed_model
        is_searched = candidates is not None and embed_model is not None
        is_searched = is_searched and is_searched_by_vectors(index)
        nodes = None if is_searched else nodes_with_vectors(index)
        if nodes is not None:
            searches = {"candidates": candidates not in (CANDIDATES, None), "hops": hops != HOPS}
            _warn_of_unused(index, [*filter(searches.get, searches), *["edges"] * bool(edges)])
            retriever = cls.from_nodes(
                nodes, embed_model, facts=triples, show_progress=show_progress, **options
            )
            prepare = without_vector if embed_model is None else _as_it_is
            if listed_ids(index) is not None:
                living = retriever._living
                retriever._living = Living(living.held, index, prepare, config=living.config)
            return retriever
        config = NAMES.candidates_config(options)
        found = Candidates(
            cast("VectorStoreIndex", index),
            config,
            CANDIDATES if candidates is None else candidates,
            triples,
            embedder=clew.Embedder.of(embed_model),
            hops=hops,
            edges=edges,
        )
        return cls(found, **NAMES.without_index(options))

    @classmethod
    def from_property_graph_store(
        cls,
        store: PropertyGraphStore,
        embed_model: EmbedderSource | None = None,
        *,
        show_progress: bool = False,
        **options: Unpack[MakerKeywords],
    ) -> Self:
        """Return a retriever over the chunks of a property graph store and the triplets read there.

        Other than a `ClewPGRetriever`, which asks a store that changes, it keeps an index of its
        own, which can be persisted.

        Args:
            store: What is read, as it is now.
            embed_model: The model that the store's embeddings are of. None stands for clew's own
                embedder, fitted on the chunks.
            show_progress: As in `from_documents`.
            **options: As in `from_documents`.

        Raises:
            ValueError: The store holds nothing to read.
        """
        _check(options)
        index = index_of(store, _config(options, embed_model), show_progress)
        if index is None:
            raise ValueError(
                f"the {type(store).__name__} holds neither chunks nor triplets: "
                "there is nothing to read"
            )
        return cls(index, **NAMES.without_index(options))

    def persist(self, persist_dir: str | Path) -> None:
        """Save the index, the nodes as they came and the options to a folder, whole or not at all.

        A retriever without nodes is saved, too, and takes some when opened.
        `from_persist_dir` opens it again. The embed_model, a splitter or tokenizer of one's own,
        the llm, and `objects` that index nodes lead to are not saved: they are given again.
        """
        held, config = self._living.now(), self._living.config
        if isinstance(held.index, Candidates) or config is None:
            raise TypeError(
                "there is nothing to save: this retriever asks a vector store, or an index in a "
                "database, which is saved by itself"
            )
        index = held.index if isinstance(held.index, clew.Index) else persistence.emptied(config)
        graph = index.graph
        nodes = {
            id: node
            for id, node in zip(graph.ids, graph.originals, strict=True)
            if isinstance(node, BaseNode)
        }
        persistence.save(persist_dir, index, {**nodes, **held.own_nodes}, self._options())

    @classmethod
    def from_persist_dir(
        cls,
        persist_dir: str | Path,
        embed_model: EmbedderSource | None = None,
        *,
        verify: Literal["changed", "full", "size"] = "changed",
        generation: int | None = None,
        **options: Unpack[MakerKeywords],
    ) -> Self:
        """Return the retriever that was saved in a folder: it gives the same nodes.

        Args:
            persist_dir: The folder.
            embed_model: What the index was made with, where that is not clew's own.
            verify: As in `clew.Index.load`.
            generation: As in `clew.Index.load`.
            **options: What else the index was made with (`count`, `splitter`, `canonical`, ...),
                where that is not clew's own, also a node parser, which cuts what comes later; and
                the arguments of the constructor but the index, in place of those that were saved.
        """
        _check(options)
        rest, parser = _without_parser(options)
        keywords = {"embedder": embed_model, **NAMES.index_keywords(rest)}
        index, nodes, saved = persistence.load(persist_dir, keywords, verify, generation)
        retriever = cls(index, **{**saved, **NAMES.without_index(rest)})
        if len(index.graph):
            retriever._living = Living(Held(index, nodes))
        retriever._parser = parser
        return retriever

    @classmethod
    def _over(
        cls,
        sources: Sequence[BaseNode],
        embed_model: EmbedderSource | None,
        facts: FactsByDocument,
        show_progress: bool,
        options: Mapping[str, object],
    ) -> Self:
        config = _config(options, embed_model)
        if sources or facts:
            index = clew.Index.from_documents(
                sources, facts=facts, progress=show_progress, config=config
            )
        else:
            index = persistence.emptied(config)
        return cls(index, **NAMES.without_index(options))

    def refresh(self) -> None:
        """Read the nodes of the index of `from_index` again, those under ids that it knows, too."""
        self._living.refresh()

    def insert(self, document: Document) -> None:
        """Add a document, or put it in the place of the one of its id."""
        self.refresh_ref_docs([document])

    def insert_nodes(self, nodes: Sequence[BaseNode]) -> None:
        """Add nodes, or put them in the place of those of their ids; one without text is nothing.

        What was read before is not read again, nor embedded. Retrievers that were made of this one
        by `with_options` see them, too.
        """
        self._living.upsert(nodes_or_documents(nodes, "nodes"))

    def delete_nodes(self, node_ids: Sequence[str]) -> None:
        """Delete nodes or documents by their ids; one that is not there is gone already."""
        self._living.delete(node_ids)

    def delete_ref_doc(self, ref_doc_id: str) -> None:
        """Delete a document, and the nodes that were cut from it."""
        self._living.delete(self._living.pieces_of(ref_doc_id))

    def update_ref_doc(self, document: Document) -> None:
        """Put a document in the place of the one of its id."""
        self.refresh_ref_docs([document])

    def refresh_ref_docs(self, documents: Sequence[Document]) -> list[bool]:
        """Add the documents that are new, and replace those that have changed.

        Returns:
            For each document, whether it was new or had changed.
        """
        changed = list[bool]()
        for document in nodes_or_documents(documents, "documents"):
            pieces = self._pieces(document)
            with self._living.lock:
                before = self._living.held.index
                old = self._living.pieces_of(document.node_id)
                if self._parser is None or not _are_same(pieces, list(old.values())):
                    self._living.upsert(pieces)
                    self._living.delete(old.keys() - {piece.node_id for piece in pieces})
                changed.append(self._living.held.index is not before)
        return changed

    def _pieces(self, document: BaseNode) -> list[BaseNode]:
        """Return what is indexed of a document: itself, or what a node parser makes of it."""
        if self._parser is None:
            return [document]
        return [node for node in self._parser([document]) if node.get_content().strip()]

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        held = self._living.now()
        return self._nodes(held, self._answer_from(held, bundle_of(query_bundle)))

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        held = await asyncio.to_thread(self._living.now)
        context = await self._aanswer_from(held, bundle_of(query_bundle))
        return await asyncio.to_thread(self._nodes, held, context)

    def _nodes(self, held: Held, context: clew.Context) -> list[NodeWithScore]:
        if isinstance(held.index, clew.Index):
            return self._nodes_of(held.index, context, held.own_nodes)
        return nodes_of(context, explain=self.explain)

    def _context(self, bundle: QueryBundle) -> clew.Context:
        return self._answer_from(self._living.now(), bundle)

    async def _acontext(self, bundle: QueryBundle) -> clew.Context:
        return await self._aanswer_from(await asyncio.to_thread(self._living.now), bundle)

    def _answer_from(self, held: Held, bundle: QueryBundle) -> clew.Context:
        if isinstance(held.index, clew.Index):
            return self._ask(held.index, bundle, held.own_nodes)
        if isinstance(held.index, PulledIndex):
            return self._ask_remote(held.index, bundle)
        options, found = self._query_options(), None
        if held.index is not None:
            found = held.index.find(bundle, self.filters, options.limit)
        return self._narrowed(held, bundle, found, options)

    async def _aanswer_from(self, held: Held, bundle: QueryBundle) -> clew.Context:
        if isinstance(held.index, clew.Index):
            return await self._aask(held.index, bundle, held.own_nodes)
        if isinstance(held.index, PulledIndex):
            return await asyncio.to_thread(self._ask_remote, held.index, bundle)
        options, found = self._query_options(), None
        if held.index is not None:
            found = await held.index.afind(bundle, self.filters, options.limit)
        return await asyncio.to_thread(self._narrowed, held, bundle, found, options)

    def _narrowed(
        self, held: Held, bundle: QueryBundle, found: Found | None, options: QueryOptions
    ) -> clew.Context:
        if found is None or not found.nodes or not isinstance(held.index, Candidates):
            return empty_context(bundle.query_str, options)
        return held.index.narrow(bundle, found, options, explain=self.explain)


def _config(options: Mapping[str, Any], embed_model: EmbedderSource | None) -> IndexConfig:
    """Return what an index is made with, once its model tells whom the retriever will tell."""
    config = NAMES.index_config(options, embedder=embed_model)
    shared_callback_manager(options.get("callback_manager"), config.embedder)
    return config


def _without_parser(
    options: Mapping[str, Any],
) -> tuple[dict[str, Any], TransformComponent | None]:
    """Return options without a splitter of LlamaIndex's, and that; None for one of clew's own."""
    splitter = options.get("splitter")
    if not isinstance(splitter, TransformComponent):
        return dict(options), None
    return {name: value for name, value in options.items() if name != "splitter"}, splitter


def _are_same(pieces: Sequence[BaseNode], old: Sequence[object]) -> bool:
    """Return whether pieces are those of before: a parser gives new ids to the same ones."""
    return [piece.hash for piece in pieces] == [getattr(one, "hash", None) for one in old]


def _warn_of_unused(index: BaseIndex[Any], names: Sequence[str]) -> None:
    """Say that options of the searches of a store were given for an index that is read whole."""
    if names:
        warnings.warn(
            f"{', '.join(names)}: not used, since this {type(index).__name__} has its nodes in the "
            "docstore, and all of them are indexed; such options are of the searches of a vector "
            "store in memory, over FAISS, or of one that keeps the text",
            UnusedOptionsWarning,
            stacklevel=3,
        )


def _as_it_is(node: BaseNode) -> BaseNode:
    return node


def _check(options: Mapping[str, object]) -> None:
    """Refuse what no retriever takes before the work of an index is done, not after it."""
    rest = NAMES.without_index(options)
    NAMES.check(rest, (*NAMES.of_question, *CONSTRUCTOR), "a retriever")
    check_options({name: value for name, value in rest.items() if name not in CONSTRUCTOR})
