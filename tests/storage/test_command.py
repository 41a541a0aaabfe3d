"""The command takes the address of a storage wherever it takes a saved index."""

from __future__ import annotations

import time

import pytest

import clew
from clew import cli, user_cache
from clew.cli.watch import looks_of
from tests.serve.test_command import Serving

FERRY = "# Ferries\n\nFerries sail at nine."


@pytest.fixture
def docs(tmp_path):
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "ferry.md").write_text(FERRY)
    (folder / "moon.md").write_text("# Moon\n\nThe moon pulls the sea.")
    return folder


def run(capsys, *arguments, code=0):
    assert cli.main(list(map(str, arguments))) == code
    return capsys.readouterr()


def test_a_folder_is_indexed_there_and_asked_there(capsys, docs, address, other_machine):
    made = run(capsys, "index", docs, "-o", address)
    assert f"{address}: 2 documents" in made.out
    assert f'clew ask {address} "..."' in made.out
    assert "nothing has changed" in run(capsys, "index", docs, "-o", address).out
    here = run(capsys, "ask", docs, "When do ferries sail?", "--no-cache").out
    other_machine()
    assert run(capsys, "ask", address, "When do ferries sail?").out == here
    assert "Ferries sail" in run(capsys, "chat", address, "--ask", "When do ferries sail?").out
    assert "generation 1: whole" in run(capsys, "check", address).out
    (docs / "ferry.md").write_text("# Ferries\n\nFerries sail at noon.")
    assert "2 documents" in run(capsys, "index", docs, "-o", address).out
    assert "noon" in run(capsys, "ask", address, "When do ferries sail?").out
    assert len(run(capsys, "check", address).out.splitlines()) == 2
    assert address in run(capsys, "cache").out
    assert "1 indexes deleted" in run(capsys, "cache", "--clear", address).out
    assert user_cache.cached_folders() == []


def test_what_is_wrong_with_an_address_is_said(capsys, docs, address):
    assert "there is no index at" in run(capsys, "ask", address, "Ferries?", code=2).err
    error = run(capsys, "serve", address, "--follow", "-1", "--port", "0", code=2).err
    assert "--follow takes a number of seconds" in error
    run(capsys, "index", docs, "-o", address)
    assert "--names belongs to" in run(capsys, "ask", address, "Ferries?", "--names", code=2).err
    error = run(capsys, "index", docs, "-o", address, "--model", "nowhere:model", code=2).err
    assert "--answers FILE" in error


def test_a_damaged_file_is_named_by_the_check(capsys, docs, tmp_path):
    address = f"file://{tmp_path}/bucket"
    run(capsys, "index", docs, "-o", address)
    file = max((tmp_path / "bucket/data").iterdir())
    file.write_bytes(file.read_bytes()[:-1] + b"x")
    found = run(capsys, "check", address, code=1).out
    assert f"generation 1: {address}/data/{file.name} is damaged" in found


def test_a_replica_answers_from_what_is_published_and_no_question_fails(docs, tmp_path):
    address = f"file://{tmp_path}/bucket"
    index = clew.Index.from_documents(docs)
    index.save(address)
    serving = Serving(address, "--follow", "0.1", CLEW_CACHE=str(tmp_path / "replica"))
    try:
        asked, documents = 0, set()
        for k in range(5):
            index = index.upsert([clew.Document("new.md", f"Ferry {k} sails from the new pier.")])
            index.save(address)
            while True:
                answer = serving.call(
                    "/api/ask", {"question": "Which ferry sails from the new pier?"}
                )
                asked += 1
                documents.add(answer["items"][0]["document"])
                if f"Ferry {k} sails" in answer["text"]:
                    break
                time.sleep(0.02)
        assert asked >= 5
        assert "new.md" in documents
    finally:
        serving.process.kill()
        serving.process.wait()
        serving.reader.join()
        serving.process.stdout.close()


def test_a_watched_folder_is_published(docs, address, monkeypatch):
    index = clew.Index.from_documents(docs)
    index.save(address)
    from clew.cli import watch

    class EndedError(Exception):
        pass

    def change_and_end(_):
        if len(clew.Index.load(address)) == 3:
            raise EndedError
        (docs / "pier.md").write_text("# Pier\n\nThe pier is new.")

    monkeypatch.setattr(watch.time, "sleep", change_and_end)
    assert len(looks_of(docs)) == 2
    with pytest.raises(EndedError):
        watch.watch(docs, address, index, lambda before: before.sync(docs))
