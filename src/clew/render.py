"""A reading becomes text: the page that a language model is given."""

from __future__ import annotations

from dataclasses import dataclass

from clew.graph import Graph, heading_of
from clew.types import Reading

STYLES = ("bullets", "triples", "numbered", "plain")


@dataclass(frozen=True)
class Render:
    """How a reading is written down.

    Attributes:
        style: "bullets" (`- text`), "triples" (the same, with facts as `(subject, relation, object)`), "numbered" (`[1] text`, to be
            cited) or "plain".
        headings: write `# Title > Section` above a run of items that share one. first: the number that "numbered" begins with.
    """

    style: str = "bullets"
    headings: bool = True
    first: int = 1

    def __post_init__(self) -> None:
        if self.style not in STYLES:
            raise ValueError(f"unknown style {self.style!r}; known: {', '.join(STYLES)}")

    def pieces(self, graph: Graph, reading: Reading) -> list[str]:
        """Return the printed text of each entry, its heading line included; the page is these joined by line ends."""
        pieces, above = [], ""
        for number, (node, fact) in enumerate(
            zip(reading.nodes.tolist(), reading.facts.tolist(), strict=True), self.first
        ):
            mark = {"numbered": f"[{number}] ", "plain": ""}.get(self.style, "- ")
            if self.style == "triples" and node < 0:
                mark = ""
            heading = heading_of(graph, node) if self.headings and node >= 0 else ""
            pieces.append(
                (f"# {heading}\n" if heading and heading != above else "")
                + mark
                + self._said(graph, node, fact)
            )
            above = heading
        return pieces

    def _said(self, graph: Graph, node: int, fact: int) -> str:
        if node >= 0:
            return graph.texts[node]
        if self.style != "triples":
            return graph.facts.texts[fact]
        subject, object = (
            graph.texts[graph.facts.subjects[fact]],
            graph.texts[graph.facts.objects[fact]],
        )
        return f"({subject}, {graph.facts.relations[fact]}, {object})"
