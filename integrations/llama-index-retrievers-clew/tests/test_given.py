"""What came in the place of what is wanted is said at once, before anything is embedded."""

from __future__ import annotations

from pathlib import Path

import pytest
from llama_index.core import PropertyGraphIndex, VectorStoreIndex
from llama_index.core.indices.property_graph import ImplicitPathExtractor
from llama_index.retrievers.clew import ClewPGRetriever, ClewRetriever


@pytest.mark.parametrize("given", ["letters", Path("letters"), b"letters", None, 3])
@pytest.mark.parametrize(
    ("make", "what"),
    [(ClewRetriever.from_documents, "documents"), (ClewRetriever.from_nodes, "nodes")],
)
def test_a_folder_is_not_read_letter_by_letter(make, what, given):
    with pytest.raises(
        TypeError,
        match=rf"{what} are a list .*not a {type(given).__name__}.*clew\.Index\.from_documents\(folder",
    ):
        make(given)


def test_one_document_is_a_list_of_one(documents, nodes, question):
    assert [
        one.node_id for one in ClewRetriever.from_documents(documents[0]).retrieve(question)
    ] == ["corfu"]
    assert [one.node_id for one in ClewRetriever.from_nodes(nodes[0]).retrieve(question)] == [
        "corfu"
    ]


def test_facts_are_named_by_document(documents, nodes, embed_model):
    index = VectorStoreIndex(nodes, embed_model=embed_model)
    embed_model.seen.clear()
    makers = [
        (ClewRetriever.from_documents, documents),
        (ClewRetriever.from_nodes, nodes),
        (ClewRetriever.from_index, index),
    ]
    for make, given in makers:
        with pytest.raises(TypeError, match=r"facts are triples by document id.*not a list"):
            make(given, embed_model, facts=[("Ann", "is", "Ben")])
    assert not embed_model.seen


def test_a_property_graph_index_is_no_store_and_a_retriever_no_index(nodes, embed_model):
    graph = PropertyGraphIndex(
        nodes, kg_extractors=[ImplicitPathExtractor()], embed_kg_nodes=False, use_async=False
    )
    for make in (ClewPGRetriever, ClewRetriever.from_property_graph_store):
        with pytest.raises(TypeError, match=r"give its \.property_graph_store"):
            make(graph)
        with pytest.raises(TypeError, match=r"wanted a PropertyGraphStore.*got a str"):
            make("store")
    with pytest.raises(TypeError, match=r"wanted an index .*got a VectorIndexRetriever"):
        ClewRetriever.from_index(VectorStoreIndex(nodes, embed_model=embed_model).as_retriever())
