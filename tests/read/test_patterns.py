"""Which files below a folder are read, by patterns; git itself says which a pattern matches."""

from __future__ import annotations

import shutil
import subprocess
import unicodedata

import pytest

import clew
from clew.read import load_documents
from clew.read.patterns import FileChoice

FILES = [
    *("notes.md", "notes.txt", "log.txt", "guide/notes.md", "guide/a.md", "guide/deep/b.md"),
    *("guide/deep/log.txt", "drafts/c.md", "drafts/keep.md", "guide/drafts/d.md", "a b.md"),
    *("é.md", "x[1].md", "drafts.md", "guide/deep/x/y/z.md", "!bang.md", "build/out.txt"),
]
EXCLUDES = [
    ["*.md"],
    ["drafts/"],
    ["/notes.md", "log.txt"],
    ["guide/*.md"],
    ["guide/**/b.md", "**/log.txt"],
    ["drafts/", "!drafts/keep.md"],  # what is below an excluded folder stays out
    ["drafts/*", "!drafts/keep.md"],
    ["*.md", "!keep.md", "!guide/"],
    ["x\\[1\\].md", "é*", "a b.md"],
    ["\\!bang.md"],
    ["gui*e", "[a-b]?b.md"],
    ["guide/*", "!guide/deep/"],
    ["/*", "!/guide/", "guide/*.md"],
]


@pytest.fixture
def folder(tmp_path):
    for name in FILES:
        path = tmp_path / "docs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"The text of {name}.", encoding="utf-8")
    return tmp_path / "docs"


def by_git(folder, *options):
    """What git lists of a folder, of files that it does not track."""
    command = [shutil.which("git"), "-c", "core.quotepath=off", "ls-files", "-o", "-z", *options]
    subprocess.run([command[0], "init", "-q"], cwd=folder, check=True)
    listed = subprocess.run(command, cwd=folder, check=True, capture_output=True).stdout
    shutil.rmtree(folder / ".git")
    return sorted(listed.decode().split("\0")[:-1])


def read_of(folder, **patterns):
    return sorted(
        document.id for document in clew.Index.from_documents(folder, **patterns).documents
    )


@pytest.mark.skipif(shutil.which("git") is None, reason="git is the judge")
@pytest.mark.parametrize("patterns", EXCLUDES, ids=" ".join)
def test_what_is_left_out_is_what_git_would_ignore(folder, patterns):
    wanted = by_git(folder, *(f"--exclude={pattern}" for pattern in patterns))
    assert 0 < len(wanted) < len(FILES)
    assert read_of(folder, exclude=patterns) == wanted


@pytest.mark.skipif(shutil.which("git") is None, reason="git is the judge")
@pytest.mark.parametrize("patterns", [["*.md"], ["guide/"], ["guide/*.md"]])
def test_what_is_read_is_what_git_finds_by_the_pattern(folder, patterns):
    wanted = by_git(folder, "-i", *(f"--exclude={pattern}" for pattern in patterns))
    assert read_of(folder, include=patterns) == wanted


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_a_pattern_matches_a_name_as_another_system_writes_it(tmp_path, form):
    for name in ("Entwürfe/Gehälter.md", "Pläne.md", "Notes.md"):
        path = tmp_path / unicodedata.normalize("NFD" if form == "NFC" else "NFC", name)
        path.parent.mkdir(exist_ok=True)
        path.write_text("The sea.", encoding="utf-8")

    def read(**patterns):
        typed = {key: [unicodedata.normalize(form, one)] for key, one in patterns.items()}
        return {unicodedata.normalize("NFC", id) for id in read_of(tmp_path, **typed)}

    assert read(exclude="Entwürfe/") == read(exclude="Geh?lter.md") == {"Pläne.md", "Notes.md"}
    assert read(include="Pl[äö]ne.md") == read(include="Pläne.md") == {"Pläne.md"}


def test_what_a_pattern_includes_a_later_one_takes_back(folder):
    assert read_of(folder, include=["drafts", "!keep.md"]) == ["drafts/c.md", "guide/drafts/d.md"]


def test_what_is_left_out_is_counted_once_and_a_pattern_without_a_file_is_named(folder):
    (folder / ".hidden.md").write_text("Hidden.")
    (folder / "logo.png").write_bytes(b"\x89PNG\0\0")
    index = clew.Index.from_documents(
        [folder / "guide", folder / "drafts"], include=["*.md", "*.rst"], exclude=["deep/", "*.log"]
    )
    assert sorted(index.document_of) == ["a.md", "c.md", "drafts/d.md", "keep.md", "notes.md"]
    assert index.skipped == (
        ("include", "1 file left out"),  # deep/log.txt
        ("exclude", "2 files left out"),  # deep/b.md and deep/x/y/z.md
        ("include", "no file matches '*.rst'"),
        ("exclude", "no file matches '*.log'"),
    )
    reasons = dict(clew.Index.from_documents(folder, exclude="*.png").skipped)
    assert reasons["exclude"] == "1 file left out", "and not as a binary file, too"
    assert str(folder / "logo.png") not in reasons
    assert reasons[(folder / ".hidden.md").as_posix()] == "hidden"


def test_a_file_that_is_named_is_read_and_a_pattern_below_an_excluded_folder_is_used(folder):
    index = clew.Index.from_documents([folder / "notes.txt", folder / "drafts"], include="*.md")
    assert sorted(index.document_of) == ["c.md", "keep.md", "notes.txt"]
    skipped = clew.Index.from_documents(folder, exclude=["build/", "out.txt"]).skipped
    assert skipped == (("exclude", "1 file left out"),)


def test_a_saved_index_keeps_its_patterns_and_sync_may_change_them(folder, tmp_path):
    index = clew.Index.from_documents(folder, include="*.md", exclude=["drafts/", "guide/deep"])
    index.save(tmp_path / "saved")
    loaded = clew.Index.load(tmp_path / "saved")
    assert (loaded.config.include, loaded.config.exclude) == (("*.md",), ("drafts/", "guide/deep"))
    (folder / "new.md").write_text("A new file.")
    (folder / "new.txt").write_text("A text file.")
    (folder / "drafts/new.md").write_text("A draft.")
    synced = loaded.sync(folder)
    assert {*synced.document_of} - {*index.document_of} == {"new.md"}
    assert synced.sync(folder, exclude=["drafts/", "guide/deep"]) is synced
    other = synced.sync(folder, include="*.txt", exclude=[])
    assert sorted(other.document_of) == read_of(folder, include="*.txt")
    assert other.config.include == ("*.txt",)
    with pytest.raises(ValueError, match=r"no documents came: .*include: no file matches '\*.doc'"):
        other.sync(folder, include="*.doc")


@pytest.mark.parametrize("pattern", ["", "  ", "!", "# comment", "[z-a]", "a\\", "/"])
def test_what_is_no_pattern_is_refused(pattern):
    with pytest.raises(ValueError, match=r"exclude has patterns as in a \.gitignore"):
        clew.Index.from_documents(["a"], exclude=[pattern])


def test_patterns_are_texts():
    for wrong in (7, {"a": 1}, [7], None):
        with pytest.raises(TypeError, match="include"):
            clew.Index.from_documents(["a"], include=wrong)


def test_without_patterns_nothing_is_counted(folder):
    assert load_documents(folder, choice=FileChoice()).skipped == []
