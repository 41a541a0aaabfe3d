"""Rows that were read of an index, as a graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from clew.graph import Edges, Facts, Graph, Labels, Ragged, Rows, Vectors, freeze, offsets_of, seal
from clew.graph.vector_column import VectorColumn
from clew.remote.kept_columns import KeptColumns, Places
from clew.remote.late_vectors import UNREAD, VectorsLater
from clew.remote.numbers import is_among
from clew.remote.packed_rows import Ints, UnpackedRows, code_of_kind
from clew.remote.protocol import PulledNodes
from clew.remote.vector_places import CHUNK, VectorPlaces

MAX_SPAN = 1_000_000  # of numbers that are looked up in a table; of more, they are searched


@dataclass(frozen=True, eq=False)
class ReadRows:
    """The rows of some nodes, and what is needed to make a graph of them.

    Attributes:
        numbers: int32 [n], ascending, of the nodes.
        columns: They have the rows.
        places: int64 [n], where the row of each is.
        kinds: The kinds of nodes and edges of the index.
        count: As in `clew.graph.Graph`.
        canonical: As in `clew.graph.Graph`.
        later: What reads the vectors that did not come with their rows; None where all did.
    """

    numbers: Rows
    columns: KeptColumns
    places: Places
    kinds: Sequence[str]
    count: Callable[[str], int]
    canonical: Callable[[str], str] | None
    later: VectorsLater | None = None

    @property
    def unread(self) -> tuple[Places, Rows]:
        """The places of the rows whose vector was not read, and the numbers of their nodes."""
        is_unread = self.columns.vector_places(self.places) == UNREAD
        return self.places[is_unread], freeze(self.numbers[is_unread], np.int32)

    @cached_property
    def _vectors(self) -> VectorColumn:
        if self.later is None:
            return self.columns.vectors(self.places)
        return self.columns.late_vectors(self.places, self.numbers, self.later)

    @cached_property
    def unpacked(self) -> UnpackedRows:
        """The numbers of the rows."""
        return self.columns.unpacked(self.places)

    def graph(self, allowed_facts: Rows | None, fact_vectors: Mapping[int, Vectors]) -> PulledNodes:
        """Return the graph, in which numbers have become rows.

        Args:
            allowed_facts: The facts that may be read; None for all.
            fact_vectors: Those of some facts; the others have rows of zeros.
        """
        row_of, columns, places, unpacked = self._row_of, self.columns, self.places, self.unpacked
        facts, fact_numbers = self._facts(allowed_facts, fact_vectors)
        spans = unpacked.column("span_start"), unpacked.column("span_end")
        graph = Graph(
            ids=columns.ids(places),
            kinds=self._labels(unpacked.column("kind")),
            texts=columns.texts(places),
            vectors=self._vectors,
            tokens=seal(unpacked.column("tokens").copy()),
            documents=row_of(unpacked.column("document")),
            parents=row_of(unpacked.column("parent")),
            previous=row_of(unpacked.column("previous")),
            spans=seal(np.stack(spans, axis=1)),
            references=columns.links(places),
            read_from=_known(unpacked.lists("read_from"), row_of),
            generated=seal(unpacked.column("generated") != 0),
            metadata=columns.metadata(places),
            originals=(None,) * len(places),
            facts=facts,
            edges=self._edges(_Rows(fact_numbers)),
            count=self.count,
            canonical=self.canonical,
        )
        found = PulledNodes(
            self.numbers,
            graph,
            unpacked.column("mentions").astype(np.int64),
            unpacked.column("contents").astype(np.int64),
            unpacked.column("language").astype(np.int8),
        )
        starts, words = unpacked.section("linked_words")
        linked_words = np.full(len(places), -1, np.int32)
        linked_words[np.diff(starts) > 0] = words[:, 0]
        return replace(found, linked_words=linked_words)

    @cached_property
    def _row_of(self) -> _Rows:
        return _Rows(self.numbers)

    def facts_between(self) -> Rows:
        """Return the numbers of the facts whose ends are both among the nodes."""
        entries, row_of = self.unpacked.section("facts")[1], self._row_of
        has_ends = (row_of(entries[:, 1]) >= 0) & (row_of(entries[:, 2]) >= 0)
        return freeze(np.sort(entries[has_ends, 0]), np.int32)

    def _facts(self, allowed: Rows | None, vectors: Mapping[int, Vectors]) -> tuple[Facts, Rows]:
        columns, row_of = self.columns, self._row_of
        entries = self.unpacked.section("facts")[1]
        subjects, objects = row_of(entries[:, 1]), row_of(entries[:, 2])
        stays = (subjects >= 0) & (objects >= 0)
        if allowed is not None:
            stays &= np.isin(entries[:, 0], allowed)
        chosen = _in_order(stays, entries[:, 0])
        numbers = seal(entries[chosen, 0])
        slots = columns.fact_slots(self.places)[chosen]
        facts = Facts(
            columns.fact_texts(slots),  # type: ignore[arg-type]
            _vectors_of(vectors, numbers, columns.dimension),
            seal(subjects[chosen]),
            seal(objects[chosen]),
            columns.relations(slots),
            _sources(entries[:, 3], self.unpacked.lists("fact_sources").values, chosen, row_of),
        )
        return facts, numbers

    def _edges(self, fact_row_of: _Rows) -> Edges:
        entries, row_of = self.unpacked.section("edges")[1], self._row_of
        tails, heads = row_of(entries[:, 1]), row_of(entries[:, 2])
        facts = fact_row_of(entries[:, 5])
        # An edge that states a fact goes with the fact.
        stays = (tails >= 0) & (heads >= 0) & ((entries[:, 5] < 0) | (facts >= 0))
        chosen = _in_order(stays, entries[:, 0])
        return Edges(
            seal(tails[chosen]),
            seal(heads[chosen]),
            self._labels(entries[chosen, 3]),
            seal(entries[chosen, 4]).view("<f4"),
            seal(facts[chosen]),
            _sources(entries[:, 6], self.unpacked.lists("edge_sources").values, chosen, row_of),
        )

    def _labels(self, codes: Ints) -> Labels:
        """Return kinds, of which only those are named that are there."""
        names = sorted(self.kinds)
        of_names = np.array([code_of_kind(name) for name in names], np.int32)
        by_code = np.argsort(of_names)
        places = by_code[np.searchsorted(of_names[by_code], codes)]
        return Labels(tuple(names), freeze(places, np.int32)).take(slice(None))


class _Rows:
    """The row of each number; -1 for a number that is not there."""

    def __init__(self, numbers: Rows) -> None:
        self._numbers = numbers
        self._table: Rows | None = None
        if len(numbers) and (span := int(numbers[-1]) - int(numbers[0]) + 1) <= MAX_SPAN:
            table = np.full(span + 2, -1, np.int32)  # and one more at each end
            table[numbers - (numbers[0] - 1)] = np.arange(len(numbers), dtype=np.int32)
            self._table = table

    def __call__(self, numbers: Ints) -> Rows:
        if not len(self._numbers):
            return seal(np.full(len(numbers), -1, np.int32))
        if self._table is not None:
            places = numbers.astype(np.int64) - (int(self._numbers[0]) - 1)
            return seal(self._table.take(places, mode="clip"))
        places = np.minimum(np.searchsorted(self._numbers, numbers), len(self._numbers) - 1)
        return seal(np.where(self._numbers[places] == numbers, places, -1).astype(np.int32))


def _vectors_of(vectors: Mapping[int, Vectors], numbers: Rows, dimension: int) -> VectorColumn:
    """Return the vectors of facts, by their numbers; most have none."""
    known = np.fromiter(vectors, np.int32, len(vectors))
    there = is_among(known, numbers)
    places = np.full(len(numbers), -1, np.int64)
    places[np.searchsorted(numbers, known[there])] = np.flatnonzero(there)
    array = np.array([*vectors.values()], np.float32).reshape(len(vectors), dimension)
    chunks = [array[start : start + CHUNK] for start in range(0, len(array), CHUNK)]
    return VectorColumn([VectorPlaces(chunks, dimension, places)])


def _in_order(stays: NDArray[np.bool_], numbers: Ints) -> NDArray[np.int64]:
    """Return the places that stay, by their numbers, each of which is there once."""
    places = np.flatnonzero(stays)
    return places[np.argsort(numbers[places])]


def _known(lists: Ragged, row_of: _Rows) -> Ragged:
    """Return lists of numbers as lists of rows, without those that are not there."""
    rows = row_of(lists.values)
    stays = rows >= 0
    left = np.bincount(lists.owners[stays], minlength=len(lists))
    return Ragged(seal(offsets_of(left)), seal(rows[stays]))


def _sources(lengths: Ints, values: Ints, chosen: NDArray[np.int64], row_of: _Rows) -> Ragged:
    """Return the sources of some facts or edges, of which all stand one behind the other."""
    every = Ragged(seal(offsets_of(lengths)), values)
    return _known(every.take(chosen), row_of)
