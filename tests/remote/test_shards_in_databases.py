"""Shards in databases and in a folder, asked as one index: the answers of one over all documents."""

from __future__ import annotations

from zlib import crc32

import numpy as np
import pytest

pytest.importorskip("psycopg", reason="an index in PostgreSQL needs clew[postgres]")
pytest.importorskip("pgserver", reason="a PostgreSQL for tests comes with clew[stores]")

import clew
from clew import link
from clew.remote import Bounds, DatabaseUnavailableError, RemoteIndex
from clew.sharded import ShardedIndex

NO_BOUNDS = Bounds(10**6, 10**6, 10**6, 10**6, hops=4, without=())
QUESTIONS = ("Which ferry sails to island 3?", "Who is the captain of ferry 17?")
RECIPES = ("bm25", "dense", "hipporag", "agrag", "budgeted", "kurisu")


def word_vectors(texts):
    rows = np.full((len(texts), 32), 0.01, np.float32)
    for row, text in zip(rows, texts, strict=True):
        for word in text.lower().split():
            row[crc32(word.encode()) % 32] += 1
    return rows


def build(numbers):
    texts = {
        i: f"Ferry {i} sails to island {i % 7}. Its captain is captain {i % 5}." for i in numbers
    }
    documents = [clew.Document(f"d{i}", text, {"island": i % 7}) for i, text in texts.items()]
    facts = {
        f"d{i}": [
            (f"Ferry {i}", "sails to", f"Island {i % 7}"),
            (f"Captain {i % 5}", "commands", f"Ferry {i}"),
        ]
        for i in numbers
    }
    links = (link.Contains(), link.Next(), link.Mentions(), link.Fact())
    return clew.Index.from_documents(documents, facts=facts, embedder=word_vectors, links=links)


@pytest.fixture(scope="module")
def shards(postgres, tmp_path_factory):
    addresses = [postgres.address(), postgres.address(), str(tmp_path_factory.mktemp("shard"))]
    for i, address in enumerate(addresses):
        build(range(20 * i, 20 * i + 20)).save(address)
    return addresses


def test_shards_in_databases_answer_as_one_index_with_and_without_an_event_loop(shards):
    whole = build(range(60))
    with ShardedIndex.open(shards, bounds=NO_BOUNDS, embedder=word_vectors) as opened:
        for recipe in RECIPES:
            for question in QUESTIONS:
                wanted = whole.ask(question, recipe=recipe, budget=300)
                found = opened.ask(question, recipe=recipe, budget=300)
                assert found.ids == wanted.ids
                assert found.text == wanted.text
        assert found.trace[0].notes["shards"] == 3


async def test_they_are_awaited(shards):
    whole = build(range(60))
    opened = ShardedIndex.open(shards, bounds=NO_BOUNDS, embedder=word_vectors)
    found = await opened.aask(QUESTIONS[1], recipe="hipporag", budget=300)
    assert found.ids == whole.ask(QUESTIONS[1], recipe="hipporag", budget=300).ids
    await opened.aclose()


def test_a_filter_holds_in_every_shard(shards):
    with ShardedIndex.open(shards, bounds=NO_BOUNDS, embedder=word_vectors) as opened:
        found = opened.ask("Which ferry sails?", where={"island": 3}, min_relevance=0)
        assert found.ids
        passages = [one for one in found.ids if one.startswith("d")]
        assert {int(one[1:]) % 7 for one in passages} == {3}
        with pytest.raises(TypeError, match="where is a mapping"):
            opened.ask("Which ferry sails?", where=lambda metadata: True)


def test_what_is_written_to_a_shard_is_asked_at_once(postgres):
    addresses = [postgres.address(), postgres.address()]
    for i, address in enumerate(addresses):
        build(range(20 * i, 20 * i + 20)).save(address)
    with ShardedIndex.open(addresses, bounds=NO_BOUNDS, embedder=word_vectors) as opened:
        opened.ask(QUESTIONS[0])
        with RemoteIndex.open(addresses[1], embedder=word_vectors) as writer:
            writer.add([clew.Document("new", "Ferry 99 sails to the lighthouse.")])
        assert "new" in opened.ask("Which ferry sails to the lighthouse?").ids


def test_a_shard_that_does_not_answer_is_an_error(postgres, shards):
    with ShardedIndex.open(shards, bounds=NO_BOUNDS, embedder=word_vectors) as opened:
        opened.ask(QUESTIONS[0])
        postgres.kill()
        try:
            with pytest.raises(DatabaseUnavailableError):
                opened.ask(QUESTIONS[0])
        finally:
            postgres.start()
        assert opened.ask(QUESTIONS[0]).ids
