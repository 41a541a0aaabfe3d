"""Rows that were read of an index, as a graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import overload

import numpy as np
from numpy.typing import NDArray

from clew.graph import Edges, Facts, Graph, Labels, Ragged, Rows, freeze, offsets_of
from clew.remote.kept_rows import KeptRow
from clew.remote.packed_rows import Ints, UnpackedRows, code_of_kind
from clew.remote.protocol import PulledNodes
from clew.remote.vector_bytes import column_of
from clew.store.column_kinds import parse_metadata

MAX_SPAN = 1_000_000  # of numbers that are looked up in a table; of more, they are searched


@dataclass(frozen=True, eq=False)
class ReadRows:
    """The rows of some nodes, and what is needed to make a graph of them.

    Attributes:
        numbers: int32 [n], ascending, of the nodes.
        rows: That of each.
        kinds: The kinds of nodes and edges of the index.
        dimension: The width of vectors.
        count: As in `clew.graph.Graph`.
        canonical: As in `clew.graph.Graph`.
    """

    numbers: Rows
    rows: Sequence[KeptRow]
    kinds: Sequence[str]
    dimension: int
    count: Callable[[str], int]
    canonical: Callable[[str], str] | None

    def graph(
        self,
        unpacked: UnpackedRows,
        allowed_facts: Rows | None,
        fact_vectors: Mapping[int, bytes],
    ) -> PulledNodes:
        """Return the graph, in which numbers have become rows.

        Args:
            unpacked: The numbers of the rows.
            allowed_facts: The facts that may be read; None for all.
            fact_vectors: Those of some facts; the others have rows of zeros.
        """
        row_of, rows = _Rows(self.numbers), self.rows
        metadata = [row.metadata for row in rows]
        parsed = {text: parse_metadata(text) for text in set(metadata)}
        facts, fact_numbers = self._facts(unpacked, row_of, allowed_facts, fact_vectors)
        spans = unpacked.column("span_start"), unpacked.column("span_end")
        graph = Graph(
            ids=tuple([row.id for row in rows]),
            kinds=self._labels(unpacked.column("kind")),
            texts=tuple([row.text for row in rows]),
            vectors=column_of([row.vector for row in rows], self.dimension),
            tokens=freeze(unpacked.column("tokens"), np.int32),
            documents=row_of(unpacked.column("document")),
            parents=row_of(unpacked.column("parent")),
            previous=row_of(unpacked.column("previous")),
            spans=freeze(np.stack(spans, axis=1), np.int32),
            references=tuple([row.links for row in rows]),
            read_from=_known(unpacked.lists("read_from"), row_of),
            generated=freeze(unpacked.column("generated") != 0, np.bool_),
            metadata=tuple(map(parsed.__getitem__, metadata)),
            originals=(None,) * len(rows),
            facts=facts,
            edges=self._edges(unpacked, row_of, _Rows(fact_numbers)),
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
        linked_words = np.full(len(rows), -1, np.int32)
        linked_words[np.diff(starts) > 0] = words[:, 0]
        return replace(found, linked_words=linked_words)

    def facts_between(self, unpacked: UnpackedRows) -> Rows:
        """Return the numbers of the facts whose ends are both among the nodes."""
        entries, row_of = unpacked.section("facts")[1], _Rows(self.numbers)
        has_ends = (row_of(entries[:, 1]) >= 0) & (row_of(entries[:, 2]) >= 0)
        return freeze(np.sort(entries[has_ends, 0]), np.int32)

    def _facts(
        self,
        unpacked: UnpackedRows,
        row_of: _Rows,
        allowed: Rows | None,
        vectors: Mapping[int, bytes],
    ) -> tuple[Facts, Rows]:
        starts, entries = unpacked.section("facts")
        subjects, objects = row_of(entries[:, 1]), row_of(entries[:, 2])
        stays = (subjects >= 0) & (objects >= 0)
        if allowed is not None:
            stays &= np.isin(entries[:, 0], allowed)
        chosen = _in_order(stays, entries[:, 0])
        numbers = freeze(entries[chosen, 0], np.int32)
        sent = [b""] * len(numbers)
        known = np.fromiter(vectors, np.int32, len(vectors))
        for number in known[np.isin(known, numbers)].tolist():
            sent[int(np.searchsorted(numbers, number))] = vectors[number]
        places = _Places(starts, chosen)
        facts = Facts(
            _FactTexts([row.fact_texts for row in self.rows], places),  # type: ignore[arg-type]
            column_of(sent, self.dimension),
            subjects[chosen],
            objects[chosen],
            _relations([row.relations for row in self.rows], places, entries[chosen, 4:6]),
            _sources(entries[:, 3], unpacked.lists("fact_sources").values, chosen, row_of),
        )
        return facts, numbers

    def _edges(self, unpacked: UnpackedRows, row_of: _Rows, fact_row_of: _Rows) -> Edges:
        entries = unpacked.section("edges")[1]
        tails, heads = row_of(entries[:, 1]), row_of(entries[:, 2])
        facts = fact_row_of(entries[:, 5])
        # An edge that states a fact goes with the fact.
        stays = (tails >= 0) & (heads >= 0) & ((entries[:, 5] < 0) | (facts >= 0))
        chosen = _in_order(stays, entries[:, 0])
        return Edges(
            freeze(tails[chosen], np.int32),
            freeze(heads[chosen], np.int32),
            self._labels(entries[chosen, 3]),
            freeze(np.ascontiguousarray(entries[chosen, 4]).view("<f4"), np.float32),
            freeze(facts[chosen], np.int32),
            _sources(entries[:, 6], unpacked.lists("edge_sources").values, chosen, row_of),
        )

    def _labels(self, codes: Ints) -> Labels:
        """Return kinds, of which only those are named that are there."""
        names = sorted(self.kinds)
        of_names = np.array([code_of_kind(name) for name in names], np.int32)
        by_code = np.argsort(of_names)
        places = by_code[np.searchsorted(of_names[by_code], codes)]
        return Labels(tuple(names), freeze(places, np.int32)).take(slice(None))


class _Places:
    """In which row some entries of a section are, and where there.

    Args:
        starts: int64 [n + 1], where the entries of each row begin.
        chosen: int64, the entries.
    """

    def __init__(self, starts: NDArray[np.int64], chosen: NDArray[np.int64]) -> None:
        self._starts, self._chosen = starts, chosen

    def __len__(self) -> int:
        return len(self._chosen)

    def of(self, entries: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
        """Yield the row of each entry, and its place there."""
        places = self._chosen[entries]
        rows = np.searchsorted(self._starts, places, side="right") - 1
        return zip(rows.tolist(), (places - self._starts[rows]).tolist(), strict=True)


class _FactTexts(Sequence[str]):
    """The texts of facts, which are looked up when they are read: most never are.

    Args:
        lists: Those in each row.
        places: Where that of each fact is.
    """

    def __init__(self, lists: Sequence[Sequence[str]], places: _Places) -> None:
        self._lists, self._places = lists, places

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, fact: int) -> str: ...
    @overload
    def __getitem__(self, fact: slice) -> tuple[str, ...]: ...
    def __getitem__(self, fact: int | slice) -> str | tuple[str, ...]:
        if isinstance(fact, slice):
            facts = np.arange(len(self))[fact]
            return tuple(self._lists[row][place] for row, place in self._places.of(facts))
        [(row, place)] = self._places.of(np.array([fact]))
        return self._lists[row][place]

    def __iter__(self) -> Iterator[str]:
        return iter(self[:])


def _relations(lists: Sequence[Sequence[str]], places: _Places, codes: Ints) -> Labels:
    """Return the relations of facts, of which each distinct one is read once."""
    whole = np.ascontiguousarray(codes).view("<i8")[:, 0]
    _, firsts, inverse = np.unique(whole, return_index=True, return_inverse=True)
    names = [lists[row][place] for row, place in places.of(firsts)]
    order = sorted(range(len(names)), key=names.__getitem__)
    ranks = np.zeros(len(names), np.int32)
    ranks[order] = np.arange(len(names), dtype=np.int32)
    return Labels(tuple(names[one] for one in order), freeze(ranks[inverse], np.int32))


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
            return freeze(np.full(len(numbers), -1), np.int32)
        if self._table is not None:
            places = numbers.astype(np.int64) - (int(self._numbers[0]) - 1)
            return freeze(self._table.take(places, mode="clip"), np.int32)
        places = np.minimum(np.searchsorted(self._numbers, numbers), len(self._numbers) - 1)
        return freeze(np.where(self._numbers[places] == numbers, places, -1), np.int32)


def _in_order(stays: NDArray[np.bool_], numbers: Ints) -> NDArray[np.int64]:
    """Return the places that stay, by their numbers, each of which is there once."""
    places = np.flatnonzero(stays)
    return places[np.argsort(numbers[places])]


def _known(lists: Ragged, row_of: _Rows) -> Ragged:
    """Return lists of numbers as lists of rows, without those that are not there."""
    rows = row_of(lists.values)
    stays = rows >= 0
    left = np.bincount(lists.owners[stays], minlength=len(lists))
    return Ragged(freeze(offsets_of(left), np.int64), freeze(rows[stays], np.int32))


def _sources(lengths: Ints, values: Ints, chosen: NDArray[np.int64], row_of: _Rows) -> Ragged:
    """Return the sources of some facts or edges, of which all stand one behind the other."""
    every = Ragged(freeze(offsets_of(lengths), np.int64), freeze(values, np.int32))
    return _known(every.take(chosen), row_of)
