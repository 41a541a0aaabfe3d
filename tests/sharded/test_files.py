"""Shards of files: each is read when it is built, and all together are one index of the files."""

from __future__ import annotations

import shutil
import weakref
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

import clew
from clew.read import known_files
from clew.sharded import ShardedIndex, build_shards

HARBOUR = Path(__file__).parents[2] / "examples" / "harbour"
QUESTIONS = (
    "Of what is the quay built, of stone?",
    "Which moon pulls the sea at Corfu?",
    "What does a ticket to island 3 cost?",
)


@pytest.fixture
def docs(tmp_path):
    """A folder with files of one name, tables, and what is not read."""
    docs = tmp_path / "docs"
    shutil.copytree(HARBOUR, docs / "harbour")
    for place, name in enumerate(("north", "south", "north/deep")):
        folder, more = docs / name, " and of wood" * place  # so that no two score alike
        folder.mkdir()
        text = f"# Quay\n\nThe quay is of stone{more}. See [it](tides.md)."
        (folder / "README.md").write_text(text, encoding="utf-8")
        text = f"# Tides\n\nThe moon pulls the sea at the quay{more}, as at Corfu."
        (folder / "tides.md").write_text(text, encoding="utf-8")
        rows = [f"island {i},{100 * place + i + 100} crowns,the quay{more}" for i in range(20)]
        (folder / "prices.csv").write_text("\n".join(["to,ticket,of", *rows]), encoding="utf-8")
    (docs / "photo.png").write_bytes(bytes(range(30)))
    (docs / ".hidden").write_text("Nobody reads this.", encoding="utf-8")
    return docs


@pytest.fixture
def targets(tmp_path):
    return [tmp_path / "shards" / str(place) for place in range(3)]


@pytest.fixture
def opened(monkeypatch):
    """The ids of files that are opened; all count as old, so that the next time none need be."""
    opened, read = [], known_files.read_file
    monkeypatch.setattr(known_files, "SAFE_NANOSECONDS", -(10**12))
    monkeypatch.setattr(
        known_files, "read_file", lambda file, cut=None: opened.append(file.id) or read(file, cut)
    )
    return opened


def described(index):
    return [
        (one.id, one.text, dict(one.metadata), one.parent, one.format) for one in index.documents
    ]


def by_id(indexes):
    return sorted((one for index in indexes for one in described(index)), key=lambda one: one[0])


def loaded(targets):
    return [clew.Index.load(target) for target in targets]


def files_in(index):
    return {id.partition("#")[0] for id in index.document_of}


SOURCES = {
    "a folder": lambda docs: docs,
    "its path": str,
    "folders with files of one name": lambda docs: [docs / "south", str(docs / "north")],
    "an iterator of files": lambda docs: docs.rglob("*.md"),
}


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
@pytest.mark.parametrize("keywords", [{}, {"include": ["*.md", "*.csv"], "exclude": "deep/"}])
def test_shards_hold_together_what_one_index_holds(docs, targets, source, keywords):
    sizes = build_shards(source(docs), targets[:2], **keywords)
    shards, whole = loaded(targets[:2]), clew.Index.from_documents(source(docs), **keywords)
    assert by_id(shards) == by_id([whole])
    assert sizes == tuple(map(len, shards))
    assert sorted(one for index in shards for one in index.skipped) == sorted(whole.skipped)
    assert not files_in(shards[0]) & files_in(shards[1]), "the rows of a table stay together"


def test_files_of_a_shard_are_opened_when_the_one_before_is_saved_and_forgotten(
    docs, targets, monkeypatch
):
    of_all = files_in(clew.Index.from_documents(docs))
    opened_at, graphs, save, read = {}, [], clew.Index.save, known_files.read_file
    targets[1].parent.mkdir()
    targets[1].write_text("no folder", encoding="utf-8")  # the shard is built and cannot be saved

    def watched_save(index, *args):
        graphs.append(weakref.ref(index.graph))
        return save(index, *args)

    def watched_read(file, cut=None):
        assert file.id not in opened_at
        opened_at[file.id] = len(graphs)
        assert [graph() for graph in graphs] == [None] * len(graphs)
        return read(file, cut)

    monkeypatch.setattr(clew.Index, "save", watched_save)
    monkeypatch.setattr(known_files, "read_file", watched_read)
    with pytest.raises(RuntimeError, match=r"1' was not built") as caught:
        build_shards(docs, targets)
    assert caught.value.__cause__ is not None
    assert opened_at.keys() == of_all | {"photo.png"}
    first, last = loaded([targets[0], targets[2]])
    for place, files in ((0, files_in(first)), (2, files_in(last))):
        assert files == {id for id in of_all if opened_at[id] == place}


def test_the_same_call_opens_only_what_has_changed(docs, targets, opened):
    build_shards(docs, targets)
    assert sorted(opened) == sorted({*opened})
    opened.clear()
    build_shards(docs, targets)
    assert opened == []

    with (docs / "north" / "prices.csv").open("a", encoding="utf-8") as file:
        file.write("\nisland 99,7 crowns,the buoy")
    (docs / "south" / "README.md").unlink()
    (docs / "new.md").write_text("# Buoys\n\nThe buoy is red.", encoding="utf-8")
    sizes = build_shards(docs, targets)
    assert sorted(opened) == ["new.md", "north/prices.csv"]
    whole = clew.Index.from_documents(docs)
    assert by_id(loaded(targets)) == by_id([whole])
    assert sum(sizes) == len(whole)


def test_a_file_whose_id_another_one_takes_is_in_one_shard_alone(docs, targets):
    build_shards([docs / "north"], targets[:2])
    sources = [docs / "north", docs / "south"]  # whose files of one name have folders in their ids
    build_shards(sources, targets[:2])
    assert by_id(loaded(targets[:2])) == by_id([clew.Index.from_documents(sources)])


def test_questions_by_words_find_what_one_index_finds(docs, targets):
    english = {"exclude": "*.*.txt"}  # a shard may take a short text for one of another language
    build_shards(docs, targets, **english)
    whole = clew.Index.from_documents(docs, **english)
    with ShardedIndex.open(targets) as index:
        for question in QUESTIONS:
            options = {"recipe": "bm25", "min_relevance": 0, "limit": 3}
            found = index.ask(question, **options).ids
            assert len(found) == 3
            assert found == whole.ask(question, **options).ids


def test_processes_are_sent_paths_and_build_what_one_builds(docs, targets, tmp_path, monkeypatch):
    monkeypatch.chdir(docs)
    apart = [tmp_path / "apart" / target.name for target in targets]
    sizes = build_shards(".", targets)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as executor:
        monkeypatch.setattr(known_files, "read_file", lambda *_: pytest.fail("read by who asks"))
        assert build_shards(".", apart, executor=executor) == sizes
    for one, other in zip(loaded(targets), loaded(apart), strict=True):
        assert described(one) == described(other)


def test_a_machine_without_a_file_does_not_leave_it_out(docs, targets):
    class Elsewhere(ThreadPoolExecutor):
        def submit(self, *arguments):
            shutil.rmtree(docs / "north", ignore_errors=True)
            return super().submit(*arguments)

    with (
        Elsewhere(1) as executor,
        pytest.raises(RuntimeError, match="not on the machine that builds"),
    ):
        build_shards(docs, targets, executor=executor)


def test_files_with_facts_or_beside_documents_are_divided_alike(docs, targets, tmp_path):
    build_shards(docs, targets)
    given, mixed = ([tmp_path / name / one.name for one in targets] for name in ("given", "mixed"))
    facts = {"harbour/guide.md": [("Anna", "built", "the quay")]}
    build_shards(docs, given, facts=facts)
    more = clew.Document("more", "The buoy is red.")
    build_shards([docs, more], mixed)
    shards = loaded(targets)
    for ours, one, other in zip(shards, loaded(given), loaded(mixed), strict=True):
        assert described(ours) == described(one)
        assert ours.document_of.keys() == other.document_of.keys() - {"more"}
    assert {id: each for one in loaded(given) for id, each in one.facts.items()} == facts


def test_what_cannot_be_read_is_refused_before_a_file_is_opened(docs, targets, opened):
    with pytest.raises(ValueError, match="no documents came"):
        build_shards(docs, targets, include="*.none")
    with pytest.raises(ValueError, match="none came"):
        build_shards(docs, [])
    with pytest.raises(FileNotFoundError, match="nowhere"):
        build_shards(str(docs / "nowhere"), targets)
    with pytest.raises(TypeError, match="untrusted"):
        build_shards(str(docs), targets, untrusted=True)
    assert not opened
    assert not targets[0].parent.exists()
