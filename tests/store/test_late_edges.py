"""A change leaves out the edges between names that are alike: who loads it makes them when they are wanted."""

from __future__ import annotations

import random
import secrets
from dataclasses import dataclass, replace

import numpy as np
import pytest

from clew import Document, Index, Names, Splitter, store
from clew.graph import DeferredEdges
from clew.index.config import DEFAULT_LINKS, LINKS_OF_NAMES
from clew.link import Synonym
from clew.store import manifest
from clew.store.arrays import read_array
from clew.store.change_files import unpack_change
from clew.store.manifest import generations, read_manifest
from clew.store.packing import pack
from tests.conftest import hashed_words
from tests.index.test_compacted import changed, document
from tests.index.test_deferred_links import files_of
from tests.store.test_changes import every_size, json_format, newest, same_answers, same_record

KEYWORDS = {"extractor": Names(), "splitter": Splitter(24)}


@pytest.fixture
def index(monkeypatch):
    every_size(monkeypatch)
    chance = random.Random(7)
    return Index.from_documents([document(chance, number) for number in range(30)], **KEYWORDS)


def is_late(index):
    return isinstance(index.graph.edges, DeferredEdges) and not index.graph.edges.is_made


def arrays_of(folder):
    """The arrays of every change since the whole generation."""
    entries = newest(folder).changes.values()
    return [unpack_change(read_array(folder, each, mapped=False, full=True)) for each in entries]


def a_change(index, number):
    return index.upsert([document(random.Random(number), number)])


@pytest.mark.parametrize("asked", [False, True])
def test_who_loads_it_makes_the_edges_that_were_there(index, tmp_path, asked, monkeypatch):
    index.save(tmp_path)
    made, on = [], Synonym.on
    monkeypatch.setattr(Synonym, "on", lambda link, graph: made.append(graph) or on(link, graph))
    for number in (3, 40, 3, 41):
        index = a_change(index, number).delete(index.documents[number % 7].id)
        if asked:
            assert index.graph.links().targets.size
        index.save(tmp_path)
    assert len(made) == 4 * asked, "no save makes them"
    assert [json_format(file) for file in generations(tmp_path).values()] == [7, 7, 7, 7, 2]
    for arrays in arrays_of(tmp_path):
        assert b"synonym" in arrays["strings.bytes"].tobytes(), "their kind is named"
        assert len(arrays["edges.late.places"]) == 1
    loaded = Index.load(tmp_path, **KEYWORDS, verify="full")
    assert is_late(loaded)
    assert loaded.graph.edges.kind_names == index.graph.edges.kind_names
    same_answers(index, loaded)
    same_record(index, loaded)
    assert loaded.graph.edges.kinds.mask("synonym").any()
    assert {found.damage for found in store.check(tmp_path)} == {""}
    for generation in (2, 3, 4):
        assert is_late(Index.load(tmp_path, **KEYWORDS, generation=generation))


def test_what_is_loaded_goes_on_and_is_written_whole_as_if_they_had_been_there(
    index, tmp_path, monkeypatch
):
    monkeypatch.setattr(secrets, "token_hex", lambda _: "0" * 16)
    index.save(tmp_path / "a")
    one = a_change(index, 5)
    one.save(tmp_path / "a")
    other = Index.load(tmp_path / "a", **KEYWORDS)
    for each in (6, 50, 7):
        one, other = a_change(one, each), a_change(other, each)
        other.save(tmp_path / "a")
        other = Index.load(tmp_path / "a", **KEYWORDS)
    assert len(newest(tmp_path / "a").changes) == 4
    same_record(one, other)
    for name, each in (("one", one), ("other", other)):
        replace(each, saved_as=None).save(tmp_path / name)
        assert json_format(newest(tmp_path / name).file) == 2
    mine, theirs = (
        {name: raw for name, raw in files_of(tmp_path / each).items() if "/edges." in name}
        for each in ("one", "other")
    )
    assert len(mine) > 5
    assert mine == theirs


def test_rows_that_an_earlier_change_wrote_go_with_those_of_the_whole_generation(
    index, tmp_path, monkeypatch
):
    index.save(tmp_path)
    with monkeypatch.context() as earlier:  # a clew that leaves out nothing
        earlier.setattr("clew.store.saving.late_kinds", lambda index: frozenset())
        for number in (4, 60):
            index = a_change(index, number)
            index.save(tmp_path)
    assert json_format(newest(tmp_path).file) == 3
    index = a_change(index, 61)
    index.save(tmp_path)
    assert len(newest(tmp_path).changes) == 3
    assert ["edges.late.places" in arrays for arrays in arrays_of(tmp_path)] == [False, False, True]
    same_record(index, Index.load(tmp_path, **KEYWORDS, verify="full"))


def test_an_earlier_clew_says_that_it_cannot_open_it(index, tmp_path, monkeypatch):
    index.save(tmp_path)
    a_change(index, 5).save(tmp_path)
    monkeypatch.setattr(manifest, "FORMAT", 6)
    with pytest.raises(
        ValueError, match=r"format [78]; this clew reads 6 and earlier: upgrade clew"
    ):
        Index.load(tmp_path, **KEYWORDS)


def test_after_edges_were_learnt_they_are_there_and_it_is_written_whole(index, tmp_path):
    index.save(tmp_path)
    index = a_change(index, 5)
    index.save(tmp_path)
    learned = index.learn(index.ask("Who sails to Corfu Town?", recipe="kurisu"))
    assert learned.learned
    learned.save(tmp_path)
    assert not newest(tmp_path).changes
    same_record(learned, Index.load(tmp_path, **KEYWORDS))


@dataclass(frozen=True)
class Own(Synonym):
    """A link of the caller's, whose edges nobody else makes."""


OTHERS = {
    "a caller's link": {"links": (*LINKS_OF_NAMES[:-1], Own(0.75, by="words"))},
    "two links": {"links": (*LINKS_OF_NAMES, Synonym(0.9, by="words"))},
    "a canonical form": {"canonical": str.lower},
    "vectors": {"embedder": hashed_words, "links": DEFAULT_LINKS},
}


@pytest.mark.parametrize("variant", OTHERS)
def test_edges_that_another_may_make_are_saved(variant, tmp_path, monkeypatch):
    every_size(monkeypatch)
    chance, keywords = random.Random(3), {**KEYWORDS, **OTHERS[variant]}
    index = Index.from_documents([document(chance, number) for number in range(30)], **keywords)
    index.save(tmp_path)
    index = a_change(index, 5)
    index.save(tmp_path)
    assert not any("edges.late.places" in arrays for arrays in arrays_of(tmp_path))
    own = {name: value for name, value in keywords.items() if name != "extractor"}
    if variant in ("two links", "vectors"):
        own.pop("links")
    loaded = Index.load(tmp_path, extractor=Names(), **own, verify="full")
    assert not is_late(loaded)
    same_record(index, loaded)


def test_places_that_do_not_fit_are_refused_by_the_name_of_the_manifest(index, tmp_path):
    index.save(tmp_path)
    a_change(index, 5).save(tmp_path)
    last = newest(tmp_path)
    [(name, _)] = last.changes.items()
    [arrays] = arrays_of(tmp_path)
    wrong = [
        {**arrays, "edges.late.places": arrays["edges.late.places"] + 10_000},
        {**arrays, "edges.late.places": arrays["edges.late.places"][:0]},
        {**arrays, "edges.late": np.array([len(arrays["strings.starts"]) - 2], np.int32)},
    ]
    for number, some in enumerate(wrong, 9):
        written = store.arrays.write_array(tmp_path, "changes", number, pack(some))
        entries = {**last.entries, name: written}
        file = manifest.write_manifest(tmp_path, number, "0", entries, last.settings).file
        with pytest.raises(ValueError, match=file.name):
            Index.load(tmp_path, **KEYWORDS)
        file.unlink()


def test_many_changes_of_one_kind_of_index_are_loaded_as_they_are(index, tmp_path):
    index.save(tmp_path)
    index = changed(index, random.Random(1), document)
    index.save(tmp_path)
    assert read_manifest(newest(tmp_path).file).leaves_edges_out
    same_record(index, Index.load(tmp_path, **KEYWORDS, verify="full"))


def test_a_document_without_names_leaves_them_as_they_are(index, tmp_path):
    index.save(tmp_path)
    more = index.add([Document("x", "it rains.")])
    more.save(tmp_path)
    same_record(more, Index.load(tmp_path, **KEYWORDS, verify="full"))
