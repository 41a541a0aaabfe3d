"""Counts of passages by several processes against those by one."""

from __future__ import annotations

import numpy as np
import pytest

from clew import Index, Names, processes
from clew.embedding import bag_making, bag_table, bags, compact, counted_beside
from clew.embedding.counted_beside import CountsBeside, LateCounts
from clew.embedding.static import TextCounts
from clew.graph import Graph
from clew.index import build
from clew.processes import map_items, working

TEXTS = [
    f"Ferry {n} of {('Corfu', 'Öland', '北京')[n % 3]} met ferry {n % 7} {n * 37 % 11} times. "
    f"{('tide ' * (300 * (n == 5)))}"
    for n in range(61)
]


@pytest.fixture
def small(monkeypatch):
    """A corpus of few texts is large, and comes in several batches of several parts."""
    for module in (bag_making, bag_table, counted_beside):
        monkeypatch.setattr(module, "BATCH", 16)
    monkeypatch.setattr(counted_beside, "PART", 5)
    monkeypatch.setattr(counted_beside, "LAST_PART", 2)
    monkeypatch.setattr(build, "MIN_CHARACTERS", 1)
    monkeypatch.setattr(compact, "MIN_ROWS", 10)
    monkeypatch.setattr(compact, "MIN_COMPACT", 10)


def arrays_of(counts):
    for rows in (counts.of_terms, counts.of_pieces):
        yield from (rows.starts, rows.columns, rows.values, np.array(rows.width))
    yield counts.pieces


def test_the_batches_are_those_of_one_process(small):
    with working(2):
        map_items(abs, [1, 2], sizes=[10**6] * 2)  # starts the other
        beside = CountsBeside()
        beside.begin(Graph.of(TEXTS), {"3": "another text"})
        texts = [*TEXTS[:3], "another text", *TEXTS[4:]]
        found = list(beside.batches_of(texts))
        beside.begin(Graph.of(TEXTS), {})
        assert not beside.has_begun, "the other process has ended"
    expected = [TextCounts.of(texts[start : start + 16]) for start in range(0, 61, 16)]
    assert [one.terms for one in found] == [one.terms for one in expected]
    for own, other in zip(found, expected, strict=True):
        for array, wanted in zip(arrays_of(own), arrays_of(other), strict=True):
            assert array.dtype == wanted.dtype
            assert np.array_equal(array, wanted)


@pytest.mark.parametrize("n", [0, 1, 1024, 1025, 2048, 8191, 8192, 8193, 9261, 20_000])
def test_the_last_parts_are_small_and_every_batch_is_several_whole_ones(n):
    bounds = counted_beside._bounds(n)
    sizes = np.diff(bounds)
    assert bounds[0] == 0
    assert bounds[-1] == n
    assert set(range(0, n, bags.BATCH)) <= set(bounds)
    assert (sizes > 0).all()
    assert max(sizes[-4:], default=0) <= counted_beside.LAST_PART
    assert (sizes == counted_beside.PART).sum() >= n // counted_beside.PART - 2


def test_of_other_texts_there_are_none(small):
    with working(2):
        map_items(abs, [1, 2], sizes=[10**6] * 2)
        beside = CountsBeside()
        beside.begin(Graph.of(TEXTS), {})
        assert beside.has_begun
        assert beside.batches_of(TEXTS[1:]) is None
        assert beside.batches_of(TEXTS) is None


@pytest.mark.parametrize("n_made", [0, 61 + 23, 61 + 40])
def test_other_texts_become_what_they_are_in_one_process(small, monkeypatch, n_made):
    others = [
        f"{name} {n} {'...' if n % 5 else 'of ' * 300}" for n, name in enumerate("ABCDEFG" * 7)
    ]
    others[9] = "..."  # without a vector
    alone, rows = bag_making.fit_bags(TEXTS, others, n_made=n_made)
    asked, begin_items = [], processes.begin_items
    monkeypatch.setattr(
        processes,
        "begin_items",
        lambda *own, **more: asked.append(begin_items(*own, **more)) or asked[-1],
    )
    with working(2):
        map_items(abs, [1, 2], sizes=[10**6] * 2)
        fitted, found = bag_making.fit_bags(TEXTS, others, n_made=n_made)
    assert asked[0] is not None
    assert fitted.has_counts_of(alone)
    assert list(found.table.terms) == list(rows.table.terms)
    for name in ("scales", "other_rows", "others"):
        assert np.array_equal(getattr(found, name), getattr(rows, name)), name
    assert len(found.others)
    for own, other in ((found.pieces, rows.pieces), (found.terms, rows.terms)):
        for name in ("starts", "ends", "columns", "counts"):
            assert np.array_equal(getattr(own, name), getattr(other, name)), name
    assert np.array_equal(found[:], rows[:])
    if n_made:
        assert np.array_equal(found.made, rows.made)


@pytest.mark.parametrize("extractor", [None, Names()])
def test_an_index_is_the_same(small, extractor, tmp_path, monkeypatch):
    parts = []
    work_in = counted_beside.begin_items
    for module in (build, counted_beside):
        monkeypatch.setattr(
            module,
            "begin_items",
            lambda *own, **more: parts.append(own) or work_in(*own, **more),
        )
    for number, text in enumerate(TEXTS):
        (tmp_path / f"{number:02}.txt").write_text(text * 350, "utf-8")
    one, two = (
        Index.from_documents(tmp_path, extractor=extractor, processes=processes)
        for processes in (1, 2)
    )
    late = [counted_beside.count_part] * (extractor is not None)  # of names and facts
    wanted = [build._call, counted_beside.count_part, *late]
    assert [count for count, _ in parts[-len(wanted) :]] == wanted
    assert parts[-len(wanted)][1] == [build.load_pieces, build.load_identifier]
    assert one.graph.ids == two.graph.ids
    assert one.graph.tokens.tolist() == two.graph.tokens.tolist()
    assert np.array_equal(one.graph.vectors[:], two.graph.vectors[:])
    assert np.array_equal(one.graph.facts.vectors[:], two.graph.facts.vectors[:])
    tables = [index.graph.vectors.segments[0].table.terms for index in (one, two)]
    assert list(tables[0]) == list(tables[1])


@pytest.mark.parametrize("n_done", [0, 2, 9])
def test_late_counts_are_those_of_the_distinct_texts_whoever_counts(monkeypatch, n_done):
    monkeypatch.setattr(counted_beside, "LATE_PART", 7)
    texts = [*TEXTS, "Öst of Öst", *TEXTS[:5], "..."]
    distinct = list(dict.fromkeys(texts))
    with working(2):
        map_items(abs, [1, 2], sizes=[10**6] * 2)
        late = LateCounts(texts)
        for thread in late._work._threads:
            thread.join()
    ready = late._work.ready()
    assert len(ready) == 9
    assert all(ready)
    monkeypatch.setattr(late._work, "ready", lambda: [*ready[:n_done], *[None] * (9 - n_done)])
    for given in (distinct, texts, TEXTS[:3]):
        found, wanted = bag_making.widened(late(given)), TextCounts.of(given)
        assert found.terms == wanted.terms
        assert found.pieces.tolist() == wanted.pieces.tolist()
        assert np.array_equal(found.of_terms.dense(), wanted.of_terms.dense())
        assert np.array_equal(found.of_pieces.dense(), wanted.of_pieces.dense())


def test_late_counts_of_no_texts_are_none():
    with working(2):
        map_items(abs, [1, 2], sizes=[10**6] * 2)
        late = LateCounts(())
        assert late._work is not None
        assert len(late([])) == len(late(late.texts())) == 0


def test_what_a_caller_has_made_is_called_once_for_a_text(small, tmp_path):
    for number, text in enumerate(TEXTS[:12]):
        (tmp_path / f"{number:02}.txt").write_text(text * 5, "utf-8")
    called = []

    def canonical(text):
        called.append(text)
        return text.lower()

    Index.from_documents(tmp_path, extractor=Names(), processes=2, canonical=canonical)
    before = len(called)
    called.clear()
    Index.from_documents(tmp_path, extractor=Names(), processes=1, canonical=canonical)
    assert before == len(called)
