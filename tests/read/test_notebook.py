"""A Jupyter notebook is read as what its cells say."""

from __future__ import annotations

import json

import pytest

import clew
from clew.read import load_documents

CELLS = [
    {"cell_type": "markdown", "source": ["# Tides\n", "\n", "They follow the moon."]},
    {"cell_type": "code", "source": "tide = moon()", "outputs": [{"text": "unread"}]},
    {"cell_type": "code", "source": ["text = '```'"]},
    {"cell_type": "raw", "source": []},
]


def written(path, **more):
    path.write_text(json.dumps({"cells": CELLS, "nbformat": 4, **more}), encoding="utf-8")
    return path


def test_cells_are_read_and_what_they_put_out_is_not(tmp_path):
    index = clew.Index.from_documents(
        written(tmp_path / "tides.ipynb", metadata={"language_info": {"name": "julia"}})
    )
    (document,) = index.documents
    assert (
        document.text
        == "# Tides\n\nThey follow the moon.\n\n```julia\ntide = moon()\n```\n\n~~~~julia\ntext = '```'\n~~~~"
    )
    assert (document.metadata["title"], document.metadata["read_as"], document.format) == (
        "Tides",
        "notebook",
        "markdown",
    )


@pytest.mark.parametrize("text", ["{}", "[1]", '{"cells": [1]}', "Ben lives here."])
def test_what_is_none_is_read_as_text_and_that_is_said(tmp_path, text):
    (tmp_path / "no.ipynb").write_text(text, encoding="utf-8")
    index = clew.Index.from_documents(tmp_path / "no.ipynb")
    assert index.documents[0].text == text
    assert "read as text" in index.skipped[0][1]


def test_one_without_text_is_skipped(tmp_path):
    (tmp_path / "empty.ipynb").write_text('{"cells": []}', encoding="utf-8")
    written(tmp_path / "tides.ipynb")
    index = clew.Index.from_documents(tmp_path)
    assert len(index) == 1
    assert index.skipped[0][1] == "a notebook without text"


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_lines_of_a_cell_end_as_in_any_other_text(tmp_path, end):
    cells = [{**cell, "source": "".join(cell["source"]).replace("\n", end)} for cell in CELLS]
    other = written(tmp_path / "other.ipynb", cells=cells)
    texts = [
        load_documents(file).documents[0].text
        for file in (other, written(tmp_path / "tides.ipynb"))
    ]
    assert texts[0] == texts[1]


def test_comments_of_its_text_are_left_out_and_those_in_code_are_read(tmp_path):
    cells = [
        {"cell_type": "markdown", "source": ["<!-- TODO -->\n", "\n", "# Tides\n", "High."]},
        {"cell_type": "markdown", "source": ["<!-- nothing -->"]},
        {"cell_type": "code", "source": ["page = '<!-- ebb -->'"]},
    ]
    path = written(tmp_path / "tides.ipynb", cells=cells)
    path.write_text(json.dumps(json.loads(path.read_text()), indent=1), encoding="utf-8")
    (document,) = load_documents(path).documents
    assert document.text == "# Tides\nHigh.\n\n```python\npage = '<!-- ebb -->'\n```"
    lines = path.read_text().split("\n")
    for word in ("Tides", "High", "ebb"):
        place = document.text.index(word)
        (line, _) = document.source_map.lines_of(document.text, (place, place + 1))
        assert word in lines[line - 1]
