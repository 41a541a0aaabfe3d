"""So much runs, so much waits, and the rest is refused at once; what waited too long is given up."""

from __future__ import annotations

import threading
import time
from concurrent.futures import CancelledError, ThreadPoolExecutor

import pytest

from clew.serve import QueueFullError, ServedIndex, WorkQueue
from tests.serve.serving import client_of

WAIT = 30  # seconds, after which what was wanted will not come any more
ASKED = {"question": "When do ferries sail?"}


def test_no_more_runs_at_once_than_there_are_workers():
    queue, most, lock = WorkQueue(3, 100, "tests"), [0, 0], threading.Lock()

    def work():
        with lock:
            most[0] += 1
            most[1] = max(most)
        time.sleep(0.01)
        with lock:
            most[0] -= 1

    for future in [queue.submit(work) for _ in range(30)]:
        future.result(WAIT)
    assert most == [0, 3]
    assert queue.running == queue.waiting == 0


def test_what_is_beyond_the_queue_is_refused_and_what_is_in_it_is_done():
    queue, go = WorkQueue(2, 3, "tests"), threading.Event()
    futures = [queue.submit(lambda n=n: go.wait(WAIT) and n) for n in range(5)]
    assert (queue.running, queue.waiting) == (2, 3)
    with pytest.raises(QueueFullError, match="2 tests at once and 3 that wait"):
        queue.submit(lambda: 5)
    assert futures[4].cancel(), "what waits can be given up, and makes room"
    futures[4] = queue.submit(lambda: 6)
    go.set()
    assert [future.result(WAIT) for future in futures] == [0, 1, 2, 3, 6]


def test_an_error_reaches_who_waits_and_the_worker_goes_on():
    queue = WorkQueue(1, 5, "tests")
    with pytest.raises(ZeroDivisionError):
        queue.submit(lambda: 1 / 0).result(WAIT)
    with pytest.raises(SystemExit):
        queue.submit(lambda: (_ for _ in ()).throw(SystemExit(3))).result(WAIT)
    assert queue.submit(lambda: 7).result(WAIT) == 7


def test_a_closed_queue_gives_up_what_waits_and_takes_nothing_more():
    queue, begun, go = WorkQueue(1, 5, "tests"), threading.Event(), threading.Event()
    running, waiting = queue.submit(lambda: begun.set() or go.wait(WAIT)), queue.submit(lambda: 1)
    assert begun.wait(WAIT)
    assert queue.close() is False
    with pytest.raises(CancelledError):
        waiting.result(WAIT)
    with pytest.raises(QueueFullError, match="stopping"):
        queue.submit(lambda: 1)
    go.set()
    assert running.result(WAIT) is True
    assert queue.close(WAIT) is True


@pytest.mark.parametrize(("workers", "waiting"), [(0, 1), (1, -1)])
def test_a_queue_without_workers_is_an_error(workers, waiting):
    with pytest.raises(ValueError, match="whole number of at least"):
        WorkQueue(workers, waiting, "tests")


def test_askers_beyond_the_queue_are_sent_away_at_once(index, monkeypatch):
    go, begun, ask = threading.Event(), threading.Semaphore(0), ServedIndex.ask

    def slow(self, *args, **keywords):
        begun.release()
        assert go.wait(WAIT)
        return ask(self, *args, **keywords)

    monkeypatch.setattr(ServedIndex, "ask", slow)
    with client_of(index, workers=1, max_waiting=2) as client, ThreadPoolExecutor(3) as askers:
        answers = [askers.submit(client.post, "/api/ask", json=ASKED) for _ in range(3)]
        assert begun.acquire(timeout=WAIT)
        end = time.monotonic() + WAIT
        while client.service.questions.waiting < 2 and time.monotonic() < end:
            time.sleep(0.01)
        refused = client.post("/api/ask", json=ASKED)
        assert refused.status_code == 503
        assert refused.json()["error"]["type"] == "busy"
        assert int(refused.headers["retry-after"]) >= 1
        assert client.get("/health").is_success, "who only looks is answered all the time"
        assert client.get("/api/status").json()["waiting"] == 2
        go.set()
        assert [answer.result(WAIT).status_code for answer in answers] == [200] * 3
        assert "clew_refused_total 1.0" in client.get("/metrics").text


def test_a_question_that_waited_until_its_deadline_is_given_up(index, monkeypatch):
    begun = threading.Event()
    monkeypatch.setattr(ServedIndex, "ask", lambda *_, **__: begun.set() or time.sleep(1))
    with client_of(index, workers=1, deadline=0.1) as client, ThreadPoolExecutor(2) as askers:
        first = askers.submit(client.post, "/api/ask", json=ASKED)
        assert begun.wait(WAIT)
        second = client.post("/api/ask", json=ASKED)
        first.result(WAIT)
    assert second.status_code == 504
    assert second.json()["error"]["type"] == "deadline"


def test_a_question_has_what_is_left_of_its_deadline(index, monkeypatch):
    given = []
    ask = ServedIndex.ask

    def note(self, question, **keywords):
        given.append(keywords["deadline"])
        return ask(self, question, **keywords)

    monkeypatch.setattr(ServedIndex, "ask", note)
    with client_of(index, deadline=20.0) as client:
        assert client.post("/api/ask", json=ASKED).is_success
    assert 10 < given[0] < 20
