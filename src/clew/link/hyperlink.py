"""The hyperlinks that are written in the documents."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar
from urllib.parse import unquote, urldefrag

from clew.graph import Edges, Graph

FRONT_PAGES = ("index", "readme")  # the files that a link to their folder opens
MODULE = "module:"  # the prefix of a link to a Python module


@dataclass(frozen=True)
class Hyperlink:
    """From the node that a link is written in to the document that it points to.

    The target is a path relative to the link's own document, an id, a URL or a Python module.

    Example:
        >>> graph = Graph.of(
        ...     ["See [guide](guide.md).", "A guide."],
        ...     ids=["index.md", "guide.md"],
        ...     references=(("guide.md",), ()),
        ... )
        >>> edges = Hyperlink().on(graph)
        >>> edges.tails, edges.heads
        (array([0], dtype=int32), array([1], dtype=int32))
    """

    kind: ClassVar[str] = "hyperlink"
    corpus_wide: ClassVar[bool] = False

    def on(self, graph: Graph) -> Edges:
        if not any(graph.references):
            return Edges.of(self.kind, [], [])
        row_of_name = _document_names(graph)
        row_of_short_name = dict(_short_names(row_of_name))
        pairs: dict[tuple[int, int], None] = {}
        heads: dict[tuple[str, str], int | None] = {}  # many nodes of a folder name one target
        for row, references in enumerate(graph.references):
            if not references:
                continue
            document = int(graph.documents[row])
            folder = posixpath.dirname(graph.ids[document]) if document >= 0 else ""
            for reference in references:
                key = folder, reference
                if key not in heads:
                    target = urldefrag(unquote(reference)).url
                    names = _possible_names(target, folder) if target else []
                    heads[key] = _first_known(names, row_of_name, row_of_short_name)
                head = heads[key]
                if head is not None and head not in (row, document):
                    pairs[row, head] = None
        return Edges.of(self.kind, [tail for tail, _ in pairs], [head for _, head in pairs])


def _document_names(graph: Graph) -> dict[str, int]:
    """The row of each document by its id, URL, source and module; the first row for equal names."""
    row_of: dict[str, int] = {}
    for row, id in enumerate(graph.ids):
        if graph.documents[row] != row:
            continue
        metadata = graph.metadata[row]
        for name in (id, metadata.get("url"), metadata.get("source")):
            if name:
                row_of.setdefault(_normalized(str(name)), row)
        if module := metadata.get("module"):
            row_of.setdefault(f"{MODULE}{module}", row)
    return row_of


def _possible_names(target: str, folder: str) -> list[str]:
    """The names that a target may mean, the likeliest first: from the folder, then absolute."""
    if target.startswith(MODULE):
        path = target.removeprefix(MODULE).replace(".", "/")
        files = [f"{path}{end}" for end in (".py", "/__init__.py")]
        return [target, *(_normalized(posixpath.join(folder, file)) for file in files)]
    absolute = _normalized(target)
    return [_normalized(posixpath.join(folder, target)), absolute, absolute.lstrip("/")]


def _short_names(row_of_name: Mapping[str, int]) -> Iterator[tuple[str, int]]:
    """Shorter names of files, where one file alone has them, with its row.

    A file's path without its ending, and a folder's path for its front page.
    """
    rows_of: dict[str, set[int]] = {}
    for name, row in row_of_name.items():
        path, ending = posixpath.splitext(name)
        folder, stem = posixpath.split(path)
        if ending and "://" not in name and not name.startswith(MODULE):
            rows_of.setdefault(path, set()).add(row)
            if stem.lower() in FRONT_PAGES:
                rows_of.setdefault(folder, set()).add(row)
    yield from ((name, rows.pop()) for name, rows in rows_of.items() if name and len(rows) == 1)


def _first_known(names: list[str], *tables: Mapping[str, int]) -> int | None:
    """The row of the first name that the first table knows, or else the next table."""
    return next((table[name] for table in tables for name in names if name in table), None)


def _normalized(name: str) -> str:
    return posixpath.normpath(name) if "://" not in name else name.rstrip("/")
