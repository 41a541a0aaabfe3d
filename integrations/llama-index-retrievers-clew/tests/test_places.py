"""Where a node is from: in its metadata, which a model does not see, beside the caller's own."""

from __future__ import annotations

from llama_index.core.schema import Document, MetadataMode
from llama_index.retrievers.clew import ClewRetriever

import clew

PAGE = "<h1 id=top>Sea</h1>\n<h2 id=ebb>Ebb</h2>\n<p>The ebb runs for six hours.</p>"


def test_a_piece_of_a_file_says_where_it_is_and_a_model_reads_the_heading_alone(tmp_path):
    (tmp_path / "tides.html").write_text(PAGE)
    index = clew.Index.from_documents(tmp_path, splitter=clew.Splitter())
    found = ClewRetriever(index=index).retrieve("How long does the ebb run?")[0].node
    source = (tmp_path / "tides.html").as_posix()
    assert (found.metadata["source"], found.metadata["line"]) == (source, 3)
    assert (found.metadata["anchor"], found.metadata["heading"]) == ("ebb", "Sea > Ebb")
    seen = found.get_content(MetadataMode.LLM)
    assert seen.count("Sea > Ebb") == 1
    assert "start_index" not in seen
    assert "anchor" not in found.get_content(MetadataMode.EMBED)


def test_the_callers_own_values_stay():
    own = {"source": "mine", "line": "seven", "page": 0}
    document = Document(text="The ebb runs.", id_="a", metadata=own)
    retriever = ClewRetriever(index=clew.Index.from_documents([document]))
    found = retriever.retrieve("What runs?")[0].node
    assert {key: found.metadata[key] for key in own} == own
    assert "mine" in found.get_content(MetadataMode.LLM)
