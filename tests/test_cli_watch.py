"""`clew index --watch` follows a folder: what has changed is saved, errors are said, Ctrl-C ends it."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import threading

import pytest

import clew
from clew import cli
from clew.cli.watch import changed_files

WAIT = 60  # seconds, after which what was wanted will not come any more


@pytest.fixture
def folder(tmp_path):
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "ferry.md").write_text("# Ferries\n\nFerries sail at nine.")
    (docs / "moon.md").write_text("# Moon\n\nThe moon pulls the sea.")
    return docs


class Watching:
    """The command in a process of its own, whose lines come one by one."""

    def __init__(self, folder, output, *options):
        before = signal.signal(signal.SIGINT, signal.default_int_handler)  # may be ignored here
        self.process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "clew",
                "index",
                str(folder),
                "-o",
                str(output),
                "--watch",
                *options,
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        signal.signal(signal.SIGINT, before)
        self.lines = queue.Queue()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(line.rstrip())

    def line_with(self, text):
        """Return the next line that has a text."""
        while True:
            line = self.lines.get(timeout=WAIT)
            if text in line:
                return line


@pytest.fixture
def watching(folder, tmp_path):
    command = Watching(folder, tmp_path / "docs.clew")
    yield command
    command.process.kill()
    command.process.wait()
    command.reader.join()
    command.process.stdout.close()


def test_what_patterns_leave_out_is_not_watched(folder, tmp_path):
    output = tmp_path / "docs.clew"
    command = Watching(folder, output, "--exclude", "drafts/")
    try:
        command.line_with("Ctrl-C ends it")
        (folder / "drafts").mkdir()
        (folder / "drafts/a.md").write_text("A draft.")
        (folder / "tides.md").write_text("# Tides\n\nLow tide is at noon.")
        assert "1 file changed (tides.md)" in command.line_with("changed")
        assert sorted(clew.Index.load(output).document_of) == ["ferry.md", "moon.md", "tides.md"]
    finally:
        command.process.kill()
        command.process.wait()
        command.reader.join()
        command.process.stdout.close()


@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C is sent otherwise there")
def test_the_saved_index_follows_its_folder_until_ctrl_c(folder, tmp_path, watching, capsys):
    output = tmp_path / "docs.clew"
    assert "2 documents" in watching.line_with("documents")
    watching.line_with("Ctrl-C ends it")
    (folder / "ferry.md").write_text("# Ferries\n\nFerries sail at ten o'clock.")
    assert "1 file changed (ferry.md), up to date in" in watching.line_with("changed")
    assert cli.main(["ask", str(output), "When do ferries sail?"]) == 0
    assert "ten o'clock" in capsys.readouterr().out

    ferries = (folder / "ferry.md").read_text()
    (folder / "ferry.md").unlink()
    (folder / "moon.md").unlink()
    assert "no documents came" in watching.line_with("no documents")
    assert clew.Index.load(output).document_of["ferry.md"].text == ferries  # as it was
    (folder / "tides.md").write_text("# Tides\n\nLow tide is at noon.")
    assert "3 files changed (" in watching.line_with("changed")
    assert [*clew.Index.load(output).document_of] == ["tides.md"]

    watching.process.send_signal(signal.SIGINT)
    assert watching.process.wait(WAIT) == 130
    assert watching.line_with("clew:") == "clew: interrupted"
    assert cli.main(["check", str(output)]) == 0


def test_the_next_look_reads_what_was_half_written_and_tries_again_what_failed(
    folder, tmp_path, monkeypatch, capsys
):
    output = tmp_path / "docs.clew"
    monkeypatch.setattr("clew.read.known_files.SAFE_NANOSECONDS", 10**9)
    rounds = iter(range(99))
    saves = []
    save = clew.Index.save

    def between_looks(seconds):
        """What others do while the watch waits."""
        number = next(rounds)
        assert seconds >= 1
        if number == 0:
            (folder / "new.md").write_text("# New\n\nHalf a sen")
        elif number == 1:
            then = (folder / "new.md").stat()
            (folder / "new.md").write_text("# New\n\nA whole se")
            os.utime(folder / "new.md", ns=(then.st_atime_ns, then.st_mtime_ns))
        elif number == 2:
            assert clew.Index.load(output).document_of["new.md"].text == "# New\n\nA whole se"
            monkeypatch.setattr(clew.Index, "save", full)
            (folder / "moon.md").unlink()
        elif number == 4:
            monkeypatch.setattr(clew.Index, "save", lambda *args: saves.append(1) or save(*args))
        elif number == 5:
            assert saves == [1]
            assert "moon.md" not in clew.Index.load(output).document_of
            raise KeyboardInterrupt

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("clew.cli.watch.time.sleep", between_looks)
    assert cli.main(["index", str(folder), "-o", str(output), "--watch"]) == 130
    printed = capsys.readouterr()
    assert printed.err.count("No space left on device") == 1
    lines = [line for line in printed.out.splitlines() if "changed (" in line]
    assert [line.split(": ")[1].split(",")[0] for line in lines] == [
        "1 file changed (new.md)",
        "1 file changed (new.md)",
        "1 file changed (moon.md)",
    ]


def test_files_of_one_name_are_counted_each(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "README.md").write_text(f"The text of {name}.")
    before = clew.Index.from_documents(tmp_path)
    for name in ("a", "b"):
        (tmp_path / name / "README.md").write_text(f"Another text of {name}.")
    changed = changed_files(before, before.sync(tmp_path))
    assert changed == [(tmp_path / name / "README.md").as_posix() for name in ("a", "b")]


def test_a_dry_run_does_not_watch(folder, tmp_path, capsys):
    assert cli.main(["index", str(folder), "-o", str(tmp_path / "x"), "--dry-run", "--watch"]) == 2
    assert "leave --watch out" in capsys.readouterr().err
