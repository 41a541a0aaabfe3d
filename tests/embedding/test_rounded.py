"""Vectors of whole numbers: an index that is saved with them gives the same answers, to the bit."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from clew import Document, Embedder, Index, Names
from clew.embedding import compact
from clew.embedding.embedder import embed_texts
from clew.embedding.latent_semantic import LatentSemantic
from clew.embedding.rounded import RoundedSegment, as_rounded, rounded
from clew.graph import VectorColumn, row_addresses, take_vectors
from clew.store import saving
from clew.store.manifest import generations, read_manifest
from tests.benchmarks.indexing import hashed_words
from tests.store.test_changes import every_size
from tests.store.test_round_trip import same

NUMBERS = st.floats(-1e6, 1e6, width=32).map(lambda number: number or 1.0)


@given(arrays.arrays(np.float32, st.tuples(st.integers(1, 9), st.integers(1, 7)), elements=NUMBERS))
def test_vectors_are_near_and_are_read_to_the_bit(raw):
    texts = [f"text {row}" for row in range(len(raw))]
    one, other = Embedder.of(lambda _: raw), rounded(lambda _: raw)
    exact, near = (embed_texts(each, texts) for each in (one, other))
    assert ((exact * near).sum(axis=1) > 1 - raw.shape[1] / 127**2).all()
    near = np.concatenate([near, np.zeros((1, raw.shape[1]), np.float32)])
    segment = as_rounded(near)
    assert np.abs(segment.codes).max() == 127
    assert segment[:].tobytes() == near.tobytes()
    assert segment.has_vector.tolist() == [True] * len(raw) + [False]
    rows = np.arange(len(near))[::-2]
    assert segment.take(rows)[:].tobytes() == near[rows].tobytes()
    assert segment.take(rows).compact()[:].tobytes() == near[rows].tobytes()
    column = VectorColumn([segment])
    known = row_addresses(column)
    assert row_addresses(take_vectors(column, rows)).tolist() == known[rows].tolist()
    query = exact[0]
    assert segment.products(query).tobytes() == VectorColumn.of(near).products(query).tobytes()


def test_what_is_no_vector_is_refused_as_without_rounding():
    for raw, message in (
        ([[0.0, 0.0]], "all zeros"),
        ([[np.nan, 1.0]], "NaN"),
        ([["a", "b"]], "type <U1"),
        ([[1.0], [2.0]], "2 vectors for 1 texts"),
    ):
        with pytest.raises((ValueError, TypeError), match=message):
            embed_texts(rounded(lambda _, raw=raw: raw), ["sea"])
    with pytest.raises(ValueError, match="the embedded default came to be rounded"):
        rounded(LatentSemantic.fit(["The sea."]))
    assert as_rounded(np.array([[0.6, 0.8]], np.float32)) is None


def documents(n):
    names = ("Ada", "Kim", "Lou", "Max")
    return [
        Document(f"d{i}", f"{names[i % 4]} met Ben at Quay {i}. The ferry leaves at {i}.")
        for i in range(n)
    ]


def test_an_index_takes_a_byte_a_number_and_gives_the_same_answers(monkeypatch, tmp_path):
    every_size(monkeypatch)
    monkeypatch.setattr(compact, "MIN_ROWS", 0)
    embedder = rounded(hashed_words)
    index = Index.from_documents(documents(40), embedder=embedder, extractor=Names(min_passages=1))
    assert len(index.graph.facts) > 10
    for step in range(3):
        index.save(tmp_path)
        entries = read_manifest(next(iter(generations(tmp_path).values()))).entries
        assert entries["nodes.rounded.codes"].dtype == "|i1"
        assert not {"nodes.vectors", "facts.vectors"} & set(entries)
        loaded = Index.load(tmp_path, embedder=embedder, extractor=Names(min_passages=1))
        assert isinstance(loaded.graph.vectors.segments[0], RoundedSegment)
        same(loaded.graph, index.graph)
        same(pickle.loads(pickle.dumps(loaded.graph)), index.graph)
        for recipe in ("fused", "hipporag", "agrag"):
            one, other = (each.ask("Who met Ben?", recipe=recipe) for each in (index, loaded))
            assert [(item.id, item.score) for item in one.items] == [
                (item.id, item.score) for item in other.items
            ]
        if step == 1:
            monkeypatch.setattr(saving, "MIN_BYTES", 1e9)  # all of it
        index = loaded.add([Document(f"new {step}", "Eva met Ben at Quay 99.")]).delete(f"d{step}")


def test_a_vector_that_is_not_rounded_keeps_all_as_they_are(monkeypatch, tmp_path):
    monkeypatch.setattr(compact, "MIN_ROWS", 0)
    Index.from_documents(documents(9), embedder=hashed_words).save(tmp_path)
    entries = read_manifest(next(iter(generations(tmp_path).values()))).entries
    assert entries["nodes.vectors"].dtype == "<f4"
    assert "nodes.rounded.codes" not in entries
