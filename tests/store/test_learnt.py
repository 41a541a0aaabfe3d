"""What an extractor has learnt is saved with the index, checked, and may be missing."""

from __future__ import annotations

import re

import numpy as np
import pytest

from clew import Document, Index, Names, store
from clew.store.manifest import generations, read_manifest, write_manifest
from clew.store.packing import pack, unpack
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
    arrays = unpack(store.arrays.read_array(folder, entry, mapped=False, full=True))
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
