"""The rival bm25s gets what it is said to get: stems, stop words and signs of the corpus's language."""

from __future__ import annotations

import math

import pytest

from clew import Graph, Query
from tests.benchmarks.bm25s_rival import BM25S

pytest.importorskip("bm25s")


def scores(question, texts, **options):
    graph = Graph.of(texts)
    return BM25S(**options).on(graph)(Query(question)).scores.tolist()


def bm25_plus(times, length, n_with, lengths):
    idf = math.log((len(lengths) + 1) / n_with)
    norm = 1.5 * (0.25 + 0.75 * length * len(lengths) / sum(lengths))
    return idf * (0.5 + 2.5 * times / (norm + times))


def test_it_scores_by_bm25_plus_over_stems_without_stop_words():
    texts = ["Reading files, reading lines.", "They read it", "The ferries sail at noon."]
    lengths = [4, 1, 3]  # "they", "it", "the" and "at" are no words
    found = scores("How do I read it?", texts)
    absent = math.log(4 / 2) * 0.5  # what bm25+ gives a passage without the word
    expected = [bm25_plus(2, 4, 2, lengths), bm25_plus(1, 1, 2, lengths), absent]
    assert found == pytest.approx(expected, rel=1e-5)


def test_languages_and_names():
    assert scores("Häuser", ["ein Haus", "ein Boot"], language="german")[0] > 0
    chinese = scores("渡船", ["渡船在十点开。", "火车在九点。"], language="chinese")
    assert chinese[0] > chinese[1]
    assert scores("read csv", ["read_csv(path)", "a boat"])[0] > 0
    texts = ["readCSV of a path", "a boat of a path"]
    plain, parts = (scores("csv path", texts, names=names) for names in (False, True))
    assert plain[0] == pytest.approx(plain[1])
    assert parts[0] > parts[1]


def test_a_question_of_unknown_words_finds_nothing():
    assert scores("xylophone", ["They read it", "The ferries sail"]) == [0, 0]
