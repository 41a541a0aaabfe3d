"""Vectors of the embedded default as what they are made of: bags of words, a tenth of the bytes.

A vector of `StaticEmbedding` is a sum over a text's pieces and terms, scaled, less a mean. So its
dot product with a question is a sum over the same pieces and terms of their own products with the
question, which are computed once for all texts. The vector itself, where it is wanted, is computed
from the counts as the embedder computes it, to the bit.
"""

from __future__ import annotations

import math
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clew.algorithms.compressed_rows import CompressedRows
from clew.algorithms.kernels.bags import MAX_IN_PAIRS, add_scaled, bag_sums, row_products
from clew.embedding.compared_pieces import ComparedPieces
from clew.embedding.interleaved_bags import InterleavedBags
from clew.embedding.latent_semantic import signature_rows
from clew.embedding.mean_sample import keys_of_entries
from clew.embedding.static import (
    SIGNATURE_WIDTH,
    CountsOf,
    StaticEmbedding,
    TextCounts,
    rarest_pieces,
)
from clew.embedding.word_vectors import DIMENSIONS, PIECES
from clew.forking import renew_after_fork
from clew.graph import (
    AnyVectors,
    Floats,
    Mask,
    VectorColumn,
    Vectors,
    VectorSegment,
    expand_ranges,
    freeze,
    has_vector,
    offsets_of,
    products,
    release_free_memory,
    release_pages,
    seal,
    texts_at,
    vectors_of,
)
from clew.second_thread import both
from clew.text.kept import Kept
from clew.text.numbering import Numbering

MAX_COUNT = 255  # of a term or a piece in a text; a text with more keeps its vector
BATCH = 8192  # texts that are counted at once
MAX_BESIDE = 100_000  # texts that are no passages, of which another process does a part
MAX_MADE = 20_000  # vectors that are kept until near passages are found, which wants all: 60 MB
MAX_REMEMBERED = 4096  # rows whose vectors are kept, 12 MB: a method that descends needs few again

MIN_INTERLEAVED = 1024  # rows from which on another order of their entries is worth making
MIN_ASKED = 64
"""Sums of the same rows after which their entries are brought into another order: it takes about as
long as so many sums."""
MIN_BESIDE = (
    1_000_000  # terms of rows from which on a part is handed to a second thread: it gains time
)
MAX_COUNTED = 20_000  # texts that came since a build, whose bags are kept: some 1.5 KB each
MAX_INTERLEAVED = 8  # bags of which another order is kept; an index has six

COUNTS = np.arange(MAX_COUNT + 1, dtype=np.float64)
OF_PIECES: Floats = np.sqrt(COUNTS)
OF_TERMS: Floats = np.append(0.0, 1 + np.log(COUNTS[1:]))
MOST_COUNTS = 256  # of which one is a byte
MAX_IN_KEYS = 1 << 32  # rows, or columns times counts: a half of a whole number each


@dataclass(frozen=True, eq=False)
class Bags:
    """How often each row has each of its columns.

    Attributes:
        starts: int32 [n], where the entries of each row start.
        ends: int32 [n], where they end.
        columns: uint16 or int32 [m], the column of each entry.
        counts: uint8 [m], how often it comes.
    """

    starts: NDArray[np.int32]
    ends: NDArray[np.int32]
    columns: NDArray[Any]
    counts: NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def lengths(self) -> NDArray[np.int32]:
        """The number of entries of each row."""
        return self.ends - self.starts

    @cached_property
    def n_entries(self) -> int:
        """The number of entries of all rows."""
        return int(self.lengths.sum())

    @property
    def places(self) -> NDArray[np.int64]:
        """The entries of all rows, row by row."""
        return expand_ranges(self.starts, self.lengths)

    @property
    def entries(self) -> tuple[NDArray[Any], NDArray[np.uint8]]:
        """The columns and the counts of the entries of all rows, row by row."""
        if len(self) and (self.ends[:-1] == self.starts[1:]).all():  # as built
            run = slice(int(self.starts[0]), int(self.ends[-1]))
            return self.columns[run], self.counts[run]
        places = self.places
        return self.columns[places], self.counts[places]

    def take(self, rows: slice | NDArray[np.int64]) -> Bags:
        """Return some rows, which share the entries."""
        return replace(self, starts=self.starts[rows], ends=self.ends[rows])

    def compact(self) -> Bags:
        """Return the same rows with entries of their own, row by row."""
        places = self.places
        return Bags.of(self.lengths, self.columns[places], self.counts[places])

    @classmethod
    def of(cls, lengths: NDArray[Any], columns: NDArray[Any], counts: NDArray[np.uint8]) -> Bags:
        """Return rows of these lengths, one after the other."""
        starts = freeze(offsets_of(lengths), np.int32)
        return cls(starts[:-1], starts[1:], columns, counts)

    def sums(self, weights_of: Floats, of_columns: Floats) -> Floats:
        """Return each row's sum of its counts' weights times the numbers of their columns."""
        entries = (self.columns, self.counts)
        found: Floats = bag_sums(self.starts, self.ends, *entries, weights_of, of_columns)
        return found


class _Asked:
    """Bags, how often they were added up, and their entries in another order once that is often.

    The bags are kept, so that no others come to be where they are in memory.
    """

    def __init__(self, bags: Bags) -> None:
        self.bags, self.times = bags, 0
        self.interleaved: InterleavedBags | None = None


class _NumberingLock:
    """A lock that a fork renews."""

    def __init__(self) -> None:
        self.renew_locks()
        renew_after_fork(self)

    def renew_locks(self) -> None:
        """Renew the lock: after a fork, another thread may have held it."""
        self.lock = threading.Lock()


_NUMBERING = _NumberingLock()


class _OfTerms:
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
        known = None if before is None else before.__dict__.get("weights")
        self._known_weights: Floats = np.zeros(0) if known is None else known
        rarest = None if before is None else before.__dict__.get("rarest")
        self._known_rarest = np.zeros(0, np.int64) if rarest is None else rarest

    def with_terms(self, terms: Sequence[str]) -> _OfTerms:
        """Return these terms and more behind them; what is known of these is kept."""
        return _OfTerms(self._embedder, [*self.texts, *terms], before=self)

    @cached_property
    def texts(self) -> Sequence[str]:
        """All terms as they are written, those that are stored together."""
        return texts_at(self.terms, range(len(self.terms)))

    @cached_property
    def signatures(self) -> CompressedRows:
        """The signature of each term, float32 [terms, 512]."""
        if self._signatures is not None:
            return self._signatures
        before, self._before, n_before = self._before, None, 0
        if before is not None and "signatures" in before.__dict__:
            n_before = len(before.terms)
        rows = signature_rows(self.terms[n_before:], SIGNATURE_WIDTH)
        starts, columns = freeze(rows.starts, np.int32), freeze(rows.columns, np.uint16)
        new = CompressedRows(starts, columns, freeze(rows.values, np.float32), rows.width)
        if before is None or not n_before:
            return new
        both = CompressedRows.stacked([before.signatures, new])
        return replace(both, starts=freeze(both.starts, np.int32))

    @cached_property
    def rarest(self) -> NDArray[np.int64]:
        """The rarest piece of each term: int64 [terms]."""
        known = self._known_rarest
        weights = self._known_weights if self._weights is None else self._weights
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
        self._asked: Kept[tuple[int, int], _Asked] = Kept(MAX_INTERLEAVED)
        self._counted: Kept[str, _TextBags] = Kept(MAX_COUNTED)
        self._numbers: Numbering[str] | None = None

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

    def counted(self, texts: Sequence[str]) -> BagSegment:
        """Return what `bags_of_texts` does; texts that were counted lately are not counted again.

        Args:
            texts: the texts.
        """
        if not texts:
            return bags_of_texts(self, texts)
        kept = self._counted
        found = {text: bags for text in texts if (bags := kept.get(text)) is not None}
        new = [text for text in dict.fromkeys(texts) if text not in found]
        if new:
            found.update(
                zip(
                    new,
                    map(kept.put, new, _TextBags.of_each(bags_of_texts(self, new))),
                    strict=True,
                )
            )
        return _TextBags.joined(self, [found[text] for text in texts])

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
        if len(bags) < MIN_INTERLEAVED:
            return bags.sums(weights_of, of_columns)
        key = bags.starts.__array_interface__["data"][0], len(bags)
        asked = self._asked.get(key) or self._asked.put(key, _Asked(bags))
        asked.times += 1
        if asked.interleaved is None:
            if asked.times <= MIN_ASKED:
                return bags.sums(weights_of, of_columns)
            entries = (bags.columns, bags.counts)
            asked.interleaved = InterleavedBags.of(bags.starts, bags.ends, *entries)
        return asked.interleaved.sums(weights_of, of_columns)

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

    def of_mean(self, query: Vectors) -> np.float32:
        """Return the product of a vector with what is subtracted from every vector."""
        return np.float32(self.embedder.mean.astype(np.float64) @ query)

    def compare_also(self, bags: Bags) -> None:
        """Let later factors have the pieces of some rows, too."""
        compared = np.zeros(PIECES, np.bool_)
        compared[self._compared.pieces] = True
        compared[bags.columns[bags.places]] = True
        self._known_compared = ComparedPieces.of(compared)

    @property
    def _compared(self) -> ComparedPieces:
        """The pieces that rows have, as far as is known: at first those of the embedder's texts."""
        if self._known_compared is None:
            self._known_compared = ComparedPieces.of(self.embedder.piece_counts > 0)
        return self._known_compared

    @cached_property
    def piece_roots(self) -> Floats:
        """The root of the weight of each piece: float64 [32000]."""
        roots: Floats = np.sqrt(self.embedder.piece_weights)
        return roots

    def counts(self, pieces: Bags, terms: Bags) -> TextCounts:
        """Return the counts of some rows, as the embedder has them of their texts."""
        of_pieces, used_pieces = _counted(pieces, np.arange(PIECES))
        # `np.unique` imports masked arrays, a tenth of the time to open an index.
        used = np.flatnonzero(np.bincount(terms.columns[terms.places]))
        written = texts_at(self.terms, used.tolist())  # stored ones are made together
        order = sorted(range(len(written)), key=written.__getitem__)
        rank = np.zeros(int(used.max(initial=0)) + 1, np.int64)
        rank[used[order]] = np.arange(len(used))
        of_terms, _ = _counted(terms, rank)
        return TextCounts([written[i] for i in order], of_terms, used_pieces, of_pieces)

    def vectors(self, pieces: Bags, terms: Bags) -> Vectors:
        """Return the vectors of some rows, as the embedder computes them."""
        vectors, _ = self.embedder.embed_counts(self.counts(pieces, terms))
        return vectors


@dataclass(frozen=True, eq=False)
class BagSegment:
    """Rows of a column of vectors as bags of words; see `VectorSegment`.

    Attributes:
        table: what all bags have in common.
        pieces: the pieces of each row.
        terms: the terms of each row.
        scales: float32 [n, 3], what the sums of the pieces and of the terms are multiplied by, and
            the mean; zeros where a row has no bag.
        other_rows: int64 [k], ascending, the rows that have a vector and no bag.
        others: float32 [k, d], these.
    """

    table: BagTable
    pieces: Bags
    terms: Bags
    scales: Vectors
    other_rows: NDArray[np.int64]
    others: Vectors

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.scales), self.others.shape[1]

    @cached_property
    def has_vector(self) -> Mask:
        found: Mask = self.scales[:, 2] != 0
        found[self.other_rows] = has_vector(self.others)
        return found

    @cached_property
    def keys(self) -> NDArray[np.uint64]:
        """The key of each row by its pieces, as the sample for the mean goes by: uint64 [n]."""
        columns, counts = self.pieces.entries
        return keys_of_entries(columns, counts, offsets_of(self.pieces.lengths))

    def _with_keys_of(self, other: BagSegment, rows: slice | NDArray[np.int64]) -> BagSegment:
        """Return this segment with the keys of some rows of another one, if it knows them."""
        if (keys := other.__dict__.get("keys")) is not None:
            self.__dict__["keys"] = keys[rows]
        return self

    @property
    def addresses(self) -> NDArray[np.int64]:
        step = self.scales.strides[0]
        return self.scales.ctypes.data + step * np.arange(len(self.scales), dtype=np.int64)

    def __getitem__(self, rows: slice | NDArray[np.int64]) -> Vectors:
        chosen = np.arange(len(self.scales))[rows]
        vectors = np.zeros((len(chosen), self.shape[1]), np.float32)
        own = np.flatnonzero(self.scales[chosen, 2])
        make = self._remembered if len(own) <= MAX_REMEMBERED // 8 else self._made
        for start in range(0, len(own), BATCH):
            some = own[start : start + BATCH]
            vectors[some] = make(chosen[some])
        place, is_other = self._places_of_others(chosen)
        vectors[is_other] = self.others[place[is_other]]
        return vectors

    def _made(self, rows: NDArray[np.int64]) -> Vectors:
        return self.table.vectors(self.pieces.take(rows), self.terms.take(rows))

    def _remembered(self, rows: NDArray[np.int64]) -> Vectors:
        """Return the vectors of a few rows, of which other questions may have needed some."""
        known, wanted = self._known, rows.tolist()
        found = {row: known.get(row) for row in wanted}  # another thread may clear it
        new = [row for row, vector in found.items() if vector is None]
        if new:
            made = dict(zip(new, self._made(np.array(new, np.int64)), strict=True))
            if len(known) + len(new) > MAX_REMEMBERED:
                known.clear()
            known.update(made)
            found.update(made)
        return np.array([found[row] for row in wanted])

    @cached_property
    def _known(self) -> dict[int, Vectors]:
        """The vectors of rows that were made last."""
        return {}

    def take(self, rows: NDArray[np.int64]) -> BagSegment:
        if len(rows) and (np.diff(rows) == 1).all():
            first, last = int(rows[0]), int(rows[-1]) + 1
            start, stop = np.searchsorted(self.other_rows, [first, last])
            run = slice(first, last)
            return BagSegment(
                self.table,
                self.pieces.take(run),
                self.terms.take(run),
                self.scales[run],
                self.other_rows[start:stop] - first,
                self.others[start:stop],
            )._with_keys_of(self, run)
        place, is_other = self._places_of_others(rows)
        return BagSegment(
            self.table,
            self.pieces.take(rows),
            self.terms.take(rows),
            self.scales[rows],
            np.flatnonzero(is_other),
            vectors_of(self.others, place[is_other]),
        )._with_keys_of(self, rows)

    def compact(self) -> BagSegment:
        pieces, terms = self.pieces.compact(), self.terms.compact()
        return replace(self, pieces=pieces, terms=terms)

    def products(self, query: Vectors) -> Vectors:
        of_pieces, of_terms = self.half_sums(query)
        found: Vectors = add_scaled(of_pieces, of_terms, self.scales, self.table.of_mean(query))
        found[self.other_rows] = products(self.others, query)
        return found

    def half_sums(self, query: Vectors) -> tuple[Floats, Floats]:
        """Return the products of a vector with the halves of each row, before these are scaled.

        Args:
            query: float32 [d].

        Returns:
            float64 [n] of the pieces, and float64 [n] of the terms.
        """

        def sums_of_pieces() -> Floats:
            return self._sums_of_pieces(query)

        def sums_of_terms() -> Floats:
            return self.table.sums(self.terms, OF_TERMS, self.table.term_factors(query))

        if self.terms.n_entries >= MIN_BESIDE:
            return both(sums_of_pieces, sums_of_terms)
        return sums_of_pieces(), sums_of_terms()

    def _sums_of_pieces(self, query: Vectors) -> Floats:
        table = self.table
        found = table.sums(self.pieces, OF_PIECES, table.piece_factors(query))
        if math.isnan(found.sum()):  # some have pieces that no row had so far
            table.compare_also(self.pieces.take(np.flatnonzero(np.isnan(found))))
            found = table.sums(self.pieces, OF_PIECES, table.piece_factors(query))
        return found

    def release_pages(self) -> None:
        for array in (self.others, self.pieces.columns, self.terms.columns):
            release_pages(array)

    def _places_of_others(
        self, rows: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return where rows are among the others, and which are there."""
        if not len(self.other_rows):
            return np.zeros(len(rows), np.int64), np.zeros(len(rows), np.bool_)
        place = np.minimum(np.searchsorted(self.other_rows, rows), len(self.other_rows) - 1)
        return place, self.other_rows[place] == rows


@dataclass(frozen=True, eq=False)
class MadeBags(BagSegment):
    """Bags beside the vectors that they were counted for, until these have served.

    Attributes:
        made: float32 [m, d], vectors.
        places: int64 [n], the place of each row among them; of a higher one than m, the vector is
            made when it is asked for.
    """

    made: Vectors
    places: NDArray[np.int64]

    @classmethod
    def of(cls, segment: BagSegment, made: Vectors, places: NDArray[np.int64]) -> MadeBags:
        """Return bags beside their vectors."""
        own = {one.name: getattr(segment, one.name) for one in fields(BagSegment)}
        return cls(**own, made=made, places=places)

    def __getitem__(self, rows: slice | NDArray[np.int64]) -> Vectors:
        places = self.places[rows]
        if places.max(initial=-1) < len(self.made):
            return vectors_of(self.made, places)
        return super().__getitem__(rows)

    def take(self, rows: NDArray[np.int64]) -> MadeBags:
        return MadeBags.of(super().take(rows), self.made, self.places[rows])

    def bags(self) -> BagSegment:
        """Return the bags without the vectors."""
        return BagSegment(*(getattr(self, one.name) for one in fields(BagSegment)))


class _TextBags(NamedTuple):
    """The bags of one text, as a row of a `BagSegment` has them.

    Attributes:
        pieces: the columns of its pieces.
        piece_counts: how often each comes.
        terms: the columns of its terms.
        term_counts: how often each comes.
        scales: float32 [3].
        others: float32 [1, d], its vector, where it has no bag; else [0, d].
    """

    pieces: NDArray[Any]
    piece_counts: NDArray[np.uint8]
    terms: NDArray[Any]
    term_counts: NDArray[np.uint8]
    scales: Vectors
    others: Vectors

    @classmethod
    def of_each(cls, segment: BagSegment) -> Iterator[_TextBags]:
        """Yield the bags of each row."""
        columns = list[list[NDArray[Any]]]()
        for bags in (segment.pieces, segment.terms):
            bounds = list(zip(bags.starts.tolist(), bags.ends.tolist(), strict=True))
            columns += [
                [of[start:end] for start, end in bounds] for of in (bags.columns, bags.counts)
            ]
        place, is_other = segment._places_of_others(np.arange(len(segment.scales)))
        others = [
            segment.others[at : at + has]
            for at, has in zip(place.tolist(), is_other.tolist(), strict=True)
        ]
        return (cls(*own) for own in zip(*columns, segment.scales, others, strict=True))

    @classmethod
    def joined(cls, table: BagTable, rows: Sequence[_TextBags]) -> BagSegment:
        """Return the bags of several texts, of which there is at least one."""
        pieces, piece_counts, terms, term_counts, scales, others = zip(*rows, strict=True)
        return BagSegment(
            table,
            _bags_of_rows(pieces, piece_counts),
            _bags_of_rows(terms, term_counts),
            seal(np.array(scales)),
            np.flatnonzero([len(vectors) for vectors in others]),
            seal(np.concatenate(others)),
        )


def _bags_of_rows(columns: Sequence[NDArray[Any]], counts: Sequence[NDArray[np.uint8]]) -> Bags:
    lengths = np.array(list(map(len, columns)), np.int64)
    return Bags.of(lengths, np.concatenate(columns), np.concatenate(counts))


class Source(NamedTuple):
    """A column of vectors, and the texts that they come from.

    Attributes:
        vectors: float32 [n, d].
        rows: int64 [m], ascending, those that come from texts.
        texts: the text of each of these.
    """

    vectors: AnyVectors
    rows: NDArray[np.int64]
    texts: Sequence[str]


def as_bags(embedder: StaticEmbedding, sources: Sequence[Source]) -> list[BagSegment]:
    """Return columns of vectors as bags that share a table.

    A vector that its text does not give, to the bit, stays as it is.

    Args:
        embedder: what weights the texts.
        sources: the columns.

    Example:
        >>> texts = ["The ferry to Corfu leaves at nine.", "Anna met Ben."]
        >>> static = StaticEmbedding.fit(texts)
        >>> vectors = static(texts)
        >>> (segment,) = as_bags(static, [Source(vectors, np.arange(2), texts)])
        >>> bool((segment[:] == vectors).all()), len(segment.others)
        (True, 0)
    """
    number_of = Numbering[str]()
    made = [_bags_of(embedder, source, number_of) for source in sources]
    table = BagTable(embedder, list(number_of))
    return [replace(segment, table=table) for segment in made]


def fit_bags(
    corpus: Sequence[str],
    others: Sequence[str] = (),
    progress: Callable[[int], object] = int,
    n_made: int = 0,
    counted: Iterator[TextCounts] | None = None,
    counts_of: CountsOf | None = None,
) -> tuple[StaticEmbedding, BagSegment]:
    """Return the embedder that a corpus weights, and the vectors of its texts and of other texts.

    A text is counted once.

    Args:
        corpus: the texts by which words are weighted.
        others: more texts.
        progress: called with the number of texts of every batch.
        n_made: the rows, from the first one on, whose vectors are kept beside them, unless they are
            too many.
        counted: what `TextCounts.of` returns of each `BATCH` of the corpus; None to count here.
        counts_of: counts texts in this process alone; None for `TextCounts.of`.

    Returns:
        The embedder, and a row for each text of the corpus, then one for each of the others.

    Example:
        >>> texts = ["The ferry to Corfu leaves at nine.", "Anna met Ben."]
        >>> static, rows = fit_bags(texts, ["Corfu"])
        >>> bool((rows[:] == static([*texts, "Corfu"])).all())
        True
    """
    n_kept = n_made if n_made <= MAX_MADE else 0
    number_of, start = Numbering[str](), 0
    rows = _Rows(len(corpus) + len(others))
    if counted is None:
        counted = map(counts_of or TextCounts.of, _batches(corpus, BATCH))
    embedder, made_of = _fitted(corpus, counted, sums_once=len(corpus) <= MAX_MADE)
    kept = np.zeros((n_kept, embedder.dimensions), np.float32)
    beside = _begin_others(embedder, others, n_kept - len(corpus), counts_of)
    of_corpus = (_MadeTexts.of(counts, *made) for counts, made in made_of)
    for made in chain(of_corpus, beside()):
        rows.add_made(start, made, number_of)
        n_here = min(max(n_kept - start, 0), len(made.is_made))
        kept[start : start + n_here] = made.vectors_of(np.arange(n_here))
        progress(len(made.is_made))
        start += len(made.is_made)
    segment = rows.segment(BagTable(embedder, list(number_of)))
    if n_kept:
        segment = MadeBags.of(segment, seal(kept), np.arange(segment.shape[0]))
    return embedder, segment


def bags_of_texts(
    table: BagTable, texts: Sequence[str], counts_of: CountsOf | None = None
) -> BagSegment:
    """Return the vectors of texts as bags of a table, which learns their terms.

    Args:
        table: the table.
        texts: the texts.
        counts_of: counts texts; None for `TextCounts.of`.

    Example:
        >>> static, rows = fit_bags(["The ferry to Corfu leaves at nine.", "Anna met Ben."])
        >>> more = bags_of_texts(rows.table, ["Ben left."])
        >>> bool((more[:] == static(["Ben left."])).all()), more.table.terms[-1]
        (True, 'left')
    """
    counts = (counts_of or TextCounts.of)(texts)
    number_terms(table, counts, kept=True)
    return bags_of_counts(table, counts)


def number_terms(table: BagTable, counts: TextCounts, *, kept: bool = False) -> None:
    """Let a table learn the terms of texts, batch by batch.

    Args:
        table: the table.
        counts: of the texts.
        kept: whether the table keeps the numbers of all terms, since more texts will come.
    """
    with _NUMBERING.lock:  # of two threads, neither gives a term a second number
        known = table.numbers(kept=kept)
        table.add_terms([term for term in _by_first_batch(counts) if term not in known])


def bags_of_counts(table: BagTable, counts: TextCounts, *, rounded: bool = False) -> BagSegment:
    """Return the vectors of texts as bags of a table, which knows their terms.

    Args:
        table: the table.
        counts: of the texts.
        rounded: whether the scales may be rounded otherwise than those of the vectors.
    """
    rows = _Rows(len(counts))
    with _NUMBERING.lock:
        number_of = table.numbers()
    rows.add_made(0, _MadeTexts.without_vectors(counts, table.embedder, rounded=rounded), number_of)
    return rows.segment(table)


def _by_first_batch(counts: TextCounts) -> list[str]:
    """Return the terms by the batch of texts in which each comes first, and by name in each."""
    of_terms = counts.of_terms
    first = np.zeros(len(counts.terms), np.int64)
    first[of_terms.columns[::-1]] = of_terms.rows[::-1] // BATCH  # what is assigned last stays
    return [counts.terms[i] for i in np.argsort(first, kind="stable").tolist()]


class _MadeTexts(NamedTuple):
    """What texts become.

    Attributes:
        counts: of the texts.
        scales: float32 [n, 3], as `StaticEmbedding.embed_counts` returns them.
        is_made: bool [n], whether a text has a vector that is not 0.
        places: int64 [m], ascending, the texts whose vectors are here.
        vectors: float32 [m, d], these.
    """

    counts: TextCounts
    scales: Vectors
    is_made: Mask
    places: NDArray[np.int64]
    vectors: Vectors

    @classmethod
    def of(cls, counts: TextCounts, vectors: Vectors, scales: Vectors) -> _MadeTexts:
        """Return texts with all their vectors."""
        is_made = np.array(vectors.any(axis=1), np.bool_)
        return cls(counts, scales, is_made, np.arange(len(vectors)), vectors)

    @classmethod
    def without_vectors(
        cls, counts: TextCounts, embedder: StaticEmbedding, *, rounded: bool = False
    ) -> _MadeTexts:
        """Return texts with those vectors alone that are kept in the place of bags.

        Args:
            counts: of the texts.
            embedder: what embeds them.
            rounded: whether the scales may be rounded otherwise than those of the vectors.
        """
        scales = embedder.scale_sums(counts) if rounded else embedder.scale_counts(counts)
        is_made: Mask = (scales[:, 2] > 0) & np.isfinite(scales[:, 2])
        places = np.flatnonzero(is_made & _is_too_often(counts))
        vectors = np.zeros((0, embedder.dimensions), np.float32)
        if len(places):
            vectors, _ = embedder.embed_counts(counts.take(places))
        return cls(counts, scales, is_made, places, vectors)

    def vectors_of(self, texts: NDArray[np.int64]) -> Vectors:
        """Return the vectors of texts that are here."""
        if len(self.places) == len(self.is_made):
            return vectors_of(self.vectors, texts)
        return vectors_of(self.vectors, np.searchsorted(self.places, texts))


def _begin_others(
    embedder: StaticEmbedding, texts: Sequence[str], n_kept: int, counts_of: CountsOf | None
) -> Callable[[], Iterator[_MadeTexts]]:
    """Have other processes, if there are any, begin with texts that are no passages.

    Args:
        embedder: what embeds them.
        texts: the texts.
        n_kept: the first so many whose vectors are wanted; may be below 0.
        counts_of: counts them, and no other process begins; None for `TextCounts.of`.

    Returns:
        What returns what each batch becomes, in turn.
    """
    batches = list(_batches(texts, BATCH))
    items = [(batch, max(n_kept - i * BATCH, 0)) for i, batch in enumerate(batches)]
    begun = None
    if counts_of is None and len(batches) > 1 and len(texts) <= MAX_BESIDE:
        from clew.processes import begin_items  # which a question does not load

        items.reverse()  # others begin with those of which no vector is sent back
        sizes = [sum(map(len, batch)) for batch, _ in items]
        alone = replace(embedder)  # without what it has computed for itself
        begun = begin_items(partial(embed_batch, alone), items, sizes=sizes)
    if begun is None:
        return lambda: (
            _MadeTexts.of(counts, *embedder.embed_counts(counts))
            for counts in map(counts_of or TextCounts.of, batches)
        )
    results = begun.results

    def in_turn() -> Iterator[_MadeTexts]:
        made = results()
        while made:
            one = made.pop()
            yield one._replace(counts=widened(one.counts))

    return in_turn


def embed_batch(embedder: StaticEmbedding, batch: tuple[Sequence[str], int]) -> _MadeTexts:
    """Return what texts become, with those vectors that are wanted, as another process sends it.

    Args:
        embedder: what embeds them.
        batch: the texts, and the first so many whose vectors are wanted.

    Example:
        >>> static = StaticEmbedding.fit(["Anna met Ben."])
        >>> embed_batch(static, (["Anna", "Ben", "..."], 1)).vectors.shape
        (1, 768)
    """
    release_free_memory()  # what the process has done before took as much
    texts, n_kept = batch
    counts = TextCounts.of(texts)
    made = _MadeTexts.of(counts, *embedder.embed_counts(counts))
    is_wanted = (made.is_made & _is_too_often(counts)) | (made.places < n_kept)
    places = np.flatnonzero(is_wanted)
    return made._replace(
        counts=narrowed(counts), places=places, vectors=made.vectors_of(places).copy()
    )


def _is_too_often(counts: TextCounts) -> Mask:
    """Return whether each text has a word more often than a bag says."""
    found = np.zeros(len(counts), np.bool_)
    for counted in (counts.of_pieces, counts.of_terms):
        found[counted.rows[counted.values > MAX_COUNT]] = True
    return found


def _fitted(
    corpus: Sequence[str], batches: Iterator[TextCounts], sums_once: bool
) -> tuple[StaticEmbedding, Iterator[tuple[TextCounts, tuple[Vectors, Vectors]]]]:
    """Return the embedder that a corpus weights, and of its texts the counts and what these make.

    Args:
        corpus: the texts.
        batches: their counts, in turn.
        sums_once: whether the sums that the mean is made of wait until it is subtracted: they take
            as much memory as the vectors.
    """
    if sums_once:
        every = list(batches)
        embedder, sums = StaticEmbedding.fit_and_sum(every)
        sums.reverse()
        return embedder, ((counts, embedder.centre_sums(sums.pop())) for counts in every)
    counted = deque(map(narrowed, batches))
    embedder = StaticEmbedding.fit_counted(corpus, counted)
    in_turn = (widened(counted.popleft()) for _ in range(len(counted)))
    return embedder, ((counts, embedder.embed_counts(counts)) for counts in in_turn)


def narrowed(counts: TextCounts) -> TextCounts:
    """Return counts that wait for their turn, of which no value is looked at, in less memory."""

    def in_less(rows: CompressedRows) -> CompressedRows:
        is_small = not len(rows.values) or rows.values.max() <= np.iinfo(np.uint8).max
        columns: NDArray[Any] = rows.columns
        if rows.width <= 2**16:
            columns = columns.astype(np.uint16)
        values = rows.values.astype(np.uint8) if is_small else rows.values
        return replace(rows, columns=columns, values=values)

    return replace(counts, of_terms=in_less(counts.of_terms), of_pieces=in_less(counts.of_pieces))


def widened(counts: TextCounts) -> TextCounts:
    """Return counts as `TextCounts.of` does, of what `narrowed` returns."""

    def as_counted(rows: CompressedRows) -> CompressedRows:
        return replace(
            rows, columns=rows.columns.astype(np.int32), values=rows.values.astype(np.float64)
        )

    of_terms, of_pieces = as_counted(counts.of_terms), as_counted(counts.of_pieces)
    return replace(counts, of_terms=of_terms, of_pieces=of_pieces)


def _batches(texts: Sequence[str], size: int) -> Iterator[list[str]]:
    return (list(texts[start : start + size]) for start in range(0, len(texts), size))


def _bags_of(embedder: StaticEmbedding, source: Source, number_of: Numbering[str]) -> BagSegment:
    """Return a column as bags of terms with these numbers, to which its own are added."""
    parts, start = list[BagSegment](), 0
    for one in VectorColumn.of(source.vectors).segments:
        end = start + one.shape[0]
        if isinstance(one, BagSegment) and one.table.embedder is embedder:
            numbers, _ = number_of.of_lists([one.table.terms])
            parts.append(_renumbered(one, numbers))
        else:
            first, last = np.searchsorted(source.rows, [start, end])
            rows, texts = source.rows[first:last] - start, source.texts[first:last]
            parts.append(_counted_bags(embedder, one, rows, texts, number_of))
        start = end
    if len(parts) == 1:
        return parts[0]
    starts = offsets_of([part.shape[0] for part in parts]).tolist()
    other_rows = [part.other_rows + at for part, at in zip(parts, starts, strict=False)]
    return BagSegment(
        parts[0].table,
        _joined([part.pieces for part in parts]),
        _joined([part.terms for part in parts]),
        seal(np.concatenate([part.scales for part in parts])),
        np.concatenate(other_rows),
        seal(np.concatenate([part.others for part in parts])),
    )


def _renumbered(segment: BagSegment, numbers: NDArray[np.int32]) -> BagSegment:
    """Return bags with entries of their own, and other numbers for the terms."""
    terms = segment.terms.compact()
    terms = replace(terms, columns=numbers[terms.columns])
    return replace(segment, pieces=segment.pieces.compact(), terms=terms)


def _counted_bags(
    embedder: StaticEmbedding,
    vectors: VectorSegment,
    rows: NDArray[np.int64],
    texts: Sequence[str],
    number_of: Numbering[str],
) -> BagSegment:
    """Return the bags of rows that come from texts."""
    found = _Rows(vectors.shape[0])
    for start in range(0, len(rows), BATCH):
        some = rows[start : start + BATCH]
        counts = TextCounts.of(list(texts[start : start + BATCH]))
        made, scales = embedder.embed_counts(counts)
        fits = (made == vectors[some]).all(axis=1) & made.any(axis=1)
        found.add(some, counts, scales, fits, number_of)
    other_rows = np.flatnonzero(vectors.has_vector & ~found.is_bag)
    found.keep(other_rows, vectors[other_rows])
    return found.segment(BagTable(embedder, ()))


class _Rows:
    """The rows of a segment, batch by batch."""

    def __init__(self, n: int) -> None:
        self.scales, self.is_bag = np.zeros((n, 3), np.float32), np.zeros(n, np.bool_)
        self.pieces, self.terms = _Entries(n, np.uint16), _Entries(n, np.int32)
        self.other_rows = [np.zeros(0, np.int64)]
        self.others = [np.zeros((0, DIMENSIONS + SIGNATURE_WIDTH), np.float32)]

    def add(
        self,
        rows: NDArray[np.int64],
        counts: TextCounts,
        scales: Vectors,
        fits: Mask,
        number_of: Numbering[str],
    ) -> None:
        """Add the rows that fit and hold no word too often."""
        fits = fits & ~_is_too_often(counts)
        numbers, _ = number_of.of_lists([counts.terms])
        self.pieces.add(rows, counts.of_pieces, counts.pieces, fits)
        self.terms.add(rows, counts.of_terms, numbers, fits)
        self.scales[rows[fits]], self.is_bag[rows[fits]] = scales[fits], True

    def add_made(self, start: int, made: _MadeTexts, number_of: Numbering[str]) -> None:
        """Add texts as the rows from one on."""
        behind = start + len(made.is_made)
        self.add(np.arange(start, behind), made.counts, made.scales, made.is_made, number_of)
        others = np.flatnonzero(made.is_made & ~self.is_bag[start:behind])
        self.keep(others + start, made.vectors_of(others))

    def keep(self, rows: NDArray[np.int64], vectors: Vectors) -> None:
        """Add rows with their vectors as they are; they come in ascending order."""
        self.other_rows.append(rows)
        self.others.append(vectors)

    def segment(self, table: BagTable) -> BagSegment:
        """Return the rows as a segment."""
        bags = self.pieces.bags(), self.terms.bags()
        other_rows, others = np.concatenate(self.other_rows), np.concatenate(self.others)
        return BagSegment(table, *bags, seal(self.scales), other_rows, seal(others))


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


def _joined(parts: Sequence[Bags]) -> Bags:
    """Return bags one after the other, each with entries of its own."""
    columns, counts = (
        seal(np.concatenate([getattr(part, name) for part in parts]))
        for name in ("columns", "counts")
    )
    return Bags.of(np.concatenate([part.lengths for part in parts]), columns, counts)


class _Entries:
    """The entries of bags, batch by batch."""

    def __init__(self, n: int, dtype: type[np.generic]) -> None:
        self.lengths, self.dtype = np.zeros(n, np.int64), dtype
        self.columns: list[NDArray[Any]] = [np.zeros(0, dtype)]
        self.counts: list[NDArray[np.uint8]] = [np.zeros(0, np.uint8)]

    def add(
        self, rows: NDArray[np.int64], counted: CompressedRows, numbers: NDArray[Any], fits: Mask
    ) -> None:
        stays = np.repeat(fits, np.diff(counted.starts))
        self.lengths[rows[fits]] = np.diff(counted.starts)[fits]
        self.columns.append(numbers[counted.columns[stays]].astype(self.dtype))
        self.counts.append(counted.values[stays].astype(np.uint8))

    def bags(self) -> Bags:
        columns, counts = np.concatenate(self.columns), np.concatenate(self.counts)
        return Bags.of(self.lengths, seal(columns), seal(counts))


def _counted(bags: Bags, rank: NDArray[np.int64]) -> tuple[CompressedRows, NDArray[np.int64]]:
    """Return bags as a matrix whose columns are those in use, by rank, and which these are."""
    places = bags.places
    ranks = rank[bags.columns[places]]
    used = np.flatnonzero(np.bincount(ranks))
    number_of = np.zeros(int(used.max(initial=-1)) + 1, np.int64)
    number_of[used] = np.arange(len(used))
    rows, columns = np.repeat(np.arange(len(bags)), bags.lengths), number_of[ranks]
    starts, times = offsets_of(bags.lengths), bags.counts[places].astype(np.int64)
    if ((columns[1:] > columns[:-1]) | (rows[1:] > rows[:-1])).all():  # as those of pieces are
        pass
    elif len(bags) < MAX_IN_KEYS // 2 and len(used) <= MAX_IN_KEYS // MOST_COUNTS:
        # A row, a column and a count in one number are sorted in a tenth of the time.
        keys = rows << 32
        keys |= columns * MOST_COUNTS
        keys |= times
        keys.sort()
        columns, times = (keys & (MAX_IN_KEYS - 1)) // MOST_COUNTS, keys & (MOST_COUNTS - 1)
    else:
        order = np.lexsort((columns, rows))
        columns, times = columns[order], times[order]
    counted = CompressedRows(starts, columns.astype(np.int32), times.astype(np.float64), len(used))
    return counted, used
