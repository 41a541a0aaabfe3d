"""Vectors of the embedded default after a change of the corpus: what each word weighs now.

The weight of a word says how rare it is among all passages, so that one passage more changes every
vector. The vectors are bags of words (`clew.embedding.bags`): what a bag counts stays, and weights,
the mean and the lengths of the vectors follow. They are computed once for every change that
something compares vectors after, from the bags as they were built and those that came since. So
they depend on the passages alone, not on the changes that led there, and nothing of them is saved.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clew.algorithms.kernels.bag_lengths import dense_squares, sparse_squares
from clew.embedding.bag_making import bags_of_recent_texts
from clew.embedding.bag_segment import BagSegment, MadeBags
from clew.embedding.bag_table import BagTable
from clew.embedding.bags import MAX_COUNT, OF_PIECES, OF_TERMS, Bags
from clew.embedding.embedded_texts import rows_to_embed, texts_to_embed
from clew.embedding.embedder import Embedder
from clew.embedding.late_bags import LateBagSegment
from clew.embedding.mean_sample import places_of_keys
from clew.embedding.static import (
    MAX_SAMPLE,
    MAX_WORDS,
    MIN_BESIDE,
    PRIOR_TEXTS,
    SIGNATURE_WIDTH,
    StaticEmbedding,
    half_scales,
)
from clew.embedding.without_bags import TextsWithoutBags
from clew.embedding.word_vectors import DIMENSIONS, PIECES, piece_vectors
from clew.forking import renew_after_fork
from clew.graph import (
    EMPTY,
    AnyVectors,
    DenseSegment,
    Floats,
    Graph,
    Mask,
    VectorColumn,
    VectorSegment,
    freeze,
    seal,
    texts_at,
)
from clew.second_thread import both

MIN_CHANGE = 1e-3
"""The share by which the weight of a word has to change before vectors that have it get another
length. A word that some hundred passages have needs two more, and one word of many changes a length
by a hundredth of its own share."""

MAX_BELOW = 10
"""Of a weight that is so many times below the largest one, the share is that of a tenth of it: what
nearly all passages have adds nothing to a length."""

BLOCK = 512  # pieces whose vectors are widened at once: they stay near the processor

NODES, FACTS = "nodes", "facts"


class ReweightedColumn(VectorColumn):
    """Vectors with the weights as they are now, beside those with the weights as they were built.

    Args:
        built: the vectors as they were built.
        reweighting: what computes the weights.
        owner: whose vectors they are, `NODES` or `FACTS`.
    """

    def __init__(self, built: VectorColumn, reweighting: Reweighting, owner: str) -> None:
        self.built, self.reweighting, self.owner = built, reweighting, owner
        super().__init__(
            [
                LateBagSegment(_ReweightedBags(reweighting, owner, i), np.arange(one.shape[0]))
                for i, one in enumerate(built.segments)
            ]
        )

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return type(self), (self.built, self.reweighting, self.owner)

    @property
    def has_vector(self) -> Mask:
        return self.built.has_vector  # which does not depend on weights


class _Passages(NamedTuple):
    """The passages of a segment of nodes.

    Attributes:
        segment: the bags, weighted as they were built.
        rows: int64 [m], those that are passages.
        without_bags: those of them that have no bag.
    """

    segment: BagSegment
    rows: NDArray[np.int64]
    without_bags: TextsWithoutBags

    @property
    def keys(self) -> NDArray[np.uint64]:
        """The key of each passage, as the sample for the mean goes by: uint64 [m]."""
        keys = self.segment.keys[self.rows]
        keys[np.searchsorted(self.rows, self.without_bags.rows)] = self.without_bags.keys
        return keys


class Reweighting:
    """The weights of words by the passages of a graph, computed when something first asks for them.

    One thread computes them while others wait. What fails or is interrupted leaves nothing behind:
    who asks next computes them.

    Args:
        graph: the graph, whose vectors are weighted as they were built.
        built: the table of its bags.
    """

    def __init__(self, graph: Graph, built: BagTable) -> None:
        self._graph, self._built = graph, built
        self._made: tuple[Embedder, BagTable] | None = None
        self._term_counts = np.zeros(0, np.int64)
        self._counted_since: dict[tuple[str, int], BagSegment] = {}
        self._without_bags: dict[tuple[str, int], TextsWithoutBags] = {}
        self._segments: dict[str, tuple[BagSegment, ...]] = {}
        self.renew_locks()
        renew_after_fork(self)

    def __reduce__(self) -> tuple[type[Reweighting], tuple[Graph, BagTable]]:
        return type(self), (self._graph, self._built)

    def renew_locks(self) -> None:
        """Renew the lock: after a fork, what another thread was computing is computed again."""
        self.lock = threading.RLock()

    @property
    def width(self) -> int:
        """The number of dimensions of a vector."""
        return self._built.embedder.dimensions

    @property
    def embedder(self) -> Embedder:
        """What embeds questions."""
        return self._result()[0]

    def known(self, owner: str) -> tuple[BagSegment, ...] | None:
        """Return what `segments` does, or None where it is not there yet."""
        return self._segments.get(owner)

    def segments(self, owner: str) -> tuple[BagSegment, ...]:
        """Return the segments of the vectors of nodes or facts, with the weights as they are now.

        Whoever compares wants all of them. Threads that wait for them wait once: a lock for each of
        many segments would go from one to the other for every segment.
        """
        known = self._segments.get(owner)
        if known is None:
            with self.lock:
                known = self._segments.get(owner)
                if known is None:
                    vectors = self._graph.vectors if owner == NODES else self._graph.facts.vectors
                    numbers = range(len(VectorColumn.of(vectors).segments))
                    known = tuple([self._segment(owner, number) for number in numbers])
                    self._segments[owner] = known
        return known

    def _segment(self, owner: str, number: int) -> BagSegment:
        """Return one of `segments`."""
        segment = self._built_segment(owner, number)
        _, table = self._result()
        embedder, halves = table.embedder, _halves_of(segment, table)
        now = replace(segment, table=table)
        with_mean = np.column_stack(now.half_sums(embedder.mean))
        now = replace(now, scales=seal(embedder.scales_of_halves(halves, with_mean)))
        without_bags = self._texts_without_bags(owner, number, segment)
        if not len(without_bags.rows):
            return now
        others = now.others.copy()
        places = np.searchsorted(now.other_rows, without_bags.rows)
        others[places] = embedder.vectors_of(without_bags.counts)
        return replace(now, others=seal(others))

    def _result(self) -> tuple[Embedder, BagTable]:
        """Return what embeds questions, and the table of all bags, which knows all their terms."""
        made = self._made
        if made is None or len(made[1].terms) < len(self._built.terms):
            with self.lock:
                if self._made is None:
                    self._made = self._computed()
                embedder, table = self._made
                if len(table.terms) < len(self._built.terms):  # of names that are compared late
                    table = self._built.reweighted(table.embedder, self._term_counts)
                    self._made = embedder, table
                made = self._made
        return made

    def _built_segment(self, owner: str, number: int) -> BagSegment:
        """Return a segment with the weights as they were built; what came since becomes bags."""
        graph, key = self._graph, (owner, number)
        vectors = graph.vectors if owner == NODES else graph.facts.vectors
        segments = VectorColumn.of(vectors).segments
        known = _bags_of(segments[number]) or self._counted_since.get(key)
        if known is None:
            start = sum(one.shape[0] for one in segments[:number])
            rows = np.flatnonzero(segments[number].has_vector)
            texts = self._texts(owner, segments[number].shape[0], rows, start)
            known = bags_of_recent_texts(self._built, texts)
            self._counted_since[key] = known
        return known

    def _texts_without_bags(self, owner: str, number: int, segment: BagSegment) -> TextsWithoutBags:
        """Return the texts of a segment that have no bag, since they have a word too often.

        Args:
            owner: whose vectors they are.
            number: which segment of these.
            segment: what `_built_segment` returns for it.
        """
        key, graph = (owner, number), self._graph
        known = self._without_bags.get(key)
        if known is None:
            rows, texts = segment.other_rows, list[str]()
            if len(rows):
                vectors = graph.vectors if owner == NODES else graph.facts.vectors
                segments = VectorColumn.of(vectors).segments[:number]
                start = sum(one.shape[0] for one in segments)
                of_all = self._texts(owner, len(segment.scales), rows, start)
                texts = [of_all[row] for row in rows.tolist()]
            known = TextsWithoutBags.of(self._built, rows, texts)
            self._without_bags[key] = known
        return known

    def _texts(self, owner: str, n: int, rows: NDArray[np.int64], start: int) -> list[str]:
        """Return the texts of rows of a segment; an empty one for every other row.

        Args:
            owner: whose vectors they are.
            n: how many rows the segment has.
            rows: int64, some of them.
            start: the row of all at which the segment starts.
        """
        texts, graph = [""] * n, self._graph
        own = rows + start
        if owner == FACTS:
            found = list(texts_at(graph.facts.texts, own.tolist()))
        else:
            own = own[np.isin(own, rows_to_embed(graph))]  # `np.intersect1d` imports masked arrays
            found = texts_to_embed(graph, own.tolist(), EMPTY)
        for row, text in zip((own - start).tolist(), found, strict=True):
            texts[row] = text
        return texts

    def _computed(self) -> tuple[Embedder, BagTable]:
        is_passage, start, found = self._graph.kinds.mask("passage"), 0, list[_Passages]()
        for number, one in enumerate(VectorColumn.of(self._graph.vectors).segments):
            among = is_passage[start : start + one.shape[0]]
            own = np.flatnonzero(among)
            if len(own):
                segment = self._built_segment(NODES, number)
                without_bags = self._texts_without_bags(NODES, number, segment).among(among)
                found.append(_Passages(segment, own, without_bags))
            start += one.shape[0]
        pieces, terms = self._counted(found)
        ranked = np.argsort(-terms, kind="stable")[: min(MAX_WORDS, np.count_nonzero(terms))]
        weighted = replace(
            self._built.embedder,
            n_texts=int(np.count_nonzero(is_passage)),
            vocabulary=tuple(map(self._built.texts_of_terms.__getitem__, ranked.tolist())),
            word_counts=freeze(terms[ranked], np.int32),
            piece_counts=freeze(pieces, np.int32),
        )
        self._term_counts = terms
        table = self._built.reweighted(weighted, terms)
        weighted = replace(weighted, mean=freeze(_mean_of(found, table), weighted.mean.dtype.type))
        return Embedder.of(weighted), self._built.reweighted(weighted, terms)

    def _counted(self, found: Sequence[_Passages]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return how many passages have each piece, and each term of the table."""
        pieces, terms = np.zeros(PIECES, np.int64), np.zeros(len(self._built.terms), np.int64)
        for segment, rows, (_, counts, numbers) in found:
            of_pieces, _ = segment.pieces.take(rows).entries
            of_terms, _ = segment.terms.take(rows).entries
            pieces += np.bincount(of_pieces, minlength=PIECES)
            terms += np.bincount(of_terms, minlength=len(terms))
            if len(counts):
                pieces += np.bincount(counts.pieces[counts.of_pieces.columns], minlength=PIECES)
                terms += np.bincount(numbers[counts.of_terms.columns], minlength=len(terms))
        return pieces, terms


class _ReweightedBags:
    """A segment of vectors, which is weighted when one is first asked for; see `LateBags`.

    Args:
        reweighting: what computes the weights.
        owner: whose vectors they are.
        number: which segment of these.
    """

    def __init__(self, reweighting: Reweighting, owner: str, number: int) -> None:
        self.width = reweighting.width
        self._reweighting, self._place = reweighting, (owner, number)

    @property
    def table(self) -> BagTable:
        """What they have in common with others."""
        return self.of(np.zeros(0, np.int64)).table

    @property
    def is_made(self) -> bool:
        """Whether they are there."""
        return self._reweighting.known(self._place[0]) is not None

    @property
    def is_counted(self) -> bool:
        """Whether the words of the texts are counted."""
        return self.is_made

    def of(self, rows: NDArray[np.int64]) -> BagSegment:
        """Return some of the rows."""
        owner, number = self._place
        made = self._reweighting.segments(owner)[number]
        return made if len(rows) == len(made.scales) else made.take(rows)


def reweighted(graph: Graph, fitted: object, *, known: bool = True) -> Graph:
    """Return a graph whose vectors follow the weights of its words; as it is where they cannot.

    They cannot where they are no bags, as those of a small graph, of other embedders, and of texts
    that are embedded in place of others.

    Args:
        graph: the graph, whose vectors are weighted as they were built.
        fitted: what they were built by.
        known: whether every vector is that of its node's own text.

    Example:
        >>> graph = Graph.of(["Anna", "Ben"])
        >>> reweighted(graph, StaticEmbedding.fit(["Anna"])) is graph
        True
    """
    table = _table_of(graph) if known and isinstance(fitted, StaticEmbedding) else None
    if table is None or table.embedder is not fitted:
        return graph
    nodes, facts = VectorColumn.of(graph.vectors), VectorColumn.of(graph.facts.vectors)
    reweighting = Reweighting(_with_vectors(graph, nodes, facts), table)
    return _with_parts_of(
        _with_vectors(
            graph,
            ReweightedColumn(nodes, reweighting, NODES),
            ReweightedColumn(facts, reweighting, FACTS),
        ),
        graph,
    )


def as_built(graph: Graph) -> Graph:
    """Return a graph whose vectors are weighted as they were built, as they are changed and saved.

    Example:
        >>> graph = Graph.of(["Anna", "Ben"])
        >>> as_built(graph) is graph
        True
    """
    nodes, facts = graph.vectors, graph.facts.vectors
    if not isinstance(nodes, ReweightedColumn) or not isinstance(facts, ReweightedColumn):
        return graph
    return _with_parts_of(_with_vectors(graph, nodes.built, facts.built), graph)


def embedder_now(graph: Graph) -> Embedder | None:
    """Return what embeds questions to a graph whose vectors follow; None where they do not.

    Example:
        >>> embedder_now(Graph.of(["Anna", "Ben"])) is None
        True
    """
    vectors = graph.vectors
    return vectors.reweighting.embedder if isinstance(vectors, ReweightedColumn) else None


def _with_vectors(graph: Graph, nodes: AnyVectors, facts: AnyVectors) -> Graph:
    return graph.unchecked(vectors=nodes, facts=replace(graph.facts, vectors=facts))


def _with_parts_of(graph: Graph, other: Graph) -> Graph:
    """Return a graph with the parts of one with other vectors, but for those that are of these."""
    for part, result in other.kept_parts():
        follows = hasattr(part, "grow") or hasattr(part, "shrink")
        if not getattr(part, "of_vectors", not follows):
            graph.set_part(part, result)
    return graph


def _table_of(graph: Graph) -> BagTable | None:
    """Return the table of all bags of a graph; None where there are none, or several."""
    if isinstance(graph.vectors, ReweightedColumn):
        return None
    found: BagTable | None = None
    for vectors in (graph.vectors, graph.facts.vectors):
        for one in VectorColumn.of(vectors).segments:
            if isinstance(one, DenseSegment):
                continue
            own = one.table if isinstance(one, BagSegment | LateBagSegment) else None
            if own is None or (found is not None and own is not found):
                return None
            found = own
    return found


def _bags_of(segment: VectorSegment) -> BagSegment | None:
    """Return a segment as bags; None where it is none."""
    if isinstance(segment, LateBagSegment):
        segment = segment.bags
    if isinstance(segment, MadeBags):
        segment = segment.bags()
    return segment if isinstance(segment, BagSegment) else None


def _halves_of(segment: BagSegment, table: BagTable) -> Floats:
    """Return what `StaticEmbedding.half_scales` does with the weights as they are now.

    Args:
        segment: rows, with the weights as they were built.
        table: the table with the weights as they are now.
    """
    scales = segment.scales.astype(np.float64)
    halves: Floats = scales[:, :2] / np.where(scales[:, 2:] != 0, scales[:, 2:], 1)
    stale = _with_changed_words(segment, table)
    if len(stale):
        halves[stale] = half_scales(_lengths_of(segment.take(stale), table))
    return halves


def _lengths_of(segment: BagSegment, table: BagTable) -> Floats:
    """Return the lengths of the halves of rows, before they are made unit rows: float64 [n, 2]."""
    n, half, roots = len(segment.scales), len(segment.scales) // 2, table.piece_roots
    signatures = table.signatures
    of_terms = signatures.starts, signatures.columns, signatures.values
    squares = np.zeros((n, 2))

    def measure(rows: slice) -> None:
        pieces, terms = segment.pieces.take(rows), segment.terms.take(rows)
        own = pieces.starts, pieces.ends, pieces.columns, pieces.counts
        squares[rows, 0] = dense_squares(*own, OF_PIECES, roots, piece_vectors())
        own = terms.starts, terms.ends, terms.columns, terms.counts
        squares[rows, 1] = sparse_squares(*own, OF_TERMS, table.weights, of_terms, SIGNATURE_WIDTH)

    if n < MIN_BESIDE:
        measure(slice(0, n))
    else:
        both(partial(measure, slice(0, half)), partial(measure, slice(half, n)))
    return np.sqrt(squares)


def _with_changed_words(segment: BagSegment, table: BagTable) -> NDArray[np.int64]:
    """Return the rows with a word whose weight is another than when they were built."""
    built, left = segment.table, np.flatnonzero(segment.scales[:, 2])
    terms = built.weights[: len(table.terms)], table.weights
    roots = [each.piece_roots for each in (built, table)]
    found = np.zeros(len(segment.scales), np.bool_)
    for bags, (before, now) in ((segment.terms, terms), (segment.pieces, roots)):
        enough = MIN_CHANGE * np.maximum(before, before.max(initial=0) / MAX_BELOW)
        changed = (np.abs(now - before) > enough) + 0.0
        found[left] = bags.take(left).sums(np.ones(MAX_COUNT + 1), changed) > 0
        left = left[~found[left]]  # of most rows, terms show it
    return np.flatnonzero(found)


def _mean_of(found: Sequence[_Passages], table: BagTable) -> Floats:
    """Return the mean of the vectors of a sample of passages, with the weights as they are now.

    It is what `StaticEmbedding.fit` computes of the same passages, but for the rounding: words are
    added up over all texts before their vectors are.
    """
    places = places_of_keys(np.concatenate([one.keys for one in found]), MAX_SAMPLE)
    numbers = [np.full(len(one.rows), number) for number, one in enumerate(found)]
    number_of = np.concatenate(numbers)[places]
    row_of = np.concatenate([one.rows for one in found])[places]
    of_pieces, of_terms = np.zeros(PIECES), np.zeros(len(table.terms))
    without_bags = np.zeros(DIMENSIONS + SIGNATURE_WIDTH)
    for number, one in enumerate(found):
        chosen = row_of[number_of == number]
        some = one.segment.take(chosen)
        halves = _halves_of(some, table)
        of_pieces += _weighted_sums(some.pieces, OF_PIECES, halves[:, 0], PIECES)
        of_terms += _weighted_sums(some.terms, OF_TERMS, halves[:, 1], len(of_terms))
        if len(one.without_bags.rows):
            without_bags += one.without_bags.sum_without_mean(table.embedder, chosen)
    used = np.flatnonzero(of_pieces)
    weights = of_pieces[used] * table.piece_roots[used]
    meaning = _weighted_sum(weights, used)
    used = np.flatnonzero(of_terms)
    signatures = table.signatures.take(used)
    spread = np.repeat(of_terms[used] * table.weights[used], np.diff(signatures.starts))
    spelling = np.bincount(
        signatures.columns, spread * signatures.values, minlength=SIGNATURE_WIDTH
    )
    total: Floats = np.concatenate([meaning, spelling]) + without_bags
    return total / (len(places) + PRIOR_TEXTS)


def _weighted_sum(weights: Floats, pieces: NDArray[np.int64]) -> Floats:
    """Return the weighted sum of the vectors of some pieces: float64 [d].

    Not by `@`, for which BLAS wakes threads that go on looking for work in what follows.
    """
    total: Floats = np.zeros(DIMENSIONS)
    for start in range(0, len(pieces), BLOCK):
        vectors = piece_vectors()[pieces[start : start + BLOCK]].astype(np.float64)
        total += np.einsum("i,ij->j", weights[start : start + BLOCK], vectors)
    return total


def _weighted_sums(bags: Bags, weights_of: Floats, of_rows: Floats, width: int) -> Floats:
    """Return the sum over all rows of each column's weight times the row's: float64 [width]."""
    columns, counts = bags.entries
    weights = weights_of[counts] * np.repeat(of_rows, bags.lengths)
    return np.bincount(columns, weights, minlength=width).astype(np.float64)
