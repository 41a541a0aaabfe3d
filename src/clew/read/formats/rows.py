"""Rows with named columns become documents, one each, written as lines of `column: value`; the columns are metadata to filter by too."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any, TextIO

from clew.document import Document

SUFFIXES = (".csv", ".tsv", ".jsonl", ".ndjson", ".json")
SNIFFED = 20  # lines by which a file's delimiter is told
DELIMITERS = ",;\t|"
LONGEST_FIELD = 10_000_000  # signs; the standard library stops at 131,072


def rows_of(
    path: str | Path,
    *,
    id: str | None = None,
    name: str | None = None,
    skipped: list[tuple[str, str]] | None = None,
) -> Iterator[Document]:
    """Read a CSV, TSV, JSON or JSON-lines file row by row; only a JSON array is read at once.

    The first document is the heading of the others. The others' ids are the file's with the row's line behind it (for a JSON array its
    number), such as `people.csv#17`, or with the value of the column `id`.

    Args:
        path: the file, in UTF-8, or UTF-16 with its mark. A CSV file's first row names its columns, and its delimiter is told from its
            first lines. id: the column whose values are the rows' ids. name: what the file is called in ids, by default its name.
        skipped: takes the rows that are not read in full, each with the reason; without it the first such row raises.

    Raises:
        ValueError: a file that is not rows, a row that does not fit its columns, an id that is missing or comes twice.
    """
    path = Path(path)
    name = path.name if name is None else name
    shared = {"path": path.as_posix(), "file_name": path.name}
    yield Document(name, path.stem, {**shared, "title": path.stem}, heading=True)
    seen: set[str] = set()

    def amiss(line: int, reason: str) -> None:
        if skipped is None:
            raise ValueError(f"{path}, row {line}: {reason}")
        skipped.append((f"{path.as_posix()}#{line}", reason))

    with path.open(encoding=_encoding(path), newline="") as file:
        for line, record, reason in (_table if path.suffix.lower() in (".csv", ".tsv") else _json)(
            file, path
        ):
            if reason:
                amiss(line, reason)
            columns = {key: value for key, value in record.items() if value not in ("", None)}
            if not columns:
                continue
            key = str(line) if id is None else str(columns.get(id, ""))
            if not key or key in seen:
                amiss(
                    line,
                    f"its {id} is missing: named by its row"
                    if not key
                    else f"its {id} {key!r} came before: named by its row",
                )
                key = f"row {line}"
            seen.add(key)
            text = "\n".join(f"{column}: {_said(value)}" for column, value in columns.items())
            yield Document(
                f"{name}#{key}",
                text,
                {**columns, **shared, "line": line},
                parent=name,
                format="record",
            )


def is_rows(path: Path) -> bool:
    """Whether a file holds rows, by its name, and a JSON file by how it begins: an array of objects."""
    suffix = path.suffix.lower()
    if suffix != ".json":
        return suffix in SUFFIXES
    try:
        with path.open(encoding=_encoding(path)) as file:
            return "".join(file.read(1000).split()).startswith("[{")
    except (OSError, ValueError):
        return False


Rows = Iterator[tuple[int, dict[str, Any], str]]


def _table(file: TextIO, path: Path) -> Rows:
    csv.field_size_limit(max(csv.field_size_limit(), LONGEST_FIELD))
    first = list(islice(file, SNIFFED))
    delimiter = "\t" if path.suffix.lower() == ".tsv" else _delimiter(first)
    reader = csv.reader(chain(first, file), delimiter=delimiter, strict=True)
    try:
        header: Sequence[str] = _named(
            next((row for row in reader if any(cell.strip() for cell in row)), [])
        )
        begun = reader.line_num
        for row in reader:
            line, begun = (
                begun + 1,
                reader.line_num,
            )  # a row may go over several lines: it is known by its first
            if not any(cell.strip() for cell in row):
                continue
            columns = {key: cell.strip() for key, cell in zip(header, row, strict=False)}
            reason = (
                ""
                if len(row) == len(header)
                else f"row of {len(row)} values for {len(header)} columns"
            )
            if len(row) > len(header):
                columns |= {
                    f"column {i}": cell.strip()
                    for i, cell in enumerate(row[len(header) :], len(header) + 1)
                }
            yield line, columns, f"{reason}, read with what is there" if reason else ""
    except csv.Error as error:
        yield reader.line_num, {}, f"{error}: what follows is not read"


def _delimiter(lines: Iterable[str]) -> str:
    """The sign that cuts the first lines into the same number of values, more than one; the comma where none does."""
    lines, best = list(lines), (0.0, 0, ",")
    for sign in DELIMITERS:
        try:
            widths = [len(row) for row in csv.reader(lines, delimiter=sign) if row]
        except csv.Error:
            continue
        if widths and widths[0] > 1:
            best = max(
                best, (sum(width == widths[0] for width in widths) / len(widths), widths[0], sign)
            )
    return best[2]


def _named(header: Sequence[str]) -> list[str]:
    """The columns' names, each of its own."""
    names: list[str] = []
    for i, cell in enumerate(header, 1):
        name = " ".join(cell.split()) or f"column {i}"
        names.append(name if name not in names else f"{name} ({i})")
    return names


def _json(file: TextIO, path: Path) -> Rows:
    if path.suffix.lower() == ".json":
        said = json.load(file)
        if not isinstance(said, list):
            raise ValueError(f"{path} is no array of objects; got a {type(said).__name__}")
        records: Iterable[tuple[int, Any]] = enumerate(said, 1)
    else:
        records = ((i, line) for i, line in enumerate(file, 1) if line.strip())
    for number, record in records:
        try:
            said = (
                json.loads(record)
                if isinstance(record, str) and path.suffix.lower() != ".json"
                else record
            )
        except ValueError as error:
            yield number, {}, f"not JSON: {error}"
            continue
        if isinstance(said, Mapping):
            yield number, dict(_flat(said, "")), ""
        else:
            yield number, {}, f"not an object but a {type(said).__name__}"


def _flat(record: Mapping[str, Any], above: str) -> Iterator[tuple[str, Any]]:
    """The columns of an object; those of an object within have its name before theirs."""
    for key, value in record.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{above}{key}.")
        elif isinstance(value, list) and not any(isinstance(one, (Mapping, list)) for one in value):
            yield f"{above}{key}", ", ".join(_said(one) for one in value)
        elif isinstance(value, list):
            yield f"{above}{key}", json.dumps(value, ensure_ascii=False)
        else:
            yield f"{above}{key}", value


def _said(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _encoding(path: Path) -> str:
    with path.open("rb") as file:
        return "utf-16" if file.read(2) in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
