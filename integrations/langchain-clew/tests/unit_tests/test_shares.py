"""No source has more than its share of what a chain prints."""

from __future__ import annotations

from langchain_clew import ClewCompressor, ClewRetriever
from langchain_core.documents import Document

QUESTION = "Who holds the key of the lighthouse of Vardo?"
LIES = [f"{QUESTION} Mallory {i} does." for i in range(30)]
TRUTHS = [f"Anna {i} holds the key." for i in range(4)]
SOURCES = ["lies.md"] * len(LIES) + [f"{i}.md" for i in range(len(TRUTHS))]


def test_chunks_of_one_source_share_its_part_of_the_budget() -> None:
    metadatas = [{"source": source} for source in SOURCES]
    made = {"recipe": "bm25", "budget": 1000, "count": len}
    by_default = ClewRetriever.from_texts([*LIES, *TRUTHS], metadatas=metadatas, **made)
    texts = [*LIES, *TRUTHS]
    documents = [Document(text, metadata=of) for text, of in zip(texts, metadatas, strict=True)]
    trusted = ClewRetriever.from_documents(documents, **made)
    compressor = ClewCompressor(max_share=0.3, **made)
    for share, found in (
        (0.5, by_default.invoke(QUESTION)),
        (0.3, by_default.invoke(QUESTION, max_share=0.3)),
        (0.3, trusted.invoke(QUESTION, max_share=0.3)),
        (0.3, compressor.compress_documents(documents, QUESTION)),
    ):
        lies = [one.page_content for one in found if one.metadata["source"] == "lies.md"]
        assert lies
        assert len("\n".join(lies)) <= share * 1000
        assert set(TRUTHS) & {one.page_content for one in found}
    uncapped = [one.page_content for one in trusted.invoke(QUESTION)]
    assert len("\n".join(text for text in uncapped if text in LIES)) > 500
