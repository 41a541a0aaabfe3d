"""The recipe da_rag: its fallbacks on graphs that have no trusses, its rooms, and what a language model's reports become."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core import documents as langchain_core
from llama_index.core import Document

import clew
import clew.generate
from clew import recipes
from clew.graph import Edges, Graph, freeze
from clew.methods import CommunitySearch
from clew.methods.da_rag.method import DaRag, read_judgement
from clew.model import AnswerCache, Model
from clew.seed import Dense
from clew.types import UNLIMITED, Query, Subgraph

QUESTION = "Who knows Anna?"


def indexed(facts, embed, **how):
    """One document per list of facts, which says them and no more."""
    documents = [
        clew.Document(f"d{i}", ". ".join(" ".join(fact) for fact in said) or "Nothing")
        for i, said in enumerate(facts)
    ]
    return clew.Index.from_documents(
        documents, facts={f"d{i}": said for i, said in enumerate(facts)}, embedder=embed, **how
    )


def knows(*pairs):
    return [(a, "knows", b) for a, b in pairs]


def notes_of(context):
    return next(step.notes for step in context.trace if "levels" in step.notes)


NAMES = ["Anna", "Ben", "Cleo", "Dora", "Emil"]
CLIQUE = [knows(pair) for pair in combinations(NAMES, 2)]


def test_a_clique_of_facts_is_a_truss_in_every_layer_and_its_facts_are_read_first(embed):
    context = indexed(CLIQUE, embed).ask(QUESTION, recipe="da_rag", budget=200)
    notes = notes_of(context)
    assert set(notes["levels"].values()) == {"truss"}
    assert "fallback" not in notes
    assert {one["k"] for layer in notes["levels"] for one in notes[layer]} <= set(range(3, 9))
    assert any(one["kept"] for one in notes["facts"])
    roles = [item.role for item in context]
    assert roles == sorted(roles, key=lambda role: role != "fact")
    assert "fact" in roles


def test_without_triangles_a_connected_piece_answers_and_without_a_piece_the_nearest(embed):
    path = indexed([knows(*pairwise([*NAMES, "Fay", "Gus"]))], embed)
    levels = notes_of(path.ask(QUESTION, recipe="da_rag"))["levels"]
    assert (levels["chunks"], levels["facts"]) == ("nearest", "pieces")
    apart = indexed([knows(("Anna", "Ben")), knows(("Cleo", "Dora"))], embed)
    notes = notes_of(apart.ask(QUESTION, recipe="da_rag"))
    assert notes["levels"]["facts"] == "nearest"
    assert "no truss among" in notes["fallback"]


POOR = {
    "no relations": [[], [], []],
    "one chunk": [knows(("Anna", "Ben"))],
    "no triangles": [knows(("Anna", "Ben")), knows(("Ben", "Cleo"))],
    "one giant clique": [knows(*combinations(map(str, range(40)), 2))],
}
CHANGES = (
    {},
    {"max_nearest": None},
    {"cascade": True},
    {"acs": False},
    {"chunk_layer": False},
    {"similarity_layer": False},
)


@pytest.mark.parametrize("facts", POOR.values(), ids=POOR)
@pytest.mark.parametrize("changed", CHANGES, ids=str)
def test_poor_graphs_have_an_answer_whatever_is_left_out(facts, changed, embed):
    index = indexed(facts, embed)
    method = DaRag(CommunitySearch(**changed))
    whole = index.ask(QUESTION, recipe=method, budget=None)
    assert {item.text for item in whole if item.role != "fact"} == {
        document.text for document in index.documents
    }
    assert index.ask(QUESTION, recipe=method, budget=400).tokens <= 400 or whole.tokens > 400


def alike(texts):
    """All texts have one vector."""
    return np.ones((len(texts), 4))


@pytest.mark.parametrize("facts", POOR.values(), ids=POOR)
@pytest.mark.parametrize("equal", [False, True])
def test_poor_graphs_have_an_answer_in_both_frameworks(facts, equal, embed):
    embedder = alike if equal else embed
    langchain, llama_index = (
        pytest.importorskip("langchain_clew"),
        pytest.importorskip("llama_index.retrievers.clew"),
    )
    said = {f"d{i}": some for i, some in enumerate(facts)}
    texts = {
        id: ". ".join(" ".join(fact) for fact in some) or f"Nothing {id}"
        for id, some in said.items()
    }
    documents = [langchain_core.Document(id=id, page_content=text) for id, text in texts.items()]
    how = {"facts": said, "recipe": "da_rag", "budget": 20_000}
    found = langchain.ClewRetriever.from_documents(documents, embedder, **how).invoke(QUESTION)
    nodes = llama_index.ClewRetriever.from_documents(
        [Document(id_=id, text=text) for id, text in texts.items()], embedder, **how
    )
    contents = [node.get_content() for node in nodes.retrieve(QUESTION)]
    assert set(texts.values()) <= set(contents)
    assert contents == [document.page_content for document in found]


def test_without_a_budget_the_rooms_are_the_papers():
    stage = recipes.get("da_rag").communities
    assert stage.rooms(UNLIMITED) == (4800, 3200, 4000)
    assert sum(stage.rooms(880)[::2]) <= 880
    assert (stage.k_neighbor, stage.acs, stage.chunk_layer, stage.similarity_layer) == (
        5,
        True,
        True,
        True,
    )


def test_a_question_that_nothing_is_like_has_no_communities_and_says_so(embed):
    graph = indexed(CLIQUE, embed).graph
    context = recipes.get("da_rag").on(graph)(
        Query("?", np.zeros(graph.vectors.shape[1], np.float32)), UNLIMITED
    )
    assert "fallback" in notes_of(context)


def test_a_layer_without_nodes_is_said_to_be_empty(embed):
    notes = notes_of(indexed([[], [], []], embed).ask(QUESTION, recipe="da_rag"))
    assert notes["levels"] == {"chunks": "nearest", "facts": "empty", "alike": "empty"}
    assert "alike: empty" in notes["fallback"]


def test_the_entities_most_like_the_question_are_looked_at_though_no_chunk_of_the_community_mentions_them(
    embed,
):
    like = ["who knows Anna", "Anna who knows", "knows who Anna"]
    index = indexed([*CLIQUE, knows(*combinations(like, 2))], embed)
    graph, query = index.graph, Query(QUESTION, np.float32(embed([QUESTION])[0]))
    everything = Subgraph(freeze(np.arange(len(graph)), np.int32))
    for touched in (0, 3):
        found = CommunitySearch(extra_entities=touched).finder(graph)(
            query, Dense().on(graph)(query), everything
        )
        looked_at = {
            graph.texts[row]
            for one in found
            if one.layer == "facts"
            for row in one.community.rows.tolist()
        }
        assert (looked_at >= set(like)) == bool(touched)


def test_equal_similarities_and_zero_ones(embed):
    edges = np.array(list(combinations(range(8), 2)), np.int32)
    for vector in ([0.6, 0.8], [1.0, 0.0]):
        graph = Graph.of(
            [f"e{i}" for i in range(8)] + ["text"],
            kinds=["entity"] * 8 + ["passage"],
            vectors=np.tile([vector], (9, 1)),
        )
        graph = graph.with_edges(Edges.of("related", edges[:, 0], edges[:, 1]))
        assert (
            recipes.get("da_rag").on(graph)(Query("?", np.float32([0.0, 1.0])), UNLIMITED)
            is not None
        )


def test_the_chunks_community_is_found_where_links_were_made_as_edges(embed):
    facts = CLIQUE
    plain = indexed(facts, embed)
    made = indexed(
        facts, embed, links=(*clew.index.DEFAULT_LINKS, clew.link.Related(), clew.link.Alike())
    )
    one, other = (index.ask(QUESTION, recipe="da_rag", budget=150) for index in (plain, made))
    assert one.ids == other.ids
    assert notes_of(one) == notes_of(other)


@given(st.integers(20, 400), st.floats(0.0, 1.0), st.integers(0, 10**6))
def test_what_is_kept_fits_its_rooms_and_is_told_once(embed, budget, share, seed):
    rng = np.random.default_rng(seed)
    index = indexed(
        [
            knows(*(tuple(rng.choice(NAMES, 2, replace=False).tolist()) for _ in range(2)))
            for _ in range(6)
        ],
        embed,
    )
    graph, stage = index.graph, CommunitySearch(fact_share=share)
    query = Query(QUESTION, np.float32(embed([QUESTION])[0]))
    found = stage.finder(graph)(
        query, Dense().on(graph)(query), Subgraph(freeze(np.arange(len(graph)), np.int32))
    )
    packed = [
        one for one in stage.pack(graph, found, budget) if one.retained and one.layer != "chunks"
    ]
    reports, report, _ = stage.rooms(budget)
    facts = [int(graph.edges.facts[edge]) for one in packed for edge in one.edges.tolist()]
    assert len(facts) == len(set(facts))
    assert sum(one.tokens for one in packed) == sum(
        graph.count(f"- {graph.facts.texts[fact]}\n") for fact in facts
    )
    assert sum(one.tokens for one in packed) <= reports * share + 1e-9
    assert all(one.tokens <= report for one in packed)


class Judge:
    """A language model that scores by the length of the prompt, and counts its calls."""

    def __init__(self, answer=None):
        self.calls, self.answer = [], answer

    def __call__(self, prompt):
        self.calls.append(prompt)
        if self.answer is not None:
            return self.answer
        return json.dumps(
            {"score": len(prompt) % 90 + 5, "report": f"Report {len(self.calls)} on {len(prompt)}"}
        )


@pytest.fixture
def index(embed):
    return indexed(CLIQUE, embed)


def test_a_model_is_asked_once_for_each_community_and_its_reports_come_first(index):
    judge = Judge()
    context = index.ask(
        QUESTION, recipe=replace(recipes.get("da_rag"), workers=1), budget=300, model=judge
    )
    step = context.trace[0]
    assert step.notes["calls"] == len(judge.calls) == len(step.notes["scores"])
    reports = [item for item in context if item.role == "report"]
    assert 0 < len(reports) == step.notes["reports"]
    assert context.items[: len(reports)] == tuple(reports)
    assert [item.score for item in reports] == sorted(
        (item.score for item in reports), reverse=True
    )
    assert all(item.why[0].source == "question" for item in context)
    assert {item.role for item in context} == {"report", "seed"}
    assert context.tokens <= 300
    assert QUESTION in judge.calls[0]


def test_summaries_of_entities_are_put_to_the_model(index):
    judge = Judge()
    index.generate(clew.generate.Summaries(min_passages=1, tokens=30)).ask(
        QUESTION, recipe="da_rag", budget=300, model=judge
    )
    assert any("Anna: Anna knows Ben" in prompt for prompt in judge.calls)
    assert not any(
        "Anna: Anna knows Ben" in prompt for prompt in judge.calls if "group of passages" in prompt
    )


def test_reports_that_do_not_fit_are_passed_over(index):
    long = Judge(json.dumps({"score": 99, "report": "word " * 500}))
    notes = index.ask(QUESTION, recipe="da_rag", budget=300, model=long).trace[0].notes
    assert notes["reports"] == 0
    assert notes["without_room"] == len(long.calls)
    assert "fallback" in notes


@pytest.mark.parametrize(
    "answer",
    ["I do not know.", '{"score": 101, "report": "x"}', '{"score": 5, "report": ""}', "[1]"],
)
def test_a_model_that_gives_no_report_leaves_the_way_without_one(index, answer):
    context = index.ask(QUESTION, recipe="da_rag", budget=300, model=Judge(answer))
    assert len(context.trace[0].notes["failed"]) == len(context.trace[0].notes["scores"])
    assert "fallback" in context.trace[0].notes
    assert context.ids == index.ask(QUESTION, recipe="da_rag", budget=300).ids


def test_what_is_remembered_is_not_paid_for_again_and_a_limit_asks_for_no_report(index, tmp_path):
    judge = Judge()
    model = Model.of(judge, answers=AnswerCache(tmp_path / "answers"))
    first = index.ask(QUESTION, recipe="da_rag", budget=300, model=model)
    calls = len(judge.calls)
    assert index.ask(QUESTION, recipe="da_rag", budget=300, model=model).text == first.text
    assert len(judge.calls) == calls
    assert len(index.ask(QUESTION, recipe="da_rag", limit=3, budget=None, model=judge)) == 3
    assert len(judge.calls) == calls


def test_a_score_and_a_report_are_read_whatever_stands_around_them():
    assert read_judgement('Sure!\n```json\n{"score": 70, "report": "Two\\n lines"}\n```') == (
        70.0,
        "Two lines",
    )
