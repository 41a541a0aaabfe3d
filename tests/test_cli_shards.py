"""A folder becomes several indexes by `clew index --shards`, and `clew ask` asks several as one."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import clew
from clew import cli
from clew.read import known_files
from clew.sharded import ShardedIndex, partition_by_hash

HARBOUR = Path(__file__).parents[1] / "examples" / "harbour"
QUESTION = "Who is the coxswain of the lifeboat?"


@pytest.fixture
def docs(tmp_path, monkeypatch):
    monkeypatch.setattr(known_files, "SAFE_NANOSECONDS", -(10**12))  # of these young files
    folder = tmp_path / "docs"
    shutil.copytree(HARBOUR, folder)
    (folder / "logo.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    return folder


def run(capsys, *arguments):
    code = cli.main([str(one) for one in arguments])
    out, err = capsys.readouterr()
    return code, out, err


def looks(folder):
    """Return when each file of every shard was written, but for the records that reading leaves."""
    files = [one for one in folder.rglob("*") if one.is_file() and "VERIFIED" not in one.name]
    return {file: file.stat().st_mtime_ns for file in files}


def test_shards_have_every_document_and_are_asked_as_one(docs, tmp_path, capsys):
    output = tmp_path / "shards"
    code, out, err = run(capsys, "index", docs, "-o", output, "--shards", 3)
    shards = sorted(output.iterdir())
    assert (code, [one.name for one in shards]) == (0, ["shard-1", "shard-2", "shard-3"])
    of_shards = [one.id for shard in shards for one in clew.Index.load(shard).documents]
    whole = clew.Index.from_documents(docs, splitter=clew.Splitter())
    assert sorted(of_shards) == sorted(one.id for one in whole.documents)
    assert f"3 shards of {len(whole)} documents" in out
    assert "logo.png" in err
    code, out, _ = run(capsys, "ask", *shards, QUESTION, "--json")
    with ShardedIndex.open(shards) as index:
        wanted = index.ask(QUESTION, budget=2000)
    assert (code, [one["id"] for one in json.loads(out)["items"]]) == (0, list(wanted.ids))
    assert run(capsys, "ask", *shards, QUESTION, "--where", "file_name=none.md")[0] == 1


def test_the_same_command_writes_what_has_changed(docs, tmp_path, capsys):
    command = ("index", docs, "-o", tmp_path / "shards", "--shards", 3)
    run(capsys, *command)
    before = looks(tmp_path / "shards")
    assert "nothing has changed" in run(capsys, *command)[1]
    assert looks(tmp_path / "shards") == before
    (docs / "whale.md").write_text("# Whales\n\nA whale was seen off the quay.\n", encoding="utf-8")
    run(capsys, *command)
    new = looks(tmp_path / "shards").keys() - before.keys()
    assert len({one.relative_to(tmp_path / "shards").parts[0] for one in new}) == 1
    run(capsys, *command, "--names")
    shards = [clew.Index.load(one) for one in (tmp_path / "shards").iterdir()]
    assert all(isinstance(one.config.extractor, clew.NamesAndSymbols) for one in shards)
    assert sum(len(one.graph.facts) for one in shards) > 0


def test_shards_keep_their_patterns_until_others_are_typed(docs, tmp_path, capsys):
    (docs / "whale.txt").write_text("A whale was seen off the quay.", encoding="utf-8")
    command = ("index", docs, "-o", tmp_path / "shards", "--shards", 2)
    assert run(capsys, *command, "--exclude", "whale.*")[0] == 0
    assert "nothing has changed" in run(capsys, *command)[1]

    def ids():
        shards = map(clew.Index.load, sorted((tmp_path / "shards").iterdir()))
        return {one.id for shard in shards for one in shard.documents}

    assert "whale.txt" not in ids()
    run(capsys, *command, "--include", "*")
    assert "whale.txt" in ids()
    assert "nothing has changed" in run(capsys, *command)[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--watch"], "leave --watch out"),
        (["--facts", "facts.json"], "leave --facts out"),
        (["--reports"], "leave --reports, --summaries and --titles out"),
        (["-o", "postgresql://host/db?index=docs"], "name a folder after -o"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_written(
    docs, tmp_path, capsys, arguments, message
):
    output = tmp_path / "shards"
    code, _, err = run(capsys, "index", docs, "-o", output, "--shards", 2, *arguments)
    assert (code, message in err, output.exists()) == (2, True, False)


def test_nothing_else_is_written_over(docs, tmp_path, capsys):
    code, _, err = run(capsys, "index", docs, "-o", docs, "--shards", 2)
    assert (code, "is no shard" in err) == (2, True)
    output = tmp_path / "shards"
    run(capsys, "index", docs, "-o", output, "--shards", 3)
    code, _, err = run(capsys, "index", docs, "-o", output, "--shards", 2)
    assert (code, "shard-3 would stay" in err) == (2, True)


def test_several_indexes_are_asked_for_a_context_alone(docs, tmp_path, capsys):
    run(capsys, "index", docs, "-o", tmp_path / "shards", "--shards", 2)
    shards = sorted((tmp_path / "shards").iterdir())
    for arguments, message in (
        ((*shards, QUESTION, "--answer"), "--answer asks one index"),
        ((*shards, QUESTION, "--names"), "--names belongs to `clew index`"),
        ((shards[0], docs, QUESTION), "or all of them are indexes"),
        ((*shards, shards[0], QUESTION), "two shards have"),
    ):
        code, _, err = run(capsys, "ask", *arguments)
        assert (code, message in err) == (2, True)


@pytest.mark.parametrize("command", [("ask", QUESTION), ("chat", "--ask", QUESTION)])
def test_the_folder_of_the_shards_says_how_they_are_asked(docs, tmp_path, capsys, command):
    shards = tmp_path / "all shards"
    run(capsys, "index", docs, "-o", shards, "--shards", 2)
    code, _, err = run(capsys, command[0], shards, *command[1:])
    has_two = f"clew: {shards} has 2 saved indexes and nothing to read: "
    assert (code, err) == (2, f"{has_two}`clew ask '{shards}'/* \"...\"` asks them as one\n")
    (shards / "read-me.md").write_text("The coxswain of the lifeboat is written about elsewhere.")
    code, out, _ = run(capsys, command[0], shards, *command[1:])
    assert (code, "elsewhere" in out) == (0, True), "a folder that has something to read"


def test_two_files_of_one_path_are_told_apart_as_the_error_on_their_indexes_says(tmp_path, capsys):
    for name, hour in (("docs", "nine"), ("notes", "noon")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "n.md").write_text(f"Ferries sail at {hour}.")
        run(capsys, "index", tmp_path / name, "-o", tmp_path / f"{name}.clew")
    question = "When do ferries sail?"
    indexes = tmp_path / "docs.clew", tmp_path / "notes.clew"
    code, _, err = run(capsys, "ask", *indexes, question)
    assert (code, "'n.md" in err, "ask the folders themselves" in err) == (2, True, True)
    _, out, _ = run(capsys, "ask", tmp_path / "docs", tmp_path / "notes", question, "--json")
    told = {item["id"]: item["text"] for item in json.loads(out)["items"]}
    assert told == {"docs/n.md": "Ferries sail at nine.", "notes/n.md": "Ferries sail at noon."}


def test_shards_without_files_are_no_indexes_and_those_that_lose_all_go(
    tmp_path, capsys, monkeypatch
):
    monkeypatch.setattr(known_files, "SAFE_NANOSECONDS", -(10**12))  # of these young files
    docs, output = tmp_path / "docs", tmp_path / "shards"
    docs.mkdir()
    shard_of = partition_by_hash((f"{n}.md" for n in range(9)), 2)
    for name in shard_of:
        (docs / name).write_text(f"Ferry {name[0]} sails to Corfu.")
    command = ("index", docs, "-o", output, "--shards", 2)
    assert run(capsys, *command)[0] == 0
    first, *others = [name for name, shard in shard_of.items() if shard == 0]
    for name in [name for name, shard in shard_of.items() if shard == 1]:
        (docs / name).unlink()
    (docs / first).write_text("The ferry was sold.")
    code, out, err = run(capsys, *command)
    assert (code, "1 shard of" in out, "no document goes to shard-2" in err) == (0, True, True)
    assert [one.name for one in output.iterdir()] == ["shard-1"]
    assert clew.Index.load(output / "shard-1").document_of.keys() == {first, *others}
    assert "was sold" in run(capsys, "ask", output / "shard-1", "Was the ferry sold?")[1]
    assert "nothing has changed" in run(capsys, *command)[1]
    back = next(name for name, shard in shard_of.items() if shard == 1)
    (docs / back).write_text("The ferry is back.")
    assert "2 shards of" in run(capsys, *command)[1]
    assert "is back" in run(capsys, "ask", *output.iterdir(), "Is the ferry back?")[1]
    for file in docs.iterdir():
        file.write_text("")
    code, _, err = run(capsys, *command)
    assert (code, "no documents came" in err, len([*output.iterdir()])) == (2, True, 2)


def test_a_folder_of_fewer_files_than_shards_names_what_is_not_read(tmp_path, capsys):
    docs, output = tmp_path / "docs", tmp_path / "shards"
    docs.mkdir()
    (docs / "ferry.md").write_text("Ferries sail at ten.")
    for n in range(9):
        (docs / f"{n}.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    code, out, err = run(capsys, "index", docs, "-o", output, "--shards", 20)
    assert (code, "1 shard of 1 document" in out) == (0, True)
    assert "no document goes to shard-" in err
    assert " 9 " in err
    assert ".png" in err
    assert "at ten" in run(capsys, "ask", *output.iterdir(), "When do ferries sail?")[1]
