"""Documents of files are cut as they are read: into what they would be cut into afterwards."""

from __future__ import annotations

import numpy as np
import pytest

import clew
from clew.read import load_documents
from clew.read.formats import python

PROGRAM = "import os\n\n\n" + "\n\n".join(
    f"def step_{i}(path):\n    '''Step {i}.'''\n" + f"    os.remove(path)  # {i}\n" * 9
    for i in range(40)
)
PAGE = "# Quays\n\n" + "\n\n".join(f"## Quay {i}\n\n" + f"Ferry {i} sails. " * 40 for i in range(9))
FILES = {
    "steps.py": PROGRAM,
    "broken.py": PROGRAM.replace("def step_7(path)", "def step_7(path"),
    "umlaut.py": PROGRAM.replace("Step", "Schritt für Schritt"),
    "quays.md": PAGE,
    "quays.html": f"<h1>Quays</h1><p>{PAGE}</p>",
    "rows.csv": "quay,ferry\n" + "\n".join(f"{i},{i * i}" for i in range(200)),
    "long.md": f"# Line\n\n{'word ' * 30_000}\n\n{PAGE}",
}


@pytest.fixture
def folder(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def assert_same(one, other):
    assert one.graph.ids == other.graph.ids
    assert list(one.graph.texts) == list(other.graph.texts)
    assert one.graph.references == other.graph.references
    for column in ("parents", "spans", "documents", "tokens"):
        assert np.array_equal(getattr(one.graph, column), getattr(other.graph, column)), column


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"splitter": clew.Splitter(64, sentences=True)},
        {"splitter": None},
        {"count": lambda text: len(text.split())},
        {"splitter": clew.Splitter(count=len)},
        {"max_line": 100},
    ],
)
def test_documents_that_come_by_themselves_are_cut_likewise(folder, options):
    index = clew.Index.from_documents(folder, **options)
    again = clew.Index.from_documents(load_documents(folder).documents, **options)
    assert_same(index, again)
    formats = {document.id: document.format for document in index.documents}
    assert formats["long.md"] == "text"  # a line has more than `max_line` characters


@pytest.mark.parametrize("extractor", [None, clew.Symbols(), clew.NamesAndSymbols()])
def test_a_module_is_parsed_once_to_be_read_and_cut(tmp_path, monkeypatch, extractor):
    parsed, parse = [], python.parse
    monkeypatch.setattr(python, "parse", lambda text: parsed.append(text) or parse(text))
    for name in ("steps.py", "umlaut.py"):
        (tmp_path / name).write_text(FILES[name], encoding="utf-8")
    index = clew.Index.from_documents(tmp_path, extractor=extractor)
    assert len(index.graph.rows("section")) >= 80
    assert parsed == [FILES["steps.py"], FILES["umlaut.py"]]
    assert python._BEING_READ.parsed is None


class OwnSymbols(clew.Symbols):
    """Reads files as they are put together of their passages."""


@pytest.mark.parametrize("processes", [None, 2])
def test_symbols_of_a_file_are_read_as_it_is_cut(folder, monkeypatch, processes):
    monkeypatch.setattr("clew.processes.MIN_SIZE", 1000)
    (folder / "more.py").write_text(
        "import steps\nclass Box:\n    def open(self) -> 'Box': steps.step_1(1); return self\n"
        "def run(box: Box, f=lambda self: self):\n    box.open().open()\n    (box or run).open()\n",
        encoding="utf-8",
    )
    index = clew.Index.from_documents(folder, processes=processes)
    again = clew.Index.from_documents(folder, extractor=OwnSymbols())
    assert [*index.graph.facts.texts] == [*again.graph.facts.texts]
    assert "run calls open" in " ".join(index.graph.facts.texts).replace("Box.", "")
    assert index.knowledge == again.knowledge
