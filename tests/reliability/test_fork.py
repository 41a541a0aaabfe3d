"""A process that is forked while other threads are at work answers as if they had never been."""

from __future__ import annotations

import copy
import functools
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, replace

import pytest

from clew import AnswerCache, Document, Index
from clew.forking import renew_after_fork
from clew.graph import Graph
from clew.index.filtering import FilteredIndexesPart
from clew.sharded import ShardedIndex
from clew.sharded.index_store import _EdgesOut as EdgesOut

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")

NAMES = ["Anna", "Ben", "Cleo", "Dora", "Emil"]
DOCUMENTS = [
    Document(f"d{i}", f"{NAMES[i % 5]} met {NAMES[i * 2 % 5]} in hall {i % 7}.", {"hall": i % 7})
    for i in range(60)
]
FACTS = {f"d{i}": [(NAMES[i % 5], "met", NAMES[i * 2 % 5])] for i in range(0, 60, 2)}
RECIPES = ("hipporag", "kurisu", "bm25", "mmr", "agrag")


def in_child(work, seconds=20):
    """Return the exit code of a forked child that works: 0, or the signal that ended its wait."""
    child = os.fork()
    if child == 0:  # pragma: no cover
        signal.alarm(seconds)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        try:
            work()
        except BaseException:  # noqa: BLE001  # nothing of pytest may run in the child
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@dataclass(frozen=True)
class SlowPart:
    """A part whose computation waits in one thread."""

    def compute(self, graph):
        if threading.current_thread() is not threading.main_thread():
            STARTED.set()
            GO_ON.wait(30)
        return len(graph)


STARTED, GO_ON = threading.Event(), threading.Event()


def test_a_part_that_another_thread_computes_is_computed_again():
    graph = Graph.of(["the sea", "an island"])
    thread = threading.Thread(target=graph.part, args=(SlowPart(),))
    thread.start()
    assert STARTED.wait(10)
    try:
        assert in_child(lambda: graph.part(SlowPart()), seconds=5) == 0
    finally:
        GO_ON.set()
        thread.join()
    assert graph.part(SlowPart()) == 2


def held(lock):
    """Hold a lock in another thread, until the event that is returned is set."""
    is_held, release = threading.Event(), threading.Event()

    def hold():
        with lock:
            is_held.set()
            release.wait(30)

    threading.Thread(target=hold, daemon=True).start()
    assert is_held.wait(10)
    return release


def test_every_lock_is_free_in_the_child(embed, tmp_path):
    index = Index.from_documents(DOCUMENTS, embedder=embed, facts=FACTS)
    index.filtered({"hall": 1})
    filtered = index.graph.part(FilteredIndexesPart())
    answers = AnswerCache(tmp_path / "answers")
    locks = [filtered.lock, index.graph._parts._guard, answers._lock]
    if sys.version_info < (3, 12):
        from clew.embedding.static import StaticEmbedding

        cached = vars(StaticEmbedding).values()
        locks += [one.lock for one in cached if isinstance(one, functools.cached_property)]
    releases = [held(lock) for lock in locks]

    def work():
        index.filtered({"hall": 1}).ask("Whom did Anna meet?")
        answers.put("model", "Who?", "Anna")
        Index.from_documents(DOCUMENTS[:3]).ask("Whom did Anna meet?")

    try:
        assert in_child(work) == 0
    finally:
        for release in releases:
            release.set()


def test_shards_answer_in_the_child_while_another_thread_asks_them(embed, monkeypatch):
    indexes = [
        Index.from_documents(
            DOCUMENTS[start::2],
            embedder=embed,
            facts={id: said for id, said in FACTS.items() if int(id[1:]) % 2 == start},
        )
        for start in (0, 1)
    ]
    sharded, alone = (ShardedIndex.open([copy.deepcopy(one) for one in indexes]) for _ in "12")
    expected = alone.ask("Whom did Anna meet?", budget=200).ids
    is_ordering, go_on, put_in_order = threading.Event(), threading.Event(), EdgesOut._put_in_order

    def put_slowly(self, nodes):
        if threading.current_thread() is not threading.main_thread():
            is_ordering.set()
            go_on.wait(30)
        put_in_order(self, nodes)

    monkeypatch.setattr(EdgesOut, "_put_in_order", put_slowly)
    thread = threading.Thread(target=sharded.ask, args=("Whom did Anna meet?",))
    thread.start()
    assert is_ordering.wait(10)
    threading.Timer(0.2, go_on.set).start()  # the fork waits for it
    release = held(sharded._known_shards.relations[0].numbers._lock)

    def work():
        assert sharded.ask("Whom did Anna meet?", budget=200).ids == expected

    try:
        assert in_child(work) == 0
    finally:
        release.set()
        go_on.set()
        thread.join()


def test_a_fork_reads_its_objects_while_other_threads_make_some(quick_turns):
    @dataclass(eq=False)
    class Owner:
        names: list[str]

        def renew_locks(self):
            self.names.append("renewed")

        def pause(self):
            self.names.append("paused")

        def resume(self):
            self.names.append("resumed")

    owners, stop = [Owner([]) for _ in range(3000)], threading.Event()
    for owner in owners:
        renew_after_fork(owner)

    def make():
        while not stop.is_set():
            renew_after_fork(Owner([]))  # and let it go at once

    makers = [threading.Thread(target=make) for _ in range(2)]
    for maker in makers:
        maker.start()

    def work():
        assert all(owner.names == ["paused", "renewed"] for owner in owners)

    try:
        assert in_child(work) == 0
    finally:
        stop.set()
        for maker in makers:
            maker.join()
    assert all(owner.names == ["paused", "resumed"] for owner in owners)


def ask_all(index):
    return [index.ask("Whom did Anna meet?", recipe=recipe, budget=80).ids for recipe in RECIPES]


@pytest.mark.parametrize("forks", [2, pytest.param(40, marks=pytest.mark.slow)])
def test_workers_forked_under_load_answer_alike(embed, forks):
    """A server that forks its workers while it answers questions itself, as gunicorn preloads."""
    built = Index.from_documents(DOCUMENTS, embedder=embed, facts=FACTS)
    expected, stop = ask_all(built), threading.Event()

    def fresh():
        return replace(built, graph=replace(built.graph))

    current = [fresh()]

    def serve():
        while not stop.is_set():
            ask_all(current[0])
            current[0].ask("Whom did Anna meet?", where={"hall": 1})
            current[0] = fresh()

    def work():
        assert ask_all(current[0]) == expected

    servers = [threading.Thread(target=serve) for _ in range(2)]
    for server in servers:
        server.start()
    try:
        for _ in range(forks):
            time.sleep(0.02)
            assert in_child(work) == 0
    finally:
        stop.set()
        for server in servers:
            server.join()


INDEX: list[Index] = []


def asked(_):
    return ask_all(INDEX[0])


def test_a_forked_pool_answers_alike(embed):
    INDEX[:] = [Index.from_documents(DOCUMENTS, embedder=embed, facts=FACTS)]
    expected = ask_all(INDEX[0])
    release = held(INDEX[0].graph._parts._guard)
    try:
        with multiprocessing.get_context("fork").Pool(2) as pool:
            assert pool.map_async(asked, range(4)).get(timeout=30) == [expected] * 4
    finally:
        release.set()


PROGRAM = """
import os, signal, threading, time
import clew
documents = [clew.Document(str(i), f"Anna met Ben {i} in hall {i % 5}.") for i in range(40)]
index = clew.Index.from_documents(documents)
threading.Thread(target=index.ask, args=("Whom did Anna meet?",), daemon=True).start()
codes = []
for _ in range(4):
    time.sleep(0.05)
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        index.ask("Whom did Anna meet?")
        os._exit(0)
    codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
print(codes)
"""


@pytest.mark.slow
def test_a_fork_during_the_first_question_waits_for_its_imports():
    """The first question imports numba and scipy: half a module would be of no use to a child."""
    import subprocess

    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=200, check=False
    )
    assert done.stdout == "[0, 0, 0, 0]\n", done.stderr


KILLED_IN_A_BAR = """
import os, signal, tempfile
from tqdm import tqdm
import clew

index = clew.Index.from_documents(["The ferry sails at ten.", "The train runs at noon."])
with tqdm(range(1), disable=True):  # makes the lock that forked processes share
    pass
reading, writing = os.pipe()
child = os.fork()
if child == 0:
    tqdm.get_lock().acquire()
    os.write(writing, b"x")
    signal.pause()
os.read(reading, 1)
os.kill(child, signal.SIGKILL)
os.waitpid(child, 0)
with tempfile.TemporaryDirectory() as folder:
    index.add(["The bus runs at one."]).save(folder)
    print(clew.Index.load(folder).ask("When does the ferry sail?").ids)
"""


def test_a_process_that_is_killed_within_a_progress_bar_stops_no_other():
    done = subprocess.run(
        [sys.executable, "-c", KILLED_IN_A_BAR],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() != "[]"
