"""The links that are written in the documents."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from typing import ClassVar
from urllib.parse import unquote, urldefrag

from clew.graph import Edges, Graph


@dataclass(frozen=True)
class Hyperlink:
    """From the piece that a link is written in to the document it points at: by id, by url, or by a path relative to its own."""

    corpus_wide: ClassVar[bool] = False

    def on(self, graph: Graph) -> Edges:
        if not any(graph.references):
            return Edges.of("hyperlink", [], [])
        place: dict[str, int] = {}
        for row, id in enumerate(graph.ids):
            if graph.documents[row] == row:
                for name in (id, graph.metadata[row].get("url"), graph.metadata[row].get("source")):
                    if name:
                        place.setdefault(_plain(str(name)), row)
                if module := graph.metadata[row].get("module"):
                    place.setdefault(f"module:{module}", row)
        pairs: dict[tuple[int, int], None] = {}
        for row, references in enumerate(graph.references):
            own = graph.ids[graph.documents[row]] if graph.documents[row] >= 0 else ""
            for reference in references:
                target = urldefrag(unquote(reference)).url
                near = posixpath.join(posixpath.dirname(own), target)
                to = place.get(_plain(target), place.get(_plain(near)))
                if target and to is not None and to != row and to != graph.documents[row]:
                    pairs[row, to] = None
        return Edges.of("hyperlink", [tail for tail, _ in pairs], [head for _, head in pairs])


def _plain(name: str) -> str:
    return posixpath.normpath(name) if "://" not in name else name.rstrip("/")
