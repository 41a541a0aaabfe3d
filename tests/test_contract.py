"""What every recipe and every stage keeps to, found by walking: a new one is tested the day it is written."""

from __future__ import annotations

import importlib
import json
import os
import pickle
import pkgutil
import platform
import subprocess
import sys
from dataclasses import fields, is_dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import clew
from clew import Index, Pipeline, Render, recipes
from clew.algorithms.nearest.hnsw import HNSW
from clew.graph import Graph
from clew.methods import CommunitySearch, DaRag, Descent
from clew.methods.router import Router
from clew.order import ByPrize
from clew.render import STYLES
from clew.seed import Dense
from clew.select import Top
from clew.spread import BestFirst, BreadthFirst
from clew.types import UNLIMITED, Query

KINDS = ("seed", "spread", "select", "order", "link")


def stages_of(kind):
    """Every public frozen dataclass with `on` that a module of the package defines."""
    package = importlib.import_module(f"clew.{kind}")
    modules = [
        importlib.import_module(module.name)
        for module in pkgutil.walk_packages(package.__path__, package.__name__ + ".")
    ]
    named = (
        (name, value, module)
        for module in modules
        for name, value in vars(module).items()
        if not name.startswith("_")
    )
    return {
        name: value
        for name, value, module in named
        if getattr(value, "__module__", "") == module.__name__ and is_stage(value)
    }


def is_stage(value):
    return isinstance(value, type) and is_dataclass(value) and hasattr(value, "on")


STAGES = {kind: stages_of(kind) for kind in KINDS}
# Stages that only a method has.
STAGES["select"] |= {"CommunitySearch": CommunitySearch, "Descent": Descent}
EVERY_STAGE = [
    pytest.param(stage, id=f"{kind}.{name}")
    for kind, stages in STAGES.items()
    for name, stage in stages.items()
]


def with_stage(kind, stage):
    """The plainest pipeline that has this stage."""
    return {
        "seed": lambda: Pipeline(stage, selects=(Top(),), order=ByPrize()),
        "spread": lambda: Pipeline(Dense(), (stage,), (Top(),), order=ByPrize()),
        "select": lambda: Pipeline(Dense(), selects=(stage,), order=ByPrize()),
        "order": lambda: Pipeline(Dense(), selects=(Top(),), order=stage),
    }[kind]()


METHODS = {name: recipes.get(name) for name in recipes.names()} | {
    f"{kind}.{name}": with_stage(kind, stage())
    for kind in KINDS[:4]
    for name, stage in STAGES[kind].items()
}
PARTS = {
    "HNSW": HNSW,
    "Pipeline": Pipeline,
    "Render": Render,
    "DaRag": DaRag,
    "Router": Router,
    "BreadthFirst": BreadthFirst,
    "BestFirst": BestFirst,
}
EVERY_METHOD = [pytest.param(method, id=name) for name, method in METHODS.items()]

COUNTERS = {
    "characters": len,
    "words": lambda text: len(text.split()),
    "pairs of words": lambda text: len(text.split()) * (len(text.split()) - 1) // 2,
    "distinct characters": lambda text: len(set(text)),
}

DOCUMENTS = [
    clew.Document("rome", "Anna moved to Rome. She paints there.", {"title": "Anna"}),
    clew.Document("ben", "Ben married Anna in Paris.", {"title": "Ben"}),
    clew.Document("paris", "Paris lies on the Seine."),
    clew.Document("rome-2", "Rome lies on the Tiber.", {"title": "Rome"}),
    clew.Document("cats", "Cats sleep all day long."),
    clew.Document("東京", "東京は日本の首都。🙂"),
]
FACTS = {
    "rome": [("Anna", "moved to", "Rome")],
    "ben": [("Ben", "married", "Anna")],
    "paris": [("Paris", "lies on", "Seine")],
    "rome-2": [("Rome", "lies on", "Tiber")],
}


@pytest.fixture(scope="module")
def index(embed):
    return Index.from_documents(DOCUMENTS, embedder=embed, facts=FACTS)


def test_the_walk_finds_the_stages_and_the_recipes():
    assert {"Dense", "BM25", "LinkedFacts"} <= set(STAGES["seed"])
    assert {"PageRank", "Top", "MMR", "Thread", "Similar"} <= {
        name for stages in STAGES.values() for name in stages
    }
    assert {"dense", "bm25", "fused", "hipporag"} <= set(recipes.names())


@pytest.mark.parametrize("stage", EVERY_STAGE)
def test_a_stage_is_a_value(stage):
    value = stage()
    names = PARTS | {
        name: cls
        for stages in STAGES.values()
        for name, cls in stages.items()
        if cls.__module__.split(".")[1] == stage.__module__.split(".")[1]
        or "methods" in stage.__module__
    }
    assert eval(repr(value), names) == value
    assert hash(value) == hash(stage())
    assert pickle.loads(pickle.dumps(value)) == value == replace(value)
    with pytest.raises((AttributeError, TypeError)):
        value.anything = 1
    for field in fields(stage):
        with pytest.raises((AttributeError, TypeError)):
            setattr(value, field.name, None)


@pytest.mark.parametrize("method", EVERY_METHOD)
def test_a_method_is_a_value_and_its_repr_the_record(method):
    names = {name: cls for stages in STAGES.values() for name, cls in stages.items()} | PARTS
    assert eval(repr(method), names) == method
    assert len({method, pickle.loads(pickle.dumps(method))}) == 1
    plain = replace(method, render=Render("plain")) if isinstance(method, Pipeline) else method
    assert plain == method or repr(plain) != repr(method)


WORD = st.sampled_from(
    [
        "Anna",
        "Ben",
        "Rome",
        "river",
        "東京",
        "首都",
        "🙂",
        "👍🏽",
        "x",
        "…",
        "नमस्ते",
        "a-very-long-word-without-an-end",
        "\t",
        ".",
    ]
)
TEXT = st.lists(WORD, min_size=1, max_size=12).map(" ".join).filter(str.strip)
CORPUS = st.lists(TEXT, min_size=1, max_size=7)
NAME = st.sampled_from(["Anna", "Ben", "Rome", "東京"])
TRIPLES = st.lists(
    st.tuples(st.integers(0, 6), NAME, st.sampled_from(["knows", "lies in"]), NAME), max_size=5
)


@pytest.mark.parametrize("count", COUNTERS.values(), ids=COUNTERS)
@settings(max_examples=settings().max_examples)
@given(
    CORPUS,
    TRIPLES,
    st.sampled_from(sorted(METHODS)),
    st.integers(1, 120),
    st.none() | st.integers(1, 9),
    st.sampled_from(STYLES),
    st.booleans(),
)
def test_the_budget_is_a_ceiling_by_the_callers_own_counter(
    embed, count, texts, triples, name, budget, limit, style, headings
):
    documents = [
        clew.Document(f"d{i}", text, {"title": f"Title {i % 2}"} if i % 3 else {})
        for i, text in enumerate(texts)
    ]
    facts = {}
    for i, *triple in triples:
        facts.setdefault(f"d{i % len(texts)}", []).append(tuple(triple))
    index = Index.from_documents(documents, embedder=embed, count=count, facts=facts)
    method = METHODS[name]
    if isinstance(method, Pipeline):
        method = replace(method, render=Render(style, headings))

    try:
        context = index.ask("Does Anna know 東京?", recipe=method, budget=budget, limit=limit)
    except ValueError as error:
        refusal = str(error)
        assert f"a budget of {budget} tokens" in refusal
        with pytest.raises(ValueError, match=f"a budget of {budget} tokens"):
            index.ask("Does Anna know 東京?", recipe=method, budget=budget)
        return

    assert count(context.text) == context.tokens <= budget
    assert context.unused == budget - context.tokens
    assert len(set(context.ids)) == len(context)
    assert limit is None or len(context) <= limit
    assert all(item.text in context.text for item in context if item.role != "fact")
    assert not {dropped.id for dropped in context.dropped} & set(context.ids)
    assert all(dropped.reason for dropped in context.dropped)
    prizes = [item.score for item in context if item.role != "fact"]
    assert context.value == pytest.approx(sum(prizes))


@pytest.mark.parametrize("method", EVERY_METHOD)
class TestEveryMethod:
    def test_every_item_says_why_by_a_chain_from_the_question(self, index, method):
        edges, graph = index.graph.edges, index.graph
        there = {
            (graph.ids[t], k, graph.ids[h])
            for t, h, k in zip(edges.tails, edges.heads, edges.kinds, strict=True)
        }
        context = index.ask("Where does the husband of Anna live?", recipe=method, budget=None)
        assert len(context) > 0
        for item in context:
            assert item.why[0].source == "question"
            assert all(one.target == other.source for one, other in pairwise(item.why))
            assert item.why[-1].target == item.id or item.role == "fact"
            for hop in item.why[1:]:
                assert {
                    (hop.source, hop.kind, hop.target),
                    (hop.target, hop.kind, hop.source),
                } & there
        for tie in context.edges:
            assert (tie.tail, tie.kind, tie.head) in there

    def test_a_smaller_budget_is_kept_too_and_an_impossible_one_is_one_clear_error(
        self, index, method
    ):
        whole = index.ask("Where does Anna paint?", recipe=method, budget=None)
        assert whole.budget is None
        for budget in {*range(1, whole.tokens, 9), whole.tokens - 1, whole.tokens}:
            try:
                part = index.ask("Where does Anna paint?", recipe=method, budget=budget)
            except ValueError as error:
                refusal = str(error)
                assert f"a budget of {budget} tokens holds none" in refusal
            else:
                assert part.tokens <= budget
        with pytest.raises(ValueError, match=r"a budget of 1 tokens holds none.*larger budget"):
            index.ask("Where does Anna paint?", recipe=method, budget=1)

    def test_what_is_dearer_than_the_budget_is_dropped_whole_with_the_reason(self, embed, method):
        documents = [
            clew.Document("long", "Anna paints in Rome " * 50),
            clew.Document("short", "Anna paints."),
            clew.Document("other", "Paris."),
        ]
        context = Index.from_documents(documents, embedder=embed).ask(
            "Anna paints in Rome", recipe=method, budget=30
        )
        assert "short" in context.ids
        assert "long" not in context.ids
        assert [d.reason for d in context.dropped if d.id == "long"]

    def test_a_limit_is_kept_exactly(self, index, method):
        for limit in (1, 2, 5, 6, 8):
            context = index.ask("Where does Anna paint?", recipe=method, budget=None, limit=limit)
            assert len(context) == min(limit, 6), context.ids

    def test_the_same_question_has_the_same_answer(self, index, method):
        one, other = (index.ask("Who married Anna?", recipe=method) for _ in range(2))
        assert (one.ids, one.text, [i.score for i in one]) == (
            other.ids,
            other.text,
            [i.score for i in other],
        )

    def test_one_passage(self, embed, method):
        assert Index.from_documents([clew.Document("only", "Anna paints.")], embedder=embed).ask(
            "Who paints?", recipe=method
        ).ids == ["only"]

    def test_no_links_at_all(self, embed, method):
        index = Index.from_documents(DOCUMENTS, embedder=embed, links=())
        assert len(index.graph.edges) == 0
        assert len(index.ask("Who paints in Rome?", recipe=method)) > 0

    def test_passages_that_nothing_joins(self, method):
        vectors = np.eye(4)
        graph = Graph.of(["red one", "red two", "blue three", "four"], vectors=vectors)
        context = method.on(graph)(Query("red", np.float32([0.6, 0.8, 0, 0])), UNLIMITED)
        selects = method.selects if isinstance(method, Pipeline) else ()
        reads_one_path = any(isinstance(stage, Descent) and not stage.fill for stage in selects)
        assert ({"1"} if reads_one_path else {"0", "1"}) <= set(context.ids)

    def test_equal_vectors_are_ranked_by_row(self, method):
        graph = Graph.of(
            ["same" + " " * (i + 1) + "text" for i in range(9)],
            vectors=np.tile([[0.6, 0.8]], (9, 1)),
        )
        context = method.on(graph)(Query("same text", np.float32([0.6, 0.8]), limit=4), UNLIMITED)
        assert sorted(context.ids) == ["0", "1", "2", "3"]

    def test_a_question_without_a_known_word(self, index, method):
        context = index.ask("Zebra?", recipe=method, limit=3)
        assert len(context) == 3
        assert len(index.ask("🙂?!", recipe=method, limit=2)) == 2

    def test_a_question_and_passages_that_share_nothing_in_the_default_embedder(self, method):
        index = Index.from_documents(["Anna paints.", "Ben sleeps.", "🙂"])
        context = index.ask("Zebra?", recipe=method)
        assert context.tokens <= 2000
        assert len(index.ask("Zebra?", recipe=method, limit=2)) == 2

    def test_a_context_is_plain_when_written_down(self, index, method):
        context = index.ask("Who married Anna?", recipe=method)
        assert json.loads(json.dumps(context.to_dict()))["text"] == context.text

    def test_a_bound_method_serves_another_question_meanwhile(self, index, method):
        answer = method.on(index.graph)
        vectors = index.embedder.embed_texts(["Who married Anna?", "Where is the Seine?"]).astype(
            np.float32
        )
        first = answer(Query("Who married Anna?", vectors[0]), 60).ids
        answer(Query("Where is the Seine?", vectors[1]), 60)
        assert answer(Query("Who married Anna?", vectors[0]), 60).ids == first


SCRIPT = """
import json, sys
sys.path[:0] = [sys.argv[1]]
import contract
from clew import Document, Index
texts = [f"{a} {v} {b} number {i % 40}." for i, (a, v, b) in enumerate((a, v, b) for a in "Anna Ben Cleo Rome".split()
         for v in "knows met left".split() for b in "Dora Emil Paris Oslo Bonn".split())] * 3
facts = {f"text-{i}": [tuple(text.split()[:3])] for i, text in enumerate(texts) if i % 2}
index = Index.from_documents([Document(f"text-{i}", text) for i, text in enumerate(texts)], facts=facts)
print(json.dumps({name: [(c.ids, [round(i.score, 6) for i in c]) for c in (index.ask("Who met Emil in Paris?", recipe=method, budget=150),)]
                  for name, method in contract.METHODS.items()}))
"""


# What OpenBLAS is told to take the processor for: kernels of other instructions, which add numbers up in another order.
BLAS_KERNELS = {
    "PRESCOTT": "pni",
    "NEHALEM": "sse4_2",
    "SANDYBRIDGE": "avx",
    "HASWELL": "avx2",
    "ZEN": "avx2",
    "SKYLAKEX": "avx512vl",
}


def runs(every):
    """The environments whose answers are compared: hash seeds, threads, and the BLAS kernels that this processor can run.

    The few are two that differ in all three at once.
    """
    if platform.machine() not in ("x86_64", "AMD64"):
        found = [("0", "1", None), ("4711", "2", None)]
    else:
        known = (
            Path("/proc/cpuinfo").read_text(encoding="utf-8").split()
            if Path("/proc/cpuinfo").exists()
            else ["pni"]
        )
        kernels = [name for name, needed in BLAS_KERNELS.items() if needed in known]
        best = next((name for name in kernels[::-1] if name in ("HASWELL", "NEHALEM")), None)
        found = [("0", "1", "PRESCOTT"), ("4711", "2", best)]
        if every:
            in_turn = [("4711", "2"), ("0", "1")]
            found = [("0", "1", None), *((*in_turn[i % 2], k) for i, k in enumerate(kernels))]
    return [
        {"PYTHONHASHSEED": seed, "OPENBLAS_NUM_THREADS": threads, "OMP_NUM_THREADS": threads}
        | ({} if kernel is None else {"OPENBLAS_CORETYPE": kernel})
        for seed, threads, kernel in found
    ]


@pytest.mark.slow
def test_neither_hash_seed_nor_threads_nor_blas_kernels_move_an_answer(tmp_path):
    (tmp_path / "contract.py").write_text(
        Path(__file__).read_text(encoding="utf-8"), encoding="utf-8"
    )
    inherited = {name: value for name, value in os.environ.items() if name != "OPENBLAS_CORETYPE"}
    first: dict[str, Any] | None = None
    for own in runs(every=True):
        run = subprocess.run(
            [sys.executable, "-c", SCRIPT, str(tmp_path)],
            env=inherited | own,
            capture_output=True,
            text=True,
            check=False,
        )
        assert run.returncode == 0, run.stderr
        answers = json.loads(run.stdout)
        first = first or answers
        assert answers.keys() == METHODS.keys()
        for name in METHODS:
            (ids, scores), (others, other_scores) = first[name][0], answers[name][0]
            assert ids == others, (name, own)
            assert scores == pytest.approx(other_scores, abs=1e-5), (name, own)
