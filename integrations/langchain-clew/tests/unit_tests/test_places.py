"""Where a document is from: under the names of LangChain's loaders, beside the caller's own."""

from __future__ import annotations

from langchain_clew import ClewRetriever
from langchain_core.documents import Document

import clew

PAGE = "<h1 id=top>Sea</h1>\n<h2 id=ebb>Ebb</h2>\n<p>The ebb runs for six hours.</p>"


def test_a_piece_of_a_file_says_where_it_is(tmp_path):
    (tmp_path / "tides.html").write_text(PAGE)
    (tmp_path / "tides.md").write_text("# Sea\n\n## Flood\n\nThe flood is salt.\n")
    retriever = ClewRetriever(
        index=clew.Index.from_documents(tmp_path, splitter=clew.Splitter()), k=1
    )
    (found,) = retriever.invoke("How long does the ebb run?")
    metadata = found.metadata
    assert metadata["source"] == (tmp_path / "tides.html").as_posix()
    assert (metadata["line"], metadata["anchor"]) == (3, "ebb")
    assert metadata["heading"] == metadata["clew_heading"]
    assert "page" not in metadata
    (found,) = retriever.invoke("Is the flood salt?")
    lines = (tmp_path / "tides.md").read_text().split("\n")
    assert lines[found.metadata["line"] - 1] == found.page_content
    text = (tmp_path / "tides.md").read_text()
    assert text[found.metadata["start_index"] :].startswith(found.page_content)


def test_the_callers_own_values_stay():
    own = {"source": "mine", "line": "seven", "page": 0, "heading": None}
    retriever = ClewRetriever.from_documents([Document("The ebb runs.", id="a", metadata=own)])
    (found,) = retriever.invoke("What runs?")
    assert {key: found.metadata[key] for key in own} == own
    assert found.metadata["start_index"] == 0
    retriever = ClewRetriever.from_documents([Document("The ebb runs.", id="a")])
    (found,) = retriever.invoke("What runs?")
    assert not found.metadata.keys() & {"source", "start_index", "line"}  # they would say nothing
