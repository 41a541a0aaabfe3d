"""A table of a manual page, in the language of tbl(1), as rows of cells."""

from __future__ import annotations

import re
from collections.abc import Sequence

_SEPARATOR = re.compile(r"tab\s*\((.)\)")
_RULE = re.compile(r"(?:[_=\s]|\\_)++")


class ManualTable:
    """A table under construction: options, then the format of its columns, then its rows.

    Example:
        >>> table = ManualTable()
        >>> for number, line in enumerate(("tab(:);", "l l.", "Tide:Hour", "_", "Ebb:9"), 1):
        ...     table.add(line, number)
        >>> table.rows()
        [(['Tide', 'Hour'], 3), (['Ebb', '9'], 5)]
    """

    def __init__(self) -> None:
        self._separator = "\t"
        self._in_format = True
        self._rows: list[tuple[list[str], int]] = []
        self._block: list[str] | None = None  # a cell of several lines that is open

    def begin_format(self) -> None:
        """Begin the format of further rows."""
        self._in_format = True

    def rows(self) -> Sequence[tuple[list[str], int]]:
        """Return the cells of each row, and the line of the source that it begins in."""
        self._end_block()
        return [([" ".join(cell.split()) for cell in cells], line) for cells, line in self._rows]

    def add(self, line: str, number: int) -> None:
        """Take the next line of the table."""
        if self._in_format:
            if separator := _SEPARATOR.search(line):
                self._separator = separator[1]
            self._in_format = not line.rstrip().endswith(".")
            return
        if self._block is not None:
            if not line.startswith("T}"):
                self._block.append(line)
                return
            self._end_block()
            cells = line[len("T}") :].split(self._separator)[1:]
            self._rows[-1][0].extend(cells)
        elif _RULE.fullmatch(line):
            return
        else:
            self._rows.append((line.split(self._separator), number))
        last = self._rows[-1][0]
        if last and last[-1].strip() == "T{":
            self._block = []

    def _end_block(self) -> None:
        if self._block is not None:
            self._rows[-1][0][-1] = " ".join(self._block)
            self._block = None
