"""The recipe da_rag: its fallbacks on graphs that have no trusses, its rooms, and what a language model's reports become."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import combinations, pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core import documents as langchain_core
from llama_index.core import Document

import clew
import clew.generate
from clew import recipes
from clew.graph import (
    Edges,
    Facts,
    Generated,
    Graph,
    Labels,
    Ragged,
    add_generated,
    freeze,
)
from clew.methods import CommunitySearch
from clew.methods.da_rag import layers, selection
from clew.methods.da_rag.layers import SimilarityLayer
from clew.methods.da_rag.method import (
    DaRag,
    JudgedCommunity,
    Judgement,
    cut_report,
    overlay_reports,
    read_judgement,
)
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
    assert all(one.tokens <= report * share for one in packed)


def passage_tokens(graph, context):
    """What the passages of a context cost, each with its own heading."""
    return sum(int(graph.tokens[graph.row(item.id)]) for item in context if item.kind == "passage")


@pytest.mark.parametrize("recipe", ["da_rag", "da_rag_paper"])
def test_the_room_of_chunks_is_a_ceiling_without_a_budget_too(recipe, embed):
    index = indexed([*CLIQUE, *([] for _ in range(50))], embed)
    method = recipes.get(recipe)
    for room in (40, 120, 4000):
        search = replace(method.communities, text_unit_tokens=room)
        context = index.ask(QUESTION, recipe=replace(method, communities=search), budget=None)
        assert 0 < passage_tokens(index.graph, context) <= room
    judged = index.ask(
        QUESTION,
        recipe=replace(method, communities=replace(method.communities, text_unit_tokens=40)),
        budget=None,
        model=Judge(),
    )
    assert {item.role for item in judged} >= {"report"}
    assert passage_tokens(index.graph, judged) <= 40


def test_with_a_budget_chunks_have_their_own_room_or_also_what_reports_leave(embed):
    index = indexed(CLIQUE, embed)
    for budget in (30, 45, 60):
        read = {}
        for lent in (False, True):
            search = CommunitySearch(unused_to_chunks=lent, max_nearest=None)
            context = index.ask(QUESTION, recipe=DaRag(search), budget=budget)
            read[lent] = passage_tokens(index.graph, context)
            assert context.tokens <= budget
        assert read[False] <= search.rooms(budget).chunks
        assert read[False] < read[True]


def test_a_report_is_cut_at_its_own_room_whatever_all_reports_may_have(embed):
    index = indexed(CLIQUE, embed)
    cost = max(index.graph.count(f"- {text}\n") for text in index.graph.facts.texts)
    search = CommunitySearch(report_tokens=3 * cost, fact_share=1.0)
    notes = notes_of(index.ask(QUESTION, recipe=DaRag(search), budget=None))
    kept = [one for one in notes["facts"] if one["kept"]]
    facts = [
        item
        for item in index.ask(QUESTION, recipe=DaRag(search), budget=None)
        if item.role == "fact"
    ]
    assert kept
    # Each community states some of ten facts, no more of them than three have room.
    communities = sum(one["kept"] for layer in ("facts", "alike") for one in notes[layer])
    assert len(facts) <= 3 * communities < len(index.graph.facts) * communities
    wide = replace(search, report_tokens=3200)
    assert len(
        [i for i in index.ask(QUESTION, recipe=DaRag(wide), budget=None) if i.role == "fact"]
    ) > len(facts)


def two_places():
    """Two communities of chunks: a triangle near to the question (k = 3), and four others (k = 4).

    Every chunk mentions entities of its own, joined by facts in a triangle for each place.
    """
    near, far = [0, 1, 2], [3, 4, 5, 6]
    entities = {"near": [7, 8, 9], "far": [10, 11, 12]}
    pairs = [*combinations(near, 2), *combinations(far, 2)]
    triangles = [*combinations(entities["near"], 2), *combinations(entities["far"], 2)]
    cosines = np.array([0.9] * 3 + [0.6] * 4 + [0.5] * 3 + [0.8] * 3)
    read_from = [[]] * 7 + [[0], [1], [2], [3], [4], [5]]
    names = [f"chunk {i}" for i in range(7)] + [f"name {i}" for i in range(6)]
    facts = Facts(
        tuple(f"{names[a]} knows {names[b]}" for a, b in triangles),
        np.float32([[1, 0]] * 6),
        np.int32([a for a, _ in triangles]),
        np.int32([b for _, b in triangles]),
        Labels.of(["knows"] * 6),
        Ragged.of([[0]] * 3 + [[3]] * 3),
    )
    tails, heads = zip(*triangles, strict=True)
    edges = Edges.join(
        [
            Edges.of("related", *zip(*pairs, strict=True)),
            Edges.of("fact", tails, heads, facts=list(range(6))),
        ]
    )
    return Graph.of(
        names,
        kinds=["passage"] * 7 + ["entity"] * 6,
        vectors=np.stack([cosines, np.sqrt(1 - cosines**2)], axis=1),
        read_from=Ragged.of(read_from),
        facts=facts,
        edges=edges,
    )


def looked_among(graph, search, **how):
    """The entities of the fine communities, and the chosen chunks."""
    query = Query("?", np.float32([1, 0]))
    everything = Subgraph(freeze(np.arange(len(graph)), np.int32))
    budget = how.get("budget", UNLIMITED)
    found = search.finder(graph)(
        query,
        Dense().on(graph)(query),
        everything,
        lambda coarse: search.choose_chunks(graph, coarse, budget),
    )
    fine = {row for one in found if one.layer == "facts" for row in one.community.rows.tolist()}
    chunks = [
        one.community.rows.tolist() for one in found if one.layer == "chunks" and one.retained
    ]
    return fine, chunks


def test_the_fine_search_is_among_the_entities_of_all_chosen_communities_and_of_no_other():
    graph, search = two_places(), CommunitySearch(max_nearest=None, similarity_layer=False)
    # Both places are chosen, and of their entities those of the second are nearest.
    assert looked_among(graph, search) == ({10, 11, 12}, [[0, 1, 2], [3, 4, 5, 6]])
    one_place = replace(search, text_unit_tokens=int(graph.tokens[:3].sum()))
    # The room of chunks holds the nearest place alone: the other is not gone into.
    assert looked_among(graph, one_place) == ({7, 8, 9}, [[0, 1, 2]])


def test_with_a_model_the_fine_search_is_among_the_entities_of_what_it_reports_on():
    graph = two_places()
    method = DaRag(CommunitySearch(max_nearest=None, similarity_layer=False), workers=1)

    def names_asked(liked):
        """The names that the fine search puts to a model that likes one group of chunks."""
        asked = []

        def model(prompt):
            asked.append(prompt)
            score = 50 if "group of names" in prompt or f"- {liked}" in prompt else 0
            return json.dumps({"score": score, "report": "A report."})

        query = Query("?", np.float32([1, 0]), model=model)
        context = method.on(graph)(query, UNLIMITED)
        return {name for name in graph.texts[7:] if name in "".join(asked)}, context

    assert names_asked("chunk 0")[0] == set(graph.texts[7:10])
    assert names_asked("chunk 3")[0] == set(graph.texts[10:13])
    names, context = names_asked("nothing")  # then the chunks are chosen by relevance
    assert names == set(graph.texts[10:13])
    assert "by relevance" in context.trace[0].notes["chunks chosen"]


def test_entities_are_compared_by_their_descriptions_where_that_is_chosen():
    graph = two_places()
    described = Generated(
        ("s",),
        ("summary",),
        ("name 0 is what is asked for",),
        [[0]],
        edges=Edges.of("about", [13], [7]),
    )
    graph = add_generated(graph, described)
    vectors = graph.vectors.copy()
    vectors[13] = [1, 0]
    graph = replace(graph, vectors=freeze(vectors, np.float32))
    query = Query("?", np.float32([1, 0]))
    everything = Subgraph(freeze(np.arange(len(graph)), np.int32))
    means, neighbours = {}, {}
    for chosen in (False, True):
        search = CommunitySearch(max_nearest=None, entity_descriptions=chosen, k_neighbor=1)
        found = search.finder(graph)(query, Dense().on(graph)(query), everything, None)
        (facts,) = [one for one in found if one.layer == "facts"]
        means[chosen] = facts.community.mean
        links = graph.part(SimilarityLayer(1, chosen)).links
        neighbours[chosen] = links.neighbours(7).tolist()
    # By definition: the mean cosine of a triangle, of which name 0 has .5 by its name, 1 described.
    assert means[False] == pytest.approx(0.8)
    assert means[True] == pytest.approx(0.8)
    assert set(neighbours[False]) == {8, 9}  # the nearest to .5 by name
    assert set(neighbours[True]) & {10, 11, 12}  # the nearest to 1 are those of .8


def test_as_published_there_is_no_limit_on_k_and_no_chunk_from_elsewhere():
    search = recipes.get("da_rag_paper").communities
    assert (search.max_nearest, search.max_k) == (None, None)
    assert (search.cascade, search.extra_entities, search.k_neighbor) == (False, 0, 5)
    assert search.entity_descriptions
    assert not search.other_chunks
    assert not search.unused_to_chunks
    graph = two_places()
    only = replace(search, text_unit_tokens=int(graph.tokens[:3].sum()))
    context = DaRag(only).on(graph)(Query("?", np.float32([1, 0])), UNLIMITED)
    assert {item.id for item in context if item.kind == "passage"} == {"0", "1", "2"}
    # A clique of ten chunks is a 10-truss: every k to 10 is one and the same community.
    pairs = list(combinations(range(10), 2))
    clique = Graph.of(
        [f"chunk {i}" for i in range(10)],
        vectors=np.tile([1.0, 0.0], (10, 1)),
        edges=Edges.of("related", *zip(*pairs, strict=True)),
    )
    query = Query("?", np.float32([1, 0]))
    everything = Subgraph(freeze(np.arange(10), np.int32))
    (found,) = search.finder(clique)(query, Dense().on(clique)(query), everything, None)
    assert found.community.k == 10


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
    # The model's scale is from 0 to 100, that of prizes from 0 to 1.
    judged = {f"Report {call} on {len(prompt)}": (len(prompt) % 90 + 5) / 100
              for call, prompt in enumerate(judge.calls, 1)}  # fmt: skip
    assert [item.score for item in reports] == [judged[item.text] for item in reports]
    assert all(item.why[0].source == "question" for item in context)
    assert {item.role for item in context} == {"report", "seed"}
    assert context.tokens <= 300
    assert QUESTION in judge.calls[0]


def test_a_model_reads_the_passages_of_chunks_and_the_names_and_facts_of_entities(index):
    judge = Judge()
    index.ask(QUESTION, recipe=replace(recipes.get("da_rag"), workers=1), budget=300, model=judge)
    of_chunks = [prompt for prompt in judge.calls if "Names:" not in prompt]
    of_entities = [prompt for prompt in judge.calls if "Names:" in prompt]
    assert of_chunks
    assert of_entities
    passages = [f"- {text}\n" for text in index.graph.texts if "knows" in text]
    assert any(passage in prompt for passage in passages for prompt in of_chunks)
    assert not any("names, and facts" in prompt for prompt in of_chunks)
    assert all("names, and facts" in prompt for prompt in of_entities)
    assert all("Anna" in prompt.partition("Names:")[2] for prompt in of_entities)


def test_a_report_is_read_from_its_passages_or_from_those_of_its_entities():
    """Entity 2 stands in both passages, entity 3 in the second, entity 4 nowhere."""
    graph = Graph.of(
        ["one", "two", "Anna", "Ben", "Cleo"],
        kinds=["passage"] * 2 + ["entity"] * 3,
        read_from=Ragged.of([[], [], [0, 1], [1], []]),
    )
    reports = [
        JudgedCommunity(
            SimpleNamespace(layer=layer, community=SimpleNamespace(rows=np.array(rows), k=k)),
            Judgement(50.0, f"report {k}"),
            cut,
        )
        for k, (layer, rows, cut) in enumerate(
            [("chunks", [1], 0), ("facts", [2, 3], 900), ("facts", [3], 0), ("alike", [4], 0)]
        )
    ]
    overlay = overlay_reports(graph, reports)
    assert [rows.tolist() for rows in list(overlay.read_from)[5:]] == [[1], [0, 1], [1], [4]]
    assert overlay.texts[5:] == tuple(f"report {k}" for k in range(4))
    edges = sorted(zip(overlay.edges.tails.tolist(), overlay.edges.heads.tolist(), strict=True))
    assert edges == [(5, 1), (6, 2), (6, 3), (7, 3), (8, 4)]
    assert [one.get("cut from tokens") for one in overlay.metadata[5:]] == [None, 900, None, None]


def test_summaries_of_entities_are_put_to_the_model(index):
    judge = Judge()
    index.generate(clew.generate.Summaries(min_passages=1, tokens=30)).ask(
        QUESTION, recipe="da_rag", budget=300, model=judge
    )
    assert any("Anna: Anna knows Ben" in prompt for prompt in judge.calls)
    assert not any(
        "Anna: Anna knows Ben" in prompt for prompt in judge.calls if "group of passages" in prompt
    )


def test_a_report_that_is_too_long_is_cut_and_says_so(index):
    sentence = "Anna knows Ben and Ben knows Cleo. "
    long = Judge(json.dumps({"score": 99, "report": sentence * 100}))
    context = index.ask(QUESTION, recipe="da_rag", budget=300, model=long)
    notes = context.trace[0].notes
    first = context.items[0]
    assert "fallback" not in notes
    assert first.role == "report"
    assert first.text.endswith(f"{sentence.strip()} [cut]")
    assert first.metadata["cut from tokens"] == index.graph.count(f"- {(sentence * 100).strip()}\n")
    assert first.id in notes["cut"]
    reports, report, _ = recipes.get("da_rag").communities.rooms(300)
    told = [item for item in context if item.role == "report"]
    costs = [index.graph.count(f"- {item.text}\n") for item in told]
    assert max(costs) <= report
    assert sum(costs) <= reports
    # What has no room beside it is named, with the reason.
    passed_over = [one for one in context.dropped if "the reports' room" in one.reason]
    assert len(passed_over) == notes["without_room"] == len(long.calls) - len(told) > 0


@given(st.text("ab. ", max_size=80), st.integers(0, 60))
def test_a_cut_report_fits_and_is_the_longest_beginning_of_its_kind(text, most):
    graph = Graph.of(["a"])
    graph = replace(graph, count=len)
    text = " ".join(text.split())
    cut = cut_report(graph, text, most)
    assert not cut or (cut.endswith(" [cut]") and text.startswith(cut.removesuffix(" [cut]")))
    assert not cut or len(f"- {cut}\n") <= most
    if not cut:  # then not even the first word fits, or there is one word alone
        first = text.split(" ")[0]
        assert " " not in text or len(f"- {first} [cut]\n") > most


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


def crowd(n):
    """Chunks of a crowd in which each knows the next seven: communities of many k, in a long row."""
    return [knows(*((f"P{i}", f"P{i + j}") for j in range(1, 8))) for i in range(n)]


def test_trusses_of_all_chunks_are_made_once_and_answers_are_as_without(embed, monkeypatch):
    made, whole = [], selection.search_communities

    def counted(links, rows, *others, **how):
        made.append(len(rows))
        return whole(links, rows, *others, **how)

    index = indexed(crowd(80), embed)
    chunks, trusses = len(index.graph.rows("passage")), []
    nested = layers.nested_trusses
    monkeypatch.setattr(
        layers, "nested_trusses", lambda *a, **k: trusses.append(1) or nested(*a, **k)
    )
    monkeypatch.setattr(selection, "search_communities", counted)
    questions = [f"Whom does P{i} know?" for i in range(9)]
    options = {"recipe": "da_rag_paper", "min_relevance": 0}
    known = [index.ask(one, **options) for one in questions]
    assert len(trusses) == 1
    assert chunks not in made
    monkeypatch.setattr(selection, "ChunkTrusses", lambda layer: NoTrusses())
    index = indexed(crowd(80), embed)
    again = [index.ask(one, **options) for one in questions]
    assert made.count(chunks) == 9
    for one, other in zip(known, again, strict=True):
        assert (one.ids, one.text, notes_of(one)) == (other.ids, other.text, notes_of(other))


class NoTrusses:
    """A part that knows no trusses."""

    def compute(self, graph):
        return None


def test_a_page_that_is_fitted_again_searches_the_chunks_once(embed, monkeypatch):
    """The page is fitted by selecting with less room; the community of the chunks knows no room."""
    graph, searched = indexed(crowd(60), embed).graph, []
    search = selection.search_trusses
    monkeypatch.setattr(
        selection, "search_trusses", lambda *a, **k: searched.append(1) or search(*a, **k)
    )
    query = Query("Whom does P3 know?", embed(["Whom does P3 know?"])[0])
    seeds, everything = Dense().on(graph)(query), Subgraph(freeze(np.arange(len(graph)), np.int32))
    select = CommunitySearch(max_nearest=None).on(graph)
    found = [select(query, seeds, seeds.scores, everything, room) for room in (500, 80, 500)]
    assert len(searched) == 1
    assert len(found[1].nodes) < len(found[0].nodes)
    assert found[0].nodes.tolist() == found[2].nodes.tolist()
    select(replace(query), seeds, seeds.scores, everything, 500)
    assert len(searched) == 2
