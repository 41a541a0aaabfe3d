"""A Markdown text is written as the elements of a page come by: headings, paragraphs, lists, tables, code and links.

Words that would be read as a mark are escaped where they would be: at the beginning of a line, before a bracket, in a heading.
"""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urljoin

HEADINGS = {f"h{level}": level for level in range(1, 7)}
BLOCKS = frozenset((
    "address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details", "dialog", "div", "dl", "dt", "fieldset",
    "figcaption", "figure", "footer", "header", "hgroup", "hr", "html", "legend", "li", "main", "ol", "p", "pre", "section", "summary",
    "table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul",
))  # fmt: skip
LAYOUT = "table, pre, ul, ol, h1, h2, h3, h4, h5, h6, blockquote"  # a table with these in it is no table but a way to place them
PERMALINKS = ("¶", "#", "§", "🔗", "")
_SPACE = re.compile(r"[ \t\n\r\f\v\u00a0]+")
_MARK = re.compile(
    r"^(?:#{1,6}(?=\s|$)|[-+*](?=\s|$)|>|`{3}|~{3}|<|=+\s*$|-+\s*$|\[(?=[^\]]*\]:)|[|:]?\s*-{1,}[\s|:-]*$)"
)
_NUMBER = re.compile(r"^(\d{1,9})([.)])(?=\s|$)")


class MarkdownWriter:
    """Markdown under construction.

    Attributes:
        title: the words of the first heading of the first level, once it was read.
    """

    def __init__(self, base: str | None = None) -> None:
        self.base = base
        self.title: str | None = None
        self.blocks: list[str] = []
        self.line: list[str] = []
        self.lists: list[
            list[Any]
        ] = []  # mark, number of the next item or None, whether the item's mark is still to be written
        self.listing = False  # whether the last block is an item, or the words below one: the next item follows without an empty line
        self.quotes = 0
        self.open: list[tuple[str, int]] = []  # links: target, where in the line their words begin
        self.heading = 0
        self.pre: list[str] | None = None
        self.language = ""
        self.rows: list[list[str]] | None = None
        self.layouts = 0
        self.code = 0

    def text(self) -> str:
        """Return what was written."""
        self._flush()
        return "\n\n".join(self.blocks).replace("\0", "")

    def words(self, said: str) -> None:
        """Write the words of a text node."""
        if self.pre is not None:
            self.pre.append(said)
            return
        said = _SPACE.sub(" ", said.replace("\u00ad", ""))
        if not self.code:
            said = said.replace("](", "]\\(")
        if said.strip() or (self.line and not self.line[-1].endswith((" ", "\n"))):
            self.line.append(
                said if self.line and not self.line[-1].endswith((" ", "\n")) else said.lstrip()
            )

    def enter(self, tag: str, node: Any) -> None:
        """Begin an element."""
        if self.pre is not None:
            if tag == "br":
                self.pre.append("\n")
            elif tag == "code":
                self.language = self.language or _language(node)
            return
        if tag in BLOCKS or tag in HEADINGS:
            self._flush(cell=tag not in ("td", "th", "tr", "tbody", "thead", "tfoot"))
        if tag == "pre":
            self.pre, self.language = [], _language(node)
        elif tag in HEADINGS:
            self.heading = HEADINGS[tag]
        elif tag in ("ul", "ol"):
            start = node.attributes.get("start") or "1"
            self.lists.append([tag, int(start) if tag == "ol" and start.isdecimal() else 1, False])
        elif tag == "li":
            if not self.lists:
                self.lists.append(["loose", 1, False])
            self.lists[-1][2] = True
        elif tag == "blockquote":
            self.quotes += 1
        elif tag == "table":
            self._table(node)
        elif tag == "tr" and self.rows is not None:
            self.rows.append([])
        elif tag in ("td", "th") and self.rows:
            spans = node.attributes.get("colspan") or "1"
            self.rows[-1].append(spans if spans.isdecimal() else "1")
        elif tag == "a":
            self.open.append((self._target(node), len(self.line)))
        elif tag == "code":
            self.code += 1
            self.line.append("`")
        elif tag == "br":
            self.line.append("\n" if not self.heading and self.rows is None else " ")
        elif tag == "img" and (alt := _SPACE.sub(" ", node.attributes.get("alt") or "").strip()):
            self.line.append(alt)

    def leave(self, tag: str) -> None:
        """End an element."""
        if self.pre is not None:
            if tag == "pre":
                self._fence("".join(self.pre).strip("\n"))
                self.pre = None
            return
        if tag == "a" and self.open:
            self._linked(*self.open.pop())
        elif tag == "code" and self.code:
            self.code -= 1
            self._quoted()
        elif tag in ("td", "th") and self.rows:
            spans = min(int(self.rows[-1].pop()), 100)
            self.rows[-1] += [
                "".join(self._taken()).strip().replace("\n", " ").replace("|", "\\|"),
                *[""] * (spans - 1),
            ]
        elif tag == "table":
            self._flush()
            if self.layouts:
                self.layouts -= 1
            else:
                self._end_table()
        elif tag in HEADINGS:
            self._flush()
            self.heading = 0
        elif tag in BLOCKS:
            self._flush(cell=tag not in ("tr", "tbody", "thead", "tfoot"))
            self.listing = self.listing and len(self.lists) > (tag in ("ul", "ol"))
            if self.lists and (
                tag in ("ul", "ol") or (tag == "li" and self.lists[-1][0] == "loose")
            ):
                self.lists.pop()
            elif tag == "blockquote":
                self.quotes -= 1

    def _taken(self) -> list[str]:
        """The line that was written, its open links ended here and begun again in the next."""
        again = [(target, 0) for target, _ in self.open]
        for target, at in reversed(self.open):
            self._linked(target, at)
        line, self.line, self.open = self.line, [], again
        return line

    def _flush(self, cell: bool = True) -> None:
        """Write the line as a block; in a cell of a table it goes on."""
        if self.rows is not None:
            if cell and self.line and not self.line[-1].endswith(" "):
                self.line.append(" ")
            return
        lines = [" ".join(line.split()) for line in "".join(self._taken()).split("\n")]
        said = "\n".join(line for line in lines if line)
        if not said:
            return
        if self.heading:
            if self.heading == 1 and self.title is None:
                self.title = _plain(said)
            self._block(
                "#" * self.heading + " " + re.sub(r"(?<!\\)([*_<])", r"\\\1", said)
                if "`" not in said
                else "#" * self.heading + " " + said
            )
        else:
            self._block("\n".join(_escaped(line) for line in said.split("\n")))

    def _block(self, said: str) -> None:
        indent = "".join("   " if kind == "ol" else "  " for kind, _, _ in self.lists)
        tight = False
        if self.lists and self.lists[-1][2]:
            kind, number, _ = self.lists[-1]
            mark = f"{number}. " if kind == "ol" else "- "
            outer = indent[: -3 if kind == "ol" else -2]
            tight = self.listing
            self.lists[-1][1:] = [number + 1, False]
            for above in self.lists[:-1]:
                above[2] = False
            first = outer + mark
        else:
            first = indent
        quote = "> " * self.quotes
        lines = said.split("\n")
        written = [
            quote + first + lines[0],
            *(quote + (indent + line if line else "") for line in lines[1:]),
        ]
        block = "\n".join(line.rstrip() for line in written)
        if tight:
            self.blocks[-1] += "\n" + block
        else:
            self.blocks.append(block)
        self.listing = bool(self.lists) and not said.startswith("```")

    def _fence(self, said: str) -> None:
        if not said.strip():
            return
        fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", said)), default=0))
        code = re.sub(
            r"[ \t]+$",
            "",
            said.replace("\r\n", "\n").replace("\r", "\n").replace("\u00a0", " "),
            flags=re.MULTILINE,
        )
        if self.rows is None:
            self._block(f"{fence}{self.language}\n{code}\n{fence}")
        else:
            self.line.append(" ".join(code.split()))

    def _table(self, node: Any) -> None:
        if (
            self.rows is not None
            or self.layouts
            or (node.css_first("td") or node.css_first("th")) is None
            or _lays_out(node)
        ):
            self.layouts += 1
        else:
            self.rows = []

    def _end_table(self) -> None:
        rows = [row for row in self.rows or [] if any(row)]
        self.rows = None
        width = max((len(row) for row in rows), default=0)
        if width == 0:
            return
        lines = ["| " + " | ".join(row + [""] * (width - len(row))) + " |" for row in rows]
        self._block("\n".join([lines[0], "|" + " --- |" * width, *lines[1:]]))

    def _target(self, node: Any) -> str:
        """Where a link leads, unless that is a place in the page, a program or a letter."""
        target = (node.attributes.get("href") or "").strip()
        if (
            not target
            or target.startswith("#")
            or target.lower().startswith(("javascript:", "mailto:", "data:", "tel:"))
        ):
            return ""
        if self.base:
            try:
                target = urljoin(self.base, target)
            except ValueError:  # an address that is none
                return ""
        return (
            target.replace(" ", "%20")
            .replace("(", "%28")
            .replace(")", "%29")
            .replace("<", "%3C")
            .replace(">", "%3E")
            .replace("\n", "")
        )

    def _linked(self, target: str, at: int) -> None:
        """Make a link of what was written since its beginning."""
        written = "".join(self.line[at:])
        said = " ".join(written.split())
        if said.strip() in PERMALINKS:
            self.line[at:] = [" "] if written else []
        elif target:
            before, behind = (
                (" " if written[:1].isspace() else ""),
                (" " if written[-1:].isspace() else ""),
            )
            self.line[at:] = [
                f"{before}[{said.replace('[', '(').replace(']', ')')}]({target}){behind}"
            ]

    def _quoted(self) -> None:
        """Put the marks of code around what was written since the last of them."""
        begin = next((i for i in range(len(self.line) - 1, -1, -1) if self.line[i] == "`"), None)
        if begin is None:
            return
        said = " ".join("".join(self.line[begin + 1 :]).split())
        fence = "``" if "`" in said else "`"
        space = " " if fence == "``" else ""
        self.line[begin:] = [f"{fence}{space}{said}{space}{fence}"] if said else []


def _escaped(line: str) -> str:
    line = _NUMBER.sub(r"\1\\\2", line)
    return "\\" + line if _MARK.match(line) else line


def _plain(said: str) -> str:
    return " ".join(re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", said).replace("`", "").split())


def _language(node: Any) -> str:
    found = re.search(r"(?:language|lang|highlight)-([\w+#-]+)", node.attributes.get("class") or "")
    return found[1] if found else ""


def _lays_out(node: Any) -> bool:
    return any(inner.mem_id != node.mem_id for inner in node.css(LAYOUT))
