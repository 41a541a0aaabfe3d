"""What files gave when they were read, as columns: those that an earlier version lacks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from clew.document import Document
from clew.read import FileReading
from clew.store.row_changes import change_of_objects, write_row_change
from clew.store.row_history import RowHistory
from clew.store.tables import ColumnReader, ColumnWriter

TABLE = "files"
PATHS = f"{TABLE}.paths"
LOOK = 4  # numbers


class StoredReading(NamedTuple):
    """A `FileReading` with the ids of its documents in the place of the documents."""

    path: str
    id: str
    reader: str
    look: tuple[int, ...]
    documents: tuple[str, ...]
    skipped: tuple[str, ...]


def savable_readings(
    files: Mapping[str, FileReading], documents: Mapping[str, Document]
) -> dict[str, FileReading]:
    """Return the readings of the files whose documents are all in an index as they were read.

    The others are read again when they are asked for.

    Args:
        files: Readings by path.
        documents: The documents of the index by id.
    """
    return {
        path: reading
        for path, reading in files.items()
        if all(_is_there(document, documents) for document in reading.documents)
    }


def _is_there(document: Document, documents: Mapping[str, Document]) -> bool:
    there = documents.get(document.id)
    return there is document or (there == document and there.facts == document.facts)


def write_readings(writer: ColumnWriter, readings: Sequence[FileReading]) -> None:
    """Write what files gave, with the ids of their documents."""
    _write_stored(writer, [_stored(reading) for reading in readings])


def _stored(reading: FileReading) -> StoredReading:
    return StoredReading(
        reading.path,
        reading.id,
        reading.reader,
        reading.look,
        tuple(document.id for document in reading.documents),
        tuple(part for pair in reading.skipped for part in pair),
    )


def _write_stored(writer: ColumnWriter, readings: Sequence[StoredReading]) -> None:
    for name in ("path", "id", "reader"):
        writer.texts(f"{TABLE}.{name}s", [getattr(reading, name) for reading in readings])
    looks = np.array([reading.look for reading in readings], np.int64).reshape(-1, LOOK)
    writer.numbers(f"{TABLE}.looks", looks)
    for name in ("documents", "skipped"):
        writer.lists(f"{TABLE}.{name}", [getattr(reading, name) for reading in readings])


def read_readings(reader: ColumnReader) -> tuple[StoredReading, ...]:
    """Return what files gave; nothing where an earlier version has saved the index."""
    if not reader.has(PATHS):
        return ()
    looks = reader.numbers(f"{TABLE}.looks", 2)
    if looks.shape[1] != LOOK:
        raise ValueError(f"{TABLE}.looks has {looks.shape[1]} numbers for a file, not {LOOK}")
    columns = [reader.texts(f"{TABLE}.{name}s") for name in ("path", "id", "reader")]
    lists = [reader.lists(f"{TABLE}.{name}") for name in ("documents", "skipped")]
    rows = zip(*columns, map(tuple, looks.tolist()), *lists, strict=True)
    return tuple(StoredReading(*row) for row in rows)


def write_changed_readings(
    writer: ColumnWriter, before: Mapping[str, FileReading], after: Mapping[str, FileReading]
) -> None:
    """Write which readings went, and those that are new."""
    then, now = [*before.values()], [*after.values()]
    change = change_of_objects([id(reading) for reading in then], [id(reading) for reading in now])
    write_row_change(writer, TABLE, change)
    write_readings(writer, [now[row] for row in change.new.tolist()])


def follow_readings(
    base: Sequence[StoredReading], readers: Sequence[ColumnReader]
) -> tuple[StoredReading, ...]:
    """Return what files gave after changes, as far as they are known.

    A change that an earlier version has saved may be of any file: nothing is known after it.
    """
    history, came = _history(len(base), readers)
    readings = (*base, *came)
    return tuple(readings[number] for number in history.numbers.tolist())


def write_merged_readings(writer: ColumnWriter, n: int, readers: Sequence[ColumnReader]) -> None:
    """Write several changes as one, in the columns of `write_changed_readings`.

    Args:
        writer: The writer.
        n: How many files gave something before the first change.
        readers: Read the changes.
    """
    history, came = _history(n, readers)
    new = history.write(writer, TABLE)
    _write_stored(writer, [came[number - n] for number in new.tolist()])


def _history(n: int, readers: Sequence[ColumnReader]) -> tuple[RowHistory, list[StoredReading]]:
    """Return what became of n readings, and those that came."""
    history, readings = RowHistory(n), list[StoredReading]()
    for reader in readers:
        if not reader.has(PATHS):
            history.keep(np.zeros(history.total, np.bool_))
            continue
        came, new = history.follow(reader, TABLE), read_readings(reader)
        if len(came) != len(new):
            raise ValueError(f"{TABLE} has {len(new)} new entries for {len(came)} new rows")
        readings += new
    return history, readings


def restore_readings(
    stored: Sequence[StoredReading], documents: Sequence[Document]
) -> dict[str, FileReading]:
    """Return the readings by path, with the documents of the index.

    Args:
        stored: What was saved.
        documents: The documents of the index.

    Raises:
        ValueError: The index does not have a document.
    """
    by_id = {document.id: document for document in documents}
    found: dict[str, FileReading] = {}
    for each in stored:
        missing = [id for id in each.documents if id not in by_id]
        if missing:
            raise ValueError(f"{each.path} gave the document {missing[0]!r}, which is not there")
        found[each.path] = FileReading(
            each.path,
            each.id,
            each.reader,
            each.look,
            tuple(by_id[id] for id in each.documents),
            tuple(zip(each.skipped[::2], each.skipped[1::2], strict=True)),
        )
    return found
