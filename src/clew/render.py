"""A reading becomes text: the page that a language model is given."""

from __future__ import annotations

from dataclasses import dataclass

from clew.graph import Graph, heading_of
from clew.types import Reading

STYLES = ("bullets", "triples", "numbered", "plain")


@dataclass(frozen=True)
class Render:
    """How a reading is written.

    Attributes:
        style: "bullets" (`- text`), "triples" (the same, with facts as
            `(subject, relation, object)`), "numbered" (`[1] text`, to be cited) or "plain".
        headings: write `# Title > Section` above a run of items that share one.
        first: the number that "numbered" begins with.

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

    def __post_init__(self) -> None:
        if self.style not in STYLES:
            raise ValueError(f"unknown style {self.style!r}; known: {', '.join(STYLES)}")

    def pieces(self, graph: Graph, reading: Reading) -> list[str]:
        """Return the text of each entry, with the heading line above it.

        The page is these pieces, joined by line ends.
        """
        pieces, heading_above = list[str](), ""
        entries = zip(reading.nodes.tolist(), reading.facts.tolist(), strict=True)
        for number, (node, fact) in enumerate(entries, self.first):
            if node < 0:
                pieces.append(self.fact_entry(graph, fact, number))
                heading_above = ""
                continue
            heading, entry = self.heading_line(graph, node), self.entry(graph, node, number)
            pieces.append(f"{heading}\n{entry}" if heading and heading != heading_above else entry)
            heading_above = heading
        return pieces

    def heading_line(self, graph: Graph, node: int) -> str:
        """Return the line above a run of nodes with this heading; empty for none."""
        heading = heading_of(graph, node) if self.headings else ""
        return f"# {heading}" if heading else ""

    def entry(self, graph: Graph, node: int, number: int) -> str:
        """Return a node as it is printed, without the line of its heading."""
        return self._mark(number, node) + graph.texts[node]

    def fact_entry(self, graph: Graph, fact: int, number: int) -> str:
        """Return a fact as it is printed."""
        facts = graph.facts
        text = facts.texts[fact]
        if self.style == "triples":
            subject, object_ = graph.texts[facts.subjects[fact]], graph.texts[facts.objects[fact]]
            text = f"({subject}, {facts.relations[fact]}, {object_})"
        return self._mark(number, -1) + text

    def _mark(self, number: int, node: int) -> str:
        """Return what stands before an entry; `node` is -1 for a fact."""
        if self.style == "numbered":
            return f"[{number}] "
        if self.style == "plain" or (self.style == "triples" and node < 0):
            return ""
        return "- "
