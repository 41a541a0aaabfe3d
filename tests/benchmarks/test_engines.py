"""The comparison of engines runs, finds what an engine does not keep, and names what is missing."""

from __future__ import annotations

import importlib
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import numpy as np
import pytest

from tests.benchmarks.engines import packages, promises
from tests.benchmarks.engines.engine import Engine, Question, Row
from tests.benchmarks.engines.figures import ENGINES, Corpus
from tests.benchmarks.engines.words import FTS5, ClewPostings

main = importlib.import_module("tests.benchmarks.engines.__main__")
SHORT = "--rounds 1 --tried 12 --kills 1 --questions 3 --no-packages"
TOPICS = ("ferries sail to the island", "bread is baked at night", "snow falls in winter")


@pytest.fixture
def folder(tmp_path):
    """A folder of pages, each with words of its own."""
    path = tmp_path / "pages"
    path.mkdir()
    for i in range(12):
        text = f"Here {TOPICS[i % 3]}, and the page has the word{chr(97 + i)} of its own.\n"
        (path / f"page{i}.md").write_text(text, encoding="utf-8")
    return path


def printed_by(monkeypatch, capsys, arguments):
    """What the benchmark prints in this process with a command line: rows by part and name."""
    monkeypatch.chdir(Path(__file__).parents[2])
    monkeypatch.setattr(sys, "argv", ["engines", *arguments])
    main.main()
    printed, noted = capsys.readouterr()
    tables = {}
    for line in printed.splitlines():
        if line.startswith("| "):
            cells = [cell.strip() for cell in line.strip("| ").split(" | ")]
            if cells[0] in ("words", "vectors", "columns"):
                heads = cells[1:]
                table = tables.setdefault((cells[0], "MB" in heads), {})
            else:
                table[cells[0]] = dict(zip(heads, cells[1:], strict=False))
    return tables, printed, noted


def test_it_runs_with_what_python_has(folder, monkeypatch, capsys):
    chosen = ["--engines", "SQLite FTS5", "SQLite"]
    arguments = ["--folder", str(folder), *SHORT.split(), *chosen]
    tables, printed, _ = printed_by(monkeypatch, capsys, arguments)
    assert printed.startswith("12 passages")
    assert set(tables) == {
        (part, costs) for part in ("words", "columns") for costs in (True, False)
    }
    costs = tables["words", True]["SQLite FTS5"]
    assert float(costs["MB"]) > 0.01
    assert float(costs["hit@10" if "hit@10" in costs else "build s"].split()[0]) >= 0
    kept = tables["words", False]["SQLite FTS5"]
    assert kept["filter"].startswith("**no**"), "the frequencies are those of all passages"
    assert kept["deleted"] == kept["ties again"] == kept["ties shuffled"] == "yes"
    assert "1 kills over" in kept["kills"]
    assert kept["kills"].startswith("yes")
    assert "named by its check" in kept["damage"]
    assert "other answers" in tables["columns", False]["SQLite"]["damage"], (
        "no checksum is kept of a page"
    )


@pytest.mark.slow
def test_it_measures_all_that_is_installed(folder, monkeypatch, capsys):
    arguments = ["--folder", str(folder), *SHORT.split(), "--no-promises"]
    tables, _, noted = printed_by(monkeypatch, capsys, arguments)
    measured = {name for table in tables.values() for name in table}
    left_out = {name for name in ENGINES if f"{name} is not compared" in noted}
    assert measured | left_out == set(ENGINES)
    assert not measured & left_out


@pytest.mark.slow
def test_clew_keeps_its_promises(folder, monkeypatch, capsys):
    own = {"words": "clew's postings", "vectors": "clew's cosines"}
    arguments = ["--folder", str(folder), *SHORT.split(), "--no-costs", "--engines", *own.values()]
    tables, _, _ = printed_by(monkeypatch, capsys, arguments)
    for part, name in own.items():
        kept = tables[part, False][name]
        assert kept["filter"] == kept["deleted"] == kept["ties in commits"] == "yes"
        assert "other answers" not in kept["damage"]


def corpus_of(n):
    texts = [f"{TOPICS[i % 3]} beside word{chr(97 + i)}" for i in range(n)]
    vectors = np.eye(n, 384, dtype=np.float32)
    rows = [Row(i, text, vectors[i]) for i, text in enumerate(texts)]
    questions = [Question(text, vectors[i], 0) for i, text in enumerate(texts[:6])]
    return Corpus(rows, questions, [frozenset()] * len(questions))


def test_clew_keeps_what_fts5_does_not(tmp_path):
    found = {}
    for engine in (FTS5, ClewPostings):
        place = tmp_path / engine.__name__
        place.mkdir()
        found[engine] = promises.try_filters(engine, corpus_of(10), place)
    assert found[ClewPostings] == {"filter": "yes", "deleted": "yes"}
    assert found[FTS5]["filter"].startswith("**no**")
    assert found[FTS5]["deleted"] == "yes"


class Careless(Engine):
    """Counts words; of equal passages the one that came last is first, and none is ever deleted."""

    def build(self, folder, rows):
        self.file, self.rows = folder / "rows.json", []
        self.add(rows)

    def open(self, folder):
        self.file = folder / "rows.json"
        self.rows = [tuple(row) for row in json.loads(self.file.read_text("utf-8"))]

    def ask(self, question, k, group=None):
        words = set(question.text.split())
        hits = [(id, float(len(words & set(text.split())))) for id, text in reversed(self.rows)]
        return sorted(hits, key=lambda hit: -hit[1])[:k]

    def add(self, rows):
        self.rows += [(row.id, row.text) for row in rows]
        self.file.write_text(json.dumps(self.rows), encoding="utf-8")

    def delete(self, ids):
        pass


def test_a_careless_engine_is_found_out(tmp_path):
    corpus = corpus_of(24)
    filters = promises.try_filters(Careless, corpus, tmp_path)
    assert all(filters[one].startswith("**no**") for one in ("filter", "deleted"))
    place = tmp_path / "ties"
    place.mkdir()
    ties = promises.try_ties(Careless, corpus, place)
    assert ties["ties again"] == ties["ties built again"] == ties["ties in commits"] == "yes"
    assert ties["ties shuffled"].startswith("**no**")


def test_every_file_is_damaged(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "short").write_bytes(b"ab")
    (tmp_path / "long").write_bytes(bytes(1000))
    (tmp_path / "empty").write_bytes(b"")
    flips = promises.places_to_flip(tmp_path)
    assert {file for file, _ in flips} == {"a/short", "long"}
    assert {at for file, at in flips if file == "a/short"} == {0, 1}
    places = [at for file, at in flips if file == "long"]
    assert len(places) >= promises.FLIPS
    assert max(places) - min(places) > 900


def test_what_is_not_installed_is_left_out_with_the_line_that_installs_it(monkeypatch, capsys):
    class Missing(Engine):
        name, part = "missing", "words"
        modules, packages = ("no_such_engine",), ("no-such-engine", "its-stems")

    monkeypatch.setitem(ENGINES, "missing", Missing)
    assert main.installed(["words"], ["missing", "SQLite FTS5"]) == ["SQLite FTS5"]
    noted = capsys.readouterr().err
    assert "missing is not compared" in noted
    assert "pip install no-such-engine its-stems" in noted


FILES = (
    "engine-1.0-cp311-cp311-manylinux_2_17_x86_64.whl",
    "engine-2.0-cp39-abi3-manylinux_2_17_x86_64.manylinux2014_x86_64.whl",
    "engine-2.0-cp39-abi3-manylinux_2_17_aarch64.whl",
    "engine-2.0-cp39-abi3-macosx_11_0_arm64.whl",
    "engine-2.0-cp311-cp311-macosx_10_9_x86_64.whl",
    "engine-3.0rc1-cp39-abi3-win_amd64.whl",
    "engine-2.0.tar.gz",
)


@pytest.mark.parametrize("form", ["json", "html"])
def test_wheels_of_the_newest_version(form):
    class Index(BaseHTTPRequestHandler):
        def do_GET(self):
            if form == "json":
                page = json.dumps({"files": [{"filename": name} for name in FILES]})
            else:
                page = "".join(f'<a href="../{name}#sha256=1">{name}</a>' for name in FILES)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(page.encode())

        def log_message(self, *_):
            pass

    with HTTPServer(("127.0.0.1", 0), Index) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        newest, found = packages.wheels_of("engine", f"http://127.0.0.1:{server.server_port}/")
        server.shutdown()
    assert newest == "2.0"
    every = list(packages.PYTHONS)
    assert found == {
        "Linux x86": every,
        "Linux ARM": every,
        "macOS ARM": every,
        "macOS x86": ["cp311"],
        "Windows": [],
    }


def test_a_folder_that_is_not_there_is_named(monkeypatch, capsys, tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        printed_by(monkeypatch, capsys, ["--folder", str(tmp_path / "nowhere")])
    with pytest.raises(SystemExit):
        printed_by(monkeypatch, capsys, [])
    assert "--folder" in capsys.readouterr().err
