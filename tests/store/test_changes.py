"""A save after a small change writes the change, and what is loaded is what was saved, to the bit."""

from __future__ import annotations

import errno
import os
import pickle
import re
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from clew import HNSW, Document, Index, Names, NamesAndSymbols, Splitter, store
from clew.adapters import load_index, save_index
from clew.cli import main
from clew.embedding import compact
from clew.index import in_place
from clew.seed.bm25 import InvertedIndexPart
from clew.store import difference, manifest, row_changes, saving, tables
from clew.store.change_files import unpack_change
from clew.store.lock import locked
from clew.store.manifest import generations, read_manifest
from clew.store.packing import pack
from clew.store.row_changes import change_of_numbers, change_of_objects
from clew.store.saved_index import SavedAs
from clew.store.whole_beside import WRITERS
from tests.conftest import hashed_words
from tests.index.test_in_place import MADE, document
from tests.store.test_damage import aged, damages, flipped, hashed
from tests.store.test_failure import failing, files
from tests.store.test_round_trip import same

__all__ = ["hashed"]  # a fixture
QUESTION = "Who lives on Corfu, and what did Anna build?"
SOME = st.lists(
    st.tuples(st.integers(0, 11), MADE), min_size=1, max_size=3, unique_by=lambda pair: pair[0]
)


@pytest.fixture
def at_any_size(monkeypatch):
    every_size(monkeypatch)


def every_size(patch):
    """Let the smallest index be changed in place, and let any change be written as one."""
    patch.setattr(in_place, "MIN_PASSAGES", 0)
    patch.setattr(in_place, "MAX_CHANGED", 1e9)
    patch.setattr(saving, "MIN_BYTES", 0)
    patch.setattr(saving, "MAX_SHARE", 1e9)
    patch.setattr(difference, "MAX_SHARE", 1.0)


def program(number, made):
    """A file of source code that calls what another one may define."""
    lines = [f"def meet_{a}():\n    meet_{b}()" for a, _, b in made[0]]
    return Document(f"d{number}", "\n".join(["from d10 import *", *lines]), format="python")


def documents_of(made, with_vectors=False):
    documents, facts = [], {}
    for number, each in made:
        one = document(number, each) if number < 10 else program(number, each)
        if with_vectors and number % 2:
            one = replace(one, vector=hashed_words([one.text])[0])
        documents.append(one)
        if each[1]:
            facts[one.id] = each[1]
    return documents, facts


def same_record(one, other):
    """Whether two indexes have the same columns, to the bit, and all else that is saved."""
    for name in ("graph", "documents", "facts", "skipped", "failed", "changed", "fitted"):
        same(getattr(one, name), getattr(other, name), name)
    assert dict(one.extracted) == dict(other.extracted)
    assert one.knowledge == other.knowledge
    if one.knowledge is not None:  # places in it are written, so that it has an order
        tables = zip(one.knowledge.tables.values(), other.knowledge.tables.values(), strict=True)
        assert all(list(mine) == list(theirs) for mine, theirs in tables)
    graph = one.graph  # which lacks the vector of a document that was cut
    for mine, theirs in zip(one.documents, other.documents, strict=True):
        if (
            mine.vector is not None
            and graph.has(mine.id)
            and graph.vectors[row := graph.row(mine.id)].any()
        ):
            assert theirs.vector.tobytes() == graph.vectors[row].tobytes()
            assert np.abs(theirs.vector - mine.vector).max() < 1e-6  # which may be of doubles


def words_of(graph):
    """How often each passage has each stem, by what the graph keeps of its words."""
    words = graph.part(InvertedIndexPart())
    counts = {graph.ids[row]: {} for row in words.rows.tolist()}
    ids = list(counts)
    assert len(words.postings) == len(ids) == len(graph.rows(*InvertedIndexPart().kinds))
    for stem, number in words.stems.items():
        for text, count in zip(*map(list, words.postings.of_term(number)), strict=True):
            counts[ids[text]][stem] = count
    return counts


def same_answers(one, other):
    for recipe in ("bm25", "fused", "kurisu"):
        mine, theirs = (each.ask(QUESTION, recipe=recipe, budget=60) for each in (one, other))
        assert mine.text == theirs.text
        assert [item.score for item in mine] == [item.score for item in theirs]


class Saves(RuleBasedStateMachine):
    """An index that changes, is saved and loaded anywhere; every load is the index that was saved."""

    @initialize(
        made=SOME,
        vectors=st.booleans(),
        fitted=st.booleans(),
        extractor=st.sampled_from([None, Names(), NamesAndSymbols()]),
        are_stored=st.booleans(),
    )
    def build(self, made, vectors, fitted, extractor, are_stored):
        self.patch = pytest.MonkeyPatch()
        every_size(self.patch)
        if are_stored:  # its texts, as those of a large index are
            self.patch.setattr(tables, "MIN_STORED", 0)
        self.patch.setattr(saving, "MAX_CHANGES", 3)
        self.patch.setattr(store.disk, "sync", lambda _: None)
        self.patch.setattr(saving, "MIN_BYTES_BESIDE", 0)
        self.patch.setattr(saving, "MAX_SHARE_BESIDE", 1e9)
        self.patch.setattr(WRITERS, "begin", lambda *a: self.begun.setdefault(a[1].name, a))
        self.patch.setattr(WRITERS, "is_at_work", lambda root: root.name in self.begun)
        self.begun = {}  # what threads would write by now, by the folder
        self.folder = Path(tempfile.mkdtemp())
        self.vectors, self.embedder = vectors and not fitted, None if fitted else hashed_words
        documents, facts = documents_of(made, self.vectors)
        self.index = Index.from_documents(
            documents,
            facts=facts,
            embedder=self.embedder,
            splitter=Splitter(12),
            extractor=extractor,
        )
        self.asked = False
        self.saved = {}

    @rule(made=SOME)
    def add(self, made):
        there = {document.id for document in self.index.documents}
        documents, facts = documents_of(
            [each for each in made if f"d{each[0]}" not in there], self.vectors
        )
        if documents:
            self.index = self.index.add(documents, facts=facts)

    @rule(made=SOME)
    def upsert(self, made):
        documents, facts = documents_of(made, self.vectors)
        self.index = self.index.upsert(documents, facts=facts)

    @rule(made=SOME)
    def sync(self, made):
        documents, facts = documents_of(made, self.vectors)
        left = [document for document in self.index.documents if document.id != documents[0].id]
        facts |= {one.id: self.index.facts[one.id] for one in left if one.id in self.index.facts}
        others = [one for one in left if one.id not in {each.id for each in documents}]
        self.index = self.index.sync([*others, *documents], facts=facts)

    @precondition(lambda self: len(self.index) > 1)
    @rule(data=st.data())
    def delete(self, data):
        ids = [document.id for document in self.index.documents]
        self.index = self.index.delete(
            data.draw(st.sets(st.sampled_from(ids), min_size=1, max_size=len(ids) - 1))
        )

    @rule()
    def compact(self):
        self.index = self.index.compact()

    @rule()
    def ask(self):
        self.index.ask(QUESTION)

    @rule(
        where=st.sampled_from("ab"),
        note=st.sampled_from(["", "one", "two"]),
        is_too_large=st.booleans(),
    )
    def save(self, where, note, is_too_large):
        attachments = {"note": note, f"note {note}": "x"} if note else {}
        with self.patch.context() as patch:
            if is_too_large:  # so that a thread writes the whole
                patch.setattr(saving, "MAX_SHARE", 0)
                patch.setattr(saving, "MAX_BYTES", 0)
            save_index(self.index, self.folder / where, attachments)
        self.saved[where] = self.index, attachments

    @precondition(lambda self: self.begun)
    @rule(data=st.data())
    def write_whole(self, data):
        begun = self.begun.pop(data.draw(st.sampled_from(sorted(self.begun))))
        with self.patch.context() as patch:
            patch.delattr(WRITERS, "begin")
            patch.delattr(WRITERS, "is_at_work")
            WRITERS.begin(*begun)
            WRITERS.wait(begun[1])

    @precondition(lambda self: self.saved)
    @rule(data=st.data(), go_on=st.booleans())
    def load(self, data, go_on):
        where = data.draw(st.sampled_from(sorted(self.saved)))
        index, attachments = self.saved[where]
        loaded, others = load_index(self.folder / where, {"embedder": self.embedder}, verify="full")
        assert dict(others) == attachments
        same_record(index, loaded)
        assert words_of(index.graph) == words_of(loaded.graph)
        same_answers(index, loaded)
        assert {found.damage for found in store.check(self.folder / where)} == {""}
        if go_on:
            self.index = loaded

    def teardown(self):
        if hasattr(self, "folder"):
            self.patch.undo()
            shutil.rmtree(self.folder)


TestSaves = Saves.TestCase
TestSaves.settings = settings(
    max_examples=settings().max_examples // 4, stateful_step_count=14, deadline=None
)


@pytest.mark.slow
def test_many_saves():
    from hypothesis.stateful import run_state_machine_as_test

    run_state_machine_as_test(
        Saves, settings=settings(max_examples=60, stateful_step_count=30, deadline=None)
    )


def corpus(n, start=0):
    return [
        Document(f"d{i}", f"Ferry {i} berths at quay {i * 7 % 41} in Corfu.")
        for i in range(start, start + n)
    ]


@pytest.fixture
def changed(embed, tmp_path, at_any_size):
    """A folder with a whole generation and two changes, and the index that it holds."""
    index = Index.from_documents(
        corpus(40), embedder=embed, facts={"d3": [("Anna", "sails to", "Corfu")]}
    )
    index.save(tmp_path / "index")
    for one in corpus(2, start=40):
        index = index.add([one], facts={one.id: [("Ben", "sails to", "Corfu")]})
        index = index.delete(f"d{index.changed}")
        index.save(tmp_path / "index")
    return tmp_path / "index", index


def newest(folder):
    return read_manifest(next(iter(generations(folder).values())))


OTHERS = {  # each is put in the place of the last document
    "text": Document("last", "# Isles\n\nA zebra.\n\nA lion.", format="markdown"),
    "heading": Document("last", "# Quays\n\nA ferry.\n\nA port.", format="markdown"),
    "title": Document("last", "A ferry.\n\nA port.", {"title": "Isles of zebras"}),
    "fewer passages": Document("last", "A ferry.", format="markdown"),
}


@pytest.mark.parametrize("approximate", [False, True])
@pytest.mark.parametrize("other", OTHERS)
def test_the_last_document_is_another_one_under_the_same_id(
    tmp_path, at_any_size, other, approximate
):
    """Its nodes are in the places of those before, with the same ids, and have words of their own."""
    last = Document("last", "# Isles\n\nA ferry.\n\nA port.", format="markdown")
    keywords = {"splitter": Splitter(5), "embedder": hashed_words}
    if approximate:
        keywords["nearest"] = HNSW()
    index = Index.from_documents([*corpus(20), last], **keywords)
    index.save(tmp_path)
    index.ask("ferry", recipe="bm25")
    index = index.upsert([OTHERS[other]])
    index.save(tmp_path)
    assert len(newest(tmp_path).changes) == 1
    loaded = Index.load(tmp_path, embedder=hashed_words)
    same_record(index, loaded)
    anew = replace(loaded.graph)
    assert words_of(loaded.graph) == words_of(anew) == words_of(index.graph)
    same_answers(index, loaded)
    if approximate:
        nearest, rows = loaded.graph.known_part(loaded.config.nearest), loaded.graph.rows("passage")
        found = {row: nearest.search(loaded.graph.vectors[row], 30)[1][0] for row in rows.tolist()}
        assert min(found.values()) > 1 - 1e-6, "every passage finds itself"


def test_a_change_is_one_file_beside_those_that_are_there(embed, changed):
    folder, index = changed
    first, second, third = (read_manifest(generations(folder)[n]) for n in (1, 2, 3))
    assert not first.changes
    assert second.entries == {**first.entries, **second.changes}
    assert third.entries == {
        **second.entries,
        "changes.00000003": third.changes["changes.00000003"],
    }
    assert len(list((folder / "data").iterdir())) == len(third.entries)
    assert [json_format(generations(folder)[n]) for n in (1, 2, 3)] == [2, 3, 3]
    same_record(index, Index.load(folder, embedder=embed, verify="full"))
    before = Index.load(folder, embedder=embed, generation=2)
    assert [one.id for one in before.documents] == [f"d{i}" for i in range(41) if i != 1]


def json_format(file):
    import json

    return json.loads(file.read_bytes())["index"]["format"]


def test_what_a_large_index_writes_grows_with_the_change(tmp_path, monkeypatch):
    monkeypatch.setattr(
        compact, "MIN_COMPACT", 10**9
    )  # packed, these few words take next to nothing
    index = Index.from_documents(corpus(1500), embedder=hashed_words)
    index.save(tmp_path)
    whole = sum(file.stat().st_size for file in tmp_path.rglob("*") if file.is_file())
    index = index.add(corpus(1, start=5000)).delete("d7").upsert([Document("d8", "A zebra.")])
    index.save(tmp_path)
    now = sum(file.stat().st_size for file in tmp_path.rglob("*") if file.is_file())
    assert len(newest(tmp_path).changes) == 1
    assert now - whole < whole / 20
    loaded = Index.load(tmp_path, embedder=hashed_words)
    same_record(index, loaded)
    assert loaded.ask("zebra", recipe="bm25", limit=1).ids == ["d8"]


def test_after_a_number_of_bytes_it_is_written_whole(embed, changed, monkeypatch):
    folder, index = changed
    monkeypatch.setattr(saving, "MAX_SHARE", 0.0)
    monkeypatch.setattr(saving, "MAX_BYTES", 0)
    index = index.add([Document("y", "Two.")])
    index.save(folder)
    assert newest(folder).changes == {}
    same_record(index, Index.load(folder, embedder=embed, verify="full"))


@pytest.mark.parametrize(
    "meanwhile",
    [
        lambda folder, index: replace(index, saved_as=None).save(folder),
        lambda folder, index: next(iter(generations(folder).values())).write_text("{}"),
        lambda folder, index: shutil.rmtree(folder),
        lambda folder, index: (
            folder.rename(folder.with_name("b")),
            shutil.copytree(folder.with_name("b"), folder),
        ),
        lambda folder, index: next((folder / "data").glob("nodes.ids-*")).unlink(),
        lambda folder, index: os.utime(next((folder / "data").glob("nodes.ids-*")), (1, 1)),
        lambda folder, index: next(iter(generations(folder).values())).unlink(),
    ],
    ids=["saved", "damaged", "deleted", "copied", "file lost", "file touched", "manifest lost"],
)
def test_what_happened_to_the_folder_meanwhile_makes_the_next_save_whole(embed, changed, meanwhile):
    folder, index = changed
    meanwhile(folder, index)
    index = index.add([Document("x", "One.")])
    index.save(folder)
    assert newest(folder).changes == {}
    same_record(index, Index.load(folder, embedder=embed, verify="full"))


def test_what_is_no_plain_change_is_written_whole(embed, changed):
    folder, index = changed
    kurisu = index.learn(index.ask("Who sails to Corfu?", recipe="kurisu"))
    for other in (index.compact(), kurisu):
        other.save(folder)
        assert newest(folder).changes == {}
        same_record(other, Index.load(folder, embedder=embed))


def test_the_record_of_what_is_saved_keeps_no_part_and_is_not_pickled(changed):
    _, index = changed
    index.ask("Corfu")
    assert isinstance(index.saved_as, SavedAs)
    assert not hasattr(index.saved_as.index.graph, "_parts")
    assert pickle.loads(pickle.dumps(index.saved_as)) is None


def test_every_damage_of_a_change_is_named_with_a_generation_that_is_whole(embed, changed):
    folder, _ = changed
    for number in (2, 3):
        [file] = (folder / "data").glob(f"changes-0000000{number}-*")
        raw = file.read_bytes()
        step = max(1, len(raw) // 200)
        cases = [*damages(raw), *((str(at), flipped(raw, at)) for at in range(0, len(raw), step))]
        for what, damaged in cases:
            file.write_bytes(damaged)
            with pytest.raises(ValueError, match=re.escape(file.name)) as error:
                Index.load(folder, embedder=embed)
            assert "damaged" in str(error.value), what
            assert f"load(path, generation={number - 1})" in str(error.value)
        found = {each.generation: each.damage for each in store.check(folder)}
        assert all(file.name in found[n] if n >= number else found[n] == "" for n in (1, 2, 3))
        file.unlink()
        with pytest.raises(ValueError, match=rf"{re.escape(file.name)} is missing, though"):
            Index.load(folder, embedder=embed)
        file.write_bytes(raw)
    Index.load(folder, embedder=embed, verify="full")


def test_a_change_that_does_not_fit_is_refused_by_the_name_of_its_manifest(embed, changed):
    folder, _ = changed
    last = newest(folder)
    name, entry = list(last.changes.items())[-1]
    arrays = unpack_change(store.arrays.read_array(folder, entry, mapped=False, full=True))
    wrong = [
        {**arrays, "nodes.gone": np.array([99], np.int32)},
        {**arrays, "nodes.new": np.array([-1], np.int32)},
        {**arrays, "nodes.texts": arrays["nodes.texts"][:-1]},
        {**arrays, "nodes.documents": arrays["nodes.documents"] + 1000},
        {**arrays, "edges.heads": arrays["edges.heads"] + 1000},
        {**arrays, "documents.new": np.array([0, 1, 2], np.int32)},
        {n: array for n, array in arrays.items() if n != "facts.subjects"},
        {n: array for n, array in arrays.items() if n != "strings.bytes"},
    ]
    packs = [*map(pack, wrong), np.zeros(3, np.uint8), np.full(64, 255, np.uint8)]
    for packed in packs:
        written = store.arrays.write_array(folder, "changes", 9, np.asarray(packed))
        entries = {**last.entries, name: written}
        file = manifest.write_manifest(folder, 9, "0", entries, last.settings).file
        with pytest.raises(ValueError, match=r"MANIFEST-00000009\.json"):
            Index.load(folder, embedder=embed)
        file.unlink()


@pytest.mark.parametrize(
    "error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()]
)
def test_whichever_call_of_a_change_fails_all_stays_as_it_was(embed, changed, monkeypatch, error):
    folder, index = changed
    before, ids = files(folder), [one.id for one in index.documents]
    index = index.add([Document("x", "One.")])
    at = 0
    while True:
        with monkeypatch.context() as patched:
            calls = failing(patched, at, error)
            try:
                index.save(folder)
            except type(error):
                if 4 in generations(folder):  # the manifest has its name: only a sync failed
                    break
            else:
                raise AssertionError(f"no call failed of {next(calls)}")
        assert files(folder) == before
        assert [one.id for one in Index.load(folder, embedder=embed).documents] == ids
        at += 1
    assert at > 7
    same_record(index, Index.load(folder, embedder=embed, verify="full"))
    index.save(folder)
    assert newest(folder).changes == {}, "what may be lost is written again, whole"


def test_a_second_writer_is_refused_and_a_later_one_writes_over_what_it_has_not_seen(
    embed, changed
):
    folder, index = changed
    one, other = index.add([Document("x", "One.")]), index.add([Document("y", "Two.")])
    with locked(folder), pytest.raises(BlockingIOError, match="is saving an index"):
        one.save(folder)
    one.save(folder)
    other.save(folder)
    assert newest(folder).changes == {}
    same_record(other, Index.load(folder, embedder=embed, verify="full"))


def test_old_changes_are_cleared_away_with_the_generation_that_they_follow(
    embed, changed, monkeypatch
):
    folder, index = changed
    monkeypatch.setattr(manifest, "MIN_AGE", 0.0)
    replace(index, saved_as=None).save(folder)
    assert sorted(generations(folder)) == [3, 4], "the one before has all its files"
    same_record(index, Index.load(folder, embedder=embed, generation=3, verify="full"))
    replace(index, saved_as=None).save(folder)
    assert sorted(generations(folder)) == [4, 5]
    assert not list((folder / "data").glob("changes-*"))


@pytest.mark.parametrize("window", [2, 1024])
@pytest.mark.parametrize("runs", [2, 1000])
@pytest.mark.parametrize("seed", range(20))
def test_rows_are_found_again_as_by_definition(seed, window, runs, monkeypatch):
    monkeypatch.setattr(row_changes, "WINDOW", window)
    monkeypatch.setattr(row_changes, "MAX_RUNS", runs)
    chance = np.random.default_rng(seed)
    before = chance.integers(-1, 9, chance.integers(0, 30))
    after = chance.integers(0, 9, chance.integers(0, 30))
    if seed % 2:  # a few changes of a long list
        before = chance.permutation(200)
        after = np.insert(np.delete(before, [3, 70, 71]), [0, 50, 197], [300, 301, 302])
    changes = [change_of_numbers([before], [after], before < 0)]
    if len({*before}) == len(before) and len({*after}) == len(after):
        changes.append(change_of_objects(before.tolist(), after.tolist()))
    for change in changes:
        kept = before[change.kept_before]
        assert kept.tolist() == after[change.kept_after].tolist()
        assert (np.diff(change.kept_before) > 0).all()
        assert (np.diff(change.kept_after) > 0).all()
        assert (kept >= 0).all()
        numbers = dict(zip(change.kept_before.tolist(), change.kept_after.tolist(), strict=True))
        assert change.numbering.tolist() == [numbers.get(row, -1) for row in range(len(before))]
        if seed % 2:
            assert (change.gone.tolist(), change.new.tolist()) == ([3, 70, 71], [0, 51, 199])


def test_the_vector_of_a_document_that_moved_is_still_known_after_loading(
    embed, tmp_path, at_any_size
):
    """A document of more nodes than are looked at, which stands before it, is put in its place anew."""
    given = np.eye(24, dtype=np.float32)[3]
    long = [f"Ferry {i} sails to Delos at nine." for i in range(80)]
    index = Index.from_documents(
        [*corpus(40), Document("long", "\n\n".join(long))], embedder=embed, splitter=Splitter(8)
    )
    index.save(tmp_path)
    index = index.upsert([Document("own", "The sea.", vector=given)])
    index.save(tmp_path)
    index = index.upsert([Document("long", "\n\n".join([*long[:-1], "A zebra sleeps."]))])
    index.save(tmp_path)
    assert len(newest(tmp_path).changes) == 2
    loaded = Index.load(tmp_path, embedder=embed, verify="full")
    assert np.array_equal(loaded.document_of["own"].vector, given)
    same_record(index.compact(), loaded.compact())


def test_vectors_that_were_found_whole_are_not_hashed_again_after_a_change(embed, changed, hashed):
    folder, _ = changed
    aged(folder)
    index = Index.load(folder, embedder=embed)
    n = len(hashed)
    assert n > 0
    index.add([Document("x", "One.")]).save(folder)
    assert len(newest(folder).changes) == 3
    Index.load(folder, embedder=embed)
    assert len(hashed) == n


def test_the_command_saves_what_has_changed_in_the_folder(
    tmp_path, monkeypatch, at_any_size, capsys
):
    monkeypatch.setenv("CLEW_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("clew.read.known_files.SAFE_NANOSECONDS", -(10**12))
    folder, output = tmp_path / "notes", tmp_path / "notes.clew"
    folder.mkdir()
    for i in range(9):
        (folder / f"{i}.txt").write_text(f"Ferry {i} berths at quay {i}.")
    ask = ["ask", str(folder), "Which ferry berths at quay 3?"]
    for commands in range(2):
        assert main(["index", str(folder), "-o", str(output)]) == 0
        assert main(ask) == 0
        (folder / "3.txt").write_text("A zebra berths at quay 3.")
        [cached] = (tmp_path / "cache").glob("*/index")
        for saved in (output, cached):
            assert len(newest(saved).changes) == commands
    assert "zebra" in capsys.readouterr().out
    assert main(["check", str(output)]) == 0


def test_what_was_deleted_leaves_no_word_of_its_own_in_a_whole_save(tmp_path, at_any_size):
    rare = Document("secret", "Xylophones berth with the ferries.")
    index = Index.from_documents([*corpus(40), rare], embedder=hashed_words)
    assert index.ask("xylophone", recipe="bm25", limit=1).ids == ["secret"]
    left = index.delete("secret")
    assert left.changed == 1, "in place"
    left.save(tmp_path)
    assert not any(
        b"xyloph" in file.read_bytes().lower() for file in tmp_path.rglob("*") if file.is_file()
    )
    loaded = Index.load(tmp_path, embedder=hashed_words, verify="full")
    same_record(left, loaded)
    same_answers(left, loaded)
    again = loaded.add([rare])
    assert again.ask("xylophone", recipe="bm25", limit=1).ids == ["secret"]
