"""The command takes the address of an index in a database where it takes a saved one."""

from __future__ import annotations

import pytest

from clew.cli import build_parser, main
from clew.cli.databases import shown
from clew.cli.served import open_served, served_options
from tests.remote.servers import PASSWORD
from tests.serve.test_command import Serving, on_posix

QUESTION = "When does the ferry to Corfu sail?"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("CLEW_CACHE", str(tmp_path / "cache"))
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "ferries.md").write_text("# Ferries\n\nThe ferry to Corfu sails at ten.\n")
    (tmp_path / "docs" / "bread.md").write_text("# Bread\n\nSourdough rests for a night.\n")
    return tmp_path / "docs"


def run(capsys, *arguments):
    code = main([str(one) for one in arguments])
    printed, noted = capsys.readouterr()
    return code, printed, noted


def test_an_address_is_where_an_index_is_made_asked_and_brought_up_to_date(server, folder, capsys):
    address, saved = server.address(), folder.parent / "docs.clew"
    code, printed, noted = run(capsys, "index", folder, "-o", address)
    assert code == 0, noted
    assert "2 documents" in printed
    assert run(capsys, "index", folder, "-o", saved)[0] == 0
    over_folder, there = (run(capsys, "ask", place, QUESTION) for place in (saved, address))
    assert over_folder[:2] == there[:2]
    assert "sails at ten" in there[1]
    answers = [run(capsys, "ask", place, QUESTION, "--answer") for place in (saved, address)]
    assert answers[0][:2] == answers[1][:2]
    assert run(capsys, "index", folder, "-o", address)[1].endswith("nothing has changed\n")
    (folder / "ferries.md").write_text("# Ferries\n\nThe ferry to Corfu sails at noon.\n")
    assert run(capsys, "index", folder, "-o", address)[0] == 0
    code, printed, _ = run(capsys, "ask", address, QUESTION)
    assert (code, "at noon" in printed, "at ten" in printed) == (0, True, False)
    code, printed, noted = run(capsys, "ask", address, QUESTION, "--where", "file_name=none.md")
    assert (code, printed) == (1, "")
    assert noted.startswith("clew: ")


def test_it_is_served_as_it_is_at_the_start(server, folder, capsys):
    address = server.address()
    assert run(capsys, "index", folder, "-o", address)[0] == 0
    typed = build_parser().parse_args(["serve", address])
    how = served_options(typed)
    assert how.saved_to is None
    served = open_served(typed, how)
    assert "sails at ten" in served.ask(QUESTION).context.text


@on_posix
def test_a_server_that_may_be_changed_says_that_the_database_is_not(postgres, folder, capsys):
    address = postgres.address()
    assert run(capsys, "index", folder, "-o", address)[0] == 0
    server = Serving(address, "--writable")
    body = {"documents": [{"id": "owl", "text": "Owls hunt mice."}]}
    assert server.call("/api/documents", body)["saved"] is False
    assert server.stop()[0] == 0
    assert "no change is written to the database" in server.rest()


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (["ask", "{}", QUESTION], "has no index 'none'"),
        (["ask", "{}", QUESTION, "--tokens", "9"], "--tokens belongs to `clew index`"),
        (["ask", "docs", "{}", QUESTION], "is an index, which is asked alone"),
        (["check", "{}"], "has no files to hash"),
        (["index", "docs", "-o", "{}", "--watch"], "--watch keeps a folder up to date"),
        (["index", "docs", "-o", "{}", "--model", "m:f"], "name a file for the model's answers"),
    ],
)
def test_what_cannot_be_is_said_without_the_password(
    server, folder, capsys, monkeypatch, arguments, wanted
):
    monkeypatch.chdir(folder.parent)
    address = server.address("none")
    assert PASSWORD in address
    code, printed, noted = run(capsys, *(one.format(address) for one in arguments))
    assert (code, printed) == (2, "")
    assert wanted in noted
    assert PASSWORD not in noted


def test_a_password_is_hidden_and_nothing_else():
    address = "postgresql://anna:se@cret@[::1]:5432/db?index=a&tenant=b"
    assert shown(address) == "postgresql://anna:***@[::1]:5432/db?index=a&tenant=b"
    assert shown(address.replace(":se@cret", "")) == address.replace(":se@cret", "")
