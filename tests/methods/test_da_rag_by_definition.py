"""DA-RAG's choices, each against its definition written out with plain loops."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, combinations
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew import recipes
from clew.algorithms.community_search.q_peel import Community
from clew.graph import Edges, Facts, Graph, Labels, Ragged, freeze, vectors_of
from clew.methods import CommunitySearch
from clew.methods.da_rag.layers import DescribedPart, EntityVectorsPart
from clew.methods.da_rag.method import (
    CommunityJudge,
    JudgedCommunity,
    Judgement,
    ReportedChunks,
    ReportsBeforeChunks,
    cut_report,
    overlay_reports,
    prompt_of,
    read_judgement,
)
from clew.methods.da_rag.selection import Candidate
from clew.model import Model
from clew.seed import Dense
from clew.select._shared import Offer
from clew.types import UNLIMITED, Query, Seeds, Subgraph

PASSAGES, ENTITIES = 8, 8
ASKED = np.float32([1, 0])


def unit(cosines):
    cosines = np.array(cosines)
    return np.stack([cosines, np.sqrt(1 - cosines**2)], axis=1)


def library(seed):
    """Passages, entities that are read from them, and facts; cosines in tenths, so that many tie."""
    rng = np.random.default_rng(seed)
    n = PASSAGES + ENTITIES
    kinds = ["passage"] * PASSAGES + ["entity"] * ENTITIES
    read_from = [[]] * PASSAGES + [
        sorted(rng.choice(PASSAGES, int(rng.integers(1, 4)), replace=False).tolist())
        for _ in range(ENTITIES)
    ]
    related = [pair for pair in combinations(range(PASSAGES), 2) if rng.random() < 0.5]
    joined = [pair for pair in combinations(range(PASSAGES, n), 2) if rng.random() < 0.5] or [
        (PASSAGES, PASSAGES + 1)
    ]
    stated = rng.integers(0, len(joined), len(joined))  # several edges may state one fact
    texts = [" ".join(["fact", str(i)] * int(rng.integers(1, 5))) for i in range(len(joined))]
    facts = Facts(
        tuple(texts),
        unit(rng.integers(0, 6, len(joined)) / 10).astype(np.float32),
        np.int32([a for a, _ in joined]),
        np.int32([b for _, b in joined]),
        Labels.of(["knows"] * len(joined)),
        Ragged.of([[0]] * len(joined)),
    )
    edges = [Edges.of("fact", *zip(*joined, strict=True), facts=stated)]
    if related:
        edges.append(Edges.of("related", *zip(*related, strict=True)))
    return Graph.of(
        [f"text {row} " + "word " * int(rng.integers(0, 9)) for row in range(n)],
        kinds=kinds,
        vectors=unit(rng.integers(0, 10, n) / 10),
        read_from=Ragged.of(read_from),
        facts=facts,
        edges=Edges.join(edges),
    )


LIBRARIES = st.builds(library, st.integers(0, 10**6))


def everything(graph):
    return Subgraph(freeze(np.arange(len(graph)), np.int32))


def find(graph, search, candidates=None, query=None, choose=None):
    query = query or Query("?", ASKED)
    seeds = Dense().on(graph)(query)
    return search.finder(graph)(query, seeds, candidates or everything(graph), choose)


def falling(scores, rows):
    return sorted(rows, key=lambda row: (-round(float(scores[row]), 5), row))


@given(LIBRARIES, st.booleans())
def test_a_score_is_the_sum_of_z_scores_over_the_root_of_the_nodes(graph, whole):
    search = CommunitySearch(max_nearest=None if whole else 5, similarity_layer=False)
    cosines = graph.vectors[:, 0].astype(float)
    found = find(graph, search)
    chunks = [row for row in range(PASSAGES) if whole or cosines[row] > 0]
    searched = {"chunks": chunks if cosines[:PASSAGES].any() else []}
    chosen = [one.community.rows for one in found if one.layer == "chunks" and one.retained]
    near = falling(cosines, [row for row in range(PASSAGES) if cosines[row] > 0])
    gone_into = set(np.concatenate(chosen).tolist()) if chosen else set(near[: search.n_nearest])
    searched["facts"] = [
        row for row in range(PASSAGES, len(graph)) if gone_into & set(graph.read_from[row].tolist())
    ]
    for one in found:
        layer = cosines[searched[one.layer]]
        z = (cosines[one.community.rows] - layer.mean()) / layer.std() if np.ptp(layer) else None
        n = len(one.community)
        expected = np.sqrt(n) if z is None else z.sum() / np.sqrt(n)
        assert one.score == pytest.approx(expected, abs=1e-5)
        among = set(searched[one.layer])
        if one.layer == "chunks" and not whole:
            among = set(falling(cosines, chunks)[:5])
        assert set(one.community.rows.tolist()) <= among


def communities_of(graph, rng):
    """Communities of chunks and of entities in one list, with scores that tie, and their reports."""
    found = []
    for _ in range(int(rng.integers(0, 9))):
        layer = str(rng.choice(["chunks", "facts", "alike"]))
        first, n = (0, PASSAGES) if layer == "chunks" else (PASSAGES, ENTITIES)
        rows = first + np.sort(rng.choice(n, int(rng.integers(1, 5)), replace=False))
        community = Community(3, freeze(rows, np.int32), np.zeros(0, np.int64), 0.5, (0.5,))
        of_facts = np.flatnonzero(graph.edges.facts >= 0)
        edges = rng.permutation(of_facts)[: int(rng.integers(0, 5))] if layer != "chunks" else []
        found.append(
            Candidate(layer, "truss", community, float(rng.integers(3)), freeze(edges, np.int32))
        )
    return found


def best_first(found):
    return sorted(range(len(found)), key=lambda i: (-found[i].score, i))


@given(LIBRARIES, st.integers(0, 10**6), st.integers(0, 60))
def test_communities_of_chunks_are_chosen_by_score_while_their_new_chunks_fit(graph, seed, room):
    found = communities_of(graph, np.random.default_rng(seed))
    search = CommunitySearch(text_unit_tokens=room)
    expected, read, left = {}, set(), room
    for i in best_first(found):
        if found[i].layer == "chunks":
            new = set(found[i].community.rows.tolist()) - read
            tokens = sum(int(graph.tokens[row]) for row in new)
            if tokens <= left or not read:
                expected[i], read, left = tokens, read | new, left - tokens
    chosen = search.choose_chunks(graph, found, UNLIMITED)
    assert {i: one.tokens for i, one in enumerate(chosen) if one.retained} == expected
    for before, after in zip(found, chosen, strict=True):
        assert (before.layer, before.community) == (after.layer, after.community)


@given(LIBRARIES, st.integers(0, 10**6), st.integers(0, 40), st.integers(0, 20))
def test_reports_are_packed_by_score_each_cut_at_its_room_and_each_fact_once(
    graph, seed, room, report_room
):
    found = communities_of(graph, np.random.default_rng(seed))
    search = CommunitySearch(context_tokens=room, report_tokens=report_room, fact_share=1.0)
    expected, stated, left = {}, set(), room
    for i in best_first(found):
        if found[i].layer == "chunks":
            continue
        edges, tokens = [], 0
        for edge in found[i].edges.tolist():
            fact = int(graph.edges.facts[edge])
            cost = graph.count(f"- {graph.facts.texts[fact]}\n")
            if fact in stated:
                continue
            if tokens + cost > report_room:
                break
            edges, tokens = [*edges, edge], tokens + cost
        says_something = bool(edges) or not len(found[i].edges)
        if tokens <= left and says_something:
            expected[i], left = (edges, tokens), left - tokens
            stated |= {int(graph.edges.facts[edge]) for edge in edges}
    packed = search.pack(graph, found, UNLIMITED)
    kept = {i: (one.edges.tolist(), one.tokens) for i, one in enumerate(packed) if one.retained}
    assert kept == expected


@given(LIBRARIES)
def test_a_report_is_the_best_fact_of_each_entity_and_then_the_relations_of_the_truss(graph):
    cosines = graph.vectors[:, 0].astype(float)
    likeness = graph.facts.vectors[:, 0].astype(float)
    edges = [edge for edge in range(len(graph.edges)) if graph.edges.facts[edge] >= 0]
    ends = {edge: (int(graph.edges.tails[edge]), int(graph.edges.heads[edge])) for edge in edges}

    def nearest(some):
        return sorted(some, key=lambda edge: (-round(likeness[graph.edges.facts[edge]], 5), edge))

    for one in find(graph, CommunitySearch(max_nearest=None, k_neighbor=2)):
        if one.layer == "chunks":
            continue
        rows = one.community.rows.tolist()
        by_entity = [
            nearest(e for e in edges if row in ends[e])[:1] for row in falling(cosines, rows)
        ]
        links = graph.links(("fact",))
        pairs = {
            (int(links.sources[slot]), int(links.targets[slot]))
            for slot in (one.community.slots if one.layer == "facts" else [])
        }
        inner = nearest(e for e in edges if ends[e] in pairs or ends[e][::-1] in pairs)
        by_fact = {}
        for edge in chain(*by_entity, inner):
            by_fact.setdefault(int(graph.edges.facts[edge]), edge)
        assert one.edges.tolist() == list(by_fact.values())


@given(LIBRARIES, st.integers(1, 4), st.integers(1, 9))
def test_without_community_search_there_are_the_nearest_and_their_neighbours(graph, n, max_nearest):
    search = CommunitySearch(
        acs=False, n_nearest=n, max_nearest=max_nearest, similarity_layer=False
    )
    cosines = graph.vectors[:, 0].astype(float)
    near = falling(cosines, [row for row in range(PASSAGES) if cosines[row] > 0])[:max_nearest]
    links = graph.links(("related",))
    expected = set(near[:n]) | {
        other for row in near[:n] for other in links.neighbours(row).tolist() if other in near
    }
    chunks = [one for one in find(graph, search) if one.layer == "chunks"]
    assert [set(one.community.rows.tolist()) for one in chunks] == ([expected] if near else [])
    assert {one.level for one in chunks} <= {"one hop"}


@given(LIBRARIES, st.integers(0, 4), st.integers(1, 5))
def test_extra_entities_are_those_of_the_nearest_chunks_most_like_the_question(
    graph, extra, max_nearest
):
    """No triangle of chunks is sought and no fact is needed: what is searched is the one-hop whole."""
    search = CommunitySearch(
        acs=False,
        n_nearest=100,
        max_nearest=max_nearest,
        extra_entities=extra,
        similarity_layer=False,
    )
    cosines = graph.vectors[:, 0].astype(float)
    hidden = PASSAGES + 1  # an entity that may not be read
    offered = [row for row in range(len(graph)) if row != hidden]
    candidates = Subgraph(freeze(offered, np.int32))
    found = find(graph, search, candidates)
    chosen = {
        row
        for one in found
        if one.layer == "chunks" and one.retained
        for row in one.community.rows.tolist()
    }
    near = falling(cosines, [row for row in range(PASSAGES) if cosines[row] > 0])[:max_nearest]

    def mentioned(chunks):
        return [
            row
            for row in range(PASSAGES, len(graph))
            if row != hidden and set(chunks) & set(graph.read_from[row].tolist())
        ]

    expected = set(mentioned(chosen)) | set(falling(cosines, mentioned(near))[:extra])
    fine = [set(one.community.rows.tolist()) for one in found if one.layer == "facts"]
    assert fine == ([expected] if expected else [])


@given(LIBRARIES, st.integers(1, 6))
def test_without_the_chunk_layer_the_entities_most_like_the_question_are_searched(graph, most):
    search = CommunitySearch(
        chunk_layer=False, acs=False, n_nearest=100, max_nearest=most, similarity_layer=False
    )
    cosines = graph.vectors[:, 0].astype(float)
    (one,) = find(graph, search)
    assert one.layer == "facts"
    nearest = falling(cosines, range(PASSAGES, len(graph)))[:most]
    assert set(one.community.rows.tolist()) == set(nearest)


def test_chunks_count_by_the_scores_of_candidates_where_the_question_brings_them():
    graph, search = library(3), CommunitySearch(acs=False, n_nearest=2, similarity_layer=False)
    scores = np.zeros(len(graph))
    scores[[2, 6]] = [0.5, 0.75]
    graph = graph.with_edges(Edges.of("related", [0], [1]))
    query = Query("?", ASKED, candidate_scores={"2": 0.5, "6": 0.75})
    found = search.finder(graph)(query, Seeds(scores), everything(graph), None)
    assert found[0].community.rows.tolist() == [2, 6]
    assert found[0].community.mean == pytest.approx(0.625)


@pytest.mark.parametrize("rows", [[], [3], [2, 3, 4], [0, 2, 3], [1, 3, 2, 4], [4, 3]])
def test_vectors_of_rows_are_theirs_whether_or_not_the_rows_are_consecutive(rows):
    vectors = np.arange(12.0).reshape(6, 2)
    found = vectors_of(vectors, np.int32(rows))
    assert found.tolist() == [vectors[row].tolist() for row in rows]
    consecutive = bool(rows) and rows == list(range(rows[0], rows[0] + len(rows)))
    assert np.shares_memory(found, vectors) == consecutive, "these are not copied"


def test_a_budget_scales_the_three_rooms_alike_and_nothing_else_does():
    search = CommunitySearch(context_tokens=600, report_tokens=200, text_unit_tokens=400)
    assert search.rooms(UNLIMITED) == (600, 200, 400)
    assert search.rooms(500) == (300, 100, 200)
    assert search.rooms(3000) == (1800, 600, 1200)
    assert search.rooms(UNLIMITED - 1) != search.rooms(UNLIMITED)
    assert CommunitySearch(context_tokens=0, text_unit_tokens=0).rooms(50) == (0, 3200, 0)
    assert search.chunk_room(500) is None, "what reports leave"
    assert search.chunk_room(UNLIMITED) == 400
    assert replace(search, unused_to_chunks=False).chunk_room(500) == 200


def test_the_defaults_are_those_that_the_docstring_and_the_paper_name():
    search, paper = CommunitySearch(), recipes.get("da_rag_paper").communities
    assert (search.context_tokens, search.report_tokens, search.text_unit_tokens) == (
        4800,
        3200,
        4000,
    )
    assert (search.k_neighbor, search.extra_entities, search.cascade) == (5, 0, False)
    assert (search.acs, search.chunk_layer, search.similarity_layer) == (True, True, True)
    assert (paper.min_support, paper.shared) == (1, False)


def selected(graph, search, prizes, found, *, limit=None, chunk_room=None, budget=10**6):
    query = Query("?", ASKED, limit=limit)
    offer = Offer(graph, query, Seeds(prizes), prizes, everything(graph), budget)
    return search.select(offer, found, chunk_room)


def read(graph, chosen):
    return [row for row in chosen.nodes.tolist() if graph.content[row]]


def chosen_chunks(rows, layer="chunks"):
    community = Community(3, freeze(rows, np.int32), np.zeros(0, np.int64), 0.5, (0.5,))
    return Candidate(layer, "truss", community, 1.0, freeze([], np.int32), retained=True)


def test_chunks_of_the_community_come_first_or_have_their_prizes_raised():
    graph = library(1)
    prizes = np.where(graph.content, np.arange(len(graph), 0, -1) / 100, 0.0)  # 0.16, 0.15, ...
    found = [chosen_chunks([5, 6])]
    first = CommunitySearch()
    assert read(graph, selected(graph, first, prizes, found)) == [5, 6, 0, 1, 2, 3, 4, 7]
    raised = CommunitySearch(community_boost=1.4)  # 0.11 and 0.10 become 0.154 and 0.14
    assert read(graph, selected(graph, raised, prizes, found)) == [0, 5, 1, 2, 6, 3, 4, 7]
    alone = CommunitySearch(other_chunks=False)
    assert read(graph, selected(graph, alone, prizes, found)) == [5, 6]
    assert read(graph, selected(graph, alone, prizes, [])) == list(range(PASSAGES))
    assert read(graph, selected(graph, alone, prizes, found, limit=3)) == [5, 6, 0]


def test_the_room_of_chunks_is_theirs_and_facts_have_their_own_beside_it():
    graph = library(1)
    prizes = np.where(graph.content, 1.0, 0.0)
    edge = int(np.flatnonzero(graph.edges.facts >= 0)[0])
    facts = replace(chosen_chunks([8, 9], "facts"), edges=freeze([edge], np.int32))
    room = int(graph.tokens[0] + graph.tokens[1])
    search = CommunitySearch()
    for found in ([chosen_chunks([0, 1])], [chosen_chunks([0, 1]), facts]):
        tight = selected(graph, search, prizes, found, chunk_room=room)
        assert read(graph, tight)[:2] == [0, 1]
        assert sum(int(graph.tokens[row]) for row in read(graph, tight)) <= room
        assert (edge in tight.edges.tolist()) == (len(found) > 1)
        less = selected(graph, search, prizes, found, chunk_room=room - 1)
        assert not {0, 1} <= set(read(graph, less))


def test_the_trace_says_of_every_layer_how_it_hangs_together_and_what_was_kept():
    graph, search = library(1), CommunitySearch()
    prizes = np.where(graph.content, 1.0, 0.0)
    weak = replace(chosen_chunks([8, 9], "facts"), level="pieces", retained=False, score=0.123456)
    notes = selected(graph, search, prizes, [chosen_chunks([0, 1]), weak]).notes
    assert notes["levels"] == {"chunks": "truss", "facts": "pieces", "alike": "empty"}
    assert notes["facts"] == [{"k": 3, "nodes": 2, "mean": 0.5, "score": 0.1235, "kept": False}]
    assert notes["fallback"] == "no truss among facts: pieces, alike: empty"
    nothing = selected(graph, search, prizes, []).notes
    assert nothing["fallback"] == "no communities: the passages by prize"
    bare = replace(search, chunk_layer=False, similarity_layer=False)
    whole = selected(graph, bare, prizes, [chosen_chunks([8], "facts")]).notes
    assert list(whole["levels"]) == ["facts"]
    assert "fallback" not in whole
    hop = replace(chosen_chunks([8], "facts"), level="one hop")
    assert "fallback" not in selected(graph, bare, prizes, [hop]).notes


@given(st.integers(0, 10**6))
def test_a_node_is_compared_by_what_was_written_on_it_where_that_has_a_vector(seed):
    """Descriptions of passages and summaries of entities, some without a vector, some of several."""
    rng = np.random.default_rng(seed)
    kinds = ["passage"] * 4 + ["entity"] * 4
    read_from, about, n = [[] for _ in range(8)], [], 8
    described, summarised = dict(enumerate(range(8))), dict(enumerate(range(8)))
    vectors = [[1.0, 0.0]] * 8
    for row in rng.permutation(8).tolist():
        kind = str(rng.choice(["description", "summary", "report"]))
        of = [row] if rng.random() < 0.7 else [row, (row + 1) % 4]
        has_vector = rng.random() < 0.7
        kinds.append(kind)
        read_from.append(of)
        vectors.append([0.6, 0.8] if has_vector else [0.0, 0.0])
        about.append((n, row))
        if kind == "description" and len(of) == 1 and has_vector:
            described[row] = n
        if kind == "summary" and has_vector:
            summarised[row] = n
        n += 1
    edges = Edges.join(
        [Edges.of("about", *zip(*about, strict=True)), Edges.of("summarises", [8], [0])]
    )
    graph = Graph.of(
        ["text"] * n,
        kinds=kinds,
        vectors=vectors,
        read_from=Ragged.of(read_from),
        edges=edges,
    )
    own = list(range(8, n))
    assert graph.part(DescribedPart()).tolist() == [*described.values(), *own]
    assert graph.part(EntityVectorsPart()).tolist() == [*summarised.values(), *own]


def judge_of(graph, found, judgements, **fields):
    """A judge that has its answers; None is an answer that could not be read."""
    query = Query("What?", ASKED, model=lambda prompt: "")
    judge = CommunityJudge(graph, query, CommunitySearch(**fields), UNLIMITED, 1)
    answers = [
        SimpleNamespace(value=one, calls=1 + i % 2, error="" if one else "no JSON")
        for i, one in enumerate(judgements)
    ]
    judge.judged = list(zip(found, answers, strict=True))
    return judge


@given(LIBRARIES, st.integers(0, 10**6), st.integers(0, 60), st.integers(0, 30))
def test_reports_by_a_model_are_packed_by_score_and_cut_at_their_room(graph, seed, room, one_room):
    rng = np.random.default_rng(seed)
    found = communities_of(graph, rng)
    judgements = [
        Judgement(
            float(rng.choice([0, 10, 10, 55])), " ".join(["word."] * int(rng.integers(1, 15)))
        )
        if rng.random() < 0.8
        else None
        for _ in found
    ]
    judge = judge_of(graph, found, judgements, context_tokens=room, report_tokens=one_room)
    expected, dropped, left = [], [], room
    scores = [one.score if one else 0.0 for one in judgements]
    for i in sorted(range(len(found)), key=lambda i: -scores[i]):
        if scores[i] <= 0:
            continue
        report = judgements[i].report
        full = graph.count(f"- {report}\n")
        most = min(one_room, room)
        if full > most:
            report = cut_report(graph, report, most)
        tokens = graph.count(f"- {report}\n")
        if report and tokens <= left:
            expected.append((i, report, full if report != judgements[i].report else 0))
            left -= tokens
        else:
            dropped.append(f"its {full} tokens do not fit in the {left} left of the reports' room")
    packed = judge.pack()
    assert [(one.judgement.report, one.full_tokens) for one in packed.read] == [
        (report, full) for _, report, full in expected
    ]
    assert [one.candidate for one in packed.read] == [found[i] for i, _, _ in expected]
    assert [one.reason for one in packed.dropped] == dropped
    notes = judge.notes(packed)
    assert notes["calls"] == sum(1 + i % 2 for i in range(len(found)))
    assert notes["scores"] == [one.score if one else None for one in judgements]
    assert (notes["reports"], notes["without_room"]) == (len(expected), len(dropped))
    assert len(notes.get("cut", ())) == sum(full > 0 for _, _, full in expected)
    assert len(notes.get("failed", ())) == judgements.count(None)
    assert notes["chunks chosen"] == "by their reports"


def test_a_prompt_asks_for_as_many_words_as_have_room_and_shows_the_nearest_passages():
    graph = library(1)
    model = Model.of(lambda prompt: "", max_prompt_tokens=16_000)
    rows = [0, 1, 2, 3]
    one = chosen_chunks(rows)
    for tokens, words in ((1000, 700), (20, 14), (15, 10), (1, 10)):
        prompt = prompt_of(graph, Query("Why?", ASKED), one, tokens, model=model)
        assert f"in at most {words} words" in prompt.text
    assert all(f"- {graph.texts[row]}" in prompt.text for row in rows)
    cosines = graph.vectors[rows, 0]
    frame = model.tokens(prompt.text) - sum(model.tokens(f"- {graph.texts[row]}\n") for row in rows)
    tight = Model.of(
        lambda prompt: "", max_prompt_tokens=frame + model.tokens(f"- {graph.texts[0]}\n") + 12
    )
    few = prompt_of(graph, Query("Why?", ASKED), one, 1, model=tight)
    shown = [row for row in rows if f"- {graph.texts[row].strip()}" in few.text]
    assert 0 < len(shown) < 4
    assert min(cosines[shown]) >= max(np.delete(cosines, shown))
    assert few.left_out


def test_reports_of_one_layer_and_k_have_ids_of_their_own_and_say_where_they_are_from():
    graph = library(1)
    graph = replace(graph, ids=("report:chunks:3", *graph.ids[1:]))
    same = [JudgedCommunity(chosen_chunks([row]), Judgement(40.0, "x")) for row in (0, 1)]
    overlay = overlay_reports(graph, same)
    new = overlay.ids[len(graph) :]
    assert new == ("report:chunks:3+", "report:chunks:3++")
    assert overlay.metadata[len(graph)] == {"k": 3, "layer": "chunks", "score": 40.0}
    assert overlay.kinds[len(graph)] == "report"


def test_chunks_have_what_the_reports_leave_and_reports_come_first():
    graph = library(1)
    reports = [JudgedCommunity(chosen_chunks([0, 1]), Judgement(40.0, "A report on two."))]
    overlay = overlay_reports(graph, reports)
    n = len(graph)
    cost = int(overlay.tokens[n:].sum())
    packed = [chosen_chunks([0, 1])]
    stage = ReportedChunks(CommunitySearch(), graph, packed, None)
    prizes = np.append(np.where(graph.content, 1.0, 0.0), 0.4)
    both = int(graph.tokens[0] + graph.tokens[1])
    everything = Subgraph(freeze(np.arange(n + 1), np.int32))
    for budget, fits in ((cost + both, True), (cost + both - 1, False), (0, False)):
        found = stage.on(overlay)(Query("?", ASKED), Seeds(prizes), prizes, everything, budget)
        rows = found.nodes.tolist()
        assert rows[0] == n
        assert ({0, 1} <= set(rows)) == fits
        chunks = [row for row in rows if row < n and graph.content[row]]
        assert sum(int(graph.tokens[row]) for row in chunks) <= max(0, budget - cost)
    assert repr(stage) == "1 reports"
    read = ReportsBeforeChunks(n).on(overlay)
    order = read(Query("?", ASKED), prizes, replace(everything, nodes=freeze([1, n, 0], np.int32)))
    assert order.nodes.tolist()[0] == n
    assert sorted(order.nodes.tolist()) == [0, 1, n]


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("[1]", "wanted an object with 'score' and 'report'"),
        ('{"score": 5, "report": " "}', "'report' must be a text"),
        ('{"score": 5, "report": 7}', "'report' must be a text"),
        ('{"score": 101, "report": "x"}', "101"),
        ('{"score": -1, "report": "x"}', "-1"),
    ],
)
def test_an_answer_without_a_score_of_a_hundred_or_a_report_is_refused(answer, why):
    with pytest.raises(ValueError, match=why):
        read_judgement(answer)
    assert read_judgement('{"score": 100, "report": "x"}').score == 100
    assert read_judgement('{"score": 0, "report": "x"}').score == 0


@pytest.mark.parametrize("n_words", range(1, 13))
@pytest.mark.parametrize("with_stops", [False, True])
def test_a_report_is_cut_behind_the_last_sentence_that_fits_or_else_behind_a_word(
    n_words, with_stops
):
    """For every room; where there are sentences, every second word ends one."""
    words = [f"X{i}." if with_stops and i % 2 else f"X{i}" for i in range(n_words)]
    report = " ".join(words)
    graph = replace(Graph.of(["Anna"]), count=len)
    beginnings = [" ".join(words[:n]) + " [cut]" for n in range(1, n_words)]
    for room in range(len(report) + 12):
        fits = [one for one in beginnings if len(f"- {one}\n") <= room]
        ends = [one for one in fits if one.endswith(". [cut]")]
        assert cut_report(graph, report, room) == (ends or fits or [""])[-1]
