"""The nearest passages: the same whether they are found here or by the database."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from clew.remote import RemoteIndex
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


def test_of_many_passages_the_database_finds_the_nearest_by_its_index(postgres):
    _, address = saved(postgres, *harbour(1100))
    vector = unit(4)
    with (
        RemoteIndex.open(address, kept_whole=0, embedder=embed) as opened,
        opened._database.reading() as session,
    ):
        store = finish(opened._database.store(session, opened._corpus))
        [_, (_, nearest)] = store._nearest_passages(vector, 10, None)
        plan = session.connection.execute("EXPLAIN VERBOSE " + nearest.sql, nearest.values)
        text = "\n".join(line for (line,) in plan.fetchall())
        found = finish(replace(store, passage_vectors=None).seeds(vector, [], 10, 5)).passages
        exact = finish(store.seeds(vector, [], 10, 5)).passages
    assert "Index Scan using clew_near_node" in text
    assert text.count("Sort") == 0
    assert len(set(found.numbers.tolist()) & set(exact.numbers.tolist())) >= 9
