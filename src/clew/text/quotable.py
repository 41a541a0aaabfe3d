"""What can be quoted of a text: sentences, lines of what is no prose, and rows of tables."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from clew.text.spans import Span, lines, paragraphs, sentences

MAX_LETTERS = 300  # of a quote; what has no such sentences is no prose, and is quoted by its lines


class Quotable(NamedTuple):
    """A piece of a text that can be quoted.

    Attributes:
        start: Its first character in the text.
        end: The character behind its last one.
        text: What is quoted: the piece, or the row of a table with the names of its columns.
    """

    start: int
    end: int
    text: str


class _Row(NamedTuple):
    """A row of a table: its first and last line, counted from 0, and its text."""

    first: int
    last: int
    text: str


def quotable(text: str, columns: Mapping[str, Any]) -> Iterator[Quotable]:
    """Yield what can be quoted of a text, in order.

    Args:
        text: The text of an item.
        columns: The item's metadata. A text whose lines are all `column: value` is one row.

    Example:
        >>> [piece.text for piece in quotable("Ben sails. Anna left.", {})]
        ['Ben sails.', 'Anna left.']
    """
    for begin, end in paragraphs(text):
        for _, run in groupby(lines(text, begin, end), lambda span: text[span[0]] == "|"):
            spans = list(run)
            rows = _table_rows([text[start:stop] for start, stop in spans], columns)
            for row in rows:
                yield Quotable(spans[row.first][0], spans[row.last][1], row.text)
            if not rows:
                yield from _sentences(text, (spans[0][0], spans[-1][1]))


def _table_rows(texts: Sequence[str], columns: Container[str]) -> list[_Row]:
    """Return the rows of a table, each value behind the name of its column; none for no table.

    Lines of `column: value` are one row. Otherwise the lines of a table have equally many values,
    with the same sign between two.
    """
    if columns and all(line.partition(":")[0] in columns for line in texts):
        whole = ", ".join(texts)
        if len(whole) <= MAX_LETTERS:
            return [_Row(0, len(texts) - 1, whole)]
        return [_Row(i, i, line) for i, line in enumerate(texts)]
    for sign in "|\t,;":
        cells = [_cells(line, sign) for line in texts]
        in_prose = sign in ",;" and any(f"{sign} " in line for line in texts)
        equally_many = len(cells) > 1 and len({len(row) for row in cells}) == 1
        if equally_many and len(cells[0]) > 1 and not in_prose:
            return _named_rows(cells, sign)
    return []


def _cells(line: str, sign: str) -> list[str]:
    stripped = line.strip("| " if sign == "|" else " ")
    return [cell.strip() for cell in stripped.split(sign)]


def _named_rows(cells: list[list[str]], sign: str) -> list[_Row]:
    is_rule = [set("".join(row)) <= set("-: ") for row in cells]
    has_header = is_rule[1] or sign != "|"  # a piece of a long table may have no header
    names = cells[0] if has_header else [""] * len(cells[0])
    found = []
    for i in range(int(has_header), len(cells)):
        if not is_rule[i]:
            pairs = zip(names, cells[i], strict=True)
            values = [f"{name}: {cell}" if name else cell for name, cell in pairs if cell]
            found.append(_Row(i, i, ", ".join(values)))
    return found


def _sentences(text: str, span: Span) -> Iterator[Quotable]:
    for begin, stop in sentences(text, *span, "en"):
        spans = [(begin, stop)] if stop - begin <= MAX_LETTERS else lines(text, begin, stop)
        yield from (Quotable(a, b, text[a:b]) for a, b in spans)
