"""LangChain's own retrievers that merge several answers take one document for one document."""

from __future__ import annotations

from unittest.mock import patch

import pytest
from langchain_classic.retrievers import (
    ContextualCompressionRetriever,
    EnsembleRetriever,
    MergerRetriever,
    MultiQueryRetriever,
)
from langchain_clew import ClewCompressor, ClewRetriever
from langchain_core.language_models import FakeListLLM
from langchain_core.vectorstores import InMemoryVectorStore

import clew
from clew import pipeline

QUERIES = ["Who gave Theseus the thread?", "What led out of the labyrinth?", "Theseus thread clew"]


def over_an_index(documents, embeddings):
    return ClewRetriever.from_documents(documents, embeddings)


def over_pieces(documents, embeddings):
    return ClewRetriever.from_documents(documents, embeddings, splitter=clew.Splitter())


def over_a_store(documents, embeddings):
    return ClewRetriever.from_vectorstore(InMemoryVectorStore.from_documents(documents, embeddings))


def over_a_compressor(documents, embeddings):
    near = InMemoryVectorStore.from_documents(documents, embeddings).as_retriever()
    return ContextualCompressionRetriever(base_compressor=ClewCompressor(), base_retriever=near)


MAKERS = [over_an_index, over_pieces, over_a_store, over_a_compressor]


@pytest.mark.parametrize("make", MAKERS)
async def test_three_queries_of_a_model_repeat_no_document(make, documents, embeddings, question):
    retriever = make(documents, embeddings)
    model = FakeListLLM(responses=["\n".join(QUERIES)])
    merged = MultiQueryRetriever.from_llm(retriever, model)
    answers = [retriever.invoke(query) for query in QUERIES]
    texts = {document.page_content for answer in answers for document in answer}
    assert sum(map(len, answers)) > len(texts), "some are found by several queries"
    for found in (merged.invoke(question), await merged.ainvoke(question)):
        assert len(found) == len(texts)
        assert {document.page_content for document in found} == texts


@pytest.mark.parametrize("make", MAKERS)
def test_the_reasons_are_there_on_request_and_in_the_context(make, documents, embeddings, question):
    retriever = make(documents, embeddings)
    plain = retriever.invoke(question)
    assert plain
    assert not any(key.startswith("clew_") for document in plain for key in document.metadata)
    if isinstance(retriever, ClewRetriever):
        assert all(item.why for item in retriever.context(question))
        why = {"clew_rank", "clew_role", "clew_score", "clew_why"}
        explained = retriever.invoke(question, explain=True)
        assert all(why <= document.metadata.keys() for document in explained)
        assert [document.id for document in explained] == [document.id for document in plain]


def test_paths_to_candidates_are_made_when_they_are_asked_for(documents, embeddings, question):
    retriever = over_a_store(documents, embeddings)
    with patch.object(pipeline, "paths_to_nodes", wraps=pipeline.paths_to_nodes) as made:
        context = retriever.context(question)
        assert context.ids
        assert all(item.original in documents for item in context)
        made.assert_not_called()
        assert all(item.why[0].source == "question" for item in context)
        made.assert_called_once()


def test_an_ensemble_and_a_merger_of_two_recipes_hold_equal_documents(index, question):
    retrievers = [ClewRetriever(index=index, recipe=recipe, k=4) for recipe in ("dense", "bm25")]
    ids = [{document.id for document in one.invoke(question)} for one in retrievers]
    ensemble = EnsembleRetriever(retrievers=retrievers, weights=[0.5, 0.5])
    assert len(ensemble.invoke(question)) == len(ids[0] | ids[1])
    merged = MergerRetriever(retrievers=retrievers).invoke(question)
    distinct = [one for i, one in enumerate(merged) if one not in merged[:i]]
    assert len(distinct) == len(ids[0] | ids[1]) < len(merged)
