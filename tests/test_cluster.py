"""Work that is given to an executor: the result of one process, whichever executor it is and whatever happens to it."""

from __future__ import annotations

import logging
import os
import pickle
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

import clew
from clew import Index, cluster
from clew.cluster import EndedProcessError, SparkExecutor, results_in_order
from clew.processes import map_items, run_batches, working
from clew.read import Passage
from clew.read.extract import many_passages

HOUSE = Path(clew.__file__).parents[1]
TEXTS = [f"# Ferry {n}\n\nIt sails to island {n % 7}.\n\n## Price\n\nIt is {n}." for n in range(40)]


def embed(texts):
    return [[len(text), text.count("1"), text.count("2")] for text in texts]


class Backwards(Executor):
    """An executor that does what it has only when it has all it gets, the last first."""

    def __init__(self):
        self.calls, self.most = [], 0
        self._waits = threading.Condition()
        threading.Thread(target=self._work, daemon=True).start()

    def submit(self, fn, /, *args):
        future = Future()
        with self._waits:
            self.calls.append((future, fn, args))
            self.most = max(self.most, len(self.calls))
            self._waits.notify()
        return future

    def _work(self):
        while True:
            with self._waits:
                self._waits.wait_for(lambda: self.calls)
                time.sleep(0.01)  # for others that come
                calls, self.calls = self.calls, []
            for future, fn, args in reversed(calls):
                if future.set_running_or_notify_cancel():
                    time.sleep(0.002)
                    try:
                        future.set_result(fn(*args))
                    except ValueError as error:
                        future.set_exception(error)


def odd_is_wrong(number):
    if number % 2:
        raise ValueError(f"{number} is odd")
    return number


def die(number):
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def test_results_come_in_order_and_no_more_wait_than_may():
    executor, done = Backwards(), []
    numbers = list(range(5 * cluster.MOST_WAITING))
    results = results_in_order(executor, str, numbers, lambda *pair: done.append(pair))
    assert list(results) == list(map(str, numbers))
    assert sorted(done) == [(n, str(n)) for n in numbers]
    assert done != sorted(done), "nothing came out of order, so nothing is shown"
    assert executor.most <= cluster.MOST_WAITING


def test_the_first_error_is_raised_when_all_before_it_has_come():
    results = results_in_order(Backwards(), odd_is_wrong, [0, 2, 4, 5, 6, 7])
    assert [next(results) for _ in range(3)] == [0, 2, 4]
    with pytest.raises(ValueError, match="5 is odd"):
        next(results)
    with pytest.raises(ValueError, match="1 is odd"), working(Backwards()):
        map_items(odd_is_wrong, [0, 1, 3], sizes=[10**6] * 3)


@pytest.mark.skipif(os.name != "posix", reason="kills a process")
def test_an_executor_that_gives_up_says_what_to_do():
    with (
        ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool,
        pytest.raises(EndedProcessError, match="ProcessPoolExecutor has lost a process"),
    ):
        list(results_in_order(pool, die, range(9)))


def test_what_cannot_be_sent_is_done_here_and_that_is_logged(caplog):
    own, threads = threading.get_ident(), ThreadPoolExecutor(1)
    with caplog.at_level(logging.WARNING, "clew.processes"), working(threads):
        assert list(run_batches(lambda _: threading.get_ident(), [1, 2])) == [own, own]
    assert "one process does the work of several" in caplog.text
    large = Large()
    with caplog.at_level(logging.WARNING, "clew.processes"), working(threads):
        assert list(run_batches(large, [1])) == [own]
    assert "2 MB would be sent with every batch; give the name of a model" in caplog.text


class Large:
    """A function with two megabytes of weights."""

    def __init__(self):
        self.weights = bytes(2_000_000)

    def __call__(self, _):
        return threading.get_ident()


@pytest.fixture
def folder(tmp_path):
    for n, text in enumerate(TEXTS):
        (tmp_path / f"ferry{n}.md").write_text(text, encoding="utf-8")
    return tmp_path


def bytes_in(path):
    """What each column of a saved index holds; the end of a file's name is drawn at random."""
    return {file.name.rsplit("-", 2)[0]: file.read_bytes() for file in path.rglob("*.npy")}


def are_same(one, other):
    np.testing.assert_array_equal(one.graph.vectors, other.graph.vectors)
    return (
        (one.graph.ids, list(one.graph.texts)) == (other.graph.ids, list(other.graph.texts))
        and one.graph.edges.tails.tolist() == other.graph.edges.tails.tolist()
        and one.ask("Which ferry sails to island 3?").text
        == other.ask("Which ferry sails to island 3?").text
    )


def test_an_index_is_the_same_on_an_executor_and_keeps_none(folder):
    alone = Index.from_documents(folder, embedder=embed, extractor=clew.Names())
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        index = Index.from_documents(folder, embedder=embed, extractor=clew.Names(), processes=pool)
        added = index.add(["Ferry 99 sails to island 3."])
    assert are_same(index, alone)
    assert are_same(added, alone.add(["Ferry 99 sails to island 3."]))
    assert index.config.processes is pool
    assert pickle.loads(pickle.dumps(index)).config.processes is None
    with pytest.raises(ValueError, match=r"an executor of concurrent\.futures.*got 'dask'"):
        Index.from_documents(["a"], processes="dask")


IN_SCRIPTS = [
    "Anna Bell met Dr. Ben Gray in New York. Dr. Gray sailed to Corfu, see fig. 3.",
    "# New York\n\nThe harbour of New York is old. 北京 is far from Ben.",
    "# 北京\n\n人々は北京へ行く。",
    "علي يسكن في بيروت. علي يعرف سعاد من بيروت.",
    "Öst och Väst. Anna säger: „Ro hem“. In Corfu harbours are old; Harbours open.",
]


@pytest.mark.parametrize("min_passages", [1, 2])
def test_names_of_many_passages_are_the_same_on_an_executor(min_passages, monkeypatch):
    passages = [
        Passage(f"p{i}", f"{text} It is ferry {i % 9}.", f"Ferry {i % 9}" * (i % 2))
        for i, text in enumerate(IN_SCRIPTS * 12)
    ]
    names = clew.Names(min_passages=min_passages)
    monkeypatch.setattr("clew.read.extract.name_reading.MANY", 10)
    monkeypatch.setattr("clew.read.extract.many_passages.BLOCK", 7)
    monkeypatch.setattr("clew.read.extract.many_passages.MIN_SENT", 700)
    alone = names.learn(passages)
    first = names.learn(passages[:20])[1]
    later = first and names.learn_more(passages[20:], first, None)
    assert any(alone[0])
    sent = Counting(ProcessPoolExecutor(2, mp_context=get_context("spawn")))
    with sent.executor, working(sent):
        assert names.learn(passages) == alone
        assert sent.calls > 3 * 3, "three rounds of several batches"
        assert (first and names.learn_more(passages[20:], first, None)) == later
    asked, begin_items = [], many_passages.begin_items

    def begin(function, batches, *, sizes):
        asked.append(begin_items(function, batches, sizes=sizes))
        return asked[-1]

    monkeypatch.setattr(many_passages, "begin_items", begin)
    with working(2):
        map_items(abs, [1, 2], sizes=[10**6] * 2)
        assert names.learn(passages) == alone
        assert (first and names.learn_more(passages[20:], first, None)) == later
    assert len(asked) == 3 * (2 if first else 1)
    assert all(asked), "another process reads along"
    monkeypatch.setattr("clew.read.extract.name_reading.MANY", 10_000)
    assert names.learn(passages)[0] == alone[0], "read as a few passages are"


class Counting(Executor):
    """Another executor, whose calls are counted."""

    def __init__(self, executor):
        self.executor, self.calls = executor, 0

    def submit(self, fn, /, *args):
        self.calls += 1
        return self.executor.submit(fn, *args)


class Elsewhere(ThreadPoolExecutor):
    """An executor on a machine with other files: whatever looks at a file there sees none."""

    def submit(self, fn, /, *args):
        return super().submit(self._there, fn, args)

    def _there(self, fn, args):
        here.elsewhere = True
        try:
            return fn(*args)
        finally:
            here.elsewhere = False


here = threading.local()


def test_files_that_a_machine_does_not_have_are_read_by_the_one_that_asks(folder, monkeypatch):
    look_of, looks = clew.read.known_files.look_of, []

    def look(file):
        looks.append(getattr(here, "elsewhere", False))
        return () if looks[-1] else look_of(file)

    monkeypatch.setattr("clew.read.known_files.look_of", look)
    with Elsewhere(2) as executor:
        index = Index.from_documents(folder, embedder=embed, processes=executor)
    assert any(looks), "nothing was looked at elsewhere"
    assert len(index.documents) == len(TEXTS)
    assert are_same(index, Index.from_documents(folder, embedder=embed))


PLACES = []


def embed_and_note(texts):
    PLACES.append(getattr(here, "elsewhere", False))
    return embed(texts)


def test_documents_that_are_added_are_embedded_there_too():
    many = [
        f"Ferry {i} sails to island {i % 7}." for i in range(1200)
    ]  # a little is added in place
    with Elsewhere(2) as executor:
        index = Index.from_documents(many, embedder=embed_and_note, processes=executor)
        PLACES.clear()
        added = index.add(["Ferry 999 sails to island 3."])
    assert len(added.graph) == len(index.graph) + 1
    assert PLACES
    assert PLACES[0], "by the process that adds"


def test_another_version_elsewhere_is_refused(monkeypatch):
    monkeypatch.setattr("clew.processes.__version__", "0.0.1")
    call = clew.processes._Elsewhere(ThreadPoolExecutor(1))
    with pytest.raises(RuntimeError, match=r"has clew 0\.0\.1, and the one that asks 9"):
        clew.processes._each(abs, "9", [1])
    with pytest.raises(RuntimeError, match="install the same version in both"):
        clew.processes._checked(abs, "9", 1)
    assert call.map(abs, [-1], [slice(0, 1)], lambda _: None) == [1]


class FakeSpark:
    """Spark's context, as far as a job of one task asks for it; what is sent is pickled."""

    def __init__(self):
        self.parts = []

    def parallelize(self, rows, parts):
        self.parts.append(parts)
        self.rows = [pickle.loads(pickle.dumps(row)) for row in rows]
        return self

    def map(self, f):
        other = FakeSpark()
        other.rows = [pickle.loads(pickle.dumps(f))(row) for row in self.rows]
        return other

    def collect(self):
        return self.rows


def test_a_call_is_a_job_of_one_task_on_spark():
    spark = FakeSpark()
    with SparkExecutor(spark, jobs=1) as executor:
        assert list(results_in_order(executor, len, ["sea", "moon"])) == [3, 4]
    assert spark.parts == [1, 1]


ON_CLUSTER = """
import os, signal, sys, threading, time
from pathlib import Path

folder, here, kind = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
sys.path.insert(0, str(here))
import clew, cluster_work
from cluster_work import embed

def kill_one():
    while len(list((here / "log").iterdir())) < 3:
        time.sleep(0.02)
    pid = next(int(file.name.split("-")[0]) for file in (here / "log").iterdir())
    os.kill(pid, signal.SIGKILL)

def build(executor):
    (here / "log").mkdir()
    killer = threading.Thread(target=kill_one)
    killer.start()
    kept = clew.CachedEmbedder(embed, here / "vectors")
    index = clew.Index.from_documents(folder, embedder=kept, processes=executor)
    killer.join()
    return index

if __name__ != "__main__":
    pass  # a process of Dask, which reads this file as its parent's
elif kind == "dask":
    from dask.distributed import Client, LocalCluster
    with LocalCluster(n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None,
                      local_directory=str(here)) as local, Client(local) as client:
        index = build(client.get_executor(retries=3))
    index.save(here / "index")
else:
    import ray
    from clew.cluster import RayExecutor
    ray.init(num_cpus=2, include_dashboard=False, _temp_dir=sys.argv[4], _node_ip_address="127.0.0.1",
             log_to_driver=False, runtime_env={"env_vars": {"PYTHONPATH": os.environ["PYTHONPATH"]}})
    index = build(RayExecutor())
    ray.shutdown()
    index.save(here / "index")
"""
WORK = """
import os, time, uuid
from pathlib import Path

LOG = Path(__file__).parent / "log"

def embed(texts):
    time.sleep(0.3)
    (LOG / f"{os.getpid()}-{uuid.uuid4().hex}-{len(texts)}").touch()
    time.sleep(0.3)
    return [[len(text), text.count("1"), text.count("2")] for text in texts]
"""


@pytest.fixture
def scratch():
    """A folder of a short name: the path of a socket within has at most 107 characters."""
    with tempfile.TemporaryDirectory(prefix="r", dir="/tmp") as folder:
        yield folder


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="kills a process")
@pytest.mark.parametrize("kind", ["dask", "ray"])
def test_a_killed_worker_costs_its_own_batches_alone(kind, tmp_path, scratch):
    pytest.importorskip("distributed" if kind == "dask" else "ray")
    folder, here = tmp_path / "folder", tmp_path / "here"
    folder.mkdir()
    here.mkdir()
    (here / "cluster_work.py").write_text(WORK)
    passages = "\n\n".join(f"## Ferry {n}\n\nIt sails to island {n % 7}." for n in range(1500))
    (folder / "ferries.md").write_text(f"# Ferries\n\n{passages}", encoding="utf-8")
    (here / "run.py").write_text(ON_CLUSTER)
    time.sleep(2.2)  # a file of the last two seconds may change again, so its look is not kept
    command = [sys.executable, "run.py", str(folder), str(here), kind, str(scratch)]
    environment = {**os.environ, "PYTHONPATH": f"{here}{os.pathsep}{HOUSE}", "HOME": str(here)}
    done = subprocess.run(
        command, cwd=here, env=environment, capture_output=True, text=True, timeout=240, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    batches = [file.name.split("-") for file in (here / "log").iterdir()]
    index = Index.load(here / "index", embedder=embed)
    with sqlite3.connect(here / "vectors") as file:
        ((texts,),) = file.execute("SELECT count(*) FROM vectors")
    again = sum(int(size) for _, _, size in batches) - texts
    assert len({pid for pid, _, _ in batches}) >= 2
    assert texts > 1000
    assert 0 <= again <= 256, "the batch that the killed one was at, and no other"
    alone = Index.from_documents(folder, embedder=embed)
    alone.save(here / "alone")
    there, one = bytes_in(here / "index"), bytes_in(here / "alone")
    assert {name for name in one if one[name] != there.get(name)} == set()
    assert there.keys() == one.keys()
    assert are_same(index, alone)
