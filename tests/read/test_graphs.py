"""Facts that others read: LangChain graph documents, and what LlamaIndex's path extractors leave in a node."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import pytest
from langchain_core.documents import Document as Chunk
from llama_index.core.graph_stores.types import KG_NODES_KEY, KG_RELATIONS_KEY, EntityNode, Relation
from llama_index.core.indices.property_graph import (
    DynamicLLMPathExtractor,
    ImplicitPathExtractor,
    SchemaLLMPathExtractor,
    SimpleLLMPathExtractor,
)
from llama_index.core.llms import CompletionResponse, CustomLLM, LLMMetadata
from llama_index.core.schema import NodeRelationship, RelatedNodeInfo, TextNode

import clew
from clew import Index
from clew.read.graph_documents import relation_words

TEXTS = {"anna": "Anna was born on Corfu.", "corfu": "Corfu is part of Greece."}
FACTS = {"Anna born in Corfu": ("anna",), "Corfu part of Greece": ("corfu",)}
PAIRS = {
    "Anna": ("Anna", "PERSON", "BORN_IN", "Corfu", "LOCATION"),
    "Corfu": ("Corfu", "LOCATION", "PART_OF", "Greece", "LOCATION"),
}


def facts(index):
    graph = index.graph
    return {
        text: tuple(graph.ids[row] for row in rows)
        for text, rows in zip(graph.facts.texts, graph.facts.read_from, strict=True)
    }


class Llama(CustomLLM):
    """Answers each kind of path extractor in the form that it reads."""

    form: str

    @property
    def metadata(self):
        return LLMMetadata(model_name="llama")

    def complete(self, prompt, formatted=False, **kwargs):
        first = next(name for name in PAIRS if TEXTS[name.lower()] in prompt)
        a, kind_a, relation, b, kind_b = PAIRS[first]
        if self.form == "simple":
            said = f"({a}, {relation.replace('_', ' ').lower()}, {b})"
        elif self.form == "dynamic":
            said = json.dumps(
                [
                    {
                        "head": a,
                        "head_type": kind_a,
                        "relation": relation,
                        "tail": b,
                        "tail_type": kind_b,
                    }
                ]
            )
        else:
            ends = {"subject": {"type": kind_a, "name": a}, "object": {"type": kind_b, "name": b}}
            said = json.dumps({"triplets": [{**ends, "relation": {"type": relation}}]})
        return CompletionResponse(text=said)

    def stream_complete(self, prompt, formatted=False, **kwargs):
        raise NotImplementedError


def nodes():
    made = [
        TextNode(id_=id, text=text, metadata={"file": f"{id}.txt"}) for id, text in TEXTS.items()
    ]
    made[0].relationships[NodeRelationship.NEXT] = RelatedNodeInfo(node_id="corfu")
    made[1].relationships[NodeRelationship.PREVIOUS] = RelatedNodeInfo(node_id="anna")
    return made


@pytest.mark.parametrize(
    "extractor",
    [
        SimpleLLMPathExtractor(Llama(form="simple"), num_workers=1),
        DynamicLLMPathExtractor(Llama(form="dynamic"), num_workers=1),
        SchemaLLMPathExtractor(Llama(form="schema"), num_workers=1),
    ],
    ids=["simple", "dynamic", "schema"],
)
def test_what_a_path_extractor_read_are_the_facts_of_the_node(extractor, tmp_path):
    read = ImplicitPathExtractor()(extractor(nodes()))
    assert all(node.metadata[KG_RELATIONS_KEY] for node in read), (
        "what was extracted is in the metadata"
    )
    index = Index.from_documents(read)
    found = facts(index)
    assert {text.casefold(): where for text, where in found.items()} == {
        text.casefold(): where for text, where in FACTS.items()
    }
    assert [dict(document.metadata) for document in index.documents] == [
        {"file": "anna.txt"},
        {"file": "corfu.txt"},
    ]
    assert all(KG_NODES_KEY in node.metadata for node in read), (
        "the caller's own node is left alone"
    )
    context = index.ask("Where was Anna born?", recipe="hipporag", budget=200)
    assert context.items[0].id == "anna"
    assert "Relation(" not in context.text
    assert context.items[0].original.metadata == {"file": "anna.txt"}

    index.save(tmp_path)
    loaded = Index.load(tmp_path)
    assert facts(loaded) == found
    assert (
        facts(loaded.delete("corfu"))
        == facts(index.delete("corfu"))
        == {k: v for k, v in found.items() if v == ("anna",)}
    )
    assert facts(Index.from_documents(read[:1]).add(read[1:])) == found


def test_relations_between_nodes_and_metadata_of_the_same_name_are_no_facts():
    assert facts(Index.from_documents(ImplicitPathExtractor()(nodes()))) == {}
    own = TextNode(id_="own", text="Anna was born.", metadata={"nodes": ["a"], "relations": ["b"]})
    index = Index.from_documents([own])
    assert (facts(index), dict(index.documents[0].metadata)) == (
        {},
        {"nodes": ["a"], "relations": ["b"]},
    )


def test_an_entity_is_called_by_its_name_though_relations_have_its_id():
    node = TextNode(id_="n", text='They called "Big Ben" a clock.')
    ben = EntityNode(name='the "Big" Ben')
    said = [
        Relation(label="IS_A", source_id=ben.id, target_id="clock"),
        Relation(label="x", source_id="n", target_id="clock"),
    ]
    node.metadata = {KG_NODES_KEY: [ben, EntityNode(name="clock")], KG_RELATIONS_KEY: said}
    assert facts(Index.from_documents([node])) == {'the "Big" Ben is a clock': ("n",)}


@dataclass
class Node:
    id: str | int
    type: str = "Node"


@dataclass
class Relationship:
    source: Node
    target: Node
    type: str


@dataclass
class GraphDocument:
    """The shape of `langchain_community.graphs.graph_document.GraphDocument`."""

    nodes: list[Node]
    relationships: list[Relationship]
    source: Any = field(default=None)


@pytest.fixture(params=["shape", "langchain_community"])
def graph_documents(request):
    """Graph documents by equal-shaped classes, and by the framework's own where it is installed."""
    node, relationship, document = Node, Relationship, GraphDocument
    if request.param != "shape":
        pytest.importorskip("langchain_community")
        import warnings

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from langchain_community.graphs import graph_document as theirs
        node, relationship, document = theirs.Node, theirs.Relationship, theirs.GraphDocument

    def made(id, *pairs):
        said = [
            relationship(source=node(id=a, type=s), target=node(id=b, type=o), type=r)
            for a, s, r, b, o in pairs
        ]
        ends = [end for one in said for end in (one.source, one.target)]
        return document(
            nodes=ends,
            relationships=said,
            source=Chunk(TEXTS[id], id=id, metadata={"file": f"{id}.txt"}),
        )

    return made


def test_a_graph_document_is_its_source_with_its_relationships_as_facts(graph_documents, tmp_path):
    documents = [
        graph_documents("anna", PAIRS["Anna"]),
        graph_documents("corfu", PAIRS["Corfu"], ("Corfu", "x", "HAS", 1800, "y")),
    ]
    index = Index.from_documents(documents)
    wanted = FACTS | {"Corfu has 1800": ("corfu",)}
    assert facts(index) == wanted
    assert [document.original.page_content for document in index.documents] == list(TEXTS.values())
    assert index.ask("Where was Anna born?", recipe="hipporag", budget=200).items[0].metadata == {
        "file": "anna.txt"
    }
    assert facts(Index.from_documents(documents[:1]).add(documents[1:])) == wanted
    assert facts(index.add([clew.Document("more", "Nothing.")])) == wanted
    assert facts(Index.from_documents(documents[0])) == {"Anna born in Corfu": ("anna",)}, (
        "one alone"
    )
    assert facts(
        Index.from_documents(documents, facts={"anna": [("Anna", "sails", "boats")]})
    ) == wanted | {"Anna sails boats": ("anna",)}
    index.save(tmp_path)
    assert facts(Index.load(tmp_path).delete("anna")) == {
        text: where for text, where in wanted.items() if where == ("corfu",)
    }


def test_one_source_read_twice_comes_once_with_all_facts(graph_documents):
    twice = [
        graph_documents("anna", PAIRS["Anna"]),
        graph_documents("anna", ("Anna", "p", "LOVES", "boats", "t"), PAIRS["Anna"]),
    ]
    index = Index.from_documents(twice)
    assert facts(index) == {"Anna born in Corfu": ("anna",), "Anna loves boats": ("anna",)}
    assert len(index) == 1


def test_narrow_and_a_splitter_keep_the_facts(graph_documents):
    documents = [graph_documents("anna", PAIRS["Anna"]), graph_documents("corfu", PAIRS["Corfu"])]
    assert (
        clew.index.narrow("Where was Anna born?", documents, recipe="hipporag", budget=100)
        .items[0]
        .id
        == "anna"
    )
    split = facts(Index.from_documents(documents, splitter=clew.Splitter(4)))
    assert set(split) == set(FACTS)
    assert all(piece.startswith(FACTS[text][0]) for text, (piece,) in split.items())


@pytest.mark.parametrize(
    ("label", "said"),
    [
        ("WORKS_AT", "works at"),
        ("works at", "works at"),
        ("isPartOf", "isPartOf"),
        ("part_of", "part of"),
        ("IN", "in"),
        ("在", "在"),
    ],
)
def test_a_label_is_written_as_it_is_said(label, said):
    assert relation_words(label) == said
