from __future__ import annotations

import pytest

from clew.read.folder_size import folder_size
from clew.read.sources import list_files


@pytest.fixture
def folder(tmp_path):
    for name, size in (("a.md", 5), ("b/c.md", 7), ("b/.d", 11), (".e/f.md", 13)):
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(b"x" * size)
    (tmp_path / "broken").symlink_to(tmp_path / "nowhere")
    return tmp_path


def test_the_size_of_a_folder_is_that_of_its_files_but_for_what_is_hidden(folder):
    assert folder_size(folder, 100) == folder_size(str(folder), 100) == 5 + 7


def test_the_size_of_listed_files_is_that_of_the_files_that_are_read(folder):
    listed = list_files(folder)
    assert folder_size(listed, 100) == 5 + 7
    assert folder_size(listed, 3) == 5
    (folder / "a.md").unlink()
    assert folder_size(listed, 100) == 7


def test_no_more_files_are_looked_at_than_have_enough(tmp_path):
    for i in range(9):
        (tmp_path / f"{i}.md").write_bytes(b"x" * 10)
    assert folder_size(tmp_path, 25) == 30


@pytest.mark.parametrize("source", ["The sea.", "", "\0", ["The sea."], 7, None])
def test_what_is_no_folder_has_no_size(source):
    assert folder_size(source, 100) == 0
