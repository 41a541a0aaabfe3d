"""Is a change of a small graph small?  Tests per second by bounds and warm starts, beside POT's plain distance.

    python -m tests.benchmarks.transport --sizes 16 32 64 --tests 200

The tests are those that descents through the standard library's documentation really made (see kurisu.py), with surroundings of the given
size; then the same pairs with thresholds that make all of them plainly accepted, plainly rejected, or left to the solver. POT is given the
graph with the fused node and its added masses, as `ot.gromov.fused_gromov_wasserstein2(...) <= threshold`. Every pair is asked of both,
one after the other; processor time. `agree`: the share of equal decisions.
"""

from __future__ import annotations

import argparse
import os
import warnings
from dataclasses import dataclass, replace
from time import process_time
from typing import Any

import numpy as np

os.environ.setdefault("POT_BACKEND_DISABLE_PYTORCH", "1")

import clew
from clew import recipes
from clew.algorithms.transport import fused_gromov_wasserstein as transport
from clew.algorithms.transport import neighbourhood
from tests.benchmarks.kurisu import MODULES, corpus
from tests.benchmarks.rivals import build_installed, require


@dataclass(frozen=True, eq=False)
class Test:
    """One question of a descent: what `decide` got, and the same as two graphs with masses."""

    given: tuple[Any, Any, Any]
    most: float
    reduced: tuple[Any, ...]


def met(size: int, most: int, modules: list[str], questions: int) -> list[Test]:
    """The tests of descents with surroundings of so many nodes, in their order."""
    documents, asked = corpus(modules, questions, 0)
    index = clew.Index.from_documents(documents, splitter=clew.Splitter(120, sentences=True))
    method = recipes.get("kurisu")
    method = replace(method, selects=(replace(method.selects[0], n_loc=size),))
    found: list[Test] = []
    inner = neighbourhood.decide

    def record(content: Any, one: Any, other: Any, most: float, content_weight: float = 0.5) -> Any:
        if len(content) == size:
            found.append(Test((content, one, other), most, reduced(content, one, other)))
        return inner(content, one, other, most, content_weight)

    neighbourhood.decide = record
    for question, _, _ in asked:
        if len(found) >= most:
            break
        index.ask(question, recipe=method, budget=500)
    neighbourhood.decide = inner
    return found[:most]


def reduced(content: Any, one: Any, other: Any) -> tuple[Any, ...]:
    """One node for all slots of the other graph that are at no distance from each other."""
    first = (other <= 1e-12).argmax(axis=1)
    kept, slots = np.unique(first, return_inverse=True)
    masses = np.bincount(slots) / len(first)
    return (
        content[:, kept].copy(),
        one,
        other[np.ix_(kept, kept)].copy(),
        np.full(len(one), 1 / len(one)),
        masses,
    )


def plain(ot: Any, test: Test, most: float) -> bool:
    content, one, other, mass, masses = test.reduced
    return bool(
        ot.gromov.fused_gromov_wasserstein2(
            content, one, other, mass, masses, "square_loss", alpha=0.5
        )
        <= most
    )


def thresholds(tests: list[Test], mixture: str) -> list[float]:
    """What each test is asked against: the descent's own threshold, or one that makes the answer plain, or far from it."""
    found = []
    for test in tests:
        bound = transport.identity_bound(*test.given)
        costs = transport._third_lower_bound_costs(*test.given, 0.5)
        least = costs[np.arange(len(costs)), transport._assignment(costs)].mean()
        found.append(
            {
                "real": test.most,
                "accepted": 1.01 * bound,
                "rejected": 0.5 * least,
                "solver": (least + bound) / 2,
            }[mixture]
        )
    return found


SMOKE = "--sizes 16 --tests 2 --modules 3 --questions 5"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--sizes", type=int, nargs="+", default=[16, 32, 64], help="nodes of the surroundings"
    )
    parser.add_argument("--tests", type=int, default=200, help="tests of each size")
    parser.add_argument("--modules", type=int, default=40, help="modules of the standard library")
    parser.add_argument(
        "--questions", type=int, default=200, help="that descents are made for, at most"
    )
    args = parser.parse_args()
    ot = build_installed({"POT": lambda: require("ot")}).get("POT")
    warnings.simplefilter("ignore")
    print("nodes mixture   tests  accepted  by bound/lower/solver   ours/s   POT/s   ratio  agree")
    for size in args.sizes:
        tests = met(size, args.tests, list(MODULES[: args.modules]), args.questions)
        for mixture in ("real", "accepted", "rejected", "solver"):
            by = dict.fromkeys(("bound", "lower bound", "solver"), 0)
            ours = theirs = 0.0
            agree = yes = 0
            for test, most in zip(tests, thresholds(tests, mixture), strict=True):
                begun = process_time()
                verdict = transport.decide(*test.given, most)
                between = process_time()
                other = plain(ot, test, most) if ot else None
                theirs += process_time() - between
                ours += between - begun
                by[verdict.by] += 1
                yes += verdict.accepted
                agree += verdict.accepted == other
            n = max(1, len(tests))
            decided = "/".join(map(str, by.values()))
            beside = (
                f" {n / theirs:7.0f} {theirs / ours:6.1f}x {agree / n:6.3f}" if ot and tests else ""
            )
            per_second = n / ours if tests else float("nan")
            print(
                f"{size:5} {mixture:9} {len(tests):5} {yes / n:9.2f}  {decided:>20} {per_second:8.0f}{beside}",
                flush=True,
            )


if __name__ == "__main__":
    main()
