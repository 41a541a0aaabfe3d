"""At the deadline the best answer so far comes back, and says so, wherever the time was spent."""

from __future__ import annotations

import asyncio
import random
import threading
import time
from dataclasses import dataclass, field

import numpy as np
import pytest

import clew
from clew import deadline, order, seed, select
from clew.algorithms.budgeted import Problem, heuristics, prove, shared_costs, solve_budgeted
from clew.algorithms.kernels import compiled
from clew.context import fallbacks
from clew.deadline import Deadline, OutOfTime, current, finish_in_time, until, within
from clew.graph import Adjacency
from tests.conftest import hashed_words

DOCUMENTS = [
    clew.Document(f"d{i}", f"Anna paints the boat number {i}. " * (i + 1)) for i in range(5)
]
QUESTION = "Who paints boat number 2?"


def spend_all():
    """Work until the deadline, and look at it then, as a loop does."""
    time.sleep(min(current().remaining(), 30) + 0.001)
    current().check()


@dataclass(frozen=True)
class SlowSpread:
    """A spread stage that takes all the time there is."""

    def on(self, graph):
        return lambda query, seeds, prizes: spend_all() or prizes * 0


@dataclass(frozen=True)
class SlowSelect:
    """A selector likewise."""

    def on(self, graph):
        return lambda query, seeds, prizes, subgraph, room: spend_all() or subgraph


@dataclass(frozen=True)
class SlowOrder:
    """An order likewise."""

    def on(self, graph):
        return lambda query, prizes, subgraph: spend_all()


@dataclass(frozen=True)
class SlowBinding:
    """A selector that takes long to prepare."""

    go_on: threading.Event = field(compare=False)

    def on(self, graph):
        self.go_on.wait(30)
        return select.Top(1).on(graph)


@dataclass(frozen=True)
class SlowMethod:
    """A method that is no pipeline."""

    def on(self, graph):
        return lambda query, budget: spend_all()


@pytest.fixture(scope="module")
def index():
    return clew.Index.from_documents(DOCUMENTS)


def pipeline(**stages):
    return clew.Pipeline(
        seed.BM25(), **{"selects": (select.Top(3),), "order": order.ByPrize(), **stages}
    )


@pytest.mark.parametrize(
    "stages",
    [
        {"spreads": (SlowSpread(), SlowSpread())},
        {"selects": (SlowSelect(), select.Top(2))},
        {"order": SlowOrder()},
    ],
)
def test_a_stage_that_is_late_leaves_what_the_others_found(index, stages):
    by_prize = index.ask(QUESTION, recipe=pipeline()).ids
    index.ask(QUESTION, recipe=pipeline(**stages), deadline=0.001)  # binds it
    context = index.ask(QUESTION, recipe=pipeline(**stages), deadline=0.3, budget=60)
    assert 0 < context.tokens <= 60
    assert set(context.ids) & set(by_prize)
    assert any("the deadline passed" in note for note in fallbacks(context))


def test_a_method_that_is_late_is_replaced_in_words(index):
    context = index.ask(QUESTION, recipe=SlowMethod(), deadline=0.1)
    assert context.ids == index.ask(QUESTION, recipe="dense").ids
    assert "the deadline passed before" in fallbacks(context)[0]


def test_what_takes_long_to_prepare_is_there_for_a_later_question(index):
    method = pipeline(selects=(SlowBinding(threading.Event()),))
    first = index.ask(QUESTION, recipe=method, deadline=0.05)
    assert "the deadline passed before" in fallbacks(first)[0]
    method.selects[0].go_on.set()
    second = index.ask(QUESTION, recipe=method, deadline=30)
    assert not fallbacks(second)
    assert len(second) == 1


@dataclass(frozen=True)
class DeafStage:
    """A seed, or a spread, or an order that never looks at the deadline."""

    go_on: threading.Event = field(compare=False)

    def on(self, graph):
        return lambda *arguments: self.go_on.wait(30)


def going_on(embed, go_on):
    """The embedder, which waits for the event before it embeds a question."""
    return clew.Embedder("slow", embed, lambda text: go_on.wait(30) and embed([text])[0])


@pytest.fixture
def go_on():
    event = threading.Event()
    yield event
    event.set()  # what goes on in threads ends


def test_a_stage_that_never_looks_at_the_deadline_is_not_waited_for(index, go_on):
    for method in (
        clew.Pipeline(DeafStage(go_on), order=order.ByPrize()),
        pipeline(spreads=(DeafStage(go_on),)),
        pipeline(order=DeafStage(go_on)),
    ):
        context = index.ask(QUESTION, recipe=method, deadline=0.05)
        assert len(context)
        assert any("the deadline passed" in note for note in fallbacks(context))


def test_without_a_vector_in_time_the_words_answer(go_on):
    index = clew.Index.from_documents(DOCUMENTS, embedder=going_on(hashed_words, go_on))
    vector = hashed_words([QUESTION])[0]
    by_words = index.ask(QUESTION, recipe="bm25", vector=vector).ids
    contexts = [
        index.ask(QUESTION, recipe="dense", deadline=0.05),
        asyncio.run(index.aask(QUESTION, recipe="dense", deadline=0.05)),
    ]
    for context in contexts:
        assert context.ids == by_words
        assert "the deadline passed before the question had a vector" in fallbacks(context)[0]
    go_on.set()
    assert not fallbacks(index.ask(QUESTION, recipe="dense", deadline=30))


def test_an_async_embedder_that_is_late_is_cancelled():
    ends = []

    async def embed_question(text):
        try:
            await asyncio.sleep(30)
        finally:
            ends.append(text)

    embedder = clew.Embedder("slow", hashed_words, lambda text: None, embed_question)
    index = clew.Index.from_documents(DOCUMENTS, embedder=embedder)
    context = asyncio.run(index.aask(QUESTION, recipe="dense", deadline=0.05))
    assert "the deadline passed before the question had a vector" in fallbacks(context)[0]
    assert ends == [QUESTION]


def test_where_not_even_the_words_are_ready_the_error_says_so(go_on, monkeypatch):
    @dataclass(frozen=True)
    class SlowWords:
        def on(self, graph):
            go_on.wait(30)

    monkeypatch.setitem(clew.recipes.RECIPES, "bm25", clew.Recipe(SlowWords(), "", when=""))
    index = clew.Index.from_documents(DOCUMENTS, embedder=going_on(hashed_words, go_on))
    with pytest.raises(clew.DeadlineError, match="before the question had a vector, or 'bm25'"):
        index.ask(QUESTION, recipe="dense", deadline=0.05)


@pytest.mark.parametrize("asked", ["ask", "aask", "narrow"])
def test_what_is_not_filtered_in_time_is_not_read(index, go_on, asked):
    def where(metadata):
        go_on.wait(30)
        return True

    def ask(deadline):
        if asked == "narrow":
            return clew.narrow(QUESTION, DOCUMENTS, where=where, deadline=deadline)
        if asked == "aask":
            return asyncio.run(index.aask(QUESTION, where=where, deadline=deadline))
        return index.ask(QUESTION, where=where, deadline=deadline)

    with pytest.raises(clew.DeadlineError, match="passed before the filter was applied"):
        ask(0.05)
    go_on.set()
    assert len(ask(60))


def test_a_language_model_that_is_late_is_not_waited_for(index, go_on):
    @dataclass(frozen=True)
    class AskingSeed:
        def on(self, graph):
            return lambda query: query.model("?")

    method = clew.Pipeline(AskingSeed(), order=order.ByPrize())
    context = index.ask(QUESTION, recipe=method, model=lambda prompt: go_on.wait(30), deadline=0.05)
    assert context.ids == index.ask(QUESTION, recipe="dense").ids


def test_a_page_in_haste_makes_no_adjacency_and_has_the_same_edges(go_on):
    """The adjacency of millions of edges takes seconds, which a passed deadline does not have."""
    facts = {f"d{i}": [("Anna", "paints", f"boat {i % 2}")] for i in range(5)}
    index = clew.Index.from_documents(DOCUMENTS, facts=facts)
    everything = Adjacency(None, directed=False, merge="max")
    slow = clew.Pipeline(DeafStage(go_on), order=order.ByPrize())
    context = index.ask(QUESTION, recipe=slow, deadline=0.05)
    assert index.graph.known_part(everything) is None
    assert context.edges
    index.graph.part(everything)
    assert index.ask(QUESTION, recipe=slow, deadline=0.05).edges == context.edges


def test_the_best_of_the_heuristics_so_far_is_taken(monkeypatch):
    problem = Problem(
        np.array([0, 1, 2]), np.array([1, 0], np.int32), np.array([1.0, 2.0]),
        np.array([3, 4]), np.array([0], np.int32), budget=7,
    )  # fmt: skip

    def late(*arguments):
        raise OutOfTime

    best = heuristics.density(problem)
    monkeypatch.setattr(heuristics, "tree", late)
    assert solve_budgeted(problem).value == best.value
    monkeypatch.setattr("clew.algorithms.budgeted.cuts.reduce_problem", late)
    assert prove(problem, best).rows.tolist() == best.rows.tolist()
    assert prove(problem, best).work["stopped by"] == "deadline"
    monkeypatch.setattr(shared_costs._Search, "branch", late)
    shared = shared_costs.SharedCosts(np.array([0, 0]), np.array([0]))
    found = shared_costs.solve_with_shared_costs(problem, shared)
    assert found.value == best.value <= found.bound


def test_a_deadline_inside_another_ends_no_later():
    with within(0.5) as outer:
        with within(100) as inner:
            assert inner == outer == current()
        with within(0.001) as inner:
            assert inner.end < outer.end
        with until(Deadline()):
            assert current().remaining() == np.inf
        with within(None) as same:
            assert same == outer
    assert current() == Deadline()
    assert outer.later(1).end >= outer.end + 1


def test_an_error_in_the_thread_is_the_caller_s():
    def fail():
        raise KeyError("lost")

    with within(60), pytest.raises(KeyError, match="lost"):
        finish_in_time(fail, "a test")
    with within(0.01), pytest.raises(OutOfTime):
        finish_in_time(lambda: time.sleep(0.2), "a test")
    assert deadline.current() == Deadline()


def test_a_deadline_holds_for_questions_asked_in_a_task(index):
    context = asyncio.run(index.aask(QUESTION, recipe=SlowMethod(), deadline=0.1))
    assert "the deadline passed before" in fallbacks(context)[0]


MAX_LOOPS_AFTER = 25  # a stage ends what it is at, and the others and the page need a few
POSITIONS = 6  # in the row of an answer's loops, at which the deadline passes


@dataclass
class LeapingClock:
    """A clock that stands still until it leaps far ahead."""

    now: float = 0.0

    def monotonic(self):
        return self.now


class CountedLoops:
    """Calls every loop as machine code runs, which never looks at the clock, and counts the calls.

    The clock leaps when so many are done. Those of other threads do not count: one may still be
    at work for a test before.
    """

    def __init__(self, leap_after):
        self.calls, self.leap_after, self.clock = 0, leap_after, LeapingClock()
        self.thread = threading.get_ident()

    def call(self, kernel, *arguments):
        result = compiled._unboxed(kernel.plain(*arguments))
        if threading.get_ident() != self.thread:
            return result
        self.calls += 1
        if self.calls == self.leap_after:
            self.clock.now = 1e6
        return result


@pytest.fixture(scope="module")
def logbook():
    """A corpus with facts, sections, links and copies, in which each recipe has something to do."""
    chance = random.Random(1)
    people = ["Anna", "Ben", "Cleo", "Dora", "Emil", "Fay"]
    places = ["Corfu", "Paros", "Naxos", "Samos", "Delos"]
    documents, facts = [], {}
    for i in range(40):
        (a, b), (p, q) = chance.sample(people, 2), chance.sample(places, 2)
        text = f"{a} sails with {b} from {p} to {q}. Boat {i} is blue. " * chance.randint(1, 3)
        documents.append(clew.Document(f"d{i}", f"# Log {i % 9}\n\n{text}"))
        facts[f"d{i}"] = [(a, "sails with", b), (a, "sails to", q), (b, "lives on", p)]
    return clew.Index.from_documents(
        documents, facts=facts, embedder=hashed_words, splitter=clew.Splitter(30)
    )


def loops_of_an_answer(index, recipe, leap_after, monkeypatch):
    """Return how many loops were called, by the context that came."""
    loops = CountedLoops(leap_after)
    with monkeypatch.context() as patch, np.errstate(over="ignore"):
        patch.setattr(compiled.Kernel, "__call__", lambda kernel, *a: loops.call(kernel, *a))
        patch.setattr(deadline, "time", loops.clock)
        context = index.ask("Who sails with Anna to Paros?", recipe=recipe, deadline=1, budget=300)
    return loops.calls, context


@pytest.mark.parametrize("recipe", clew.recipes.names())
@pytest.mark.filterwarnings("ignore:overflow")
def test_hardly_a_loop_is_begun_after_the_deadline(logbook, recipe, monkeypatch):
    """Counted in loops, which is what takes the time: whatever machine or load, it is the same."""
    logbook.ask("Who sails?", recipe=recipe)  # binds it
    in_all, _ = loops_of_an_answer(logbook, recipe, None, monkeypatch)
    for position in range(POSITIONS):
        leap_after = 1 + in_all * position // POSITIONS
        calls, context = loops_of_an_answer(logbook, recipe, leap_after, monkeypatch)
        assert calls - leap_after <= MAX_LOOPS_AFTER
        assert 0 < context.tokens <= 300
