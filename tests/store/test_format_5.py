"""A large index is saved in few bytes, and one that an earlier clew saved in more opens as before."""

from __future__ import annotations

import numpy as np
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from clew import Document, Index, Names, Splitter
from clew.embedding import compact
from clew.store import columns, manifest
from clew.store.manifest import generations, read_manifest
from clew.store.narrow import narrowed, widening
from clew.store.tables import ColumnWriter
from tests.store.test_changes import every_size
from tests.store.test_round_trip import same
from tests.store.test_vector_bags import version_of

NAMES = st.sampled_from(["edges.tails", "edges.read_from.starts", "nodes.bags.terms.columns", "x"])
WHOLE = st.sampled_from([np.int32, np.int64]).flatmap(
    lambda dtype: arrays.arrays(
        dtype,
        st.integers(0, 6),
        elements=st.sampled_from([-(2**31), -129, -128, -1, 0, 1, 127, 255, 256, 65536, 2**31 - 1]),
    )
)


@given(NAMES, WHOLE, st.booleans())
def test_whole_numbers_are_read_as_they_were_written_in_no_more_bytes(name, array, are_starts):
    if are_starts:
        array = np.cumsum(np.append(0, np.abs(array.astype(np.int64))))
    written = narrowed({name: array})
    assert widening(written.__getitem__)(name).tolist() == array.tolist()
    assert sum(one.nbytes for one in written.values()) <= array.nbytes


def documents(n=30):
    text = "# Quay {0}\n\nAnna Bell met Ben at quay {0}.\n\n\n## Ferries\n\n* the Øre leaves at {0} sharp\n* the Ay {0}\n"
    cut = [
        Document(f"d{i}", text.format(i) * (1 + i % 3), {"n": i}, format="markdown")
        for i in range(n)
    ]
    whole = "One piece. Another piece of this text."
    pieces = [
        Document("first", whole[:10], source="d0", span=(0, 10)),
        Document("second", whole[11:], source="unknown", span=(11, len(whole))),
        Document("same", cut[1].text, format="markdown"),
        Document("heading", "A heading", heading=True),
    ]
    return [*cut, *pieces]


def build(extractor):
    return Index.from_documents(documents(), splitter=Splitter(tokens=16), extractor=extractor)


@pytest.fixture(autouse=True)
def of_any_size(monkeypatch):
    every_size(monkeypatch)
    monkeypatch.setattr(compact, "MIN_ROWS", 0)
    monkeypatch.setattr(compact, "MIN_COMPACT", 0)


def sizes_of(folder):
    entries = read_manifest(next(iter(generations(folder).values()))).entries
    return {name: entry.bytes for name, entry in entries.items()}


def test_no_passage_is_written_twice_and_every_document_has_its_text(tmp_path):
    index = build(None)  # facts have words of passages, too
    index.save(tmp_path)
    [frames] = (tmp_path / "data").glob("strings.blocks-*")
    raw = zstandard.decompress(np.load(frames).tobytes())
    assert len(index.graph.rows("passage")) > 60
    for word in ("at quay 7.", "leaves at 12 sharp"):
        assert raw.count(word.encode()) == 1
    loaded = Index.load(tmp_path, verify="full")
    assert loaded.documents == index.documents
    same(loaded.graph, index.graph)


@pytest.mark.parametrize("version", [4, 5])
def test_what_an_earlier_clew_saved_opens_and_changes_as_before(tmp_path, monkeypatch, version):
    index = build(Names())
    index.save(tmp_path / "now")
    with monkeypatch.context() as earlier:
        earlier.setattr(ColumnWriter, "done_in_blocks", ColumnWriter.done)
        earlier.setattr(columns, "compressed", lambda arrays, mapped: arrays)
        earlier.setattr(manifest, "BAGS_FORMAT", version)
        if version == 4:
            earlier.setattr(columns, "narrowed", lambda arrays: arrays)
            earlier.setattr(columns, "parts_of_documents", lambda index: None)
        index.save(tmp_path / "earlier")
    assert (version_of(tmp_path / "earlier"), version_of(tmp_path / "now")) == (version, 6)
    now, before = (sizes_of(tmp_path / name) for name in ("now", "earlier"))
    assert ("documents.text" in before) == (version == 4)
    assert "strings.bytes" in before
    assert "strings.bytes" not in now
    assert sum(now.values()) < 0.8 * sum(before.values())
    opened = Index.load(tmp_path / "earlier", verify="full")
    assert opened.documents == index.documents
    same(opened.graph, index.graph)
    more = opened.add([Document("new", "Anna Bell met Eva at quay 99.")]).delete("d3")
    more.save(tmp_path / "earlier")  # what changed
    assert version_of(tmp_path / "earlier") == 7  # what changed leaves edges out
    again = Index.load(tmp_path / "earlier")
    assert again.documents == more.documents
    same(again.graph, more.graph)
