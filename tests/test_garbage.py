"""The collector looks less often while something is built, and as before afterwards."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
import weakref
from pathlib import Path

import pytest

import clew
from clew import cli
from clew.garbage import MIN_NEW, collecting_rarely


@pytest.fixture(autouse=True)
def threshold():
    before, is_on = gc.get_threshold(), gc.isenabled()
    yield before
    gc.set_threshold(*before)
    assert gc.isenabled() == is_on


def test_blocks_within_blocks_and_of_several_threads_end_with_the_last(threshold):
    entered, ended = threading.Event(), threading.Event()

    def other():
        with collecting_rarely():
            entered.set()
            ended.wait(30)

    thread = threading.Thread(target=other)
    with collecting_rarely(), collecting_rarely():
        thread.start()
        assert entered.wait(30)
    assert gc.get_threshold() == (MIN_NEW, *threshold[1:])
    ended.set()
    thread.join()
    assert gc.get_threshold() == threshold


def test_what_others_set_meanwhile_stays(threshold):
    with collecting_rarely():
        gc.set_threshold(123, 4, 5)
    assert gc.get_threshold() == (123, 4, 5)
    gc.set_threshold(0)  # the collector never starts
    with collecting_rarely():
        assert gc.get_threshold()[0] == 0
    assert gc.get_threshold()[0] == 0


def test_an_error_ends_the_block_and_so_does_a_build(threshold):
    with pytest.raises(KeyError), collecting_rarely():
        raise KeyError
    assert gc.get_threshold() == threshold
    seen = []

    def embed(texts):
        seen.append(gc.get_threshold()[0])
        return [[1.0, len(text)] for text in texts]

    clew.Index.from_documents(["The sea.", "An island."], embedder=embed)
    assert max(seen) >= MIN_NEW
    assert gc.get_threshold() == threshold


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_process_has_what_was_set_before(threshold):
    with collecting_rarely():
        child = os.fork()
        if child == 0:
            os._exit(gc.get_threshold() != threshold)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert gc.get_threshold()[0] == MIN_NEW


@pytest.mark.parametrize("ends", [True, False])
def test_a_process_that_has_said_so_ends_without_a_last_look(ends):
    program = (
        "import atexit, gc\n"
        "from clew.garbage import end_without_collecting\n"
        "atexit.register(lambda: print(gc.get_freeze_count() > 1000))\n"  # it is called last
        f"{'end_without_collecting()' if ends else ''}"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == (f"{ends}\n", "")


@pytest.mark.parametrize("is_command", [True, False])
def test_the_command_alone_ends_so(is_command, monkeypatch, capsys):
    said = []
    monkeypatch.setattr(cli, "is_command", lambda _: is_command)
    monkeypatch.setattr(cli, "end_without_collecting", lambda: said.append(True))
    assert cli.main([]) == 0
    assert bool(said) == is_command
    assert "usage: clew" in capsys.readouterr().out


class Knot:
    """An object in a cycle, with a few blocks of memory of its own."""

    def __init__(self, n: int) -> None:
        self.own = [[self] for _ in range(n)]


_LEAVES_GARBAGE = """
import sys, threading, weakref
from clew.garbage import MIN_NEW, collecting_rarely
from tests.test_garbage import Knot

known, threads = [], int(sys.argv[1])

def leave_garbage():
    for _ in range(80):
        with collecting_rarely():
            known.append(weakref.ref(Knot(50_000)))

workers = [threading.Thread(target=leave_garbage) for _ in range(threads)]
with collecting_rarely():
    pass  # what is there now stays
before = sys.getallocatedblocks()
for worker in workers:
    worker.start()
for worker in workers:
    worker.join()
most_blocks = before * 1.25 + MIN_NEW
if threads > 1:  # what others make meanwhile may count as built, once
    most_blocks = most_blocks * 1.25 + MIN_NEW
most = (most_blocks - before) / 100_000 + 4 * threads  # a list and its room are two blocks
print(sum(one() is not None for one in known), int(most), len(known))
"""


@pytest.mark.parametrize("threads", [1, 3])
def test_garbage_that_many_blocks_leave_behind_is_collected(threads):
    """Each block counts as old what is there: so nothing but this would ever look at it again.

    In a process of its own, since whatever its threads make counts.
    """
    done = subprocess.run(
        [sys.executable, "-c", _LEAVES_GARBAGE, str(threads)],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[1],
    )
    left, most, made = map(int, done.stdout.split())
    assert left <= most < made


def test_what_is_built_is_looked_at_when_as_much_is_built_again(monkeypatch):
    collected: list[int] = []
    in_use, others = sys.getallocatedblocks, sys.getallocatedblocks()
    monkeypatch.setattr(sys, "getallocatedblocks", lambda: max(1, in_use() - others))
    monkeypatch.setattr(gc, "collect", lambda: collected.append(len(built)))
    built: list[object] = []
    with collecting_rarely():
        pass
    for _ in range(4):
        with collecting_rarely():
            for _ in range(3):
                with collecting_rarely():  # which ends no build
                    built.append([[i] for i in range(2 * MIN_NEW)])
    assert collected in ([6, 12], [3, 9]), "every second time, and never within a block"


def test_a_thread_that_waits_before_it_looks_keeps_no_other_from_it(monkeypatch):
    lookers: list[int] = []

    def collect():
        lookers.append(threading.get_ident())
        if len(lookers) == 1:  # others go on before this one looks
            other = threading.Thread(target=build)
            other.start()
            other.join()

    def build():
        with collecting_rarely():
            for _ in range(2):  # the first is taken for what stays
                with collecting_rarely():
                    built.append([[i] for i in range(MIN_NEW)])
        for _ in range(2):
            with collecting_rarely():
                built.append([[i] for i in range(MIN_NEW // 4)])

    in_use, others = sys.getallocatedblocks, sys.getallocatedblocks()
    monkeypatch.setattr(sys, "getallocatedblocks", lambda: max(1, in_use() - others))
    monkeypatch.setattr(gc, "collect", collect)
    built: list[object] = []
    with collecting_rarely():
        pass
    build()
    build()
    assert len(set(lookers)) == 2


def test_nothing_is_collected_where_somebody_has_switched_that_off():
    gc.disable()
    try:
        known = [weakref.ref(Knot(100)) for _ in range(3)]
        for _ in range(3):
            with collecting_rarely():
                known.append(weakref.ref(Knot(MIN_NEW)))
        assert all(one() is not None for one in known)
    finally:
        gc.enable()
        gc.collect()
