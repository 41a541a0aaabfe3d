"""A sub-retriever of a property graph index, over any property graph store."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Unpack

from llama_index.core.callbacks.base import CallbackManager
from llama_index.core.graph_stores.types import PropertyGraphStore
from llama_index.core.indices.property_graph import BasePGRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle
from llama_index.core.vector_stores.types import BasePydanticVectorStore
from llama_index.retrievers.clew.asking_retriever import (
    DEFAULTS,
    NAMES,
    AskingRetriever,
    OtherRetrieverKeywords,
)
from llama_index.retrievers.clew.callbacks import shared_callback_manager
from llama_index.retrievers.clew.checks import graph_store
from llama_index.retrievers.clew.filters import where_of
from llama_index.retrievers.clew.questions import bundle_of
from llama_index.retrievers.clew.store_pull import Pulled, StoreBounds, StorePull, size_of
from llama_index.retrievers.clew.stored_graph import StoredGraph, index_of_contents

import clew
from clew.adapters import (
    EmbedderSource,
    IndexKeywords,
    Method,
    empty_context,
    with_first_step,
)

READING = ("whole", "bounds", "vector_store")
"""The options that say how the store is read."""

Read = tuple[clew.Index | None, Mapping[str, object]]
"""An index, and how a part of the store was read, for the trace."""

KEPT_WHOLE = 5_000
"""Nodes up to which a store that says its size is read whole."""


class PGRetrieverKeywords(OtherRetrieverKeywords, IndexKeywords, total=False):
    """The options of a retriever, and of the index of what the store holds."""

    whole: bool | None
    bounds: StoreBounds | None
    vector_store: BasePydanticVectorStore | None


class ClewPGRetriever(AskingRetriever, BasePGRetriever):
    """Retrieves the chunks of a property graph under a token budget, by the triplets in them.

    The store is read at the first question, and after it has changed, `refresh` reads it again. Of
    a large store, each question reads the part that it may need, within bounds, as it is then:
    entities that it names, what is nearest to its vector, and from there along the triplets.

    Chunks are returned as they are, in reading order. The facts that led to one are in its
    `clew_why`. No language model is asked, unless a recipe does and `llm` is given.
    """

    _changes = "stored"

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
                store are then left alone. Where a question reads a part alone, this model embeds
                the question for the store's search, and clew's own compares what was read.
            recipe: As in `AskingRetriever`.
            budget: As in `AskingRetriever`.
            callback_manager: As in LlamaIndex.
            **options: `whole`: whether the store is read whole; None is for a store that says it
                has more than 5,000 nodes and can be searched by vectors to be read in part.
                `bounds`, a `StoreBounds`: how much a question then reads. `vector_store`: what
                finds the nearest nodes, where the graph store does not, such as
                `index.vector_store`. The other attributes of `AskingRetriever`, and what else
                `clew.Index.from_documents` takes, such as `count`.
        """
        store = graph_store(property_graph_store)
        config = NAMES.index_config(options, embedder=embed_model)
        manager = shared_callback_manager(callback_manager, config.embedder)
        super().__init__(store, include_text=False, callback_manager=manager)
        reading: Any = {name: options.pop(name, None) for name in READING}  # type: ignore[misc]
        chosen = {"recipe": recipe, "budget": budget, **NAMES.without_index(options)}
        self.stored = StoredGraph(store, config)
        self._set_options({**DEFAULTS, **chosen})
        self._whole: bool | None = _checked_whole(reading["whole"])
        bounds = _checked_bounds(reading["bounds"])
        self._pull = StorePull(store, bounds, config.embedder, reading["vector_store"])

    @property
    def index(self) -> clew.Index | None:
        """The index of what the store holds; None while there is nothing, or no whole to read."""
        return self.stored.index() if self.is_whole else None

    @property
    def is_whole(self) -> bool:
        """Whether the store is read whole; one that says its size is asked for it once."""
        if self._whole is None:
            size = size_of(self._pull.store) if self._pull.searches else None
            self._whole = size is None or size <= KEPT_WHOLE
        return self._whole

    def refresh(self) -> None:
        """Read the store again, for this retriever and those made of it by `with_options`.

        Where each question reads a part, there is nothing to be read again.
        """
        if self.is_whole:
            self.stored.refresh()

    def retrieve_from_graph(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        """Return the nodes for a question, in reading order; none while the store is empty."""
        bundle = bundle_of(query_bundle)
        index, notes = self._read(bundle)
        return [] if index is None else self._nodes(index, self._asked(index, bundle, notes))

    async def aretrieve_from_graph(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        """Return what `retrieve_from_graph` returns, without blocking the event loop."""
        bundle = bundle_of(query_bundle)
        index, notes = await self._aread(bundle)
        if index is None:
            return []
        context = await self._aasked(index, bundle, notes)
        return await asyncio.to_thread(self._nodes, index, context)

    def _nodes(self, index: clew.Index, context: clew.Context) -> list[NodeWithScore]:
        return self._nodes_of(index, context, {})

    def _context(self, bundle: QueryBundle) -> clew.Context:
        index, notes = self._read(bundle)
        if index is None:
            return empty_context(bundle.query_str, self._query_options())
        return self._asked(index, bundle, notes)

    async def _acontext(self, bundle: QueryBundle) -> clew.Context:
        index, notes = await self._aread(bundle)
        if index is None:
            return empty_context(bundle.query_str, self._query_options())
        return await self._aasked(index, bundle, notes)

    def _read(self, bundle: QueryBundle) -> Read:
        """Return the index of the store, or of the part that a question may need."""
        if self.is_whole:
            return self.stored.index(), {}
        pulled = self._pull.pull(bundle, where_of(self.filters))
        return self._index_of(pulled), pulled.notes

    async def _aread(self, bundle: QueryBundle) -> Read:
        if await asyncio.to_thread(lambda: self.is_whole):
            return await asyncio.to_thread(self.stored.index), {}
        pulled = await self._pull.apull(bundle, where_of(self.filters))
        return await asyncio.to_thread(self._index_of, pulled), pulled.notes

    def _index_of(self, pulled: Pulled) -> clew.Index | None:
        return index_of_contents(pulled.contents, replace(self.stored.config, embedder=None))

    def _asked(
        self, index: clew.Index, bundle: QueryBundle, notes: Mapping[str, object]
    ) -> clew.Context:
        context = self._ask(index, bundle, {})
        return with_first_step(context, "pulled", notes) if notes else context

    async def _aasked(
        self, index: clew.Index, bundle: QueryBundle, notes: Mapping[str, object]
    ) -> clew.Context:
        context = await self._aask(index, bundle, {})
        return with_first_step(context, "pulled", notes) if notes else context


def _checked_whole(whole: object) -> bool | None:
    """Return whether a store is read whole, as it was given.

    Raises:
        TypeError: It is neither True, False nor None.
    """
    if whole is None or isinstance(whole, bool):
        return whole
    raise TypeError(f"whole is True, False or None; got {whole!r}")


def _checked_bounds(bounds: object) -> StoreBounds:
    """Return how much is read of a store, as it was given.

    Raises:
        TypeError: It is neither a `StoreBounds` nor None.
    """
    if bounds is None or isinstance(bounds, StoreBounds):
        return bounds or StoreBounds()
    raise TypeError(f"bounds are a StoreBounds; got {bounds!r}")
