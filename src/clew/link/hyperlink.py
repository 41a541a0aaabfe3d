"""The hyperlinks that are written in the documents."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import ClassVar
from urllib.parse import unquote, urldefrag

import numpy as np

from clew.graph import Edges, Graph, Mask
from clew.graph.link_targets import ANCHOR, LABEL, NO_PATHS, REFERENCE

FRONT_PAGES = ("index", "readme")  # the files that a link to their folder opens
MODULE = "module:"  # the prefix of a link to a Python module
MAX_KNOWN = 32_768  # links whose names are kept for the next change, some 10 MB
_ANCHOR_WORD = re.compile(r"[^\W_]+")
_WORDS = re.compile(r"[/\\:.#\n]")  # what is between the words of a path
# A link to a folder that it does not name, such as `..` or `guide/.`
_UPWARDS = re.compile(r"(?<![^/\\\n])\.{1,2}/*(?:#.*)?$", re.MULTILINE)


@dataclass(frozen=True)
class Hyperlink:
    """From the node that a link is written in to the document or the section that it points to.

    The target is a path relative to the link's own document, an id, a URL or a Python module. What
    is behind its "#" is the passage or the section that has this name: the id of an element of
    HTML, or else the words of a heading, as pages name their anchors; where nothing has it, it is
    the document. A link to a label of reStructuredText leads to what the label stands above; of
    several labels of one name it is the one in the same document, or else in the nearest folder.

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
        return self._edges_of(graph, range(len(graph)))

    def grow(self, graph: Graph, before: Edges, n_before: int) -> Edges:
        """Return the edges of a graph with more nodes, from those of the graph before.

        A link that was there leads to another document, or to none, only where one that came has
        the last part of its name.
        """
        came = range(n_before, len(graph))
        old = dict.fromkeys(chain.from_iterable(graph.references[:n_before]))
        labels = chain.from_iterable(graph.references[row] for row in came)
        if any(
            one.startswith(LABEL) and f"{REFERENCE}{one.removeprefix(LABEL)}" in old
            for one in labels
        ):
            return self.on(graph)
        links = "\n".join(one for one in old if not one.startswith(NO_PATHS))
        links += "\n" + unquote(links)
        lower = links.lower()
        parts = [part for name in _document_names(graph, came) for part in _last_parts(name)]
        likely = [words for words in map(_WORDS.split, parts) if all(one in lower for one in words)]
        every = set(_WORDS.split(lower)) if likely else set[str]()
        if any(map(every.issuperset, likely)) or _UPWARDS.search(links):
            return self.on(graph)
        if not any(graph.references[n_before:]):
            return before
        return Edges.join([before, self._edges_of(graph, came)])

    def shrink(self, graph: Graph, left: Edges, bereft: Mask) -> Edges:
        """Return the edges of a graph of fewer nodes, from those that are left of the graph before.

        What is gone may have had a name that another document has, too.
        """
        return self.on(graph)

    def _edges_of(self, graph: Graph, rows: range) -> Edges:
        """Return the edges from some nodes."""
        row_of_name = _document_names(graph, range(len(graph)))
        row_of_short_name = dict(_short_names(row_of_name))
        pairs: dict[tuple[int, int], None] = {}
        named = _named_rows(graph)
        sections, labels = _Sections(graph, named), _Labels(graph, named)
        heads: dict[tuple[str, str], int | None] = {}  # many nodes of a folder name one target
        documents, parents = graph.documents.tolist(), graph.parents.tolist()
        folders: dict[int, str] = {-1: ""}
        for row in rows:
            references = graph.references[row]
            if not references:
                continue
            document = documents[row]
            if document not in folders:
                folders[document] = posixpath.dirname(graph.ids[document])
            folder = folders[document]
            for reference in references:
                if reference.startswith(NO_PATHS):
                    head = labels.find(document, reference)
                    if head is not None and head != document and not _is_in(parents, row, head):
                        pairs[row, head] = None
                    continue
                target, anchor = _target_and_anchor(reference)
                key = folder if target else graph.ids[document], reference
                if key not in heads:
                    names = _possible_names(target, folder)
                    known = _first_known(names, row_of_name, row_of_short_name)
                    head = known if target else document
                    heads[key] = None if head is None else sections.find(head, anchor)
                head = heads[key]
                if head is not None and head != document and not _is_in(parents, row, head):
                    pairs[row, head] = None
        return Edges.of(self.kind, [tail for tail, _ in pairs], [head for _, head in pairs])


class _Labels:
    """What the labels of all documents stand above."""

    def __init__(self, graph: Graph, named: Sequence[int]) -> None:
        self.graph = graph
        self.rows_of: dict[str, list[int]] = {}
        for row in named:
            for one in graph.references[row]:
                if one.startswith(LABEL):
                    self.rows_of.setdefault(one.removeprefix(LABEL), []).append(row)

    def find(self, document: int, reference: str) -> int | None:
        """Return the row that a link in a document leads to, or None; a mere name is no link."""
        if not reference.startswith(REFERENCE):
            return None
        rows = self.rows_of.get(reference.removeprefix(REFERENCE), ())
        if len(rows) < 2:
            return rows[0] if rows else None
        ids, documents = self.graph.ids, self.graph.documents
        own = ids[document] if document >= 0 else ""

        def nearness(row: int) -> tuple[bool, int]:
            other = int(documents[row])
            common = posixpath.commonprefix([own.split("/"), ids[other].split("/")])
            return other == document, len(common)

        return max(rows, key=nearness)  # the first of equally near ones


class _Sections:
    """What addresses lead to in a graph's documents: by their names, or the words of headings."""

    def __init__(self, graph: Graph, named: Sequence[int]) -> None:
        rows = graph.rows("section")
        self.named_in: dict[int, list[int]] = {}
        for row in named:
            self.named_in.setdefault(int(graph.documents[row]), []).append(row)
        self.graph = graph
        self.rows = rows[np.argsort(graph.documents[rows], kind="stable")]
        self.documents = graph.documents[self.rows]
        # Of the documents that were asked for: rows by name, and by the words of the heading.
        self.known: dict[int, tuple[dict[str, int], dict[str, int]]] = {}

    def find(self, document: int, anchor: str) -> int:
        """Return the row of what an anchor of a document is, or that of the document."""
        words = _anchor_words(anchor)
        if not anchor or document < 0:
            return document
        if document not in self.known:
            self.known[document] = self._names_of(document), self._headings_of(document)
        names, rows = self.known[document]
        if anchor in names:
            return names[anchor]
        if not words:
            return document
        # Sphinx puts "term-" before the entries of a glossary.
        return rows.get(words, rows.get(words.removeprefix("term-"), document))

    def _names_of(self, document: int) -> dict[str, int]:
        rows: dict[str, int] = {}
        for row in self.named_in.get(document, ()):
            for one in self.graph.references[row]:
                if one.startswith(ANCHOR):
                    rows.setdefault(one.removeprefix(ANCHOR), row)
        return rows

    def _headings_of(self, document: int) -> dict[str, int]:
        first, last = np.searchsorted(self.documents, (document, document + 1)).tolist()
        rows: dict[str, int] = {}
        for row in self.rows[first:last].tolist():
            heading = self.graph.texts[row]
            for words in (heading, heading.partition("(")[0]):  # an anchor has no parameters
                rows.setdefault(_anchor_words(words), row)
        return rows


@lru_cache(maxsize=MAX_KNOWN)
def _anchor_words(text: str) -> str:
    """Return a heading or an anchor as both are compared.

    Example:
        >>> _anchor_words("How to *bleed* a radiator"), _anchor_words("csv.DictReader")
        ('how-to-bleed-a-radiator', 'csv-dictreader')
    """
    return "-".join(_ANCHOR_WORD.findall(text.lower()))


def _named_rows(graph: Graph) -> list[int]:
    """Return the nodes that have a name of their own, or a link to one."""
    every = dict.fromkeys(chain.from_iterable(graph.references))
    marked = {one for one in every if one.startswith(NO_PATHS)}
    return [row for row, some in enumerate(graph.references) if not marked.isdisjoint(some)]


def _is_in(parents: Sequence[int], row: int, other: int) -> bool:
    """Return whether a node is another, or in it, by the parent of each node."""
    while row >= 0 and row != other:
        row = parents[row]
    return row == other


def _last_parts(name: str) -> list[str]:
    """Return what a link to a document has in it: its file without ending, its folder."""
    path = name.removeprefix(MODULE).replace(".", "/") if name.startswith(MODULE) else name
    folder, file = posixpath.split(path.rstrip("/"))
    stem = posixpath.splitext(file)[0].lower()
    is_front = stem in (*FRONT_PAGES, "__init__")
    return [stem, posixpath.basename(folder).lower()] if is_front else [stem]


def _document_names(graph: Graph, rows: range) -> dict[str, int]:
    """The row of each document by its id, URL, source and module; the first row for equal names."""
    row_of: dict[str, int] = {}
    some = np.arange(rows.start, rows.stop)
    for row in some[graph.documents[rows.start : rows.stop] == some].tolist():
        id, metadata = graph.ids[row], graph.metadata[row]
        for name in (id, metadata.get("url"), metadata.get("source")):
            if name:
                row_of.setdefault(_normalized(str(name)), row)
        if module := metadata.get("module"):
            row_of.setdefault(f"{MODULE}{module}", row)
    return row_of


@lru_cache(maxsize=MAX_KNOWN)
def _target_and_anchor(reference: str) -> tuple[str, str]:
    target, anchor = urldefrag(unquote(reference))
    return target, anchor


@lru_cache(maxsize=MAX_KNOWN)
def _possible_names(target: str, folder: str) -> tuple[str, ...]:
    """The names that a target may mean, the likeliest first: from the folder, then absolute."""
    if not target:
        return ()
    if target.startswith(MODULE):
        path = target.removeprefix(MODULE).replace(".", "/")
        files = [f"{path}{end}" for end in (".py", "/__init__.py")]
        return target, *(_normalized(posixpath.join(folder, file)) for file in files)
    absolute = _normalized(target)
    return _normalized(posixpath.join(folder, target)), absolute, absolute.lstrip("/")


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


def _first_known(names: Iterable[str], *tables: Mapping[str, int]) -> int | None:
    """The row of the first name that the first table knows, or else the next table."""
    return next((table[name] for table in tables for name in names if name in table), None)


def _normalized(name: str) -> str:
    return posixpath.normpath(name) if "://" not in name else name.rstrip("/")
