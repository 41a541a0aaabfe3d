"""The links that are written in the documents."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar
from urllib.parse import unquote, urldefrag

from clew.graph import Edges, Graph

FIRST = ("index", "readme")  # what a folder shows


@dataclass(frozen=True)
class Hyperlink:
    """From the piece that a link is written in to the document it points at: by a path relative to its own, by id, url or module."""

    kind: ClassVar[str] = "hyperlink"
    corpus_wide: ClassVar[bool] = False

    def on(self, graph: Graph) -> Edges:
        if not any(graph.references):
            return Edges.of(self.kind, [], [])
        place: dict[str, int] = {}
        for row, id in enumerate(graph.ids):
            if graph.documents[row] == row:
                for name in (id, graph.metadata[row].get("url"), graph.metadata[row].get("source")):
                    if name:
                        place.setdefault(_plain(str(name)), row)
                if module := graph.metadata[row].get("module"):
                    place.setdefault(f"module:{module}", row)
        short = dict(_short(place))
        pairs: dict[tuple[int, int], None] = {}
        for row, references in enumerate(graph.references):
            own = graph.ids[graph.documents[row]] if graph.documents[row] >= 0 else ""
            for reference in references:
                target = urldefrag(unquote(reference)).url
                names = _names(target, own)
                to = next(
                    (known[name] for known in (place, short) for name in names if name in known),
                    None,
                )
                if target and to is not None and to != row and to != graph.documents[row]:
                    pairs[row, to] = None
        return Edges.of(self.kind, [tail for tail, _ in pairs], [head for _, head in pairs])


def _names(target: str, own: str) -> list[str]:
    """What a target may be called, the likeliest first: relative to the document that names it, then by itself."""
    if target.startswith("module:"):
        below = target.removeprefix("module:").replace(".", "/")
        return [
            target,
            *(
                _plain(posixpath.join(posixpath.dirname(own), f"{below}{end}"))
                for end in (".py", "/__init__.py")
            ),
        ]
    return [
        _plain(posixpath.join(posixpath.dirname(own), target)),
        _plain(target),
        _plain(target).lstrip("/"),
    ]


def _short(place: Mapping[str, int]) -> Iterator[tuple[str, int]]:
    """What else files are called where one alone is meant: by their path without its ending, the first page of a folder by the folder's."""
    named: dict[str, set[int]] = {}
    for name, row in place.items():
        path, ending = posixpath.splitext(name)
        folder, stem = posixpath.split(path)
        if ending and "://" not in name and not name.startswith("module:"):
            named.setdefault(path, set()).add(row)
            if stem.lower() in FIRST:
                named.setdefault(folder, set()).add(row)
    yield from ((name, rows.pop()) for name, rows in named.items() if name and len(rows) == 1)


def _plain(name: str) -> str:
    return posixpath.normpath(name) if "://" not in name else name.rstrip("/")
