"""Rows 10 and 18 to 20: time, memory, the network, and what others' services do."""

from __future__ import annotations

import itertools
import json
import logging
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress

import numpy as np

from clew import Document, Index, Names, Splitter, recipes
from clew.algorithms.budgeted.problem import Problem
from clew.algorithms.budgeted.solve import solve_budgeted
from clew.deadline import OutOfTime, within
from clew.model import Model
from tests.conftest import hashed_words
from tests.reliability import test_linear_time
from tests.reliability.rows.agreement import percentile
from tests.reliability.rows.cases import run_cases
from tests.reliability.rows.row import Finding, Row, first

DEADLINE = 0.05
HANGS = 20.0  # seconds past a deadline that are no lateness any more


def deadlines(short: bool) -> Finding:
    """Solve hard choices under a deadline, and small ones beside an enumeration."""
    logging.disable(logging.WARNING)
    chance, failures, late, without = np.random.default_rng(3), [], [], 0
    solve_budgeted(_problem(chance, 600), work=2)  # until its loops are machine code
    times = 6 if short else 80
    for _ in range(times):
        problem = _problem(chance, int(chance.integers(300, 900)))
        began, solution = time.perf_counter(), None
        with within(DEADLINE), suppress(OutOfTime):  # as a question's deadline is in the context
            solution = solve_budgeted(problem, work=10**6, deadline=DEADLINE)
        late.append(time.perf_counter() - began - DEADLINE)
        if solution is None:
            without += 1
        elif _cost(problem, solution.rows) > problem.budget:
            failures.append("a choice that was cut short is over its budget")
    gaps, proved = [], 0
    for _ in range(10 if short else 200):
        problem = _problem(chance, int(chance.integers(4, 11)))
        solution, best = solve_budgeted(problem), _best_of_all(problem)
        gaps.append((best - solution.value) / best if best else 0.0)
        proved += solution.proved
        if solution.proved and gaps[-1] > 1e-6:
            failures.append(f"{solution.value} is said to be the best, and {best} is")
    if max(late) > HANGS:
        failures.append(f"{max(late):.1f} s past a deadline of {DEADLINE} s")
    return Finding(
        f"{times} hard choices of 300 to 900 nodes with {1000 * DEADLINE:.0f} ms; {len(gaps)} of 4 "
        "to 10 nodes beside an enumeration of all subsets",
        f"late by {1000 * percentile(late):,.0f} ms (p99), every answer feasible, none within "
        f"the time {without} times; small ones: "
        f"{proved}/{len(gaps)} proved, largest gap {100 * max(gaps):.2f} %",
        first(failures),
    )


def _problem(chance: np.random.Generator, n: int) -> Problem:
    """Return a random connected choice of n nodes whose weights and values say opposite things."""
    tails = [int(chance.integers(head)) for head in range(1, n)]
    heads = list(range(1, n))
    for _ in range(n):
        one, other = sorted(chance.choice(n, 2, replace=False).tolist())
        tails.append(one)
        heads.append(other)
    pairs = sorted({*zip(tails, heads, strict=True), *zip(heads, tails, strict=True)})
    starts = np.searchsorted([tail for tail, _ in pairs], np.arange(n + 1))
    weights = chance.integers(3, 30, n)
    return Problem(
        starts,
        np.array([head for _, head in pairs], np.int32),
        weights * chance.uniform(0.9, 1.1, n) * (chance.random(n) < 0.6),
        weights,
        np.array([0], np.int32),
        budget=int(weights.sum() // 3 + weights[0]),
    )


def _cost(problem: Problem, rows) -> float:
    return float(np.asarray(problem.tokens)[rows].sum())


def _best_of_all(problem: Problem) -> float:
    """Return the value of the best connected subset with the root, by trying all."""
    n, best = len(problem.prizes), 0.0
    neighbours = [
        set(problem.targets[problem.starts[i] : problem.starts[i + 1]].tolist()) for i in range(n)
    ]
    root = int(problem.roots[0])
    for size in range(n + 1):
        for rows in itertools.combinations([i for i in range(n) if i != root], size):
            chosen = {root, *rows}
            if _cost(problem, sorted(chosen)) > problem.budget:
                continue
            reached, waiting = {root}, [root]
            while waiting:
                new = neighbours[waiting.pop()] & chosen - reached
                reached |= new
                waiting += new
            if reached == chosen:
                best = max(best, float(np.asarray(problem.prizes)[sorted(chosen)].sum()))
    return best


def _in_child(work: Callable[[], object]) -> tuple[float, float, str]:
    """Return the seconds and the additional megabytes that a forked child takes, and its error."""
    read, write = os.pipe()
    if (child := os.fork()) == 0:
        before, began, error = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.perf_counter(), ""  # fmt: skip
        try:
            work()
        except (ValueError, TypeError) as refusal:
            error = f"refused: {refusal}"
        except BaseException as other:  # noqa: BLE001  # whatever it is, it is reported
            error = f"error: {other!r}"
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        took = [time.perf_counter() - began, (after - before) / 1024, error[:300]]
        os.write(write, json.dumps(took).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as answer:
        found = answer.read()
    os.waitpid(child, 0)
    if not found:
        return 0.0, 0.0, "error: the process died"
    seconds, megabytes, error = json.loads(found)
    return seconds, megabytes, error


def exhaustion(short: bool) -> Finding:
    """Read what is very large, very long or very deep, each in a process of its own."""
    logging.disable(logging.WARNING)
    size = 200_000 if short else 3_000_000
    sea = "The sea is wide and Anna sails to Corfu. "
    names = " ".join(f"Name{i} Surname{i} met Ben{i}." for i in range(size // 300))
    trials: dict[str, Callable[[], object]] = {
        f"{size / 1e6:.1f} MB of text": lambda: _asked(sea * (size // len(sea)), Splitter()),
        "one line of letters": lambda: _asked("a" * size, Splitter()),
        "one word for a question": lambda: Index.from_documents(["sea"]).ask("a" * 90_000),
        f"{size // 150:,} names in a document": lambda: Index.from_documents(
            [Document("a", names)], embedder=hashed_words, extractor=Names(), splitter=Splitter()
        ).ask("Name7"),
        "a hierarchy 300 deep": lambda: Index.from_documents(
            [Document(f"d{i}", "sea", parent=f"d{i - 1}" if i else None) for i in range(300)]
        ).ask("sea"),
        "a document over its limit": lambda: Index.from_documents(
            ["sea " * 30_000], max_document=100_000
        ),
    }
    figures, failures = {}, []
    for what, work in trials.items():
        seconds, megabytes, error = _in_child(work)
        figures[what] = (seconds, megabytes)
        if error.startswith("error"):
            failures.append(f"{what}: {error}")
    cases = 0
    if not short:
        cases, steep = run_cases([test_linear_time.test_patterns])
        failures += steep
    slowest = max(figures, key=lambda what: figures[what][0])
    largest = max(figures, key=lambda what: figures[what][1])
    return Finding(
        f"{', '.join(trials)}"
        + (f"; {cases} regular expressions at doubled lengths" if cases else ""),
        f"{len(trials)} bounded or refused in words; slowest {figures[slowest][0]:.1f} s ({slowest}), "
        f"most memory {figures[largest][1]:,.0f} MB ({largest})",
        first(failures),
    )


def _asked(text: str, splitter: Splitter) -> object:
    index = Index.from_documents(
        [Document("a", text)], embedder=hashed_words, splitter=splitter, max_document=10**9
    )
    return index.ask("Who sails to Corfu?")


WATCHED = """
import json, sys, time
events = []
sys.addaudithook(lambda event, args: events.append(event) if event.startswith(("socket.", "subprocess.", "urllib.", "http.", "os.system")) else None)
began = time.perf_counter()
import clew
took = time.perf_counter() - began
extras = ("tiktoken", "faiss", "pypdf", "sentence_transformers", "ot", "highspy", "torch", "langchain_core", "llama_index", "tree_sitter", "numba", "sklearn")
loaded = [name for name in extras if name in sys.modules]
index = clew.Index.from_documents(["Anna married Ben.", "Ben lives on Corfu."])
for recipe in clew.recipes.names():
    index.ask("Whom did Anna marry?", recipe=recipe)
print(json.dumps([took, loaded, events]))
"""


def network(short: bool) -> Finding:
    """Import, index and ask in a process of its own, watched by an audit hook."""
    times, failures, events = [], [], []
    for _ in range(1 if short else 5):
        done = subprocess.run(
            [sys.executable, "-c", WATCHED], capture_output=True, text=True, check=False
        )
        if done.returncode:
            failures.append(done.stderr[-400:])
            continue
        took, loaded, found = json.loads(done.stdout.splitlines()[-1])
        times.append(took)
        events += found
        failures += [f"import clew loads {name}" for name in loaded]
    failures += [f"it led to {event}" for event in {*events}]
    return Finding(
        f"import, an index and a question of each of {len(recipes.names())} recipes, in "
        f"{1 if short else 5} fresh processes, watched by an audit hook",
        f"sockets, programs and requests {len(events)}; extras loaded by import "
        f"{sum('loads' in one for one in failures)}; import {1000 * min(times, default=0.0):.0f} ms",
        first(failures),
        "known weaknesses of dependencies: they are asked of a service on the network, which is "
        "not asked here",
    )


class OutageError(ConnectionError):
    """What a server of the caller's raises when it is away."""


def outage(short: bool) -> Finding:
    """Let the services of the caller fail: the model, the embedder, the vector store."""
    logging.disable(logging.WARNING)
    rounds, failures = 5 if short else 60, []
    retried = raised = 0
    for number in range(rounds):
        calls = _model_that_fails(number % 3, failures)
        retried += calls
        raised += _store_that_fails(number, failures)
    return Finding(
        f"{rounds} models that fail once or twice before they answer; {rounds} embedders and vector "
        "stores of LangChain's that are away in the middle, and are back for the next question",
        f"{retried} calls made again, answers doubled 0; the caller's own error {raised}/{2 * rounds}; "
        f"next answers right {2 * rounds - len(failures)}/{2 * rounds}",
        first(failures),
        "servers: clew has no connection of its own to a remote store, so none can be killed or slow",
    )


def _model_that_fails(times: int, failures: list[str]) -> int:
    calls = []

    def answer(prompt: str) -> str:
        calls.append(prompt)
        if len(calls) <= times:
            raise OutageError("away")
        return "85"

    import clew.model.model as module

    module.sleep = lambda seconds: None
    said = Model.of(answer)("How good is it?")
    if str(said) != "85" or len(calls) != times + 1:
        failures.append(f"a model that failed {times} times was asked {len(calls)} times")
    return len(calls) - 1


def _store_that_fails(number: int, failures: list[str]) -> int:
    """Return how often the caller's own error came through: of an embedder, and of a store."""
    from langchain_clew import ClewRetriever
    from langchain_core.documents import Document as Page
    from langchain_core.vectorstores import InMemoryVectorStore

    away = [False]

    class Embeddings:
        def embed_documents(self, texts):
            return hashed_words(texts).tolist()

        def embed_query(self, text):
            if away[0]:
                raise OutageError("away")
            return hashed_words([text])[0].tolist()

    store, raised = InMemoryVectorStore(Embeddings()), 0
    pages = [Page(f"The sea {i} of Corfu.", id=f"p{i}") for i in range(6)]
    store.add_documents(pages)
    for retriever in (
        ClewRetriever.from_documents(pages, Embeddings()),
        ClewRetriever.from_vectorstore(store),
    ):
        expected = [page.id for page in retriever.invoke("Which sea?")]
        away[0] = True
        try:
            retriever.invoke("Which sea?")
            failures.append("a service that is away was not missed")
        except OutageError:
            raised += 1
        away[0] = False
        if [page.id for page in retriever.invoke("Which sea?")] != expected:
            failures.append("the answer after an outage is another")
    return raised


ROWS = (
    Row(10, "deadlines of exact solvers", deadlines, 30),
    Row(18, "exhaustion of memory and time", exhaustion, 90),
    Row(19, "dependencies and the network", network, 20),
    Row(20, "outage of stores and models", outage, 10),
)
