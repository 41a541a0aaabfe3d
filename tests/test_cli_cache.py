"""The second question on a folder opens what the first one kept, and reads what has changed."""

from __future__ import annotations

import errno
import json
import os
import stat
import sys
import time
from pathlib import Path

import pytest

import clew
from clew import cli, user_cache
from clew.cli import folder_cache, source
from clew.read import known_files
from clew.read.formats.source_file import SourceFile
from clew.store.lock import locked


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("CLEW_CACHE", str(tmp_path / "cache"))
    docs = tmp_path / "docs"
    docs.mkdir()
    write(docs / "ferry.md", "# Ferries\n\nFerries sail at nine.")
    write(docs / "moon.md", "# Moon\n\nThe moon pulls the sea.")
    return docs


@pytest.fixture
def read(monkeypatch):
    """The names of the files that are read."""
    names = []
    of_file = SourceFile.text
    monkeypatch.setattr(SourceFile, "text", lambda file: names.append(file.id) or of_file(file))
    return names


def write(path, text, age=60):
    """Write a file that is some seconds old."""
    path.write_text(text, encoding="utf-8")
    then = time.time() - age
    os.utime(path, (then, then))


def ask(capsys, folder, *options):
    assert cli.main(["ask", str(folder), "When do ferries sail?", *options]) == 0
    return capsys.readouterr()


def test_the_second_question_reads_nothing(capsys, folder, read, monkeypatch):
    monkeypatch.setattr(known_files, "SAFE_NANOSECONDS", -(10**12))  # of these young files
    first = ask(capsys, folder)
    assert "kept for the next question" in first.err
    assert read == ["ferry.md", "moon.md"]
    read.clear()
    second = ask(capsys, folder)
    assert (second.out, second.err) == (first.out, "")
    assert read == []
    ask(capsys, folder, "--tokens", "64")  # another way of reading has an index of its own
    assert read == ["ferry.md", "moon.md"]


def test_a_folder_is_read_once_however_it_is_typed(capsys, folder, tmp_path, read, monkeypatch):
    monkeypatch.setattr(known_files, "SAFE_NANOSECONDS", -(10**12))
    (tmp_path / "link").symlink_to(folder)
    first = ask(capsys, folder, "--json").out
    read.clear()
    for here, typed in ((tmp_path, "docs"), (folder, "."), (tmp_path, "link"), (folder, "../docs")):
        monkeypatch.chdir(here)
        again = ask(capsys, typed, "--json")
        assert (without_times(again.out), again.err) == (without_times(first), "")
        paths = {item["metadata"]["path"] for item in json.loads(again.out)["items"]}
        assert set(map(Path, paths)) <= set(folder.resolve().iterdir())
    assert read == []


def without_times(out):
    return {key: value for key, value in json.loads(out).items() if key != "trace"}


def test_a_file_that_may_change_unseen_is_looked_at_again(capsys, folder, read):
    ask(capsys, folder)  # the files were made just now
    read.clear()
    write(folder / "ferry.md", "# Ferries\n\nFerries sail at noon.")
    assert "noon" in ask(capsys, folder).out
    assert read != []


def test_what_has_changed_is_read(capsys, folder, monkeypatch):
    monkeypatch.setattr(known_files, "SAFE_NANOSECONDS", -(10**12))
    ask(capsys, folder)
    write(folder / "ferry.md", "# Ferries\n\nFerries sail at ten o'clock.", age=5)
    (folder / "moon.md").unlink()
    write(folder / "new.md", "# New\n\nNew ferries sail on Sundays.")
    changed = ask(capsys, folder)
    assert "ten o'clock" in changed.out
    assert "Sundays" in changed.out
    assert "moon" not in changed.out
    assert "read what has changed in 2 documents" in changed.err
    assert ask(capsys, folder).err == ""


@pytest.mark.parametrize("when", ["as it is read", "as it is saved"])
def test_a_cache_that_another_question_has_kept_is_no_news(
    capsys, caplog, folder, monkeypatch, when
):
    ask(capsys, folder)
    write(folder / "new.md", "New ferries sail on Sundays.")
    module, name = {
        "as it is read": (source, "keep"),
        "as it is saved": (folder_cache, "save_contents"),
    }[when]
    once = getattr(module, name)

    def after_another(*arguments):
        monkeypatch.setattr(module, name, once)
        ask(capsys, folder)
        return once(*arguments)

    monkeypatch.setattr(module, name, after_another)
    answer = ask(capsys, folder)
    assert "Sundays" in answer.out
    assert [line for line in answer.err.splitlines() if "read what" not in line] == []
    assert caplog.messages == []
    assert ask(capsys, folder).out == answer.out


def test_a_cache_that_another_question_is_saving_is_no_news(capsys, folder):
    ask(capsys, folder)
    (kept,) = user_cache.cached_folders()
    write(folder / "new.md", "New ferries sail on Sundays.")
    with locked(kept.path / "index"):
        answer = ask(capsys, folder)
    assert "Sundays" in answer.out
    assert "not kept" not in answer.err


def refuse(path, **_):
    raise PermissionError(13, "Permission denied", "index")


def test_no_cache_keeps_nothing_and_clear_forgets(capsys, folder, monkeypatch):
    ask(capsys, folder, "--no-cache")
    assert user_cache.cached_folders() == []
    ask(capsys, folder)
    (kept,) = user_cache.cached_folders()
    assert kept.source == str(folder.resolve())
    assert cli.main(["cache"]) == 0
    assert str(folder.resolve()) in capsys.readouterr().out
    assert cli.main(["cache", "--clear", str(folder.parent)]) == 0
    assert f"nothing is kept of {folder.parent}: `clew cache` lists" in capsys.readouterr().err
    assert len(user_cache.cached_folders()) == 1
    with monkeypatch.context() as patched:
        patched.setattr("os.rmdir", refuse)
        assert cli.main(["cache", "--clear", str(folder)]) == 2
    assert capsys.readouterr() == ("", "clew: index: Permission denied\n")
    assert cli.main(["cache", "--clear", str(folder)]) == 0
    assert user_cache.cached_folders() == []


@pytest.mark.parametrize("way", ["cleared", "old", "damaged"])
def test_what_another_process_has_open_stays_known_where_windows_does_not_delete_it(
    capsys, folder, tmp_path, monkeypatch, way
):
    other = tmp_path / "other"
    other.mkdir()
    write(other / "ferry.md", "Ferries sail.")
    for one in (other, folder):
        ask(capsys, one)
    kept = {each.source: each.path for each in user_cache.cached_folders()}
    opened = next((kept[str(folder)] / "index" / "data").glob("nodes.vectors-*"))
    unlink = os.unlink

    def as_on_windows(path, **where):
        if Path(path).name == opened.name:
            raise PermissionError(errno.EACCES, "it is open", str(path))
        unlink(path, **where)

    with monkeypatch.context() as patched:
        patched.setattr(os, "unlink", as_on_windows)
        if way == "cleared":
            assert cli.main(["cache", "--clear"]) == 2
            assert "it is open" in capsys.readouterr().err
        elif way == "old":
            long_ago = time.time() - 100 * 86_400
            os.utime(kept[str(folder)] / "used", (long_ago, long_ago))
            user_cache.let_old_ones_go(kept[str(other)])
        else:
            next((kept[str(folder)] / "index").glob("MANIFEST-*")).write_bytes(b"damaged")
            assert folder_cache.open_cached(kept[str(folder)], None) is None
    there = {str(folder)} if way == "cleared" else {str(folder), str(other)}
    assert opened.exists()
    assert {each.source for each in user_cache.cached_folders()} == there
    assert "Ferries sail at nine" in ask(capsys, folder).out
    user_cache.clear()
    assert not kept[str(folder)].exists()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")
def test_only_its_owner_may_read_the_cache(capsys, folder):
    ask(capsys, folder)
    assert stat.S_IMODE(user_cache.cache_root().stat().st_mode) == 0o700


def test_a_damaged_index_is_made_again_and_a_full_disk_is_no_error(capsys, folder, monkeypatch):
    first = ask(capsys, folder)
    (kept,) = user_cache.cached_folders()
    for file in (kept.path / "index" / "data").iterdir():
        file.write_bytes(b"damaged")
    assert ask(capsys, folder).out == first.out

    def full(*_):
        raise OSError(28, "No space left on device")

    user_cache.clear()
    monkeypatch.setattr("clew.cli.folder_cache.save_contents", full)
    answer = ask(capsys, folder)
    assert answer.out == first.out
    assert "not kept for the next question: " in answer.err


def test_what_was_not_used_for_long_goes(capsys, folder, tmp_path):
    ask(capsys, folder)
    (kept,) = user_cache.cached_folders()
    long_ago = time.time() - 100 * 86_400
    os.utime(kept.path / "used", (long_ago, long_ago))
    other = tmp_path / "other"
    other.mkdir()
    write(other / "a.md", "Ferries sail.")
    ask(capsys, other)
    assert [each.source for each in user_cache.cached_folders()] == [str(other.resolve())]


def test_a_path_of_a_filter_is_found_however_it_is_typed(tmp_path, monkeypatch, capsys):
    (tmp_path / "docs").mkdir()
    for name in ("tide", "ferry"):
        text = f"The {name} of Corfu comes at nine."
        (tmp_path / "docs" / f"{name}.md").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for path in ("docs/tide.md", "./docs/tide.md", str(tmp_path / "docs" / "tide.md")):
        assert cli.main(["ask", "docs", "What comes at nine?", "--where", f"path={path}"]) == 0
        printed = capsys.readouterr().out
        assert "tide of Corfu" in printed
        assert "ferry of Corfu" not in printed


def test_indexing_again_reads_what_has_changed_and_says_where_nothing_has(
    capsys, folder, tmp_path, monkeypatch
):
    where = tmp_path / "docs.clew"
    command = ["index", str(folder), "-o", str(where)]
    assert cli.main(command) == 0
    capsys.readouterr()
    assert cli.main(command) == 0
    assert "nothing has changed" in capsys.readouterr().out
    write(folder / "new.md", "Zebras swim.")
    synced = []
    of_index = clew.Index.sync
    monkeypatch.setattr(
        clew.Index, "sync", lambda self, *a, **k: synced.append(1) or of_index(self, *a, **k)
    )
    assert cli.main(command) == 0
    assert synced == [1]
    assert "new.md" in clew.Index.load(where).graph.ids
    assert cli.main([*command, "--tokens", "32"]) == 0  # made in another way: built anew
    assert synced == [1]
    assert clew.Index.load(where).splitter.tokens == 32


def test_an_index_that_is_made_otherwise_or_cannot_be_opened_is_not_replaced_in_silence(
    capsys, folder, tmp_path
):
    where = tmp_path / "docs.clew"
    command = ["index", str(folder), "-o", str(where)]
    assert cli.main([*command, "--names"]) == 0
    assert capsys.readouterr().err == ""
    assert cli.main(command) == 0
    assert capsys.readouterr().err == (
        "clew: the index there was made with other options (--names, --terms or --model): "
        "it is made anew\n"
    )
    facts = {"moon.md": [("the moon", "pulls", "the sea")]}
    own = clew.Index.from_documents(folder, facts=facts, embedder=lambda texts: [[1.0, 2.0]] * len(texts))  # fmt: skip
    own.save(where)
    assert cli.main(command) == 0
    (remark,) = capsys.readouterr().err.splitlines()
    assert remark.startswith(f"clew: the index in {where} was not opened, so it is made anew, ")
    assert "without facts that were given before: the index was made with embedder=" in remark
    assert cli.main(command) == 0
    assert capsys.readouterr().err == ""


def test_a_first_index_that_a_full_disk_has_cut_short_is_made_once_there_is_room(
    capsys, folder, tmp_path, monkeypatch
):
    where = tmp_path / "docs.clew"
    command = ["index", str(folder), "-o", str(where)]

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("clew.store.disk.write", full)
        assert cli.main(command) == 2
    assert capsys.readouterr().err.startswith("clew: the index was not saved to ")
    (where / "data" / "graph.kinds-00000001-0123456789abcdef.npy").write_bytes(b"by SIGKILL")
    assert cli.main(command) == 0
    assert set(clew.Index.load(where).document_of) == {"ferry.md", "moon.md"}
    (tmp_path / "mine" / "data").mkdir(parents=True)
    (tmp_path / "mine" / "data" / "tides.csv").write_text("high, low")
    assert cli.main(["index", str(folder), "-o", str(tmp_path / "mine")]) == 2, "no index's"


def test_a_pattern_changes_the_kept_index_and_what_it_leaves_out_is_counted(
    capsys, folder, read, monkeypatch
):
    monkeypatch.setattr(known_files, "SAFE_NANOSECONDS", -(10**12))
    (folder / "drafts").mkdir()
    write(folder / "drafts/ferry.md", "Draft ferries sail at six.")
    write(folder / "drafts/moon.md", "Draft moons.")
    everything = ask(capsys, folder)
    assert "at six" in everything.out
    patterns = ["--exclude", "drafts/", "--include", "*.md", "--exclude", "*.log"]
    fewer = ask(capsys, folder, *patterns)
    assert "at six" not in fewer.out
    assert "clew: 2 files left out by --exclude\n" in fewer.err
    assert "clew: --exclude: no file matches '*.log'; patterns are relative" in fewer.err
    assert len(user_cache.cached_folders()) == 1
    read.clear()
    again = ask(capsys, folder, *patterns)
    assert (again.out, again.err, read) == (fewer.out, "", [])
    assert ask(capsys, folder).out == everything.out  # they are in again
    assert read == ["drafts/ferry.md", "drafts/moon.md"]


def test_an_index_keeps_its_patterns_until_others_are_typed(capsys, folder, tmp_path):
    where = tmp_path / "docs.clew"
    command = ["index", str(folder), "-o", str(where)]
    assert cli.main([*command, "--exclude", "moon*"]) == 0
    assert "1 file left out by --exclude" in capsys.readouterr().err
    write(folder / "moons.md", "Jupiter has many moons.")
    write(folder / "tide.md", "Low tide is at noon.")
    assert cli.main(command) == 0
    assert "2 files left out by --exclude" in capsys.readouterr().err
    assert sorted(clew.Index.load(where).document_of) == ["ferry.md", "tide.md"]
    assert cli.main([*command, "--include", "*.md"]) == 0
    assert len(clew.Index.load(where)) == 4
    assert cli.main([*command, "--include", "[z-a]"]) == 2
    assert "clew: --include has patterns as in a .gitignore" in capsys.readouterr().err
    assert cli.main(["ask", str(where), "Ferries?", "--exclude", "*.md"]) == 2
    assert "--exclude belongs to `clew index`" in capsys.readouterr().err


def test_every_command_that_reads_a_folder_takes_patterns(capsys):
    for command in ("ask", "chat", "index", "serve", "mcp", "document", "measure"):
        with pytest.raises(SystemExit):
            cli.main([command, "--help"])
        assert "no .gitignore is read" in " ".join(capsys.readouterr().out.split())


def test_gold_quotes_are_looked_for_in_the_files_that_patterns_leave(capsys, folder, tmp_path):
    write(folder / "noon.txt", "Ferries sail at noon.")
    gold = tmp_path / "gold.jsonl"
    gold.write_text(
        '{"question": "When do ferries sail?", "gold": [{"file": "ferry.md", "quote": "nine"}]}\n'
    )
    command = ["measure", str(folder), "--recipes", "bm25"]
    assert cli.main([*command, "--gold", str(gold), "--include", "*.md"]) == 0
    assert "1 file left out by --include" in capsys.readouterr().err
    assert cli.main([*command, "--gold", str(gold), "--exclude", "ferry*"]) == 0
    said = capsys.readouterr().out
    assert "the first is 'When do ferries sail?', in 'ferry.md'" in said  # which is left out
    assert cli.main([*command, "--include", "*.md"]) == 2
    assert "add --gold" in capsys.readouterr().err


def test_facts_of_what_is_not_there_are_an_error_the_second_time_too(capsys, folder, tmp_path):
    facts, saved = tmp_path / "facts.json", tmp_path / "docs.clew"
    facts.write_text(json.dumps({"ferry.md": [["Ferries", "sail at", "nine"]]}))
    typed = ("--facts", str(facts))
    ask(capsys, folder, *typed)
    assert cli.main(["index", str(folder), "-o", str(saved), *typed]) == 0
    facts.write_text(json.dumps({"nowhere.md": [["Ferries", "sail at", "nine"]]}))
    for command in (["ask", str(folder), "ferries"], ["index", str(folder), "-o", str(saved)]):
        capsys.readouterr()
        assert cli.main([*command, *typed]) != 0
        assert "did not come, for instance 'nowhere.md'" in capsys.readouterr().err


def test_the_same_facts_again_change_nothing_and_those_that_go_are_named(capsys, folder, tmp_path):
    facts, saved = tmp_path / "facts.json", tmp_path / "docs.clew"
    facts.write_text(json.dumps({"ferry.md": [["Ferries", "sail at", "nine"]]}))
    command = ["index", str(folder), "-o", str(saved)]
    assert cli.main([*command, "--facts", str(facts)]) == 0
    for typed in (["--facts", str(facts)], []):
        capsys.readouterr()
        assert cli.main([*command, *typed]) == 0
        assert "nothing has changed" in capsys.readouterr().out
    assert clew.Index.load(saved).facts == {"ferry.md": [("Ferries", "sail at", "nine")]}
    write(folder / "ferry.md", "Ferries sail at noon.")
    assert cli.main(command) == 0
    assert "1 document lost the facts" in capsys.readouterr().err
    assert clew.Index.load(saved).facts == {}
