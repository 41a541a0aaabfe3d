"""Facts that the question names, half of the start, and the nearest passages, the other half."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew import Index, recipes
from clew.graph import Facts, Graph, Labels, Ragged, freeze
from clew.seed import Dense, LinkedFacts, RecognisedFacts
from clew.text.words import words
from clew.types import Query

NAMES = ("Ada", "Ben", "Corfu", "京都", "Port Said")


def unit(rows):
    rows = np.asarray(rows, float)
    return freeze(rows / np.linalg.norm(rows, axis=-1, keepdims=True), np.float32)


def graph_of(ends, read_from, seed):
    """Three passages and five entities; facts between the entities, read from the passages."""
    rng = np.random.default_rng(seed)
    n = len(ends)
    facts = Facts(
        tuple(f"fact {at}" for at in range(n)), unit(rng.normal(size=(n, 4))),
        freeze([3 + a for a, _ in ends], np.int32), freeze([3 + b for _, b in ends], np.int32),
        Labels.of(["knows"] * n), Ragged.of([[at % 3] for at in range(n)]),
    )  # fmt: skip
    kinds = ["passage"] * 3 + ["entity"] * 5
    texts = ("one", "two", "three", *NAMES)
    return Graph.of(
        texts,
        kinds=kinds,
        vectors=unit(rng.normal(size=(8, 4))),
        read_from=Ragged.of([[]] * 3 + read_from),
        facts=facts,
    )


ends = st.tuples(st.integers(0, 4), st.integers(0, 4))
some = st.lists(
    st.sampled_from(
        ["Who met ada", "in Corfu?", "京都で何", "port", "said so", "ben-", "Adam", "Port  Said"]
    ),
    min_size=1,
)


@given(st.lists(ends, min_size=1, max_size=9), st.lists(st.lists(st.integers(0, 2), unique=True, max_size=3), min_size=5, max_size=5),
       some, st.integers(1, 6), st.floats(0, 1), st.integers(0, 99))  # fmt: skip
def test_weights_are_those_of_the_definition(pairs, read_from, said, top, share, seed):
    graph = graph_of(pairs, read_from, seed)
    text, vector = " ".join(said), unit(np.random.default_rng(seed + 1).normal(size=4))
    found = RecognisedFacts(top, share, Dense(), 3.0).on(graph)(Query(text, vector))

    spoken = f" {' '.join(words(text))} "
    named = [f" {' '.join(words(name))} " in spoken for name in NAMES]
    papers = LinkedFacts(top).on(graph)(Query(text, vector))
    near = papers.facts.tolist()
    reached = {end for fact in near for end in pairs[fact] if named[end]}
    for _ in near:  # a fact that is recognised makes its other end known, and so the next fact
        reached |= {end for fact in near for end in pairs[fact] if set(pairs[fact]) & reached}
    recognised = [fact for fact in near if set(pairs[fact]) & reached]
    assert found.facts.tolist() == recognised

    similar = np.maximum(graph.vectors[:3] @ vector, 0).astype(float)
    similar = (similar / similar.max()) ** 3 if similar.max() > 0 else similar
    similar = similar / similar.sum() if similar.sum() else similar
    part = share if recognised else 1.0
    assert found.scores[:3] == pytest.approx(part * similar, abs=1e-6)
    if not recognised:
        assert "recognised" in found.notes["fallback"]
        assert not found.scores[3:].any()
        assert not len(found.terminals)
        return
    scores = dict(zip(papers.facts.tolist(), papers.fact_scores.tolist(), strict=True))
    means = {}
    for entity in {end for fact in recognised for end in pairs[fact]}:
        told = [scores[fact] for fact in recognised for end in pairs[fact] if end == entity]
        means[entity] = np.mean(told) / max(1, len(read_from[entity]))
    kept = sorted(means, key=lambda entity: (-round(means[entity], 9), entity))[:top]
    assert found.terminals.tolist() == [3 + entity for entity in kept]
    total = sum(means[entity] for entity in kept)
    for entity in range(5):
        wanted = (1 - share) * means[entity] / total if entity in kept else 0.0
        assert found.scores[3 + entity] == pytest.approx(wanted, abs=1e-6)


def test_without_facts_or_without_a_vector_the_passages_are_the_seeds_and_it_is_said():
    graph = graph_of([(0, 1)], [[]] * 5, 0)
    assert (
        "the question has no vector" in RecognisedFacts().on(graph)(Query("Ada")).notes["fallback"]
    )
    bare = Graph.of(["one"], vectors=unit([[1.0, 0.0]]))
    found = RecognisedFacts(passage_seed=Dense()).on(bare)(Query("one", unit([1.0, 0.0])))
    assert found.scores.tolist() == [1.0]
    assert "no facts" in found.notes["fallback"]


@pytest.mark.parametrize("share", [-0.1, 1.5, float("nan")])
def test_a_share_that_is_none_is_refused(share):
    with pytest.raises(ValueError, match="share"):
        RecognisedFacts(passage_share=share)


def test_facts_of_a_few_passages_do_not_drown_the_others():
    """Nine passages say where someone lives; facts were read from the one on Ben alone, and the question is on Zoe."""
    people = ("Ben", "Zoe", "Ada", "Kim", "Lou", "Max", "Nan", "Pia", "Rob")
    texts = [f"{name} lives on the island of {name}os." for name in people]
    index = Index.from_documents(texts, facts={})
    known = Index.from_documents(
        texts, facts={index.graph.ids[0]: [("Ben", "lives on the island of", "Benos")]}
    )
    question = "On which island does Zoe live?"
    assert known.ask(question, recipe="hipporag").items[0].text == texts[1]
    assert known.ask("On which island does Ben live?", recipe="hipporag").items[0].text == texts[0]
    trace = {
        step.stage: step.notes for step in known.ask(question, recipe=recipes.get("hipporag")).trace
    }
    assert "recognised" in next(
        notes["fallback"] for notes in trace.values() if "fallback" in notes
    )


def test_without_facts_hipporag_reads_what_fused_reads_at_any_depth():
    chance = np.random.default_rng(0)
    vocabulary = [f"{a}{b}word" for a in "abcdef" for b in "aeiouklmnr"]  # no codes
    texts = [" ".join(chance.choice(vocabulary, 12)) for _ in range(80)]
    index = Index.from_documents(texts)
    for question in ("adword bmword eaword", "aoword", " ".join(vocabulary[20:30])):
        for how in ({"budget": 100}, {"budget": None, "limit": 80}):
            assert (
                index.ask(question, recipe="hipporag", **how).ids
                == index.ask(question, recipe="fused", **how).ids
            )
    assert index.ask("word3 word5").method == repr(recipes.get("hipporag"))
