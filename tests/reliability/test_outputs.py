"""A place that cannot be written to is refused before the work, not after it."""

from __future__ import annotations

import pytest

from clew import Index
from clew.cli import document, main


@pytest.fixture
def source(tmp_path, monkeypatch):
    """A folder to read, which no one may begin to read."""

    def begins(*_args, **_keywords):
        pytest.fail("the work began")

    monkeypatch.setattr(Index, "from_documents", begins)
    monkeypatch.setattr(document, "write_documentation", begins)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.txt").write_text("a fee")
    (tmp_path / "file").write_text("not a folder")
    return str(tmp_path / "docs")


@pytest.mark.parametrize("output", ["file", "file/below", "file/below/deep"])
@pytest.mark.parametrize("command", ["index", "document"])
def test_an_output_below_a_file_is_refused(source, tmp_path, capsys, command, output):
    assert main([command, source, "-o", str(tmp_path / output)]) == 2
    assert "file" in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["docs", "file"]


def test_a_folder_of_other_files_is_refused(source, tmp_path, capsys):
    for command in ("index", "document"):
        assert main([command, source, "-o", source]) == 2
        assert "docs" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["index", "document"])
def test_a_folder_that_is_not_writable_is_refused(source, tmp_path, capsys, monkeypatch, command):
    def refused(*_args, **_keywords):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("clew.cli.source.tempfile.TemporaryFile", refused)
    assert main([command, source, "-o", str(tmp_path / "new" / "out")]) == 2
    assert "out: cannot be written to: Permission denied" in capsys.readouterr().err
