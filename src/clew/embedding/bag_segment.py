"""Vectors of the embedded default as what they are made of: bags of words, a tenth of the bytes.

A vector of `StaticEmbedding` is a sum over a text's pieces and terms, scaled, less a mean. So its
dot product with a question is a sum over the same pieces and terms of their own products with the
question, which are computed once for all texts. The vector itself, where it is wanted, is computed
from the counts as the embedder computes it, to the bit.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from clew.algorithms.kernels.bags import add_scaled, bag_sums
from clew.embedding.bag_table import BagTable
from clew.embedding.bags import BATCH, OF_PIECES, OF_TERMS, Bags, TextBags
from clew.embedding.mean_sample import keys_of_entries
from clew.graph import (
    Floats,
    Mask,
    Vectors,
    has_vector,
    offsets_of,
    products,
    release_pages,
    seal,
    vectors_of,
)
from clew.second_thread import both

MAX_REMEMBERED = 4096  # rows whose vectors are kept, 12 MB: a method that descends needs few again
MIN_MADE = 1024
"""Rows whose vectors were made before what all terms have is kept for others: to read that takes as
long as a question of a new process."""
MIN_BESIDE = 1_000_000
"""Terms of rows from which on a part is handed to a second thread: it gains time."""
MIN_BESIDE_PLAIN = 200_000  # likewise, without machine code, when sums take ten times as long


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

    def __getstate__(self) -> dict[str, Any]:
        """Return what is pickled: the fields, since questions add to what else is known."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

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

    def _as_part_of(self, other: BagSegment, rows: slice | NDArray[np.int64]) -> Self:
        """Return this segment, of some rows of another one, with what that knows of them."""
        origin, places = other._origin
        self.__dict__["_origin"] = origin, places[rows]
        if (keys := other.__dict__.get("keys")) is not None:
            self.__dict__["keys"] = keys[rows]
        return self

    @cached_property
    def _origin(self) -> tuple[Vectors, NDArray[np.int64]]:
        """The scales of the segment that the rows were taken from, and their places there."""
        return self.scales, np.arange(len(self.scales))

    @property
    def addresses(self) -> NDArray[np.int64]:
        origin, places = self._origin
        return origin.ctypes.data + origin.strides[0] * places

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

    def _made(self, rows: NDArray[np.int64], *, kept: bool = False) -> Vectors:
        return self.table.vectors(self.pieces.take(rows), self.terms.take(rows), kept=kept)

    def _remembered(self, rows: NDArray[np.int64]) -> Vectors:
        """Return the vectors of a few rows, of which other questions may have needed some."""
        known, wanted = self._known, rows.tolist()
        found = {row: known.get(row) for row in wanted}  # another thread may clear it
        new = [row for row, vector in found.items() if vector is None]
        if new:
            # It is about how many: another thread may ask at once.
            n_made: int = self.__dict__.get("n_made", 0)
            self.__dict__["n_made"] = n_made + len(new)
            vectors = self._made(np.array(new, np.int64), kept=n_made >= MIN_MADE)
            made = dict(zip(new, vectors, strict=True))
            if len(known) + len(new) > MAX_REMEMBERED:
                known.clear()
            known.update(made)
            found.update(made)
        return np.array([found[row] for row in wanted])

    @cached_property
    def _known(self) -> dict[int, Vectors]:
        """The vectors of rows that were made last."""
        return {}

    @classmethod
    def of_texts(cls, table: BagTable, rows: Sequence[TextBags]) -> BagSegment:
        """Return the bags of several texts, of which there is at least one."""
        pieces, piece_counts, terms, term_counts, scales, others = zip(*rows, strict=True)
        return cls(
            table,
            Bags.of_rows(pieces, piece_counts),
            Bags.of_rows(terms, term_counts),
            seal(np.array(scales)),
            np.flatnonzero([len(vectors) for vectors in others]),
            seal(np.concatenate(others)),
        )

    def each_text(self) -> Iterator[TextBags]:
        """Yield the bags of each row."""
        columns = list[list[NDArray[Any]]]()
        for bags in (self.pieces, self.terms):
            bounds = list(zip(bags.starts.tolist(), bags.ends.tolist(), strict=True))
            columns += [
                [of[start:end] for start, end in bounds] for of in (bags.columns, bags.counts)
            ]
        place, is_other = self._places_of_others(np.arange(len(self.scales)))
        others = [
            self.others[at : at + has]
            for at, has in zip(place.tolist(), is_other.tolist(), strict=True)
        ]
        return (TextBags(*own) for own in zip(*columns, self.scales, others, strict=True))

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
            )._as_part_of(self, run)
        place, is_other = self._places_of_others(rows)
        return BagSegment(
            self.table,
            self.pieces.take(rows),
            self.terms.take(rows),
            self.scales[rows],
            np.flatnonzero(is_other),
            vectors_of(self.others, place[is_other]),
        )._as_part_of(self, rows)

    def compact(self) -> BagSegment:
        pieces, terms = self.pieces.compact(), self.terms.compact()
        return replace(self, pieces=pieces, terms=terms)._as_part_of(self, slice(None))

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

        if self._is_for_two:
            return both(sums_of_pieces, sums_of_terms)
        return sums_of_pieces(), sums_of_terms()

    @property
    def _is_for_two(self) -> bool:
        """Whether a second thread gains time."""
        least = MIN_BESIDE_PLAIN if bag_sums.dispatcher is None else MIN_BESIDE
        return self.terms.n_entries >= least

    def _sums_of_pieces(self, query: Vectors) -> Floats:
        table = self.table
        found = table.sums(self.pieces, OF_PIECES, table.piece_factors(query))
        if math.isnan(found.sum()):  # some have pieces that no row had so far
            table.compare_also(self.pieces.take(np.flatnonzero(np.isnan(found))))
            found = table.sums(self.pieces, OF_PIECES, table.piece_factors(query))
        return found

    def several_products(self, queries: Vectors) -> Vectors:
        found = np.empty((len(queries), len(self.scales)), np.float32)
        halves = zip(*self._half_sums_of_several(queries), strict=True)
        for row, query, (of_pieces, of_terms) in zip(found, queries, halves, strict=True):
            row[:] = add_scaled(of_pieces, of_terms, self.scales, self.table.of_mean(query))
            row[self.other_rows] = products(self.others, query)
        return found

    def _half_sums_of_several(self, queries: Vectors) -> tuple[Floats, Floats]:
        """Return what `half_sums` does for each of some vectors: float64 [m, n] twice."""
        table = self.table
        factors = table.factors_of_several(queries)

        def sums_of_pieces() -> Floats:
            return np.array([self.pieces.sums(OF_PIECES, own) for own in factors[0]])

        def sums_of_terms() -> Floats:
            return np.array([self.terms.sums(OF_TERMS, own) for own in factors[1]])

        if self._is_for_two:
            of_pieces, of_terms = both(sums_of_pieces, sums_of_terms)
        else:
            of_pieces, of_terms = sums_of_pieces(), sums_of_terms()
        if math.isnan(of_pieces.sum()):  # some have pieces that no row had so far
            table.compare_also(self.pieces.take(np.flatnonzero(np.isnan(of_pieces[0]))))
            factors = table.factors_of_several(queries)
            of_pieces = sums_of_pieces()
        return of_pieces, of_terms

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
        taken = MadeBags.of(super().take(rows), self.made, self.places[rows])
        return taken._as_part_of(self, rows)

    def bags(self) -> BagSegment:
        """Return the bags without the vectors."""
        return BagSegment(*(getattr(self, one.name) for one in fields(BagSegment)))
