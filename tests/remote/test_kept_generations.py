"""What is kept of an index in a graph database: enough, bounded, of one version, allowed by filters."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import clew
from clew.remote import Bounds, RemoteIndex
from clew.remote.cypher.kept_generation import KeptGeneration
from clew.remote.session import finish
from tests.remote.harbour import NO_BOUNDS, embed, harbour, saved
from tests.remote.servers import started

QUESTIONS = ("When does ferry 7 sail?", "Who commands the ferry to island 3?", "captain 5")
RECIPES = ("hipporag", "dense", "bm25", "agrag")


@pytest.fixture(scope="module")
def falkor():
    one = started("falkordb")
    yield one
    one.stop()


def answers(index, questions=QUESTIONS, recipes=RECIPES):
    found = [
        index.ask(question, recipe=recipe, min_relevance=0)
        for question in questions
        for recipe in recipes
    ]
    return [(one.ids, one.text) for one in found]


def statements_of(opened, monkeypatch):
    """Return the list in which the statements stand that the index asks from here on."""
    session, asked = type(opened._database.session()), []
    run = session.run

    async def noted(self, *statements, **others):
        asked.extend(one.text for one in statements)
        return await run(self, *statements, **others)

    monkeypatch.setattr(session, "run", noted)
    return asked


def test_a_node_that_was_read_is_not_read_again_and_answers_stay(graph_server, monkeypatch):
    index, address = saved(graph_server, *harbour(120))
    with RemoteIndex.open(address, bounds=NO_BOUNDS, kept_whole=0, embedder=embed) as opened:
        first = answers(opened)
        assert first == answers(index)
        asked = statements_of(opened, monkeypatch)
        assert answers(opened) == first
        again = opened.ask(QUESTIONS[0], min_relevance=0).trace[0].notes
        assert again["round trips"] == (2 if graph_server.client == "neo4j" else 1)
        kept = opened._database._newest
        assert len(kept.rows) == len(index.graph)
    assert any("ClewPosting" in text for text in asked)
    assert not any("(n)-[r]->(m)" in text or "n.text" in text or "(t)" in text for text in asked)


def test_what_is_kept_stays_within_its_bytes_and_answers_stay(graph_server):
    index, address = saved(graph_server, *harbour(120))
    bounds = Bounds(20, 5, 8, 150, 2)
    with RemoteIndex.open(address, bounds=bounds, kept_whole=0, embedder=embed) as opened:
        wanted = answers(opened)
        everything = opened._database._newest
        corpus = opened._corpus
        small = KeptGeneration(corpus.number, corpus.version, corpus.dimension, 60_000)
        opened._database._newest = small
        assert answers(opened) == wanted
        assert opened._database._newest is small
        neighbours = small.neighbours(bounds.per_node, bounds.without)
    assert 0 < small.rows.bytes + neighbours.bytes <= 60_000 < everything.rows.bytes
    assert neighbours.bytes
    assert 0 < len(small.rows) < len(everything.rows) <= len(index.graph)


def test_of_what_another_writer_has_changed_nothing_kept_is_used(graph_server, monkeypatch):
    index, address = saved(graph_server, *harbour(90))
    with RemoteIndex.open(address, bounds=NO_BOUNDS, kept_whole=0, embedder=embed) as opened:
        assert answers(opened) == answers(index)
        before = opened._database._newest
        known = set(before.rows.table.numbers)
        with RemoteIndex.open(address, embedder=embed) as writer:
            writer.delete(["d7", "d9"])
            writer.add([clew.Document("new", "Ferry 7 was sold, and never sails.")])
        assert answers(opened) == answers(opened.load())
        after = opened._database._newest
        assert "d7" not in opened.ask(QUESTIONS[0], recipe="bm25", min_relevance=0).ids
        assert after.version > before.version
        table, columns = after.rows.table, before.rows.table.columns
        assert table.columns is columns, "what did not change is kept"
        numbers = np.array(sorted(known & set(table.numbers)), np.int32)
        shared = table.places(numbers) == before.rows.table.places(numbers)
        assert len(table) > shared.sum() > len(table) / 2
        assert set(columns.ids(table.places(np.array(table.numbers, np.int32)))) >= {"new", "d8"}
        monkeypatch.setattr("clew.remote.cypher.changing.KEPT_CHANGES", 1)
        with RemoteIndex.open(address, embedder=embed) as writer:
            writer.delete("new")
            writer.delete("d5")  # and nobody says any more what went before it
        assert answers(opened) == answers(opened.load())
        assert opened._database._newest.rows.table.columns is not columns


def test_what_is_kept_is_read_only_where_the_filter_of_this_question_allows_it(graph_server):
    _, address = saved(graph_server, *harbour(120, owners=("a", "b")))
    with RemoteIndex.open(address, bounds=NO_BOUNDS, kept_whole=0, embedder=embed) as opened:
        everything = opened.ask(QUESTIONS[1], min_relevance=0)
        n_kept = len(opened._database._newest.rows)
        for owner, place in (("a", 0), ("b", 1), ("a", 0)):
            found = opened.ask(QUESTIONS[1], where={"owner": owner}, min_relevance=0)
            assert found.ids
            assert {int(id[1:]) % 2 for id in found.ids} == {place}
            assert found.trace[0].notes["nodes"] < everything.trace[0].notes["nodes"]
        assert opened.ask("ferry", where={"owner": "nobody"}, min_relevance=0).ids == []
        with opened._database.reading() as session:
            store = finish(opened._database.store(session, opened._corpus))
            nodes = finish(store.nodes(store.generation.nodes, where={"owner": "b"}))
        assert len(opened._database._newest.rows) == n_kept
    texts = nodes.graph.facts.texts[:]
    ferries = [int(text.split("Ferry ")[1].split()[0]) for text in texts]
    assert len(ferries) == 120
    assert {one % 2 for one in ferries} == {1}


def test_one_search_finds_the_nearest_facts_and_the_first_of_the_farthest(falkor):
    """Many facts have one vector, so that the order among equal ones shows."""
    documents, _ = harbour(40)
    facts = {one.id: [("Ferry", "sails", f"Island {i % 5}")] for i, one in enumerate(documents)}
    index, address = saved(falkor, documents, facts)
    vectors = np.asarray(index.graph.facts.vectors[:], np.float64)
    with RemoteIndex.open(address, kept_whole=0, embedder=embed) as opened:
        for seed in range(6):
            vector = np.random.default_rng(seed).normal(size=16)
            vector = (vector / np.linalg.norm(vector)).astype(np.float32)
            cosines = (vectors @ vector).round(5)
            order = np.lexsort((np.arange(len(cosines)), -cosines))
            farthest = int(np.flatnonzero(cosines == cosines.min())[0])
            for k in (3, 11, 1000):
                for is_compared_here in (False, True):
                    opened._database._newest = None
                    with opened._database.reading() as session:
                        store = finish(opened._database.store(session, opened._corpus))
                        store.kept.questions = 100 * is_compared_here
                        found = finish(store.seeds(vector, [], 5, k)).facts
                    assert (store.kept.facts is not None) == is_compared_here
                    numbers = store.generation.facts  # those of the facts, in their order
                    wanted = list(dict.fromkeys([*order[:k].tolist(), farthest]))
                    assert found.numbers.tolist() == numbers[wanted].tolist()


def test_all_passages_are_measured_where_their_vectors_are_not_known_here(falkor):
    index, address = saved(falkor, *harbour(60))
    rows = index.graph.rows("passage")
    vectors = np.asarray(index.graph.vectors[rows], np.float64)
    with RemoteIndex.open(address, kept_whole=0, embedder=embed) as opened:
        numbers = opened._corpus.passages
        for seed in range(4):
            vector = np.random.default_rng(seed).normal(size=16)
            vector = (vector / np.linalg.norm(vector)).astype(np.float32)
            order = np.argsort(-(vectors @ vector))
            with opened._database.reading() as session:
                store = finish(opened._database.store(session, opened._corpus))
                found = finish(replace(store, passage_vectors=None).seeds(vector, [], 7, 3))
            assert found.passages.numbers.tolist() == numbers[[*order[:7], order[-1]]].tolist()
