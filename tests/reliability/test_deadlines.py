"""At the deadline the best answer so far comes back, and says so, wherever the time was spent."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field

import numpy as np
import pytest

import clew
from clew import deadline, order, seed, select
from clew.algorithms.budgeted import Problem, heuristics, prove, shared_costs, solve_budgeted
from clew.cli.report import fallbacks
from clew.deadline import Deadline, OutOfTime, current, finish_in_time, until, within

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
    import asyncio

    context = asyncio.run(index.aask(QUESTION, recipe=SlowMethod(), deadline=0.1))
    assert "the deadline passed before" in fallbacks(context)[0]
