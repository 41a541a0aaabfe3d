"""What the filter forbids is nowhere in what a retriever returns."""

from __future__ import annotations

import pytest
from langchain_clew import ClewRetriever
from langchain_core.documents import Document

QUESTION = "What fee does the harbour of Corfu take in winter?"


@pytest.mark.parametrize("recipe", ["hipporag", "kurisu", "bm25", "da_rag", "journey"])
def test_no_canary_is_in_a_document(recipe):
    documents = [
        Document(
            id=f"canary-{i}" if i % 2 else f"page-{i}",
            page_content=f"{'Canary' if i % 2 else 'Corfu'}: the harbour takes a fee of {i}.",
            metadata={"tenant": "b", "secret": f"canary-{i}", "title": "Canary"}
            if i % 2
            else {"tenant": "a"},
        )
        for i in range(8)
    ]
    retriever = ClewRetriever.from_documents(documents, recipe=recipe)
    found = retriever.invoke(QUESTION, filter={"tenant": "a"})
    assert {one.id for one in found} <= {"page-0", "page-2", "page-4", "page-6"}
    assert found
    assert not [one for one in found if "canary" in one.model_dump_json().lower()]
