"""What an extractor has learnt as columns: the texts of every table, each with its count."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.read import Knowledge
from clew.read.extract.knowledge import CountTable
from clew.store.column_kinds import Texts
from clew.store.row_changes import change_of_objects, write_row_change
from clew.store.row_history import RowHistory
from clew.store.tables import Arrays, ColumnReader, ColumnWriter
from clew.store.text_column import TextColumn

NAME = "knowledge.form"
"""The column that an index has not whose extractor learns nothing, or of an earlier version."""

MAX_SHARE_LOOKED_UP = 1 / 16
"""Of the texts of a table that may be looked up one by one; then all are made."""

Counts = NDArray[np.int64]


def write_knowledge(writer: ColumnWriter, knowledge: Knowledge) -> None:
    """Write what was learnt."""
    tables = knowledge.tables
    writer.texts(NAME, [knowledge.form])
    writer.texts("knowledge.tables", tables)
    writer.numbers("knowledge.starts", np.cumsum([0, *map(len, tables.values())]), np.int64)
    writer.texts("knowledge.texts", chain.from_iterable(tables.values()))
    counts = np.concatenate([np.zeros(0, np.int64), *map(_counts, tables.values())])
    writer.numbers("knowledge.counts", _narrow(counts))


def read_knowledge(reader: ColumnReader) -> Knowledge | None:
    """Return what was learnt; None where nothing was saved.

    Raises:
        ValueError: The columns do not fit together.
    """
    if not reader.has(NAME):
        return None
    form, names = reader.texts(NAME), reader.texts("knowledge.tables")
    n, counts = len(reader.numbers("knowledge.texts")), reader.numbers("knowledge.counts")
    starts = reader.numbers("knowledge.starts").tolist()
    if (
        len(form) != 1
        or counts.shape != (n,)
        or len(starts) != len(names) + 1
        or sorted([0, *starts, n]) != [0, *starts, n]
        or len(set(names)) != len(names)
        or (len(counts) and counts.min() < 1)
    ):
        raise ValueError("the columns of what an extractor has learnt do not fit together")
    texts = reader.distinct_texts("knowledge.texts", starts)

    def table(start: int, end: int) -> Mapping[str, int]:
        some, their_counts = texts(start, end), counts[start:end]
        if isinstance(some, TextColumn):
            return StoredCounts(some, their_counts)
        return dict(zip(some, their_counts.tolist(), strict=True))

    bounds = dict(zip(names, pairwise(starts), strict=True))
    return Knowledge(form[0], StoredTables(bounds, table))


class StoredCounts(CountTable):
    """The counts of stored texts, of which a few are found without making the others.

    Args:
        texts: The texts, none of them twice.
        counts: int64 [texts].

    Raises:
        ValueError: A text comes twice, once all are made.

    Example:
        >>> from clew.store.text_column import StringTable
        >>> table = StringTable(np.frombuffer(b"seaisland", np.uint8), np.array([0, 3, 9]))
        >>> counts = StoredCounts(TextColumn(table, np.array([1, 0], np.int32)), np.array([5, 7]))
        >>> counts["sea"], counts.get("port"), dict(counts)
        (7, None, {'island': 5, 'sea': 7})
    """

    def __init__(self, texts: TextColumn, counts: NDArray[np.integer]) -> None:
        self.texts, self.counts = texts, counts
        self._found: dict[str, int] = {}  # most of what a change asks for, the next one does, too

    def _find(self, text: str) -> int:
        count = self._found.get(text)
        if count is None:
            if len(self._found) >= MAX_SHARE_LOOKED_UP * len(self):
                return self._all.get(text, 0)
            place = self._place_of(text)
            count = self._found[text] = 0 if place is None else int(self.counts[place])
        return count

    @cached_property
    def _place_of(self) -> Callable[[str], int | None]:
        return self.texts.places()

    def _make(self) -> dict[str, int]:
        self.__dict__.pop("_place_of", None)  # which is not needed any more, nor what it found
        self._found = {}
        table = dict(zip(self.texts, self.counts.tolist(), strict=True))
        if len(table) != len(self):
            raise ValueError("what an extractor has learnt counts a text twice")
        return table

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def stored(self) -> object:
        """What the counts are found by; see `clew.graph.sizes`."""
        found = self._found, self.__dict__.get("_place_of")
        return self.texts, self.counts, found, self.made


class StoredTables(Mapping[str, Mapping[str, int]]):
    """The tables of what was learnt, each made when it is first asked for: no question needs them.

    Args:
        bounds: Where each table begins and ends, by its name.
        make: Returns the table between two such places.

    Example:
        >>> tables = StoredTables({"small": (0, 1)}, lambda start, end: {"sea": end})
        >>> list(tables), tables["small"] is tables["small"]
        (['small'], True)
    """

    def __init__(
        self,
        bounds: Mapping[str, tuple[int, int]],
        make: Callable[[int, int], Mapping[str, int]],
    ) -> None:
        self._bounds, self._make = bounds, make
        self._made: dict[str, Mapping[str, int]] = {}

    def __getitem__(self, name: str) -> Mapping[str, int]:
        table = self._made.get(name)
        if table is None:
            table = self._made.setdefault(name, self._make(*self._bounds[name]))
        return table

    def __iter__(self) -> Iterator[str]:
        return iter(self._bounds)

    def __len__(self) -> int:
        return len(self._bounds)

    def __repr__(self) -> str:
        return repr(dict(self))

    def __reduce__(self) -> tuple[type[dict[str, Any]], tuple[dict[str, Any]]]:
        return dict, (dict(self),)


def can_follow(before: Knowledge | None, after: Knowledge | None) -> bool:
    """Return whether `write_learnt` can say what was learnt since: the tables are the same."""
    if before is None or after is None:
        return before is after
    return before.form == after.form and list(before.tables) == list(after.tables)


def write_learnt(writer: ColumnWriter, before: Knowledge | None, after: Knowledge | None) -> None:
    """Write how what is known changed: what is gone by its place, so that no word of it is written.

    Args:
        writer: The writer of the change.
        before: What was known.
        after: What is known, in the same tables.
    """
    if before is None or after is None:
        return
    for number, (then, now) in enumerate(
        zip(before.tables.values(), after.tables.values(), strict=True)
    ):
        if then is now:
            continue
        name, texts, counts = f"knowledge.{number}", list(now), _counts(now)
        change = change_of_objects(list(then), texts)
        unequal = _counts(then)[change.kept_before] != counts[change.kept_after]
        changed = change.kept_after[unequal]
        write_row_change(writer, name, change)
        writer.texts(f"{name}.texts", [texts[row] for row in change.new.tolist()])
        writer.numbers(f"{name}.changed", changed, np.int32)
        writer.numbers(f"{name}.counts", _narrow(counts[np.concatenate([change.new, changed])]))


def follow_learnt(
    known: Knowledge | None, readers: Sequence[ColumnReader], changes: Sequence[Arrays]
) -> Knowledge | None:
    """Return what is known after all changes that `write_learnt` wrote.

    Raises:
        ValueError: The columns do not fit together.
    """
    if known is None:
        return None
    tables = {
        name: _followed(f"knowledge.{number}", name, table, readers, changes)
        for number, (name, table) in enumerate(known.tables.items())
    }
    return Knowledge(known.form, tables)


def write_merged_learnt(
    writer: ColumnWriter,
    known: Knowledge | None,
    readers: Sequence[ColumnReader],
    changes: Sequence[Arrays],
) -> None:
    """Write several changes as one, in the columns of `write_learnt`.

    Args:
        writer: The writer.
        known: What was known before the first change.
        readers: Read the changes.
        changes: The changes.
    """
    for number, (of_table, table) in enumerate(() if known is None else known.tables.items()):
        name = f"knowledge.{number}"
        those = _of_column(name, readers, changes)
        if not those:
            continue
        n, before = len(table), _counts(table)
        history, texts, counts = _history(name, of_table, before, those)
        new = history.write(writer, name)
        stays = history.numbers[history.numbers < n]
        others = stays[counts[stays] != before[stays]]
        writer.texts(f"{name}.texts", [texts[number - n] for number in new.tolist()])
        writer.numbers(f"{name}.changed", history.now[others], np.int32)
        writer.numbers(f"{name}.counts", _narrow(counts[np.concatenate([new, others])]))


def _of_column(
    column: str, readers: Sequence[ColumnReader], changes: Sequence[Arrays]
) -> list[ColumnReader]:
    """Return the readers of the changes that change a table."""
    pairs = zip(readers, changes, strict=True)
    return [reader for reader, arrays in pairs if f"{column}.gone" in arrays]


def _followed(
    column: str,
    name: str,
    table: Mapping[str, int],
    readers: Sequence[ColumnReader],
    changes: Sequence[Arrays],
) -> Mapping[str, int]:
    """Return a table after all changes; one that is never changed is the same object."""
    those = _of_column(column, readers, changes)
    if not those:
        return table
    history, came_texts, counts = _history(column, name, _counts(table), those)
    stored = table.texts if isinstance(table, StoredCounts) else tuple(table)
    numbers = history.numbers.astype(np.int64)
    return _table(name, Texts().gather([stored, came_texts], numbers), counts[numbers])


def _history(
    column: str, name: str, counts: Counts, readers: Sequence[ColumnReader]
) -> tuple[RowHistory, list[str], NDArray[np.integer]]:
    """Return what became of the texts of a table, those that came, and the last count of all."""
    history, came_texts = RowHistory(len(counts)), list[str]()
    for reader in readers:
        came = history.follow(reader, column)
        new = reader.texts(f"{column}.texts")
        changed = history.numbers_of(reader.numbers(f"{column}.changed"))
        values = reader.numbers(f"{column}.counts")
        if len(new) != len(came) or len(values) != len(came) + len(changed):
            raise ValueError(f"{name} has other numbers of texts and counts than rows")
        came_texts += new
        counts = np.concatenate([counts, values[: len(new)]])
        counts[changed] = values[len(new) :]
    return history, came_texts, counts


def _table(name: str, texts: Sequence[str], counts: NDArray[np.integer]) -> Mapping[str, int]:
    is_valid = not len(counts) or counts.min() >= 1
    if is_valid and isinstance(texts, TextColumn):
        return StoredCounts(texts, counts)
    table = dict(zip(texts, counts.tolist(), strict=True))
    if len(table) != len(texts) or not is_valid:
        raise ValueError(f"{name} has a text twice, or one that never came")
    return table


def _counts(table: Mapping[str, int]) -> Counts:
    if isinstance(table, StoredCounts):
        return np.asarray(table.counts, np.int64)
    return np.fromiter(table.values(), np.int64, len(table))


def _narrow(counts: Counts) -> NDArray[np.integer]:
    is_small = counts.max(initial=0) <= np.iinfo(np.int32).max
    return counts.astype(np.int32) if is_small else counts
