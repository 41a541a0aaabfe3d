"""Where a document is from: under the names of LangChain's loaders, beside the caller's own."""

from __future__ import annotations

import pytest
from langchain_clew import ClewCompressor, ClewRetriever
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
    assert "start_index" not in found.metadata  # it may be a piece of "mine"
    retriever = ClewRetriever.from_documents([Document("The ebb runs.", id="a")])
    (found,) = retriever.invoke("What runs?")
    assert not found.metadata.keys() & {"source", "start_index", "line"}  # they would say nothing


BOOK = "# Sea\n\nIt is salt.\n\n## Ebb\n\nThe ebb runs for six hours.\n\n## Flood\n\nThe flood is long.\n"


def test_a_piece_names_its_document_and_its_place_in_the_source():
    source = f"Before the book.\n{BOOK}"
    at = {"source": "sea.md", "start_index": source.index(BOOK)}
    retriever = ClewRetriever.from_documents(
        [Document(BOOK, id="sea", metadata=at)], splitter=clew.Splitter(), k=1
    )
    compressor = ClewCompressor(splitter=clew.Splitter(), k=1)
    question = "How long does the ebb run?"
    for found in (
        *retriever.invoke(question),
        *compressor.compress_documents([Document(BOOK, id="sea", metadata=at)], question),
    ):
        assert found.page_content != BOOK
        assert source[found.metadata["start_index"] :].startswith(found.page_content)
        (whole,) = retriever.get_by_ids([found.metadata["doc_id"]])
        assert (whole.page_content, whole.metadata) == (BOOK, at)


LINES = "\n".join(f"Line {i}: ferry {i} sails to island {i}." for i in range(1, 41))


@pytest.mark.parametrize("says_where", [False, True])
@pytest.mark.parametrize("length", [200, 900])  # the longer ones are cut once more
def test_nothing_false_is_said_of_where_pieces_of_another_splitter_are(length, says_where):
    starts = range(0, len(LINES), length)
    pieces = [
        Document(
            LINES[start : start + length],
            metadata={"source": "notes.txt"} | ({"start_index": start} if says_where else {}),
        )
        for start in starts
    ]
    how = {"splitter": clew.Splitter(tokens=60), "k": 3}
    for found in (
        *ClewRetriever.from_documents(pieces, **how).invoke("ferry 37"),
        *ClewCompressor(**how).compress_documents(pieces, "ferry 37"),
    ):
        assert "line" not in found.metadata
        if says_where:
            assert LINES[found.metadata["start_index"] :].startswith(found.page_content)
        else:
            assert "start_index" not in found.metadata


def test_the_only_text_of_a_file_is_the_file():
    whole = [Document(LINES, metadata={"source": "notes.txt"})]
    retriever = ClewRetriever.from_documents(whole, splitter=clew.Splitter(tokens=60), k=2)
    for found in retriever.invoke("ferry 37"):
        start = found.metadata["start_index"]
        assert LINES[start:].startswith(found.page_content)
        assert found.metadata["line"] == LINES.count("\n", 0, start) + 1


def test_a_document_that_nobody_cut_names_none():
    pieces = [Document("The ebb runs.", id="sea#0-13", metadata={"source": "sea.md"})]
    (found,) = ClewRetriever.from_documents(pieces).invoke("What runs?")
    assert "doc_id" not in found.metadata
    own = [Document(BOOK, id="sea", metadata={"source": "sea.md", "doc_id": "mine"})]
    for found in ClewRetriever.from_documents(own, splitter=clew.Splitter()).invoke("Which ebb?"):
        assert found.metadata["doc_id"] == "mine"
