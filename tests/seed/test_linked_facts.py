"""Fact-linked seeds against a transcription of their definition by plain loops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.graph import Facts, Graph, Labels, Ragged, freeze
from clew.seed import Dense, LinkedFacts
from clew.types import Query


def unit(vectors):
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0).astype(
        np.float32
    )


ENDS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.booleans()), max_size=7)


def graph_of(ends, read_from, seed):
    """Four passages and five entities; facts between entities, those marked False without a vector."""
    rng = np.random.default_rng(seed)
    vectors = unit(rng.normal(size=(len(ends), 3))) * np.float32(
        [[known] for *_, known in ends]
    ).reshape(-1, 1)
    facts = Facts(
        tuple(f"fact {i}" for i in range(len(ends))),
        freeze(vectors.reshape(-1, 3), np.float32),
        freeze([4 + s for s, _, _ in ends], np.int32),
        freeze([4 + o for _, o, _ in ends], np.int32),
        Labels.of(["r"] * len(ends)),
        Ragged.of([[]] * len(ends)),
    )
    return Graph.of(
        [f"text {i}" for i in range(9)],
        kinds=["passage"] * 4 + ["entity"] * 5,
        vectors=unit(rng.normal(size=(9, 3))),
        read_from=Ragged.of([*[()] * 4, *read_from]),
        facts=facts,
    )


def transcribed(graph, vector, top, passage_weight):
    def scale(values):
        low, high = min(values), max(values)
        return [(v - low) / (high - low) if high > low else 1.0 for v in values]

    facts = range(len(graph.facts))
    known = [graph.facts.vectors[f].any() for f in facts]
    scores = scale([float(graph.facts.vectors[f] @ vector) for f in facts])
    scores = [score if has else 0.0 for score, has in zip(scores, known, strict=True)]
    nearest = [
        f for f in sorted(facts, key=lambda f: (-round(scores[f], 9), f))[:top] if scores[f] > 0
    ]
    gathered = {}
    for f in nearest:
        for entity in (int(graph.facts.subjects[f]), int(graph.facts.objects[f])):
            gathered.setdefault(entity, []).append(scores[f] / max(1, len(graph.read_from[entity])))
    mean = {entity: sum(parts) / len(parts) for entity, parts in gathered.items()}
    terminals = sorted(mean, key=lambda entity: (-round(mean[entity], 9), entity))[:top]
    weights = [0.0] * len(graph)
    for entity in terminals:
        weights[entity] = mean[entity]
    for passage, similarity in enumerate(
        scale([float(graph.vectors[p] @ vector) for p in range(4)])
    ):
        weights[passage] += passage_weight * similarity
    return nearest, terminals, weights


@given(
    ENDS,
    st.lists(st.lists(st.integers(0, 3), max_size=3, unique=True), min_size=5, max_size=5),
    st.integers(1, 6),
    st.integers(0, 99),
)
def test_seeds_are_those_of_the_definition(ends, read_from, top, seed):
    graph = graph_of(ends, read_from, seed)
    vector = unit(np.random.default_rng(seed + 1).normal(size=3))

    found = LinkedFacts(top, 0.25).on(graph)(Query("?", vector))

    if not any(known for *_, known in ends):
        assert "no facts with vectors" in found.notes["fallback"]
        assert found.scores == pytest.approx(Dense().on(graph)(Query("?", vector)).scores)
        return
    nearest, terminals, weights = transcribed(graph, vector, top, 0.25)
    assert found.facts.tolist() == nearest
    assert found.terminals.tolist() == terminals
    assert found.scores == pytest.approx(weights, abs=1e-6)
    assert (found.scores >= 0).all()


def test_facts_are_compared_with_the_fact_vector_and_passages_with_the_other():
    graph = graph_of([(0, 1, True), (2, 3, True)], [()] * 5, 0)
    away = -graph.vectors[0]
    found = LinkedFacts(1).on(graph)(
        Query("?", graph.vectors[0], fact_vector=graph.facts.vectors[1])
    )
    assert found.facts.tolist() == [1]
    assert found.scores[0] == pytest.approx(0.05)
    assert LinkedFacts(1).on(graph)(
        Query("?", away, fact_vector=graph.facts.vectors[0])
    ).facts.tolist() == [0]


def test_a_question_without_a_vector_falls_back_on_the_passages_and_says_so():
    graph = graph_of([(0, 1, True)], [()] * 5, 0)
    assert "the question has no vector" in LinkedFacts().on(graph)(Query("?")).notes["fallback"]


def test_given_candidates_take_the_passages_place():
    graph = graph_of([(0, 1, True)], [()] * 5, 0)
    found = LinkedFacts(passage_weight=0.5).on(graph)(
        Query("?", graph.vectors[0], candidate_scores={2: 1.0, 3: 0.5})
    )
    assert found.scores[:4].tolist() == [0, 0, 0.5, 0]
