"""From LlamaIndex's own extractors and its store to an index of clew's, end to end: the same facts, by whichever way they come."""

from __future__ import annotations

import pytest
from llama_index.core import PropertyGraphIndex
from llama_index.core.graph_stores.simple_labelled import SimplePropertyGraphStore
from llama_index.core.graph_stores.types import EntityNode, Relation
from llama_index.core.indices.property_graph import ImplicitPathExtractor, SimpleLLMPathExtractor
from llama_index.core.ingestion import run_transformations
from llama_index.core.llms import CompletionResponse, CustomLLM, LLMMetadata, MockLLM
from llama_index.core.schema import TextNode
from llama_index.retrievers.clew import ClewPGRetriever, ClewRetriever

TEXTS = {
    "anna": "Anna sails to Corfu.",
    "ben": "Ben mends nets.",
    "corfu": "Corfu belongs to Greece.",
}
QUESTION = "To which country does Anna sail?"


class Sails(CustomLLM):
    """Says one path for a text, as the path extractor's prompt wants it."""

    @property
    def metadata(self):
        return LLMMetadata(model_name="sails")

    def complete(self, prompt, formatted=False, **kwargs):
        text = next(text for text in TEXTS.values() if text in prompt)
        subject, *relation, object = text.strip(".").split()
        return CompletionResponse(text=f"({subject}, {' '.join(relation)}, {object})")

    def stream_complete(self, prompt, formatted=False, **kwargs):
        raise NotImplementedError


def nodes():
    return [TextNode(id_=id, text=text) for id, text in TEXTS.items()]


def extractors(llm):
    return [SimpleLLMPathExtractor(llm, num_workers=1), ImplicitPathExtractor()]


def facts(index):
    graph = index.graph
    return {
        text.casefold(): {graph.ids[row] for row in graph.facts.read_from[i]}
        for i, text in enumerate(graph.facts.texts)
    }


@pytest.fixture
def store():
    index = PropertyGraphIndex(
        nodes(),
        kg_extractors=extractors(Sails()),
        llm=MockLLM(),
        embed_kg_nodes=False,
        use_async=False,
    )
    return index.property_graph_store


def test_nodes_behind_extractors_a_store_and_its_retriever_lead_to_the_same_facts(store, tmp_path):
    wanted = {text.strip(".").casefold(): {id} for id, text in TEXTS.items()}
    of_nodes = ClewRetriever.from_nodes(
        run_transformations(nodes(), extractors(Sails())), recipe="hipporag", budget=60
    )
    of_store = ClewRetriever.from_property_graph_store(store, budget=60)
    in_place = ClewPGRetriever(store, budget=60)
    assert facts(of_nodes.index) == facts(of_store.index) == facts(in_place.index) == wanted
    found = [
        [one.node.node_id for one in each.retrieve(QUESTION)]
        for each in (of_nodes, of_store, in_place)
    ]
    assert found[0] == found[1] == found[2]
    assert {"anna", "corfu"} <= set(found[0])

    of_store.persist(tmp_path)
    loaded = ClewRetriever.from_persist_dir(tmp_path)
    assert [one.node.node_id for one in loaded.retrieve(QUESTION)] == found[1]
    assert facts(loaded.index.delete("ben")) == {
        text: where for text, where in wanted.items() if where != {"ben"}
    }


def test_an_extractor_whose_model_says_nothing_leaves_texts_without_facts():
    read = run_transformations(nodes(), extractors(MockLLM(max_tokens=9)))
    retriever = ClewRetriever.from_nodes(read, recipe="hipporag")
    assert facts(retriever.index) == {}
    assert retriever.retrieve(QUESTION)


def test_a_graph_made_by_hand_is_read_as_it_says():
    store = SimplePropertyGraphStore()
    store.upsert_nodes(
        [EntityNode(name="Anna", label="PERSON"), EntityNode(name="Corfu", label="ISLAND")]
    )
    store.upsert_relations([Relation(label="SAILS_TO", source_id="Anna", target_id="Corfu")])
    retriever = ClewRetriever.from_property_graph_store(store)
    assert facts(retriever.index) == {"anna sails to corfu": {"facts:Anna"}}
    assert retriever.recipe == "hipporag"


def test_an_empty_store_and_an_unknown_option_are_refused():
    with pytest.raises(
        ValueError, match="SimplePropertyGraphStore holds neither chunks nor triplets"
    ):
        ClewRetriever.from_property_graph_store(SimplePropertyGraphStore())
    with pytest.raises(TypeError, match="a retriever does not take top; it takes recipe"):
        ClewRetriever.from_property_graph_store(SimplePropertyGraphStore(), top=3)
