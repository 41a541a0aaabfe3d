"""One index, many threads: every answer is the one that a single thread gets, also while filters and changes are under way."""

from __future__ import annotations

import io
import pickle
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from clew import Document, Graph, Index, recipes
from clew.graph.sizes import MAX_SAMPLE, SizeEstimate
from clew.index.last_places import LastPlaces
from clew.on_demand import FunctionOnDemand

NAMES = ["Anna", "Ben", "Cleo", "Dora", "Emil"]
DOCUMENTS = [
    Document(f"d{i}", f"{NAMES[i % 5]} met {NAMES[i * 2 % 5]} in hall {i % 7}.", {"hall": i % 7})
    for i in range(30)
]
FACTS = {f"d{i}": [(NAMES[i % 5], "met", NAMES[i * 2 % 5])] for i in range(0, 30, 2)}


def answer(index, task):
    recipe, hall = task
    context = index.ask(
        "Whom did Anna meet?",
        recipe=recipe,
        budget=80,
        where=None if hall is None else {"hall": hall},
    )
    return context.ids, context.text, [item.score for item in context]


def test_sixteen_threads_get_what_one_gets(embed, quick_turns):
    def fresh():
        return Index.from_documents(DOCUMENTS, embedder=embed, facts=FACTS)

    tasks = [(recipe, hall) for recipe in recipes.names() for hall in (None, 1, 2, [3, 4])] * 3
    alone = fresh()
    expected = [answer(alone, task) for task in tasks]
    together, start = fresh(), threading.Barrier(16, timeout=60)

    def ask(number):
        start.wait()
        return [answer(together, tasks[i]) for i in range(number, len(tasks), 16)]

    with ThreadPoolExecutor(16) as threads:
        found = list(threads.map(ask, range(16)))
    assert [found[i % 16][i // 16] for i in range(len(tasks))] == expected


def test_a_change_leaves_questions_under_way_alone(embed, quick_turns):
    index = Index.from_documents(
        DOCUMENTS[:20],
        embedder=embed,
        facts={id: said for id, said in FACTS.items() if int(id[1:]) < 20},
    )
    expected = answer(index, ("hipporag", None))
    stop, wrong = threading.Event(), []

    def keep_asking():
        while not stop.is_set():
            if answer(index, ("hipporag", None)) != expected:
                wrong.append(1)

    threads = [threading.Thread(target=keep_asking) for _ in range(4)]
    for thread in threads:
        thread.start()
    try:
        for i in range(20, 25):
            _ = index.add([DOCUMENTS[i]]).delete([f"d{i - 20}"])
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert not wrong


class Store:
    pass


def test_what_other_threads_write_is_measured_and_read_meanwhile(quick_turns):
    graph, store, places = Graph.of(["one", "two"]), Store(), LastPlaces()
    listed = {i: str(i) for i in range(100 * MAX_SAMPLE)}
    until, failures = time.monotonic() + 1.5, []

    def write():
        while time.monotonic() < until:
            graph.__dict__.pop("_for_parts", None)  # a graph finds it out once
            _ = graph.for_parts
            last = len(listed)
            listed[last] = str(last)
            del listed[last], graph.__dict__["_for_parts"]

    def read():
        while time.monotonic() < until:
            try:
                assert graph.own_bytes
                assert graph.__getstate__().keys() >= {"texts", "edges"}
                assert SizeEstimate().bytes_of(listed)
                assert LastPlaces().of(store, listed)["7"] == 7
                assert places.of(store, listed)["7"] == 7
            except RuntimeError as error:
                failures.append(error)

    threads = [threading.Thread(target=one) for one in (write, read, read)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


class Dictionaries(pickle.Pickler):
    """Pickles, and notes each dictionary, set or list that it goes through, with its length."""

    def __init__(self):
        super().__init__(io.BytesIO())
        self.read = []

    def persistent_id(self, obj):
        if isinstance(obj, (dict, set, list)):
            self.read.append((obj, len(obj)))


@pytest.fixture
def many():
    """So many documents that vectors are bags of words, with names that repeat."""
    documents = [
        Document(f"d{i}", f"{NAMES[i % 5]} met number {i} in hall {i % 7}.", {"hall": i % 7})
        for i in range(1100)
    ]
    facts = {f"d{i}": [(NAMES[i % 5], "met", f"number {i}")] for i in range(0, 1100, 20)}
    return Index.from_documents(documents, facts=facts)


MORE = Document("more", "Zoe met Anna in the observatory.", facts=[("Zoe", "met", "Anna")])


@pytest.mark.parametrize(
    "make",
    [
        lambda many, folder: many,
        lambda many, folder: many.add([MORE]),
        lambda many, folder: many.filtered({"hall": [1, 2, 3, 4, 5]}),
        lambda many, folder: many.save(folder) or Index.load(folder),
        lambda many, folder: Index.from_documents(DOCUMENTS, facts=FACTS),
    ],
    ids=["built", "changed", "filtered", "loaded", "small"],
)
def test_what_a_copy_goes_through_does_not_grow_by_questions(many, make, tmp_path):
    """Another thread's question would end the copy: "dictionary changed size during iteration"."""
    index, pickler = make(many, tmp_path / "index"), Dictionaries()
    pickler.dump(index)
    for recipe in recipes.names():
        index.ask("Whom did Anna meet in the observatory?", recipe=recipe, where={"hall": [1, 2]})
        index.ask("Whom did Anna meet in the observatory?", recipe=recipe)
    _ = index.add([Document("new", "Anna met Yusuf.")]).delete(["d1"]).ask("Whom did Anna meet?")
    assert [obj for obj, length in pickler.read if len(obj) != length] == []


def test_a_function_is_called_once_its_module_is_whole(tmp_path, monkeypatch):
    """Four threads read the first files of a process at once: the format is being imported then."""
    name = "clew_test_of_a_slow_module"
    code = "import time\ntime.sleep(0.3)\n\n\ndef answer():\n    return 42\n"
    (tmp_path / f"{name}.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    answer = FunctionOnDemand(name, "answer")
    try:
        with ThreadPoolExecutor(4) as threads:
            assert list(threads.map(lambda _: answer(), range(4))) == [42] * 4
    finally:
        sys.modules.pop(name, None)
