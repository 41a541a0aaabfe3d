"""Work that is divided among processes: the result of one, whatever their number and whatever happens to them."""

from __future__ import annotations

import importlib
import io
import itertools
import logging
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import clew
from clew import Document, Index, Splitter, processes
from clew.garbage import MIN_NEW
from clew.index import config
from clew.processes import (
    EndedProcessError,
    begin_elsewhere,
    begin_items,
    end_others,
    map_items,
    start_others,
    working,
)

HOUSE = Path(clew.__file__).parents[1]
WORK = """
import gc, os, signal, sys, time

LOADED_WITH = gc.get_threshold()[0]

def collecting(item):
    time.sleep(0.02)
    return os.getpid(), LOADED_WITH, gc.get_threshold()[0]

def who(item):
    time.sleep(0.02)
    return item, os.getpid()

def only_even(item):
    time.sleep(0.01)
    if item % 2:
        raise ValueError(f"{item} is odd")
    return item

def die(parent, item):
    time.sleep(0.02)
    if os.getpid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)

def talk(item):
    print("to stdout", item, flush=True)
    time.sleep(0.02)
    return item, sys.stdin.read(1)

def leave(path):
    open(path, "w").close()
    return bytes(700_000)

class Odd(Exception):
    def __init__(self, one, two):
        super().__init__(one)

def raise_odd(item):
    time.sleep(0.02)
    raise Odd(item, item)
"""


@pytest.fixture
def work(tmp_path, monkeypatch):
    (tmp_path / "clew_work.py").write_text(WORK)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "clew_work", raising=False)
    return importlib.import_module("clew_work")


def divided(function, items, number=3):
    """What `map_items` returns where every item is a batch, and large enough for a process."""
    with working(number):
        return map_items(function, items, sizes=[processes.MIN_SIZE] * len(items))


def is_alive(pid):
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def wait_until(true, seconds):
    end = time.monotonic() + seconds
    while not true() and time.monotonic() < end:
        time.sleep(0.02)
    return true()


class TestResults:
    def test_come_in_order_from_several_processes(self, work):
        shown = []
        with working(3):
            results = map_items(
                work.who, range(150), sizes=[processes.MIN_SIZE] * 150, update=shown.append
            )
        assert [item for item, _ in results] == list(range(150))
        others = {pid for _, pid in results} - {os.getpid()}
        assert others
        assert sum(shown) == 150
        assert not any(map(is_alive, others)), "they end with the block"

    def test_little_is_done_by_this_process_alone(self, work):
        with working(3):
            results = map_items(work.who, range(4), sizes=[10] * 4)
        assert {pid for _, pid in results} == {os.getpid()}
        assert {pid for _, pid in divided(work.who, range(9), None)} == {os.getpid()}

    def test_processes_are_kept_within_a_block_and_let_go_before_its_end(self, work):
        sizes = [processes.MIN_SIZE] * 60
        with working(2):
            with working(5):  # the outer number counts
                first = {pid for _, pid in map_items(work.who, range(60), sizes=sizes)}
            second = {pid for _, pid in map_items(work.who, range(60), sizes=sizes)}
            assert first == second
            assert len(first) == 2
            end_others()
            assert [pid for pid in first if is_alive(pid)] == [os.getpid()]

    def test_the_collector_looks_seldom_in_others_while_they_load_modules_and_work(self, work):
        found = divided(work.collecting, range(60))
        others = {tuple(seen) for pid, *seen in found if pid != os.getpid()}
        assert others == {(MIN_NEW, MIN_NEW)}

    def test_what_is_printed_and_read_is_not_taken_for_an_answer(self, work, monkeypatch):
        monkeypatch.setattr(sys, "stdin", io.StringIO())
        assert divided(work.talk, range(60)) == [(item, "") for item in range(60)]


@pytest.fixture
def other():
    one = processes._Other()
    yield one
    one.end()


@pytest.mark.skipif(sys.platform != "linux", reason="pipes have one size elsewhere")
class TestPipes:
    def test_a_process_works_on_before_its_last_answer_is_read(self, work, other, tmp_path):
        import fcntl

        assert other.wait_until_ready()
        if fcntl.fcntl(other._process.stdout, fcntl.F_GETPIPE_SZ) < processes.PIPE_BYTES:
            pytest.skip("the system gives nobody a larger pipe")
        other.send(pickle.dumps(work.leave))
        for name in ("first", "second"):
            other.send(pickle.dumps([str(tmp_path / name)]))
        assert wait_until((tmp_path / "second").exists, 30)
        assert other.receive() == other.receive() == (processes.DONE, [bytes(700_000)])

    def test_small_pipes_do_as_well(self, work, monkeypatch):
        def refuse(*_):
            raise PermissionError("too many pages in pipes")

        monkeypatch.setattr("fcntl.fcntl", refuse)
        assert {item for item, _ in divided(work.who, range(20))} == set(range(20))


class TestErrors:
    @pytest.mark.parametrize("number", [1, 2, 4])
    def test_the_first_one_is_raised(self, work, number):
        with pytest.raises(ValueError, match=r"^31 is odd$"):
            divided(work.only_even, [*range(0, 60, 2), 31, *range(0, 200, 2), 33], number)

    def test_one_that_cannot_be_sent_is_told(self, work):
        """Whichever process comes to it first: its own kind here, its name from elsewhere."""
        with pytest.raises((RuntimeError, work.Odd), match="0"):
            divided(work.raise_odd, range(60))

    def test_a_process_that_is_killed_is_told(self, work):
        with pytest.raises(EndedProcessError, match=r"ended by signal 9.*processes=1"):
            divided(partial(work.die, os.getpid()), range(300))

    def test_one_that_nobody_asked_for_is_done_without(self, work, caplog):
        with working(3, is_asked=False):
            items = list(range(300))
            sizes = [processes.MIN_SIZE] * len(items)
            assert map_items(partial(work.die, os.getpid()), items, sizes=sizes) == [None] * 300
        assert not caplog.records

    @pytest.mark.parametrize("broken", ["/bin/false", "/no/such/python"])
    def test_where_none_can_be_started_this_one_does_all(self, work, monkeypatch, caplog, broken):
        monkeypatch.setattr(processes, "_interpreter", lambda: broken)
        with caplog.at_level(logging.WARNING):
            results = divided(work.who, range(60))
        assert {pid for _, pid in results} == {os.getpid()}
        assert [item for item, _ in results] == list(range(60))
        assert "one process does the work of several" in caplog.text

    @pytest.mark.parametrize("what", ["function", "items"])
    def test_what_cannot_be_sent_is_done_here(self, work, caplog, what):
        lock = threading.Lock()
        items = [lock] * 40 if what == "items" else list(range(40))
        function = (lambda item: work.who(item)) if what == "function" else work.who
        with caplog.at_level(logging.WARNING):
            results = divided(function, items)
        assert [item for item, _ in results] == items
        assert {pid for _, pid in results} == {os.getpid()}
        assert "one process does the work of several" in caplog.text


TEXT = "Ferries sail to Corfu at nine. They return at ten, unless the wind is strong.\n\n"


@pytest.fixture
def folder(tmp_path):
    """A megabyte of files in several formats, some of which cannot be read."""
    folder = tmp_path / "folder"
    folder.mkdir()
    for i in range(12):
        (folder / f"m{i:02}.md").write_text(f"# Title {i}\n\n" + f"{TEXT}[link](m00.md) {i}\n" * 40)
        (folder / f"h{i:02}.html").write_text(
            f"<html><body><h1>Page {i}</h1>" + f"<p>{TEXT} {i}</p>" * 60 + "</body></html>"
        )
        (folder / f"p{i:02}.py").write_text(f"def f{i}(a):\n    return g{i}(a)\n\n\n" * 40)
        (folder / f"x{i:02}.txt").write_bytes(TEXT.encode() * 40 + b"caf\xe9 \xfcber\n")
        (folder / f"b{i:02}.bin").write_bytes(bytes(range(256)))
    return folder


def contents(index):
    graph = index.graph
    return (
        *(graph.ids, graph.texts, graph.references, [dict(one) for one in graph.metadata]),
        *(index.documents, index.skipped, index.facts, index.failed, dict(index.extracted)),
        *(graph.facts.texts, graph.spans.tolist(), graph.parents.tolist(), graph.tokens.tolist()),
        *(
            np.asarray(graph.vectors).tobytes(),
            graph.edges.tails.tolist(),
            graph.edges.heads.tolist(),
        ),
        *(graph.edges.weights.tolist(), graph.edges.kinds.codes.tolist()),
    )


class TestIndexes:
    @pytest.mark.parametrize("splitter", [Splitter(tokens=64), Splitter(sentences=True), None])
    def test_are_equal_whatever_the_number(self, folder, monkeypatch, splitter):
        monkeypatch.setattr(processes, "MIN_SIZE", 1000)
        monkeypatch.setattr(processes, "BATCH_SIZE", 5000)
        options = {"splitter": splitter, "extractor": clew.NamesAndSymbols()}
        one = contents(Index.from_documents(folder, **options))
        started = []
        start = processes._Other

        def other():
            started.append(start())
            return started[-1]

        monkeypatch.setattr(processes, "_Other", other)
        assert contents(Index.from_documents(folder, processes=3, **options)) == one
        assert len(started) == 2, "files are parsed and cut by the same processes"
        assert one[5], "some files cannot be read"

    def test_documents_with_what_cannot_be_sent(self, monkeypatch):
        monkeypatch.setattr(processes, "MIN_SIZE", 1000)
        documents = [
            Document(f"d{i}", TEXT * 20, {"lock": threading.Lock()}, original=threading.Lock())
            for i in range(20)
        ]
        options = {
            "splitter": Splitter(tokens=30),
            "embedder": lambda texts: np.ones((len(texts), 2)),
        }
        one, two = (
            Index.from_documents(documents, processes=number, **options) for number in (None, 2)
        )
        assert one.graph.ids == two.graph.ids
        assert one.graph.texts == two.graph.texts

    def test_a_change_reads_in_several_processes_too(self, folder, monkeypatch):
        monkeypatch.setattr(processes, "MIN_SIZE", 1000)
        index = Index.from_documents(folder / "m00.md", splitter=Splitter(), processes=2)
        started = []
        start = processes._Other
        monkeypatch.setattr(processes, "_Other", lambda: started.append(1) or start())
        changed = index.sync(folder)
        assert started
        whole = Index.from_documents(folder, splitter=Splitter())
        assert sorted(changed.graph.ids) == sorted(whole.graph.ids)

    def test_the_number_is_not_saved(self, folder, tmp_path):
        index = Index.from_documents(folder / "m00.md", processes=2)
        index.save(tmp_path / "saved")
        assert Index.load(tmp_path / "saved").config.processes is None

    @pytest.mark.parametrize("wrong", [0, -1, 1.5, True, "2"])
    def test_a_wrong_number_is_refused(self, wrong):
        with pytest.raises(ValueError, match="processes is a whole number"):
            Index.from_documents(["The sea."], processes=wrong)


SCRIPT = """
import signal, sys, os, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # which a program in the background has not
sys.path.insert(0, {house!r})
from clew import Index, Splitter, processes
processes.MIN_SIZE = 1000
{body}
"""


def run_script(tmp_path, body, **options):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(house=str(HOUSE), body=body))
    return subprocess.Popen(
        [sys.executable, str(script)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


class TestPrograms:
    def test_a_script_without_a_guard_runs_once(self, tmp_path, folder):
        body = f"""
from pathlib import Path
print("begins", flush=True)
def count(text):
    return len(text.split())
for counter in (None, count):
    index = Index.from_documents(Path({str(folder)!r}), splitter=Splitter(), processes=3, count=counter)
    print(len(index.documents), flush=True)
"""
        out, err = run_script(tmp_path, body).communicate(timeout=60)
        assert out.split() == ["begins", "48", "48"], err
        assert "one process does the work of several" in err, "of the script's own counter"
        assert err.count("\n") == 1

    @pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
    @pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGKILL])
    def test_no_process_is_left_behind(self, tmp_path, work, end):
        body = f"""
sys.path.insert(0, {str(tmp_path)!r})
import clew_work
start = processes._Other
def other():
    one = start()
    print(one._process.pid, flush=True)
    return one
processes._Other = other
with processes.working(3):
    processes.map_items(clew_work.who, range(100_000), sizes=[1000] * 100_000)
"""
        program = run_script(tmp_path, body)
        pids = [int(program.stdout.readline()) for _ in range(2)]
        assert wait_until(lambda: all(map(is_alive, pids)), 20)
        time.sleep(1.5)  # now they work
        program.send_signal(end)
        assert wait_until(lambda: program.poll() is not None, 20)
        assert wait_until(lambda: not any(map(is_alive, pids)), 20)
        err = program.communicate()[1]
        assert "BrokenPipe" not in err, "the others go silently"
        if end == signal.SIGINT:
            assert err.rstrip().endswith("KeyboardInterrupt")
        else:
            assert err == ""

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
    def test_daemons_threads_and_forked_processes_divide_work_too(self, work):
        def several():
            return len({pid for _, pid in divided(work.who, range(80), 2)})

        context = multiprocessing.get_context("fork")
        answers = context.SimpleQueue()
        child = context.Process(target=lambda: answers.put(several()), daemon=True)
        child.start()
        assert answers.get() == 2
        child.join()
        found = []
        threads = [threading.Thread(target=lambda: found.append(several())) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found == [2, 2]


@pytest.mark.parametrize(
    ("keywords", "interpreter", "others"),
    [
        ({}, None, 1),
        ({"splitter": Splitter(tokens=30)}, None, 1),
        ({"processes": 1}, None, 0),
        ({"processes": 3}, None, 2),
        ({"count": len}, None, 0),  # who knows what a tokenizer loads elsewhere
        ({"splitter": clew.read.keep_whole}, None, 0),
        ({"splitter": lambda document: clew.read.keep_whole(document)}, None, 0),
        ({}, "/usr/bin/blender", 0),
    ],
)
def test_one_other_process_reads_along_where_nobody_says_how_many(
    tmp_path, monkeypatch, caplog, keywords, interpreter, others
):
    for i in range(6):
        text = "\n\n".join(f"## Part {j}\n\nFerry {i} {j} sails at ten." for j in range(9))
        (tmp_path / f"{i}.md").write_text(f"# Port {i}\n\n{text}\n")
    alone = Index.from_documents(tmp_path, **{**keywords, "processes": 1})
    started = []

    class Counted(processes._Other):
        def __init__(self):
            started.append(self)
            super().__init__()

    monkeypatch.setattr(processes, "_Other", Counted)
    monkeypatch.setattr(processes, "MIN_SIZE", 10)
    monkeypatch.setattr(processes, "BATCH_SIZE", 10)
    monkeypatch.setattr(config, "usable_cores", lambda: 8)
    if interpreter:
        monkeypatch.setattr(processes, "_interpreter", lambda: interpreter)
    index = Index.from_documents(tmp_path, **keywords)
    assert len(started) == others
    assert not caplog.records
    assert index.graph.texts == alone.graph.texts
    assert np.asarray(index.graph.vectors).tobytes() == np.asarray(alone.graph.vectors).tobytes()
    assert index.graph.tokens.tolist() == alone.graph.tokens.tolist()
    started.clear()
    monkeypatch.setattr(config, "usable_cores", lambda: 1)
    Index.from_documents(tmp_path, **keywords)
    assert len(started) == (others if "processes" in keywords else 0)


def test_one_that_nobody_waits_for_any_more_ends_without_a_word():
    command = [sys.executable, "-c", processes.START.format(path=sys.path)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe) as started:
        started.stdout.close()  # as after Ctrl-C, while it is starting
        assert (started.stderr.read(), started.wait()) == (b"", 0)


def test_others_are_started_before_it_is_known_what_they_do(work):
    asked = []

    def size_up_to(enough):
        asked.append(enough)
        return enough - 1  # too little for the third

    with working(3):
        start_others(size_up_to)
        (other,) = processes._CURRENT.get()._others
        found = map_items(work.who, range(60), sizes=[processes.MIN_SIZE // 30 + 1] * 60)
        assert {pid for _, pid in found} == {os.getpid(), other._process.pid}
    assert asked == [3 * processes.MIN_SIZE]
    assert not is_alive(other._process.pid)


def pids_of_others():
    """Return the processes that work for this one; not each need have got some of the work."""
    return {one._process.pid for one in processes._CURRENT.get()._others}


class TestWorkElsewhere:
    def test_is_done_by_a_process_that_has_worked_before(self, work):
        sizes = [processes.MIN_SIZE] * 60
        with working(3):
            assert begin_elsewhere(work.who, 7) is None, "none was started yet"
            map_items(work.who, range(60), sizes=sizes)
            others = pids_of_others()
            first, second = (begin_elsewhere(work.who, item) for item in "ab")
            assert begin_elsewhere(work.who, "c") is None, "all have work"
            end_others()
            (one, its_pid), (other, other_pid) = first.result(), second.result()
        assert (one, other) == ("a", "b")
        assert {its_pid, other_pid} == others
        assert not any(map(is_alive, (its_pid, other_pid)))

    def test_gives_nothing_where_it_fails_or_cannot_be_sent(self, work):
        sizes = [processes.MIN_SIZE] * 60
        with working(3):
            map_items(work.who, range(60), sizes=sizes)
            assert begin_elsewhere(work.only_even, 3).result() is None
            assert begin_elsewhere(work.who, threading.Lock()).result() is None

    def test_ends_with_the_block(self, work):
        with working(2):
            results = map_items(work.who, range(60), sizes=[processes.MIN_SIZE] * 60)
            under_way = begin_elsewhere(time.sleep, 600)
        assert not any(map(is_alive, {pid for _, pid in results} - {os.getpid()}))
        assert under_way.result() is None


class TestItemsBegun:
    SIZES = (processes.MIN_SIZE,) * 20

    def test_are_done_by_all_and_what_is_begun_behind_them_waits(self, work):
        with working(3):
            assert begin_items(work.who, range(20), sizes=self.SIZES) is None, "none was started"
            map_items(work.who, range(20), sizes=self.SIZES)
            others = pids_of_others()
            begun = begin_items(work.who, range(20), sizes=self.SIZES)
            second = begin_items(work.only_even, range(0, 40, 2), sizes=self.SIZES)
            behind = begin_elsewhere(work.who, "last")
            assert second.results() == list(range(0, 40, 2))
            results = begun.results()
            assert [item for item, _ in results] == list(range(20))
            assert {pid for _, pid in results} - {os.getpid()} <= others
            last, pid = behind.result()
        assert last == "last"
        assert pid in others

    def test_are_done_while_nobody_asks(self, work):
        with working(2):
            map_items(work.who, range(20), sizes=self.SIZES)
            others = pids_of_others()
            begun = begin_items(work.who, range(3), sizes=self.SIZES[:3])
            assert begin_elsewhere(work.who, "last").result() is not None
            pids = {pid for _, pid in begun.results()}
        assert pids == others

    def test_keep_a_process_alive_that_has_other_work_before(self, work):
        with working(2):
            map_items(work.who, range(20), sizes=self.SIZES)
            before = begin_elsewhere(work.who, "first")
            begun = begin_items(work.who, range(3), sizes=self.SIZES[:3])
            end_others()
            first, pid = before.result()
            for _ in range(1000):  # nobody asks for what is begun behind it
                if not is_alive(pid):
                    break
                time.sleep(0.01)
            assert not is_alive(pid), "it ends with the last work"
            assert begun.results() == [(item, pid) for item in range(3)]
            assert begin_items(work.who, range(3), sizes=self.SIZES[:3]) is None
        assert first == "first"

    def test_raise_what_the_function_raises(self, work):
        with working(2):
            map_items(work.who, range(20), sizes=self.SIZES)
            begun = begin_items(work.only_even, range(20), sizes=self.SIZES)
            with pytest.raises(ValueError, match="1 is odd"):
                begun.results()

    def test_are_done_here_where_they_cannot_be_sent(self, work, caplog):
        lock = threading.Lock()
        with working(2), caplog.at_level(logging.WARNING, "clew"):
            map_items(work.who, range(20), sizes=self.SIZES)
            begun = begin_items(work.who, [lock, 2], sizes=self.SIZES[:2])
            behind = begin_elsewhere(work.who, "last")
            for thread in begun._threads:  # or this process would take the lock itself
                thread.join()
            assert begun.results() == [(lock, os.getpid()), (2, os.getpid())]
            assert behind.result() is None, "an answer of another work would be taken for its own"
        assert "pickle" in caplog.text
        with working(2):
            map_items(work.who, range(20), sizes=self.SIZES)
            assert begin_items(lambda item: item, [1], sizes=[1]).results() == [1]

    @pytest.mark.parametrize("is_asked", [False, True])
    def test_survive_a_process_that_is_ended_unless_it_was_asked_for(self, work, is_asked):
        with working(2, is_asked=is_asked):
            map_items(work.who, range(20), sizes=self.SIZES)
            begun = begin_items(partial(work.die, os.getpid()), range(20), sizes=self.SIZES)
            if is_asked:
                with pytest.raises(EndedProcessError):
                    begun.results()
            else:
                assert begun.results() == [None] * 20

    def test_come_in_turn_whoever_does_them(self, work):
        with working(2):
            map_items(work.who, range(20), sizes=self.SIZES)
            others = pids_of_others()
            begun = begin_items(work.who, range(20), sizes=self.SIZES)
            found = list(begun.in_turn())
        assert [item for item, _ in found] == list(range(20))
        assert {pid for _, pid in found} <= {os.getpid(), *others}

    def test_come_in_turn_up_to_the_first_that_fails(self, work):
        with working(2):
            map_items(work.who, range(20), sizes=self.SIZES)
            begun = begin_items(work.only_even, [0, 2, 4, 5, 6, 7], sizes=self.SIZES[:6])
            in_turn = begun.in_turn()
            assert [next(in_turn) for _ in range(3)] == [0, 2, 4]
            with pytest.raises(ValueError, match="5 is odd"):
                next(in_turn)

    @pytest.mark.parametrize("is_asked", [False, True])
    def test_in_turn_survive_a_process_that_is_ended(self, work, is_asked):
        with working(2, is_asked=is_asked):
            map_items(work.who, range(20), sizes=self.SIZES)
            begun = begin_items(partial(work.die, os.getpid()), range(20), sizes=self.SIZES)
            if is_asked:
                with pytest.raises(EndedProcessError):
                    list(begun.in_turn())
            else:
                assert list(begun.in_turn()) == [None] * 20

    def test_are_ready_once_they_are_done(self, work):
        with working(2):
            map_items(work.who, range(20), sizes=self.SIZES)
            begin_items(time.sleep, [0.5], sizes=[1])
            begun = begin_items(work.who, range(3), sizes=self.SIZES[:3])
            assert begun.ready() == [None] * 3
            for thread in begun._threads:
                thread.join()
            assert [item for item, _ in begun.ready()] == [0, 1, 2]
            never = begin_items(time.sleep, [600], sizes=[1])
        for thread in never._threads:
            thread.join()
        assert never.ready() == [None], "its process has ended with the block"

    def test_end_with_the_block(self, work):
        with working(2):
            results = map_items(work.who, range(20), sizes=self.SIZES)
            begin_items(time.sleep, [600], sizes=[1])
        assert not any(map(is_alive, {pid for _, pid in results} - {os.getpid()}))


class TestMeanwhile:
    def test_is_done_once_where_other_processes_work(self, work):
        done = threading.Semaphore(0)
        sizes = [processes.MIN_SIZE] * 20
        with working(2, meanwhile=done.release):
            map_items(work.who, range(20), sizes=[1] * 20)
            assert not done.acquire(timeout=0.01), "little is done by this process alone"
            map_items(work.who, range(20), sizes=sizes)
            assert done.acquire(timeout=60)
            map_items(work.who, range(20), sizes=sizes)
            assert not done.acquire(timeout=0.01)

    def test_may_fail(self, work):
        def fail():
            raise MemoryError

        with working(2, meanwhile=fail):
            results = map_items(work.who, range(60), sizes=[processes.MIN_SIZE] * 60)
        assert [item for item, _ in results] == list(range(60))


def test_the_last_batches_are_smaller():
    batches = processes._batches([10_000] * 400)
    sizes = [batch.stop - batch.start for batch in batches]
    assert sum(sizes) == 400
    assert sizes[:20] == [10] * 20
    assert sizes[-10:] == [1] * 10
    assert all(one >= other for one, other in itertools.pairwise(sizes))
    assert processes._batches([0, 0, 0]) == [slice(0, 3)] or len(processes._batches([0, 0, 0])) == 3


class EndsBetweenTwoLooks(threading.Thread):
    """A thread that has ended whenever one looks a second time."""

    def __init__(self):
        super().__init__()
        self.looks = 0

    def is_alive(self):
        self.looks += 1
        return self.looks == 1

    def join(self, timeout=None):
        return None


def test_a_thread_may_end_while_it_is_waited_for():
    def double(item):
        return 2 * item

    def job():
        return processes._Job(double, range(5), [slice(0, 3), slice(3, 5)], is_asked=False)

    assert job().work([EndsBetweenTwoLooks()]) == [0, 2, 4, 6, 8]
    assert list(job().in_turn([EndsBetweenTwoLooks()])) == [0, 2, 4, 6, 8]
    taken = job()  # one batch is another's, which ends with an error while it is waited for
    taken._take()
    taken._errors[0] = OSError("full")
    with pytest.raises(OSError, match="full"):
        list(taken.in_turn([EndsBetweenTwoLooks()]))
