"""Facts and what joins them come through every adapter: as triples or as bullets, each with its way, parts that nothing joins named."""

from __future__ import annotations

from dataclasses import replace

import pytest
from llama_index.core import PropertyGraphIndex
from llama_index.core.graph_stores.types import KG_NODES_KEY, KG_RELATIONS_KEY, EntityNode, Relation
from llama_index.core.llms import MockLLM
from llama_index.core.schema import NodeWithScore, TransformComponent
from llama_index.postprocessor.clew import ClewPostprocessor
from llama_index.retrievers.clew import ClewPGRetriever, ClewRetriever

import clew

QUESTION = "Theodore Stephanides taught Gerald Durrell"


class Given(TransformComponent):
    """Extracts what it is told, so that no model is asked."""

    facts: dict

    def __call__(self, nodes, **kwargs):
        for node in nodes:
            said = self.facts.get(node.node_id, [])
            node.metadata[KG_NODES_KEY] = [
                EntityNode(name=name) for a, _, b in said for name in (a, b)
            ]
            node.metadata[KG_RELATIONS_KEY] = [
                Relation(label=r, source_id=a, target_id=b) for a, r, b in said
            ]
        return nodes


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


@pytest.fixture(params=["retriever", "postprocessor", "property graph"])
def ask(request, nodes, embed_model, facts):
    """A function from a recipe to the nodes and the context that each adapter makes."""

    def retrieved(recipe):
        one = ClewRetriever.from_nodes(nodes, embed_model, facts=facts, recipe=recipe)
        return one.retrieve(QUESTION), one.context(QUESTION)

    def processed(recipe):
        one = ClewPostprocessor(recipe=recipe, embed_model=embed_model, facts=facts)
        found = [NodeWithScore(node=node, score=1.0) for node in nodes]
        return one.postprocess_nodes(found, query_str=QUESTION), one.context(found, QUESTION)

    def from_store(recipe):
        own = [node.model_copy(deep=True) for node in nodes]
        how = {
            "kg_extractors": [Given(facts=facts)],
            "embed_model": embed_model,
            "llm": MockLLM(),
            "use_async": False,
        }
        one = ClewPGRetriever(
            PropertyGraphIndex(own, **how).property_graph_store, embed_model, recipe=recipe
        )
        return one.retrieve(QUESTION), one.context(QUESTION)

    return {"retriever": retrieved, "postprocessor": processed, "property graph": from_store}[
        request.param
    ]


STYLES = {"bullets": f"- {QUESTION}", "triples": "(Theodore Stephanides, taught, Gerald Durrell)"}


@pytest.mark.parametrize("style", STYLES)
def test_facts_are_printed_as_asked_for_and_come_as_nodes_with_their_way(ask, style):
    found, context = ask(agrag(style))
    facts = [one for one in found if one.metadata["clew_role"] == "fact"]
    assert STYLES[style] in context.text.splitlines()
    assert QUESTION in [fact.text for fact in facts]
    assert all(fact.metadata["clew_why"].startswith("question -") for fact in facts)
    assert [one.text for one in found] == [item.text for item in context]
    assert all(item.why[-1].cost > 0 for item in context if item.role == "fact")


def test_parts_that_nothing_joins_are_named(nodes, embed_model):
    apart = {
        "theodore": [("Theodore Stephanides", "taught", "Gerald Durrell")],
        "ionian": [("Greece", "lies beside", "Ionian Sea")],
    }
    retriever = ClewRetriever.from_nodes(nodes, embed_model, facts=apart, recipe=agrag())
    context = retriever.context(f"{QUESTION}, Greece lies beside Ionian Sea")
    assert len(context.missing) == 1
    assert {item.text for item in context if item.role == "fact"} == {
        QUESTION,
        "Greece lies beside Ionian Sea",
    }


def test_a_model_of_ones_own_sifts_the_facts(nodes, embed_model, facts):
    prompts = []

    def first(prompt):
        prompts.append(prompt)
        return '{"facts": [1]}'

    how = {"facts": facts, "recipe": "agrag_paper", "llm": first}
    retriever = ClewRetriever.from_nodes(nodes, embed_model, **how)
    post = ClewPostprocessor(embed_model=embed_model, **how)
    given = [NodeWithScore(node=node) for node in nodes]
    for context in (retriever.context(QUESTION), post.context(given, QUESTION)):
        assert context.usage.calls == 1
        chosen = [step.notes.get("facts chosen", "") for step in context.trace]
        assert any(note.startswith("1 of ") for note in chosen)
    assert len(prompts) == 2
    assert all(QUESTION in prompt for prompt in prompts)
