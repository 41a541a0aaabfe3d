"""Nearest rows by cosine: clew's approximate index beside exact search, hnswlib, usearch and faiss; recall next to time.

    pip install faiss-cpu usearch hnswlib      # hnswlib is built from source
    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python -m tests.benchmarks.nearest --sizes 10000 100000 --width 384

All hold the same unit rows, drawn around centres with noise of rank 64 (easier than most texts: recall here promises none elsewhere), and
are asked the same questions one by one by one thread; medians of processor time. The recall is of the ten nearest by exact search.
For every question the order is drawn anew: whoever comes after exact search, which reads all, finds the caches cold. An index of a million
rows takes one thread half an hour or more: --threads builds with more, and how long each took is said as it is done.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from functools import partial
from time import perf_counter, process_time
from typing import Any

import numpy as np

from clew.algorithms.nearest.hnsw import HNSW, HNSWIndex
from tests.benchmarks.rivals import build_installed, require

K, M, EF_CONSTRUCTION = 10, 16, 200


def rows_like_texts(n: int, width: int, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((max(n // 100, 10), width), np.float32)
    noise = rng.standard_normal((64, width), np.float32) / 8
    rows = centres[rng.integers(len(centres), size=n)]
    for first in range(0, n, 10_000):
        part = rows[first : first + 10_000]
        part += rng.standard_normal((len(part), 64), np.float32) @ noise
        part /= np.linalg.norm(part, axis=1, keepdims=True)
    return rows


def exact(rows: Any, threads: int) -> Callable[[Any, int], Any]:
    def search(question: Any, ef: int) -> Any:
        cosines = rows @ question
        near = np.argpartition(cosines, -K)[-K:]
        return near[np.argsort(-cosines[near])]

    return search


def clew(rows: Any, threads: int) -> Callable[[Any, int], Any]:
    index = HNSWIndex(HNSW(M, EF_CONSTRUCTION, threads=threads), rows.shape[1])
    index.add(rows, np.arange(len(rows)))
    return lambda question, ef: index.search(question, K, ef)[0]


def hnswlib(rows: Any, threads: int) -> Callable[[Any, int], Any]:
    index = require("hnswlib").Index("ip", rows.shape[1])
    index.init_index(len(rows), M=M, ef_construction=EF_CONSTRUCTION, random_seed=0)
    index.add_items(rows, num_threads=threads)

    def search(question: Any, ef: int) -> Any:
        index.set_ef(ef)
        return index.knn_query(question, K, num_threads=1)[0][0]

    return search


def usearch(rows: Any, threads: int) -> Callable[[Any, int], Any]:
    how = {"connectivity": M, "expansion_add": EF_CONSTRUCTION}
    index = require("usearch.index").Index(ndim=rows.shape[1], metric="ip", dtype="f32", **how)
    index.add(np.arange(len(rows)), rows, threads=threads)

    def search(question: Any, ef: int) -> Any:
        index.expansion_search = ef
        return index.search(question, K, threads=1).keys

    return search


def faiss(rows: Any, threads: int) -> Callable[[Any, int], Any]:
    library = require("faiss")
    library.omp_set_num_threads(threads)
    index = library.IndexHNSWFlat(rows.shape[1], M, library.METRIC_INNER_PRODUCT)
    index.hnsw.efConstruction = EF_CONSTRUCTION
    index.add(rows)
    library.omp_set_num_threads(1)

    def search(question: Any, ef: int) -> Any:
        index.hnsw.efSearch = ef
        return index.search(question[None], K)[1][0]

    return search


MAKERS = {"exact": exact, "clew": clew, "faiss": faiss, "hnswlib": hnswlib, "usearch": usearch}


def measure(n: int, width: int, efs: list[int], asked: int, names: list[str], threads: int) -> None:
    every = rows_like_texts(n + asked, width)
    rows, questions = np.ascontiguousarray(every[:n]), every[n:]
    truth = [set(exact(rows, 1)(question, 0).tolist()) for question in questions]
    built: dict[str, float] = {}

    def made(name: str) -> Callable[[Any, int], Any]:
        began = perf_counter()
        search = MAKERS[name](rows, threads)
        built[name] = perf_counter() - began
        sys.stderr.write(f"{name}: {n} rows built in {built[name]:.1f} s\n")
        return search

    found = build_installed({name: partial(made, name) for name in names})
    names = list(found)
    for ef in efs:
        times: dict[str, list[float]] = {name: [] for name in names}
        hits, rng = dict.fromkeys(names, 0), np.random.default_rng(ef)
        for question, right in zip(questions, truth, strict=True):
            for name in rng.permutation(names).tolist():
                began = process_time()
                near = found[name](question, ef)
                times[name].append(process_time() - began)
                hits[name] += len(right & set(np.asarray(near).tolist()))
        for name in names:
            median, peer = float(np.median(times[name])), float(np.median(times["exact"]))
            share = hits[name] / (K * asked)
            print(
                f"| {n} | {width} | {name} | {ef} | {built[name]:.1f} | {median * 1e3:.3f} | {peer / median:.1f} | {share:.3f} |",
                flush=True,
            )


SMOKE = "--sizes 300 --width 16 --ef 32 --questions 5"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000])
    parser.add_argument("--width", type=int, default=384)
    parser.add_argument("--ef", type=int, nargs="+", default=[32, 64, 128])
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument(
        "--without", nargs="*", default=[], choices=[name for name in MAKERS if name != "exact"]
    )
    parser.add_argument(
        "--threads", type=int, default=1, help="that build the index; questions are asked by one"
    )
    chosen = parser.parse_args()
    print(
        "| rows | width | | ef | build s | ms | times exact's speed | recall@10 |\n|--:|--:|:--|--:|--:|--:|--:|--:|"
    )
    for n in chosen.sizes:
        measure(
            n,
            chosen.width,
            chosen.ef,
            chosen.questions,
            [name for name in MAKERS if name not in chosen.without],
            chosen.threads,
        )


if __name__ == "__main__":
    main()
