"""A sub-retriever of a property graph index, over any property graph store."""

from __future__ import annotations

import asyncio
from typing import Unpack

from llama_index.core.callbacks.base import CallbackManager
from llama_index.core.graph_stores.types import PropertyGraphStore
from llama_index.core.indices.property_graph import BasePGRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle
from llama_index.retrievers.clew.asking_retriever import (
    DEFAULTS,
    NAMES,
    AskingRetriever,
    OtherRetrieverKeywords,
)
from llama_index.retrievers.clew.checks import graph_store
from llama_index.retrievers.clew.questions import bundle_of
from llama_index.retrievers.clew.stored_graph import StoredGraph

import clew
from clew.adapters import EmbedderSource, IndexKeywords, Method, empty_context


class PGRetrieverKeywords(OtherRetrieverKeywords, IndexKeywords, total=False):
    """The options of a retriever, and of the index of what the store holds."""


class ClewPGRetriever(AskingRetriever, BasePGRetriever):
    """Retrieves the chunks of a property graph under a token budget, by the triplets in them.

    The store is read at the first question. After it has changed, call `refresh`. Chunks are
    returned as they are, in reading order. The facts that led to one are in its `clew_why`. No
    language model is asked, unless a recipe does and `llm` is given.
    """

    def __init__(
        self,
        property_graph_store: PropertyGraphStore,
        embed_model: EmbedderSource | None = None,
        recipe: str | Method = clew.recipes.DEFAULT,
        budget: int | None = 2000,
        *,
        callback_manager: CallbackManager | None = None,
        **options: Unpack[PGRetrieverKeywords],
    ) -> None:
        """Make a retriever over a store.

        Args:
            property_graph_store: What is read.
            embed_model: The model that the store's embeddings are of; what has none is embedded by
                it. None stands for clew's own embedder, fitted on the chunks; embeddings in the
                store are then left alone.
            recipe: As in `AskingRetriever`.
            budget: As in `AskingRetriever`.
            callback_manager: As in LlamaIndex.
            **options: The other attributes of `AskingRetriever`, and what else
                `clew.Index.from_documents` takes, such as `count`.
        """
        store = graph_store(property_graph_store)
        super().__init__(store, include_text=False, callback_manager=callback_manager)
        chosen = {"recipe": recipe, "budget": budget, **NAMES.without_index(options)}
        self._set_options({**DEFAULTS, **chosen})
        self.stored = StoredGraph(store, NAMES.index_config(options, embedder=embed_model))

    @property
    def index(self) -> clew.Index | None:
        """The index of what the store holds; None while there is nothing to read."""
        return self.stored.index()

    def refresh(self) -> None:
        """Read the store again, for this retriever and those made of it by `with_options`."""
        self.stored.refresh()

    def retrieve_from_graph(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        """Return the nodes for a question, in reading order; none while the store is empty."""
        index, bundle = self.index, bundle_of(query_bundle)
        if index is None:
            return []
        return self._nodes(index, self._ask(index, bundle, {}))

    async def aretrieve_from_graph(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        """Return what `retrieve_from_graph` returns, without blocking the event loop."""
        index, bundle = await asyncio.to_thread(self.stored.index), bundle_of(query_bundle)
        if index is None:
            return []
        context = await self._aask(index, bundle, {})
        return await asyncio.to_thread(self._nodes, index, context)

    def _nodes(self, index: clew.Index, context: clew.Context) -> list[NodeWithScore]:
        return self._nodes_of(index, context, {})

    def _context(self, bundle: QueryBundle) -> clew.Context:
        index = self.index
        if index is None:
            return empty_context(bundle.query_str, self._query_options())
        return self._ask(index, bundle, {})

    async def _acontext(self, bundle: QueryBundle) -> clew.Context:
        index = await asyncio.to_thread(self.stored.index)
        if index is None:
            return empty_context(bundle.query_str, self._query_options())
        return await self._aask(index, bundle, {})
