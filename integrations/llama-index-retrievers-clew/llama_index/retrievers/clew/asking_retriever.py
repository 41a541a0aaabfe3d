"""What the retrievers have in common: the options of a question, and how it is asked."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from functools import partial
from typing import ClassVar, Self, Unpack

from llama_index.core.schema import BaseNode, NodeWithScore, QueryBundle
from llama_index.core.vector_stores.types import MetadataFilters
from llama_index.retrievers.clew.filters import where_of
from llama_index.retrievers.clew.nodes import nodes_of
from llama_index.retrievers.clew.prompt_budget import within_budget
from llama_index.retrievers.clew.questions import aquestion_vector, bundle_of, question_vector
from numpy.typing import ArrayLike

import clew
from clew.adapters import (
    Method,
    ModelSource,
    OptionNames,
    OtherQueryKeywords,
    QueryKeywords,
    QueryOptions,
    Where,
    check_recipe,
    without_relationships,
)
from clew.remote import PulledIndex

PACKAGE = __name__.rpartition(".")[0]
NAMES = OptionNames(
    {
        "limit": "similarity_top_k",
        "where": "filters",
        "model": "llm",
        "embedder": "embed_model",
    },
    own=("explain",),
)
DEFAULTS: dict[str, object] = {
    **{NAMES.renamed.get(name, name): value for name, value in vars(QueryOptions()).items()},
    "explain": True,
    "strict": False,
}
"""The options of a retriever, by LlamaIndex's names, and their defaults."""


class OtherRetrieverKeywords(OtherQueryKeywords, total=False):
    """The options of a retriever but `recipe` and `budget`, which its constructor names.

    `limit`, `where` and `model` have LlamaIndex's names here.
    """

    similarity_top_k: int | None
    filters: MetadataFilters | None
    llm: ModelSource | None
    explain: bool


class RetrieverKeywords(OtherRetrieverKeywords, QueryKeywords, total=False):
    """The options of a retriever."""


class AskingRetriever:
    """A retriever with the options of a question as plain attributes.

    Attributes:
        recipe: A name of `clew.recipes.names()`, or a method.
        budget: Tokens of the rendered context at most, and of the nodes as a prompt shows them,
            with their metadata. None sets no ceiling.
        similarity_top_k: The exact number of nodes, as long as there are so many. None leaves it to
            the recipe.
        filters: What may be read.
        deadline: Seconds after which the best answer so far comes back, by any recipe.
        llm: A language model, for methods that ask one.
        explain: Whether to write rank, role, relevance and reason into the nodes' metadata.
        strict: Whether a budget that holds none of the nodes raises `BudgetError`. Otherwise there
            are none, and a warning says what to do.

    Every other option of `clew.Index.ask` is an attribute, too.
    """

    recipe: str | Method
    budget: int | None
    similarity_top_k: int | None
    filters: MetadataFilters | None
    deadline: float | None
    llm: ModelSource | None
    explain: bool
    object_map: dict[str, object]
    _changes: ClassVar[str]
    """The attribute of what `insert` or `refresh` changes."""

    def _set_options(self, options: Mapping[str, object]) -> None:
        check_options(options)
        for name, value in options.items():
            setattr(self, name, value)

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse a name of no option: a mistyped one would have no effect.

        A class derived from these may have attributes of its own.
        """
        is_made = "recipe" in vars(self) and type(self).__module__.startswith(PACKAGE)
        if is_made and not name.startswith("_") and not hasattr(self, name):
            try:
                NAMES.check([name], NAMES.of_question, "a retriever")
            except TypeError as error:
                raise AttributeError(str(error)) from error
        super().__setattr__(name, value)

    def with_options(self, **options: Unpack[RetrieverKeywords]) -> Self:
        """Return a retriever with other options over the same index: for one question, or one user.

        Nothing is built again.

        Args:
            **options: Any of recipe, budget, similarity_top_k, filters, deadline, llm, explain, and
                what else `clew.Index.ask` takes.
        """
        other = copy.copy(self)
        other._set_options(options)
        return other

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        """Return a retriever that changes by itself, over the same index, which never changes.

        So a copied query engine is not a copied corpus. What it asks of somebody else, a store or
        an index of LlamaIndex's, is shared, and so is the model.
        """
        other = copy.copy(self)
        other.object_map = {**self.object_map}
        for name in ("filters", self._changes):
            setattr(other, name, copy.deepcopy(getattr(self, name), memo))
        return other

    def context(self, query: str | QueryBundle) -> clew.Context:
        """Return the whole context, of which `retrieve` gives the nodes.

        It has the rendered text, tokens, edges, the trace and what was dropped. Its text has no
        metadata on it. Where the nodes with theirs did not fit, the last step of the trace says
        what was done.

        Raises:
            ValueError: An empty question, or a budget that holds nothing of what was chosen.
        """
        return self._context(bundle_of(query))

    async def acontext(self, query: str | QueryBundle) -> clew.Context:
        """Return what `context` returns, without blocking the event loop."""
        return await self._acontext(bundle_of(query))

    def _context(self, bundle: QueryBundle) -> clew.Context:
        raise NotImplementedError  # what is asked differs between retrievers

    async def _acontext(self, bundle: QueryBundle) -> clew.Context:
        raise NotImplementedError  # as above

    def _options(self) -> dict[str, object]:
        """Return the options by LlamaIndex's names."""
        return {name: getattr(self, name) for name in DEFAULTS}

    def _query_options(self) -> QueryOptions:
        """Return the options of a question without the filters, which are passed separately."""
        return NAMES.query_options(self._options(), where=None)

    def _nodes_of(
        self, index: clew.Index, context: clew.Context, own_nodes: Mapping[str, BaseNode]
    ) -> list[NodeWithScore]:
        """Return the nodes of a context that an index was asked for."""
        where = where_of(self.filters)
        inside = index.filtered(where)
        own = allowed_nodes(index, where, own_nodes)
        nodes = nodes_from(inside, context, own, self.explain)
        return nodes if where is None else within_filter(nodes, _ids(inside), _ids(index))

    def _ask(
        self, index: clew.Index, bundle: QueryBundle, own_nodes: Mapping[str, BaseNode]
    ) -> clew.Context:
        options = NAMES.query_options(self._options(), where=where_of(self.filters))
        return self._answer(index, bundle, options, question_vector(index, bundle), own_nodes)

    def _ask_remote(self, index: PulledIndex, bundle: QueryBundle) -> clew.Context:
        """Return the context of an index in a database, which has no nodes of the caller's."""
        options = NAMES.query_options(self._options(), where=where_of(self.filters))
        vector = question_vector(index, bundle)
        return within_budget(
            partial(index.ask, bundle.query_str, vector=vector),
            partial(nodes_of, explain=self.explain),
            index.config.count,
            options,
        )

    async def _aask(
        self, index: clew.Index, bundle: QueryBundle, own_nodes: Mapping[str, BaseNode]
    ) -> clew.Context:
        options = NAMES.query_options(self._options(), where=where_of(self.filters))
        vector = await aquestion_vector(index, bundle)
        return await asyncio.to_thread(self._answer, index, bundle, options, vector, own_nodes)

    def _answer(
        self,
        index: clew.Index,
        bundle: QueryBundle,
        options: QueryOptions,
        vector: ArrayLike | None,
        own_nodes: Mapping[str, BaseNode],
    ) -> clew.Context:
        """Return the context whose nodes a synthesizer prints within the budget.

        The vector is known, so that asking again embeds nothing.
        """
        return within_budget(
            partial(index.ask, bundle.query_str, vector=vector),
            partial(
                nodes_from,
                index.filtered(options.where),
                own_nodes=allowed_nodes(index, options.where, own_nodes),
                explain=self.explain,
            ),
            index.graph.count,
            options,
        )


def check_options(options: Mapping[str, object]) -> None:
    """Check the options of a retriever before any work is done.

    Raises:
        TypeError: An option of another name, or filters that are no `MetadataFilters`.
        ValueError: A recipe or a filter that does not exist.
    """
    NAMES.check(options, NAMES.of_question, "a retriever")
    if "recipe" in options:
        check_recipe(options["recipe"])
    where_of(options.get("filters"))


def allowed_nodes(
    index: clew.Index, where: Where | None, own_nodes: Mapping[str, BaseNode]
) -> Mapping[str, BaseNode]:
    """Return the caller's nodes that a filter allows, without relationships to the others."""
    inside = index.filtered(where)
    if inside is index or not own_nodes:
        return own_nodes
    ids, came = inside.document_of.keys(), index.document_of.keys()
    return {id: without_relationships(own_nodes[id], ids, came) for id in own_nodes.keys() & ids}


def _ids(index: clew.Index) -> AbstractSet[str]:
    """Return the ids of what came to be indexed; an index of a graph has its nodes alone."""
    return index.document_of.keys() or set(index.graph.ids)


def within_filter(
    nodes: list[NodeWithScore], allowed: AbstractSet[str], came: AbstractSet[str]
) -> list[NodeWithScore]:
    """Return nodes whose relationships lead past no filter.

    A node that the index has not, such as a parent that only a docstore has, may be forbidden.

    Args:
        nodes: What a filtered question found.
        allowed: The ids of what the filter allows.
        came: The ids of all that the filter was asked about.
    """
    return [
        NodeWithScore(node=without_relationships(one.node, allowed, came), score=one.score)
        for one in nodes
    ]


def nodes_from(
    index: clew.Index,
    context: clew.Context,
    own_nodes: Mapping[str, BaseNode],
    explain: bool,
) -> list[NodeWithScore]:
    """Return the nodes of a context that was asked of an index.

    Args:
        index: What was asked, with the filter of the question.
        context: Its answer.
        own_nodes: The caller's nodes by id, where a loaded index has none.
        explain: As in `AskingRetriever`.
    """
    graph = index.graph

    def node_of(id: str) -> object:
        if id in own_nodes:
            return own_nodes[id]
        try:
            return graph.originals[graph.row(id)]
        except KeyError:  # a fact, or a text that a recipe made: no node of the graph
            return None

    return nodes_of(context, node_of, explain)
