"""Columns of texts that stay as they were saved do all that a tuple of the texts does."""

from __future__ import annotations

import pickle
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import clew
from clew.store import tables, text_column
from clew.store.column_kinds import Texts
from clew.store.tables import ColumnWriter
from clew.store.text_column import StringTable, TextColumn

texts = st.lists(st.sampled_from(["", "sea", "é", "京都", "\ud800", "a\nb", "sea "]), max_size=12)
RECIPES = ("bm25", "fused", "hipporag", "agrag", "budgeted")


def stored(values):
    writer = ColumnWriter()
    writer.texts("texts", values)
    arrays = writer.done()
    table = StringTable(arrays["strings.bytes"], arrays["strings.starts"])
    return TextColumn(table, arrays["texts"])


@given(texts, texts, st.integers(-13, 13), st.integers(-13, 13), st.integers(1, 3), st.booleans())
def test_a_column_is_the_tuple_of_its_texts(some, others, start, stop, step, keeps):
    column, expected = stored(some) + tuple(others), (*some, *others)
    if keeps:
        column = column.keeping_texts()
    rows = np.arange(len(expected))[:: 2 * step]
    assert tuple(column.take(rows)) == expected[:: 2 * step]
    assert column == expected
    assert expected == column
    assert tuple(column) == expected
    assert len(column) == len(expected)
    assert column[start:stop] == expected[start:stop]
    assert column[start:stop:step] == expected[start:stop:step]
    assert column[::-step] == expected[::-step]
    assert repr(column) == repr(expected)
    assert pickle.loads(pickle.dumps(column)) == expected
    for row in range(-len(expected), len(expected)):
        assert column[row] == expected[row]
    for row in (len(expected), -len(expected) - 1):
        with pytest.raises(IndexError):
            column[row]
    assert (column == (*expected, "more")) is False


def test_a_column_that_keeps_its_texts_makes_each_once_unless_they_are_long(monkeypatch):
    values = [f"text {i}" for i in range(40)]
    read, makes = [], StringTable.made
    monkeypatch.setattr(StringTable, "made", lambda *args: read.append(args[1]) or makes(*args))
    column = stored(values)
    kept = column.keeping_texts()
    assert not read, "none is made before one is asked for"
    for _ in range(2):
        assert list(kept) == values
        assert kept[7] is kept.take(np.arange(5, 40))[2]
    assert len(read) == 1
    monkeypatch.setattr(text_column, "MAX_KEPT", sum(map(len, values)) - 1)
    assert column.keeping_texts() is column


def test_a_text_that_was_made_is_forgotten_when_many_are(monkeypatch):
    monkeypatch.setattr(text_column, "MAX_MADE", 3)
    column = stored([f"text {i}" for i in range(20)])
    for _ in range(2):
        for row in range(20):
            assert column[row] == f"text {row}"
            assert len(column.table._made) <= 3


@given(
    st.lists(st.text(max_size=5) | texts.map("".join), min_size=1, max_size=9, unique=True),
    st.lists(st.integers(0, 8), max_size=20),
    st.integers(1, 30),
)
def test_texts_that_are_made_at_once_are_those_that_are_made_alone(some, codes, part):
    table, codes = stored(some).table, np.array(codes, np.int64) % len(some)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (("MIN_GATHERED", 1), ("PART", part), ("MAX_APART", part // 3)):
            patch.setattr(text_column, name, value)
        assert table.made(codes) == [some[code] for code in codes.tolist()]


@pytest.mark.parametrize(
    ("raw", "starts"),
    [
        (b"\xc3\xa9a", [0, 1, 3]),  # within a character
        (b"a\xff", [0, 1, 2]),  # no UTF-8
        (b"ab\xc3", [0, 2, 3]),
    ],
)
def test_bytes_that_are_no_texts_are_refused_when_they_are_opened(raw, starts):
    with pytest.raises(ValueError, match=r"strings|utf-8"):
        StringTable(np.frombuffer(raw, np.uint8), np.array(starts))


def test_an_index_of_stored_texts_answers_changes_and_is_saved_as_any_other(monkeypatch, tmp_path):
    documents = [
        clew.Document(f"d{i}", f"{name} of {place} met Ben in {place}. See [it](d{i + 1}.md).")
        for i, name in enumerate(("Ada", "Kim", "Lou", "Zoé", "Max", "Ida"))
        for place in ("Corfu",)
    ]
    clew.Index.from_documents(documents, extractor=clew.Names()).save(tmp_path / "one")
    at_once = clew.Index.load(tmp_path / "one", extractor=clew.Names())
    monkeypatch.setattr(tables, "MIN_STORED", 0)
    lazily = clew.Index.load(tmp_path / "one", extractor=clew.Names())
    assert type(lazily.graph.texts) is TextColumn
    assert type(at_once.graph.texts) is tuple
    new = clew.Document("new", "Eve of Paxos met Ada in Corfu.")
    for round_ in range(3):
        for recipe in RECIPES:
            one, other = (
                index.ask("Who met Ben in Corfu?", recipe=recipe) for index in (at_once, lazily)
            )
            assert one.text == other.text
            assert one.ids == other.ids
        for name in ("ids", "texts"):
            assert getattr(at_once.graph, name) == getattr(lazily.graph, name)
        assert at_once.graph.facts.texts == lazily.graph.facts.texts
        if round_ == 0:
            at_once, lazily = at_once.add([new]), lazily.add([new])
        elif round_ == 1:
            lazily.save(tmp_path / "two")
            lazily = clew.Index.load(tmp_path / "two", extractor=clew.Names()).delete("d2")
            at_once = at_once.delete("d2")


@given(texts, st.lists(texts, max_size=3), st.data())
def test_a_column_through_changes_has_each_text_at_its_place(some, others, data):
    """Stored texts and those of changes, one behind the other, in any order."""
    parts = [stored(some), *map(tuple, others)]
    together = [text for part in parts for text in part]
    places = data.draw(st.lists(st.sampled_from(range(len(together))))) if together else []
    gathered = Texts().gather(parts, np.array(places, np.int64))
    assert list(gathered) == [together[place] for place in places]


@given(
    st.sets(st.text("ab/é\0", max_size=40), max_size=30),
    st.sets(st.text("c", min_size=1, max_size=3)),
    st.sampled_from([0, 3, text_column.MAX_UNSORTED]),
)
def test_a_text_is_found_where_it_is(some, others, most):
    column = stored(sorted(some)) + tuple(sorted(others))
    with patch.object(text_column, "MAX_UNSORTED", most):
        place = column.places()
        for _ in range(2):
            assert [place(text) for text in column] == list(range(len(column)))
            assert all(place(text) is None for text in ("x", "a" * 41, "ab/é" * 9 + "d"))


@pytest.mark.parametrize("most", [0, text_column.MAX_UNSORTED])
def test_more_texts_than_a_look_tells_apart_are_found(monkeypatch, most):
    monkeypatch.setattr(text_column, "MAX_UNSORTED", most)
    names = [f"{'a' * 16}{i:04d}{'z' * 16}" for i in range(text_column.MAX_ALIKE + 1)]
    place = stored([*names, "other"]).places()
    assert [place(name) for name in names] == list(range(len(names)))
    assert place("other") == len(names)
    assert place(f"{'a' * 16}9999{'z' * 16}") is None


@pytest.mark.parametrize("most", [0, text_column.MAX_UNSORTED])
def test_texts_that_look_alike_are_found_at_once(monkeypatch, most):
    monkeypatch.setattr(text_column, "MAX_UNSORTED", most)
    ends = "one end of a name that is long", "the other end that is long too"
    column = stored([f"{ends[0]} {i:04d} {ends[1]}" for i in range(500)])
    place = column.places()
    monkeypatch.setattr(StringTable, "make", None)  # none is made for a look
    assert place(f"{ends[0]} 0321 {ends[1]}") == 321
