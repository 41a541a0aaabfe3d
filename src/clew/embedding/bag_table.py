"""What the bags of one index have in common: an embedder, and its terms by number."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Protocol
from weakref import ref

import numpy as np
from numpy.typing import NDArray

from clew.algorithms.compressed_rows import CompressedRows
from clew.algorithms.kernels.bags import MAX_IN_PAIRS, row_products
from clew.algorithms.kernels.row_lanes import LANES, row_products_of_several
from clew.embedding.bags import BATCH, Bags, TextBags, columns_in_use
from clew.embedding.compared_pieces import ComparedPieces
from clew.embedding.sorted_bags import SortedBags
from clew.embedding.static import (
    SIGNATURE_WIDTH,
    StaticEmbedding,
    TextCounts,
    rarest_pieces,
    term_signatures,
)
from clew.embedding.word_vectors import DIMENSIONS, PIECES
from clew.forking import renew_after_fork
from clew.graph import (
    CopiedAtOnce,
    Floats,
    Vectors,
    freeze,
    texts_at,
)
from clew.text.kept import Kept
from clew.text.numbering import Numbering

MIN_SORTED = 1024  # rows of which another order is made; for fewer it gains nothing
MIN_ASKED = 64
"""Sums of the same rows after which their entries are brought into another order: it takes about as
long as so many sums."""
MAX_SORTED = 8  # bags of which another order is kept; an index has six
MAX_COUNTED = 20_000  # texts that came since a build, whose bags are kept: some 1.5 KB each
MAX_READ_TERMS = 50_000
"""Terms of a table that keeps how all are written, and their rarest pieces: some 5 MB."""
MAX_WITHOUT_BAGS = 1000  # texts without a bag, whose counts are kept: some 10 KB each


class CountedLate(Protocol):
    """Texts that are counted when one of them is first compared; see `late_bags.LateTexts`."""

    def count(self) -> object:
        """Count the words of all, where they are not counted."""
        ...


class _Asked:
    """Bags, how often they were added up, and their entries in another order once that is often.

    The bags are kept, so that no others come to be where they are in memory.
    """

    def __init__(self, bags: Bags) -> None:
        self.bags, self.times = bags, 0
        self.sorted: SortedBags | None = None


class _NumberingLock:
    """A lock that a fork renews."""

    def __init__(self) -> None:
        self.renew_locks()
        renew_after_fork(self)

    def renew_locks(self) -> None:
        """Renew the lock: after a fork, another thread may have held it."""
        self.lock = threading.Lock()


NUMBERING = _NumberingLock()


class _OfTerms(CopiedAtOnce):
    """Terms by number, with what they have by themselves; it is computed when it is asked for.

    Args:
        embedder: what weights them.
        terms: the terms.
        signatures: as in `BagTable`.
        weights: as in `BagTable`.
        before: the first of the terms; None for none.
    """

    def __init__(
        self,
        embedder: StaticEmbedding,
        terms: Sequence[str],
        signatures: CompressedRows | None = None,
        weights: Floats | None = None,
        before: _OfTerms | None = None,
    ) -> None:
        self.terms, self._embedder, self._before = terms, embedder, before
        self._signatures, self._weights = signatures, weights
        self._known_weights: Floats = np.zeros(0) if before is None else before._weights_so_far
        self._known_rarest = np.zeros(0, np.int64) if before is None else before._rarest_so_far

    def with_terms(self, terms: Sequence[str]) -> _OfTerms:
        """Return these terms and more behind them; what is known of these is kept."""
        return _OfTerms(self._embedder, [*self.texts, *terms], before=self)

    @property
    def _weights_so_far(self) -> Floats:
        """The weights of the first of the terms, as far as they are known."""
        known = self._known_weights if self._weights is None else self._weights
        made: Floats = self.__dict__.get("weights", known)
        return made

    @property
    def _rarest_so_far(self) -> NDArray[np.int64]:
        """The rarest pieces of the first of the terms, as far as they are known."""
        made: NDArray[np.int64] = self.__dict__.get("rarest", self._known_rarest)
        return made

    @cached_property
    def texts(self) -> Sequence[str]:
        """All terms as they are written, those that are stored together."""
        return texts_at(self.terms, range(len(self.terms)))

    @cached_property
    def signatures(self) -> CompressedRows:
        """The signature of each term, float32 [terms, 512]."""
        if self._signatures is not None:
            return self._signatures
        before, self._before = self._before, None
        known = None if before is None else before._signatures_so_far
        rows = term_signatures(self.terms[0 if known is None else len(known) :])
        starts, columns = freeze(rows.starts, np.int32), freeze(rows.columns, np.uint16)
        new = CompressedRows(starts, columns, freeze(rows.values, np.float32), rows.width)
        if known is None:
            return new
        both = CompressedRows.stacked([known, new])
        return replace(both, starts=freeze(both.starts, np.int32))

    @property
    def _signatures_so_far(self) -> CompressedRows | None:
        """The signatures of the first of the terms, as far as they are known."""
        made = self.__dict__.get("signatures", self._signatures)
        before = self._before
        return before._signatures_so_far if made is None and before is not None else made

    @cached_property
    def rarest(self) -> NDArray[np.int64]:
        """The rarest piece of each term: int64 [terms]."""
        known, weights = self._known_rarest, self._weights_so_far
        weighted = max(len(known), len(weights))
        by_weight = list(texts_at(self.terms, range(len(known), weighted)))
        others = list(texts_at(self.terms, range(weighted, len(self.terms))))
        of_known = self._embedder.rarest_pieces_of(by_weight, weights[len(known) :])
        return np.concatenate([known, of_known, rarest_pieces(others)])

    @cached_property
    def long_signatures(self) -> list[int]:
        """The terms whose signatures numpy adds in several runs."""
        return np.flatnonzero(np.diff(self.signatures.starts) > MAX_IN_PAIRS).tolist()

    @cached_property
    def weights(self) -> Floats:
        """The weight of each term: float64 [terms]."""
        if self._weights is not None:
            return self._weights
        n_before = len(self._known_weights)
        new = self._embedder.term_weights(self.terms[n_before:])
        return np.concatenate([self._known_weights, new]) if n_before else new


class BagTable:
    """What the bags of one index have in common: an embedder, and its terms by number.

    Args:
        embedder: what weights the texts.
        terms: the terms.
        signatures: the signature of each term, float32; None to compute them.
        weights: float64 [terms], the weight of each; None to compute them.

    Attributes:
        recent: the bags of texts that were counted last.
        counted_texts: the counts of texts that have no bag, as they were asked for last.
    """

    def __init__(
        self,
        embedder: StaticEmbedding,
        terms: Sequence[str],
        signatures: CompressedRows | None = None,
        weights: Floats | None = None,
    ) -> None:
        self.embedder = embedder
        self._of_terms = _OfTerms(embedder, terms, signatures, weights)
        self._known_compared: ComparedPieces | None = None
        self._last_pieces: tuple[bytes, ComparedPieces, Floats] | None = None
        self._last_terms: tuple[bytes, _OfTerms, Floats] | None = None
        self._last_several: tuple[bytes, ComparedPieces, _OfTerms, Floats, Floats] | None = None
        self._asked: Kept[tuple[int, int], _Asked] = Kept(MAX_SORTED)
        self.recent: Kept[str, TextBags] = Kept(MAX_COUNTED)
        self.counted_texts: Kept[str, TextCounts] = Kept(MAX_WITHOUT_BAGS)
        self._numbers: Numbering[str] | None = None
        self._late: set[ref[CountedLate]] = set()  # a `WeakSet` cannot be read while one is added

    def expect_terms_of(self, texts: CountedLate) -> None:
        """Let texts teach the table their terms later: at the latest when it is copied."""
        self._late.add(ref(texts, self._late.discard))

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy is made of: with all terms, since bags may be copied behind it.

        A copy has its rows elsewhere in memory, so that it has to learn anew which are asked for.
        What is kept of texts, and the numbers of terms, other threads add to meanwhile.
        """
        for reference in self._late.copy():
            if (texts := reference()) is not None:
                texts.count()
        return self.__dict__ | {
            "_late": None,
            "_numbers": None,
            "_asked": Kept(MAX_SORTED),
            "recent": Kept(MAX_COUNTED),
            "counted_texts": Kept(MAX_WITHOUT_BAGS),
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state | {"_late": set()})

    @property
    def terms(self) -> Sequence[str]:
        """The terms."""
        return self._of_terms.terms

    @property
    def texts_of_terms(self) -> Sequence[str]:
        """All terms, of which none has to be read any more."""
        return self._of_terms.texts

    @property
    def signatures(self) -> CompressedRows:
        """The signature of each term, float32 [terms, 512]."""
        return self._of_terms.signatures

    @property
    def weights(self) -> Floats:
        """The weight of each term: float64 [terms]."""
        return self._of_terms.weights

    def add_terms(self, terms: Sequence[str]) -> None:
        """Add terms behind those that are there, which keep their numbers.

        Others may compare bags meanwhile: they have either all of these terms, or none.
        """
        self._of_terms = self._of_terms.with_terms(terms)
        if self._numbers is not None:
            self._numbers.of_all(terms)

    def numbers(self, *, kept: bool = False) -> Numbering[str]:
        """Return the number of each term; who adds terms meanwhile holds a lock.

        Args:
            kept: whether they are kept for the next time.
        """
        found = self._numbers
        if found is None:
            found = Numbering[str]()
            found.of_lists([self.terms])
            if kept:
                self._numbers = found
        return found

    def reweighted(self, embedder: StaticEmbedding, counts: NDArray[np.int64]) -> BagTable:
        """Return the table of the same terms with the weights of another embedder.

        Args:
            embedder: what weights the texts.
            counts: int64, how many of its texts have each term; those behind are in none.
        """
        own = self._of_terms
        every = np.zeros(len(own.terms))
        every[: len(counts)] = counts
        weights = embedder.weights_of_counts(every, own.rarest)
        table = BagTable(embedder, own.terms, own.signatures, weights)
        table._known_compared, table._asked = self._known_compared, self._asked
        return table

    def sums(self, bags: Bags, weights_of: Floats, of_columns: Floats) -> Floats:
        """Return what `bags.sums` does, in less time where it is asked for often.

        The same rows are known by their place in memory, which they keep when an index changes.
        """
        if len(bags) < MIN_SORTED:
            return bags.sums(weights_of, of_columns)
        key = bags.starts.__array_interface__["data"][0], len(bags)
        asked = self._asked.get(key) or self._asked.put(key, _Asked(bags))
        asked.times += 1
        if asked.sorted is None:
            if asked.times <= MIN_ASKED:
                return bags.sums(weights_of, of_columns)
            entries = (bags.columns, bags.counts)
            asked.sorted = SortedBags.of(bags.starts, bags.ends, *entries)
        return asked.sorted.sums(weights_of, of_columns)

    def piece_factors(self, query: Vectors) -> Floats:
        """Return the products of a vector with the pieces of all rows.

        Args:
            query: float32 [d].

        Returns:
            float64 [32000], weighted by rarity; NaN for a piece that no row has had so far.
        """
        key, compared, last = query.tobytes(), self._compared, self._last_pieces
        if last is not None and last[0] == key and last[1] is compared:
            return last[2]
        factors = np.full(PIECES, np.nan)
        own = compared.products(query[:DIMENSIONS])
        factors[compared.pieces] = own * self.piece_roots[compared.pieces]
        self._last_pieces = key, compared, factors
        return factors

    def term_factors(self, query: Vectors) -> Floats:
        """Return the products of a vector with all terms, weighted likewise: float64 [terms]."""
        key, last, own = query.tobytes(), self._last_terms, self._of_terms
        if last is not None and last[0] == key and last[1] is own:
            return last[2]
        spelling = query[DIMENSIONS:].astype(np.float64)
        factors = _products_of(own.signatures, own.long_signatures, spelling)
        factors *= own.weights
        self._last_terms = key, own, factors
        return factors

    def factors_of_several(self, queries: Vectors) -> tuple[Floats, Floats]:
        """Return `piece_factors` and `term_factors` of several vectors.

        Args:
            queries: float32 [m, d], at most `LANES` vectors.

        Returns:
            float64 [m, 32000] and float64 [m, terms].
        """
        key, compared, own = queries.tobytes(), self._compared, self._of_terms
        last = self._last_several
        if last is not None and last[0] == key and last[1] is compared and last[2] is own:
            return last[3], last[4]
        n, pieces = len(queries), compared.pieces
        of_pieces, spellings = np.full((n, PIECES), np.nan), np.zeros((SIGNATURE_WIDTH, LANES))
        products = compared.several_products(queries[:, :DIMENSIONS])
        of_pieces[:, pieces] = products * self.piece_roots[pieces]
        spellings[:, :n] = queries[:, DIMENSIONS:].T
        in_lanes = _products_of_several(own.signatures, own.long_signatures, spellings)
        of_terms = np.ascontiguousarray(in_lanes[:, :n].T) * own.weights
        self._last_several = key, compared, own, of_pieces, of_terms
        return of_pieces, of_terms

    def of_mean(self, query: Vectors) -> np.float32:
        """Return the product of a vector with what is subtracted from every vector."""
        return np.float32(self.embedder.mean.astype(np.float64) @ query)

    def compare_also(self, bags: Bags) -> None:
        """Let later factors have the pieces of some rows, too."""
        own = bags.columns[bags.places]
        with NUMBERING.lock:  # of two threads, neither forgets what the other lets it have
            compared = np.zeros(PIECES, np.bool_)
            compared[self._known_or_first().pieces] = True
            compared[own] = True
            self._known_compared = ComparedPieces.of(compared)

    @property
    def _compared(self) -> ComparedPieces:
        """The pieces that rows have, as far as is known: at first those of the embedder's texts."""
        known = self._known_compared
        if known is None:
            with NUMBERING.lock:
                known = self._known_compared = self._known_or_first()
        return known

    def _known_or_first(self) -> ComparedPieces:
        known = self._known_compared
        return ComparedPieces.of(self.embedder.piece_counts > 0) if known is None else known

    @cached_property
    def piece_roots(self) -> Floats:
        """The root of the weight of each piece: float64 [32000]."""
        roots: Floats = np.sqrt(self.embedder.piece_weights)
        return roots

    def counts(self, pieces: Bags, terms: Bags, *, kept: bool = False) -> TextCounts:
        """Return the counts of some rows, as the embedder has them of their texts.

        Args:
            pieces: the pieces of the rows.
            terms: their terms.
            kept: whether the table keeps what all its terms have, since others will be asked for,
                and the counts say what they have; not where the terms are many.
        """
        of_pieces, used_pieces = columns_in_use(pieces, np.arange(PIECES))
        # `np.unique` imports masked arrays, a tenth of the time to open an index.
        used = np.flatnonzero(np.bincount(terms.columns[terms.places]))
        own = self._of_terms
        kept = kept and len(own.terms) <= MAX_READ_TERMS
        written = texts_at(own.texts if kept else own.terms, used.tolist())
        order = sorted(range(len(written)), key=written.__getitem__)
        used = used[order]
        rank = np.zeros(int(used.max(initial=0)) + 1, np.int64)
        rank[used] = np.arange(len(used))
        of_terms, _ = columns_in_use(terms, rank)
        counts = TextCounts([written[i] for i in order], of_terms, used_pieces, of_pieces)
        if not kept:
            return counts
        return replace(counts, signatures=own.signatures.take(used), rarest=own.rarest[used])

    def vectors(self, pieces: Bags, terms: Bags, *, kept: bool = False) -> Vectors:
        """Return the vectors of some rows, as the embedder computes them.

        Args:
            pieces: the pieces of the rows.
            terms: their terms.
            kept: as in `counts`; the vectors are the same, in a third of the time.
        """
        vectors, _ = self.embedder.embed_counts(self.counts(pieces, terms, kept=kept))
        return vectors


def number_terms(table: BagTable, counts: TextCounts, *, kept: bool = False) -> None:
    """Let a table learn the terms of texts, batch by batch.

    Args:
        table: the table.
        counts: of the texts.
        kept: whether the table keeps the numbers of all terms, since more texts will come.
    """
    with NUMBERING.lock:  # of two threads, neither gives a term a second number
        known = table.numbers(kept=kept)
        table.add_terms([term for term in _by_first_batch(counts) if term not in known])


def _by_first_batch(counts: TextCounts) -> list[str]:
    """Return the terms by the batch of texts in which each comes first, and by name in each."""
    of_terms = counts.of_terms
    first = np.zeros(len(counts.terms), np.int64)
    first[of_terms.columns[::-1]] = of_terms.rows[::-1] // BATCH  # what is assigned last stays
    return [counts.terms[i] for i in np.argsort(first, kind="stable").tolist()]


def _products_of(signatures: CompressedRows, long_ones: list[int], vector: Floats) -> Floats:
    """Return the dot products of rows, of which none is empty, with a vector: float64 [n].

    Args:
        signatures: the rows.
        long_ones: those of more than `MAX_IN_PAIRS` entries.
        vector: the vector.
    """
    starts, columns, values = signatures.starts, signatures.columns, signatures.values
    if not len(values):
        return np.zeros(0)
    found: Floats = row_products(starts, columns, values, vector)
    for row in long_ones:
        own = slice(starts[row], starts[row + 1])
        found[row] = np.add.reduceat(values[own] * vector[columns[own]], [0])[0]
    return found


def _products_of_several(
    signatures: CompressedRows, long_ones: list[int], vectors: Floats
) -> Floats:
    """Return what `_products_of` does for several vectors: float64 [n, LANES].

    Args:
        signatures: as in `_products_of`.
        long_ones: as in `_products_of`.
        vectors: float64 [d, LANES].
    """
    starts, columns, values = signatures.starts, signatures.columns, signatures.values
    if not len(values):
        return np.zeros((0, LANES))
    found: Floats = row_products_of_several(starts, columns, values, vectors)
    for row in long_ones:
        own = slice(starts[row], starts[row + 1])
        for lane in range(LANES):
            terms = values[own] * vectors[columns[own], lane]
            found[row, lane] = np.add.reduceat(terms, [0])[0]
    return found
