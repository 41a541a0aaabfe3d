"""The words of names through changes: those of the names that are there, numbered as if none had ever gone."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew import Document, Index, Names
from clew.graph import Edges, Graph, carry_grown_parts, carry_shrunk_parts, with_nodes
from clew.link import name_words
from clew.link.name_words import NameWords, NameWordsPart
from clew.text.stems import stem_words
from clew.text.words import BOUNDARY, MAX_WORD_LENGTH, terms
from tests.store.test_changes import every_size

WORDS = [
    "Anna",
    "anna",
    "Bells",
    "bell",
    "read_path",
    "S3",
    "Öst",
    "Straße",
    "北京",
    "x" * 300,
    "-",
]
NAMES = st.lists(st.sampled_from(WORDS), max_size=4).map(" ".join) | st.sampled_from([BOUNDARY, ""])
LISTS = st.lists(NAMES, max_size=8)


def counted(names):
    """How often each name has each stem, stem by stem, as a loop over all words finds it."""

    def is_plain(name):
        runs = "".join(sign if sign.isalnum() else " " for sign in name).split()
        longest = max(map(len, runs), default=0)
        return name.isascii() and BOUNDARY not in name and longest <= MAX_WORD_LENGTH

    numbers, counts = {}, Counter()
    for row in sorted(range(len(names)), key=lambda row: not is_plain(names[row])):
        for stem in stem_words(terms(names[row], identifiers=False), "en"):
            counts[row, numbers.setdefault(stem, len(numbers))] += 1
    table = np.zeros((len(names), len(numbers)))
    for place, count in counts.items():
        table[place] = count
    return table


def check(found, names):
    assert np.array_equal(found.counts().dense(), counted(names))
    assert found.letters.tolist() == [sum(map(str.isalnum, name)) for name in names]


@given(LISTS, LISTS, st.data())
def test_they_are_those_of_the_names_that_are_there(names, more, data):
    found = NameWords.of(names)
    check(found, names)
    for _ in range(2):
        stays = data.draw(st.lists(st.booleans(), min_size=len(names), max_size=len(names)))
        names = [name for name, is_there in zip(names, stays, strict=True) if is_there] + more
        left = found.take(np.flatnonzero(np.array(stays, np.bool_)))
        found = left.joined(NameWords.of(more, stems=left.stems))
        check(found, names)
    assert len(set(found.stems.values())) == len(found.stems)


@pytest.mark.parametrize("canonical", [None, str.upper])
@given(LISTS, LISTS, st.data())
def test_they_follow_a_graph_and_are_one_for_all_its_edges(canonical, names, more, data):
    def graph_of(names, start):
        ids = [f"{start + i}" for i in range(2 * len(names))]
        texts = [text for name in names for text in (name, f"about {name}")]
        return Graph.of(
            texts, ids=ids, kinds=["entity", "passage"] * len(names), canonical=canonical
        )

    base = graph_of(names, 0)
    base.unchecked(edges=Edges()).part(NameWordsPart())
    assert base.known_part(NameWordsPart()) is not None
    stays = data.draw(st.lists(st.booleans(), min_size=len(base), max_size=len(base)))
    left = base.filtered(stays)
    carry_shrunk_parts(left, base, np.array(stays, np.bool_))
    graph = with_nodes(left, graph_of(more, len(base)))
    carry_grown_parts(graph, left)
    there = [graph.texts[row] for row in graph.rows("entity")]
    found = graph.known_part(NameWordsPart())
    read = (
        there
        if canonical is None
        else [canonical(name) if name.strip() else name for name in there]
    )
    assert np.array_equal(found.counts().dense(), counted(read))
    assert found.letters.tolist() == [sum(map(str.isalnum, name)) for name in there]
    other_texts = graph.unchecked(texts=tuple(f"{text}s" for text in graph.texts))
    assert other_texts.known_part(NameWordsPart()) is None


def test_only_new_names_are_read_after_a_change(monkeypatch):
    every_size(monkeypatch)
    people = ["Anna Berg", "Anna Maria Berg", "Eva Lund", "Ola Moe"]
    texts = [f"{people[i % 3]} met {people[(i + 1) % 3]} in {i}." for i in range(20)]
    documents = [Document(f"d{i}", text) for i, text in enumerate(texts)]
    index = Index.from_documents(documents, extractor=Names())
    read, words_of = [], name_words._words_of

    def seen(graph, rows, stems=None):
        read.append([graph.texts[row] for row in rows])
        return words_of(graph, rows, stems)

    monkeypatch.setattr(name_words, "_words_of", seen)
    for number in range(3):
        index = index.add([Document(f"n{number}", f"{people[3]} {number} met {people[0]} again.")])
        index = index.delete([f"d{number}"])
        assert "synonym" in index.graph.edges.kinds.names
    assert read
    assert not {name for names in read for name in names} & set(people[:3])
