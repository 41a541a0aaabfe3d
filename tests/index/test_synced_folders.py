"""A folder that is read again: only files that changed are opened, and the index is that of all."""

from __future__ import annotations

import errno
import os
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from clew import Document, Index, Splitter
from clew.read import known_files, load_documents
from clew.read.formats import FORMATS, Format
from clew.store import difference, saving
from tests.conftest import hashed_words
from tests.index.test_in_place import described
from tests.store.test_changes import every_size

NAMES = ("a.md", "b.txt", "c.html", "d.jsonl", "sub/e.md", "sub/f.py", "new.md", "latin.txt")
CONTENTS = (
    b"# Ferries\n\nFerries sail at nine. See [it](b.txt).",
    b"# Ferries\n\nFerries sail at noon. See [it](b.txt).",  # of the same size
    b"The moon pulls the sea to the quay.",
    b'{"text": "A row on tides."}\n{"text": "A row on winds."}\nno row\n',
    b"<h1>Quays</h1><p>The north quay is of stone.</p>",
    "Caf\xe9s and \xeeles are open in summer.".encode("cp1252"),  # a guess, which is reported
    b"",
    b"\x00\x01\x02\x03 binary",
    b"*" * 300 + b" in one line that is too long to be parsed",
)
QUESTION = "When do ferries sail from the north quay?"


def watched(patch):
    """Have all files count as old, and return the list that receives the ids of those opened."""
    opened, read = [], known_files.read_file
    patch.setattr(known_files, "SAFE_NANOSECONDS", -(10**12))
    patch.setattr(
        known_files, "read_file", lambda file, cut=None: opened.append(file.id) or read(file, cut)
    )
    return opened


@pytest.fixture
def opened(monkeypatch):
    return watched(monkeypatch)


@pytest.fixture
def folder(tmp_path):
    docs = tmp_path / "docs"
    docs.mkdir()
    for name in ("ferry.md", "moon.md"):
        (docs / name).write_text(f"# {name}\n\nFerries sail by the moon.", encoding="utf-8")
    (docs / "photo.png").write_bytes(bytes(range(30)))
    return docs


@pytest.fixture
def as_if_large(monkeypatch):
    every_size(monkeypatch)


def next_tick(folder):
    """Wait until the clock of the file system has gone on, as it has between two commands."""
    mark = folder.with_name("clock")
    mark.touch()
    before = mark.stat().st_mtime_ns
    while mark.stat().st_mtime_ns == before:
        mark.touch()


def configured(**keywords):
    return {
        "splitter": Splitter(12),
        "embedder": hashed_words,
        "max_line": 200,
        **keywords,
    }


class SyncedFolder(RuleBasedStateMachine):
    """A folder that changes, and its index, which is asked for again now and then."""

    @initialize(always_in_place=st.booleans(), names=st.sets(st.sampled_from(NAMES), min_size=2))
    def build(self, always_in_place, names):
        self.patch = pytest.MonkeyPatch()
        self.opened = watched(self.patch)
        if always_in_place:
            every_size(self.patch)
            self.patch.setattr(saving, "MAX_CHANGES", 2)
        self.root = tempfile.TemporaryDirectory()
        self.folder, self.saved = Path(self.root.name, "docs"), Path(self.root.name, "saved")
        (self.folder / "sub").mkdir(parents=True)
        (self.folder / "stays.txt").write_text("The south quay is of wood.")
        for number, name in enumerate(sorted(names)):
            (self.folder / name).write_bytes(CONTENTS[number % len(CONTENTS)])
        self.index = Index.from_documents(self.folder, **configured())
        self.changed, self.lost = set(), set()  # since the last reading: on the disk, in the index

    def teardown(self):
        if hasattr(self, "patch"):
            self.patch.undo()
            self.root.cleanup()

    def note(self, name):
        self.changed.add(name)
        next_tick(self.folder)

    @rule(name=st.sampled_from(NAMES), content=st.sampled_from(CONTENTS), keep_time=st.booleans())
    def write(self, name, content, keep_time):
        """Write a file, perhaps as large as it was and with the time that it had."""
        file = self.folder / name
        then = file.stat().st_mtime_ns if file.exists() and keep_time else None
        self.note(name)
        file.write_bytes(content)
        if then is not None:
            os.utime(file, ns=(then, then))

    @rule(name=st.sampled_from(NAMES))
    def touch(self, name):
        if (self.folder / name).exists():
            self.note(name)
            os.utime(self.folder / name)

    @rule(name=st.sampled_from(NAMES))
    def delete(self, name):
        (self.folder / name).unlink(missing_ok=True)
        self.changed.discard(name)

    @rule(name=st.sampled_from(NAMES), other=st.sampled_from(NAMES))
    def rename(self, name, other):
        if name != other and (self.folder / name).exists():
            self.note(other)
            (self.folder / name).replace(self.folder / other)
            self.changed.discard(name)

    @rule()
    def replaced_by_the_caller(self):
        """What a caller puts in the place of a file's document is no longer what the file says."""
        id = self.index.documents[0].id
        self.index = self.index.upsert([Document(id, "Somebody else has written this.")])

    @precondition(lambda self: len(self.index.documents) > 1)
    @rule()
    def deleted_by_the_caller(self):
        gone = self.index.documents[-1].id
        self.index = self.index.delete(gone)
        self.lost.add(gone.partition("#")[0])

    @rule()
    def save(self):
        self.index.save(self.saved)
        self.lost |= {
            reading.id
            for reading in self.index.files.values()
            if any(self.index.document_of.get(one.id) != one for one in reading.documents)
        }
        self.index = Index.load(self.saved, embedder=hashed_words)

    @rule()
    def sync(self):
        before = self.index
        self.opened.clear()
        self.index = before.sync(self.folder)
        assert self.changed <= {*self.opened} <= self.changed | self.lost
        all_read = replace(before, files={}).sync(self.folder)
        whole = Index.from_documents(self.folder, **configured())
        assert self.index.skipped == all_read.skipped == whole.skipped
        assert self.index.documents == all_read.documents
        assert self.index.document_of == whole.document_of
        graph = described(self.index.graph)
        assert graph == described(all_read.graph)
        assert graph[0] == described(whole.graph)[0]
        for recipe in ("bm25", "fused", "agrag"):
            answers = [each.ask(QUESTION, recipe=recipe) for each in (self.index, all_read)]
            assert answers[0].text == answers[1].text
        assert self.index.sync(self.folder) is self.index
        self.changed, self.lost = set(), set()


TestSyncedFolder = SyncedFolder.TestCase
TestSyncedFolder.settings = settings(max_examples=25, stateful_step_count=14, deadline=None)


def test_a_file_that_may_change_unseen_is_opened_again(folder, opened, monkeypatch):
    monkeypatch.setattr(known_files, "SAFE_NANOSECONDS", 10**12)
    index = Index.from_documents(folder)
    assert not index.files
    opened.clear()
    assert index.sync(folder) is index
    assert opened == ["ferry.md", "moon.md", "photo.png"]


def test_what_could_not_be_opened_is_opened_again(folder, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(known_files, "SAFE_NANOSECONDS", -(10**12))
        patch.setattr(Path, "read_bytes", refuse)
        loaded = load_documents(folder)
    assert not loaded.documents
    assert {reason for _, reason in loaded.skipped} == {"cannot be opened: Too many open files"}
    again = load_documents(folder, known=loaded.files)
    assert [one.id for one in again.documents] == ["ferry.md", "moon.md"]


def refuse(path):
    raise OSError(errno.EMFILE, "Too many open files", str(path))


def test_what_would_be_read_otherwise_is_read_again(folder, opened, monkeypatch):
    known = load_documents(folder).files
    assert {*known} == {(folder / name).as_posix() for name in ("ferry.md", "moon.md", "photo.png")}
    opened.clear()
    assert load_documents(folder, known=known).files == known
    assert not opened
    load_documents(folder, encoding="cp1252", known=known)
    load_documents(folder / "ferry.md", known=known)
    assert opened == [
        "ferry.md",
        "moon.md",
        "photo.png",
    ]
    opened.clear()
    monkeypatch.setattr(Format, "is_installed", lambda known: known.name != "markdown")
    loaded = load_documents(folder, known=known)
    assert opened == ["ferry.md", "moon.md"]
    assert {reason.partition(",")[0] for _, reason in loaded.skipped[:2]} == {"read as text"}


def test_a_module_has_the_name_of_the_package_that_its_folder_has_become(folder, opened):
    for name in ("sea/tide.py", "sea/deep/fish.py", "quay.py"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("def depth():\n    return 12\n")

    def modules(index):
        return {d.id: d.metadata["module"] for d in index.documents if "module" in d.metadata}

    before = Index.from_documents(folder)
    opened.clear()
    (folder / "__init__.py").touch()  # the folder itself becomes a package
    index = before.sync(folder)
    assert sorted(opened) == ["__init__.py", "quay.py", "sea/deep/fish.py", "sea/tide.py"]
    assert modules(index) == {
        "sea/tide.py": "docs.sea.tide",
        "sea/deep/fish.py": "docs.sea.deep.fish",
        "quay.py": "docs.quay",
    }
    assert index.sync(folder) is index
    (folder / "__init__.py").unlink()
    assert modules(index.sync(folder)) == modules(before)


def test_a_format_of_the_caller_is_always_asked(folder, opened, monkeypatch):
    own = Format("own", lambda file: [file.document("Own text.")], (".md",))
    monkeypatch.setitem(FORMATS, "own", own)
    index = Index.from_documents(folder)
    opened.clear()
    index = index.sync(folder)
    assert opened == ["ferry.md", "moon.md"]
    monkeypatch.setitem(FORMATS, "own", replace(own, read=lambda file: [file.document("New.")]))
    assert {one.text for one in index.sync(folder).documents} == {"New."}


def test_the_files_of_a_large_index_are_saved_with_what_has_changed(
    folder, opened, as_if_large, tmp_path
):
    saved = tmp_path / "saved"
    Index.from_documents(folder, embedder=hashed_words).save(saved)
    for number in range(3):
        name = ("moon.md", "sea.md", "ferry.md")[number]
        next_tick(folder)
        (folder / name).write_text(f"# {name}\n\nThe text of day {number}.")
        opened.clear()
        index = Index.load(saved, embedder=hashed_words).sync(folder)
        assert opened == [name]
        index.save(saved)
        loaded = Index.load(saved, embedder=hashed_words)
        assert len(loaded.saved_as.manifest.changes) == number + 1
        for path, reading in index.files.items():
            assert vars(loaded.files[path]) == vars(reading)
            assert all(one is loaded.document_of[one.id] for one in loaded.files[path].documents)
    (folder / "moon.md").unlink()
    index = loaded.sync(folder)
    index.save(saved)
    assert {*Index.load(saved, embedder=hashed_words).files} == {*index.files}


def test_after_a_change_that_an_earlier_version_saved_all_files_are_read_again(
    folder, opened, as_if_large, monkeypatch, tmp_path
):
    saved = tmp_path / "saved"
    index = Index.from_documents(folder, embedder=hashed_words)
    index.save(saved)
    with monkeypatch.context() as earlier:
        earlier.setattr(difference, "write_changed_readings", lambda *_: None)
        index = index.upsert([Document("moon.md", "The caller's own text.")])
        index.save(saved)
    opened.clear()
    loaded = Index.load(saved, embedder=hashed_words)
    assert not loaded.files
    index = loaded.sync(folder)
    assert opened == ["ferry.md", "moon.md", "photo.png"]
    assert index.document_of["moon.md"].text.endswith("Ferries sail by the moon.")
    index.save(saved)
    opened.clear()
    loaded = Index.load(saved, embedder=hashed_words)
    assert len(loaded.saved_as.manifest.changes) == 2
    assert loaded.sync(folder) is loaded
    assert not opened


def test_a_file_that_changed_behind_its_size_and_time_is_opened(folder, opened):
    index = Index.from_documents(folder)
    file, other = folder / "ferry.md", folder.with_name("other.md")
    then = file.stat()
    for number, change in enumerate((file, other)):
        next_tick(folder)
        change.write_bytes(
            file.read_bytes().replace(*((b"sail", b"stay"), (b"stay", b"halt"))[number])
        )
        os.utime(change, ns=(then.st_atime_ns, then.st_mtime_ns))
        change.replace(file)
        assert (file.stat().st_size, file.stat().st_mtime_ns) == (then.st_size, then.st_mtime_ns)
        opened.clear()
        index = index.sync(folder)
        assert opened == ["ferry.md"]
        assert ("stay", "halt")[number] in index.document_of["ferry.md"].text


@pytest.mark.parametrize("is_large", [False, True])
def test_what_is_left_out_is_told_once_and_as_it_is_now(folder, request, is_large):
    if is_large:
        request.getfixturevalue("as_if_large")
    (folder / "later.txt").write_bytes(b"")
    index = Index.from_documents([folder, Document("a", "Low tide.")], embedder=hashed_words)
    before = dict(index.skipped)
    assert {Path(name).name for name in before} == {"photo.png", "later.txt"}
    assert index.upsert(folder) is index
    (folder / "ferry.md").write_text("Ferries sail at noon.")
    once = index.upsert(folder)
    assert dict(once.skipped) == before
    assert len(once.skipped) == 2
    more = once.add([Document("b", "High tide.")])
    assert more.skipped == once.skipped
    (folder / "later.txt").write_text("A text at last.")
    assert {Path(name).name for name, _ in more.upsert(folder).skipped} == {"photo.png"}
    (folder / "photo.png").unlink()
    assert more.upsert(folder).skipped == ()
    (folder / "later.txt").unlink()
    less = more.upsert(folder)
    assert less.skipped == ()
    assert less.documents == more.documents


def test_a_file_that_comes_again_by_itself_has_one_reason(folder):
    def names(index):
        return [Path(name).name for name, _ in index.skipped]

    broken = folder / "rows.jsonl"
    broken.write_text('{"text": "A row on tides."}\nno row\n')
    index = Index.from_documents(broken, embedder=hashed_words)
    assert names(index) == ["rows.jsonl#2"]
    broken.write_text('{"text": "A row on winds."}\nno row\nno row either\n')
    again = index.upsert(broken)
    assert names(again) == ["rows.jsonl#2", "rows.jsonl#3"]
    broken.write_text('{"text": "A row on winds."}\n{"text": "A row on fog."}\n')
    assert again.upsert(broken).skipped == ()


@pytest.fixture
def two_folders(tmp_path, monkeypatch):
    """Two folders that both have a `notes.md`, and one of them rows, from above both."""
    monkeypatch.chdir(tmp_path)
    for name in ("one", "two"):
        Path(name).mkdir()
        Path(name, "notes.md").write_text(f"The ferry of {name} sails at nine.")
    Path("one", "own.md").write_text("The quay is of stone.")
    Path("one", "rows.jsonl").write_text('{"text": "Low tide."}\n{"text": "High tide."}\n')
    Path("two", "rows.jsonl").write_text('{"text": "A north wind."}\n')
    return [Path("one"), Path("two")]


@pytest.mark.parametrize(
    "edited",
    ["one", Path("one"), Path("one").absolute, Path("one/notes.md"), [Path("one"), "Tea."]],
)
@pytest.mark.parametrize("is_saved", [False, True])
def test_a_file_that_comes_without_the_other_of_its_name_is_the_one_that_is_there(
    two_folders, edited, is_saved
):
    index = Index.from_documents(two_folders)
    assert {"one/notes.md", "two/notes.md", "own.md"} <= set(index.document_of)
    if is_saved:
        index.save("saved")
        index = Index.load("saved")
    Path("one", "notes.md").write_text("The ferry of one sails at ten.")
    changed = index.upsert(edited() if callable(edited) else edited)
    texts = [one.text for one in changed.documents if one.text != "Tea."]
    assert len(texts) == len(index)
    assert {one for one in texts if "ferry" in one} == {
        "The ferry of one sails at ten.",
        "The ferry of two sails at nine.",
    }
    assert changed.document_of["one/notes.md"].text == "The ferry of one sails at ten."


def test_a_file_that_is_there_under_an_id_with_its_folder_is_not_added_again(two_folders):
    index = Index.from_documents(two_folders)
    for again in (Path("two"), "two", Path("two/notes.md").absolute()):
        with pytest.raises(ValueError, match=r"for instance '(two/)?(notes\.md|rows\.jsonl#1)'"):
            index.add(again)
    Path("three").mkdir()
    Path("three", "notes.md").write_text("The ferry of three sails at noon.")
    more = index.add("three")
    assert [one.text for one in more.documents if "noon" in one.text] == [
        "The ferry of three sails at noon."
    ]
    assert len(more) == len(index) + 1


def test_a_file_that_is_known_keeps_its_id_beside_new_ones_of_this_name(two_folders):
    index = Index.from_documents(Path("one"))
    assert {"notes.md", "own.md"} < set(index.document_of)
    whole = index.upsert(Path())  # the folder above
    ids = {one.metadata["path"]: one.id for one in whole.documents if one.format == "markdown"}
    assert ids == {
        "one/notes.md": "notes.md",
        "one/own.md": "own.md",
        "two/notes.md": "two/notes.md",
    }
    Path("own.md").write_text("The lighthouse is white.")
    more = whole.upsert(Path())
    own = {one.text: one.id for one in more.documents if one.metadata["file_name"] == "own.md"}
    assert own["The quay is of stone."] == "own.md" != own["The lighthouse is white."]
    assert more.upsert(Path()) is more


def test_what_was_left_out_of_the_folder_that_one_is_in_is_looked_at_again(folder, monkeypatch):
    monkeypatch.chdir(folder)
    (folder / "later.txt").write_bytes(b"")
    for first in (Path(), folder):
        index = Index.from_documents([first, Document("a", "Low tide.")])
        assert {Path(name).name for name, _ in index.skipped} == {"photo.png", "later.txt"}
        (folder / "later.txt").unlink()
        for again in (Path(), ".", folder, Path("..", folder.name)):
            left = index.upsert([again]).skipped
            assert {Path(name).name for name, _ in left} == {"photo.png"}
        (folder / "later.txt").write_bytes(b"")
