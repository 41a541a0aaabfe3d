"""A reading becomes text: the page that a language model is given.

A text may hold lines that look like the page's own: a heading, the mark of an item. Such a line
gets a backslash, or, before the dash of a list, two spaces, so that nobody who writes a document
can write a second source into it. `original_text` takes them away again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from string import ascii_letters, digits

from clew.graph import Graph, known_heading_of
from clew.items import Item
from clew.types import Reading

Printed = dict[tuple[int, int], tuple[str, str]]  # node, number -> the line above it, and its entry

MAX_NAME = 40  # characters of a node's name in a sentence
STYLES = ("bullets", "triples", "numbered", "plain")
INDENT = "  "
_UNSEEN = (  # before the first sign of a line: white space, and what Unicode ignores by default
    r"[\s\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    r"\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff]*+"
)
_DASH = re.compile(rf"{_UNSEEN}[-\u2022]\s")
_HEADING = re.compile(rf"({_UNSEEN})(\\*+)[#\ufe5f\uff03]\s")
_NUMBER = re.compile(rf"({_UNSEEN})(\\*+)[\[［【〔〖⟦]\s*+\d{{1,9}}\s*+[\]］】〕〗⟧]")
_PLAIN = frozenset(ascii_letters + digits)  # with which no line begins that has a mark
_NO_CONNECTION = "(No connection was found"
_MISSING = re.compile(rf"({_UNSEEN})(\\*+){re.escape(_NO_CONNECTION)}\b")
_TRIPLE = re.compile(rf"({_UNSEEN})(\\*+)\((?:[^,]*+,){{2}}")


@dataclass(frozen=True)
class Render:
    """How a reading is written.

    Attributes:
        style: "bullets" (`- text`), "triples" (the same, with facts as
            `(subject, relation, object)`), "numbered" (`[1] text`, to be cited) or "plain".
        headings: write `# Title > Section` above a run of items that share one.
        first: the number that "numbered" begins with.
        missing: say, in a last line, between which of the places that the question touches no
            connection was found. A method that promises a connection says so where it has none. The
            line is in the budget; where it leaves no room for anything else, it is left out, and
            `Context.missing` alone has the pairs.

    Example:
        >>> from clew import Graph
        >>> from clew.types import Reading
        >>> graph = Graph.of(["Anna moved to Rome."], metadata=({"title": "Anna"},))
        >>> for piece in Render().pieces(graph, Reading.of(nodes=[0])):
        ...     print(piece)
        # Anna
        - Anna moved to Rome.
    """

    style: str = "bullets"
    headings: bool = True
    first: int = 1
    missing: bool = False

    def __post_init__(self) -> None:
        if self.style not in STYLES:
            raise ValueError(f"unknown style {self.style!r}; known: {', '.join(STYLES)}")

    def pieces(self, graph: Graph, reading: Reading, printed: Printed | None = None) -> list[str]:
        """Return the text of each entry, with the heading line above it.

        The page is these pieces, joined by line ends.

        Args:
            graph: the graph of the nodes.
            reading: what is read, in order.
            printed: the nodes that this printed before, of the same graph; more come to them.
        """
        return _under_headings(self.lines_and_entries(graph, reading, printed))

    def lines_and_entries(
        self, graph: Graph, reading: Reading, printed: Printed | None = None
    ) -> Iterator[tuple[str, str]]:
        """Yield each entry behind the line of its heading, which may stand above it already.

        Args:
            graph: as in `pieces`.
            reading: as in `pieces`.
            printed: as in `pieces`.
        """
        entries = zip(reading.nodes.tolist(), reading.facts.tolist(), strict=True)
        known: Printed = {} if printed is None else printed
        is_numbered = self.style == "numbered"
        for number, (node, fact) in enumerate(entries, self.first):
            if node < 0:
                yield "", self.fact_entry(graph, fact, number)
                continue
            key = node, number if is_numbered else 0
            found = known.get(key)
            if found is None:
                line, entry = self.heading_line(graph, node), self.node_entry(graph, node, number)
                found = known[key] = line, entry
            yield found

    def pieces_of(self, items: Iterable[Item]) -> list[str]:
        r"""Return what `pieces` returns, of items; a triple stands here as the text of its fact.

        Example:
            >>> anna = Item("a", "Anna paints.", 1.0, "seed", "passage", 3, heading="People")
            >>> print(*Render().pieces_of([anna, anna]), sep="\n")
            # People
            - Anna paints.
            - Anna paints.
        """
        return _under_headings(
            (
                f"# {item.heading}" if self.headings and item.heading else "",
                self.entry(item.text, number, is_fact=item.kind == "fact"),
            )
            for number, item in enumerate(items, self.first)
        )

    def triples_in(self, page: str) -> list[str]:
        r"""Return the lines of a page that are facts written as triples, in their order.

        Example:
            >>> Render("triples").triples_in("(Anna, knows, Ben)\n- It rains.")
            ['(Anna, knows, Ben)']
        """
        if self.style != "triples":
            return []
        lines = page.removesuffix(self.missing_line_in(page)).split("\n")
        return [line for line in lines if (mark := _TRIPLE.match(line)) and not mark[2]]

    def missing_line_in(self, page: str) -> str:
        r"""Return the last line of a page, if it says what could not be joined; else "".

        Example:
            >>> page = '- Anna\n(No connection was found from "Anna" to "Ben".)'
            >>> Render(missing=True).missing_line_in(page)
            '(No connection was found from "Anna" to "Ben".)'
        """
        line = page.rpartition("\n")[2] if self.missing else ""
        return line if line.startswith(_NO_CONNECTION) else ""

    def missing_line(self, graph: Graph, pairs: Sequence[tuple[int, int]]) -> str:
        """Return the line that says which nodes could not be joined; empty for none.

        Args:
            graph: the graph of the nodes.
            pairs: a node of one part, and a node of a part that nothing joins to it.

        Example:
            >>> graph = Graph.of(["Anna", "Ben", "Cleo"], kinds="entity")
            >>> Render(missing=True).missing_line(graph, [(0, 1), (0, 2)])
            '(No connection was found from "Anna" to "Ben" or "Cleo".)'
        """
        if not self.missing or not pairs:
            return ""
        others: dict[int, list[str]] = {}
        for one, other in dict.fromkeys(pairs):
            others.setdefault(one, []).append(_short_name(graph, other))
        clauses = [
            f"from {_short_name(graph, one)} to {' or '.join(names)}"
            for one, names in others.items()
        ]
        return f"{_NO_CONNECTION} {', nor '.join(clauses)}.)"

    def heading_line(self, graph: Graph, node: int) -> str:
        """Return the line above a run of nodes with this heading; empty for none."""
        heading = known_heading_of(graph, node) if self.headings else ""
        return f"# {heading}" if heading else ""

    def node_entry(self, graph: Graph, node: int, number: int) -> str:
        """Return a node as it is printed, without the line of its heading."""
        return self.entry(graph.texts[node], number)

    def fact_entry(self, graph: Graph, fact: int, number: int) -> str:
        """Return a fact as it is printed."""
        facts = graph.facts
        text = facts.texts[fact]
        if self.style == "triples":
            subject, object_ = graph.texts[facts.subjects[fact]], graph.texts[facts.objects[fact]]
            text = f"({subject}, {facts.relations[fact]}, {object_})"
        return self.entry(text, number, is_fact=True)

    def entry(self, text: str, number: int, is_fact: bool = False) -> str:
        r"""Return a text as an entry of the page: behind its mark, without lines like the page's.

        Args:
            text: The text of an item or a fact.
            number: Its place on the page, from `first`.
            is_fact: Whether it is a fact.

        Example:
            >>> print(Render("numbered").entry("Two sources:\n[2] is the other.", 1))
            [1] Two sources:
            \[2] is the other.
        """
        if is_fact:
            text = " ".join(text.splitlines())
        mark = self._mark(number, is_fact)
        first, *others = text.splitlines(keepends=True) or [""]
        if not mark and not is_fact:
            first = self._escaped(first)
        escaped = [line if line[0] in _PLAIN else self._escaped(line) for line in others]
        return "".join([mark, first, *escaped])

    def original_text(self, entry: str, number: int, is_fact: bool = False) -> str:
        r"""Return the text that an entry of the page was made of.

        Example:
            >>> render = Render("numbered")
            >>> render.original_text(render.entry("One:\n[2] two.", 1), 1)
            'One:\n[2] two.'
        """
        mark = self._mark(number, is_fact)
        first, *others = entry.removeprefix(mark).splitlines(keepends=True) or [""]
        if not mark and not is_fact:
            first = self._unescaped(first)
        return "".join([first, *map(self._unescaped, others)])

    def _mark(self, number: int, is_fact: bool) -> str:
        """Return what stands before an entry."""
        if self.style == "numbered":
            return f"[{number}] "
        if self.style == "plain" or (self.style == "triples" and is_fact):
            return ""
        return "- "

    def _escaped(self, line: str) -> str:
        if self._has_dashes and _DASH.match(line):
            return INDENT + line
        mark = self._match_own(line)
        return f"{line[: mark.end(1)]}\\{line[mark.end(1) :]}" if mark else line

    def _unescaped(self, line: str) -> str:
        if self._has_dashes and _DASH.match(line):
            return line.removeprefix(INDENT)
        mark = self._match_own(line)
        return line[: mark.end(1)] + line[mark.end(1) + 1 :] if mark and mark[2] else line

    @property
    def _has_dashes(self) -> bool:
        return self.style in ("bullets", "triples")

    def _match_own(self, line: str) -> re.Match[str] | None:
        """Return the match of a mark of the page that a backslash takes the meaning from."""
        mark = _HEADING.match(line) if self.headings else None
        if mark is None and self.style == "numbered":
            mark = _NUMBER.match(line)
        if mark is None and self.missing:
            mark = _MISSING.match(line)
        if mark is None and self.style == "triples":
            mark = _TRIPLE.match(line)
        return mark


def _under_headings(entries: Iterable[tuple[str, str]]) -> list[str]:
    """Return entries, each with the line of its heading where that is not above it already."""
    pieces, line_above = list[str](), ""
    for line, entry in entries:
        pieces.append(f"{line}\n{entry}" if line and line != line_above else entry)
        line_above = line
    return pieces


def _short_name(graph: Graph, row: int) -> str:
    """Return a node's heading, or else the beginning of its text, in quotes."""
    is_content = bool(graph.content[row])
    heading = known_heading_of(graph, row) if is_content else ""
    name = " ".join((heading or graph.texts[row]).split())
    if len(name) > MAX_NAME:
        name = f"{name[: MAX_NAME - 3].rstrip()}..."
    return f'"{name}"'
