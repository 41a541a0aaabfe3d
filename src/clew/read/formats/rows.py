"""A row with named columns becomes a document: one line of `column: value` for each column.

The columns are also metadata to filter by. CSV, TSV, JSON and JSON lines hold rows. A file whose
rows hold only numbers is one document, with the names of the columns in its title; `read_rows`
makes documents of its rows all the same.
"""

from __future__ import annotations

import csv
import json
import re
import textwrap
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import BytesIO, TextIOWrapper
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TextIO

from clew.document import Document
from clew.read.formats.number_tables import holds_only_numbers
from clew.read.formats.outline import Block, Outline, Share
from clew.read.formats.source_file import (
    UTF_16_MARKS,
    SourceFile,
    with_plain_line_ends,
)
from clew.read.formats.table import FORMATS
from clew.source_map import LineStart, SourceMap

TABLE_SUFFIXES = (".csv", ".tsv")
SAMPLE_LINES = 20  # by which the delimiter of a file is chosen
DELIMITERS = ",;\t|"
_DELIMITER_LINE = re.compile(r"\"?sep=([,;|\t])\"?\s*")  # the first line of some of Excel's files
_SPACE = re.compile(r"[ \t\n\r]*+")
# The two halves of a sign of a higher plane, an escape by number, or another one.
_ESCAPE = re.compile(
    r"\\u[Dd][89ABab][\dA-Fa-f]{2}\\u[Dd][C-Fc-f][\dA-Fa-f]{2}|\\u[\dA-Fa-f]{4}|\\.", re.ASCII
)
MAX_TITLE = 120  # characters of the title of a table of numbers
MAX_FIELD_LENGTH = 10_000_000  # characters; the standard library stops at 131,072

# What is done with a row that has a problem, in front of it. As everywhere, what begins with "read"
# is of something that was read.
AS_IT_IS, BY_NUMBER = "read with what is there: ", "read under its number: "


class _Report(Protocol):
    """Says where a problem is, what it is, and how the row is read all the same."""

    def __call__(self, line: int, problem: str, remedy: str = "") -> None: ...


class Row(NamedTuple):
    """A row of a file.

    Attributes:
        number: Its first line, or its number in a JSON array.
        columns: The values by the names of the columns.
        problem: What is wrong with it, or "".
        lines: Its first and last line in the file, from 1; None for a row of one line, `number`.
    """

    number: int
    columns: Mapping[str, Any]
    problem: str = ""
    lines: tuple[int, int] | None = None


def read(file: SourceFile) -> list[Document]:
    """Return the heading and the rows of a file; a file that holds no rows is read as text.

    In the text of JSON, letters that are escapes are written out, so that their words are found.
    """
    text = file.text()
    documents = list[Document]()
    if _may_hold_rows(file.path, text):
        documents = _row_documents(file, text)
    is_table = file.path.suffix.lower() in TABLE_SUFFIXES
    return documents or [file.document(text if is_table else with_letters(text))]


def outline(text: str, share: Share | None = None) -> Outline:  # noqa: ARG001  # sizes do not matter
    """Return the row as one block, which is cut between its columns."""
    return Outline((Block(0, len(text), "lines"),))


def read_rows(
    path: str | Path,
    *,
    id: str | None = None,
    name: str | None = None,
    skipped: list[tuple[str, str]] | None = None,
    encoding: str | None = None,
) -> Iterator[Document]:
    r"""Yield the rows of a CSV, TSV, JSON or JSON-lines file; only a JSON array is loaded at once.

    The first document is the heading of the others. The id of a row is that of the file with the
    row's line behind it, such as `people.csv#17`, or with the row's value in the column `id`. For a
    JSON array the number of the row stands for the line in the id. The metadata have the line.

    Args:
        path: The file. The first row of a CSV file names its columns; its delimiter is chosen by
            the first lines.
        id: The column whose values are the ids of the rows; None for their lines.
        name: The file's name in ids; None for the name that it has.
        skipped: Receives (place, reason) for every row that is not read in full. None raises at
            the first such row.
        encoding: The encoding of the file; None for UTF-8, or UTF-16 with its mark.

    Raises:
        ValueError: The file holds no rows; or, without `skipped`, a row does not fit its columns,
            or its id is missing or repeated.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder, "moons.csv")
        ...     _ = file.write_text("name,planet\nIo,Jupiter\n")
        ...     heading, row = read_rows(file)
        >>> heading.text, row.id, row.text
        ('moons', 'moons.csv#2', 'name: Io\nplanet: Jupiter')
    """
    path = Path(path)
    name = path.name if name is None else name

    def report(line: int, problem: str, remedy: str = "") -> None:
        if skipped is None:
            raise ValueError(f"{path}, row {line}: {problem}")
        skipped.append((f"{path.as_posix()}#{line}", f"{remedy}{problem}"))

    with path.open(encoding=encoding or _encoding(path), newline="") as file:
        yield from _documents(_parse(file, path), path, name, report, id)


def with_letters(text: str) -> str:
    r"""Return a text of JSON with its escapes of letters beside ASCII written out.

    Example:
        >>> with_letters(r'{"name": "K\u00f6ln\n\u65e5", "path": "c:\\u00f6"}')
        '{"name": "Köln\\n日", "path": "c:\\\\u00f6"}'
    """
    return _ESCAPE.sub(_letter_of, text) if "\\u" in text else text


def _letter_of(escape: re.Match[str]) -> str:
    written = escape[0]
    sign: str = json.loads(f'"{written}"') if len(written) > len(r"\n") else ""
    return sign if sign.isprintable() and not sign.isascii() else written


def _may_hold_rows(path: Path, text: str) -> bool:
    """Return whether a file holds rows, by its suffix and by how its text begins."""
    suffix = path.suffix.lower()
    if suffix != ".json":
        return suffix in FORMATS["record"].suffixes
    return "".join(text[:1000].split()).startswith("[{")


def _row_documents(file: SourceFile, text: str) -> list[Document]:
    """Return the heading and the rows of a file, or the whole of a table of numbers.

    Nothing is returned where it holds no rows after all.
    """
    try:
        # From memory: the file may be another one by now. What is no text `text` has told.
        opened = TextIOWrapper(BytesIO(file.raw), file.find_encoding(), "replace", newline="")
        rows = list(_parse(opened, file.path))
    except (ValueError, RecursionError) as error:
        file.report(f"read as text: {error}")
        return []
    if holds_only_numbers([row.columns.values() for row in rows if row.columns]):
        return [file.document(text, "record", title=_title_of_table(file.path, rows))]
    skipped: list[tuple[str, str]] = []

    def report(line: int, problem: str, remedy: str = "") -> None:
        skipped.append((f"{file.path.as_posix()}#{line}", f"{remedy}{problem}"))

    documents = list(_documents(rows, file.path, file.id, report))
    if len(documents) == 1:
        return []
    file.skipped.extend(skipped)
    return documents


def _title_of_table(path: Path, rows: Sequence[Row]) -> str:
    """Return the name of the file and those of the columns, which stand above every passage."""
    names = ", ".join(dict.fromkeys(chain.from_iterable(row.columns for row in rows)))
    return textwrap.shorten(f"{path.stem}: {names}", MAX_TITLE, placeholder=" …")


def _documents(
    rows: Iterable[Row],
    path: Path,
    name: str,
    report: _Report,
    id: str | None = None,
) -> Iterator[Document]:
    """Yield the heading and the rows of a file; the arguments are those of `read_rows`."""
    shared = {"path": path.as_posix(), "file_name": path.name}
    yield Document(name, path.stem, {**shared, "title": path.stem}, heading=True)
    seen: set[str] = set()
    for row in rows:
        if row.problem:
            report(row.number, row.problem, AS_IT_IS if row.columns else "")
        columns = {
            with_plain_line_ends(key): with_plain_line_ends(value) if type(value) is str else value
            for key, value in row.columns.items()
            if value not in ("", None)
        }
        if not columns:
            continue
        key = str(row.number) if id is None else str(columns.get(id, ""))
        if not key:
            report(row.number, f"its {id} is missing", BY_NUMBER)
        elif key in seen:
            report(row.number, f"its {id} {key!r} came before", BY_NUMBER)
        if not key or key in seen:
            key = f"row {row.number}"
        seen.add(key)
        text = "\n".join(f"{column}: {_as_text(value)}" for column, value in columns.items())
        first, last = row.lines or (row.number, row.number)
        metadata = {**columns, **shared, "line": first}
        # Only the end of a row is known to be in its last line.
        source = SourceMap.of(name, [LineStart(0, first), LineStart(len(text) - 1, last)])
        yield Document(
            f"{name}#{key}", text, metadata, parent=name, format="record", source_map=source
        )


def _parse(file: TextIO, path: Path) -> Iterator[Row]:
    """Yield the rows of an open file; its path says how they are written."""
    parse = _parse_table if path.suffix.lower() in TABLE_SUFFIXES else _parse_json
    yield from parse(file, path)


def _parse_table(file: TextIO, path: Path) -> Iterator[Row]:
    csv.field_size_limit(max(csv.field_size_limit(), MAX_FIELD_LENGTH))
    sample = list(islice(file, SAMPLE_LINES))
    named = _DELIMITER_LINE.fullmatch(sample[0]) if sample else None
    if named:
        delimiter = named[1]
    else:
        delimiter = "\t" if path.suffix.lower() == ".tsv" else _choose_delimiter(sample)
    header: list[str] = []
    for lines, cells, problem in _table_lines(chain(sample, file), delimiter):
        if named and lines[0] == 1:
            continue
        if not any(cell.strip() for cell in cells):
            if problem:
                yield Row(lines[0], {}, problem)
        elif header:
            yield _table_row(lines, header, cells, problem)
        else:
            header = _column_names(cells)
            if problem:
                yield Row(lines[0], {}, f"read as the names of columns: {problem}")


def _table_lines(
    lines: Iterator[str], delimiter: str
) -> Iterator[tuple[tuple[int, int], list[str], str]]:
    """Yield the first and the last line of each row, its values, and what is wrong with it.

    Where a quote is not closed, or ends within a value, the lines behind it may be rows of their
    own. So the first line is a row by itself, as a spreadsheet reads it, and the next one begins
    behind it.

    Args:
        lines: The lines of the file.
        delimiter: What is between two values.
    """
    again, row = deque[str](), list[str]()  # lines that are read again, and those of this row

    def take() -> Iterator[str]:
        while line := again.popleft() if again else next(lines, ""):
            row.append(line)
            yield line

    before, is_over = 0, False
    while not is_over:
        try:
            for cells in csv.reader(take(), delimiter=delimiter, strict=True):
                yield (before + 1, before + len(row)), cells, ""
                before += len(row)
                row.clear()
            is_over = True
        except csv.Error as error:
            problem = f"no row of CSV ({error}), so its first line is read as one"
            again.extendleft(reversed(row[1:]))
            before += 1
            yield (before, before), _cells_of_line(row[0], delimiter), problem
            row.clear()


def _cells_of_line(line: str, delimiter: str) -> list[str]:
    """Return the values of a line whose quotes are not those of CSV; none where it is too long."""
    try:
        return next(csv.reader([line.rstrip("\r\n")], delimiter=delimiter), [])
    except csv.Error:
        return []


def _table_row(
    lines: tuple[int, int], header: Sequence[str], cells: Sequence[str], problem: str
) -> Row:
    unnamed = (f"column {i}" for i in range(len(header) + 1, len(cells) + 1))
    columns = dict(zip(chain(header, unnamed), map(str.strip, cells), strict=False))
    if len(cells) != len(header) and not problem:
        problem = f"a row of {len(cells)} values for {len(header)} columns"
    return Row(lines[0], columns, problem, lines)


def _choose_delimiter(lines: Sequence[str]) -> str:
    """Return the sign that cuts the most lines into as many values as the first, at least two.

    The comma is chosen where no sign does.
    """
    best = (0.0, 0, ",")
    for sign in DELIMITERS:
        try:
            widths = [len(row) for row in csv.reader(lines, delimiter=sign) if row]
        except csv.Error:
            continue
        if widths and widths[0] > 1:
            agreement = sum(width == widths[0] for width in widths) / len(widths)
            best = max(best, (agreement, widths[0], sign))
    return best[2]


def _column_names(header: Sequence[str]) -> list[str]:
    """Return a distinct name for every column."""
    names: list[str] = []
    for i, cell in enumerate(header, 1):
        name = " ".join(cell.split()) or f"column {i}"
        names.append(name if name not in names else f"{name} ({i})")
    return names


def _parse_json(file: TextIO, path: Path) -> Iterator[Row]:
    if path.suffix.lower() == ".json":
        text = file.read()
        last, counted = 1, 0
        for number, (record, start, end) in enumerate(_array_items(text, path), 1):
            first = last + text.count("\n", counted, start)
            last, counted = first + text.count("\n", start, end), end
            yield _json_row(number, record)._replace(lines=(first, last))
        return
    for number, line in enumerate(file, 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except ValueError as error:
            yield Row(number, {}, f"not JSON: {error}")
            continue
        yield _json_row(number, record)


def _array_items(text: str, path: Path) -> Iterator[tuple[object, int, int]]:
    """Yield the items of a JSON array, each with the place where it starts and that where it ends.

    Raises:
        ValueError: The text is not JSON, or not an array.
    """
    decode, place = json.JSONDecoder().raw_decode, _behind_space(text, 0)
    items: list[tuple[object, int, int]] = []
    while text.startswith("," if items else "[", place):
        start = _behind_space(text, place + 1)
        try:
            record, end = decode(text, start)
        except ValueError:
            break
        items.append((record, start, end))
        place = _behind_space(text, end)
    if not (items and text.startswith("]", place) and _behind_space(text, place + 1) == len(text)):
        records = json.loads(text)  # which says what is wrong
        if not isinstance(records, list):
            kind = type(records).__name__
            raise ValueError(f"{path} is no array of objects; got a {kind}")
    yield from items


def _behind_space(text: str, place: int) -> int:
    space = _SPACE.match(text, place)
    return space.end() if space else place


def _json_row(number: int, record: object) -> Row:
    if isinstance(record, Mapping):
        return Row(number, dict(_flatten(record, "")))
    return Row(number, {}, f"not an object but a {type(record).__name__}")


def _flatten(record: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    """Yield the columns of an object; those of an object within it have its name in front."""
    for key, value in record.items():
        if isinstance(value, Mapping):
            yield from _flatten(value, f"{prefix}{key}.")
        elif not isinstance(value, list):
            yield f"{prefix}{key}", value
        elif any(isinstance(item, (Mapping, list)) for item in value):
            yield f"{prefix}{key}", json.dumps(value, ensure_ascii=False)
        else:
            yield f"{prefix}{key}", ", ".join(map(_as_text, value))


def _as_text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _encoding(path: Path) -> str:
    with path.open("rb") as file:
        return "utf-16" if file.read(2) in UTF_16_MARKS else "utf-8-sig"
