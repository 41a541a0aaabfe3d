"""What a node costs on a printed page: its entry, and its heading's line once for a run of nodes.

A page is counted as a whole, and a tokenizer need not be additive. So an entry's cost includes the
least that its line end adds before another entry. The sum of these costs is at most what the page
takes, but for what the last line end would have added (`PageCosts.line_end`). It holds for every
counter whose count of joined lines depends on the ends of the lines, as far as the samples below
show: estimates by words or letters, and byte-pair encodings.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clew.graph import Graph
from clew.text.estimate import estimate_tokens
from clew.types import PageStyle

SAMPLES = ("A", "of", "the", "1990", "Water is", "`code`")  # how the next entry may begin

Tokens = NDArray[np.int64]


@dataclass(frozen=True)
class PageCostsPart:
    """The part that knows what nodes cost in a style; None for a page without marks and headings.

    Attributes:
        style: how the page is printed; hashable.
    """

    style: PageStyle | None

    def compute(self, graph: Graph) -> PageCosts:
        return PageCosts(graph, self.style)


class PageCosts:
    """What nodes cost on a page of one style. Each is counted when it is first asked for.

    Example:
        >>> from clew import Graph
        >>> from clew.render import Render
        >>> moon = {"title": "The Moon"}
        >>> graph = Graph.of(["It is dry.", "It is grey."], metadata=(moon, moon))
        >>> costs = PageCosts(graph, Render())
        >>> costs.entries(np.array([0, 1])), costs.headings([0, 1])
        (array([5, 5]), (array([0, 0]), array([3])))
    """

    def __init__(self, graph: Graph, style: PageStyle | None) -> None:
        self.graph, self.style = graph, style
        self.line_end = 0  # the most that a line end adds after any entry counted so far
        self._entries: dict[int, int] = {}
        self._heading_lines: dict[str, int] = {}
        mark = "" if style is None or not len(graph) else _mark(graph, style)
        self._samples = [mark + sample for sample in SAMPLES]

    def entries(self, rows: NDArray[np.integer]) -> Tokens:
        """Return the tokens of each row's entry, without its heading; 0 for a connector."""
        content, tokens = self.graph.content, self.graph.tokens
        if self.style is None:
            return np.where(content[rows], tokens[rows], 0).astype(np.int64)
        costs = (self._entry(row) if content[row] else 0 for row in rows.tolist())
        return np.fromiter(costs, np.int64, len(rows))

    def fact(self, fact: int) -> int:
        """Return the tokens of a fact as it is printed."""
        if self.style is None:
            return self.graph.count(f"- {self.graph.facts.texts[fact]}\n")
        text = self.style.fact_entry(self.graph, fact, 1)
        return max(0, self.graph.count(text) + max(0, self._added(text)))

    def headings(self, rows: NDArray[np.integer] | list[int]) -> tuple[Tokens, Tokens]:
        """Return the number of each row's heading, -1 for none, and what each heading costs."""
        numbers, groups = dict[str, int](), np.full(len(rows), -1, np.int64)
        if self.style is not None:
            for place, row in enumerate(np.asarray(rows).tolist()):
                line = self.style.heading_line(self.graph, row) if self.graph.content[row] else ""
                if line:
                    groups[place] = numbers.setdefault(line, len(numbers))
        return groups, np.fromiter(map(self._heading, numbers), np.int64, len(numbers))

    def _entry(self, row: int) -> int:
        known = self._entries.get(row)
        if known is None:
            assert self.style is not None
            text = self.style.node_entry(self.graph, row, 1)
            line_end = self._added(text)
            self.line_end = max(self.line_end, line_end)
            known = self._entries[row] = max(0, self.graph.count(text) + line_end)
        return known

    def _heading(self, line: str) -> int:
        known = self._heading_lines.get(line)
        if known is None:
            known = max(0, self.graph.count(line) + self._added(line))
            self._heading_lines[line] = known
        return known

    def _added(self, text: str) -> int:
        """Return the least that the end of this line adds before any of the samples."""
        count: Callable[[str], int] = self.graph.count
        if count is estimate_tokens:  # counts words, so a line end adds nothing
            return 0
        return min(count(f"{text}\n{sample}") - count(sample) for sample in self._samples) - count(
            text
        )


def _mark(graph: Graph, style: PageStyle) -> str:
    """Return what stands before the text of an entry, empty where the style has nothing there."""
    row = int(np.argmax(graph.content)) if graph.content.any() else 0
    first_line = graph.texts[row].partition("\n")[0]
    return style.node_entry(graph, row, 1).partition(first_line)[0] if first_line else ""
