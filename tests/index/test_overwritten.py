"""A save over what another process has saved since is told of; all other saves are not."""

from __future__ import annotations

import pickle

import pytest

import clew
from clew.index import in_place

DOCUMENTS = [clew.Document("a", "Ferries sail at ten."), clew.Document("b", "Corfu is green.")]


@pytest.fixture(params=["folder", "storage"])
def place(request, tmp_path, monkeypatch):
    monkeypatch.setenv("CLEW_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "index"
    if request.param == "folder":
        return folder
    pytest.importorskip("fsspec")
    return folder.as_uri()


@pytest.mark.parametrize("is_large", [False, True])
def test_of_two_writers_the_second_is_warned_and_the_first_is_still_there(
    place, monkeypatch, caplog, is_large
):
    if is_large:
        monkeypatch.setattr(in_place, "MIN_PASSAGES", 0)
        monkeypatch.setattr(in_place, "MAX_CHANGED", 1e9)
    clew.Index.from_documents(DOCUMENTS).save(place)
    one, other = clew.Index.load(place), clew.Index.load(place)
    one = one.add([clew.Document("c", "Ferries are white.")])
    other = pickle.loads(pickle.dumps(other)).add([clew.Document("d", "The sea is blue.")])
    one.save(place)
    assert not caplog.messages
    other.save(place)
    [said] = caplog.messages
    assert "generation 3 follows generation 1" in said
    assert list(clew.Index.load(place).document_of) == ["a", "b", "d"]
    assert list(clew.Index.load(place, generation=2).document_of) == ["a", "b", "c"]
    other.delete("d").save(place)
    assert caplog.messages == [said], "it has been told, and goes on from there"


def test_who_goes_back_to_an_earlier_generation_is_warned_of_what_came_after_that_alone(
    place, caplog
):
    index = clew.Index.from_documents(DOCUMENTS)
    for id in "cde":
        index.save(place)
        index = index.add([clew.Document(id, f"Quay {id} is of stone.")])
    earlier = clew.Index.load(place, generation=1)
    assert list(earlier.document_of) == ["a", "b"]
    changed = earlier.add([clew.Document("f", "The sea is blue.")])
    changed.save(place)  # as generation 4
    assert list(clew.Index.load(place).document_of) == ["a", "b", "f"]
    changed.delete("f").save(place)
    assert not caplog.messages
    earlier = clew.Index.load(place, generation=4)
    clew.Index.load(place).add([clew.Document("g", "Corfu is warm.")]).save(place)
    earlier.save(place)
    [warning] = caplog.messages
    assert "generation 7 follows generation 5" in warning


def test_who_loads_or_saves_again_is_not_warned(place, tmp_path, caplog):
    index = clew.Index.from_documents(DOCUMENTS)
    index.save(place)
    index.save(place)
    for id in "cde":
        index = index.upsert([clew.Document(id, f"Quay {id} is of stone.")])
        index.save(place)
        index = clew.Index.load(place)
    index.save(tmp_path / "elsewhere")
    index.compact().save(tmp_path / "elsewhere")
    clew.Index.from_documents(DOCUMENTS).save(place)  # it comes from nowhere, and takes the place
    assert not caplog.messages
