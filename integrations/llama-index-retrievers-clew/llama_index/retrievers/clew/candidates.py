"""What an index of LlamaIndex's gives: all its nodes, or the best ones of its vector store."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from llama_index.core.schema import BaseNode, NodeWithScore, ObjectType, QueryBundle
from llama_index.core.vector_stores.types import BasePydanticVectorStore, MetadataFilters
from llama_index.retrievers.clew.nodes import nodes_of
from llama_index.retrievers.clew.prompt_budget import within_budget
from llama_index.retrievers.clew.questions import abundle_vector, bundle_vector, with_vector
from numpy.typing import ArrayLike

import clew
from clew.adapters import (
    FactsByDocument,
    IndexConfig,
    QueryOptions,
    aembed_question,
    facts_among,
    remember_vectors,
    without_relationships,
)


def nodes_with_vectors(index: Any) -> list[BaseNode]:  # noqa: ANN401  # refused if it is no index
    """Return the nodes of an index, in its order, as copies with the vectors of its vector store.

    There are none where the vector store keeps their text.

    Raises:
        TypeError: A property graph index, or no index.
        ValueError: An index that holds nothing.
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
    documents, listed = index.docstore.docs, _listed_ids(index.index_struct)
    # A docstore may be shared between indexes.
    nodes = [documents[id] for id in (documents if listed is None else listed) if id in documents]
    store = getattr(index, "vector_store", None)
    has_text = any(node.get_type() == ObjectType.TEXT for node in nodes)
    if store is not None and store.stores_text and not has_text:
        return []  # its docstore has only what is no text: pictures and references
    if not nodes:
        raise ValueError(f"this {name} holds no nodes: there is nothing to retrieve")
    vectors = getattr(getattr(store, "data", None), "embedding_dict", None) or {}
    return [
        node.model_copy(update={"embedding": vectors.get(node.node_id, node.embedding)})
        for node in nodes
    ]


def _listed_ids(struct: object) -> list[str] | None:
    """Return the ids of the nodes that an index lists, in its order; None where it has no list."""
    if hasattr(struct, "nodes_dict"):  # a vector store index: id in the store -> id of the node
        return list(dict.fromkeys(struct.nodes_dict.values()))
    nodes = getattr(struct, "nodes", None)
    return list(dict.fromkeys(nodes)) if isinstance(nodes, list) else None


def scored_candidates(
    nodes: Sequence[NodeWithScore], prepare: Callable[[BaseNode], BaseNode] = lambda node: node
) -> list[BaseNode | tuple[BaseNode, float]]:
    """Return candidates for `clew.narrow`: pairs of a node and its score, or the nodes alone.

    Alone, their rank counts. So it is where a node has no score, or one below zero (a logit, a
    distance turned round): such scores have no common zero. A node that came twice counts once,
    where it came first.

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
    for scored in distinct:
        if scored.score is not None and scored.score != scored.score:
            raise ValueError(
                f"the score of node {scored.node.node_id!r} is not a number; "
                "wanted a number or None"
            )
    scores = [scored.score for scored in distinct if scored.score is not None]
    if len(scores) == len(distinct) and min(scores, default=0) >= 0 and any(scores):
        return [
            (prepare(scored.node), score) for scored, score in zip(distinct, scores, strict=True)
        ]
    return [prepare(scored.node) for scored in distinct]


def narrow_within_budget(
    question: str,
    candidates: Sequence[object],
    options: QueryOptions,
    config: IndexConfig,
    facts: FactsByDocument,
    vector: ArrayLike | None,
) -> clew.Context:
    """Return what `clew.narrow` makes of the candidates, within the budget as it is printed."""
    embedder = config.embedder
    if embedder is not None:
        embedder = remember_vectors(embedder, grow=True)
    ask = partial(
        clew.narrow,
        question,
        candidates,
        facts=facts,
        vector=vector,
        config=replace(config, embedder=embedder),
    )
    return within_budget(ask, nodes_of, config.count, options)


def with_text(nodes: Sequence[NodeWithScore]) -> list[NodeWithScore]:
    """Return the nodes with text; one without, such as a picture, has no tokens to read."""
    return [scored for scored in nodes if scored.get_content().strip()]


def without_vector(node: BaseNode) -> BaseNode:
    """Return the node without its embedding, where that is of another space than the index's."""
    return node if node.embedding is None else node.model_copy(update={"embedding": None})


def facts_of_nodes(
    facts: FactsByDocument | None, nodes: Sequence[NodeWithScore]
) -> FactsByDocument:
    """Return the facts of these nodes and of the documents they are pieces of."""
    ids = {scored.node.node_id for scored in nodes} | {s.node.ref_doc_id for s in nodes}
    return facts_among(facts, ids)


@dataclass(frozen=True, eq=False)
class Candidates:
    """An index whose vector store keeps the text: each question narrows the store's best nodes.

    Attributes:
        index: The index of LlamaIndex's.
        config: What the small graph of the candidates is made with. It has an embedder.
        top_k: How many nodes the store is asked for.
        facts: Triples by node or document id.
    """

    index: Any
    config: IndexConfig
    top_k: int = 50
    facts: FactsByDocument = field(default_factory=dict)

    def find(
        self, bundle: QueryBundle, filters: MetadataFilters | None
    ) -> tuple[list[NodeWithScore], ArrayLike]:
        """Return the store's best nodes for the question, and the question's vector."""
        vector = bundle_vector(self._embedder, bundle)
        if vector is None:
            vector = self._embedder.embed_question(bundle.query_str)
        found = self._retriever(filters).retrieve(with_vector(bundle, vector))
        return _found(found, filters), vector

    async def afind(
        self, bundle: QueryBundle, filters: MetadataFilters | None
    ) -> tuple[list[NodeWithScore], ArrayLike]:
        """Return what `find` returns without blocking the event loop.

        A store without an async query of its own works in a thread.
        """
        question = bundle.query_str
        vector = await abundle_vector(self._embedder, bundle)
        if vector is None:
            vector = await aembed_question(self._embedder, question)
        if vector is None:
            vector = await asyncio.to_thread(self._embedder.embed_question, question)
        retriever, asked = self._retriever(filters), with_vector(bundle, vector)
        if type(self.index.vector_store).aquery is BasePydanticVectorStore.aquery:
            return _found(await asyncio.to_thread(retriever.retrieve, asked), filters), vector
        return _found(await retriever.aretrieve(asked), filters), vector

    def narrow(
        self,
        bundle: QueryBundle,
        found: Sequence[NodeWithScore],
        vector: ArrayLike,
        options: QueryOptions,
    ) -> clew.Context:
        """Return the context made of these nodes; facts of other documents are left out."""
        return narrow_within_budget(
            bundle.query_str,
            scored_candidates(found),
            options,
            self.config,
            facts_of_nodes(self.facts, found),
            vector,
        )

    @property
    def _embedder(self) -> clew.Embedder:
        assert self.config.embedder is not None
        return self.config.embedder

    def _retriever(self, filters: MetadataFilters | None) -> Any:  # noqa: ANN401  # of any index
        return self.index.as_retriever(similarity_top_k=self.top_k, filters=filters)


def _found(nodes: Sequence[NodeWithScore], filters: MetadataFilters | None) -> list[NodeWithScore]:
    """Return a store's nodes with text; with filters, they lead to one another alone.

    Whether a filter allows the other nodes that they name, the store alone knows.
    """
    found = with_text(nodes)
    if filters is None or not filters.filters:
        return found
    ids = {scored.node.node_id for scored in found}
    return [
        NodeWithScore(node=without_relationships(one.node, ids, ids), score=one.score)
        for one in found
    ]
