"""Every benchmark runs to its end at its smallest size, explains its options, and says what is wrong with a folder that is not there.

A benchmark is a module of this folder with a `main`; the command line of its smallest run is its `SMOKE`, in which `{folder}` stands for
a benchmark folder of a few made-up passages.
"""

from __future__ import annotations

import ast
import importlib
import json
import os
import sys
from itertools import combinations
from pathlib import Path

import pytest

HERE = Path(__file__).parent
NAMES = ("Anna Berg", "Ben Olsen", "Cleo Hart", "Dora Lind", "Emil Voss", "Fay Moor")


def walked():
    """The modules with a `main`, found by reading the files, so that none is left out and none is imported before its test."""
    for file in sorted(HERE.glob("*.py")):
        if any(
            isinstance(node, ast.FunctionDef) and node.name == "main"
            for node in ast.parse(file.read_text("utf-8")).body
        ):
            yield file.stem


BENCHMARKS = list(walked())


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Fifteen passages that say who knows whom, as questions, triples with entities, and pages."""
    path = tmp_path_factory.mktemp("people")
    pairs = [
        (one, other, f"{one} knows {other}, whom the ferry brought to island {i}.")
        for i, (one, other) in enumerate(combinations(NAMES, 2))
    ]
    lines = {
        "corpus.jsonl": [
            {"id": f"p{i}", "title": one, "text": text} for i, (one, _, text) in enumerate(pairs)
        ],
        "queries.jsonl": [
            {
                "id": f"q{i}",
                "question": f"Whom does {one} know beside {other}?",
                "gold_ids": [f"p{i}", f"p{i + 1}"],
            }
            for i, (one, other, _) in enumerate(pairs[:4])
        ],
        "everyday.jsonl": [
            {
                "id": f"e{i}",
                "question": f"Who knows {other}?",
                "gold": [{"file": f"page{i}.md", "quote": f"brought to island {i}"}],
                "half": "tune",
                "answerable": True,
            }
            for i, (_, other, _) in enumerate(pairs[:4])
        ]
        + [
            {"id": half, "question": "bread", "gold": [], "half": half, "answerable": False}
            for half in ("tune", "held")
        ]
        + [
            {
                "id": "e5",
                "question": f"Who knows {pairs[5][1]}?",
                "gold": [{"file": "page5.md", "quote": "brought to island 5"}],
                "half": "held",
                "answerable": True,
            }
        ],
        "triples.jsonl": [
            {"passage_id": f"p{i}", "entities": [one, other], "triples": [[one, "knows", other]]}
            for i, (one, other, _) in enumerate(pairs)
        ],
    }
    for name, records in lines.items():
        (path / name).write_text(
            "".join(json.dumps(record) + "\n" for record in records), encoding="utf-8"
        )
    entries = "".join(f"<dt>{one}</dt><dd><p>{text}</p></dd>" for one, _, text in pairs[:9])
    (path / "glossary.html").write_text(f"<dl>{entries}</dl>", encoding="utf-8")
    for i, (one, _, text) in enumerate(pairs):
        (path / f"page{i}.md").write_text(
            f"# {one}\n\n{text}\n\nNobody else came.\n", encoding="utf-8"
        )
    return path


@pytest.fixture
def run(monkeypatch):
    """What runs a benchmark's `main` with a command line, in this process, and leaves its environment as it was."""
    monkeypatch.syspath_prepend(str(HERE.parents[1]))
    before = dict(os.environ)

    def main(name, arguments):
        module = importlib.import_module(f"tests.benchmarks.{name}")
        monkeypatch.setattr(
            sys, "argv", [name, *(arguments(module) if callable(arguments) else arguments)]
        )
        return module.main()

    yield main
    os.environ.clear()
    os.environ.update(before)


def test_the_walk_finds_the_benchmarks():
    assert {"steiner", "da_rag", "kurisu"} <= set(BENCHMARKS)


@pytest.mark.slow
@pytest.mark.parametrize("name", BENCHMARKS)
def test_a_benchmark_runs_to_its_end(name, run, folder, capsys):
    def smallest(module):
        assert hasattr(module, "SMOKE"), (
            f"tests/benchmarks/{name}.py wants a SMOKE, the command line of its smallest run"
        )
        return module.SMOKE.format(folder=folder).split()

    run(name, smallest)
    printed, noted = capsys.readouterr()
    assert printed.strip()
    assert "nan" not in printed.split() or "not compared" in noted, (
        "a figure without a number, though nobody was left out"
    )


@pytest.mark.parametrize("name", BENCHMARKS)
def test_a_benchmark_explains_its_options(name, run, capsys):
    with pytest.raises(SystemExit) as ended:
        run(name, ["--help"])
    assert ended.value.code == 0
    assert "usage:" in capsys.readouterr().out


@pytest.mark.parametrize("name", BENCHMARKS)
def test_a_benchmark_refuses_an_option_that_it_does_not_know(name, run, capsys):
    with pytest.raises(SystemExit) as ended:
        run(name, ["--no-such-option"])
    assert ended.value.code == 2
    assert "error:" in capsys.readouterr().err


@pytest.mark.parametrize("name", BENCHMARKS)
def test_a_folder_that_is_not_there_is_named(name, run, tmp_path):
    def elsewhere(module):
        if "{folder}" not in module.SMOKE:
            pytest.skip("it takes no folder")
        return module.SMOKE.format(folder=tmp_path / "nowhere").split()

    with pytest.raises((SystemExit, FileNotFoundError, ValueError), match="nowhere"):
        run(name, elsewhere)
