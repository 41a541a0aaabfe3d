"""Choice by marginal relevance beside LangChain's, a product with all candidates at every step, and a plain loop.

    pip install langchain-core
    OMP_NUM_THREADS=1 NUMBA_NUM_THREADS=1 python -m tests.benchmarks.mmr

Vectors of 384 dimensions in 50 bundles; the relevance of each is its cosine with a question. All choose from the same candidates in turn, in
one process; medians of processor time. Whether they choose the same in the same order is compared with LangChain's answer, and where that
is left out for the time it would take with that of the products.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np

from clew.algorithms.mmr import select_mmr
from tests.benchmarks.rivals import build_installed, require

CASES = (
    (100, 15, 0.5),
    (1_000, 20, 0.5),
    (1_000, 20, 0.7),
    (10_000, 100, 0.5),
    (10_000, 100, 0.7),
    (100_000, 20, 0.5),
    (100_000, 20, 0.7),
)
WIDTH, BUNDLES = 384, 50


def case(n: int) -> tuple[Any, Any]:
    """Vectors and a question."""
    rng = np.random.default_rng(n)
    centres = rng.standard_normal((BUNDLES, WIDTH))
    vectors = centres[rng.integers(0, BUNDLES, n)] + 0.8 * rng.standard_normal((n, WIDTH))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    question = centres[0] + centres[1] + rng.standard_normal(WIDTH)
    return vectors.astype(np.float32), (question / np.linalg.norm(question)).astype(np.float32)


def by_products(vectors: Any, question: Any, share: float, k: int) -> list[int]:
    """One product of all candidates with the last choice at every step."""
    relevance = vectors @ question
    chosen = [int(np.argmax(relevance))]
    like = vectors @ vectors[chosen[0]]
    free = np.ones(len(relevance), np.bool_)
    free[chosen[0]] = False
    while len(chosen) < k:
        chosen.append(
            int(np.argmax(np.where(free, share * relevance - (1 - share) * like, -np.inf)))
        )
        free[chosen[-1]] = False
        like = np.maximum(like, vectors @ vectors[chosen[-1]])
    return chosen


def by_loop(vectors: Any, question: Any, share: float, k: int) -> list[int]:
    """Every candidate with every choice, again and again."""
    chosen: list[int] = []
    relevance = (vectors @ question).tolist()
    while len(chosen) < k:
        best, place = -np.inf, -1
        for i in range(len(relevance)):
            if i in chosen:
                continue
            like = max((float(vectors[i] @ vectors[j]) for j in chosen), default=None)
            value = relevance[i] if like is None else share * relevance[i] - (1 - share) * like
            if value > best:
                best, place = value, i
        chosen.append(place)
    return chosen


def by_langchain() -> Callable[..., list[int]]:
    choose = require("langchain_core.vectorstores.utils").maximal_marginal_relevance
    return lambda vectors, question, share, k: choose(question, vectors, share, k)


SMOKE = "--repeats 1 --most 100"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--most", type=int, default=100_000, help="candidates of the largest case")
    parser.add_argument("--most-langchain", type=int, default=10_000, help="candidates")
    parser.add_argument("--most-loop", type=int, default=1_000, help="candidates")
    given = parser.parse_args()
    makers: dict[str, Callable[[], Callable[..., list[int]]]] = {
        "clew": lambda: lambda v, q, share, k: select_mmr(v, v @ q, share, k).chosen.tolist(),
        "products": lambda: by_products,
        "LangChain": by_langchain,
        "plain loop": lambda: by_loop,
    }
    rivals = build_installed(makers)
    select_mmr(case(10)[0], np.ones(10), 0.5, 3)  # compiled before it is timed
    print(
        "| candidates | choose | share | | ms | times clew | the same |\n| ---: | ---: | ---: | --- | ---: | ---: | --- |"
    )
    for n, k, share in (case for case in CASES if case[0] <= given.most):
        vectors, question = case(n)
        most = {"LangChain": given.most_langchain, "plain loop": given.most_loop}
        chosen = {name: rival for name, rival in rivals.items() if n <= most.get(name, n)}
        times: dict[str, list[float]] = {name: [] for name in chosen}
        found = {}
        for repeat in range(given.repeats):
            for name, rival in chosen.items():
                if repeat and name == "plain loop":
                    continue
                begun = process_time()
                found[name] = rival(vectors, question, share, k)
                times[name].append(1000 * (process_time() - begun))
        base, truth = statistics.median(times["clew"]), found.get("LangChain", found["products"])
        for name, spent in times.items():
            same = "yes" if found[name] == truth else f"{len(set(found[name]) & set(truth))} of {k}"
            median = statistics.median(spent)
            print(
                f"| {n:,} | {k} | {share} | {name} | {median:.2f} | {median / base:.1f} | {same} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
