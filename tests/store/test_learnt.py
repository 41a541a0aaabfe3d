"""What an extractor has learnt is saved with the index, checked, and may be missing."""

from __future__ import annotations

import pickle
import re
from collections import Counter
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew import Document, Index, Names, store
from clew.read import Knowledge
from clew.store.change_files import unpack_change
from clew.store.knowledge import StoredCounts
from clew.store.manifest import generations, read_manifest, write_manifest
from clew.store.packing import pack
from clew.store.tables import ColumnWriter
from clew.store.text_column import StringTable, TextColumn
from tests.store.test_changes import corpus, every_size
from tests.store.test_damage import damages


@pytest.fixture
def folder(embed, tmp_path, monkeypatch):
    """A folder with a whole generation and a change of an index with names."""
    every_size(monkeypatch)
    index = Index.from_documents(corpus(20), embedder=embed, extractor=Names())
    index.save(tmp_path)
    index.add([Document("x", "In Delos Cleo waits.")]).delete("d3").save(tmp_path)
    return tmp_path


def test_every_damaged_file_of_it_is_named(embed, folder):
    files = sorted((folder / "data").glob("knowledge.*"))
    assert len(files) == 5
    for file in files:
        raw = file.read_bytes()
        for _, damaged in damages(raw):
            file.write_bytes(damaged)
            with pytest.raises(ValueError, match=rf"{re.escape(file.name)} is damaged"):
                Index.load(folder, embedder=embed)
        file.write_bytes(raw)
    assert {found.damage for found in store.check(folder)} == {""}


def rewritten(folder, name, array):
    """Write the newest generation again, with another array; None leaves it out."""
    last = read_manifest(next(iter(generations(folder).values())))
    entries = {key: entry for key, entry in last.entries.items() if key != name}
    if array is not None:
        short = "changes" if name.startswith("changes.") else name
        entries[name] = store.arrays.write_array(folder, short, 9, np.asarray(array))
    return write_manifest(folder, 9, "0", entries, last.settings).file


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("counts", lambda counts: counts * 0),
        ("counts", lambda counts: counts[1:]),
        ("texts", lambda texts: texts * 0),
        ("starts", lambda starts: starts[::-1].copy()),
        ("starts", lambda starts: starts[1:]),
        ("starts", lambda starts: starts * 2),
        ("tables", lambda tables: tables[:-1]),
        ("form", lambda form: form[:0]),
        ("texts", lambda _: None),
    ],
)
def test_what_does_not_fit_together_is_refused(embed, folder, name, change):
    name = f"knowledge.{name}"
    entry = read_manifest(generations(folder)[2]).entries[name]
    array = store.arrays.read_array(folder, entry, mapped=False, full=True)
    rewritten(folder, name, change(array))
    with pytest.raises(ValueError, match=r"MANIFEST-00000009\.json"):
        Index.load(folder, embedder=embed)


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("gone", [999]),
        ("new", [-1]),
        ("texts", []),
        ("changed", [999]),
        ("counts", [1]),
        ("counts", None),
    ],
)
def test_a_change_of_it_that_does_not_fit_is_refused(embed, folder, name, array):
    [(change, entry)] = read_manifest(generations(folder)[2]).changes.items()
    arrays = unpack_change(store.arrays.read_array(folder, entry, mapped=False, full=True))
    column = f"knowledge.5.{name}"
    assert column in arrays
    del arrays[column]
    if array is not None:
        arrays[column] = np.array(array, np.int32)
    rewritten(folder, change, pack(arrays))
    with pytest.raises(ValueError, match=r"MANIFEST-00000009\.json"):
        Index.load(folder, embedder=embed)


def test_an_index_that_an_earlier_version_saved_has_none_and_is_built_whole_once(embed, folder):
    index = Index.load(folder, embedder=embed)
    for column in ("form", "tables", "starts", "texts", "counts"):
        rewritten(folder, f"knowledge.{column}", None)
    old = Index.load(folder, embedder=embed)
    assert old.knowledge is None
    assert old.graph.texts == index.graph.texts
    new = old.add([Document("y", "In Delos Ella waits.")])
    assert (new.changed, new.delete("y").changed) == (0, 1)
    again = Index.from_documents(new.documents, embedder=embed, extractor=Names())
    assert new.knowledge == again.knowledge
    new.save(folder)
    assert Index.load(folder, embedder=embed).knowledge == new.knowledge


def stored_counts(table):
    """The counts of a table as a saved index has them."""
    writer = ColumnWriter()
    writer.texts("texts", table)
    arrays = writer.done()
    texts = TextColumn(StringTable(arrays["strings.bytes"], arrays["strings.starts"]), arrays["texts"])  # fmt: skip
    return StoredCounts(texts, np.array([*table.values()]))


WORD = st.sampled_from(["sea", "isle", "tide", "é", "ebb", "quay"])
COUNTS = st.dictionaries(WORD, st.integers(1, 3), max_size=4)


@given(
    COUNTS,
    st.lists(st.tuples(st.booleans(), COUNTS), max_size=6),
    st.data(),
    st.sampled_from([0, 1, 9]),
)
def test_what_is_learnt_of_stored_counts_is_what_tables_in_memory_say(first, steps, data, share):
    """In whatever order counts are asked for: looked up one by one, or all, in their order."""
    plain = Knowledge("words 1", {"words": first, "other": {"sea": 1}})
    late = Knowledge("words 1", {"words": stored_counts(first), "other": stored_counts({"sea": 1})})
    with patch("clew.store.knowledge.MAX_SHARE_LOOKED_UP", share):
        for is_more, counts in steps:
            change = Knowledge("words 1", {"words": Counter(counts), "other": {}})
            if is_more:
                plain, late = plain.grown(change), late.grown(change)
            else:
                left, now = plain.shrunk(change), late.shrunk(change)
                assert (left is None) == (now is None)
                if left is not None and now is not None:
                    plain, late = left, now
            table, other = plain.tables["words"], late.tables["words"]
            for word in data.draw(st.lists(WORD, max_size=3)):
                assert other.get(word) == table.get(word)
                assert (word in other) == (word in table)
            if data.draw(st.booleans()):
                assert list(other.items()) == list(table.items())
        assert list(late.tables["words"].items()) == list(plain.tables["words"].items())
        assert list(late.tables["words"]) == list(plain.tables["words"])
        assert list(late.tables["words"].values()) == list(plain.tables["words"].values())
        assert late == plain
        assert pickle.loads(pickle.dumps(late)) == plain  # as another process gets it


def test_a_change_makes_no_table_of_what_it_looks_up_alone(embed, tmp_path, monkeypatch):
    monkeypatch.setattr("clew.index.in_place.MIN_PASSAGES", 1)
    monkeypatch.setattr("clew.store.tables.MIN_STORED", 0)
    names = [f"{a}{b}a" for a in "bcdfghkl" for b in "aeiou"]
    texts = [f"Then {one.title()} met Ben by the {one}side of {one}." for one in names]
    Index.from_documents(texts, embedder=embed, extractor=Names()).save(tmp_path)
    index = Index.load(tmp_path, embedder=embed, extractor=Names())
    changed = index.add([Document("new", "Then Ebb met Ben.")])
    assert changed.knowledge.tables["names.small"].made is None
    assert (
        changed.knowledge
        == Index.from_documents(
            [*index.documents, Document("new", "Then Ebb met Ben.")],
            embedder=embed,
            extractor=Names(),
        ).knowledge
    )
