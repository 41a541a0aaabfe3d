"""One whole question by the recipe `journey`, stage by stage, beside a ranking alone as HippoRAG does it.

    pip install igraph        # GPL: to compare with, no dependency; and clew[ann] for the approximate index
    OMP_NUM_THREADS=1 NUMBA_NUM_THREADS=1 python -m tests.benchmarks.journey --sizes 100000 --degree 17 --questions 15

The graph (see graphs.py) has passages of 100 tokens with vectors of 384 dimensions that are like their neighbours'. The ranking alone is a
product of all vectors with the question (BLAS), personalised PageRank by igraph's PRPACK from every passage by its similarity, and a full
sort: it has neither neighbourhood, bridges, budget nor diversity. Both answer the same questions in turn, in one process; medians of
processor time. The journey's own time is that of `answer(question, budget)`: from the vector to the rendered context with the way to every
item. The peak is of the whole process, and what a question adds to it is measured by tracemalloc in a run of its own.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import tracemalloc
from dataclasses import replace
from time import perf_counter, process_time
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np

from clew import Pipeline, pipeline, recipes, seed
from clew.graph import Edges, Graph
from clew.types import Query
from tests.benchmarks.graphs import knowledge_graph
from tests.benchmarks.rivals import build_installed, require

WIDTH, TOKENS = 384, 100


def graph_of(n: int, degree: float) -> Graph:
    """A graph of passages whose vectors are like their neighbours'."""
    adjacency = knowledge_graph(n, degree=degree)
    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((n, WIDTH), np.float32)
    strengths = np.maximum(np.asarray(adjacency.sum(axis=1)).reshape(-1), 1e-9).astype(np.float32)
    vectors += 2 * (adjacency @ vectors) / strengths[:, None]
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    upper = adjacency.indices > np.repeat(np.arange(n), np.diff(adjacency.indptr))
    tails = np.repeat(np.arange(n), np.diff(adjacency.indptr))[upper]
    edges = Edges.of("related", tails, adjacency.indices[upper], adjacency.data[upper])
    return Graph.of(
        [f"passage {i}" for i in range(n)],
        vectors=vectors,
        tokens=np.full(n, TOKENS),
        edges=edges,
        count=_tokens,
    )


def _tokens(text: str) -> int:
    return TOKENS * text.count("passage")


class Ranking:
    """Similarity to all, PageRank over all, all sorted."""

    def __init__(self, graph: Graph) -> None:
        igraph, links = require("igraph"), graph.links()
        upper = links.sources < links.targets
        self.network = igraph.Graph(
            n=len(graph), edges=np.stack([links.sources, links.targets], axis=1)[upper]
        )
        self.weights, self.vectors = links.weights[upper].astype(float).tolist(), graph.vectors

    def __call__(self, question: Any) -> Any:
        like = np.maximum(self.vectors @ question, 0)
        ranks = self.network.personalized_pagerank(
            damping=0.5, reset=like.astype(float).tolist(), weights=self.weights, directed=False
        )
        return np.argsort(-np.asarray(ranks), kind="stable")


def asked(graph: Graph, count: int) -> list[Any]:
    """Questions that are about two passages each."""
    rng = np.random.default_rng(1)
    found = (
        graph.vectors[rng.integers(0, len(graph), count)]
        + graph.vectors[rng.integers(0, len(graph), count)]
    )
    found += 0.5 * rng.standard_normal(found.shape, np.float32) / np.sqrt(WIDTH)
    return list((found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32))


def methods(approximate: bool, threads: int) -> dict[str, Pipeline]:
    journey = recipes.get("journey")
    found = {"journey": journey}
    if approximate:
        from clew.algorithms.nearest.hnsw import HNSW

        assert isinstance(journey.seed, seed.TopSeeds)
        found["journey, approximate index"] = replace(
            journey, seed=replace(journey.seed, seed=seed.Dense(index=HNSW(threads=threads)))
        )
    return found


SMOKE = "--sizes 400 --questions 2 --budget 500"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=[100_000], help="nodes")
    parser.add_argument(
        "--degree",
        type=float,
        default=17.0,
        help="links per node before triads are closed; 17 makes about ten edges a node",
    )
    parser.add_argument("--questions", type=int, default=15)
    parser.add_argument("--budget", type=int, default=2000)
    parser.add_argument(
        "--threads",
        type=int,
        default=1,
        help="that build the approximate index; questions are answered by one",
    )
    parser.add_argument("--no-index", action="store_true", help="without the approximate index")
    parser.add_argument(
        "--no-ranking",
        action="store_true",
        help="without the ranking: igraph wants much memory at 1,000,000 nodes",
    )
    given = parser.parse_args()
    with patch.object(
        pipeline, "time", SimpleNamespace(perf_counter=process_time)
    ):  # the trace's clock too is the processor's
        for n in given.sizes:
            measured(n, given)


def measured(n: int, given: argparse.Namespace) -> None:
    graph = graph_of(n, given.degree)
    questions = asked(graph, given.questions)
    answers: dict[str, Any] = {}
    times: dict[str, list[float]] = {}
    steps: dict[tuple[str, int, str], list[float]] = {}
    read: dict[str, list[set[str]]] = {}
    for name, method in methods(not given.no_index, given.threads).items():
        begun = perf_counter()
        answers[name] = method.on(graph)
        answers[name](Query("?", questions[0]), given.budget)
        print(f"{name}: bound and warm after {perf_counter() - begun:.1f} s", flush=True)
    ranking = (
        None
        if given.no_ranking
        else build_installed({"ranking alone": lambda: Ranking(graph)}).get("ranking alone")
    )
    for question in questions:
        if ranking is not None:
            begun = process_time()
            ranking(question)
            times.setdefault("ranking alone", []).append(1000 * (process_time() - begun))
        for name, answer in answers.items():
            begun = process_time()
            context = answer(Query("?", question), given.budget)
            whole = 1000 * (process_time() - begun)
            times.setdefault(name, []).append(whole)
            read.setdefault(name, []).append({item.id for item in context.items})
            told = [(step.stage.partition("(")[0], 1000 * step.seconds) for step in context.trace]
            for place, (stage, spent) in enumerate(
                [*told, ("the rest: render, ways, ties", whole - sum(spent for _, spent in told))]
            ):
                steps.setdefault((name, place, stage), []).append(spent)
    print(
        f"\n{n:,} nodes, {len(graph.edges):,} edges\n\n| | ms | times faster |\n| --- | ---: | ---: |"
    )
    base = statistics.median(times["ranking alone"]) if ranking is not None else float("nan")
    for name, spent in times.items():
        print(
            f"| {name} | {statistics.median(spent):.1f} | {base / statistics.median(spent):.1f} |"
        )
    print("\n| | stage | ms |\n| --- | --- | ---: |")
    for (name, _, stage), spent in steps.items():
        print(f"| {name} | {stage} | {statistics.median(spent):.2f} |")
    for name, found in read.items():
        shared = [
            len(own & other) / max(len(own | other), 1)
            for own, other in zip(read["journey"], found, strict=True)
        ]
        if name != "journey":
            print(
                f"\n{name}: {shared.count(1.0)} of {len(shared)} contexts hold the same items, {statistics.mean(shared):.3f} in common"
            )
    tracemalloc.start()
    answers["journey"](Query("?", questions[0]), given.budget)
    added = tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    notes = {
        key: value
        for step in context.trace
        for key, value in step.notes.items()
        if key in ("nodes", "links", "bridges", "length")
    }
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"\nA question adds at most {added:.1f} MB; peak of the process {peak:.2f} GB.")
    print(f"The last context: {len(context)} items, {context.tokens} tokens; {notes}", flush=True)


if __name__ == "__main__":
    main()
