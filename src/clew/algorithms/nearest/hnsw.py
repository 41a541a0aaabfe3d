"""Approximately the nearest rows by cosine: an HNSW index by faiss (extra `ann`).

In a hierarchical navigable small world every row is a node of a layered proximity graph, with at
most m links per layer (2 m on the lowest). A search takes logarithmic time: it walks greedily down
the layers and explores the lowest with a list of `ef` candidates. Recall grows with all three;
`recall` measures it.

Malkov and Yashunin, IEEE TPAMI 42 (2020), arXiv 1603.09320. One thread makes the links in the order
of the rows, with a fixed sequence of levels: the same rows give the same index. Several threads are
faster, and do not give the same index twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from functools import lru_cache
from types import ModuleType

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clew.algorithms.ranking import dense_ranks, reaches
from clew.graph import Floats, Graph, Mask, Rows, Vectors, distinct

MAX_DELETED = 0.2  # of the rows of an index, before one is made anew of those that are left
HINT = "approximate search needs faiss: pip install 'clew[ann]'"


@dataclass(frozen=True)
class HNSW:
    """The part of a graph that is an `HNSWIndex` over the vectors of its nodes.

    Attributes:
        m: links of a node per layer.
        ef_construction: candidates while links are chosen.
        ef_search: candidates while a query is searched.
        kinds: the kinds of node to index; None for all.
        threads: threads that make the links; with more than one, results are nearly the same.

    Raises:
        ValueError: a number that is not whole, or too small.

    Example:
        >>> HNSW(m=8).ef_search
        64
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
        index = HNSWIndex(self, graph.vectors.shape[1])
        index.add(graph.vectors[rows], rows)
        return index

    def grow(self, graph: Graph, base: Graph, before: HNSWIndex) -> HNSWIndex:
        """Return the index before with the new nodes; it is not changed itself."""
        return self.carried(graph, before, np.arange(len(base)))

    def shrink(self, graph: Graph, base: Graph, stays: Mask, before: HNSWIndex) -> HNSWIndex:
        """Return the index before without the nodes that are gone; they share their links."""
        return self.carried(graph, before, np.where(stays, np.cumsum(stays) - 1, -1))

    def carried(self, graph: Graph, before: HNSWIndex, now: NDArray[np.integer]) -> HNSWIndex:
        """Return the index of a graph, from that of one before it; made anew where much is gone.

        The links to what came since are those of an index that is added to. They are not always
        those that `compute` makes, and both find nearly the same.

        Args:
            graph: the graph.
            before: the index of the one before.
            now: int [nodes of the one before], the row of each in `graph`, -1 for one that is gone.
        """
        left = before.renumbered(now)
        if len(left.rows) - len(left) > MAX_DELETED * len(left.rows):
            return self.compute(graph)
        is_new = np.ones(len(graph), np.bool_)
        is_new[now[now >= 0]] = False
        if self.kinds is not None:
            is_new &= graph.kinds.mask(*self.kinds)
        rows = np.flatnonzero(is_new)
        if len(rows):
            left = left.copied()
            left.add(graph.vectors[rows], rows)
        return left


class HNSWIndex:
    """An index of unit rows that can be searched, added to and deleted from.

    Rows have the numbers that they were added with, deleted ones the number -1. The index that is a
    part of a graph is never changed, as a graph does not change. Deleted rows are skipped;
    `compacted` frees their memory.

    Args:
        options: the parameters.
        width: dimensions of the vectors.
    """

    def __init__(self, options: HNSW, width: int) -> None:
        self.options = options
        self.rows: NDArray[np.int64] = np.zeros(0, np.int64)
        self.deleted: NDArray[np.bool_] = np.zeros(0, np.bool_)
        self._left = 0  # rows that are not deleted
        self._bits: NDArray[np.uint8] | None = None  # a bit for each of these, once any is deleted
        self._index = _faiss().IndexHNSWFlat(width, options.m, _faiss().METRIC_INNER_PRODUCT)
        self._index.hnsw.efConstruction = options.ef_construction

    def __len__(self) -> int:
        return self._left

    def add(self, vectors: Vectors, rows: ArrayLike) -> None:
        """Add rows; vectors of zeros have no neighbours and are left out.

        Args:
            vectors: float32 [k, d], unit vectors or zeros.
            rows: [k], their numbers.

        Raises:
            ValueError: a number that is in the index already, or vectors of another width.
        """
        vectors, numbers = np.ascontiguousarray(vectors, np.float32), np.asarray(rows, np.int64)
        if vectors.shape != (len(numbers), self._index.d):
            raise ValueError(
                f"the vectors are of shape {vectors.shape}; wanted {(len(numbers), self._index.d)},"
                " one for each of the rows"
            )
        indexed = np.concatenate([self.rows[~self.deleted], numbers])
        if len(distinct(indexed)) < len(indexed):
            raise ValueError(
                "a row comes twice, or is in the index already: delete it before it is added again"
            )
        nonzero = vectors.any(axis=1)
        with _threads(self.options.threads):
            self._index.add(vectors[nonzero])
        self.rows = np.concatenate([self.rows, numbers[nonzero]])
        self._set_deleted(np.concatenate([self.deleted, np.zeros(int(nonzero.sum()), np.bool_)]))

    def delete(self, rows: ArrayLike) -> None:
        """Delete rows by their numbers.

        Raises:
            ValueError: a number that is not in the index; then nothing is deleted.
        """
        chosen = np.isin(self.rows, np.asarray(rows, np.int64)) & ~self.deleted
        if chosen.sum() < len(distinct(np.asarray(rows, np.int64))):
            raise ValueError("some of the rows to delete are not in the index")
        self._set_deleted(self.deleted | chosen)

    def renumbered(self, numbers: ArrayLike) -> HNSWIndex:
        """Return an index of the same rows under other numbers; both share their links.

        Args:
            numbers: int, for every number of a row its new one, or -1 where it is deleted.
        """
        new = np.asarray(numbers, np.int64)
        index = copy(self)
        index.rows = np.where(self.deleted, -1, new[self.rows]) if len(self.rows) else self.rows
        index._set_deleted(index.rows < 0)
        return index

    def copied(self) -> HNSWIndex:
        """Return an index of the same rows that can be added to alone."""
        index = copy(self)
        index._index = _faiss().clone_index(self._index)
        return index

    def _set_deleted(self, deleted: NDArray[np.bool_]) -> None:
        self.rows = np.where(deleted, -1, self.rows)
        self.deleted, self._left = deleted, int((~deleted).sum())
        self._bits = np.packbits(~deleted, bitorder="little") if self._left < len(deleted) else None

    def compacted(self) -> HNSWIndex:
        """Return a new index of the rows that are not deleted."""
        places = np.flatnonzero(~self.deleted)
        index = HNSWIndex(self.options, self._index.d)
        index.add(self.vectors(places), self.rows[places])
        return index

    def vectors(self, places: NDArray[np.int64] | None = None) -> Vectors:
        """Return the vectors at these places of `rows`, all by default."""
        every: Vectors = self._index.reconstruct_n(0, self._index.ntotal)
        return every if places is None else every[places]

    def to_bytes(self) -> NDArray[np.uint8]:
        """Return the links of the index as bytes, without its vectors; see `from_bytes`."""
        faiss = _faiss()
        links: NDArray[np.uint8] = faiss.serialize_index(self._index, faiss.IO_FLAG_SKIP_STORAGE)
        return links

    @classmethod
    def from_bytes(
        cls, options: HNSW, links: NDArray[np.uint8], vectors: Vectors, rows: ArrayLike
    ) -> HNSWIndex:
        """Return the index whose links `to_bytes` returned.

        Args:
            options: the parameters that it was made with.
            links: the bytes.
            vectors: float32 [k, d], the vectors of its rows, in their order.
            rows: [k], the numbers of its rows; -1 for one that is deleted.

        Raises:
            ValueError: the bytes are those of another index, or of a version of faiss that this one
                cannot read.
        """
        faiss, numbers = _faiss(), np.asarray(rows, np.int64)
        index = cls(options, vectors.shape[1])
        try:
            restored = faiss.deserialize_index(np.array(links, np.uint8))
        except RuntimeError as error:
            raise ValueError(f"faiss {faiss.__version__} cannot read the index: {error}") from error
        if not isinstance(restored, faiss.IndexHNSWFlat) or (restored.ntotal, restored.d) != (
            len(numbers),
            vectors.shape[1],
        ):
            raise ValueError(f"it is not an index of {len(numbers)} rows of {vectors.shape[1]}")
        storage = faiss.IndexFlatIP(vectors.shape[1])
        storage.add(np.ascontiguousarray(vectors, np.float32))
        restored.storage, restored.own_fields = storage, True
        storage.this.disown()  # the index frees it
        index._index = restored
        index.rows = numbers
        index._set_deleted(numbers < 0)
        return index

    def search(self, vector: Vectors, k: int, ef: int | None = None) -> tuple[Rows, Floats]:
        """Return the rows nearest to a unit vector, nearest first, and their cosines.

        Now and then a nearer row is missed.

        Args:
            vector: float32 [d], a unit vector.
            k: rows, at most.
            ef: candidates, never fewer than k; None for those of the index.
        """
        k = min(k, self._left)
        if k < 1 or not vector.any():
            return np.zeros(0, np.int32), np.zeros(0)
        candidates = max(ef or self.options.ef_search, k)
        if self._bits is None:
            parameters = _parameters(candidates)
        else:
            parameters = _parameters_among(self._bits, candidates)
        cosines, places = self._index.search(
            np.ascontiguousarray(vector, np.float32)[None], k, params=parameters
        )
        scores, near = cosines[0].astype(np.float64), places[0]
        if near[-1] < 0:  # fewer than k could be reached
            scores, near = scores[near >= 0], near[near >= 0]
        rows = self.rows[near].astype(np.int32)
        if reaches(scores[1:], scores[:-1]).any():  # else there are no equal cosines to order
            order = np.lexsort((rows, dense_ranks(scores, 1.0)))
            rows, scores = rows[order], scores[order]
        return rows, np.minimum(scores, 1.0)


def recall(
    index: HNSWIndex,
    k: int = 10,
    queries: Vectors | None = None,
    *,
    ef: int | None = None,
    sample: int = 200,
    seed: int = 0,
) -> float:
    """Return the recall@k of an index, in [0, 1], measured against exact search.

    A row that is equal to the k-th counts as one of the nearest.

    Args:
        index: the index.
        k: nearest rows.
        queries: unit vectors [q, d]; None for `sample` of the index's own rows.
        ef: candidates, as in `HNSWIndex.search`.
        sample: number of rows that are drawn.
        seed: of the draw.
    """
    places = np.flatnonzero(~index.deleted)
    vectors = index.vectors(places)
    if queries is None:
        queries = vectors[np.random.default_rng(seed).permutation(len(vectors))[:sample]]
    k = min(k, len(vectors))
    if not k or not len(queries):
        return 1.0
    order = np.argsort(index.rows[places])
    numbers = index.rows[places][order]
    hits = 0
    for query in queries:
        exact = vectors @ query
        bar = float(np.partition(exact, -k)[-k])
        near = index.search(query, k, ef)[0]
        hits += int(reaches(exact[order[np.searchsorted(numbers, near)]], bar).sum())
    return hits / (k * len(queries))


def tune_ef(
    index: HNSWIndex,
    min_recall: float,
    k: int = 10,
    *,
    max_ef: int = 4096,
    sample: int = 200,
    seed: int = 0,
) -> int:
    """Return the least ef, of k times a power of two, whose recall@k on a sample is high enough.

    Args:
        index: the index.
        min_recall: in (0, 1].
        k: nearest rows.
        max_ef: greatest ef that is tried.
        sample: as in `recall`.
        seed: as in `recall`.

    Raises:
        ValueError: no ef has it; `m` and `ef_construction` are too small for these rows.
    """
    ef = k
    while ef <= max_ef:
        if recall(index, k, ef=ef, sample=sample, seed=seed) >= min_recall:
            return ef
        ef *= 2
    raise ValueError(
        f"no ef up to {max_ef} has a recall@{k} of {min_recall}:"
        " make the index with a greater m or ef_construction"
    )


def _faiss() -> ModuleType:
    try:
        import faiss  # type: ignore[import-untyped,unused-ignore]  # it has no types
    except ImportError as error:
        raise ImportError(HINT) from error
    module: ModuleType = faiss
    return module


@lru_cache(64)
def _parameters(ef: int) -> object:
    return _faiss().SearchParametersHNSW(efSearch=ef)


def _parameters_among(bits: NDArray[np.uint8], ef: int) -> object:
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
