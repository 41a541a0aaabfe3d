"""An index whose changes became many is written whole by a thread, while it goes on living."""

from __future__ import annotations

import errno
import logging
import os
import random
import shutil
import subprocess
import sys
import threading

import pytest

from clew import Document, Index, Names
from clew.adapters import load_index
from clew.index.saving import is_newest_saved
from clew.store import manifest, saving, whole_beside
from clew.store.manifest import generations, read_manifest
from clew.store.whole_beside import WRITERS
from tests.conftest import hashed_words
from tests.store.test_changes import every_size, newest, same_record
from tests.store.test_failure import files
from tests.store.test_merged_changes import history


@pytest.fixture(autouse=True)
def _every_size(monkeypatch):
    """Every change is too large, and none is too large for a thread."""
    every_size(monkeypatch)
    monkeypatch.setattr(saving, "MAX_SHARE", 0.0)
    monkeypatch.setattr(saving, "MAX_BYTES", 0)
    monkeypatch.setattr(saving, "MIN_BYTES_BESIDE", 0)
    monkeypatch.setattr(saving, "MAX_SHARE_BESIDE", 1e9)


@pytest.fixture
def index(tmp_path):
    texts = [f"Anna Lee and Ben Low met Cleo at quay {n % 7}. Ferry {n} sails." for n in range(40)]
    documents = [Document(f"d{n}", text) for n, text in enumerate(texts)]
    index = Index.from_documents(documents, embedder=hashed_words, extractor=Names())
    index.save(tmp_path)
    return index


@pytest.fixture
def gate(monkeypatch):
    """What the thread waits for once it has written its files."""
    opened, write = threading.Event(), whole_beside.write_files
    opened.is_reached = threading.Event()

    def waiting(*arguments):
        write(*arguments)
        opened.is_reached.set()
        assert opened.wait(60)

    monkeypatch.setattr(whole_beside, "write_files", waiting)
    yield opened
    opened.set()


def loaded(folder):
    return load_index(folder, {"embedder": hashed_words, "extractor": Names()}, verify="full")[0]


def having(index, number):
    return index.upsert([Document(f"new {number}", f"Anna Lee met Cleo and Dora Li at {number}.")])


def test_a_save_is_of_the_change_and_the_whole_follows(index, tmp_path, gate, caplog):
    index = having(index, 1)
    index.save(tmp_path)
    assert [*newest(tmp_path).changes] == ["changes.00000002"]
    gate.set()
    WRITERS.wait(tmp_path)
    assert newest(tmp_path).changes == {}
    assert newest(tmp_path).same_as[0] == 2
    assert newest(tmp_path).generation == 3
    assert is_newest_saved(index)
    same_record(index, loaded(tmp_path))
    index = having(index, 2)
    index.save(tmp_path)
    assert [*newest(tmp_path).changes] == ["changes.00000004"]
    same_record(index, loaded(tmp_path))
    assert caplog.text == ""


def test_what_is_saved_meanwhile_comes_behind_the_whole(index, tmp_path, gate):
    for number in range(3):
        index = having(index, number)
        index.save(tmp_path)
        assert len(newest(tmp_path).changes) == number + 1
    before = loaded(tmp_path)
    gate.set()
    WRITERS.wait(tmp_path)
    assert len(newest(tmp_path).changes) == 2
    same_record(index, loaded(tmp_path))
    before = before.delete("new 0")
    before.save(tmp_path)  # by one who has opened the same in other files
    WRITERS.wait(tmp_path)
    same_record(before, loaded(tmp_path))


@pytest.mark.parametrize("seed", range(4))
def test_any_history_is_what_is_there_in_the_end(tmp_path, seed, monkeypatch):
    """Also where the thread comes to its end before, between and after other saves."""
    chance, begin, begun = random.Random(seed), WRITERS.begin, []

    def beginning(index, root, manifest):
        begin(index, root, manifest)
        begun.append(manifest.leaves_edges_out)
        if chance.random() < 0.5:
            WRITERS.wait(root)

    monkeypatch.setattr(WRITERS, "begin", beginning)
    index, notes = history(tmp_path, seed, Names(), None, steps=12)
    same_record(index, load_index(tmp_path, {"extractor": Names()}, verify="full")[0])
    WRITERS.wait(tmp_path)
    found, beside = load_index(tmp_path, {"extractor": Names()}, verify="full")
    same_record(index, found)
    assert dict(beside) == notes
    assert any(begun)  # edges are left out
    assert any(read_manifest(file).same_as for file in generations(tmp_path).values())


def test_another_that_is_saved_meanwhile_stays(index, tmp_path, gate):
    having(index, 1).save(tmp_path)
    other = Index.from_documents(["Another."], embedder=hashed_words, extractor=Names())
    other.save(tmp_path)
    there = files(tmp_path)
    gate.set()
    WRITERS.wait(tmp_path)
    assert files(tmp_path).items() <= there.items()
    same_record(other, loaded(tmp_path))


def test_where_the_disk_fails_the_change_is_there_and_a_later_save_tries_again(
    index, tmp_path, monkeypatch, caplog
):
    def failing(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(whole_beside, "write_array", failing)
        index = having(index, 1)
        index.save(tmp_path)
        WRITERS.wait(tmp_path)
    assert "was not written whole: [Errno 28] No space left" in caplog.text
    assert len(newest(tmp_path).changes) == 1
    same_record(index, loaded(tmp_path))
    index = having(index, 2)
    index.save(tmp_path)
    WRITERS.wait(tmp_path)
    assert newest(tmp_path).changes == {}
    same_record(index, loaded(tmp_path))


def test_a_file_that_is_gone_meanwhile_is_not_listed(index, tmp_path, gate, caplog):
    index, there = having(index, 1), files(tmp_path)
    index.save(tmp_path)
    assert gate.is_reached.wait(60)
    new = [file for file in files(tmp_path) if file not in there and "edges" in str(file)]
    (tmp_path / new[0]).unlink()
    gate.set()
    WRITERS.wait(tmp_path)
    assert "cleared away" in caplog.text
    assert len(newest(tmp_path).changes) == 1
    same_record(index, loaded(tmp_path))


def test_a_save_waits_where_there_is_too_much(index, tmp_path, gate, monkeypatch):
    index = having(index, 1)
    index.save(tmp_path)
    monkeypatch.setattr(saving, "MAX_SHARE_BESIDE", 0.0)
    threading.Timer(0.2, gate.set).start()
    index = having(index, 2)
    index.save(tmp_path)
    assert newest(tmp_path).changes == {}
    assert not WRITERS.is_at_work(tmp_path)
    same_record(index, loaded(tmp_path))


def test_a_folder_that_is_deleted_meanwhile_stays_so(index, tmp_path, gate, caplog):
    having(index, 1).save(tmp_path)
    assert gate.is_reached.wait(60)
    shutil.rmtree(tmp_path)
    gate.set()
    WRITERS.wait(tmp_path)
    assert not tmp_path.exists()
    assert caplog.text == ""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_process_saves_without_the_thread(index, tmp_path, gate):
    index = having(index, 1)
    index.save(tmp_path)
    child = os.fork()
    if not child:
        code = 1
        try:
            saving.MIN_BYTES_BESIDE = 1e9  # the child begins no thread, and waits for none
            having(index, 2).save(tmp_path)
            code = int(newest(tmp_path).generation != 3 or bool(newest(tmp_path).changes))
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0
    there = files(tmp_path)
    gate.set()
    WRITERS.wait(tmp_path)
    assert files(tmp_path).items() <= there.items()  # the child has saved another
    same_record(having(index, 2), loaded(tmp_path))


def test_the_generation_before_stays_beside_the_same_in_other_files(index, tmp_path, monkeypatch):
    monkeypatch.setattr(manifest, "MIN_AGE", 0)
    saved = [index]
    for number in range(3):
        saved.append(having(saved[-1], number))
        saved[-1].save(tmp_path)
        WRITERS.wait(tmp_path)
    there = [read_manifest(file) for file in generations(tmp_path).values()]
    assert [(one.generation, (one.same_as or (None,))[0]) for one in there] == [(7, 6), (5, 4)]
    before = Index.load(tmp_path, embedder=hashed_words, extractor=Names(), generation=5)
    same_record(saved[-2], before)


PROGRAM = """
import sys
from clew import Document, Index
from clew.index import in_place
from clew.store import saving, difference
in_place.MIN_PASSAGES = saving.MIN_BYTES = saving.MAX_SHARE = 0
saving.MAX_BYTES = saving.MIN_BYTES_BESIDE = 0
saving.MAX_SHARE_BESIDE = difference.MAX_SHARE = 1e9
index = Index.from_documents([Document(f"d{n}", f"Ferry {n} berths.") for n in range(60)])
index.save(sys.argv[1])
index.add([Document("new", "It sails.")]).save(sys.argv[1])
"""


def test_a_program_that_ends_leaves_the_whole(tmp_path):
    _ = subprocess.run([sys.executable, "-c", PROGRAM, str(tmp_path)], check=True)
    assert newest(tmp_path).same_as[0] == 2
    assert newest(tmp_path).changes == {}
    assert len(Index.load(tmp_path, verify="full")) == 61


def test_two_who_save_are_told_of_each_other_and_not_of_the_thread(index, tmp_path, caplog):
    other = loaded(tmp_path)
    index = having(index, 1)
    index.save(tmp_path)
    WRITERS.wait(tmp_path)
    having(index, 2).save(tmp_path)
    assert caplog.text == ""
    WRITERS.wait(tmp_path)
    with caplog.at_level(logging.WARNING):
        having(other, 3).save(tmp_path)
    assert "was saved by another" in caplog.text
