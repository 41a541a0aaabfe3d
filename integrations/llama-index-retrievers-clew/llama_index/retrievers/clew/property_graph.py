"""A sub-retriever of a property graph index, over any property graph store."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from llama_index.core.callbacks.base import CallbackManager
from llama_index.core.graph_stores.types import PropertyGraphStore
from llama_index.core.indices.property_graph import BasePGRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle
from llama_index.core.vector_stores.types import MetadataFilters
from llama_index.retrievers.clew.asking import Asking, bundle_of, nodes_from, nothing_found
from llama_index.retrievers.clew.given import graph_store
from llama_index.retrievers.clew.stored import StoredGraph

import clew


class ClewPGRetriever(Asking, BasePGRetriever):
    """Retrieves the chunks of a property graph under a token budget, led by the triplets that were extracted from them.

    The store is read at the first question; after it has changed, call `refresh`. Chunks are returned as they are, in reading order:
    the facts that led to one are in its `clew_why`. No language model is asked, unless a recipe does and `llm` is given.
    """

    def __init__(
        self,
        property_graph_store: PropertyGraphStore,
        embed_model: Any = None,
        recipe: Any = clew.recipes.DEFAULT,
        budget: int | None = 2000,
        similarity_top_k: int | None = None,
        filters: MetadataFilters | None = None,
        deadline: float | None = None,
        llm: Any = None,
        explain: bool = True,
        count: Callable[[str], Any] | str | None = None,
        callback_manager: CallbackManager | None = None,
    ) -> None:
        """Make a retriever over a store; see `Asking` for the options of a question.

        Args:
            embed_model: the model that the store's embeddings are of; what has none is embedded by it. None: clew's own, fitted on the
                chunks; embeddings in the store are then left alone.
            count: a tokenizer, or the name of one.
        """
        super().__init__(
            graph_store(property_graph_store), include_text=False, callback_manager=callback_manager
        )
        self.stored = StoredGraph(property_graph_store, embed_model, count)
        self._set_options(
            recipe=recipe,
            budget=budget,
            similarity_top_k=similarity_top_k,
            filters=filters,
            deadline=deadline,
            llm=llm,
            explain=explain,
        )

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
        return (
            []
            if index is None
            else nodes_from(index, self._ask(index, bundle, {}), {}, self.explain)
        )

    async def aretrieve_from_graph(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        """Return what `retrieve_from_graph` returns, without blocking the event loop."""
        index, bundle = await asyncio.to_thread(self.stored.index), bundle_of(query_bundle)
        return (
            []
            if index is None
            else await asyncio.to_thread(
                nodes_from, index, await self._aask(index, bundle, {}), {}, self.explain
            )
        )

    def _context(self, bundle: QueryBundle) -> clew.Context:
        index = self.index
        return (
            nothing_found(bundle, self.budget, self.recipe)
            if index is None
            else self._ask(index, bundle, {})
        )

    async def _acontext(self, bundle: QueryBundle) -> clew.Context:
        index = await asyncio.to_thread(self.stored.index)
        return (
            nothing_found(bundle, self.budget, self.recipe)
            if index is None
            else await self._aask(index, bundle, {})
        )
