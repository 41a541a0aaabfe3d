"""The blocks of a manual page, written in Markdown, each line with its line of the source."""

from __future__ import annotations

import re
from collections.abc import Sequence

from clew.read.formats.markdown_writer import escape_mark
from clew.source_map import LineStart

MAX_DEPTH = 8  # lists in lists that are shown as such
_NUMBERED = re.compile(r"\d{1,9}[.)]")
_LINK = re.compile(r"\[([^\[\]]*)\]\0\([^()]*\)")  # as `link` writes it
MAX_TAG = 120  # characters of a paragraph that may be the tag of the indented text below it
_TARGET = {" ": "%20", "(": "%28", ")": "%29", "<": "%3C", ">": "%3E"}


class ManualBlocks:
    """Headings, paragraphs, items, code and tables, in their order.

    Attributes:
        glue: Whether the next words join the ones before without a space.
        in_code: Whether lines are kept as they are.
    """

    def __init__(self) -> None:
        self.glue = False
        self.in_code = False
        self._blocks: list[str] = []  # each behind what separates it from the one before
        self._starts: list[LineStart] = []
        self._size = 0
        self._lines: list[list[tuple[str, int]]] = []  # of the open paragraph: (words, source line)
        self._code: list[tuple[str, int]] = []
        self._indents = [""]  # of the open item of each level of lists; "" where none is open
        self._mark = ""  # of the item, while it is still to be written
        self._ends_item = False  # whether the last block belongs to an item

    def text(self) -> str:
        """Return the Markdown that is written so far."""
        self.end_code()
        return "".join(self._blocks)

    def starts(self) -> Sequence[LineStart]:
        """Return where the lines of the source begin in the text."""
        return self._starts

    def words(self, words: str, line: int) -> None:
        """Write words in the open paragraph, or as a line of code."""
        joins, self.glue = self.glue, False
        if self.in_code:
            words = _LINK.sub(r"\1", words)
            if joins and self._code:
                words = self._code.pop()[0] + words.lstrip()
            self._code.append((words.expandtabs().rstrip(), line))
            return
        words = " ".join(words.split())
        if not words:
            self.glue = joins
            return
        if not self._lines:
            self._lines.append([])
        before = self._lines[-1][-1][0] if joins and self._lines[-1] else ""
        words = words.replace("](", "]\\(").replace("]\0(", "](")
        if before.endswith("]") and words.startswith("("):
            words = "\\" + words
        self._lines[-1].append((words if joins or not self._lines[-1] else " " + words, line))

    def break_line(self) -> None:
        """End the line of a paragraph."""
        self.glue = False
        if self._lines and self._lines[-1]:
            self._lines.append([])

    def end_paragraph(self) -> None:
        """End the open paragraph."""
        self.glue = False
        lines, self._lines = [line for line in self._lines if line], []
        if lines:
            self._write([("".join(words for words, _ in line), line) for line in lines])

    def heading(self, level: int, words: str, line: int) -> None:
        """Write a heading, which ends every list."""
        self.end_code()
        self.end_paragraph()
        self._indents, self._mark = [""], ""
        words = _LINK.sub(r"\1", words)
        words = re.sub(r"(?<!\\)([*_<`])", r"\\\1", " ".join(words.split()))
        if words:
            self._write([("#" * level + " " + words, [("", line)])], is_verbatim=True)

    def begin_item(self, mark: str = "") -> None:
        """Begin an item of a list; a number as its mark is kept."""
        self.end_code()
        self.end_paragraph()
        mark = f"{mark} " if _NUMBERED.fullmatch(mark) else "- "
        n_around = min(len(self._indents) - 1, MAX_DEPTH)
        self._mark = "".join(self._indents[:n_around]) + mark
        self._indents[-1] = " " * len(mark)

    def end_item(self) -> None:
        """End the open paragraph, and the item that it belongs to."""
        self.end_paragraph()
        self._indents[-1], self._mark = "", ""

    def enter_level(self) -> None:
        """Begin a list in the open item, or the text below a tag that is a paragraph by itself."""
        tag = self._lines[0] if len(self._lines) == 1 and not self._indents[-1] else []
        words = "".join(words for words, _ in tag)
        if words and len(words) <= MAX_TAG and words[-1] not in ".:;,":
            lines, self._lines = self._lines, []
            self.begin_item()
            self._lines = [*lines, []]
            self._indents.append("")
            return
        self.end_paragraph()
        if self._mark and self._indents[-1]:  # an item without words of its own
            self._indents[-1], self._mark = "", ""
        self._indents.append("")

    def leave_level(self) -> None:
        """End a list in an item."""
        self.end_paragraph()
        if len(self._indents) > 1:
            self._indents.pop()
        self._mark = ""

    def begin_code(self) -> None:
        """Begin lines that are kept as they are."""
        self.end_paragraph()
        self.in_code = True

    def end_code(self) -> None:
        """End these lines."""
        self.in_code = self.glue = False
        lines, self._code = self._code, []
        while lines and not lines[-1][0]:
            lines.pop()
        first = next((i for i, (words, _) in enumerate(lines) if words), 0)
        lines = lines[first:]
        if not lines:
            return
        self.end_paragraph()
        longest = max(len(run) for words, _ in lines for run in re.findall("`+|$", words))
        fence = "`" * max(3, 1 + longest)
        rows = [(fence, [("", lines[0][1])]), *((words, [("", line)]) for words, line in lines)]
        self._write([*rows, (fence, [])], is_verbatim=True)

    def table(self, rows: Sequence[tuple[Sequence[str], int]]) -> None:
        """Write the rows of a table, each with its line of the source."""
        self.end_code()
        self.end_paragraph()
        rows = [(cells, line) for cells, line in rows if any(cells)]
        width = max((len(cells) for cells, _ in rows), default=0)
        if not width or width * len(rows) > 2 * sum(len(cells) for cells, _ in rows) + 100:
            for cells, line in rows:  # mostly of empty cells
                self.words(" ".join(cells), line)
                self.break_line()
            self.end_paragraph()
            return
        lines = []
        for cells, line in rows:
            shown = [cell.replace("|", "\\|") for cell in cells]
            row = "| " + " | ".join([*shown, *[""] * (width - len(cells))]) + " |"
            lines.append((row, [("", line)]))
        lines.insert(1, ("|" + " --- |" * width, []))
        self._write(lines, is_verbatim=True)

    def _write(
        self, lines: Sequence[tuple[str, list[tuple[str, int]]]], is_verbatim: bool = False
    ) -> None:
        """Write a block of lines, each with its pieces and their lines of the source."""
        indent = "".join(self._indents[:MAX_DEPTH])
        before = "\n\n" if self._blocks else ""
        if self._ends_item and self._mark.endswith("- "):  # a number would go on with the words
            before = "\n"
        place, written = self._size + len(before), list[str]()
        for i, (words, pieces) in enumerate(lines):
            content = words if is_verbatim else escape_mark(words)
            lead = self._mark if i == 0 and self._mark else indent if content else ""
            offset = place + len(lead) + len(content) - len(words)
            for number, (piece, line) in enumerate(pieces):
                self._starts.append(LineStart(place if number == 0 else offset, line))
                offset += len(piece)
            written.append((lead + content).rstrip())
            place += len(written[-1]) + 1
        self._blocks.append(before + "\n".join(written))
        self._size += len(self._blocks[-1])
        self._mark, self._ends_item = "", bool(indent) and not is_verbatim


def link(words: str, target: str) -> str:
    r"""Return a link, for `ManualBlocks.words`; the sign in it is in no text.

    Example:
        >>> link("tar(1)", "tar.1")
        '[tar(1)]\x00(tar.1)'
    """
    target = "".join(_TARGET.get(character, character) for character in target)
    return f"[{words.replace('[', '(').replace(']', ')')}]\0({target})" if target else words
