"""What every selector keeps to, and each one's own rule by definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew import Document, Index
from clew.graph import Edges, Graph, freeze
from clew.select import MMR, Top
from clew.types import UNLIMITED, Query, Seeds, Subgraph
from tests.conftest import hashed_words

SELECTS = [Top(), Top(2), MMR(), MMR(1.0), MMR(0.0, k=3), MMR(fetch_k=2)]


def select(stage, graph, prizes, budget=UNLIMITED, candidates=None, limit=None):
    prizes = np.array(prizes, np.float64)
    everything = (
        Subgraph(freeze(np.arange(len(graph)), np.int32)) if candidates is None else candidates
    )
    return stage.on(graph)(Query("?", limit=limit), Seeds(prizes), prizes, everything, budget)


def unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@st.composite
def cases(draw):
    n = draw(st.integers(1, 9))
    kinds = draw(
        st.lists(st.sampled_from(["passage", "passage", "entity"]), min_size=n, max_size=n)
    )
    ends = st.integers(0, n - 1)
    ties = draw(st.lists(st.tuples(ends, ends), max_size=8))
    graph = Graph.of(
        [f"text {i}" for i in range(n)],
        kinds=kinds,
        tokens=draw(st.lists(st.integers(0, 5), min_size=n, max_size=n)),
        vectors=unit(
            np.random.default_rng(draw(st.integers(0, 50))).normal(size=(n, 3)).round(1) + 0.01
        ),
        edges=Edges.of("next", [t for t, _ in ties], [h for _, h in ties]),
    )
    prizes = draw(st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=n, max_size=n))
    nodes = draw(st.lists(ends, unique=True, max_size=n))
    inside = [e for e, (t, h) in enumerate(ties) if t in nodes and h in nodes]
    kept = draw(st.lists(st.sampled_from(nodes), unique=True, max_size=2)) if nodes else []
    candidates = Subgraph(
        freeze(nodes, np.int32),
        freeze(inside, np.int32),
        freeze(kept, np.int32),
        missing=((0, n - 1),),
        dropped=((0, "earlier"),),
    )
    return graph, prizes, candidates, draw(st.integers(0, 20)), draw(st.none() | st.integers(1, 9))


@pytest.mark.parametrize("stage", SELECTS, ids=repr)
@given(cases())
def test_what_every_selector_keeps_to(stage, case):
    graph, prizes, candidates, budget, limit = case
    found = select(stage, graph, prizes, budget, candidates, limit)

    chosen, kept = found.nodes.tolist(), candidates.required.tolist()
    assert len(set(chosen)) == len(chosen)
    assert set(kept) <= set(chosen) <= set(candidates.nodes.tolist()), (
        "bridges survive, and nothing is taken that was not offered"
    )
    assert found.required.tolist() == kept
    free = [row for row in chosen if row not in kept]
    tails, heads = graph.edges.tails, graph.edges.heads
    ends = {row for e in found.edges.tolist() for row in (int(tails[e]), int(heads[e]))}
    assert all(prizes[row] > 0 if graph.content[row] else row in ends for row in free), (
        "a connector stays where it joins something"
    )
    cost = sum(int(graph.tokens[row]) for row in chosen if graph.content[row])
    assert cost <= budget or not any(graph.content[row] for row in free)
    for most in (limit, stage.k):
        assert most is None or sum(bool(graph.content[row]) for row in chosen) <= max(
            most, sum(bool(graph.content[row]) for row in kept)
        )
    inside = {row for row in range(len(graph)) if row in chosen or not graph.content[row]}
    among = [e for e in candidates.edges.tolist() if {int(tails[e]), int(heads[e])} <= inside]
    assert found.edges.tolist() == among, (
        "of the edges, those among what is chosen and the connectors between"
    )
    assert ends <= set(chosen)
    assert found.missing == candidates.missing
    assert candidates.dropped[0] in found.dropped
    assert all(row not in chosen for row, reason in found.dropped if reason != "earlier")


@given(cases())
def test_mmr_by_prize_alone_is_top(case):
    graph, prizes, candidates, budget, limit = case
    one, other = (
        select(MMR(1.0), graph, prizes, budget, candidates, limit),
        select(Top(), graph, prizes, budget, candidates, limit),
    )
    assert one.nodes.tolist() == other.nodes.tolist()


def test_top_takes_the_highest_that_fit_and_says_what_it_passed_over():
    graph = Graph.of(list("abcd"), tokens=[9, 2, 2, 2])
    found = select(Top(), graph, [1.0, 0.5, 0.9, 0.1], budget=4)
    assert found.nodes.tolist() == [2, 1]
    assert found.dropped[0] == (0, "its 9 tokens do not fit in the 4 left")


def test_top_looks_no_further_than_its_reach():
    graph = Graph.of(["text"] * 3000, tokens=[10] * 2999 + [1])
    prizes = np.linspace(1, 0.1, 3000)
    assert select(Top(max_passed=50), graph, prizes, budget=25).nodes.tolist() == [0, 1]
    assert select(Top(max_passed=3000), graph, prizes, budget=25).nodes.tolist() == [0, 1, 2999]
    assert select(Top(), graph, prizes, budget=15_000).nodes.tolist() == list(range(1500)), (
        "more than it ranks at first"
    )


@given(cases(), st.sampled_from([0.25, 0.3, 0.5, 1.0]))
def test_top_leaves_out_what_is_far_below_the_best_unless_a_number_is_wanted(case, share):
    graph, prizes, candidates, budget, limit = case
    required = set(candidates.required.tolist())
    free = [row for row in candidates.nodes.tolist() if graph.content[row] and row not in required]
    highest = max((prizes[row] for row in free), default=0)
    far = [row for row in free if 0 < prizes[row] < share * highest]
    left = [0 if row in far else prize for row, prize in enumerate(prizes)]
    found = select(Top(min_share=share), graph, prizes, budget, candidates)
    assert found.nodes.tolist() == select(Top(), graph, left, budget, candidates).nodes.tolist()
    assert found.notes.get("far below the best", 0) == len(far)
    number = limit or 1
    assert (
        select(Top(min_share=share), graph, prizes, budget, candidates, number).nodes.tolist()
        == select(Top(), graph, prizes, budget, candidates, number).nodes.tolist()
    )


def test_what_a_walk_over_facts_leads_to_is_not_left_out():
    documents = [Document("a", "Anna knows Ben."), Document("b", "Ben sails.")]
    for facts, expected in (({}, ["a"]), ({"a": [("Anna", "knows", "Ben")]}, ["a", "b"])):
        graph = Index.from_documents(documents, facts=facts, embedder=hashed_words).graph
        prizes = np.zeros(len(graph))
        prizes[graph.row("a")], prizes[graph.row("b")] = 1.0, 0.01
        found = select(Top(min_share=0.4), graph, prizes)
        assert [graph.ids[row] for row in found.nodes] == expected
        for share in (0.02, 0.005):  # the walk leaves b a hundredth
            found = select(Top(min_share=0.4, min_share_with_facts=share), graph, prizes)
            named = ["a"] if share > 0.01 else expected
            assert [graph.ids[row] for row in found.nodes] == named


@given(st.integers(2, 8), st.integers(0, 200), st.sampled_from([0.3, 0.5, 0.8]))
def test_mmr_is_the_greedy_rule(n, seed, share):
    rng = np.random.default_rng(seed)
    vectors = unit(rng.normal(size=(n, 4))).astype(np.float32)
    prizes = rng.random(n) + 0.01
    graph = Graph.of(["text"] * n, vectors=vectors)
    worth = (prizes - prizes.min()) / (prizes.max() - prizes.min())
    cosines = vectors.astype(np.float64) @ vectors.T.astype(np.float64)

    expected = [int(np.argmax(worth))]
    while len(expected) < n:
        left = [i for i in range(n) if i not in expected]
        expected.append(
            max(
                left,
                key=lambda i: share * worth[i] - (1 - share) * max(cosines[i, j] for j in expected),
            )
        )

    assert select(MMR(share), graph, prizes).nodes.tolist() == expected
    assert select(MMR(share, k=2), graph, prizes).nodes.tolist() == expected[:2]


def test_an_exact_duplicate_is_deferred():
    vectors = unit(np.array([[1.0, 0, 0], [1, 0, 0], [0.7, 0.7, 0], [0.6, 0, 0.8]]))
    graph = Graph.of(list("abcd"), vectors=vectors)
    assert select(MMR(0.5), graph, [1.0, 0.99, 0.98, 0.1]).nodes.tolist() == [0, 2, 1, 3]
    assert select(MMR(1.0), graph, [1.0, 0.99, 0.98, 0.1]).nodes.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("shift", [0.0, 1.0, 3.0])
def test_from_a_floor_on_a_copy_is_deferred_and_a_topic_is_not_in_any_embedding(shift):
    """Where all vectors have something in common (a shift of them all), cosines are high and near to each other; the choice is the same."""
    vectors = unit(
        np.array([[1.0, 0, 0, 0], [0.7, 0.714, 0, 0], [1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    )
    graph = Graph.of(list("abcde"), vectors=unit(np.hstack([vectors, np.full((5, 1), shift)])))
    prizes = [1.0, 0.9, 0.8, 0.5, 0.1]
    assert select(MMR(0.5), Graph.of(list("abcde"), vectors=vectors), prizes).nodes.tolist() == [
        0,
        3,
        1,
        4,
        2,
    ]
    assert select(MMR(0.5, similarity_floor=0.5), graph, prizes).nodes.tolist() == [0, 1, 3, 4, 2]
    assert select(
        MMR(0.5, similarity_floor=0.5),
        Graph.of(list("abc"), vectors=vectors[[0, 0, 0]]),
        [0.1, 1.0, 0.9],
    ).nodes.tolist() == [
        1,
        2,
        0,
    ]
    assert select(
        MMR(0.5, similarity_floor=0.5), Graph.of(["alone"], vectors=vectors[:1]), [1.0]
    ).nodes.tolist() == [0]
    with pytest.raises(ValueError, match="similarity_floor is from 0"):
        MMR(similarity_floor=1.0)


def test_what_is_like_a_bridge_is_deferred_too():
    vectors = unit(np.array([[1.0, 0], [1, 0.01], [0, 1]]))
    bridged = Subgraph(freeze([0, 1, 2], np.int32), required=freeze([0], np.int32))
    assert select(
        MMR(0.3), Graph.of(list("abc"), vectors=vectors), [0.0, 1.0, 0.9], candidates=bridged
    ).nodes.tolist() == [0, 2, 1]


@pytest.mark.parametrize("k", [0, -1])
def test_a_number_of_items_below_one_is_refused(k):
    with pytest.raises(ValueError, match=f"k is a whole number of at least 1, or None; got {k}"):
        Top(k)
    with pytest.raises(ValueError, match=f"^k is a whole number of at least 1, or None; got {k}"):
        MMR(k=k)
    with pytest.raises(ValueError, match=f"fetch_k is a whole number of .*, or None; got {k}"):
        MMR(fetch_k=k)
