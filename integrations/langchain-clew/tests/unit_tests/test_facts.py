"""Facts and what joins them come through both adapters: as triples or as bullets, each with its way, parts that nothing joins named."""

from __future__ import annotations

from dataclasses import replace

import pytest
from langchain_clew import ClewCompressor, ClewRetriever

import clew

QUESTION = "Theseus killed the Minotaur"


def agrag(style="bullets"):
    """AGRAG over facts and mentions alone, with room for facts."""
    recipe = clew.recipes.get("agrag")
    select = replace(recipe.selects[0], kinds=("fact", "mentions"), fact_share=1.0)
    return replace(
        recipe,
        seed=replace(recipe.seed, max_facts=20, passages=0),
        selects=(select,),
        render=clew.Render(style),
    )


@pytest.fixture(params=["retriever", "compressor"])
def ask(request, documents, embeddings, facts):
    """A function from a recipe to (documents, text) through each adapter."""
    if request.param == "retriever":

        def found(recipe):
            how = {"facts": facts, "recipe": recipe, "explain": True}
            one = ClewRetriever.from_documents(documents, embeddings, **how)
            return one.invoke(QUESTION), one.context(QUESTION)

        return found

    def compressed(recipe):
        one = ClewCompressor(embeddings=embeddings, recipe=recipe, facts=facts, explain=True)
        return one.compress_documents(documents, QUESTION), one.context(documents, QUESTION)

    return compressed


@pytest.mark.parametrize(
    ("style", "said"),
    [("bullets", "- Theseus killed Minotaur"), ("triples", "(Theseus, killed, Minotaur)")],
)
def test_facts_are_printed_as_asked_for_and_come_as_documents_with_their_way(ask, style, said):
    documents, context = ask(agrag(style))
    facts = [document for document in documents if document.metadata["clew_role"] == "fact"]
    assert said in context.text.splitlines()
    assert "Theseus killed Minotaur" in [fact.page_content for fact in facts]
    assert all(fact.metadata["clew_why"].startswith("question -") for fact in facts)
    assert [document.page_content for document in documents] == [item.text for item in context]
    assert all(item.why[-1].cost > 0 for item in context if item.role == "fact")


def test_parts_that_nothing_joins_are_named(documents, embeddings):
    apart = {"minos": [("Minos", "ruled", "Crete")], "theseus": [("Theseus", "killed", "Minotaur")]}
    context = ClewRetriever.from_documents(
        documents, embeddings, facts=apart, recipe=agrag()
    ).context(QUESTION + ", Minos ruled Crete")
    assert len(context.missing) == 1
    assert {item.text for item in context if item.role == "fact"} == {
        "Minos ruled Crete",
        "Theseus killed Minotaur",
    }


def test_a_model_of_ones_own_sifts_the_facts(documents, embeddings, facts):
    prompts = []

    def first(prompt):
        prompts.append(prompt)
        return '{"facts": [1]}'

    how = {"facts": facts, "recipe": "agrag_paper", "model": first}
    retriever = ClewRetriever.from_documents(documents, embeddings, **how)
    compressor = ClewCompressor(embeddings=embeddings, **how)
    for context in (retriever.context(QUESTION), compressor.context(documents, QUESTION)):
        assert context.usage.calls == 1
        chosen = [step.notes.get("facts chosen") for step in context.trace]
        assert "1 of 5, by the language model" in chosen
    assert len(prompts) == 2
    assert all(QUESTION in prompt for prompt in prompts)
