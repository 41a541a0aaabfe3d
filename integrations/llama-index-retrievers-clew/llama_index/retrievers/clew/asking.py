"""What the retrievers have in common: how a question is asked, and what may be changed from one question to the next."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from llama_index.core.schema import BaseNode, NodeWithScore, QueryBundle
from llama_index.core.vector_stores.types import MetadataFilters
from llama_index.retrievers.clew.filters import Where, where
from llama_index.retrievers.clew.nodes import nodes_of
from llama_index.retrievers.clew.printed import within

import clew

OPTIONS = ("recipe", "budget", "similarity_top_k", "filters", "deadline", "llm", "explain")


class Asking:
    """The options of a question, as plain attributes.

    Attributes:
        recipe: a name of `clew.recipes.names()`, or a method. budget: the most tokens of the rendered context, and of the nodes as
            a prompt shows them, with their metadata; or None.
        similarity_top_k: exactly so many nodes while there are so many, or None for what the recipe chooses.
        filters: what may be read. deadline: seconds, for anytime methods. llm: a language model, for methods that ask one.
        explain: say rank, role and reason in the nodes' metadata. Without it metadata and hash are the caller's own, which retrievers need
            that fuse several results by hash.
    """

    recipe: Any
    budget: int | None
    similarity_top_k: int | None
    filters: MetadataFilters | None
    deadline: float | None
    llm: Any
    explain: bool

    def _set_options(self, **options: Any) -> None:
        check_options(options, OPTIONS)
        for name, value in options.items():
            setattr(self, name, value)

    def with_options(self, **options: Any) -> Self:
        """Return a retriever with other options over the same index: for one question, or one user. Nothing is built again.

        Args:
            options: any of recipe, budget, similarity_top_k, filters, deadline, llm, explain.
        """
        other = copy.copy(self)
        other._set_options(**options)
        return other

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """A copy over the same index, which never changes: a copied query engine is not a copied corpus."""
        return copy.copy(self)

    def context(self, query: str | QueryBundle) -> clew.Context:
        """Return the whole context: rendered text, tokens, edges, trace and what was dropped, of which `retrieve` gives the nodes.

        Its text has no metadata on it; where the nodes with theirs did not fit, the last step of the trace says what was done.

        Raises:
            ValueError: an empty question, or a budget that holds nothing of what was chosen.
        """
        return self._context(bundle_of(query))

    async def acontext(self, query: str | QueryBundle) -> clew.Context:
        """Return what `context` returns, without blocking the event loop."""
        return await self._acontext(bundle_of(query))

    def _context(self, bundle: QueryBundle) -> clew.Context:
        raise NotImplementedError  # each retriever has its own way to what it asks

    async def _acontext(self, bundle: QueryBundle) -> clew.Context:
        raise NotImplementedError  # as above

    def _how(self) -> dict[str, Any]:
        """The options in clew's words, but for filters."""
        limit = self.similarity_top_k
        return {
            "recipe": self.recipe,
            "budget": self.budget,
            "limit": limit,
            "deadline": self.deadline,
            "model": self.llm,
        }

    def _ask(
        self, index: clew.Index, bundle: QueryBundle, kept: Mapping[str, BaseNode]
    ) -> clew.Context:
        allowed = where(self.filters)
        return self._answer(
            index, bundle, None if index.fitted else _vector(index, bundle), allowed, kept
        )

    async def _aask(
        self, index: clew.Index, bundle: QueryBundle, kept: Mapping[str, BaseNode]
    ) -> clew.Context:
        allowed = where(self.filters)
        vector = None if index.fitted else await _avector(index, bundle)
        return await asyncio.to_thread(self._answer, index, bundle, vector, allowed, kept)

    def _answer(
        self,
        index: clew.Index,
        bundle: QueryBundle,
        vector: Any,
        allowed: Where | None,
        kept: Mapping[str, BaseNode],
    ) -> clew.Context:
        """The context whose nodes a synthesizer prints within the budget; the vector is known, so that asking again embeds nothing."""
        how = self._how() | {"where": allowed, "vector": vector}
        return within(
            lambda budget: index.ask(bundle.query_str, **(how | {"budget": budget})),
            lambda context: nodes_from(index, context, kept, self.explain),
            index.graph.count,
            self.budget,
            self.recipe,
        )


def check_options(options: Mapping[str, Any], known: tuple[str, ...]) -> None:
    """Raise a TypeError for an option of another name, and a ValueError for a recipe or a filter that does not exist."""
    unknown = [name for name in options if name not in known]
    if unknown:
        raise TypeError(f"unknown option {unknown[0]!r}; known are {', '.join(known)}")
    if "recipe" in options:
        clew.recipes.get(options["recipe"])
    where(options.get("filters"))


def nodes_from(
    index: clew.Index, context: clew.Context, kept: Mapping[str, BaseNode], explain: bool
) -> list[NodeWithScore]:
    """Return the nodes of a context that was asked of this index; `kept` are the caller's nodes where a loaded index has none."""
    graph = index.graph

    def known(id: str) -> Any:
        if id in kept:
            return kept[id]
        try:
            return graph.originals[graph.row(id)]
        except KeyError:  # a fact, or a text that a recipe made: no node of the graph
            return None

    return nodes_of(context, known, explain)


def given_vector(embedder: clew.Embedder, bundle: QueryBundle) -> Any:
    """Return the question's vector where the bundle says what it is: its embedding, or the mean over its custom texts; else None.

    An index without an embed_model never comes here: its own embedder is fitted on its passages, so that a vector that another
    retriever left in the bundle is of another space, and the question is embedded as it is written.
    """
    if bundle.embedding is not None:
        return bundle.embedding
    if not bundle.custom_embedding_strs:
        return None
    return np.mean(
        [
            np.asarray(embedder.embed_question(text), np.float64)
            for text in bundle.custom_embedding_strs
        ],
        axis=0,
    )


async def agiven_vector(embedder: clew.Embedder, bundle: QueryBundle) -> Any:
    """Return what `given_vector` returns, without blocking the event loop."""
    if (
        bundle.embedding is not None
        or not bundle.custom_embedding_strs
        or embedder.aembed_question is None
    ):
        return await asyncio.to_thread(given_vector, embedder, bundle)
    return np.mean(
        [
            np.asarray(await embedder.aembed_question(text), np.float64)
            for text in bundle.custom_embedding_strs
        ],
        axis=0,
    )


def _vector(index: clew.Index, bundle: QueryBundle) -> Any:
    vector = given_vector(index.embedder, bundle)
    return index.embedder.embed_question(_cleaned(index, bundle)) if vector is None else vector


async def _avector(index: clew.Index, bundle: QueryBundle) -> Any:
    vector = await agiven_vector(index.embedder, bundle)
    if vector is None and index.embedder.aembed_question is not None:
        return await index.embedder.aembed_question(_cleaned(index, bundle))
    return await asyncio.to_thread(_vector, index, bundle) if vector is None else vector


def _cleaned(index: clew.Index, bundle: QueryBundle) -> str:
    """The question in the canonical form in which the index's passages were embedded."""
    canonical = index.graph.canonical
    cleaned = bundle.query_str if canonical is None else canonical(bundle.query_str)
    return cleaned if cleaned.strip() else bundle.query_str


def nothing_found(bundle: QueryBundle, budget: int | None, recipe: Any) -> clew.Context:
    """Return the context without items: what an empty store, or one that finds nothing, leaves to read."""
    return clew.Context((), "", 0, budget, bundle.query_str, repr(clew.recipes.get(recipe)))


def bundle_of(query: str | QueryBundle) -> QueryBundle:
    """Return a bundle of our own with the question stripped: tools add line ends, and the caller's bundle is not written to."""
    given = query if isinstance(query, QueryBundle) else QueryBundle(query)
    if not given.query_str.strip():
        raise ValueError(f"a question is a text with at least one word; got {given.query_str!r}")
    return QueryBundle(
        given.query_str.strip(), given.image_path, given.custom_embedding_strs, given.embedding
    )
