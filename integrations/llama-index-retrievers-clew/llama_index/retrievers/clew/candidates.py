"""What an index of LlamaIndex's has to give: all its nodes, or, for each question, the best candidates of its vector store."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from llama_index.core.schema import BaseNode, NodeWithScore, ObjectType, QueryBundle
from llama_index.core.vector_stores.types import BasePydanticVectorStore, MetadataFilters
from llama_index.retrievers.clew.asking import agiven_vector, given_vector
from llama_index.retrievers.clew.nodes import nodes_of
from llama_index.retrievers.clew.printed import within

import clew


def nodes_with_vectors(index: Any) -> list[BaseNode]:
    """Return the nodes of an index, in its order, as copies with the vectors its vector store holds; none where that keeps their text.

    Raises:
        TypeError: a property graph index, or no index. ValueError: an index that holds nothing.
    """
    if hasattr(index, "property_graph_store"):
        raise TypeError(
            "a property graph index is read by ClewPGRetriever(index.property_graph_store, …)"
        )
    if not hasattr(index, "docstore") or not hasattr(index, "index_struct"):
        raise TypeError(
            f"wanted an index of LlamaIndex's, such as a VectorStoreIndex; got a {type(index).__name__}"
        )
    held, listed = index.docstore.docs, _listed(index.index_struct)
    nodes = [
        held[id] for id in (held if listed is None else listed) if id in held
    ]  # a docstore may be shared between indexes
    store = getattr(index, "vector_store", None)
    if (
        store is not None
        and store.stores_text
        and not any(node.get_type() == ObjectType.TEXT for node in nodes)
    ):
        return []  # such an index keeps only what is no text (pictures, references) in its docstore
    if not nodes:
        raise ValueError(
            f"this {type(index).__name__} holds no nodes: there is nothing to retrieve"
        )
    vectors = getattr(getattr(store, "data", None), "embedding_dict", None) or {}
    return [
        node.model_copy(update={"embedding": vectors.get(node.node_id, node.embedding)})
        for node in nodes
    ]


def _listed(struct: Any) -> list[str] | None:
    """The ids of its nodes that an index lists, in its order; None where it keeps no such list."""
    if hasattr(struct, "nodes_dict"):  # a vector store index: id in the store -> id of the node
        return list(dict.fromkeys(struct.nodes_dict.values()))
    nodes = getattr(struct, "nodes", None)
    return list(dict.fromkeys(nodes)) if isinstance(nodes, list) else None


def scored(
    nodes: Sequence[NodeWithScore], own: Callable[[BaseNode], BaseNode] = lambda node: node
) -> list[Any]:
    """Return candidates for `clew.narrow`: pairs of a node and its score, or the nodes alone, so that their rank counts.

    Rank counts where a node has no score, or one below zero (a logit, a distance turned round): such scores have no common zero.
    A node that came twice counts once, where it came first.

    Raises:
        ValueError: a score that is not a number.
    """
    once = list({one.node.node_id: one for one in reversed(readable(nodes))}.values())[::-1]
    for one in once:
        if one.score is not None and one.score != one.score:
            raise ValueError(
                f"the score of node {one.node.node_id!r} is not a number; wanted a number or None"
            )
    if all(one.score is not None and one.score >= 0 for one in once) and any(
        one.score for one in once
    ):
        return [(own(one.node), one.score) for one in once]
    return [own(one.node) for one in once]


def narrowed(question: str, candidates: Sequence[Any], how: Mapping[str, Any]) -> clew.Context:
    """Return what `clew.narrow` makes of the candidates, so that a synthesizer prints the nodes of it within the budget."""
    embedder = None if how["embedder"] is None else _remembering(clew.Embedder.of(how["embedder"]))
    return within(
        lambda budget: clew.narrow(
            question, candidates, **{**how, "embedder": embedder, "budget": budget}
        ),
        nodes_of,
        _counter(how["count"]),
        how["budget"],
        how["recipe"],
    )


def readable(nodes: Sequence[NodeWithScore]) -> list[NodeWithScore]:
    """Return the nodes with text; one without (a picture) is nothing that can be read within a budget of tokens."""
    return [one for one in nodes if one.get_content().strip()]


def without_vector(node: BaseNode) -> BaseNode:
    """Return the node, or a copy without its embedding: for where it would be of another space than the index's."""
    return node if node.embedding is None else node.model_copy(update={"embedding": None})


@dataclass(frozen=True, eq=False)
class Candidates:
    """An index whose vector store keeps the text: each question fetches its best `top_k` nodes and narrows them."""

    index: Any
    embed_model: Any
    top_k: int = 50
    facts: Mapping[str, Iterable[tuple[str, str, str]]] | None = None
    count: Callable[[str], Any] | str | None = None

    def find(
        self, bundle: QueryBundle, filters: MetadataFilters | None
    ) -> tuple[list[NodeWithScore], Any]:
        """Return the store's best nodes for the question, and the question's vector."""
        embedder = clew.Embedder.of(self.embed_model)
        vector = given_vector(embedder, bundle)
        vector = embedder.embed_question(bundle.query_str) if vector is None else vector
        return readable(self._retriever(filters).retrieve(_with(bundle, vector))), vector

    async def afind(
        self, bundle: QueryBundle, filters: MetadataFilters | None
    ) -> tuple[list[NodeWithScore], Any]:
        """Return what `find` returns without blocking the event loop: a store without an async query of its own works in a thread."""
        embedder = clew.Embedder.of(self.embed_model)
        vector = await agiven_vector(embedder, bundle)
        if vector is None:
            ask = embedder.aembed_question
            vector = await (
                asyncio.to_thread(embedder.embed_question, bundle.query_str)
                if ask is None
                else ask(bundle.query_str)
            )
        retriever, asked = self._retriever(filters), _with(bundle, vector)
        if type(self.index.vector_store).aquery is BasePydanticVectorStore.aquery:
            return readable(await asyncio.to_thread(retriever.retrieve, asked)), vector
        return readable(await retriever.aretrieve(asked)), vector

    def narrow(
        self, bundle: QueryBundle, found: Sequence[NodeWithScore], vector: Any, **how: Any
    ) -> clew.Context:
        """Return the context made of these nodes; facts of documents that are not among them are left out."""
        facts = facts_among(self.facts, [one.node for one in found])
        how |= {"embedder": self.embed_model, "count": self.count, "facts": facts, "vector": vector}
        return narrowed(bundle.query_str, scored(found), how)

    def _retriever(self, filters: MetadataFilters | None) -> Any:
        return self.index.as_retriever(similarity_top_k=self.top_k, filters=filters)


def facts_among(
    facts: Mapping[str, Iterable[Any]] | None, nodes: Sequence[BaseNode]
) -> dict[str, Any] | None:
    """Return the facts of these nodes and of the documents they are pieces of."""
    if facts is None:
        return None
    ids = {node.node_id for node in nodes} | {node.ref_doc_id for node in nodes}
    return {id: said for id, said in facts.items() if id in ids}


def _counter(count: Any) -> Callable[[str], int]:
    """The tokenizer that clew makes of the caller's: the one that an index counts with."""
    return clew.Index.from_documents([clew.Document("counted", "counted")], count=count).graph.count


def _remembering(embedder: clew.Embedder) -> clew.Embedder:
    """The embedder, which embeds a text once however often the same question is asked."""
    return replace(
        embedder,
        embed_texts=_Remembered(embedder.embed_texts),
        embed_question=cache(embedder.embed_question),
    )


@dataclass(frozen=True)
class _Remembered:
    texts: Callable[[list[str]], Any]
    known: dict[str, Any] = field(default_factory=dict)

    def __call__(self, asked: list[str]) -> Any:
        fresh = [text for text in asked if text not in self.known]
        made = list(self.texts(fresh)) if fresh else []
        if len(made) != len(fresh):
            return made  # clew says what is wrong with that
        self.known.update(zip(fresh, made, strict=True))
        return [self.known[text] for text in asked]


def _with(bundle: QueryBundle, vector: Any) -> QueryBundle:
    return QueryBundle(
        bundle.query_str,
        bundle.image_path,
        bundle.custom_embedding_strs,
        [float(x) for x in vector],
    )
