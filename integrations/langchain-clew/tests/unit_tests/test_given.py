"""What came in the place of what is wanted is said at once, before anything is embedded."""

from __future__ import annotations

from pathlib import Path

import pytest
from langchain_clew import ClewCompressor, ClewRetriever
from langchain_core.documents import Document
from langchain_core.vectorstores import InMemoryVectorStore


@pytest.mark.parametrize("given", ["Hello you", Path("folder"), b"Hello", None, 3])
@pytest.mark.parametrize(
    ("make", "what"),
    [(ClewRetriever.from_documents, "documents"), (ClewRetriever.from_texts, "texts")],
)
def test_a_folder_or_text_is_not_read_letter_by_letter(make, what, given):
    with pytest.raises(
        TypeError,
        match=rf"{what} are a list .*not a {type(given).__name__}.*clew\.Index\.from_documents\(folder",
    ):
        make(given)


def test_one_document_is_a_list_of_one():
    document = Document("Theseus of Athens killed the Minotaur.", id="theseus")
    assert [
        found.id
        for found in ClewRetriever.from_documents(document).invoke("Who killed the Minotaur?")
    ] == ["theseus"]


def test_facts_are_named_by_document(documents, embeddings):
    store, wrong = InMemoryVectorStore(embeddings), [("Ann", "is", "Ben")]
    makers = [
        lambda: ClewRetriever.from_documents(documents, embeddings, facts=wrong),
        lambda: ClewRetriever.from_vectorstore(store, facts=wrong),
        lambda: ClewCompressor(facts=wrong),
    ]
    for make in makers:
        with pytest.raises(TypeError, match=r"facts are triples by document id.*not a list"):
            make()
    assert not embeddings.documents


def test_a_retriever_is_no_store(embeddings):
    store = InMemoryVectorStore(embeddings)
    for given in (embeddings, None):
        with pytest.raises(TypeError, match=r"got a VectorStoreRetriever: give its \.vectorstore"):
            ClewRetriever.from_vectorstore(store.as_retriever(), embeddings=given)
    with pytest.raises(TypeError, match="got a ClewRetriever: a ClewCompressor works"):
        ClewRetriever.from_vectorstore(ClewRetriever.from_texts(["one"]))
