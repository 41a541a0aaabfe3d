"""A retriever over an index of clew's, or over the candidates of a vector store that keeps its own text."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.callbacks.base import CallbackManager
from llama_index.core.graph_stores.types import PropertyGraphStore
from llama_index.core.schema import (
    BaseNode,
    Document,
    IndexNode,
    NodeWithScore,
    QueryBundle,
    TransformComponent,
)
from llama_index.core.vector_stores.types import MetadataFilters
from llama_index.retrievers.clew import persisted
from llama_index.retrievers.clew.asking import (
    OPTIONS,
    Asking,
    check_options,
    nodes_from,
    nothing_found,
)
from llama_index.retrievers.clew.candidates import Candidates, nodes_with_vectors, without_vector
from llama_index.retrievers.clew.given import several, triples
from llama_index.retrievers.clew.nodes import nodes_of
from llama_index.retrievers.clew.stored import index_of

import clew

Triple = tuple[str, str, str]
CONSTRUCTOR = (*OPTIONS, "callback_manager", "object_map", "objects", "verbose")


class ClewRetriever(Asking, BaseRetriever):
    """Retrieves a connected context under a token budget, in reading order.

    The score of a node is its prize for this question; prizes of two questions do not compare, so a similarity cutoff tuned for cosines
    does not fit them. The metadata of a node says its `clew_rank`, `clew_role` and `clew_why`, none of which is shown to a model,
    and its `clew_heading` where it stands under one, which is. A filter that allows nothing gives an empty list.
    """

    def __init__(
        self,
        index: clew.Index | Candidates,
        recipe: Any = clew.recipes.DEFAULT,
        budget: int | None = 2000,
        similarity_top_k: int | None = None,
        filters: MetadataFilters | None = None,
        deadline: float | None = None,
        llm: Any = None,
        explain: bool = True,
        callback_manager: CallbackManager | None = None,
        object_map: dict[str, Any] | None = None,
        objects: list[IndexNode] | None = None,
        verbose: bool = False,
    ) -> None:
        """Make a retriever over an index that is there already; see `Asking` for the options of a question."""
        super().__init__(callback_manager, object_map, objects, verbose)
        if not isinstance(index, (clew.Index, Candidates)):
            raise TypeError(
                f"index is a clew.Index, not a {type(index).__name__}; for documents, nodes or an index of LlamaIndex's there are "
                "ClewRetriever.from_documents, from_nodes and from_index"
            )
        self.index = index
        self._kept: Mapping[str, BaseNode] = {}
        self._set_options(
            recipe=recipe,
            budget=budget,
            similarity_top_k=similarity_top_k,
            filters=filters,
            deadline=deadline,
            llm=llm,
            explain=explain,
        )

    @classmethod
    def from_documents(
        cls,
        documents: Sequence[Document],
        embed_model: Any = None,
        *,
        facts: Mapping[str, Iterable[Triple]] | None = None,
        extractor: Any = None,
        splitter: Any = None,
        count: Callable[[str], Any] | str | None = None,
        canonical: Callable[[str], str] | None = None,
        show_progress: bool = False,
        **options: Any,
    ) -> Self:
        """Index documents and return a retriever over them.

        Args:
            embed_model: a LlamaIndex embedding, or what else `clew.Index` embeds with; None: clew's own, fitted on these texts.
            facts: triples (subject, relation, object) by document id. count: a tokenizer, or the name of one.
            extractor: reads more facts out of the texts, such as `clew.Names()`, which needs no language model.
            splitter: a LlamaIndex node parser or a splitter of clew's; None keeps each document whole.
            canonical: text -> the text by which it is found, such as `clew.Plain()`; what is read stays as it is.
            options: the arguments of the constructor but the index.
        """
        check_options(options, CONSTRUCTOR)
        documents, facts = several(documents, "documents"), triples(facts)
        if isinstance(splitter, TransformComponent):
            how: dict[str, Any] = {
                "facts": facts,
                "extractor": extractor,
                "count": count,
                "canonical": canonical,
            }
            return cls.from_nodes(
                splitter(documents), embed_model, **how, show_progress=show_progress, **options
            )
        made = clew.Index.from_documents(
            documents,
            embedder=embed_model,
            facts=facts,
            extractor=extractor,
            splitter=splitter,
            count=count,
            canonical=canonical,
            progress=show_progress,
        )
        return cls(made, **options)

    @classmethod
    def from_nodes(
        cls,
        nodes: Sequence[BaseNode],
        embed_model: Any = None,
        *,
        facts: Mapping[str, Iterable[Triple]] | None = None,
        extractor: Any = None,
        count: Callable[[str], Any] | str | None = None,
        canonical: Callable[[str], str] | None = None,
        show_progress: bool = False,
        **options: Any,
    ) -> Self:
        """Index nodes as they are and return a retriever over them; an embedding that a node has must be `embed_model`'s.

        Args:
            embed_model, facts, extractor, count, canonical, options: as in `from_documents`; facts are named by node id or by the id of
                its source.
        """
        check_options(options, CONSTRUCTOR)
        nodes, facts = several(nodes, "nodes"), triples(facts)
        given = nodes if embed_model is not None else [without_vector(node) for node in nodes]
        how: dict[str, Any] = {
            "facts": facts,
            "extractor": extractor,
            "count": count,
            "canonical": canonical,
        }
        made = clew.Index.from_documents(given, embedder=embed_model, progress=show_progress, **how)
        return cls(made, **options)

    @classmethod
    def from_index(
        cls,
        index: Any,
        embed_model: Any = None,
        *,
        candidates: int = 50,
        facts: Mapping[str, Iterable[Triple]] | None = None,
        count: Callable[[str], Any] | str | None = None,
        show_progress: bool = False,
        **options: Any,
    ) -> Self:
        """Return a retriever over the nodes of a LlamaIndex index.

        The nodes are read from its docstore once, with the vectors that its vector store can give. Where the vector store keeps the
        text itself, so that the docstore has none, each question narrows the store's own best candidates, and filters go to the store.

        Args:
            embed_model: the model the index was embedded with; None: the one it knows. candidates: how many the store is asked for.
            facts, count, options: as in `from_documents`.
        """
        check_options(options, CONSTRUCTOR)
        triples(facts)
        embed_model = getattr(index, "_embed_model", None) if embed_model is None else embed_model
        nodes = nodes_with_vectors(index)
        if nodes:
            return cls.from_nodes(
                nodes, embed_model, facts=facts, count=count, show_progress=show_progress, **options
            )
        return cls(Candidates(index, embed_model, candidates, facts, count), **options)

    @classmethod
    def from_property_graph_store(
        cls,
        store: PropertyGraphStore,
        embed_model: Any = None,
        *,
        count: Callable[[str], Any] | str | None = None,
        show_progress: bool = False,
        **options: Any,
    ) -> Self:
        """Return a retriever over the chunks of a property graph store and the triplets read from them, as they are now.

        Other than a `ClewPGRetriever`, which asks a store that changes, it keeps an index of its own, which can be persisted.

        Args:
            embed_model: the model that the store's embeddings are of; None: clew's own, fitted on the chunks.
            count, options: as in `from_documents`.

        Raises:
            ValueError: the store holds nothing to read.
        """
        check_options(options, CONSTRUCTOR)
        made = index_of(store, embed_model, count, show_progress)
        if made is None:
            raise ValueError(
                f"the {type(store).__name__} holds neither chunks nor triplets: there is nothing to read"
            )
        return cls(made, **options)

    def persist(self, persist_dir: str | Path) -> None:
        """Save the index, the nodes as they came and the options to a folder; `from_persist_dir` opens it again.

        The embed_model, a splitter or tokenizer of one's own, and the llm are not saved: they are given again.
        """
        if not isinstance(self.index, clew.Index):
            raise TypeError(
                "there is nothing to save: this retriever narrows the candidates of a vector store, which is saved by itself"
            )
        graph = self.index.graph
        nodes = {
            id: node
            for id, node in zip(graph.ids, graph.originals, strict=True)
            if isinstance(node, BaseNode)
        }
        persisted.save(
            persist_dir,
            self.index,
            {**nodes, **self._kept},
            {name: getattr(self, name) for name in OPTIONS},
        )

    @classmethod
    def from_persist_dir(
        cls,
        persist_dir: str | Path,
        embed_model: Any = None,
        *,
        count: Any = None,
        splitter: Any = ...,
        canonical: Any = ...,
        **options: Any,
    ) -> Self:
        """Return the retriever that was saved in a folder: it gives the same nodes.

        Args:
            embed_model, count, splitter, canonical: what the index was made with, where that is not clew's own.
            options: the arguments of the constructor but the index, in the place of those that were saved.
        """
        check_options(options, CONSTRUCTOR)
        index, nodes, saved = persisted.load(
            persist_dir, embed_model, count=count, splitter=splitter, canonical=canonical
        )
        made = cls(index, **(saved | options))
        made._kept = nodes
        return made

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return self._nodes(self.context(query_bundle))

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        context = await self.acontext(query_bundle)
        return await asyncio.to_thread(self._nodes, context)

    def _nodes(self, context: clew.Context) -> list[NodeWithScore]:
        if isinstance(self.index, clew.Index):
            return nodes_from(self.index, context, self._kept, self.explain)
        return nodes_of(context, explain=self.explain)

    def _context(self, bundle: QueryBundle) -> clew.Context:
        if isinstance(self.index, clew.Index):
            return self._ask(self.index, bundle, self._kept)
        found, vector = self.index.find(bundle, self.filters)
        if not found:
            return nothing_found(bundle, self.budget, self.recipe)
        return self.index.narrow(bundle, found, vector, **self._how())

    async def _acontext(self, bundle: QueryBundle) -> clew.Context:
        if isinstance(self.index, clew.Index):
            return await self._aask(self.index, bundle, self._kept)
        found, vector = await self.index.afind(bundle, self.filters)
        if not found:
            return nothing_found(bundle, self.budget, self.recipe)
        return await asyncio.to_thread(self.index.narrow, bundle, found, vector, **self._how())
