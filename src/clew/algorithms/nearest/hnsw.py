"""The nearest rows by cosine, nearly always, in logarithmic time: a hierarchical navigable small world, by faiss (extra `ann`).

Every row is a node of a layered proximity graph with at most `m` links a layer (2 m on the lowest); a search walks greedily down the
layers and explores the lowest with a list of `ef` candidates. Recall grows with all three, and is measured by `recall`, never assumed.

Malkov and Yashunin, IEEE TPAMI 42 (2020), arXiv 1603.09320. Links are made by one thread in the order of the rows, with a fixed
sequence of levels: the same rows make the same index. Several threads make one sooner, and not the same one twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.algorithms.ranking import levels, reaches
from clew.graph import Floats, Graph, Rows, Vectors

HINT = "approximate search needs faiss: pip install 'clew[ann]'"


@dataclass(frozen=True)
class HNSW:
    """The part that makes a `Neighbours` over the vectors of a graph.

    Attributes:
        m: links of a node a layer. ef_construction: candidates while links are chosen. ef_search: candidates while a question is asked.
        kinds: the kinds of node to find; None for all. threads: how many make the links; with more than one, nearly the same is found.
    """

    m: int = 16
    ef_construction: int = 200
    ef_search: int = 64
    kinds: tuple[str, ...] | None = None
    threads: int = 1

    def __post_init__(self) -> None:
        for name, least in (("m", 2), ("ef_construction", 1), ("ef_search", 1), ("threads", 1)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise ValueError(f"{name} is a whole number of at least {least}; got {value!r}")

    def compute(self, graph: Graph) -> HNSWIndex:
        rows = np.arange(len(graph)) if self.kinds is None else graph.rows(*self.kinds)
        made = HNSWIndex(self, graph.vectors.shape[1])
        made.add(graph.vectors[rows], rows)
        return made


class HNSWIndex:
    """An index of unit rows that can be searched, added to and deleted from; rows keep the numbers they were added by.

    The one that a graph keeps as its part is never changed: a graph does not change either. What is deleted is passed over, and its
    place in memory is freed when `compacted` makes the index anew.
    """

    def __init__(self, how: HNSW, width: int) -> None:
        self.how = how
        self.rows: NDArray[np.int64] = np.zeros(0, np.int64)
        self.deleted: NDArray[np.bool_] = np.zeros(0, np.bool_)
        self._left = 0  # how many there are that are not deleted
        self._bits: NDArray[np.uint8] | None = None  # which these are, once any is deleted
        self._index = _faiss().IndexHNSWFlat(width, how.m, _faiss().METRIC_INNER_PRODUCT)
        self._index.hnsw.efConstruction = how.ef_construction

    def __len__(self) -> int:
        return self._left

    def add(self, vectors: Vectors, rows: Any) -> None:
        """Add unit vectors [k, d] under these numbers; those of zeros have no neighbours and are left out.

        Raises:
            ValueError: a number that is there already, or vectors of another width.
        """
        vectors, rows = np.ascontiguousarray(vectors, np.float32), np.asarray(rows, np.int64)
        if vectors.shape != (len(rows), self._index.d):
            raise ValueError(
                f"the vectors are of shape {vectors.shape}; wanted {(len(rows), self._index.d)}, one for each of the rows"
            )
        there = np.concatenate([self.rows[~self.deleted], rows])
        if len(np.unique(there)) < len(there):
            raise ValueError(
                "a row comes twice, or is in the index already: delete it before it is added again"
            )
        some = vectors.any(axis=1)
        with _threads(self.how.threads):
            self._index.add(vectors[some])
        self.rows = np.concatenate([self.rows, rows[some]])
        self._are_deleted(np.concatenate([self.deleted, np.zeros(int(some.sum()), np.bool_)]))

    def delete(self, rows: Any) -> None:
        """Delete rows by their numbers; those that are not there raise ValueError, and nothing is deleted."""
        gone = np.isin(self.rows, np.asarray(rows, np.int64)) & ~self.deleted
        if gone.sum() < len(np.unique(rows)):
            raise ValueError("some of the rows to delete are not in the index")
        self._are_deleted(self.deleted | gone)

    def _are_deleted(self, deleted: NDArray[np.bool_]) -> None:
        self.deleted, self._left = deleted, int((~deleted).sum())
        self._bits = np.packbits(~deleted, bitorder="little") if self._left < len(deleted) else None

    def compacted(self) -> HNSWIndex:
        """Return an index made anew of what is not deleted."""
        kept = np.flatnonzero(~self.deleted)
        made = HNSWIndex(self.how, self._index.d)
        made.add(self.vectors(kept), self.rows[kept])
        return made

    def vectors(self, places: Any = None) -> Vectors:
        """Return the vectors at these places of `rows`, all by default."""
        every: Vectors = self._index.reconstruct_n(0, self._index.ntotal)
        return every if places is None else every[places]

    def search(self, vector: Vectors, k: int, ef: int | None = None) -> tuple[Rows, Floats]:
        """Return the rows nearest to a unit vector, nearest first, and their cosines; at most k, and now and then not the very nearest.

        `ef` is the number of candidates for this search, never below k; by default that of the index.
        """
        k = min(k, self._left)
        if k < 1 or not vector.any():
            return np.zeros(0, np.int32), np.zeros(0)
        how = (
            _parameters(max(ef or self.how.ef_search, k))
            if self._bits is None
            else _among(self._bits, max(ef or self.how.ef_search, k))
        )
        cosines, places = self._index.search(
            np.ascontiguousarray(vector, np.float32)[None], k, params=how
        )
        near, found = cosines[0].astype(np.float64), places[0]
        if found[-1] < 0:  # fewer than were wanted could be reached
            near, found = near[found >= 0], found[found >= 0]
        rows = self.rows[found].astype(np.int32)
        if reaches(near[1:], near[:-1]).any():  # else they come in their order
            order = np.lexsort((rows, levels(near, 1.0)))
            rows, near = rows[order], near[order]
        return rows, np.minimum(near, 1.0)


def recall(
    index: HNSWIndex,
    k: int = 10,
    questions: Vectors | None = None,
    *,
    ef: int | None = None,
    sample: int = 200,
    seed: int = 0,
) -> float:
    """Return the share of the k nearest rows that a search finds, in [0, 1], measured against exact search.

    A row that is equal to the k-th counts as one of the nearest.

    Args:
        index: what is searched. questions: unit vectors [q, d]; by default `sample` of the index's own rows, drawn by `seed`.
        ef: candidates, as in `search`.
    """
    kept = np.flatnonzero(~index.deleted)
    vectors = index.vectors(kept)
    if questions is None:
        questions = vectors[np.random.default_rng(seed).permutation(len(vectors))[:sample]]
    k = min(k, len(vectors))
    if not k or not len(questions):
        return 1.0
    place = np.argsort(index.rows[kept])
    numbers = index.rows[kept][place]
    found = 0
    for question in questions:
        exact = vectors @ question
        bar = np.partition(exact, -k)[-k]
        near = index.search(question, k, ef)[0]
        found += int(reaches(exact[place[np.searchsorted(numbers, near)]], bar).sum())
    return found / (k * len(questions))


def tuned(
    index: HNSWIndex,
    wanted: float,
    k: int = 10,
    *,
    most: int = 4096,
    sample: int = 200,
    seed: int = 0,
) -> int:
    """Return the least ef, of k times a power of two up to `most`, whose recall@k on a sample is at least `wanted` (in (0, 1]).

    Raises:
        ValueError: none has it; then `m` and `ef_construction` are too small for these rows.
    """
    ef = k
    while ef <= most:
        if recall(index, k, ef=ef, sample=sample, seed=seed) >= wanted:
            return ef
        ef *= 2
    raise ValueError(
        f"no ef up to {most} has a recall@{k} of {wanted}: make the index with a greater m or ef_construction"
    )


def _faiss() -> Any:
    try:
        import faiss  # type: ignore[import-untyped,unused-ignore]  # it has no types, and need not be there
    except ImportError as error:
        raise ImportError(HINT) from error
    return faiss


@lru_cache(64)
def _parameters(ef: int) -> Any:
    return _faiss().SearchParametersHNSW(efSearch=ef)


def _among(bits: NDArray[np.uint8], ef: int) -> Any:
    faiss = _faiss()
    return faiss.SearchParametersHNSW(efSearch=ef, sel=faiss.IDSelectorBitmap(bits))


@contextmanager
def _threads(n: int) -> Iterator[None]:
    faiss = _faiss()
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(n)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)
