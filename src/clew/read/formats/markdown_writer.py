"""A Markdown text is written as the elements of a page come by, in their order.

Headings, paragraphs, lists, tables, code and links keep their marks. A term of a glossary is the
heading of what it means, and the name of a definition (Sphinx's) that of its signature and of what
describes it, unless that is short; where the text around definitions goes on behind them, a comment
ends their sections. Words that Markdown would read as a mark are escaped where they would be one:
at the start of a line, before a bracket, in a heading.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, takewhile
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urljoin

from clew.read.formats.page_source import Mark, PageSource
from clew.source_map import LineStart

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

HEADINGS = {f"h{level}": level for level in range(1, 7)}
BLOCKS = frozenset((
    "address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details",
    "dialog", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "header", "hgroup",
    "hr", "html", "legend", "li", "main", "ol", "p", "pre", "section", "summary", "table", "tbody",
    "td", "tfoot", "th", "thead", "tr", "ul", *HEADINGS,
))  # fmt: skip
LOWEST = max(HEADINGS.values())
CELLS = ("td", "th")
SEEN = frozenset(  # that are seen in a line, and whose content is left out
    (
        "audio",
        "button",
        "canvas",
        "embed",
        "iframe",
        "input",
        "object",
        "select",
        "svg",
        "textarea",
        "video",
    )
)
ROWS = ("tr", "tbody", "thead", "tfoot")
LAYOUT = "table, pre, ul, ol, h1, h2, h3, h4, h5, h6, blockquote"  # what no table of data contains
PERMALINKS = ("¶", "#", "§", "🔗", "")  # the words of a link to the heading that it is in
NOT_FOLLOWED = ("javascript:", "mailto:", "data:", "tel:")
MAX_DEPTH = 20  # lists and quotations within another that are shown as such
MAX_BEHIND = 80  # characters behind a glossary, such as a link back, that may go to its last term
NAMES = ".sig-prename, .sig-name, code.descclassname, code.descname"  # in a signature
MIN_DESCRIPTION = 16  # words that describe a definition under a heading of its own
MAX_SPAN = 100  # columns that one cell of a table may span
_ESCAPES = {" ": "%20", "(": "%28", ")": "%29", "<": "%3C", ">": "%3E", "\n": ""}
_SPACE = re.compile(r"[ \t\n\r\f\v\u00a0]+")
_MARK = re.compile(
    r"^(?:#{1,6}(?=\s|$)|[-+*](?=\s|$)|>|`{3}|~{3}|<|=+\s*$|-+\s*$|\[(?=[^\]]*\]:)"
    r"|[|:]?\s*-[\s|:-]*$)"
)
_NUMBER = re.compile(r"^(\d{1,9})([.)])(?=\s|$)")
_LANGUAGE = re.compile(r"(?:language|lang|highlight)-([\w+#-]+)")


@dataclass
class _OpenList:
    """A list whose items are being written.

    Attributes:
        tag: "ol", "ul", or "li" for items outside of any list.
        number: The number of the next item.
        mark_pending: Whether the mark of the current item is still to be written.
    """

    tag: str
    number: int = 1
    mark_pending: bool = False

    @property
    def indent(self) -> str:
        return "   " if self.tag == "ol" else "  "

    @property
    def mark(self) -> str:
        return f"{self.number}. " if self.tag == "ol" else "- "


class _MarkedLine(NamedTuple):
    """A line of a block, and the line of the source that it is from.

    Attributes:
        number: Its number in the block, from 0.
        mark: Where it starts in the source.
        is_verbatim: As in `LineStart`.
        further: Pairs (offset in it, further line of the source).
    """

    number: int
    mark: Mark
    is_verbatim: bool = False
    further: Sequence[tuple[int, int]] = ()


class MarkdownWriter:
    """Markdown under construction.

    Args:
        base: The address that the links of the page are relative to, or None.
        source: The source of the page, at the element that comes by.

    Attributes:
        title: The words of the first heading of level 1, once it was written.
        first_heading: The words of the first heading of any level, once it was written.
        source: As above.
    """

    def __init__(self, base: str | None, source: PageSource) -> None:
        self.title: str | None = None
        self.first_heading: str | None = None
        self.source = source
        self._base = base
        self._blocks: list[str] = []  # each behind what separates it from the one before
        self._marked: list[tuple[int, int, Mark, bool]] = []  # position in `_blocks`, offset there
        self._marks: list[Mark | None] = [None]  # of the lines that are being written
        self._targets: list[tuple[int, int, str]] = []  # position in `_blocks`, offset there, name
        self._next_targets: list[tuple[int, str]] = []  # line of the next block, name
        self._row_targets: list[tuple[int, str]] = []  # row of the table, name
        self._code_targets: list[tuple[int, str]] = []  # position in `_code_block`, name
        self._line: list[str] = []
        self._is_apart = False  # something that is seen stands behind the last words
        self._lists: list[_OpenList] = []
        self._waiting_lists: list[_OpenList] = []  # those with a mark that is still to be written
        self._after_item = False  # the last block belongs to an item: no empty line before the next
        self._quote_depth = 0
        self._open_links: list[tuple[str, int]] = []  # target, position in `_line` of the words
        self._heading_level = 0  # 0: in no heading
        self._level = 0  # of the last heading
        self._term_level = 0  # of the headings that the terms of a glossary are
        self._lists_within = 0  # a glossary is open, 1, with lists of definitions in it; 0: none is
        # The level of the signatures of each open list of definitions; 0: of another open list.
        self._signature_levels: list[int] = []
        self._ended_level = 0  # of the definitions that the next block does not belong to; 0: none
        self._term_goes_on = False  # the next element is another term of the same meaning
        self._code_block: list[str] | None = None  # None: in no `pre`
        self._code_language = ""
        self._table: list[list[str]] | None = None  # the cells of its rows; None: in no table
        self._row_marks: list[Mark | None] = []
        self._captioned: list[list[str]] | None = None  # the table whose caption is being written
        self._code_marks: list[tuple[int, Mark]] = []  # position in `_code_block`
        self._is_code_marked = False  # what is written next is in lines that are known
        self._begins_code_line = False  # as behind an element that is a line of code
        self._layout_tables = 0
        self._code_spans = 0

    def text(self) -> str:
        """Return the Markdown that is written so far."""
        self._flush()
        return "".join(self._blocks[1:])

    def places(self) -> tuple[list[LineStart], list[tuple[int, str]]]:
        """Return where the lines of the source, and its anchors, are in the text."""
        ends = list(accumulate(map(len, self._blocks[1:]), initial=0))
        lines, anchors = list[LineStart](), list[tuple[int, str]]()
        for block, offset, mark, is_verbatim in self._marked:
            place = ends[block - 1] + offset
            lines.append(LineStart(place, mark.line, is_verbatim))
            if mark.anchor is not None:
                anchors.append((place, mark.anchor))
        return lines, anchors

    def targets(self) -> list[tuple[int, str]]:
        """Return where what an address may lead to is in the text, by place, with its names."""
        ends = list(accumulate(map(len, self._blocks[1:]), initial=0))
        last = len(self._blocks) - 1  # what is behind all words is of the last ones
        behind = [(last, 0, name) for _, name in self._next_targets] if self._blocks else []
        return sorted(
            (ends[block - 1] + offset, name) for block, offset, name in (*self._targets, *behind)
        )

    def write_words(self, words: str) -> None:
        """Write the words of a text node."""
        if self._code_block is not None:
            self._write_code_words(self._code_block, words)
            return
        if self._table is not None:
            if self._row_marks and self._row_marks[-1] is None and not words.isspace():
                self._row_marks[-1] = self.source.mark(words)
        elif self._marks[-1] is None and not words.isspace():
            self._marks[-1] = self.source.mark(words)
        if self._is_apart:
            self._end_word(words)
        if words.isalnum():  # most are a name in an element of its own
            self._line.append(words)
            return
        words = _SPACE.sub(" ", words.replace("\u00ad", ""))
        if not self._code_spans:
            words = words.replace("](", "]\\(")
        if self._line and not self._line[-1].endswith((" ", "\n")):
            self._line.append(words)
        elif words.strip():
            self._line.append(words.lstrip())

    def enter(self, tag: str, node: LexborNode, anchor: str | None = None) -> None:
        """Begin an element.

        Args:
            tag: What it is.
            node: The element.
            anchor: The name by which an address leads to it, or None.
        """
        if self._code_block is not None:
            self._await(tag, anchor)
            self._begins_code_line |= tag in BLOCKS
            if tag == "br":
                self._break_code(self._code_block)
            elif tag == "code":
                self._code_language = self._code_language or _language(node)
        elif tag in BLOCKS:
            if not (tag == "dt" and self._term_goes_on):
                self._flush(in_cell=tag not in CELLS and tag not in ROWS)
            self._await(tag, anchor)
            if tag in ("dl", "dt"):
                self._enter_definitions(tag, node)
            elif tag == "caption" and self._table == []:  # a paragraph above the table
                self._captioned, self._table = self._table, None
            else:
                self._enter_block(tag, node)
        else:
            self._await(tag, anchor)
            self._enter_inline(tag, node)

    def leave(self, tag: str) -> None:
        """End an element."""
        if self._code_block is not None:
            self._begins_code_line |= tag in BLOCKS
            if tag == "pre":
                self._await_lines(self._code_block)
                self._write_code("".join(self._code_block).strip("\n"), self._code_lines())
                self._code_block, self._code_marks, self._is_code_marked = None, [], False
                self.source.end("pre")
        elif tag in BLOCKS:
            self._leave_block(tag)
            if tag == "caption" and self._captioned is not None:
                self._table, self._captioned, self._row_marks = self._captioned, None, []
        elif tag == "a" and self._open_links:
            self._end_link(*self._open_links.pop())
        elif tag == "code" and self._code_spans:
            self._code_spans -= 1
            self._end_code_span()

    def _await(self, tag: str, anchor: str | None) -> None:
        """Note that an address leads to what is written next."""
        if anchor is None:
            return
        if self._table is not None:
            self._row_targets.append((max(0, len(self._table) - (tag != "tr")), anchor))
        elif self._code_block is not None:
            self._code_targets.append((len(self._code_block), anchor))
        else:
            self._next_targets.append((0, anchor))

    def _enter_block(self, tag: str, node: LexborNode) -> None:
        if tag == "pre":
            self._code_block, self._code_language = [], _language(node)
        elif tag in HEADINGS:
            self._heading_level = HEADINGS[tag]
        elif tag in ("ul", "ol"):
            start = node.attributes.get("start") or "1"
            number = int(start) if tag == "ol" and start.isdecimal() else 1
            self._lists.append(_OpenList(tag, number))
        elif tag == "li":
            if not self._lists:
                self._lists.append(_OpenList("li"))
            self._lists[-1].mark_pending = True
            self._waiting_lists.append(self._lists[-1])
        elif tag == "blockquote":
            self._quote_depth += 1
        elif tag == "table":
            self._begin_table(node)
        elif tag == "tr" and self._table is not None:
            self._table.append([])
            self._row_marks.append(None)
        elif tag in CELLS and self._table:
            span = node.attributes.get("colspan") or "1"
            self._table[-1].append(span if span.isdecimal() else "1")

    def _enter_definitions(self, tag: str, node: LexborNode) -> None:
        if tag == "dl" and (self._lists_within or _is_glossary(node)):
            self._lists_within += 1
            self._term_level = min(self._level + 1, LOWEST)
        elif tag == "dl":
            is_at_margin = not self._lists and not self._quote_depth and self._table is None
            around = max(self._signature_levels, default=0) or self._level
            level = min(around + 1, LOWEST) if is_at_margin and _has_signatures(node) else 0
            self._signature_levels.append(level if level and _is_described(node) else 0)
        elif self._lists_within == 1:
            self._heading_level = self._term_level
            self._term_goes_on = next((one.tag for one in _elements_behind(node)), "") == "dt"
        elif not self._lists_within and self._signature_levels and self._signature_levels[-1]:
            self._write_names(node, self._signature_levels[-1])

    def _write_names(self, node: LexborNode, level: int) -> None:
        """Write the heading of a definition: its names, from all signatures in a row.

        Args:
            node: A signature.
            level: Of the heading.
        """
        before = node.prev
        while before is not None and (before.tag or "-").startswith("-"):
            before = before.prev
        if before is not None and before.tag == "dt":
            return
        of_one = takewhile(lambda one: one.tag == "dt", _elements_behind(node))
        names = dict.fromkeys(_name(one) for one in (node, *of_one))
        self._heading_level = level
        self._line.append(", ".join(name for name in names if name))
        self._flush()
        self._heading_level = 0

    def _leave_definitions(self) -> None:
        if self._lists_within:
            self._lists_within -= 1
            self._term_goes_on = False
        elif self._signature_levels and (level := self._signature_levels.pop()):
            self._ended_level = level

    def _enter_inline(self, tag: str, node: LexborNode) -> None:
        if tag == "a":
            self._open_links.append((self._link_target(node), len(self._line)))
        elif tag == "code":
            self._code_spans += 1
            self._line.append("`")
        elif tag == "br":
            one_line = self._heading_level or self._table is not None
            self._line.append(" " if one_line else "\n")
            if not one_line and self._marks[-1] is not None:
                self._marks.append(None)
        elif tag == "img":
            alternative = _SPACE.sub(" ", node.attributes.get("alt") or "").strip()
            if alternative:
                self._end_word(alternative)
                self._line.append(alternative)
            self._is_apart = True

    def _leave_block(self, tag: str) -> None:
        if tag in CELLS and self._table:
            self._end_cell(self._table[-1])
        elif tag == "table":
            self._flush()
            if self._layout_tables:
                self._layout_tables -= 1
            else:
                self._end_table()
        elif tag in HEADINGS:
            self._flush()
            self._level, self._heading_level = self._heading_level, 0
        elif tag == "dt" and self._lists_within == 1:
            if self._term_goes_on:
                self._line.append(", ")
                return
            self._flush()
            self._heading_level = 0
        else:
            self._flush(in_cell=tag not in ROWS)
            if tag == "dl":
                self._leave_definitions()
            is_list = tag in ("ul", "ol")
            self._after_item = self._after_item and len(self._lists) > is_list
            loose_item = tag == "li" and bool(self._lists) and self._lists[-1].tag == "li"
            if self._lists and (is_list or loose_item):
                self._lists.pop()
            elif tag == "blockquote":
                self._quote_depth -= 1

    def _take_line(self) -> str:
        """Return the current line and begin a new one; open links end here and go on there."""
        reopened = [(target, 0) for target, _ in self._open_links]
        for target, position in reversed(self._open_links):
            self._end_link(target, position)
        line, self._line, self._open_links = self._line, [], reopened
        return "".join(line)

    def _flush(self, in_cell: bool = True) -> None:
        """Write the current line as a block; in a cell of a table the line goes on."""
        if self._table is not None:
            if in_cell and self._line and not self._line[-1].endswith(" "):
                self._line.append(" ")
            return
        if not self._line:
            return
        lines = [" ".join(line.split()) for line in self._take_line().split("\n")]
        lines = [line for line in lines if line]
        marks = [mark for mark in self._marks if mark is not None]
        self._marks = [None]
        if not lines:
            return
        if len(marks) != len(lines):
            marks = marks[:1]
        if not self._heading_level:
            lines = [escape_mark(line) for line in lines]
            marked = [
                _MarkedLine(i, mark, further=self.source.lines_within(line, mark))
                for i, (line, mark) in enumerate(zip(lines, marks, strict=False))
            ]
            self._write_block("\n".join(lines), marked)
            return
        # An anchor behind the words of a heading is its own, too.
        marked = [_MarkedLine(0, Mark(mark.line, self.source.anchor)) for mark in marks[:1]]
        content = "\n".join(lines)
        if self._heading_level == 1 and self.title is None:
            self.title = _without_marks(content)
        if self.first_heading is None:
            self.first_heading = _without_marks(content)
        if "`" not in content:
            content = re.sub(r"(?<!\\)([*_<])", r"\\\1", content)
        self._write_block("#" * self._heading_level + " " + content, marked)

    def _write_block(self, content: str, marked: Sequence[_MarkedLine]) -> None:
        """Write a block, indented and quoted as the lists and quotations around it ask for.

        Args:
            content: The block.
            marked: Its lines that are known in the source, in their order.
        """
        if self._ended_level:
            if not self._heading_level:
                self._blocks += ["\n\n", f"<!-- end of h{self._ended_level} -->"]
            self._ended_level = 0
        indent = "".join(around.indent for around in self._lists[:MAX_DEPTH])
        first_indent, joins_last = indent, False
        if self._lists and self._lists[-1].mark_pending:
            item_list = self._lists[-1]
            n_around = min(len(self._lists), MAX_DEPTH) - 1
            first_indent = "".join(around.indent for around in self._lists[:n_around])
            first_indent += item_list.mark
            joins_last = self._after_item
            item_list.number += 1
            for waiting in self._waiting_lists:
                waiting.mark_pending = False
            self._waiting_lists.clear()
        quote = "> " * min(self._quote_depth, MAX_DEPTH)
        first, *others = content.split("\n")
        lines = [quote + first_indent + first]
        lines += [quote + (indent + line if line else "") for line in others]
        lines = [line.rstrip().replace("\0", "") for line in lines]
        self._blocks += ["\n" if joins_last else "\n\n", "\n".join(lines)]
        offset, last, block = 0, 0, len(self._blocks) - 1
        for number, mark, is_verbatim, further in marked:
            offset += sum(len(line) + 1 for line in lines[last:number])
            self._marked.append((block, offset, mark, is_verbatim))
            begin = offset + (len(quote + first_indent) if number == 0 else len(quote + indent))
            for inside, line in further:
                self._marked.append((block, begin + inside, mark._replace(line=line), False))
            last = number
        starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
        self._targets += [
            (block, starts[min(line, len(lines) - 1)], name) for line, name in self._next_targets
        ]
        self._next_targets.clear()
        self._after_item = bool(self._lists) and not content.startswith("```")

    def _await_lines(self, code_block: Sequence[str]) -> None:
        """Note which lines of a block of code an address leads to."""
        if self._code_targets:
            code = "".join(code_block)
            empty = len(code) - len(code.lstrip("\n"))
            above = list(accumulate((words.count("\n") for words in code_block), initial=0))
            self._next_targets += [
                (1 + max(0, above[position] - empty), name)  # the first line is the fence
                for position, name in self._code_targets
            ]
            self._code_targets.clear()

    def leave_out(self, tag: str) -> None:
        """Note that an element is left out; one that is seen ends the word before it."""
        self._is_apart |= tag in SEEN

    def _end_word(self, words: str) -> None:
        """Write a space between the last words and the next ones, where both would be one."""
        last = self._line[-1] if self._line else ""
        if last[-1:].isalnum() and words[:1].isalnum():
            self._line.append(" ")
        self._is_apart = False

    def _write_code_words(self, code: list[str], words: str) -> None:
        """Write words of code, in a line of their own where an element begins or ends before them.

        Args:
            code: What is written of the code.
            words: The words.
        """
        is_at_end = words.startswith("\n") or not code or code[-1].rstrip(" \t").endswith("\n")
        if self._begins_code_line and not is_at_end:
            self._break_code(code)
        self._begins_code_line = False
        if not self._is_code_marked and not words.isspace():
            self._code_marks.append((len(code), self.source.mark(words)))
            self._is_code_marked = True
        code.append(words)

    def _break_code(self, code: list[str]) -> None:
        """End the line of code where the source may have none."""
        code.append("\n")
        self._is_code_marked = False

    def _code_lines(self) -> list[tuple[int, Mark]]:
        """Return the lines of a block of code, from 0, whose place in the source is marked."""
        parts = self._code_block or []
        above = list(accumulate((words.count("\n") for words in parts), initial=0))
        code = "".join(parts)
        empty = len(code) - len(code.lstrip("\n"))
        return [
            (above[i] + parts[i][: -len(parts[i].lstrip())].count("\n") - empty, mark)
            for i, mark in self._code_marks
        ]

    def _write_code(self, code: str, marks: Sequence[tuple[int, Mark]]) -> None:
        if not code.strip():
            return
        longest_run = max((len(run) for run in re.findall(r"`+", code)), default=0)
        fence = "`" * max(3, 1 + longest_run)
        code = code.replace("\r\n", "\n").replace("\r", "\n").replace("\u00a0", " ")
        code = "\n".join(line.rstrip(" \t") for line in code.split("\n"))
        if self._table is None:
            last = code.count("\n")
            marked = [_MarkedLine(0, mark) for _, mark in marks[:1]]  # the fence
            marked += [_MarkedLine(1 + line, mark, True) for line, mark in marks]
            marked += [  # the other fence
                _MarkedLine(2 + last, mark._replace(line=mark.line + last - line))
                for line, mark in marks[-1:]
            ]
            self._write_block(f"{fence}{self._code_language}\n{code}\n{fence}", marked)
        else:
            if self._row_marks and self._row_marks[-1] is None:
                self._row_marks[-1] = next((mark for _, mark in marks), None)
            self._line.append(" ".join(code.split()))

    def _begin_table(self, node: LexborNode) -> None:
        has_cells = any(node.css_first(tag) is not None for tag in CELLS)
        nested = self._table is not None or self._layout_tables > 0
        if nested or not has_cells or _is_layout(node):
            self._layout_tables += 1
        else:
            self._table, self._row_marks = [], []

    def _end_cell(self, row: list[str]) -> None:
        span = min(int(row.pop()), MAX_SPAN)
        content = self._take_line().strip().replace("\n", " ").replace("|", "\\|")
        row += [content, *[""] * (span - 1)]

    def _end_table(self) -> None:
        kept = [i for i, row in enumerate(self._table or []) if any(row)]
        rows = [row for row in self._table or [] if any(row)]
        marks = [self._row_marks[i] for i in kept]
        places = [(bisect_left(kept, row), name) for row, name in self._row_targets]
        self._next_targets += [(row + (row > 0), name) for row, name in places]
        self._row_targets.clear()
        self._table = None
        width = max((len(row) for row in rows), default=0)
        if width == 0:
            return
        lines = ["| " + " | ".join(row + [""] * (width - len(row))) + " |" for row in rows]
        marked = [  # the second line is a rule
            _MarkedLine(i + (i > 0), mark) for i, mark in enumerate(marks) if mark is not None
        ]
        self._write_block("\n".join([lines[0], "|" + " --- |" * width, *lines[1:]]), marked)

    def _link_target(self, node: LexborNode) -> str:
        """Return where a link leads; "" for a place in the page, a program or a letter."""
        target = (node.attributes.get("href") or "").strip()
        if not target or target.startswith("#") or target.lower().startswith(NOT_FOLLOWED):
            return ""
        if self._base:
            try:
                target = urljoin(self._base, target)
            except ValueError:  # an address that is none
                return ""
        return "".join(_ESCAPES.get(character, character) for character in target)

    def _end_link(self, target: str, position: int) -> None:
        """Make a link of everything that was written from a position of the line on."""
        written = "".join(self._line[position:])
        words = " ".join(written.split())
        if words in PERMALINKS:
            self._line[position:] = [" "] if written else []
        elif target:
            before = " " if written[:1].isspace() else ""
            behind = " " if written[-1:].isspace() else ""
            words = words.replace("[", "(").replace("]", ")")
            self._line[position:] = [f"{before}[{words}]({target}){behind}"]

    def _end_code_span(self) -> None:
        """Put the marks of code around everything that was written since the last one opened."""
        last = len(self._line) - 1
        begin = next((i for i in range(last, -1, -1) if self._line[i] == "`"), None)
        if begin is None:
            return
        code = " ".join("".join(self._line[begin + 1 :]).split())
        fence, space = ("``", " ") if "`" in code else ("`", "")
        self._line[begin:] = [f"{fence}{space}{code}{space}{fence}"] if code else []


def escape_mark(line: str) -> str:
    r"""Return a line of words in Markdown, where its start would be read as a mark.

    Example:
        >>> escape_mark("# of files"), escape_mark("of # files")
        ('\\# of files', 'of # files')
    """
    line = _NUMBER.sub(r"\1\\\2", line)
    return "\\" + line if _MARK.match(line) else line


def _without_marks(text: str) -> str:
    return " ".join(re.sub(r"\[([^\[\]]*)\]\([^()]*\)", r"\1", text).replace("`", "").split())


def _language(node: LexborNode) -> str:
    match = _LANGUAGE.search(node.attributes.get("class") or "")
    return match[1] if match else ""


def _is_glossary(node: LexborNode) -> bool:
    """Return whether a list is a glossary (Sphinx's), and nothing stands behind it untitled."""
    if "glossary" not in (node.attributes.get("class") or "").split():
        return False
    untitled = takewhile(lambda one: one.tag not in (*HEADINGS, "section"), _elements_behind(node))
    return sum(len(one.text(strip=True)) for one in untitled) <= MAX_BEHIND


def _has_signatures(node: LexborNode) -> bool:
    """Return whether a list is of definitions in a reference of code (Sphinx's)."""
    first = node.css_first("dt")
    if first is None:
        return False
    is_signature = "sig" in (first.attributes.get("class") or "").split()
    return is_signature or first.css_first("code.descname") is not None  # before Sphinx 4


def _name(signature: LexborNode) -> str:
    """Return the name that a signature is of, as far as it is written there."""
    parts = {part.mem_id: part.text() for part in signature.css(NAMES)}  # each matches twice
    return "".join(parts.values()) or signature.text()


def _is_described(node: LexborNode) -> bool:
    """Return whether what describes the definitions of a list is no mere remark."""
    words = sum(len(one.text().split()) for one in node.css("dd"))
    return words >= MIN_DESCRIPTION


def _elements_behind(node: LexborNode) -> Iterator[LexborNode]:
    behind = node.next
    while behind is not None:
        if not (behind.tag or "-").startswith("-"):
            yield behind
        behind = behind.next


def _is_layout(table: LexborNode) -> bool:
    """Return whether a table only places other blocks on the page."""
    return any(inner.mem_id != table.mem_id for inner in table.css(LAYOUT))
