"""Vectors in a temporary file: the same bits, found again as in memory, and in memory without a file."""

import tempfile

import numpy as np
import pytest

from clew.algorithms.nearest import exact
from clew.graph import DenseSegment, Graph, VectorColumn, in_temporary_file, unit_rows, vectors_of
from clew.graph.columns import is_mapped
from clew.link import _shared, alike


@pytest.fixture
def rows():
    return unit_rows(np.random.default_rng(0).normal(size=(9000, 16))).astype(np.float32)


def test_all_rows_are_read_from_the_file(rows):
    mapped = in_temporary_file(VectorColumn([DenseSegment(rows[:5000]), DenseSegment(rows[5000:])]))
    assert is_mapped(mapped)
    assert mapped.tobytes() == rows.tobytes()
    chosen = np.random.default_rng(1).integers(0, len(rows), 700)
    assert vectors_of(mapped, chosen).tobytes() == rows[chosen].tobytes()
    assert in_temporary_file(rows) is rows
    assert np.shares_memory(in_temporary_file(VectorColumn([DenseSegment(rows)])), rows)
    assert in_temporary_file(VectorColumn([DenseSegment(rows[:0])])).shape == (0, 16)


def test_without_room_for_a_file_they_are_in_memory(rows, monkeypatch):
    def refuse(**_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    found = in_temporary_file(VectorColumn([DenseSegment(rows[:9]), DenseSegment(rows[9:])]))
    assert not is_mapped(found)
    assert found.tobytes() == rows.tobytes()


def test_the_nearest_names_are_the_same_with_a_file_and_without(rows, monkeypatch):
    monkeypatch.setattr(exact, "MAX_EXACT", 1000)
    monkeypatch.setattr(exact, "MAX_EXACT_BY_BOUNDS", 1000)
    some, texts = rows[:3000], [f"e{i}" for i in range(3000)]
    in_memory = alike.alike_edges(Graph.of(texts, kinds="entity", vectors=some))
    monkeypatch.setattr(_shared, "MANY_VECTORS", 100)
    used = []
    monkeypatch.setattr(
        _shared,
        "in_temporary_file",
        lambda column: used.append(in_temporary_file(column)) or used[0],
    )
    column = VectorColumn([DenseSegment(some[:2000]), DenseSegment(some[2000:])])
    graph = Graph.of(texts, kinds="entity", vectors=some).unchecked(vectors=column)
    by_file = alike.alike_edges(graph)
    assert is_mapped(used[0])
    for name in ("tails", "heads", "weights"):
        assert getattr(by_file, name).tobytes() == getattr(in_memory, name).tobytes()
