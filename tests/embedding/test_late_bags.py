"""Bags that are counted late are those that are counted at once, and nobody counts them in vain."""

from __future__ import annotations

import copy
import os
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from clew import Document, Index, Names, link
from clew.embedding import bag_making, bag_table, compact, late_bags
from clew.embedding.bag_making import bags_of_texts, fit_bags
from clew.embedding.late_bags import LateBags, LateBagSegment, LateTexts
from clew.embedding.static import StaticEmbedding
from clew.graph import VectorColumn
from clew.index.config import DEFAULT_LINKS, LINKS_OF_NAMES
from tests.conftest import hashed_words
from tests.store.test_round_trip import same

PASSAGES = [
    f"{'Anna Bell' if n % 2 else 'Ben Ito'} met Eva {('Lund', 'Öberg', '北京')[n % 3]} at quay {n}."
    for n in range(40)
]
OTHERS = ["Anna Bell", "quay", "...", "never seen", "of " * 300, "Anna Bell", PASSAGES[3]]
QUERY = "Who met Anna at the quay that was never seen?"


@pytest.fixture
def small(monkeypatch):
    """Batches of few texts, and a graph of few nodes is large."""
    for module in (bag_making, bag_table):
        monkeypatch.setattr(module, "BATCH", 16)
    monkeypatch.setattr(compact, "MIN_ROWS", 10)
    monkeypatch.setattr(compact, "MIN_COMPACT", 10)


def both():
    """The embedder, passages and others as they are made at once, and as they are made late."""
    static, whole = fit_bags(PASSAGES, OTHERS)
    _, passages = fit_bags(PASSAGES)
    late = LateBags(LateTexts(passages.table, lambda: OTHERS, None, [0, len(OTHERS)]))
    segments = [passages, LateBagSegment(late, np.arange(len(OTHERS)))]
    return static, VectorColumn([whole]), VectorColumn(segments)


@pytest.mark.parametrize("begins", ["with the passages", "with the others"])
def test_they_are_the_bags_that_are_made_at_once(small, begins):
    static, whole, column = both()
    question = static([QUERY])[0]
    passages, others = column.segments
    if begins == "with the passages":
        before = passages.products(question)
        assert not others.is_made
        assert before.tolist() == whole.products(question)[: len(PASSAGES)].tolist()
    assert column.products(question).tolist() == whole.products(question).tolist()
    assert others.is_made
    assert np.array_equal(column[:], whole[:])
    assert column.has_vector.tolist() == whole.has_vector.tolist()
    table, own = whole.segments[0].table, passages.table
    assert list(own.terms) == list(table.terms)
    assert own.weights.tolist() == table.weights.tolist()
    for name in ("starts", "columns", "values"):
        assert np.array_equal(getattr(own.signatures, name), getattr(table.signatures, name))


def test_terms_are_numbered_by_the_batch_that_they_come_in_first(monkeypatch):
    for module in (bag_making, bag_table):
        monkeypatch.setattr(module, "BATCH", 3)
    _, passages = fit_bags(PASSAGES[:2])
    texts = ["west Zoë", "quay", "a", "zoo east", "ape", "north", "east a south", "met 夏"]
    numbered = dict.fromkeys(passages.table.terms)
    for start in range(0, len(texts), 3):
        numbered |= dict.fromkeys(sorted(set(" ".join(texts[start : start + 3]).lower().split())))
    bags_of_texts(passages.table, texts)
    assert list(passages.table.terms) == list(numbered)


def test_some_rows_are_taken_before_and_after_they_are_made(small):
    _, whole, column = both()
    rows = np.array([2, 41, 44, 40, 46, 45])
    before = column.take(rows)
    assert not column.segments[1].is_made
    assert np.array_equal(before[:], whole[rows])
    assert np.array_equal(column.take(rows)[:], whole[rows])
    _, _, column = both()
    assert np.array_equal(pickle.loads(pickle.dumps(column.segments[1]))[:], whole[:][40:])


def test_of_many_threads_one_makes_them(small, monkeypatch):
    static, whole, column = both()
    made, make, question = [], late_bags.bags_of_counts, static([QUERY])[0]
    monkeypatch.setattr(
        late_bags, "bags_of_counts", lambda *own, **how: made.append(own) or make(*own, **how)
    )
    start = threading.Barrier(8)

    def ask(_):
        start.wait()
        return column.products(question).tolist()

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(ask, range(8)))
    assert len(made) == 1
    assert all(one == whole.products(question).tolist() for one in found)


def test_what_is_interrupted_is_made_by_who_asks_next(small, monkeypatch):
    _, whole, column = both()
    embed_counts, calls = StaticEmbedding.embed_counts, []

    def interrupted(embedder, counts):
        calls.append(counts)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return embed_counts(embedder, counts)

    monkeypatch.setattr(StaticEmbedding, "embed_counts", interrupted)
    with pytest.raises(KeyboardInterrupt):
        column.segments[1].compact()
    assert not column.segments[1].is_made
    assert np.array_equal(column[:], whole[:])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_fork_while_they_are_made_makes_them_again(small, monkeypatch):
    _, whole, column = both()
    make, begun, go_on = late_bags.bags_of_counts, threading.Event(), threading.Event()

    def slow(*own, **how):
        if threading.current_thread() is not threading.main_thread():
            begun.set()
            go_on.wait()
        return make(*own, **how)

    monkeypatch.setattr(late_bags, "bags_of_counts", slow)
    thread = threading.Thread(target=lambda: column.segments[1].has_vector)
    thread.start()
    begun.wait()
    child = os.fork()
    if not child:
        os._exit(0 if np.array_equal(column[:], whole[:]) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    go_on.set()
    thread.join()
    assert np.array_equal(column[:], whole[:])


def documents(n):
    return [Document(f"d{i}", PASSAGES[i], {"half": i % 2}) for i in range(n)]


def is_made(index):
    vectors = (index.graph.vectors, index.graph.facts.vectors)
    return [one.segments[-1].is_made for one in vectors]


def test_an_index_is_the_same_and_a_question_that_compares_no_name_makes_none(small, monkeypatch):
    index = Index.from_documents(documents(40), extractor=Names())
    assert is_made(index) == [False, False]
    index.ask(QUERY, recipe="bm25")
    assert is_made(index) == [False, False]
    answer = index.ask(QUERY)
    assert is_made(index) == [False, True], "it compares facts alone"
    monkeypatch.setattr(compact, "MIN_ROWS", 10**9)
    monkeypatch.setattr(compact, "MIN_COMPACT", 10**9)
    dense = Index.from_documents(documents(40), extractor=Names())
    same(index.graph, dense.graph)
    assert answer.ids == dense.ask(QUERY).ids


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda index: pickle.loads(pickle.dumps(index))])
def test_a_copy_before_anything_is_compared_has_the_same_vectors_and_answers(small, copied):
    titled = [replace(one, metadata={"title": f"Voyage {one.id}x"}) for one in documents(40)]
    index = Index.from_documents(titled, extractor=Names())  # names have words of no passage
    assert is_made(index) == [False, False]
    other = copied(index)
    same(index.graph, other.graph)
    assert np.array_equal(other.graph.facts.vectors[:], index.graph.facts.vectors[:])
    for recipe in ("hipporag", "agrag", "dense"):
        one, two = (each.ask(QUERY, recipe=recipe) for each in (index, other))
        assert (one.text, [item.score for item in one]) == (two.text, [item.score for item in two])
    changed, both = (each.add([Document("new", "Zoë met Eva Lund.")]) for each in (index, other))
    same(changed.graph, both.graph)


@pytest.mark.parametrize("asked", [False, True])
def test_a_filter_is_an_index_of_what_it_allows(small, asked):
    index = Index.from_documents(documents(40), extractor=Names())
    if asked:
        index.ask(QUERY)
    filtered = index.filtered({"half": 1})
    same(
        filtered.graph,
        Index.from_documents(documents(40)[1::2], extractor=Names()).graph,
    )
    assert is_made(index) == [False, asked]  # a filter makes none of the names of the whole


@pytest.mark.parametrize(
    ("keywords", "links"),
    [
        ({}, DEFAULT_LINKS),
        ({"extractor": Names()}, LINKS_OF_NAMES),
        ({"extractor": Names(years=True)}, LINKS_OF_NAMES),
        ({"extractor": Names(), "embedder": hashed_words}, DEFAULT_LINKS),
        ({"extractor": Names(), "links": DEFAULT_LINKS}, DEFAULT_LINKS),
        ({"extractor": lambda text: [("Anna", "met", "Ben")]}, DEFAULT_LINKS),
    ],
)
def test_names_are_compared_by_words_where_nothing_else_compares_them(keywords, links):
    assert Index.from_documents(PASSAGES, **keywords).config.links == links


@pytest.mark.parametrize("links", [[link.Synonym()], [link.Alike()], [link.Similar()]])
def test_vectors_of_names_are_made_at_once_where_links_compare_them(small, links):
    index = Index.from_documents(documents(40), extractor=Names(), links=links)
    kinds = {type(one).__name__ for one in index.graph.vectors.segments}
    assert ("LateBagSegment" in kinds) == isinstance(links[0], link.Similar)
