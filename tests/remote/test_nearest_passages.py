"""The nearest passages and facts: the same whether they are found here or by the database."""

from __future__ import annotations

import itertools
import os
import re
import threading
import warnings
from dataclasses import replace

import numpy as np
import pytest

from clew import Document
from clew.graph import freeze
from clew.remote import RemoteIndex, kept_facts, writing
from clew.remote import postgres as postgres_store
from clew.remote.kept_facts import KeptFacts
from clew.remote.session import finish
from tests.remote.harbour import embed, harbour, saved


def unit(seed):
    vector = np.random.default_rng(seed).normal(size=16).astype(np.float32)
    return vector / np.linalg.norm(vector)


def test_the_nearest_passages_are_those_of_all_vectors_wherever_they_are_found(server):
    index, address = saved(server, *harbour(300, owners=("a", "b")))
    rows = index.graph.rows("passage")
    every = np.asarray(index.graph.vectors[:], np.float64)[rows]
    with RemoteIndex.open(address, kept_whole=0, embedder=embed) as opened:
        passages = opened._corpus.passages
        assert len(passages) == len(rows) == 300
        for seed, where in ((1, None), (2, None), (3, {"owner": "b"})):
            vector = unit(seed)
            cosines = every @ vector
            if where is not None:
                cosines[0::2] = -np.inf
            wanted = passages[np.argsort(-cosines)[:40]]
            with opened._database.reading() as session:
                store = finish(opened._database.store(session, opened._corpus))
                assert store.passage_vectors is not None
                for one in (store, replace(store, passage_vectors=None)):
                    near = finish(one.seeds(vector, [], 40, 5, where)).passages
                    assert near.numbers[:40].tolist() == wanted.tolist()
                    if len(near.cosines):
                        assert near.cosines == pytest.approx(np.sort(cosines)[::-1][:40], abs=1e-5)


def test_up_to_a_number_all_passages_are_measured_and_of_more_some_are_looked_at(
    postgres, monkeypatch
):
    monkeypatch.setattr(writing, "APPROXIMATE_FROM", (1_000, 1_000))
    _, address = saved(postgres, *harbour(1100))
    vector = unit(4)
    with (
        RemoteIndex.open(address, kept_whole=0, embedder=embed) as opened,
        opened._database.reading() as session,
    ):
        store = finish(opened._database.store(session, opened._corpus))
        there = replace(store, passage_vectors=None)
        plan = plan_of(session, there._nearest_passages(vector, 10, None)[-1][1])
        assert "clew_near_node" not in plan
        measured = finish(there.seeds(vector, [], 40, 5)).passages
        monkeypatch.setattr(postgres_store, "APPROXIMATE_FROM", (1_000, 1_000))
        plan = plan_of(session, there._nearest_passages(vector, 10, None)[-1][1])
        assert "Index Scan using clew_near_node" in plan
        assert plan.count("Sort") == 0
        found = finish(there.seeds(vector, [], 10, 5)).passages
        exact = finish(store.seeds(vector, [], 40, 5)).passages
    assert measured.numbers.tolist() == exact.numbers.tolist()
    assert len(set(found.numbers.tolist()) & set(exact.numbers.tolist()[:10])) >= 9


def test_statements_are_planned_once_and_facts_are_found_by_their_index(postgres):
    index, address = saved(postgres, *harbour(1100))
    assert len(index.graph.facts) > 1_000
    with RemoteIndex.open(address, kept_whole=0, embedder=embed) as opened:
        opened._database._kept_facts = KeptFacts(0)  # as where they are too many
        for ship in range(12):
            opened.ask(f"Who waits at berth {ship}?", recipe="hipporag", vector=unit(ship))
        with opened._database.reading() as session:
            store = finish(opened._database.store(session, opened._corpus))
            for name, search in store._nearest_facts(unit(1), 30, None):
                if name == "facts":
                    assert "Index Scan using clew_near_fact" in plan_of(session, search)
            sql = (
                "SELECT statement, generic_plans, custom_plans FROM pg_prepared_statements "
                "WHERE statement LIKE 'SELECT %clew_%'"
            )
            rows = session.connection.execute(sql).fetchall()
    assert {"clew_fact", "clew_index", "clew_posting"} <= {
        word for text, *_ in rows for word in text.split()
    }
    assert [text for text, generic, custom in rows if custom or not generic] == []


def plan_of(session, statement):
    """The plan of a statement, whatever is bound to it."""
    places = itertools.count(1)
    sql = re.sub("%s", lambda _: f"${next(places)}", statement.sql)
    session.settle()
    rows = session.connection.execute("EXPLAIN (VERBOSE, GENERIC_PLAN) " + sql).fetchall()
    return "\n".join(line for (line,) in rows)


def test_nodes_have_the_same_vectors_whether_those_are_known_here_or_not(postgres):
    index, address = saved(postgres, *harbour(60))
    with postgres.connect() as connection:
        name = address.partition("index=")[2]
        own = "index = (SELECT id FROM clew_index WHERE name = %s)"
        rows = connection.execute(f"SELECT number FROM clew_node WHERE {own}", (name,)).fetchall()
        numbers = freeze(sorted(number for (number,) in rows), np.int32)
        without = f"UPDATE clew_node SET vector = NULL WHERE {own} AND number = %s"
        connection.execute(without, (name, int(numbers[index.graph.find_row("d7")])))
    with (
        RemoteIndex.open(address, kept_whole=0, embedder=embed) as opened,
        opened._database.reading() as session,
    ):
        store = finish(opened._database.store(session, opened._corpus))
        wanted = np.array(index.graph.vectors[:])
        wanted[index.graph.find_row("d7")] = 0
        for one in (store, replace(store, kept=None, passage_vectors=None)):
            graph = finish(one.nodes(numbers)).graph
            rows = [index.graph.find_row(id) for id in graph.ids]
            assert len(rows) == len(index.graph)
            assert np.array_equal(graph.vectors[:], wanted[rows])


def test_few_facts_are_those_of_all_vectors_wherever_they_are_compared(postgres):
    index, address = saved(postgres, *harbour(1100))
    facts = index.graph.facts
    assert len(facts) > 1_000
    every = np.asarray(facts.vectors[:], np.float64)
    with RemoteIndex.open(address, kept_whole=0, embedder=embed) as opened:
        kept, found = opened._database._kept_facts, []
        for seed in (1, 1, 2, 3):  # the first is answered before they are read
            with opened._database.reading() as session:
                store = finish(opened._database.store(session, opened._corpus))
                found.append((seed, finish(store.seeds(unit(seed), [], 5, 30)).facts))
            kept.finish(60)
            is_read = kept.of(store.index, store.version_asked).vectors is not None
            assert is_read == (len(found) > 1)
        order = np.sort(kept.of(store.index, store.version_asked).numbers)
    for seed, near in found:
        cosines = every @ unit(seed)
        wanted = [*np.argsort(-cosines, kind="stable")[:30], cosines.argmin()]
        rows = np.searchsorted(order, near.numbers)
        assert cosines[rows] == pytest.approx(cosines[wanted], abs=1e-6)
        assert near.cosines == pytest.approx(cosines[wanted], abs=1e-6)
        nodes = {row for ends in (facts.subjects, facts.objects) for row in ends[rows].tolist()}
        nodes |= {row for fact in rows[:-1] for row in facts.read_from[fact].tolist()[:4]}
        numbers = np.array(sorted(nodes)) + near.ends.min() - min(nodes)
        assert near.ends.tolist() == numbers.tolist()
    first, again = found[0][1], found[1][1]
    for name in ("numbers", "ends", "cosines", "pairs"):
        assert np.array_equal(getattr(first, name), getattr(again, name)), name


def test_of_a_changed_index_only_the_facts_are_read_that_were_written_since(postgres, monkeypatch):
    documents, triples = harbour(1100)
    _, address = saved(postgres, documents, triples)
    read, whole = [], kept_facts._facts_of

    def count(ends, vectors, dimension):
        facts = whole(ends, vectors, dimension)
        read.append(len(facts.ends))
        return facts

    monkeypatch.setattr(kept_facts, "_facts_of", count)
    question = "When does ferry 7 sail?"
    with RemoteIndex.open(address, kept_whole=0, embedder=embed) as opened:
        kept = opened._database._kept_facts
        opened.ask(question), opened.ask(question)
        kept.finish(60)
        every = sum(read)
        with RemoteIndex.open(address, embedder=embed) as writer:
            writer.delete(["d7", "d9"])
            new = Document("new", "Ferry 7 was sold, and never sails.")
            writer.add([new], facts={"new": [("Ferry 7", "was sold to", "Island 9")]})
        read.clear()
        found = [opened.ask(question, min_relevance=0)]
        kept.finish(60)
        found += [opened.ask(question, min_relevance=0) for _ in range(2)]
        assert 0 < sum(read) < every / 10
        known = kept.of(opened._corpus.number, opened._corpus.version)
        vectors = known.vectors
        facts = opened.load().graph.facts
        assert len(known.numbers) == len(vectors.ends) == len(facts)
        assert np.array_equal(vectors.vectors, np.asarray(facts.vectors[:]))
        with RemoteIndex.open(address, kept_whole=0, embedder=embed) as other:
            wanted = other.ask(question, min_relevance=0)
    assert [one.ids for one in found] == [wanted.ids] * 3
    assert [[item.score for item in one] for one in found] == [[item.score for item in wanted]] * 3


def test_facts_of_a_version_are_read_in_no_later_one(postgres):
    _, address = saved(postgres, *harbour(300))
    question = "When does ferry 7 sail?"
    with RemoteIndex.open(address, kept_whole=0, embedder=embed) as opened:
        opened.ask(question)  # lists the facts
        kept, old = opened._database._kept_facts, opened._corpus
        listed = kept.of(old.number, old.version)
        assert listed.are_few
        with RemoteIndex.open(address, embedder=embed) as writer:
            writer.delete(["d7", "d9"])
        for _ in range(2):  # they would have them read
            opened.ask(question, min_relevance=0)
            kept.finish(60)
        assert kept.of(old.number, old.version) in (None, listed)
        known = kept.of(old.number, old.version + 1)
        assert len(known.vectors.ends) == len(known.numbers) < len(listed.numbers)


def test_no_question_waits_for_facts_that_are_read_and_closing_waits_for_what_reads_them(
    postgres, monkeypatch
):
    _, address = saved(postgres, *harbour(300))
    whole, asked, may_go_on = kept_facts._facts_of, threading.Event(), threading.Event()

    def held(ends, vectors, dimension):
        asked.set()
        assert may_go_on.wait(60)
        return whole(ends, vectors, dimension)

    monkeypatch.setattr(kept_facts, "_facts_of", held)
    question = "When does ferry 7 sail?"
    with RemoteIndex.open(address, kept_whole=0, embedder=embed) as opened:
        kept = opened._database._kept_facts
        found = [opened.ask(question, recipe="hipporag") for _ in range(4)]
        assert asked.wait(60)
        assert kept._thread.is_alive()
        known = kept.of(opened._corpus.number, opened._corpus.version)
        assert known.are_few
        assert known.vectors is None
        if hasattr(os, "fork"):  # nobody reads in a fork, and what was locked is not
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # there are other threads
                child = os.fork()
            if not child:
                free = kept._thread is None and kept._reading.acquire(blocking=False)
                os._exit(0 if free else 1)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        may_go_on.set()
        kept.finish(60)
        known = kept.of(opened._corpus.number, opened._corpus.version)
        assert len(known.vectors.ends) == len(known.numbers)
        found.append(opened.ask(question, recipe="hipporag"))
        first = found[0]
        for one in found[1:]:
            assert (one.ids, one.text) == (first.ids, first.text)
        with RemoteIndex.open(address, kept_whole=0, embedder=embed) as other:
            may_go_on.clear()
            other.ask(question), other.ask(question)
            thread = other._database._kept_facts._thread
            threading.Timer(0.2, may_go_on.set).start()
        assert not thread.is_alive()


def test_what_ends_the_reading_of_facts_is_named_by_the_next_question_and_it_is_tried_again(
    postgres, monkeypatch
):
    _, address = saved(postgres, *harbour(300))
    whole, left = kept_facts._facts_of, [RuntimeError("no memory for facts")]

    def failing(ends, vectors, dimension):
        if left:
            raise left.pop()
        return whole(ends, vectors, dimension)

    monkeypatch.setattr(kept_facts, "_facts_of", failing)
    question = "When does ferry 7 sail?"
    with RemoteIndex.open(address, kept_whole=0, embedder=embed) as opened:
        kept = opened._database._kept_facts
        first = opened.ask(question), opened.ask(question)
        kept.finish(60)
        with pytest.warns(RuntimeWarning, match="RuntimeError: no memory for facts"):
            again = opened.ask(question)
        kept.finish(60)
        assert kept.of(opened._corpus.number, opened._corpus.version).vectors is not None
        assert [one.ids for one in (*first, again, opened.ask(question))] == [again.ids] * 4
