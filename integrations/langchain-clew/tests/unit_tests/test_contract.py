"""Every recipe, whatever its name, comes through every way of calling the retriever as it comes from the core."""

from __future__ import annotations

import pytest
from langchain_clew import ClewCompressor, ClewRetriever

import clew

RECIPES = clew.recipes.names()
OTHER = "What became of Icarus, the son of Daedalus?"


def ids(documents):
    return [document.id for document in documents]


@pytest.mark.parametrize("recipe", RECIPES)
async def test_every_way_of_calling_gives_the_ids_of_the_core_in_their_order(
    recipe, index, question
):
    retriever = ClewRetriever(index=index, recipe=recipe, budget=120)
    wanted = [index.ask(asked, recipe=recipe, budget=120).ids for asked in (question, OTHER)]
    assert wanted[0]
    assert wanted[0] != wanted[1]

    assert ids(retriever.invoke(question)) == wanted[0]
    assert ids(await retriever.ainvoke(question)) == wanted[0]
    assert [ids(each) for each in retriever.batch([question, OTHER])] == wanted
    assert [ids(each) for each in await retriever.abatch([question, OTHER])] == wanted
    assert [ids(each) for each in retriever.stream(question)] == wanted[:1]
    assert [ids(each) async for each in retriever.astream(question)] == wanted[:1]


@pytest.mark.parametrize("recipe", RECIPES)
def test_what_is_said_of_a_document_is_what_the_context_says(recipe, index, question):
    retriever = ClewRetriever(index=index, recipe=recipe, explain=True)
    context = retriever.context(question)

    for place, (item, document) in enumerate(
        zip(context, retriever.invoke(question), strict=True), 1
    ):
        said = {
            name: value for name, value in document.metadata.items() if name.startswith("clew_")
        }
        assert document.page_content == item.text
        assert said.pop("clew_why").startswith("question -")
        assert said.pop("clew_relevance", None) == item.relevance
        assert said == {"clew_rank": place, "clew_role": item.role, "clew_score": item.score}
        assert {name: type(value) for name, value in said.items()} == {
            "clew_rank": int,
            "clew_role": str,
            "clew_score": float,
        }
        assert (
            document.metadata.keys() - said.keys() - {"clew_why", "clew_relevance"}
            == item.metadata.keys()
        )


@pytest.mark.parametrize("recipe", RECIPES)
async def test_a_compressor_gives_the_ids_of_narrow_in_their_order(
    recipe, documents, embeddings, facts, question
):
    some = documents[1:7]
    said = {
        id: triples for id, triples in facts.items() if id in {document.id for document in some}
    }
    read = [clew.Document(d.id, d.page_content) for d in some]
    wanted = clew.narrow(
        question, read, recipe=recipe, budget=90, embedder=embeddings, facts=said
    ).ids
    compressor = ClewCompressor(embeddings=embeddings, recipe=recipe, budget=90, facts=facts)

    assert wanted
    assert ids(compressor.compress_documents(some, question)) == wanted
    assert ids(await compressor.acompress_documents(some, question)) == wanted
