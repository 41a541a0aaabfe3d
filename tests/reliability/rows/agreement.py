"""Rows 11 to 13 and 21: the same answer whoever asks at the same time, and whoever gave up asking."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

from clew import Document, Index, recipes
from tests import test_contract
from tests.conftest import hashed_words
from tests.reliability import test_any_history, test_threads
from tests.reliability.rows.budgets import drawn_recipe
from tests.reliability.rows.row import Finding, Row, first

NAMES = ("Anna", "Ben", "Cleo", "Dora", "Emil", "Corfu", "Delos")


def percentile(numbers: Sequence[float], share: float = 0.99) -> float:
    """Return the number below which a share of them lies."""
    ordered = sorted(numbers)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0


def made(documents: int) -> Index:
    """Return an index of some size, so that a question takes a while."""
    texts = [f"{NAMES[i % 7]} met {NAMES[i * 3 % 7]} in hall {i % 9}." for i in range(documents)]
    facts = {
        f"d{i}": [(NAMES[i % 7], "met", NAMES[i * 3 % 7])] for i in range(0, documents, 2)
    }  # fmt: skip
    named = [Document(f"d{i}", text, {"hall": i % 9}) for i, text in enumerate(texts)]
    return Index.from_documents(named, embedder=hashed_words, facts=facts)


def cancellation(short: bool) -> Finding:
    """Cancel questions at random moments, and ask again."""
    logging.disable(logging.WARNING)
    index, chance, times = made(200), random.Random(1), 25 if short else 600
    names = [drawn_recipe(chance) for _ in range(times)]
    expected = {name: index.ask("Whom did Anna meet?", recipe=name).ids for name in {*names}}
    latencies, cancelled, failures = list[float](), 0, list[str]()

    async def cancel_all() -> None:
        nonlocal cancelled
        for name in names:
            where = chance.choice((None, {"hall": chance.randrange(9)}))
            task = asyncio.create_task(
                index.aask("Whom did Anna meet?", recipe=name, where=where)
            )  # fmt: skip
            await asyncio.sleep(chance.uniform(0, 0.006))
            began = time.perf_counter()
            task.cancel()
            try:
                await asyncio.wait_for(task, 20)
            except asyncio.CancelledError:
                cancelled += 1
            latencies.append(time.perf_counter() - began)
            again = await index.aask("Whom did Anna meet?", recipe=name)
            if again.ids != expected[name]:
                failures.append(f"{name} answers otherwise after one was cancelled")
        left = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        failures.extend(f"a task is left: {task!r}" for task in left)

    before = threading.active_count()
    asyncio.run(cancel_all())  # which waits for the threads of its pool
    threads = threading.active_count() - before
    if threads > 0:
        failures.append(f"{threads} threads are left")
    if index.graph._parts._locks:
        failures.append("a lock of a part is left")
    return Finding(
        f"{times} questions in tasks, each cancelled after 0 to 6 ms, the same asked again",
        f"{cancelled} cancelled, {times - cancelled} were done before; cancelled in at most "
        f"{1000 * percentile(latencies):.1f} ms (p99); tasks, threads and locks left 0; "
        f"{times - len(failures)}/{times} next answers right",
        first(failures),
    )


def threads(short: bool) -> Finding:
    """Ask one index from sixteen threads, and compare with one thread."""
    logging.disable(logging.WARNING)
    sys.setswitchinterval(1e-5)
    each, count = 12 if short else 1000, 16
    kinds = [(recipe, hall) for recipe in recipes.names() for hall in (None, 1, 2, [3, 4])]
    chance = random.Random(1)
    tasks = [chance.choice(kinds) for _ in range(each * count)]

    def fresh() -> Index:
        return Index.from_documents(
            test_threads.DOCUMENTS, embedder=hashed_words, facts=test_threads.FACTS
        )

    alone = fresh()
    expected = {repr(task): test_threads.answer(alone, task) for task in kinds}
    together, start = fresh(), threading.Barrier(count, timeout=60)

    def ask(number: int) -> int:
        start.wait()
        mine = tasks[number::count]
        return sum(test_threads.answer(together, task) != expected[repr(task)] for task in mine)

    began = time.perf_counter()
    with ThreadPoolExecutor(count) as pool:
        mismatches = sum(pool.map(ask, range(count)))
    rate = len(tasks) / (time.perf_counter() - began)
    return Finding(
        f"{count} threads x {each:,} questions, {len(recipes.names())} recipes, with and without "
        "filters, beside a single thread",
        f"mismatches {mismatches} of {len(tasks):,}; {rate:,.0f} questions a second together",
        ("answers of threads differ",) if mismatches else (),
        "free-threaded Python: this interpreter has the global lock",
    )


def determinism(short: bool) -> Finding:
    """Answer under other hash seeds, threads, kernels of BLAS, and orders of insertion."""
    logging.disable(logging.WARNING)
    folder, failures, answers = Path(tempfile.mkdtemp()), [], []
    source = Path(test_contract.__file__).read_text(encoding="utf-8")
    (folder / "contract.py").write_text(source, encoding="utf-8")
    inherited = {name: value for name, value in os.environ.items() if name != "OPENBLAS_CORETYPE"}
    environments = test_contract.runs(not short)
    every = "contract.METHODS.items()"
    script = test_contract.SCRIPT.replace(every, f"[*{every}][::6]" if short else every)
    for own in environments:
        run = subprocess.run(
            [sys.executable, "-c", script, str(folder)],
            env=inherited | own, capture_output=True, text=True, check=False,
        )  # fmt: skip
        if run.returncode:
            failures.append(f"{own}: {run.stderr[-300:]}")
        else:
            answers.append({name: found[0][0] for name, found in json.loads(run.stdout).items()})
    failures += [
        f"{name} answers otherwise under {environments[i]}"
        for i, answer in enumerate(answers)
        for name in answer
        if answer[name] != answers[0][name]
    ]
    orders, same = (2, 0) if short else (30, 0)
    for seed in range(orders):
        same += not (moved := _moved_by_order(seed))
        failures += moved
    return Finding(
        f"{len(environments)} environments (PYTHONHASHSEED, threads, kernels of BLAS) x "
        f"{len(answers[0]) if answers else 0} methods; {orders} orders of insertion x {len(ORDERED)} recipes",
        f"identical answers {len(answers)}/{len(environments)} environments, {same}/{orders} orders",
        first(failures),
    )


ORDERED = ("dense", "bm25", "fused", "mmr", "hipporag", "budgeted")


def _moved_by_order(seed: int) -> list[str]:
    """Return the recipes whose answer depends on the order of the documents."""
    chance = random.Random(seed)
    words = [f"w{i}" for i in range(40)]
    documents = [
        Document(f"d{i}", " ".join(chance.choices(words, k=9 + i)) + f" only{i}") for i in range(20)
    ]
    facts = {f"d{i}": [(f"N{i % 5}", "near", f"N{i % 3}")] for i in range(20)}
    question = " ".join(chance.choices(words, k=6))
    shuffled = chance.sample(documents, len(documents))
    pair = [
        Index.from_documents(each, embedder=hashed_words, facts=facts)
        for each in (documents, shuffled)
    ]
    return [
        f"{recipe} depends on the order of insertion (seed {seed})"
        for recipe in ORDERED
        if len({frozenset(index.ask(question, recipe=recipe, limit=5).ids) for index in pair}) > 1
    ]


def histories(short: bool) -> Finding:
    """Add, delete, save, load and filter in random histories, and ask in between."""
    logging.disable(logging.WARNING)
    examples, steps = (3, 8) if short else (30, 20)
    failures = list[str]()
    for machine in (test_any_history.History, test_any_history.HistoryByDefault):
        try:
            run_state_machine_as_test(
                machine,
                settings=settings(
                    max_examples=examples, stateful_step_count=steps, deadline=None, database=None
                ),
            )
        except Exception as error:  # noqa: BLE001  # a history that went wrong
            failures.append(f"{machine.__name__}: {error!r}"[:400])
    stale = _stale_answers(20 if short else 400)
    failures += [f"{stale} answers of an older state"] if stale else []
    changes = 20 if short else 400
    return Finding(
        f"{2 * examples} random histories of up to {steps} changes and questions, each beside an "
        f"index built at once; {changes} changes while four threads ask",
        f"inconsistent contexts {len(failures) - bool(stale)} in histories, {stale} under changes",
        tuple(failures),
        "a cache of another program's store: an index is a value, and a change makes another; "
        "retrievers over stores keep nothing or are refreshed by name",
    )


def _stale_answers(changes: int) -> int:
    """Change an index while threads ask it; return the answers that fit no state of it."""
    states = [made(20)]
    stop, wrong = threading.Event(), [0] * 4

    def ask(number: int) -> None:
        while not stop.is_set():
            index = states[-1]
            known = {document.id for document in index.documents}
            context = index.ask("Whom did Anna meet?", recipe=("hipporag", "bm25")[number % 2])
            wrong[number] += not set(context.ids) <= known | {i.id for i in context if i.role == "fact"}  # fmt: skip

    workers = [threading.Thread(target=ask, args=(i,)) for i in range(4)]
    for worker in workers:
        worker.start()
    for change in range(changes):
        index = states[-1].add([Document(f"n{change}", f"Anna met Ben at change {change}.")])
        states.append(index.delete([index.documents[0].id]))
        del states[:-2]
    stop.set()
    for worker in workers:
        worker.join()
    return sum(wrong)


ROWS = (
    Row(11, "cancellation", cancellation, 30),
    Row(12, "threads", threads, 90),
    Row(13, "determinism", determinism, 80),
    Row(21, "stale caches", histories, 60),
)
