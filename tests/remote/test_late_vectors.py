"""Vectors that are left out of the rows of nodes, and read when a stage looks at them."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

pytest.importorskip("psycopg", reason="an index in PostgreSQL needs clew[postgres]")
pytest.importorskip("pgserver", reason="a PostgreSQL for tests comes with clew[stores]")

import clew
from clew.graph.vector_column import VectorColumn
from clew.remote import RemoteIndex, remote_index
from clew.remote.kept_columns import KeptColumns
from clew.remote.late_vectors import UNREAD, LateVectors, VectorsLater
from tests.remote.harbour import NO_BOUNDS, embed, harbour, saved
from tests.remote.test_kept_rows import block

QUESTION = "Which ferry sails to island 3?"


def unread(opened):
    """How many vectors of passages, and of other nodes, nobody has read of the rows that are kept."""
    table = opened._database._kept_rows.newest.table
    numbers = np.array(table.numbers, np.int32)
    is_unread = table.columns.vector_places(table.places(numbers)) == UNREAD
    are_passages = np.isin(numbers, opened._corpus.passages)
    return int(is_unread[are_passages].sum()), int(is_unread[~are_passages].sum())


def late_reads(opened, monkeypatch):
    """Return a list that gets the numbers of nodes whose vectors are read late."""
    read, late = opened._database.read_vectors, []

    async def noted(session, found, numbers):
        late.append(numbers.tolist())
        return await read(session, found, numbers)

    monkeypatch.setattr(opened._database, "read_vectors", noted)
    return late


@pytest.mark.parametrize("max_sample", [10_000, 20], ids=["known passages", "unknown passages"])
def test_vectors_of_other_nodes_than_passages_are_read_when_a_stage_looks_at_them(
    postgres, monkeypatch, max_sample
):
    monkeypatch.setattr("clew.remote.corpus.MAX_SAMPLE", max_sample)
    index, address = saved(postgres, *harbour(120))
    with RemoteIndex.open(address, bounds=NO_BOUNDS, kept_whole=0, embedder=embed) as opened:
        late = late_reads(opened, monkeypatch)

        def check(recipe):
            found = opened.ask(QUESTION, recipe=recipe, min_relevance=0)
            wanted = index.ask(QUESTION, recipe=recipe, min_relevance=0)
            assert found.ids == wanted.ids
            assert [one.score for one in found] == pytest.approx([one.score for one in wanted])

        for recipe in ("dense", "hipporag"):
            check(recipe)
        n_others = len(index.graph) - len(index.graph.rows("passage"))
        assert (unread(opened), late) == ((0, n_others), [])
        check("agrag")
        assert (unread(opened), len(late)) == ((0, 0), 1)
        assert len(late[0]) == n_others
    with RemoteIndex.open(address, bounds=NO_BOUNDS, kept_whole=0, embedder=embed) as opened:
        late = late_reads(opened, monkeypatch)

        async def ask():
            await opened.aask(QUESTION, recipe="agrag", min_relevance=0)
            await opened._database.aclose()

        asyncio.run(ask())
        assert (unread(opened), len(late)) == ((0, 0), 1)
        opened._database._kept_rows.newest = None
        check("agrag")  # which looked at them once: they come with the rows
        opened.ask(QUESTION, recipe="dense")
        assert (unread(opened), len(late)) == ((0, 0), 1)
        opened._database._kept_rows.newest = None
        opened.ask(QUESTION, recipe="dense", min_relevance=0)
        check("agrag")  # or in the question's own transaction, where another recipe read the rows
        assert (unread(opened), len(late)) == ((0, 0), 1)


def test_an_index_that_was_written_before_a_stage_looks_is_asked_again(postgres, monkeypatch):
    _, address = saved(postgres, *harbour(120))
    with RemoteIndex.open(address, bounds=NO_BOUNDS, kept_whole=0, embedder=embed) as opened:
        answer, answered = remote_index.answer, []

        def late_answer(*values):
            if not answered:
                answered.append(values)
                with RemoteIndex.open(address, embedder=embed) as writer:
                    writer.upsert([clew.Document("d3", "Ferry 3 was sold, and sails no more.")])
            return answer(*values)

        monkeypatch.setattr(remote_index, "answer", late_answer)
        found = opened.ask(QUESTION, recipe="agrag", min_relevance=0)
        monkeypatch.undo()
        wanted = opened.load().ask(QUESTION, recipe="agrag", min_relevance=0)
        assert found.text == wanted.text
        assert found.trace[0].notes["version"] == opened._corpus.version == 2


def test_late_vectors_are_read_as_an_array_is_and_each_once():
    columns, rng = KeptColumns(2), np.random.default_rng(5)
    rows = block(range(40))
    wanted = np.zeros((40, 2), np.float32)
    wanted[rows.has_vector] = rows.vectors
    is_left_out = np.arange(40) % 3 == 0
    has = rows.has_vector & ~is_left_out
    left = type(rows)(
        **{**vars(rows), "vectors": wanted[has], "has_vector": has, "is_unread": is_left_out}
    )
    places, read = columns.append(left), []

    def read_vectors(numbers):
        assert numbers.tolist() == sorted(set(numbers.tolist()))
        read.extend(numbers.tolist())
        return wanted[numbers]

    later = VectorsLater(np.zeros(0, np.int32), read_vectors)
    own = rng.permutation(40)
    late = VectorColumn([LateVectors(columns, places[own], own.astype(np.int32), later)])
    assert late.shape == (40, 2)
    some = late.take(np.array([7, 2, 7, 30]))
    assert read == []
    assert np.array_equal(some[:], wanted[own][[7, 2, 7, 30]])
    for rows_of in (5, [3, 3, 9], slice(10, 20), np.arange(40) % 4 == 1):
        assert np.array_equal(late[rows_of], wanted[own][rows_of])
    kept = columns.bytes
    assert np.array_equal(late.has_vector, wanted[own].any(axis=1))
    assert columns.bytes > kept
    query = np.array([0.6, 0.8], np.float32)
    assert np.array_equal(late.products(query), np.einsum("ij,j->i", wanted[own], query))
    assert sorted(read) == np.flatnonzero(is_left_out).tolist()
    copy = columns.copied(places)
    assert copy.bytes == columns.bytes == block(range(40)).sizes.sum()
