"""Vectors that are saved as bags of words are those of the index, whatever becomes of it."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace

import numpy as np
import pytest

from clew import Document, Index, Names, recipes
from clew.algorithms.nearest.hnsw import HNSW
from clew.embedding import compact
from clew.embedding.bag_table import BagTable
from clew.generate import Reports
from clew.graph import Edges, VectorColumn
from clew.store import manifest, saving, whole_beside
from clew.store.compression import pack_array, unpack_array
from clew.store.manifest import generations, read_manifest
from tests.store.test_changes import every_size, newest
from tests.store.test_damage import flipped
from tests.store.test_round_trip import same

QUESTION = "Who met Anna Berg in Corfu?"


def documents(n, start=0):
    people = ["Anna Berg", "Ben Ito", "Eva Lund", "Leo Marx", "Ida Rossi"]
    return [
        Document(
            f"d{i}",
            f"{people[i % 5]} met {people[(i * 3 + 1) % 5]} in Corfu. The ferry of "
            f"{people[i % 3]} berths at quay {i * 7 % 41}. {'sea ' * (300 if i == 4 else 1)}",
            {"tenth": i % 10},
            embedded_as="a text of its own" if i == 7 else None,
        )
        for i in range(start, start + n)
    ]


@pytest.fixture
def index(monkeypatch):
    every_size(monkeypatch)
    built = Index.from_documents(documents(40), extractor=Names(min_passages=1))
    monkeypatch.setattr(compact, "MIN_ROWS", 0)
    monkeypatch.setattr(compact, "MIN_COMPACT", 0)
    assert len(built.graph.facts) > 20
    return built


def same_but_for_rounding(one, other):
    """Whether two graphs are one, but for the last bits of the weights of edges between the near."""
    weights = [each.edges.weights for each in (one, other)]
    np.testing.assert_allclose(*weights, atol=1e-6)
    made = [Edges.join([each.edges]) for each in (one, other)]  # of which some may be late
    edges = [replace(each, weights=weights[0]) for each in made]
    same(one.with_edges(edges[0]), other.with_edges(edges[1]))


def segments_of(loaded):
    return [type(one).__name__ for one in VectorColumn.of(loaded.graph.vectors).segments]


def version_of(folder):
    return json.loads(next(iter(generations(folder).values())).read_bytes())["index"]["format"]


def test_a_loaded_index_has_the_vectors_that_were_saved_and_gives_the_same_answers(index, tmp_path):
    index.save(tmp_path)
    entries = read_manifest(next(iter(generations(tmp_path).values()))).entries
    assert "nodes.vectors" not in entries
    assert "facts.bags.terms.columns" in entries
    assert version_of(tmp_path) == 6
    loaded = Index.load(tmp_path, verify="full")
    same(index.graph, loaded.graph)
    same(pickle.loads(pickle.dumps(loaded)).graph, loaded.graph)
    assert segments_of(loaded) == ["BagSegment"]
    # Too many of one word for a bag, and no text but a vector: these stay as they are.
    [segment] = loaded.graph.vectors.segments
    assert len(segment.others) == 1
    for recipe in recipes.names():
        mine, theirs = (each.ask(QUESTION, recipe=recipe, budget=300) for each in (index, loaded))
        assert mine.ids == theirs.ids, recipe
        np.testing.assert_allclose(
            [item.score for item in mine], [item.score for item in theirs], atol=1e-5
        )


def test_a_large_index_is_built_with_them_and_takes_generated_texts(index, tmp_path):
    built = Index.from_documents(documents(40), extractor=Names(min_passages=1))
    assert segments_of(built) == ["BagSegment", "LateBagSegment"]
    assert not built.graph.vectors.segments[1].is_made
    same(index.graph, built.graph)
    dense, bags = (each.generate(Reports(resolution=2.0)) for each in (index, built))
    assert len(bags.graph) > len(index.graph)
    same(dense.graph, bags.graph)
    assert segments_of(bags) == ["BagSegment", "BagSegment", "DenseSegment"]
    again = bags.add(documents(1, start=70))
    same(dense.add(documents(1, start=70)).compact().graph, again.compact().graph)
    assert segments_of(again.compact()) == ["BagSegment", "BagSegment", "DenseSegment"]
    approximate = Index.from_documents(documents(40), nearest=HNSW())
    assert isinstance(approximate.graph.vectors, np.ndarray)


def test_a_save_makes_no_vector_of_what_stayed(index, tmp_path, monkeypatch):
    """However many passages went from between others."""
    index.save(tmp_path)
    loaded = Index.load(tmp_path)
    made, vectors = [], BagTable.vectors
    for step in range(1, 13, 2):
        loaded = loaded.delete(f"d{step}").upsert([Document(f"d{step + 1}", "A ferry sails.")])
    assert segments_of(loaded) == ["LateBagSegment"] * 2
    loaded.graph.links()  # which compares some

    def noted(table, pieces, terms, **kept):
        made.append(len(pieces))
        return vectors(table, pieces, terms, **kept)

    monkeypatch.setattr(BagTable, "vectors", noted)
    loaded.save(tmp_path)
    assert len(newest(tmp_path).changes) == 1
    assert made == []
    same(loaded.graph, Index.load(tmp_path).graph)


def test_it_is_added_to_deleted_from_and_saved_again(index, tmp_path, monkeypatch):
    index.save(tmp_path)
    loaded = Index.load(tmp_path)
    for step in range(4):
        new = documents(2, start=60 + 2 * step)
        index, loaded = (each.add(new).delete(f"d{step * 5}") for each in (index, loaded))
        same_but_for_rounding(index.graph, loaded.graph)
        loaded.save(tmp_path)  # what changed, without the edges that a link makes again
        assert version_of(tmp_path) == 7
        saved, loaded = loaded, Index.load(tmp_path)
        same(saved.graph, loaded.graph)
    assert set(segments_of(loaded)) == {"BagSegment", "DenseSegment"}
    monkeypatch.setattr(saving, "MIN_BYTES", 1e9)
    loaded.save(tmp_path)  # all of it, with the bags that are there
    again = Index.load(tmp_path, verify="full")
    same(loaded.graph, again.graph)
    assert segments_of(again) == ["BagSegment"]
    same(index.compact().graph, again.compact().graph)


def test_an_earlier_clew_refuses_it_and_this_one_reads_an_earlier_index(
    index, tmp_path, monkeypatch
):
    index.save(tmp_path / "bags")
    monkeypatch.setattr(compact, "MIN_ROWS", 10**9)
    monkeypatch.setattr(compact, "MIN_COMPACT", 10**9)
    index.save(tmp_path / "dense")
    assert version_of(tmp_path / "dense") == 2
    same(Index.load(tmp_path / "dense").graph, Index.load(tmp_path / "bags").graph)
    monkeypatch.setattr(manifest, "FORMAT", 5)
    with pytest.raises(ValueError, match="format 6; this clew reads 5"):
        Index.load(tmp_path / "bags")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nodes.bags.pieces.columns", r"pieces\.columns-.* is damaged"),
        ("facts.bags.terms.counts", r"terms\.counts-.* is damaged"),
        ("nodes.bags.scales.zstd", r"scales.zstd-.* is damaged"),
        ("strings.blocks", r"strings.blocks-.* is damaged"),
    ],
)
def test_a_damaged_file_is_named(index, tmp_path, name, message):
    index.save(tmp_path)
    [file] = (tmp_path / "data").glob(f"{name}-*")
    file.write_bytes(flipped(file.read_bytes(), file.stat().st_size - 1))
    with pytest.raises(ValueError, match=message):
        Index.load(tmp_path, verify="full")


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("nodes.bags.pieces.columns", lambda array: array + 40_000),
        ("nodes.bags.terms.lengths", lambda array: array[1:]),
        ("facts.bags.terms.columns", lambda array: array - 10_000),
        ("facts.bags.pieces.counts", lambda array: array[1:]),
        ("nodes.bags.other_rows", lambda array: array.astype(np.int64) + 100_000),
        ("bags.signatures.columns", lambda array: array + 600),
        ("bags.signatures.lengths", lambda array: array[:-1]),
        ("bags.weights", lambda array: array[1:]),
    ],
)
def test_arrays_that_do_not_fit_are_refused(index, tmp_path, monkeypatch, name, change):
    write = whole_beside.write_array

    def other(each, array):
        if each == f"{name}.zstd":
            return pack_array(change(unpack_array(array)))
        return change(array) if each == name else array

    monkeypatch.setattr(
        whole_beside,
        "write_array",
        lambda root, each, n, array, sync: write(root, each, n, other(each, array), sync),
    )
    index.save(tmp_path)
    with pytest.raises(ValueError, match=r"do not fit together: .*bags"):
        Index.load(tmp_path)
