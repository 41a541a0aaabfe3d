"""The hyperlinks that are written in the documents."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain, compress
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from clew.graph import Edges, Graph, Mask, NodeChange, Rows, row_mask
from clew.graph.link_targets import ANCHOR, LABEL, NO_PATHS, NOTE, REFERENCE
from clew.link._link_names import (
    MAX_KNOWN,
    NOTE_ENDINGS,
    composed,
    names_of_document,
    normalized_note,
    note_name,
    paths_of,
    possible_names,
    target_and_anchor,
)
from clew.link._link_search import WrittenLinks, WrittenLinksPart

_ANCHOR_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True)
class Hyperlink:
    """From the node that a link is written in to the document or the section that it points to.

    The target is a path relative to the link's own document, an id, a URL or a Python module. What
    is behind its "#" is the passage or the section that has this name: the id of an element of
    HTML, or else the words of a heading, as pages name their anchors; where nothing has it, it is
    the document. A link to a label of reStructuredText leads to what the label stands above; of
    several labels of one name it is the one in the same document, or else in the nearest folder. A
    link to a note (`[[Moon#Seas]]`) leads to the document whose file has this name without its
    suffix, in any folder, small and capital letters alike; of several it is the nearest, too.

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
        came = np.arange(n_before, len(graph))
        names, labels = _Names(graph, came), _labels_among(graph.references[n_before:])
        last_parts = {*map(posixpath.basename, names.every), *names.rows_of_note}
        links = WrittenLinks.of(graph.references[:n_before]).that_may_mean(last_parts, labels)
        rows = _rows_with(graph.references[:n_before], links)
        rows = [row for row in rows if _may_mean(graph, row, links, names.every)]
        rows += [row for row in came.tolist() if graph.references[row]]
        return self._with_edges_of(graph, rows, before)

    def shrink(self, graph: Graph, left: Edges, bereft: Mask) -> Edges:
        """Return the edges of a graph of fewer nodes, from those that are left of the graph before.

        What is gone may have had a name that another document or label has, too: a link to it leads
        there then. A short name may be that of one document alone now: any link may mean it.
        """
        if not any(graph.references):
            return left
        names = _Names(graph, np.arange(len(graph)))
        last_parts = {posixpath.basename(name) for name in names.row_of_path}
        last_parts |= names.rows_of_note.keys()
        links = WrittenLinks.of(graph.references).that_may_mean(last_parts, ())
        rows = row_mask(_rows_with(graph.references, links), len(graph)) | bereft
        return self._with_edges_of(graph, np.flatnonzero(rows).tolist(), left, names)

    def exchange(self, change: NodeChange, left: Edges, bereft: Mask) -> Edges:
        """Return the edges of a graph from which nodes are gone, and to which others came.

        It is known what is gone: only a short name of that can be of one document alone now.
        """
        graph, base, n_left = change.graph, change.base, len(change.left)
        if not any(graph.references):
            return left
        if not change.brings and 2 * n_left < len(base):  # what is left has fewer names
            return self.shrink(graph, left, bereft)
        came = _Names(graph, np.arange(n_left, len(graph)))
        gone = _Names(base, np.flatnonzero(~change.stays))
        labels = _labels_among(graph.references[n_left:])
        # Links to the whole name of what is gone have lost an edge: only shorter names count.
        names = came.every | gone.rows_of_path.keys()
        last_parts = {*map(posixpath.basename, names), *came.rows_of_note, *gone.rows_of_note}
        links = base.part(WrittenLinksPart()).that_may_mean(last_parts, labels)
        linked = _rows_with(base.references, links)
        linked = [row for row in linked if _may_mean(base, row, links, names)]
        rows = row_mask(linked, len(base))[change.stays] | bereft
        rows = np.append(rows, list(map(bool, graph.references[n_left:])))
        return self._with_edges_of(graph, np.flatnonzero(rows).tolist(), left)

    def _with_edges_of(
        self, graph: Graph, rows: Sequence[int], before: Edges, names: _Names | None = None
    ) -> Edges:
        """Return the edges of a graph, of which those from some nodes are made again.

        Args:
            graph: The graph.
            rows: The nodes whose edges are made again.
            before: The edges, in the order of their tails.
            names: Those of all documents, where they are known.
        """
        if not rows:
            return before
        others = before.take(np.flatnonzero(~row_mask(rows, len(graph))[before.tails]))
        edges = Edges.join([others, self._edges_of(graph, rows, names)])
        return edges.take(np.argsort(edges.tails, kind="stable"))

    def _edges_of(self, graph: Graph, rows: Sequence[int], names: _Names | None = None) -> Edges:
        """Return the edges from some nodes."""
        names = names or _Names(graph, np.arange(len(graph)))
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
                if reference.startswith(NO_PATHS) and not reference.startswith(NOTE):
                    head = labels.find(document, reference)
                    if head is not None and head != document and not _is_in(parents, row, head):
                        pairs[row, head] = None
                    continue
                target, anchor = target_and_anchor(reference)
                key = folder if target not in ("", NOTE) else graph.ids[document], reference
                if key not in heads:
                    if target.startswith(NOTE):
                        head = names.find_note(target, folder, document)
                    else:
                        head = names.find(possible_names(target, folder)) if target else document
                    heads[key] = None if head is None else sections.find(head, anchor)
                head = heads[key]
                if head is not None and head != document and not _is_in(parents, row, head):
                    pairs[row, head] = None
        return Edges.of(self.kind, [tail for tail, _ in pairs], [head for _, head in pairs])


def _labels_among(references: Sequence[Sequence[str]]) -> set[str]:
    """Return references to the labels that are among those of some nodes."""
    return {
        f"{REFERENCE}{one.removeprefix(LABEL)}"
        for one in chain.from_iterable(references)
        if one.startswith(LABEL)
    }


def _rows_with(references: Sequence[Sequence[str]], some: AbstractSet[str]) -> list[int]:
    """Return the rows of the nodes that have one of some references."""
    if not some:
        return []
    linked = compress(range(len(references)), references)
    return [row for row in linked if not some.isdisjoint(references[row])]


def _may_mean(graph: Graph, row: int, links: AbstractSet[str], names: AbstractSet[str]) -> bool:
    """Return whether a node has a link to a note or a label, or one that may mean one of names.

    Args:
        graph: The graph.
        row: The node.
        links: The links that count.
        names: Names of documents.
    """
    document = int(graph.documents[row])
    folder = posixpath.dirname(graph.ids[document]) if document >= 0 else ""
    return any(
        reference.startswith(NO_PATHS)
        or not names.isdisjoint(possible_names(target_and_anchor(reference)[0], folder))
        for reference in graph.references[row]
        if reference in links
    )


class _Names:
    """The names of the documents among some nodes: ids, URLs, sources and modules.

    Attributes:
        row_of: The row of each name; of equal names, the first.
        rows_of_path: The rows of each shorter name, as `paths_of` returns them.
    """

    def __init__(self, graph: Graph, rows: NDArray[np.int64]) -> None:
        self.row_of: dict[str, int] = {}
        self.rows_of_path: dict[str, set[int]] = {}
        self._ids = graph.ids
        for row in rows[graph.documents[rows] == rows].tolist():
            metadata = graph.metadata[row]
            also = [metadata.get(key) for key in ("url", "source", "module")]
            for name in names_of_document(graph.ids[row], *(str(one or "") for one in also)):
                if self.row_of.setdefault(name, row) == row:
                    for path in paths_of(name):
                        self.rows_of_path.setdefault(path, set()).add(row)

    @property
    def every(self) -> set[str]:
        """All names, the shorter ones, too."""
        return {*self.row_of, *self.rows_of_path}

    @cached_property
    def row_of_path(self) -> Mapping[str, int]:
        """The row of each shorter name that one document alone has."""
        one_each = ((path, rows) for path, rows in self.rows_of_path.items() if len(rows) == 1)
        return {path: row for path, rows in one_each for row in rows}

    @cached_property
    def rows_of_note(self) -> Mapping[str, Sequence[tuple[str, int]]]:
        """The paths without suffixes, and the rows, of the files of each name of a note."""
        rows_of: dict[str, list[tuple[str, int]]] = {}
        for path, rows in self.rows_of_path.items():
            rows_of.setdefault(note_name(path), []).extend((path, row) for row in sorted(rows))
        return rows_of

    def find_note(self, target: str, folder: str, document: int) -> int | None:
        """Return the row of the note that a link in a document means, the nearest to its folder.

        Of equally near files, Markdown comes first, and then the first id: changes of the index
        change the order of rows, and not what a link means.

        Args:
            target: The name of the note, behind `NOTE`, with as many folders as are written.
            folder: The folder of the document.
            document: The row of the document, which a link without a name means.
        """
        name = normalized_note(target)
        if not name:
            return document
        above = composed(folder).split("/")

        def rank(found: tuple[str, int]) -> tuple[int, bool, str]:
            path, row = found
            id = self._ids[row]
            common = len(posixpath.commonprefix([above, path.split("/")]))
            return -common, not id.lower().endswith(NOTE_ENDINGS), id

        every = self.rows_of_note.get(note_name(target), ())
        fitting = [one for one in every if f"/{one[0].lower()}".endswith(f"/{name}")]
        return min(fitting, key=rank)[1] if fitting else None

    def find(self, names: Sequence[str]) -> int | None:
        """Return the row of the first of these names that is known, or else of a shorter one."""
        tables = (self.row_of, self.row_of_path)
        return next((table[name] for table in tables for name in names if name in table), None)


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

        def rank(row: int) -> tuple[bool, int, str]:
            other = int(documents[row])
            common = posixpath.commonprefix([own.split("/"), ids[other].split("/")])
            return other != document, -len(common), ids[other]

        return min(rows, key=rank)  # in a document the first of them


class _Sections:
    """What addresses lead to in a graph's documents: by their names, or the words of headings."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.rows = np.argsort(graph.documents, kind="stable").astype(np.int32)
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


def _is_in(parents: Sequence[int], row: int, other: int) -> bool:
    """Return whether a node is another, or in it, by the parent of each node."""
    while row >= 0 and row != other:
        row = parents[row]
    return row == other
