"""Half of a surrogate pair, as broken JSON has it, stops nothing and is lost nowhere but in files of text."""

from __future__ import annotations

import json

import pytest

import clew
from clew import Document, Index, Names
from clew.cli import main

HALF = "\ud800"
DOCUMENTS = [
    Document(f"d{HALF}{i}", f"Anna {HALF} met Ben {i} in Corfu{HALF}.", {"title": f"T{HALF}", f"k{HALF}": HALF})
    for i in range(4)
]  # fmt: skip
FACTS = {DOCUMENTS[0].id: [(f"Anna{HALF}", f"met{HALF}", f"Ben{HALF}")]}


@pytest.fixture(scope="module")
def index():
    return Index.from_documents(DOCUMENTS, facts=FACTS, extractor=Names())


@pytest.mark.parametrize("recipe", ["dense", "bm25", "hipporag", "kurisu", "da_rag"])
def test_every_form_of_an_answer_has_it(index, recipe):
    context = index.ask(f"Who met {HALF} Ben?", recipe=recipe)
    assert HALF in context.text
    assert json.loads(json.dumps(context.to_dict()).encode())["text"] == context.text
    assert context.to_html()
    assert context.to_mermaid()


def test_it_is_saved_and_written(index, tmp_path, capsys):
    index.save(tmp_path / "index")
    loaded = Index.load(tmp_path / "index", verify="full")
    assert loaded.graph.texts == index.graph.texts
    saved, page, folder = (str(tmp_path / name) for name in ("index", "page.html", "docs"))
    assert main(["ask", saved, "Who met Ben?", "--html", page]) == 0
    assert "Anna ? met Ben" in (tmp_path / "page.html").read_text(encoding="utf-8")
    assert main(["document", saved, "-o", folder]) == 0
    assert "Corfu?" in "".join(
        file.read_text(encoding="utf-8") for file in (tmp_path / "docs").glob("*.md")
    )


def test_candidates_of_langchain_without_an_id_may_have_it():
    adapter = pytest.importorskip("langchain_clew")
    from langchain_core.documents import Document as Page

    pages = [Page(document.text) for document in DOCUMENTS]
    found = adapter.ClewCompressor().compress_documents(pages, f"Who met {HALF}?")
    assert {page.page_content for page in found} <= {page.page_content for page in pages}
    assert clew.narrow(f"Who met {HALF}?", [document.text for document in DOCUMENTS]).ids
