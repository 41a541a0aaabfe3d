"""Row 14: what a filter forbids is nowhere in an answer, and has no influence on it."""

from __future__ import annotations

import logging
import random
from collections.abc import Callable, Iterator
from functools import partial

import clew
from clew import Graph, Index, recipes
from clew.generate import Reports, Summaries
from clew.graph import Edges
from tests.conftest import hashed_words
from tests.reliability.rows.budgets import drawn_recipe
from tests.reliability.rows.row import Finding, Row, first
from tests.reliability.test_canaries import canaries
from tests.reliability.worlds import PERMISSIONS, QUESTIONS, World, is_allowed, pair_of_worlds

Where = dict[str, object]
Ask = Callable[[str, str, int], object]
"""(question, recipe, budget) -> what may be read, and what of it is compared."""


def answer(context: clew.Context) -> tuple[object, ...]:
    """Return what of a context is compared."""
    scores = [round(item.score, 5) for item in context]
    return context.text, context.ids, scores, [item.heading for item in context], context


def build(world: World) -> Index:
    """Return the index of a corpus."""
    return Index.from_documents(world.documents, embedder=hashed_words, facts=world.facts)


def of_index(index: Index, where: Where, as_function: bool) -> Ask:
    """Ask an index with a filter, as a mapping or as a function."""
    filter = partial(is_allowed, where) if as_function else where

    def ask(question: str, recipe: str, budget: int) -> object:
        return answer(index.ask(question, recipe=recipe, where=filter, budget=budget))

    return ask


def plain(world: World, where: Where, chance: random.Random) -> Ask:
    """An index as it was built."""
    return of_index(build(world), where, chance.random() < 0.5)


def learned(world: World, where: Where, chance: random.Random) -> Ask:
    """An index that learnt from questions about everything."""
    index = build(world)
    for question in chance.sample(QUESTIONS, 3):
        index = index.learn(index.ask(question, recipe="kurisu"))
    return of_index(index, where, as_function=False)


def reported(world: World, where: Where, chance: random.Random) -> Ask:
    """An index with reports and summaries of everything."""
    index = build(world).generate(Reports(min_passages=2), Summaries(min_passages=2))
    return of_index(index, where, as_function=True)


def narrowed(world: World, where: Where, chance: random.Random) -> Ask:
    """The candidates of another retriever."""
    candidates = [document for document in world.documents if not document.heading]

    def ask(question: str, recipe: str, budget: int) -> object:
        context = clew.narrow(
            question, candidates, facts=world.facts, embedder=hashed_words,
            where=where, recipe=recipe, budget=budget,
        )  # fmt: skip
        return answer(context)

    return ask


def own_graph(world: World, where: Where, chance: random.Random) -> Ask:
    """A graph of the caller's own, without documents."""
    passages = [document for document in world.documents if not document.heading]
    passages.sort(key=lambda document: not is_allowed(where, document.metadata))
    row = {document.id: i for i, document in enumerate(passages)}
    pairs = [(row[d.id], row[d.previous]) for d in passages if d.previous in row]
    texts = [document.text for document in passages]
    graph = Graph.of(
        texts,
        ids=[document.id for document in passages],
        vectors=hashed_words(texts),
        metadata=tuple(dict(document.metadata) for document in passages),
        edges=Edges.of("next", [tail for tail, _ in pairs], [head for _, head in pairs]),
    )
    return of_index(Index.from_graph(graph, embedder=hashed_words), where, as_function=False)


def langchain(world: World, where: Where, chance: random.Random) -> Ask:
    """A retriever of LangChain's."""
    from langchain_clew import ClewRetriever
    from langchain_core.documents import Document

    pages = [Document(d.text, id=d.id, metadata=dict(d.metadata)) for d in world.documents]
    retriever = ClewRetriever.from_documents(pages, _Embeddings(), facts=_of_passages(world))
    filter = {key: {"$in": v} if isinstance(v, list) else v for key, v in where.items()}
    if "groups" in where:
        filter = partial(is_allowed, where)

    def ask(question: str, recipe: str, budget: int) -> object:
        return _dumped(retriever.invoke(question, recipe=recipe, budget=budget, filter=filter))

    return ask


def _dumped(found: list) -> tuple[object, ...]:
    return tuple(one.model_dump_json() for one in found), found


def _of_passages(world: World) -> dict:
    return dict(world.facts)


class _Embeddings:
    """The shared embedder as both frameworks' embeddings."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return hashed_words(texts).tolist()

    def embed_query(self, text: str) -> list[float]:
        return hashed_words([text])[0].tolist()


def _nodes(world: World) -> list:
    """Return LlamaIndex nodes whose relationships lead from one to the other."""
    from llama_index.core.schema import NodeRelationship, TextNode

    nodes = {
        d.id: TextNode(id_=d.id, text=d.text, metadata=dict(d.metadata)) for d in world.documents
    }
    infos = {id: node.as_related_node_info() for id, node in nodes.items()}
    for document in world.documents:
        around = nodes[document.id].relationships
        if above := document.parent or document.source:
            around[NodeRelationship.PARENT] = infos[above]
            children = nodes[above].relationships.setdefault(NodeRelationship.CHILD, [])
            children.append(infos[document.id])
        if document.previous:
            around[NodeRelationship.PREVIOUS] = infos[document.previous]
            nodes[document.previous].relationships[NodeRelationship.NEXT] = infos[document.id]
    return list(nodes.values())


def _filters(where: Where) -> object:
    from llama_index.core.vector_stores.types import FilterOperator, MetadataFilter, MetadataFilters

    operators = {"groups": FilterOperator.ANY}
    return MetadataFilters(
        filters=[
            MetadataFilter(
                key=key,
                value=value if isinstance(value, list) else [value],
                operator=operators.get(key, FilterOperator.IN),
            )
            for key, value in where.items()
        ]
    )


def llama_index(world: World, where: Where, chance: random.Random) -> Ask:
    """A retriever of LlamaIndex's, over nodes that refer to one another."""
    from llama_index.retrievers.clew import ClewRetriever

    embedder = clew.Embedder("hashed", hashed_words, lambda text: hashed_words([text])[0])
    retriever = ClewRetriever.from_nodes(_nodes(world), embedder, facts=_of_passages(world))

    def ask(question: str, recipe: str, budget: int) -> object:
        asked = retriever.with_options(recipe=recipe, budget=budget, filters=_filters(where))
        found = asked.retrieve(question)
        return tuple((one.node.to_json(), one.score) for one in found), found

    return ask


def property_graph(world: World, where: Where, chance: random.Random) -> Ask:
    """A property graph store of LlamaIndex's."""
    from llama_index.core.graph_stores.simple_labelled import SimplePropertyGraphStore
    from llama_index.core.graph_stores.types import (
        TRIPLET_SOURCE_KEY,
        ChunkNode,
        EntityNode,
        Relation,
    )
    from llama_index.retrievers.clew import ClewPGRetriever

    store = SimplePropertyGraphStore()
    store.upsert_nodes(
        [ChunkNode(text=d.text, id_=d.id, properties=dict(d.metadata)) for d in world.documents]
    )
    for id, facts in world.facts.items():
        for subject, relation, object in facts:
            store.upsert_nodes([EntityNode(name=subject), EntityNode(name=object)])
            properties = {TRIPLET_SOURCE_KEY: id}
            store.upsert_relations(
                [Relation(label=f"{relation} {id}", source_id=subject, target_id=object, properties=properties)]
            )  # fmt: skip
    embedder = clew.Embedder("hashed", hashed_words, lambda text: hashed_words([text])[0])
    retriever = ClewPGRetriever(store, embedder)

    def ask(question: str, recipe: str, budget: int) -> object:
        asked = retriever.with_options(recipe=recipe, budget=budget, filters=_filters(where))
        found = asked.retrieve(question)
        return tuple((one.node.to_json(), one.score) for one in found), found

    return ask


KINDS = {
    "index": plain,
    "learnt": learned,
    "reports": reported,
    "narrow": narrowed,
    "own graph": own_graph,
    "LangChain": langchain,
    "LlamaIndex": llama_index,
    "property graph": property_graph,
}


def comparisons(
    worlds: int, each: int, chance: random.Random, failures: list[str]
) -> Iterator[str]:
    """Compare answers of pairs of corpora, and yield the kind of each comparison."""
    for number in range(worlds):
        where = PERMISSIONS[number % len(PERMISSIONS)]
        pair = pair_of_worlds(where, chance)
        for kind, make in KINDS.items():
            asks = [make(world, where, chance) for world in pair]
            for _ in range(each):
                question, recipe = chance.choice(QUESTIONS), drawn_recipe(chance)
                what = f"world {number}, {kind}, {recipe}, {where}, {question!r}"
                if failure := _compared(asks, question, recipe, chance.choice((40, 120, 600))):
                    failures.append(f"{what}: {failure}")
                yield kind


def _compared(asks: list[Ask], question: str, recipe: str, budget: int) -> str:
    """Ask both; return what is wrong."""
    found = []
    for ask in asks:
        try:
            found.append(ask(question, recipe, budget))
        except clew.BudgetError as error:
            found.append((str(error), None))
    for one in found:
        if leaks := canaries(one):
            return f"{leaks[0]!r} leaks"
        if isinstance(one[-1], clew.Context) and canaries(one[-1].to_dict()):
            return "its dictionary leaks"
    if found[0][:-1] != found[1][:-1]:
        return f"the forbidden change it: {_difference(*found)}"
    return ""


def _difference(one: tuple, other: tuple) -> str:
    """Return the first parts of two answers that differ."""
    for part, counterpart in zip(one[:-1], other[:-1], strict=False):
        if part != counterpart:
            return f"{str(part)[:200]} and {str(counterpart)[:200]}"
    return f"{len(one) - 1} and {len(other) - 1} parts"


def filters(short: bool) -> Finding:
    """Compare filtered answers of pairs of corpora that differ in what is forbidden."""
    logging.disable(logging.WARNING)
    worlds, each = (4, 6) if short else (32, 40)
    failures: list[str] = []
    kinds = list(comparisons(worlds, each, random.Random(5), failures))
    leaks = sum("leaks" in failure for failure in failures)
    return Finding(
        f"{len(kinds):,} pairs of answers, of {worlds} pairs of corpora with hierarchies and mixed "
        f"permissions that differ in the forbidden alone: {', '.join(KINDS)}; "
        f"{len(recipes.names())} recipes",
        f"{len(kinds):,} comparisons: {leaks} with a canary, {len(failures) - leaks} in which the "
        "forbidden changed text, order, score or heading",
        first(failures, 8),
    )


ROWS = (Row(14, "isolation of tenants", filters, 300),)
