"""The kinds of column of a table: how rows are taken, joined, compared, written and read.

A column of references holds rows of another table. They are numbered anew, with an array from the
old number to the new one, whenever rows of that table come or go.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from operator import is_not
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from clew.graph import (
    AnyVectors,
    Labels,
    Mask,
    Ragged,
    Rows,
    VectorColumn,
    common_length,
    distinct,
    places_among,
    release_pages,
    row_addresses,
    take_vectors,
)
from clew.read.json_values import to_json
from clew.store.metadata_texts import parse_metadata
from clew.store.row_changes import runs_of
from clew.store.tables import ColumnReader, ColumnWriter
from clew.store.text_column import TextColumn

COMPARED_ROWS = 4096  # vectors at once
MAX_RUNS = 1000
"""Runs of consecutive rows that are copied or compared one by one."""


class ColumnKind(Protocol):
    """What can be done with the columns of one kind.

    Attributes:
        table: The table whose rows the column refers to; "" for a column of plain values.
    """

    @property
    def table(self) -> str: ...

    def take(self, column: Any, rows: NDArray[np.int64]) -> Any:  # noqa: ANN401  # of its own type
        """Return the column of some rows."""
        ...

    def between(self, column: Any, start: int, end: int) -> Any:  # noqa: ANN401  # of its own type
        """Return the column of the rows from one on, and before another; arrays are not copied."""
        ...

    def gather(self, parts: Sequence[Any], places: NDArray[np.int64]) -> Any:  # noqa: ANN401  # of its own type
        """Return the values at some places of the parts, which stand one behind the other."""
        ...

    def renumbered(self, column: Any, new: Rows) -> Any:  # noqa: ANN401  # of its own type
        """Return the column with every reference `r` replaced by `new[r]`."""
        ...

    def differing(self, before: Any, after: Any) -> Mask:  # noqa: ANN401  # of its own type
        """Return True for the rows that two columns of one length do not have in common."""
        ...

    def write(self, writer: ColumnWriter, name: str, column: Any, owners: Sequence[str]) -> None:  # noqa: ANN401  # of its own type
        """Write the column; `owners` names every row in a message."""
        ...

    def read(self, reader: ColumnReader, name: str) -> Any:  # noqa: ANN401  # of its own type
        """Return the column that was written."""
        ...


@dataclass(frozen=True)
class Numbers:
    """Numbers, or rows of numbers.

    Attributes:
        dtype: Their type.
        dimensions: 1, or 2 for rows of numbers.
        table: The table whose rows they are, or "".
    """

    dtype: type[np.generic]
    dimensions: int = 1
    table: str = ""

    def take(self, column: NDArray[Any], rows: NDArray[np.int64]) -> NDArray[Any]:
        return column[rows]

    def between(self, column: NDArray[Any], start: int, end: int) -> NDArray[Any]:
        return column[start:end]

    def gather(self, parts: Sequence[NDArray[Any]], places: NDArray[np.int64]) -> NDArray[Any]:
        """Return the values at some places; vectors that are mapped are read once."""
        first, n = parts[0], len(parts[0])
        gathered = np.empty((len(places), *first.shape[1:]), first.dtype)
        rest = np.concatenate([first[:0], *parts[1:]])
        in_first = places < n
        for source, rows, offset in ((first, in_first, 0), (rest, ~in_first, n)):
            gathered[rows] = self.take(source, places[rows] - offset)
        return gathered

    def renumbered(self, column: NDArray[Any], new: Rows) -> NDArray[Any]:
        return np.where(column >= 0, new[column], -1) if len(new) else column

    def differing(self, before: NDArray[Any], after: NDArray[Any]) -> Mask:
        """Return the rows of other bits: -0.0 is not 0.0."""
        unequal: Mask = np.not_equal(_bits(before), _bits(after))
        return unequal if self.dimensions == 1 else np.logical_or.reduce(unequal, axis=1)

    def write(
        self, writer: ColumnWriter, name: str, column: NDArray[Any], owners: Sequence[str]
    ) -> None:
        writer.numbers(name, column, self.dtype)

    def read(self, reader: ColumnReader, name: str) -> NDArray[Any]:
        return reader.numbers(name, self.dimensions).astype(self.dtype, copy=False)


@dataclass(frozen=True)
class VectorRows(Numbers):
    """Vectors, of which those that a file has stay there."""

    def take(self, column: AnyVectors, rows: NDArray[np.int64]) -> Any:  # noqa: ANN401  # vectors
        return take_vectors(column, rows)

    def between(self, column: AnyVectors, start: int, end: int) -> Any:  # noqa: ANN401  # vectors
        return take_vectors(column, np.arange(start, end))

    def gather(self, parts: Sequence[AnyVectors], places: NDArray[np.int64]) -> Any:  # noqa: ANN401  # vectors
        together = [segment for part in parts for segment in VectorColumn.of(part).segments]
        return VectorColumn(together).take(places)

    def differing(self, before: AnyVectors, after: AnyVectors) -> Mask:
        """Return the rows of other bits; those of the same memory are not looked at."""
        differing = np.zeros(len(after), np.bool_)
        differing[self.differing_in_runs(before, after, np.array([(0, 0, len(after))]))] = True
        return differing

    def differing_in_runs(
        self, before: AnyVectors, after: AnyVectors, runs: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Return the rows of other bits in runs of kept rows, ascending.

        Args:
            before: The vectors before.
            after: The vectors now.
            runs: As in `clew.store.row_changes.RowChange`.
        """
        then, now = row_addresses(before), row_addresses(after)
        were, are = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        for start, at, n in runs.tolist():
            others = np.flatnonzero(then[start : start + n] != now[at : at + n])
            were.append(start + others)
            are.append(at + others)
        old, new = np.concatenate(were), np.concatenate(are)
        differing = np.zeros(len(new), np.bool_)
        for first in range(0, len(new), COMPARED_ROWS):
            some = slice(first, first + COMPARED_ROWS)
            differing[some] = super().differing(before[old[some]], after[new[some]])
            release_pages(before)
        return new[differing]

    def write(
        self, writer: ColumnWriter, name: str, column: AnyVectors, owners: Sequence[str]
    ) -> None:
        writer.vectors(name, column)


@dataclass(frozen=True)
class Texts:
    """Texts."""

    table: str = ""

    def take(self, column: Sequence[str], rows: NDArray[np.int64]) -> Sequence[str]:
        if isinstance(column, TextColumn) and (np.diff(rows) > 0).all():
            return column.take(rows)
        bounds = runs_of(rows)
        if len(bounds) > MAX_RUNS:
            return tuple(column[row] for row in rows.tolist())
        starts = rows[bounds[:-1]].tolist()
        runs = zip(starts, np.diff(bounds).tolist(), strict=True)
        return tuple(chain.from_iterable(column[start : start + n] for start, n in runs))

    def between(self, column: Sequence[str], start: int, end: int) -> Sequence[str]:
        return column[start:end]

    def gather(self, parts: Sequence[Sequence[str]], places: NDArray[np.int64]) -> Sequence[str]:
        stored, n = parts[0], len(parts[0])
        if isinstance(stored, TextColumn):
            changed_places = np.flatnonzero(places >= n)  # of those that a change has
            first = int(changed_places[0]) if len(changed_places) else len(places)
            if (places[first:] >= n).all():  # no stored text has to be made
                column, changed = stored.take(places[:first]), list(chain(*parts[1:]))
                return column + [changed[place - n] for place in places[first:].tolist()]
        return self.take(tuple(chain.from_iterable(parts)), places)

    def renumbered(self, column: Sequence[str], new: Rows) -> Sequence[str]:
        return column

    def differing(self, before: Sequence[object], after: Sequence[object]) -> Mask:
        if (
            isinstance(before, TextColumn)
            and isinstance(after, TextColumn)
            and before.table is after.table
        ):
            return before.differing(after)
        differing, row = np.zeros(len(after), np.bool_), 0
        while (row := row + common_length(before, after, row, row)) < len(after):
            differing[row] = True
            row += 1
        return differing

    def write(
        self, writer: ColumnWriter, name: str, column: Sequence[str], owners: Sequence[str]
    ) -> None:
        writer.texts(name, column)

    def read(self, reader: ColumnReader, name: str) -> tuple[str, ...]:
        return reader.texts(name)


@dataclass(frozen=True)
class TextLists(Texts):
    """Lists of texts."""

    def write(self, writer: ColumnWriter, name: str, column: Any, owners: Sequence[str]) -> None:  # noqa: ANN401  # lists
        writer.lists(name, column)

    def read(self, reader: ColumnReader, name: str) -> Any:  # noqa: ANN401  # lists
        return reader.lists(name)


@dataclass(frozen=True)
class MetadataColumn(Texts):
    """Mappings of the caller's own, compared by identity: equal ones may be of other types.

    Attributes:
        known: Those that were read, by their text, so that a node has that of its document.
    """

    known: dict[str, Mapping[str, Any]] = field(default_factory=dict, compare=False)

    def differing(self, before: Sequence[object], after: Sequence[object]) -> Mask:
        if not any(map(is_not, before, after)):  # in half of the time
            return np.zeros(len(after), np.bool_)
        return np.fromiter(map(is_not, before, after), np.bool_, len(after))

    def write(self, writer: ColumnWriter, name: str, column: Any, owners: Sequence[str]) -> None:  # noqa: ANN401  # mappings
        texts: dict[int, str] = {}
        for one, owner in zip(column, owners, strict=True):
            if id(one) not in texts:
                texts[id(one)] = json.dumps(to_json(one, f"{owner}: metadata"), allow_nan=False)
        writer.texts(name, [texts[id(one)] for one in column])

    def read(self, reader: ColumnReader, name: str) -> Any:  # noqa: ANN401  # mappings
        texts = reader.texts(name)
        for text in dict.fromkeys(texts):
            if text not in self.known:
                self.known[text] = parse_metadata(text)
        return tuple(self.known[text] for text in texts)


@dataclass(frozen=True)
class Words:
    """Labels."""

    table: str = ""

    def take(self, column: Labels, rows: NDArray[np.int64]) -> Labels:
        return Labels(column.names, column.codes[rows])

    def between(self, column: Labels, start: int, end: int) -> Labels:
        return Labels(column.names, column.codes[start:end])

    def gather(self, parts: Sequence[Labels], places: NDArray[np.int64]) -> Labels:
        return self.take(Labels.join(parts), places)

    def renumbered(self, column: Labels, new: Rows) -> Labels:
        return column

    def differing(self, before: Labels, after: Labels) -> Mask:
        differing: Mask = codes_among(before, after) != after.codes
        return differing

    def write(self, writer: ColumnWriter, name: str, column: Labels, owners: Sequence[str]) -> None:
        writer.labels(name, column.take(np.arange(len(column))))  # with no name that no row has

    def read(self, reader: ColumnReader, name: str) -> Labels:
        return reader.labels(name)


@dataclass(frozen=True)
class RowLists:
    """Lists of rows of a table. A row that is gone is gone from every list."""

    table: str

    def take(self, column: Ragged, rows: NDArray[np.int64]) -> Ragged:
        return column.take(rows)

    def between(self, column: Ragged, start: int, end: int) -> Ragged:
        return column.between(start, end)

    def gather(self, parts: Sequence[Ragged], places: NDArray[np.int64]) -> Ragged:
        return Ragged.join(parts).take(places)

    def renumbered(self, column: Ragged, new: Rows) -> Ragged:
        return column.renumbered(new)

    def differing(self, before: Ragged, after: Ragged) -> Mask:
        differing = np.zeros(len(after), np.bool_)
        differing[self.differing_in_runs(before, after, np.array([(0, 0, len(after))]))] = True
        return differing

    def differing_in_runs(
        self, before: Ragged, after: Ragged, runs: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Return the rows with another list in runs of kept rows, ascending.

        Args:
            before: The lists before.
            after: The lists now.
            runs: As in `clew.store.row_changes.RowChange`.
        """
        found = [np.zeros(0, np.int64)]
        for start, at, n in runs.tolist():
            then, now = before.starts[start : start + n + 1], after.starts[at : at + n + 1]
            apart = now - then  # it stays the same where lists are of one length
            longer = np.flatnonzero(apart[1:] != apart[:-1])
            found.append(at + longer)
            for first, last in zip([0, *(longer + 1).tolist()], [*longer.tolist(), n], strict=True):
                values = after.values[now[first] : now[last]]
                others = np.flatnonzero(before.values[then[first] : then[last]] != values)
                rows = np.searchsorted(now, now[first] + others, side="right") - 1
                found.append(at + rows)
        return distinct(np.concatenate(found))

    def write(self, writer: ColumnWriter, name: str, column: Ragged, owners: Sequence[str]) -> None:
        writer.ragged(name, column)

    def read(self, reader: ColumnReader, name: str) -> Ragged:
        return reader.ragged(name)


def codes_among(labels: Labels, others: Labels) -> NDArray[np.integer]:
    """Return the place of each row's word among those of another column; -1 where it has none.

    Example:
        >>> codes_among(Labels.of(["sea", "isle"]), Labels.of(["isle", "port", "sea"]))
        array([2, 0], dtype=int32)
    """
    if labels.names is others.names or labels.names == others.names:
        return labels.codes
    are_sorted = labels.is_sorted and others.is_sorted
    places = places_among(labels.names, others.names, are_sorted=are_sorted)
    codes: NDArray[np.integer] = places[labels.codes]
    return codes


def _bits(numbers: NDArray[Any]) -> NDArray[Any]:
    return numbers.view(np.uint32) if numbers.dtype == np.float32 else numbers
