"""`clew serve` opens what the other commands open, says what is wrong at once, and stops at once."""

from __future__ import annotations

import json
import os
import queue
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module

import pytest

import clew
from clew import cli

WAIT = 60  # seconds, after which what was wanted will not come any more

on_posix = pytest.mark.skipif(os.name == "nt", reason="Ctrl-C is sent otherwise there")

SLOW_MODEL = """
import pathlib, time, uuid
def slow(prompt):
    pathlib.Path(f"prompt-{uuid.uuid4()}").touch()
    time.sleep(60)
    return "late"
"""


class Serving:
    """The command in a process of its own, once it listens."""

    def __init__(self, *arguments, cwd=None, **environment):
        before = signal.signal(signal.SIGINT, signal.default_int_handler)  # may be ignored here
        self.process = subprocess.Popen(
            [sys.executable, "-m", "clew", "serve", *map(str, arguments), "--port", "0"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=cwd,
            env={**os.environ, **environment},
        )
        signal.signal(signal.SIGINT, before)
        self.lines = queue.Queue()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        while "serving" not in (line := self.lines.get(timeout=WAIT)):
            pass
        self.address = re.search(r"http://\S+", line)[0]

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(line)

    def call(self, path, body=None, **headers):
        """Return what a route gives."""
        return json.loads("\n".join(self.lines_of(path, body, **headers)))

    def lines_of(self, path, body=None, **headers):
        """Return the lines of what a route gives, without empty ones."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json", **headers}
        request = urllib.request.Request(self.address + path, data, headers)
        with urllib.request.urlopen(request, timeout=WAIT) as response:
            return [line for line in response.read().decode().splitlines() if line]

    def wait_for_prompts(self, folder, count):
        """Wait until the model was asked so often."""
        end = time.monotonic() + WAIT
        while len(list(folder.glob("prompt-*"))) < count:
            assert time.monotonic() < end
            time.sleep(0.05)

    def rest(self):
        """Return what it has printed since."""
        self.reader.join(WAIT)
        return "".join(self.lines.queue)

    def stop(self, number=signal.SIGINT):
        """Return the exit code, and the seconds that the end took."""
        begin = time.monotonic()
        self.process.send_signal(number)
        code = self.process.wait(WAIT)
        self.reader.join(WAIT)
        self.process.stdout.close()
        return code, time.monotonic() - begin


@pytest.fixture
def folder(tmp_path):
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "ferry.md").write_text("# Ferries\n\nFerries sail at nine.")
    (docs / "moon.md").write_text("# Moon\n\nThe moon pulls the sea.")
    return docs


@on_posix
def test_a_folder_is_served_synced_and_stopped(folder):
    server = Serving(folder, "--writable", "--recipe", "bm25")
    try:
        assert server.call("/api/status")["recipe"] == "bm25"
        (folder / "owl.md").write_text("Owls hunt mice.")
        assert server.call("/api/sync", {})["added"] == ["owl.md"]
        assert (
            server.call("/api/ask", {"question": "What do owls hunt?"})["items"][0]["document"]
            == "owl.md"
        )
    finally:
        code, _ = server.stop()
    assert code == 0


@on_posix
def test_an_index_is_served_with_a_token_from_the_environment_and_saved(folder, tmp_path):
    saved = tmp_path / "docs.clew"
    assert cli.main(["index", str(folder), "-o", str(saved)]) == 0
    server = Serving(saved, "--writable", "--folder", folder, CLEW_TOKEN="right")
    try:
        with pytest.raises(urllib.error.HTTPError, match="401") as refused:
            server.call("/api/status")
        refused.value.close()
        right = {"Authorization": "Bearer right"}
        server.call("/api/documents", {"documents": [{"id": "owl", "text": "Owls hunt."}]}, **right)
        assert "owl" in clew.Index.load(saved).document_of
        assert server.call("/api/sync", {}, **right)["deleted"] == ["owl"]
    finally:
        code, _ = server.stop(signal.SIGTERM)
    assert code == 0
    assert set(clew.Index.load(saved).document_of) == {"ferry.md", "moon.md"}


@on_posix
def test_facts_of_a_saved_index_stay_when_its_folder_is_read_again(folder, tmp_path):
    saved, facts = tmp_path / "docs.clew", tmp_path / "facts.json"
    facts.write_text(json.dumps({"moon.md": [["Moon", "pulls", "sea"]]}))
    assert cli.main(["index", str(folder), "-o", str(saved), "--facts", str(facts)]) == 0
    before = clew.Index.load(saved)
    server = Serving(saved, "--writable", "--folder", folder)
    try:
        first = server.call("/api/sync", {})
        assert [first[name] for name in ("replaced", "facts_changed", "facts_lost")] == [[], [], []]
        (folder / "ferry.md").write_text("# Ferries\n\nFerries sail at noon.")
        assert server.call("/api/sync", {})["replaced"] == ["ferry.md"]
    finally:
        server.stop()
    after = clew.Index.load(saved)
    assert after.facts == before.facts == {"moon.md": [("Moon", "pulls", "sea")]}
    assert "Moon pulls sea" in after.graph.facts.texts


@on_posix
def test_an_open_question_is_given_up_in_words(folder, tmp_path):
    (tmp_path / "own_model.py").write_text(SLOW_MODEL)
    server = Serving(folder, "--model", "own_model:slow", cwd=tmp_path)
    asked = {"question": "When do ferries sail?"}
    with ThreadPoolExecutor(2) as askers:
        whole = askers.submit(server.call, "/api/ask", asked)
        stream = askers.submit(server.lines_of, "/api/ask", {**asked, "stream": True})
        server.wait_for_prompts(tmp_path, 2)
        code, seconds = server.stop()
    assert code == 0
    assert seconds < 30, "the model sleeps for a minute"
    with whole.exception() as refused:
        assert refused.code == 503
        assert json.load(refused)["error"]["message"] == "the server is stopping"
    last = json.loads(stream.result()[-1].removeprefix("data: "))
    assert last["error"] == {"message": "the server is stopping", "type": "busy"}
    assert "Traceback" not in server.rest()


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (["{folder}", "--host", "0.0.0.0"], "--token"),
        (["{folder}/nothing"], "there is no file or folder"),
        (["{folder}", "--recipe", "nothing"], "nothing"),
        (["{folder}", "--folder", "{folder}"], "no saved index"),
        (["{folder}", "--model", "nothing"], "MODULE:NAME"),
        (["{folder}", "--max-share", "0"], "above 0 and at most 1"),
        (["{folder}", "--allow-origin", "https://chat.example.org/"], "without a path"),
        (["{folder}", "--host", "203.0.113.1", "--token", "t"], "cannot listen"),
        (["{folder}", "--host", "203.0.113.1", "--token", ""], "got one of 0 characters"),
    ],
)
def test_what_is_wrong_is_said_in_a_line_before_anything_is_read(
    folder, capsys, monkeypatch, arguments, wanted
):
    monkeypatch.delenv("CLEW_TOKEN", raising=False)
    given = [argument.format(folder=folder) for argument in arguments]
    assert cli.main(["serve", *given]) == 2
    printed = capsys.readouterr().err
    assert wanted in printed
    assert printed.count("\n") == 1
    assert "read" not in printed.partition(":")[0]


def test_a_port_is_a_number_that_ports_have(folder, capsys):
    with pytest.raises(SystemExit):
        cli.main(["serve", str(folder), "--port", "99999"])
    assert "65535" in capsys.readouterr().err


def test_without_the_extra_the_error_names_it(folder, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert cli.main(["serve", str(folder)]) == 2
    assert "pip install 'clew[serve]'" in capsys.readouterr().err


def test_what_is_served_needs_no_framework_to_be_imported():
    program = "import clew.serve, sys; print([n for n in ('fastapi', 'uvicorn', 'starlette', 'pydantic') if n in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_help_teaches(capsys):
    with pytest.raises(SystemExit):
        cli.main(["serve", "--help"])
    text = capsys.readouterr().out
    for word in ("curl", "CLEW_TOKEN", "--writable", "/v1", "/docs"):
        assert word in text
    assert (
        import_module("clew.cli.serve").MAX_WAITING
        == import_module("clew.serve.service").MAX_WAITING
    )
