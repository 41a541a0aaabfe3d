"""Many changes become one, which makes the same record."""

from __future__ import annotations

import errno
import random
from dataclasses import fields, replace

import numpy as np
import pytest

from clew import Document, Index, Names, NamesAndSymbols, Splitter
from clew.adapters import load_index, save_index
from clew.read import known_files
from clew.store import difference, saving
from clew.store.change_files import pack_change, unpack_change
from clew.store.loading import read_generation, read_some
from clew.store.manifest import CHANGE, generations, read_manifest
from clew.store.merged_changes import NEEDED, Beginning, merged
from clew.store.tables import ColumnReader
from clew.store.with_changes import with_changes
from tests.conftest import hashed_words
from tests.index.test_compacted import document
from tests.store.test_changes import every_size, newest, program, same_record
from tests.store.test_failure import failing, files
from tests.store.test_round_trip import same

PEOPLE = ("Anna", "Ben", "Cleo", "Dora", "Emil")
ISLES = ("Corfu", "Delos", "Naxos", "Paros")


@pytest.fixture(autouse=True)
def _every_size(monkeypatch):
    every_size(monkeypatch)


def random_document(chance, number):
    """A document with something in every column, at times a program."""
    lines = [
        (chance.choice(PEOPLE), chance.choice(ISLES), chance.choice(PEOPLE))
        for _ in range(chance.randrange(1, 4))
    ]
    if number > 9:
        return program(number, (lines, [], None))
    text = "\n\n".join(
        f"{a} met {c} in {b}. The ferry of {c} sails at {number}." for a, b, c in lines
    )
    return Document(
        f"d{number}",
        text,
        {"number": number, "isle": [lines[0][1]]},
        source=chance.choice([None, "book"]),
        span=chance.choice([None, (3, 3 + len(text))]),
        embedded_as=chance.choice([None, "ferries"]),
        references=tuple({f"d{chance.randrange(12)}" for _ in range(chance.randrange(3))}),
    )


def facts_of(chance, documents):
    return {
        one.id: [(chance.choice(PEOPLE), "lives in", chance.choice(ISLES))]
        for one in documents
        if chance.random() < 0.5
    }


def random_change(chance, index):
    """The index after a change, and what is saved beside it."""
    ids = [one.id for one in index.documents]
    some = [random_document(chance, n) for n in chance.sample(range(12), chance.randrange(1, 4))]
    what = chance.randrange(4)
    if what == 0 and len(ids) > 2:
        index = index.delete(chance.sample(ids, chance.randrange(1, 3)))
    elif what == 1:
        index = replace(index, skipped=((f"photo {chance.randrange(3)}", "no text"),))
    else:
        index = index.upsert(some, facts=facts_of(chance, some))
    notes = {f"note {n}": chance.choice("ab") for n in range(4) if chance.random() < 0.6}
    return index, notes


def history(folder, seed, extractor, embedder, steps=12):
    """Save an index and changes of it to a folder; return the last one."""
    chance = random.Random(seed)
    documents = [random_document(chance, n) for n in chance.sample(range(12), 6)]
    index = Index.from_documents(
        documents,
        facts=facts_of(chance, documents),
        embedder=embedder,
        extractor=extractor,
        splitter=Splitter(12),
    )
    notes = {"note 1": "first"}
    save_index(index, folder, notes)
    for _ in range(steps):
        if chance.random() < 0.3:
            index.ask("Who met Anna in Corfu?")
        index, notes = random_change(chance, index)
        save_index(index, folder, notes)
    return index, notes


def stored(folder):
    """What the generation with most changes holds: its whole columns, their beginning, the changes."""
    manifests = [read_manifest(file) for file in generations(folder).values()]
    manifest = max(manifests, key=lambda each: len(each.changes))
    wholes = [n.generation for n in manifests if not n.changes and n.whole == manifest.whole]
    columns = read_generation(folder, "full", wholes[0], len)[1]
    arrays = read_some(folder, manifest, (*NEEDED, CHANGE))
    beginning = Beginning.read(ColumnReader(arrays.__getitem__))
    return columns, beginning, [unpack_change(arrays[name]) for name in manifest.changes]


def one_of(beginning, changes):
    return unpack_change(pack_change(merged(beginning, changes)).data)


def same_columns(one, other):
    for field in fields(one):
        same(getattr(one, field.name), getattr(other, field.name), field.name)


def same_arrays(one, other):
    assert one.keys() == other.keys()
    for name, array in one.items():
        assert array.dtype == other[name].dtype, name
        assert np.array_equal(array, other[name]), name


@pytest.mark.parametrize(
    "extractor", [None, Names(), NamesAndSymbols()], ids=["none", "names", "symbols"]
)
@pytest.mark.parametrize("embedder", [None, hashed_words], ids=["fitted", "hashed"])
@pytest.mark.parametrize("seed", range(4))
def test_one_change_makes_the_record_that_many_make(tmp_path, extractor, embedder, seed):
    history(tmp_path, seed, extractor, embedder)
    columns, beginning, changes = stored(tmp_path)
    assert len(changes) > 1
    all_at_once = one_of(beginning, changes)
    for n in range(1, len(changes) + 1):
        same_columns(
            with_changes(columns, changes[:n]),
            with_changes(columns, [one_of(beginning, changes[:n])]),
        )
        same_arrays(one_of(beginning, [one_of(beginning, changes[:n]), *changes[n:]]), all_at_once)


@pytest.mark.parametrize("late", [(), (31, 32, 3, 4), (32, 3, 4)], ids=str)
def test_edges_are_left_out_by_some_changes(tmp_path, monkeypatch, late):
    """Those between names that are alike: by none of the changes, by all, or from one on."""
    index = Index.from_documents(
        [document(random.Random(n), n) for n in range(30)], extractor=Names(), splitter=Splitter(24)
    )
    index.save(tmp_path)
    for number in (31, 32, 3, 4):
        with monkeypatch.context() as patch:
            if number not in late:
                patch.setattr(saving, "late_kinds", lambda _: frozenset())
            index = index.upsert([document(random.Random(number), number)])
            index.save(tmp_path)
    columns, beginning, changes = stored(tmp_path)
    assert "synonym" in columns.graph.edges.kinds.names
    wanted = [number in late for number in (31, 32, 3, 4)]
    assert [".late" in name for name in newest(tmp_path).changes] == wanted
    for n in range(1, len(changes) + 1):
        same_columns(
            with_changes(columns, changes[:n]),
            with_changes(columns, [one_of(beginning, changes[:n])]),
        )


@pytest.mark.parametrize("unknown", [(), (0,), (1,), (2,), (0, 2)], ids=str)
def test_what_files_gave_is_unknown_from_a_change_of_an_earlier_version_on(
    tmp_path, monkeypatch, unknown
):
    """Such a change does not say it; files that are read after it are known again."""
    monkeypatch.setattr(known_files, "SAFE_NANOSECONDS", -(10**12))  # none is too young
    folder, saved = tmp_path / "docs", tmp_path / "saved"
    folder.mkdir()
    for name in ("ferry.md", "moon.md", "quay.md"):
        (folder / name).write_text(f"# {name}\n\nFerries sail by the moon.")
    index = Index.from_documents(folder, embedder=hashed_words)
    index.save(saved)
    for number in range(3):
        (folder / f"new {number}.md").write_text(f"# New\n\nFerry {number} sails.")
        (folder / "moon.md").write_text(f"# Moon\n\nIt is full at {number}.")
        index = index.sync(folder)
        with monkeypatch.context() as patch:
            if number in unknown:
                patch.setattr(difference, "write_changed_readings", lambda *_: None)
            index.save(saved)
        index = Index.load(saved, embedder=hashed_words)
    columns, beginning, changes = stored(saved)
    assert len(changes) == 3
    many, one = (with_changes(columns, some) for some in (changes, [one_of(beginning, changes)]))
    same_columns(many, one)
    assert (len(one.files) > 0) is (2 not in unknown)


def test_more_than_some_changes_become_one(tmp_path, monkeypatch):
    monkeypatch.setattr(saving, "MAX_CHANGES", 3)
    index, notes = history(tmp_path, 11, Names(), None, steps=9)
    there = {file: len(read_manifest(file).changes) for file in generations(tmp_path).values()}
    assert sorted(there.values()) == [0, 1, 1, 1, 2, 2, 2, 3, 3, 3]
    loaded, beside = load_index(tmp_path, {"extractor": Names()}, verify="full")
    same_record(index, loaded)
    assert dict(beside) == notes


def test_what_has_changed_again_and_again_is_written_once(tmp_path, monkeypatch):
    """So it need not be written whole, where as much that is new is."""
    monkeypatch.setattr(saving, "MAX_SHARE", 0.0)
    for is_new in (False, True):
        folder = tmp_path / str(is_new)
        index = Index.from_documents(
            [Document(f"d{n}", f"Ferry {n} berths at quay {n % 7}.") for n in range(60)],
            embedder=hashed_words,
        )
        index.save(folder)
        sizes, counts = [], []
        for n in range(40):
            one = Document(f"new {n * is_new}", f"The ferry sails at {n}.")
            index = index.upsert([one])
            if n == 2:
                size = sum(entry.bytes for entry in newest(folder).changes.values())
                monkeypatch.setattr(saving, "MAX_BYTES", 4 * size)
            index.save(folder)
            manifest = newest(folder)
            sizes.append(sum(entry.bytes for entry in manifest.changes.values()))
            counts.append(len(manifest.changes))
        assert max(sizes) <= saving.MAX_BYTES
        wholes = counts.count(0)
        assert (wholes > 0) is is_new, counts
        assert 1 in counts[10:]
        same_record(index, Index.load(folder, embedder=hashed_words, verify="full"))
        monkeypatch.setattr(saving, "MAX_BYTES", 1 << 20)


@pytest.fixture
def with_two_changes(tmp_path, monkeypatch):
    """An index that is saved with as many changes as there may be."""
    monkeypatch.setattr(saving, "MAX_CHANGES", 2)
    index, _ = history(tmp_path, 3, None, hashed_words, steps=0)
    for n in range(2):
        index = index.upsert([Document(f"new {n}", "The ferry sails.")])
        index.save(tmp_path)
    return index


def test_where_a_change_is_damaged_the_index_is_written_whole(
    with_two_changes, tmp_path, monkeypatch, caplog
):
    def damaged(*arguments):
        raise ValueError("data/changes-00000002 is damaged")

    monkeypatch.setattr(saving, "read_some", damaged)
    index = with_two_changes.delete("new 0")
    index.save(tmp_path)
    assert newest(tmp_path).changes == {}
    assert "changes-00000002 is damaged" in caplog.text
    same_record(index, Index.load(tmp_path, embedder=hashed_words, verify="full"))


@pytest.mark.parametrize("at", range(4))
def test_where_the_disk_fails_the_changes_are_there_as_they_were(
    with_two_changes, tmp_path, monkeypatch, at
):
    before = files(tmp_path)
    with monkeypatch.context() as patch:
        failing(patch, at, OSError(errno.ENOSPC, "No space left on device"))
        with pytest.raises(OSError, match="was not saved"):
            with_two_changes.delete("new 0").save(tmp_path)
    assert files(tmp_path).items() >= before.items()
    same_record(with_two_changes, Index.load(tmp_path, embedder=hashed_words, verify="full"))


def test_no_array_of_texts_vectors_or_edges_is_read(tmp_path):
    """But for the kinds of edges, and a small one of each table."""
    history(tmp_path, 5, Names(), None)
    names = {*read_some(tmp_path, newest(tmp_path), (*NEEDED, CHANGE))}
    assert {"strings.bytes", "edges.kinds.codes"} <= names
    assert not {"nodes.texts", "nodes.vectors", "edges.tails", "documents.text"} & names
