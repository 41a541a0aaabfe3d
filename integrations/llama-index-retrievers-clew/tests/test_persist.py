"""A retriever that was saved gives the same nodes when it is opened, down to what only LlamaIndex knows of them."""

from __future__ import annotations

import pytest
from llama_index.core import StorageContext, VectorStoreIndex
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.vector_stores.types import FilterOperator, MetadataFilter, MetadataFilters
from llama_index.retrievers.clew import ClewRetriever

import clew

RECENT = MetadataFilters(
    filters=[
        MetadataFilter(key="year", value=1930, operator=FilterOperator.GT),
        MetadataFilters(
            filters=[MetadataFilter(key="tags", value=["cows"], operator=FilterOperator.ANY)],
            condition="not",
        ),
    ]
)


@pytest.fixture
def chunks(documents):
    documents[0].excluded_llm_metadata_keys = ["year"]
    return SentenceSplitter(chunk_size=40, chunk_overlap=0).get_nodes_from_documents(documents)


def test_it_gives_the_same_nodes_with_the_same_options(tmp_path, chunks, embed_model, question):
    saved = ClewRetriever.from_nodes(
        chunks, embed_model, recipe="mmr", budget=300, similarity_top_k=5, filters=RECENT
    )
    wanted = saved.retrieve(question)
    saved.persist(tmp_path / "there")
    embed_model.seen.clear()
    opened = ClewRetriever.from_persist_dir(tmp_path / "there", embed_model)
    assert (
        len([text for _, text in embed_model.seen if text in {chunk.text for chunk in chunks}]) <= 1
    )
    assert (opened.recipe, opened.budget, opened.similarity_top_k, opened.filters) == (
        "mmr",
        300,
        5,
        RECENT,
    )
    assert len(wanted) == 5
    assert opened.retrieve(question) == wanted
    opened.persist(tmp_path / "again")
    assert (
        ClewRetriever.from_persist_dir(tmp_path / "again", embed_model, budget=None).retrieve(
            question
        )
        == wanted
    )


def test_the_embedder_fitted_on_the_texts_is_saved_with_them(tmp_path, documents, facts, question):
    saved = ClewRetriever.from_documents(documents, facts=facts, recipe="hipporag")
    saved.persist(tmp_path)
    assert ClewRetriever.from_persist_dir(tmp_path).retrieve(question) == saved.retrieve(question)


def test_it_may_lie_beside_the_files_of_a_storage_context(tmp_path, nodes, embed_model, question):
    index = VectorStoreIndex(nodes, embed_model=embed_model)
    saved = ClewRetriever.from_index(index)
    index.storage_context.persist(str(tmp_path))
    saved.persist(tmp_path)
    StorageContext.from_defaults(persist_dir=str(tmp_path))
    opened = ClewRetriever.from_persist_dir(tmp_path, embed_model)
    assert [one.node_id for one in opened.retrieve(question)] == [
        one.node_id for one in saved.retrieve(question)
    ]


def test_what_cannot_be_saved_or_opened_is_said(tmp_path, documents, embed_model):
    retriever = ClewRetriever.from_documents(documents, embed_model)
    with pytest.raises(TypeError, match="by its name"):
        retriever.with_options(recipe=clew.recipes.get("dense")).persist(tmp_path)
    assert not list(tmp_path.iterdir())
    with pytest.raises(FileNotFoundError, match=r"clew_retriever\.json"):
        ClewRetriever.from_persist_dir(tmp_path)
    retriever.persist(tmp_path)
    with pytest.raises(TypeError, match="budgett"):
        ClewRetriever.from_persist_dir(tmp_path, embed_model, budgett=1)
    with pytest.raises(ValueError, match=r"as from_persist_dir\(persist_dir, embed_model=\.\.\.\)"):
        ClewRetriever.from_persist_dir(tmp_path)
    ClewRetriever.from_documents(documents, count=len).persist(tmp_path)
    with pytest.raises(ValueError, match=r"as from_persist_dir\(persist_dir, count=\.\.\.\)"):
        ClewRetriever.from_persist_dir(tmp_path)
