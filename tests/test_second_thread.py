"""A second thread beside a question: the same results, whoever computes them, and nobody waits for it."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from clew import Document, Index, cores, second_thread
from clew.algorithms.kernels.compiled import finish_compiling
from clew.algorithms.pagerank import full
from clew.deadline import current, within
from clew.embedding import bag_segment
from clew.second_thread import Begun, asking, begin, both, one_thread_each
from clew.seed import _shared

NAME = "clew second"


@pytest.fixture
def second(monkeypatch):
    """A second thread that no other test has used, whatever cores there are."""
    thread = second_thread._SecondThread()
    thread.is_wanted = True
    monkeypatch.setattr(second_thread, "_SECOND", thread)
    monkeypatch.setattr(second_thread, "is_core_free", lambda: True)
    yield thread
    thread.stop()


@pytest.fixture
def never(second):
    """One whose work is never begun."""
    second.thread = threading.current_thread()  # so that none is started
    return second


def test_work_is_done_beside_with_the_deadline_of_who_began_it(second):
    def work():
        return threading.current_thread().name, current().remaining()

    with within(60):
        begun = begin(work)
        while not begun._done.acquire(timeout=0.001):
            pass
        begun._done.release()
        name, left = begun.result()
    assert name == NAME
    assert 0 < left <= 60
    assert threading.current_thread().name != NAME


def test_an_error_comes_where_the_result_is_wanted(second):
    begun = begin(lambda: {}["sea"])
    with pytest.raises(KeyError, match="sea"):
        begun.result()
    assert both(lambda: 1, lambda: 2) == (1, 2)
    with pytest.raises(ZeroDivisionError):
        both(lambda: 1 / 0, lambda: 2)
    assert both(lambda: 3, lambda: 4) == (3, 4)


def test_who_wants_a_result_that_nobody_has_begun_computes_it(never):
    begun = begin(threading.get_ident)
    assert begun.is_offered
    assert begun.result() == threading.get_ident()
    begun.do_beside()  # comes too late, and does nothing
    assert not hasattr(begun, "_value")
    other = begin(threading.get_ident)
    assert not other.is_offered  # the thread has not put the first aside yet
    assert other.result() == threading.get_ident()


def test_a_thread_that_works_is_given_nothing_more(second):
    entered, go_on = threading.Event(), threading.Event()

    def work():
        entered.set()
        return go_on.wait(30)

    slow = begin(work)
    assert entered.wait(30)
    here = begin(threading.get_ident)
    assert not here.is_offered
    assert here.result() == threading.get_ident()
    go_on.set()
    assert slow.result() is True


def test_what_is_dropped_is_not_done(never):
    begun, calls = begin(lambda: calls.append(1)), []
    begun.drop(0.0)
    begun.do_beside()
    assert calls == []
    Begun(lambda: calls.append(1)).drop(0.0)


def test_several_questions_at_once_have_no_second_thread(second):
    with asking():
        assert begin(int).is_offered
        with asking():
            assert not begin(int).is_offered
    assert second.questions == 0


@pytest.mark.parametrize(
    ("said", "is_free"),
    [("9.1 8.2 7.0 1/98 24", True), ("0.1 0.2 0.3 2/98 24", False), ("", True), ("a b c d", True)],
)
def test_a_core_is_free_where_fewer_threads_run(second, monkeypatch, tmp_path, said, is_free):
    (tmp_path / "loadavg").write_text(said)
    monkeypatch.setattr(cores, "RUNNING", str(tmp_path / "loadavg"))
    monkeypatch.setattr(cores.os, "cpu_count", lambda: 2)
    monkeypatch.setattr(second_thread, "is_core_free", cores.is_core_free)
    assert begin(int).is_offered == is_free
    monkeypatch.setattr(cores, "RUNNING", str(tmp_path / "missing"))
    assert cores.is_core_free()


def test_where_nothing_is_gained_it_rests_for_longer_and_longer(second, monkeypatch):
    now = 1000.0
    monkeypatch.setattr(second_thread, "time", SimpleNamespace(monotonic=lambda: now))
    rests = []
    for _ in range(9):
        second.note(worked=0.001, waited=0.00095)
        assert not begin(int).is_offered
        rests.append(second.rests_until - now)
        now = second.rests_until
    assert rests[0] == pytest.approx(second_thread.FIRST_REST)
    assert rests[-1] == pytest.approx(second_thread.LONGEST_REST)
    assert rests == sorted(rests)
    second.note(worked=0.001, waited=0.0005)
    second.note(worked=0.001, waited=0.002)
    assert second.rests_until - now == pytest.approx(second_thread.FIRST_REST)


def test_who_takes_turns_with_the_thread_gains_nothing(second):
    begun = begin(lambda: sum(range(300_000)))  # Python, which runs in one thread at a time
    assert sum(range(300_000)) == begun.result()
    if begun._worked:  # else it was not begun before it was wanted
        assert second.rests_until > 0


def test_the_thread_ends_and_another_comes(second, monkeypatch):
    monkeypatch.setattr(second_thread, "IDLE_SECONDS", 0.01)
    for _ in range(2):
        begun = begin(int)
        first = second.thread
        assert first is not None
        assert begun.result() == 0
        first.join(30)
        assert not first.is_alive()
        assert second.thread is None


@pytest.mark.parametrize(("value", "is_wanted"), [("1", False), (" 1 ", False), ("2", True)])
def test_the_environment_turns_it_off(value, is_wanted):
    program = (
        "from clew import cores; cores.usable_cores = lambda: 2; cores.is_core_free = lambda: True\n"
        "from clew import second_thread; print(second_thread.begin(int).is_offered)"
    )
    environment = {**os.environ, "CLEW_THREADS": value}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == str(is_wanted)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_child_has_a_thread_of_its_own_and_does_what_was_begun(second):
    entered, go_on = threading.Event(), threading.Event()

    def work():
        if threading.current_thread() is not threading.main_thread():
            entered.set()
            go_on.wait(30)
        return 7

    begun = begin(work)
    assert entered.wait(30)
    child = os.fork()
    if child == 0:  # pragma: no cover
        code = 1
        try:
            with asking():
                fresh = begin(lambda: 8)
            code = 0 if (begun.result(), fresh.is_offered, fresh.result()) == (7, True, 8) else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    go_on.set()
    assert begun.result() == 7


TOWNS = ["Corfu", "Delphi", "Athens", "Paxos", "Kavos"]
PEOPLE = ["Anna", "Ben", "Cleo", "Dora"]
DOCUMENTS = [
    Document(f"d{i}", f"{PEOPLE[i % 4]} saw port {i} of {TOWNS[i * 3 % 5]} in {1900 + i * 7 % 90}.")
    for i in range(80)
]
FACTS = {f"d{i}": [(PEOPLE[i % 4], "saw", TOWNS[i * 3 % 5])] for i in range(0, 80, 2)}


def test_answers_are_the_same_with_it_and_without(second, monkeypatch):
    index = Index.from_documents(DOCUMENTS, facts=FACTS)
    for module, name in (
        (bag_segment, "MIN_BESIDE"),
        (_shared, "MIN_BESIDE"),
        (full, "MIN_TOGETHER"),
    ):
        monkeypatch.setattr(module, name, 1)
    done_beside, run = [], Begun.do_beside
    monkeypatch.setattr(Begun, "do_beside", lambda self: (done_beside.append(1), run(self))[1])

    def answers(is_wanted):
        second.is_wanted = is_wanted
        found = []
        for recipe in ("hipporag", "fused", "agrag", "dense"):
            for town in TOWNS:
                context = index.ask(f"Who saw a port of {town}?", recipe=recipe, budget=120)
                found.append((context.text, [(one.id, one.score) for one in context]))
        return found

    answers(True)
    finish_compiling()
    alone = answers(False)
    done_beside.clear()
    for _ in range(3):
        second.rests_until = 0.0
        assert answers(True) == alone
    assert done_beside
    for thread in threading.enumerate():
        if thread.name == NAME:
            assert thread.daemon


def test_a_question_out_of_time_leaves_the_thread_free(second):
    index = Index.from_documents(DOCUMENTS, facts=FACTS)
    entered = threading.Event()
    begun = begin(lambda: (entered.set(), np.ones(3).sum())[1])
    assert entered.wait(30)
    index.ask("Who saw Corfu?", deadline=60)
    assert begun.result() == 3.0
    until = time.monotonic() + 30
    while not second.is_free.acquire(blocking=False):
        assert time.monotonic() < until
        time.sleep(0.001)
    second.is_free.release()


def test_products_have_one_thread_while_any_block_is_open(monkeypatch):
    def threads():
        return {one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"}

    with threadpool_limits(2, user_api="blas"):
        monkeypatch.setattr(second_thread, "usable_cores", lambda: 3)
        with one_thread_each():
            assert threads() == {2}, "of more than two cores, products have the others"
        monkeypatch.setattr(second_thread, "usable_cores", lambda: 2)
        first, second = one_thread_each(), one_thread_each()
        first.__enter__()
        second.__enter__()
        assert threads() == {1}
        first.__exit__(None, None, None)
        assert threads() == {1}, "another thread still computes"
        second.__exit__(None, None, None)
        assert threads() == {2}
        with pytest.raises(ValueError, match="wrong"), one_thread_each():
            raise ValueError("wrong")
        assert threads() == {2}
