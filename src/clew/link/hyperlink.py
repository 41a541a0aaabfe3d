"""The hyperlinks that are written in the documents."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain
from typing import ClassVar
from urllib.parse import unquote, urldefrag

import numpy as np

from clew.graph import Edges, Graph, Mask, Rows, row_mask
from clew.graph.link_targets import ANCHOR, LABEL, NO_PATHS, REFERENCE

FRONT_PAGES = ("index", "readme")  # the files that a link to their folder opens
MODULE = "module:"  # the prefix of a link to a Python module
MAX_KNOWN = 32_768  # links whose names are kept for the next change, some 10 MB
_ANCHOR_WORD = re.compile(r"[^\W_]+")
_UPWARDS = ("", ".", "..")  # the last parts of links to a folder that they do not name


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
        the last part of its name, and to another label only where one of its name came.
        """
        came = range(n_before, len(graph))
        names = _document_names(graph, came)
        last_parts = {posixpath.basename(name) for name in (*names, *_paths_of(names))}
        labels = {
            f"{REFERENCE}{one.removeprefix(LABEL)}"
            for one in chain.from_iterable(graph.references[n_before:])
            if one.startswith(LABEL)
        }
        rows = _linked_rows(graph.references[:n_before], last_parts, labels)
        rows += [row for row in came if graph.references[row]]
        return self._with_edges_of(graph, rows, before)

    def shrink(self, graph: Graph, left: Edges, bereft: Mask) -> Edges:
        """Return the edges of a graph of fewer nodes, from those that are left of the graph before.

        What is gone may have had a name that another document or label has, too: a link to it leads
        there then. A short name may be that of one document alone now: any link may mean it.
        """
        short_names = dict(_short_names(_document_names(graph, range(len(graph)))))
        last_parts = {posixpath.basename(name) for name in short_names}
        linked = row_mask(_linked_rows(graph.references, last_parts, ()), len(graph))
        return self._with_edges_of(graph, np.flatnonzero(linked | bereft).tolist(), left)

    def _with_edges_of(self, graph: Graph, rows: Sequence[int], before: Edges) -> Edges:
        """Return the edges of a graph, of which those from some nodes are made again.

        Args:
            graph: The graph.
            rows: The nodes whose edges are made again.
            before: The edges, in the order of their tails.
        """
        if not rows:
            return before
        others = before.take(np.flatnonzero(~row_mask(rows, len(graph))[before.tails]))
        edges = Edges.join([others, self._edges_of(graph, rows)])
        return edges.take(np.argsort(edges.tails, kind="stable"))

    def _edges_of(self, graph: Graph, rows: Sequence[int]) -> Edges:
        """Return the edges from some nodes."""
        row_of_name = _document_names(graph, range(len(graph)))
        row_of_short_name = dict(_short_names(row_of_name))
        pairs: dict[tuple[int, int], None] = {}
        sections, labels = _Sections(graph), _Labels(graph)
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

    def __init__(self, graph: Graph) -> None:
        self.graph = graph

    @cached_property
    def rows_of(self) -> Mapping[str, Sequence[int]]:
        """The rows that have each label."""
        rows_of: dict[str, list[int]] = {}
        every = dict.fromkeys(chain.from_iterable(self.graph.references))
        if labels := {one for one in every if one.startswith(LABEL)}:
            for row, references in enumerate(self.graph.references):
                if not labels.isdisjoint(references):
                    for one in references:
                        if one in labels:
                            rows_of.setdefault(one.removeprefix(LABEL), []).append(row)
        return rows_of

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

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.rows = np.argsort(graph.documents, kind="stable")
        self.documents = graph.documents[self.rows]
        self.is_section = graph.kinds.mask("section")
        # Of the documents that were asked for: rows by name, and by the words of the heading.
        self.known: dict[int, tuple[dict[str, int], dict[str, int]]] = {}

    def find(self, document: int, anchor: str) -> int:
        """Return the row of what an anchor of a document is, or that of the document."""
        words = _anchor_words(anchor)
        if not anchor or document < 0:
            return document
        if document not in self.known:
            first, last = np.searchsorted(self.documents, (document, document + 1)).tolist()
            some = self.rows[first:last]
            headings = some[self.is_section[some]]
            self.known[document] = self._names_of(some), self._headings_of(headings)
        names, rows = self.known[document]
        if anchor in names:
            return names[anchor]
        if not words:
            return document
        # Sphinx puts "term-" before the entries of a glossary.
        return rows.get(words, rows.get(words.removeprefix("term-"), document))

    def _names_of(self, some: Rows) -> dict[str, int]:
        rows: dict[str, int] = {}
        for row in some.tolist():
            for one in self.graph.references[row]:
                if one.startswith(ANCHOR):
                    rows.setdefault(one.removeprefix(ANCHOR), row)
        return rows

    def _headings_of(self, some: Rows) -> dict[str, int]:
        rows: dict[str, int] = {}
        for row in some.tolist():
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


def _linked_rows(
    references: Sequence[Sequence[str]], last_parts: Collection[str], labels: Collection[str]
) -> list[int]:
    """Return the nodes of which a link may mean some documents, or names one of some labels.

    Args:
        references: The links of each node.
        last_parts: The last parts of the names of the documents.
        labels: References to the labels.
    """
    if not last_parts and not labels:
        return []
    # What folder an upward link means depends on where it stands.
    parts = {*last_parts, *_UPWARDS}
    some = {
        one
        for one in dict.fromkeys(chain.from_iterable(references))
        if not parts.isdisjoint(_last_parts(one)) or one in labels
    }
    return [row for row, one in enumerate(references) if not some.isdisjoint(one)] if some else []


@lru_cache(maxsize=MAX_KNOWN)
def _last_parts(reference: str) -> frozenset[str]:
    """Return the last parts of all names that a link may mean, from any folder."""
    if reference.startswith(NO_PATHS):
        return frozenset()
    names = _possible_names(_target_and_anchor(reference)[0], "")
    return frozenset(posixpath.basename(name) for name in names)


def _is_in(parents: Sequence[int], row: int, other: int) -> bool:
    """Return whether a node is another, or in it, by the parent of each node."""
    while row >= 0 and row != other:
        row = parents[row]
    return row == other


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
    """Shorter names of files, where one file alone has them, with its row."""
    rows_of: dict[str, set[int]] = {}
    for name, row in row_of_name.items():
        for path in _paths_of((name,)):
            rows_of.setdefault(path, set()).add(row)
    yield from ((name, rows.pop()) for name, rows in rows_of.items() if len(rows) == 1)


def _paths_of(names: Iterable[str]) -> Iterator[str]:
    """Shorter names that files may have: paths without an ending, the folders of front pages."""
    for name in names:
        path, ending = posixpath.splitext(name)
        folder, stem = posixpath.split(path)
        if ending and "://" not in name and not name.startswith(MODULE):
            yield path
            if folder and stem.lower() in FRONT_PAGES:
                yield folder


def _first_known(names: Iterable[str], *tables: Mapping[str, int]) -> int | None:
    """The row of the first name that the first table knows, or else the next table."""
    return next((table[name] for table in tables for name in names if name in table), None)


def _normalized(name: str) -> str:
    return posixpath.normpath(name) if "://" not in name else name.rstrip("/")
