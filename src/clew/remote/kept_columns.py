"""Rows that were read of an index, side by side in columns: a graph takes its own of each.

Columns grow at their ends alone, so that whoever knows where a row is reads it without a lock while
others add rows.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, repeat
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from clew.graph import Labels, Mask, Rows, Vectors, expand_ranges, freeze, offsets_of
from clew.graph.vector_column import VectorColumn
from clew.remote.late_vectors import NO_VECTOR, UNREAD, LateVectors, VectorsLater
from clew.remote.packed_rows import Ints, UnpackedRows
from clew.remote.vector_places import VectorChunks, VectorPlaces

OVERHEAD = 320  # bytes that Python and the columns take for a row beside what it holds
OF_TEXT = 64  # the same for each further text of a row
GROWTH = 1.5  # how much longer a column becomes that is full

Places = NDArray[np.int64]
Texts = NDArray[np.object_]
Entries = NDArray[np.int32]


def texts_of(values: Sequence[object]) -> Texts:
    """Return values of any type as a column.

    Example:
        >>> texts_of([("a", "b"), ()]).shape
        (2,)
    """
    column = np.empty(len(values), np.object_)
    column[:] = values if len(values) != 1 else [values[0]]
    return column


@dataclass(frozen=True, eq=False)
class RowBlock:
    """Rows of some nodes that were read at once.

    Attributes:
        packed: int32, the numbers of each, one after the other; see `clew.remote.packed_rows`.
        lengths: int64 [n], how many of them each row has.
        neighbours: int32 [m, 3], the strongest of each, the first of all first; as in packed rows.
        n_neighbours: int64 [n], how many each row has.
        has_others: bool [n], whether there are other neighbours.
        ids: Those of the nodes.
        texts: Those of the nodes.
        metadata: Those of the nodes, parsed.
        links: Those of the nodes, tuples of texts.
        fact_texts: Those of the facts in these rows, one row after the other.
        relations: Of the same facts.
        n_facts: int64 [n], how many each row has.
        vectors: float32 [k, d], of the nodes that have one.
        has_vector: bool [n].
        is_unread: bool [n], of which nodes the vector was left out; None for none of them.
    """

    packed: Ints
    lengths: Places
    neighbours: Entries
    n_neighbours: Places
    has_others: Mask
    ids: Texts
    texts: Texts
    metadata: Texts
    links: Texts
    fact_texts: Texts
    relations: Texts
    n_facts: Places
    vectors: Vectors
    has_vector: Mask
    is_unread: Mask | None = None

    def __len__(self) -> int:
        return len(self.ids)

    def taken(self, rows: Places) -> RowBlock:
        """Return some of the rows, ascending."""

        def slots(lengths: Places) -> Places:
            return expand_ranges(offsets_of(lengths)[rows], lengths[rows])

        facts = slots(self.n_facts)
        vectors = (np.cumsum(self.has_vector) - 1)[rows][self.has_vector[rows]]
        return RowBlock(
            self.packed[slots(self.lengths)],
            self.lengths[rows],
            self.neighbours[slots(self.n_neighbours)],
            self.n_neighbours[rows],
            self.has_others[rows],
            self.ids[rows],
            self.texts[rows],
            self.metadata[rows],
            self.links[rows],
            self.fact_texts[facts],
            self.relations[facts],
            self.n_facts[rows],
            self.vectors[vectors],
            self.has_vector[rows],
            None if self.is_unread is None else self.is_unread[rows],
        )

    @property
    def sizes(self) -> Places:
        """About how many bytes each row takes: int64 [n]."""
        facts = _lengths(self.fact_texts) + _lengths(self.relations) + OF_TEXT
        owners = np.repeat(np.arange(len(self)), self.n_facts)
        found = np.bincount(owners, facts, len(self)).astype(np.int64)
        found += OVERHEAD + 4 * self.lengths + self.neighbours.itemsize * 3 * self.n_neighbours
        found += _lengths(self.ids) + _lengths(self.texts)
        found += self.has_vector * (self.vectors.itemsize * self.vectors.shape[1])
        of_links = (sum(map(len, some)) + OF_TEXT * len(some) for some in self.links)
        return found + np.fromiter(of_links, np.int64, len(self))


class _Column:
    """An array that grows at its end; what was taken of it stays as it is.

    Args:
        empty: It has the type and the width.
    """

    def __init__(self, empty: NDArray[Any]) -> None:
        self._array, self._length = empty, 0

    def append(self, values: NDArray[Any]) -> None:
        end = self._length + len(values)
        if end > len(self._array):
            room = max(end, int(GROWTH * len(self._array)))
            grown = np.empty((room, *self._array.shape[1:]), self._array.dtype)
            grown[: self._length] = self._array[: self._length]
            self._array = grown
        self._array[self._length : end] = values
        self._length = end

    def __len__(self) -> int:
        return self._length

    @property
    def values(self) -> NDArray[Any]:
        return self._array[: self._length]


class KeptColumns:
    """The columns of rows that are kept; a row has its place in them for good.

    Args:
        dimension: The width of vectors.
    """

    def __init__(self, dimension: int) -> None:
        self.bytes = self._turn = 0
        self.dimension = dimension
        self.lock = threading.Lock()
        none, texts = np.zeros(0, np.int64), np.zeros(0, np.object_)
        self._packed, self._starts = _Column(np.zeros(0, "<i4")), _Column(none)
        self._lengths = _Column(none)
        self._neighbours, self._neighbour_starts = _Column(np.zeros((0, 3), "<i4")), _Column(none)
        self._n_neighbours, self._has_others = _Column(none), _Column(np.zeros(0, np.bool_))
        self._ids, self._texts = _Column(texts), _Column(texts)
        self._metadata, self._links = _Column(texts), _Column(texts)
        self._fact_texts, self._relations = _Column(texts), _Column(np.zeros(0, np.int32))
        self._fact_starts, self._n_facts = _Column(none), _Column(none)
        self._names, self._code_of = _Column(texts), dict[str, int]()
        self._vectors = VectorChunks(dimension)
        self._vector_places, self._last_use = _Column(none), _Column(none)
        self._sizes = _Column(none)

    def __len__(self) -> int:
        return len(self._ids)

    def append(self, block: RowBlock) -> Places:
        """Add rows, and return their places; whoever calls has the lock.

        Args:
            block: The rows.
        """
        first, sizes = len(self), block.sizes
        self._starts.append(len(self._packed) + offsets_of(block.lengths)[:-1])
        self._neighbour_starts.append(len(self._neighbours) + offsets_of(block.n_neighbours)[:-1])
        self._fact_starts.append(len(self._fact_texts) + offsets_of(block.n_facts)[:-1])
        own = len(self._vectors) + np.cumsum(block.has_vector) - 1
        places = np.where(block.has_vector, own, NO_VECTOR)
        if block.is_unread is not None:
            places[block.is_unread] = UNREAD
        self._vector_places.append(places)
        self._relations.append(self._codes(block.relations))
        self._last_use.append(np.full(len(block), self._turn))
        self._sizes.append(sizes)
        for column, values in (
            *((self._packed, block.packed), (self._lengths, block.lengths)),
            *((self._neighbours, block.neighbours), (self._n_neighbours, block.n_neighbours)),
            *((self._has_others, block.has_others), (self._texts, block.texts)),
            *((self._metadata, block.metadata), (self._links, block.links)),
            *((self._fact_texts, block.fact_texts), (self._n_facts, block.n_facts)),
            (self._ids, block.ids),
        ):
            column.append(values)
        self._vectors.append(block.vectors)
        self.bytes += int(sizes.sum())
        return np.arange(first, first + len(block))

    def _codes(self, relations: Texts) -> Rows:
        code_of, known = self._code_of, len(self._code_of)
        codes = [*map(code_of.get, relations, repeat(-1))]
        if -1 in codes:
            codes = [code_of.setdefault(name, len(code_of)) for name in relations]
            self._names.append(texts_of([*islice(code_of, known, None)]))
        return freeze(codes, np.int32)

    def use(self, places: Places) -> None:
        """Note that rows are used now."""
        self._turn += 1
        self._last_use.values[places] = self._turn

    def newest_places(self, places: Places, max_bytes: float) -> Places:
        """Return those of some places that were used last, as many as the bytes hold, ascending."""
        order = places[np.lexsort((-places, -self._last_use.values[places]))]
        return np.sort(order[np.cumsum(self._sizes.values[order]) <= max_bytes])

    def copied(self, places: Places) -> KeptColumns:
        """Return columns of some rows alone; whoever calls has the lock."""
        copy, slots = KeptColumns(self.dimension), self.fact_slots(places)
        own = self.vector_places(places)
        block = RowBlock(
            self._packed.values[self._slots(self._starts, self._lengths, places)],
            self._lengths.values[places],
            *self.neighbours(places),
            self.has_others(places),
            self._ids.values[places],
            self._texts.values[places],
            self._metadata.values[places],
            self._links.values[places],
            self._fact_texts.values[slots],
            self._names.values[self._relations.values[slots]],
            self._n_facts.values[places],
            self.vectors_at(own[own >= 0])[:],
            own >= 0,
            own == UNREAD,
        )
        copy.append(block)
        copy._turn, copy._last_use.values[:] = self._turn, self._last_use.values[places]
        return copy

    def vectors_at(self, own: Places) -> VectorPlaces:
        """Return vectors by their places among all vectors; see `vector_places`."""
        return VectorPlaces(self._vectors.chunks, self.dimension, own)

    def vector_places(self, places: Places) -> Places:
        """Return where the vectors of nodes are; `NO_VECTOR` or `UNREAD` for one that is not."""
        own: Places = self._vector_places.values[places]
        return own

    def put_vectors(self, places: Places, vectors: Vectors) -> None:
        """Add the vectors of rows of which they were not read; one that is there already stays.

        Args:
            places: int64 [n], the places of the rows, each once.
            vectors: float32 [n, d], unit rows, or zeros for a node that has none.
        """
        with self.lock:
            is_new = self.vector_places(places) == UNREAD
            new, places = vectors[is_new], places[is_new]
            has = np.any(new, axis=1)
            own = len(self._vectors) + np.cumsum(has) - 1
            self._vectors.append(new[has])
            self._vector_places.values[places] = np.where(has, own, NO_VECTOR)
            sizes = has * (new.itemsize * self.dimension)
            self._sizes.values[places] += sizes
            self.bytes += int(sizes.sum())

    def _slots(self, starts: _Column, lengths: _Column, places: Places) -> Places:
        return expand_ranges(starts.values[places], lengths.values[places])

    def unpacked(self, places: Places) -> UnpackedRows:
        """Return the numbers of rows."""
        return UnpackedRows.at(self._packed.values, self._starts.values[places])

    def neighbours(self, places: Places) -> tuple[Entries, Places]:
        """Return the strongest neighbours of rows, one row after the other, and their counts."""
        slots = self._slots(self._neighbour_starts, self._n_neighbours, places)
        entries: Entries = self._neighbours.values[slots]
        return entries, self._n_neighbours.values[places]

    def has_others(self, places: Places) -> Mask:
        """Return which rows have other neighbours."""
        found: Mask = self._has_others.values[places]
        return found

    def ids(self, places: Places) -> tuple[str, ...]:
        """Return the ids of nodes."""
        return tuple(self._ids.values[places].tolist())

    def texts(self, places: Places) -> tuple[str, ...]:
        """Return the texts of nodes."""
        return tuple(self._texts.values[places].tolist())

    def metadata(self, places: Places) -> tuple[Mapping[str, Any], ...]:
        """Return the metadata of nodes."""
        return tuple(self._metadata.values[places].tolist())

    def links(self, places: Places) -> tuple[tuple[str, ...], ...]:
        """Return the links of nodes."""
        return tuple(self._links.values[places].tolist())

    def vectors(self, places: Places) -> VectorColumn:
        """Return the vectors of nodes, all of which were read."""
        return VectorColumn([self.vectors_at(self.vector_places(places))])

    def late_vectors(self, places: Places, numbers: Rows, later: VectorsLater) -> VectorColumn:
        """Return the vectors of nodes, of which some are read when they are looked at.

        Args:
            places: int64 [n], the places of the rows.
            numbers: int32 [n], those of the nodes.
            later: What reads them.
        """
        return VectorColumn([LateVectors(self, places, numbers, later)])

    def fact_slots(self, places: Places) -> Places:
        """Return where the facts of rows are, one row after the other."""
        return self._slots(self._fact_starts, self._n_facts, places)

    def fact_texts(self, slots: Places) -> Sequence[str]:
        """Return the texts of facts, which are looked up when they are read: most never are."""
        return _TextsAt(self._fact_texts.values, slots)

    def relations(self, slots: Places) -> Labels:
        """Return the relations of facts."""
        codes = self._relations.values[slots]
        used = np.flatnonzero(np.bincount(codes))
        names = self._names.values[used].tolist()
        order = sorted(range(len(names)), key=names.__getitem__)
        places = np.zeros(int(codes.max(initial=-1)) + 1, np.int32)
        places[used[order]] = np.arange(len(used), dtype=np.int32)
        return Labels(tuple([names[one] for one in order]), freeze(places[codes], np.int32))


class _TextsAt(Sequence[str]):
    """Texts at some places of a column.

    Args:
        column: The texts.
        places: Where they are.
    """

    def __init__(self, column: Texts, places: Places) -> None:
        self._column, self._places = column, places

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, text: int) -> str: ...
    @overload
    def __getitem__(self, text: slice) -> tuple[str, ...]: ...
    def __getitem__(self, text: int | slice) -> str | tuple[str, ...]:
        if isinstance(text, slice):
            return tuple(self._column[self._places[text]].tolist())
        found: str = self._column[self._places[text]]
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self[:])


def _lengths(texts: Texts) -> Places:
    return np.fromiter(map(len, texts), np.int64, len(texts))


def joined_numbers(rows: Iterable[bytes]) -> tuple[Ints, Places]:
    """Return int32, little-endian, of several rows, one after the other, and how many each has."""
    some = list(rows)
    lengths = np.fromiter(map(len, some), np.int64, len(some)) // 4
    return np.frombuffer(b"".join(some), "<i4"), lengths
