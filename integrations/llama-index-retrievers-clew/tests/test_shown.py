"""What a node says of itself, and how much of that a model reads."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

import numpy as np
import pytest
from llama_index.core.schema import Document, MetadataMode, TextNode
from llama_index.retrievers.clew import ClewRetriever

import clew


@pytest.fixture
def index(documents, embed_model, facts):
    return clew.Index.from_documents(documents, embedder=embed_model, facts=facts)


def test_a_node_says_rank_role_and_reason_in_plain_values_that_no_prompt_sees(
    index, documents, question
):
    found = ClewRetriever(index, recipe="hipporag").retrieve(question)
    own = {document.node_id: document for document in documents}
    assert [one.metadata["clew_rank"] for one in found] == list(range(1, len(found) + 1))
    for one in found:
        assert type(one.score) is float
        assert one.metadata["clew_role"] in {
            "seed",
            "bridge",
            "expansion",
            "fact",
            "report",
            "fill",
        }
        assert one.metadata["clew_why"].startswith("question -")
        for mode in (MetadataMode.LLM, MetadataMode.EMBED):
            assert one.node.get_content(mode) == own[one.node.node_id].get_content(mode)
        assert (
            json.loads(one.to_json())["node"]["metadata"]["clew_rank"] == one.metadata["clew_rank"]
        )


@dataclass(frozen=True)
class Says:
    """A method that emits what is no node of the caller's: a fact, and a report of two passages."""

    def on(self, graph):
        hop = clew.recipes.get("dense").on(graph)
        report = clew.Item(
            "report:1",
            "They all lived on Corfu.",
            0.5,
            "report",
            "report",
            5,
            metadata={"members": ["corfu", "spiro"]},
        )
        fact = clew.Item("fact:a b c", "a b c", 0.7, "fact", "fact", 3, group="1")
        return lambda query, budget: replace(
            hop(query, budget), items=(fact, *hop(query, budget).items[:1], report)
        )


def test_facts_and_reports_of_a_method_of_ones_own_are_nodes_too(index, question):
    fact, passage, report = ClewRetriever(index, recipe=Says()).retrieve(question)
    assert (fact.node_id, fact.text, fact.metadata["clew_role"]) == ("fact:a b c", "a b c", "fact")
    assert passage.node_id in index.graph.ids
    assert (report.text, report.metadata["members"], report.metadata["clew_rank"]) == (
        "They all lived on Corfu.",
        ["corfu", "spiro"],
        3,
    )
    assert fact.node.get_content(MetadataMode.LLM) == "a b c"


BOOK = "# Wren flow meter\n\nIt measures the flow of water.\n\n## History\n\nIt was discontinued in 2021.\n"
WHEN = "When was it discontinued?"
PATH = "wren.md > Wren flow meter > History"


@pytest.mark.parametrize("explain", [True, False])
def test_a_model_reads_the_heading_that_a_piece_stands_under(explain):
    document = Document(id_="wren", text=BOOK, metadata={"file_name": "wren.md"})
    retriever = ClewRetriever.from_documents([document], splitter=clew.Splitter(), explain=explain)
    last = next(one for one in retriever.retrieve(WHEN) if "2021" in one.text)
    assert last.metadata["clew_heading"] == PATH
    assert PATH in last.node.get_content(MetadataMode.LLM)
    assert PATH not in last.node.get_content(MetadataMode.EMBED)
    assert PATH not in last.node.get_content(MetadataMode.NONE)


def test_a_heading_that_the_metadata_show_is_not_shown_twice_and_is_the_callers_own_without_explain():
    titled = TextNode(
        id_="a", text="It was discontinued in 2021.", metadata={"title": "Wren flow meter"}
    )
    (one,) = ClewRetriever.from_nodes([titled]).retrieve(WHEN)
    assert one.metadata["clew_heading"] == "Wren flow meter"
    assert one.node.get_content(MetadataMode.LLM).count("Wren flow meter") == 1
    titled.excluded_llm_metadata_keys = ["title"]
    (one,) = ClewRetriever.from_nodes([titled]).retrieve(WHEN)
    assert one.node.get_content(MetadataMode.LLM).count("Wren flow meter") == 1
    (one,) = ClewRetriever.from_nodes([titled], explain=False).retrieve(WHEN)
    assert one.node.hash == titled.hash


def test_an_array_beside_a_heading_does_no_harm():
    sized = TextNode(id_="a", text="It was discontinued in 2021.", metadata={"size": np.arange(3)})
    (one,) = ClewRetriever.from_nodes([sized]).retrieve(WHEN)
    assert one.metadata["size"].tolist() == [0, 1, 2]


@pytest.mark.parametrize("missing", [float("nan"), np.float32("nan"), np.datetime64("NaT", "s")])
@pytest.mark.parametrize("hidden", [[], ["title"]])
def test_a_title_that_is_no_value_is_no_heading(missing, hidden):
    metadata = {"title": missing, "file_name": "nancy.md"}
    how = {"metadata": metadata, "excluded_llm_metadata_keys": [*hidden, "file_name"]}
    node = TextNode(id_="a", text="It was discontinued in 2021.", **how)
    (one,) = ClewRetriever.from_nodes([node]).retrieve(WHEN)
    assert one.node.get_content(MetadataMode.LLM) == node.get_content(MetadataMode.LLM)
    assert str(missing) not in one.metadata.get("clew_heading", "")
    book = Document(id_="wren", text=BOOK, **how)
    pieces = ClewRetriever.from_documents([book], splitter=clew.Splitter()).retrieve(WHEN)
    last = next(one for one in pieces if "2021" in one.text)
    assert last.metadata["clew_heading"].endswith("Wren flow meter > History")
    assert str(missing) not in last.metadata["clew_heading"].split(" > ")
