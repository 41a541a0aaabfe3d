"""Nothing is read twice: no text inside another one of its document, and no copy of a text."""

from __future__ import annotations

import re
from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from clew.algorithms.ranking import dense_ranks, reaches
from clew.graph import Floats, Graph, Mask, freeze, texts_at

TOGETHER = 8192  # texts that are made at once
ORIGIN = frozenset((
    "source", "path", "file", "filename", "folder", "directory", "url", "uri", "link", "href",
    "page", "pages", "chunk", "index", "id", "ids", "uid", "uuid", "hash", "checksum", "digest",
    "etag", "line", "lines", "start", "end", "offset", "position", "row", "seq", "sequence",
    "created", "creation", "modified", "accessed", "size", "length", "count", "total", "tokens",
    "words", "mime", "mimetype", "format", "encoding", "producer", "creator", "loader", "title",
    "module", "read", "language", "score", "distance", "relevance", "embedding", "vector",
    "doc", "document", "node", "parent", "ref",
))  # fmt: skip
"""Words in the names of metadata that say where a text comes from, or how it was found."""

OWN = "clew_"  # before the names under which an adapter says why and from where a text is read

WORD = re.compile(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+")
INDENTED = re.compile(r"\n[^\S\n]")  # a line that begins with a space


@dataclass(frozen=True)
class TextKeysPart:
    r"""The part that reads all content for copies: int64 [n], 0 for nodes that are no content.

    The numbers of texts that are alike are equal. They are those of one process. A text has spaces
    where lines end, unless some are indented, as those of code are.

    Example:
        >>> from clew import Graph
        >>> keys = Graph.of(["It is all one", "other", "It is all\none "]).part(TextKeysPart())
        >>> bool(keys[0] == keys[2]), bool(keys[0] == keys[1])
        (True, False)
    """

    def compute(self, graph: Graph) -> NDArray[np.int64]:
        return self._keys(graph, np.flatnonzero(graph.content))

    def grow(self, graph: Graph, base: Graph, before: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return what `compute` returns."""
        new, n = np.flatnonzero(graph.content), len(base)
        return np.append(before, self._keys(graph, new[new >= n])[n:])

    def shrink(
        self, graph: Graph, base: Graph, stays: Mask, before: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Return what `compute` returns."""
        left: NDArray[np.int64] = before[stays]
        return left

    def _keys(self, graph: Graph, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        keys = np.zeros(len(graph), np.int64)
        keys[rows] = text_keys(graph, rows)
        return keys


@dataclass(frozen=True)
class DuplicatesPart:
    r"""The part that finds the copies: content of one kind with one text under the same sections.

    The title of a document does not tell two texts apart, nor do other metadata on where it comes
    from: what stands in several files is read once. A section does, since the same words may mean
    something else in it, and so do all other metadata: the opening hours of two branches are two
    answers. Where lines end does not tell them apart either, unless some are indented, as those of
    code are.

    Example:
        >>> from clew import Graph
        >>> graph = Graph.of(["It is all one and the same", "other", "It is all one and\nthe same"])
        >>> graph.part(DuplicatesPart()).copies_of(0)
        [2]
    """

    of_vectors: ClassVar[bool] = False

    def compute(self, graph: Graph) -> Duplicates:
        by_key: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
        for row, text in _texts_that_come_again(graph).items():
            around = *_sections_around(graph, row), graph.kinds[row]
            by_key[text, *around, *distinctive_metadata(graph.metadata[row])].append(row)
        return Duplicates.of([rows for rows in by_key.values() if len(rows) > 1], len(graph))

    def shrink(self, graph: Graph, base: Graph, stays: Mask, before: Duplicates) -> Duplicates:
        """Return what `compute` returns."""
        around = base.parents[stays]
        if not stays[around[around >= 0]].all():
            return self.compute(graph)  # a text may have lost the section that sets it apart
        place = np.cumsum(stays) - 1
        left = [[row for row in rows if stays[row]] for rows in before.groups.values()]
        groups = [place[rows].tolist() for rows in left if len(rows) > 1]
        return Duplicates.of(groups, len(graph))

    def extend(self, graph: Graph, base: Graph, before: Duplicates) -> Duplicates:
        """Return what `compute` returns for a base and generated texts, which are no copies."""
        new_rows = np.arange(len(base), len(graph))
        return replace(before, first=freeze(np.append(before.first, new_rows), np.int64))


@dataclass(frozen=True, eq=False)
class Duplicates:
    """The copies in a graph.

    Attributes:
        first: for every row the first of its copies; itself where it has none.
        rows: all rows that have copies, group by group.
        groups: the rows of every group, by its first row.
    """

    first: NDArray[np.int64]
    rows: NDArray[np.int64]
    groups: Mapping[int, tuple[int, ...]]

    @classmethod
    def of(cls, groups: Iterable[list[int]], n: int) -> Duplicates:
        """Return the copies among `n` rows.

        Args:
            groups: the rows of each text that comes several times, ascending.
            n: the number of all rows.

        Example:
            >>> Duplicates.of([[1, 3]], 4).first.tolist()
            [0, 1, 2, 1]
        """
        of_first = {rows[0]: tuple(rows) for rows in sorted(groups)}
        first = np.arange(n)
        for row, copies in of_first.items():
            first[list(copies)] = row
        in_turn = [row for copies in of_first.values() for row in copies]
        return cls(freeze(first, np.int64), freeze(in_turn, np.int64), of_first)

    def without_lower_copies(self, prizes: Floats) -> Floats:
        """Return the prizes with all copies but the best of each group at 0.

        No room is then reserved for them; of equal copies the first is the best.
        """
        if not len(self.rows):
            return prizes
        remaining = prizes.copy()
        remaining[self._lower_copies(prizes)] = 0.0
        return remaining

    def _lower_copies(self, prizes: Floats) -> NDArray[np.int64]:
        """Return the rows of all copies but the best of each group, the first of equal ones."""
        values, largest = prizes[self.rows], max(float(prizes.max()), -float(prizes.min()))
        highest = np.maximum.reduceat(values, self._starts)[self._group]
        if (values == highest).sum() < reaches(values, highest, largest).sum():
            values = -dense_ranks(values, largest).astype(np.float64)  # noise parts equal ones
            highest = np.maximum.reduceat(values, self._starts)[self._group]
        places = np.flatnonzero(values == highest)
        is_first = np.diff(self._group[places], prepend=-1) != 0
        return np.delete(self.rows, places[is_first])

    @cached_property
    def _starts(self) -> NDArray[np.int64]:
        """Where each group starts in `rows`, whose groups have their lowest row first."""
        return np.flatnonzero(np.diff(self.first[self.rows], prepend=-1))

    @cached_property
    def _group(self) -> NDArray[np.int64]:
        """The number of each row's group."""
        lengths = np.diff(np.append(self._starts, len(self.rows)))
        return np.repeat(np.arange(len(lengths)), lengths)

    def copies_of(self, row: int) -> list[int]:
        """Return the other rows with the text of this one."""
        return [copy for copy in self.groups.get(int(self.first[row]), ()) if copy != row]


def _texts_that_come_again(graph: Graph) -> dict[int, str]:
    """Return the texts that several rows of content have, by their rows, ascending."""
    rows, keys = np.flatnonzero(graph.content), graph.part(TextKeysPart())
    again = rows[_places_that_come_again(keys[rows])]
    return dict(zip(again.tolist(), _texts_on_one_line(graph, again), strict=True))


def _places_that_come_again(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the places of the numbers that are at several.

    Example:
        >>> _places_that_come_again(np.array([5, 7, 5, 9])).tolist()
        [0, 2]
    """
    order = np.argsort(keys)
    ascending = keys[order]
    is_as_next = np.append(ascending[1:] == ascending[:-1], np.zeros(min(len(keys), 1), np.bool_))
    return np.sort(order[is_as_next | np.roll(is_as_next, 1)])


def text_keys(graph: Graph, rows: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return the numbers that `TextKeysPart` has for some content: int64."""
    keys = np.zeros(len(rows), np.int64)
    for start in range(0, len(rows), TOGETHER):
        some = slice(start, start + TOGETHER)
        keys[some] = list(map(hash, _texts_on_one_line(graph, rows[some])))
    return keys


def _texts_on_one_line(graph: Graph, rows: NDArray[np.integer]) -> list[str]:
    """Return texts with spaces where lines end, unless some are indented."""
    stripped = [text.strip() for text in texts_at(graph.texts, rows.tolist())]
    return [
        text.replace("\n", " ") if "\n" in text and not INDENTED.search(text) else text
        for text in stripped
    ]


def _sections_around(graph: Graph, row: int) -> tuple[str, ...]:
    """The titles of the sections around a node, without one that is the title of its document."""
    sections: list[str] = []
    above = int(graph.parents[row])
    while above >= 0 and graph.kinds[above] != "document":
        if graph.kinds[above] == "section":
            sections.append(" ".join(graph.texts[above].split()))
        above = int(graph.parents[above])
    if sections and above >= 0 and sections[-1] == " ".join(graph.texts[above].split()):
        sections.pop()
    return tuple(sections)


def distinctive_metadata(metadata: Mapping[Any, Any]) -> tuple[str, ...]:
    """Return what metadata say of a text, and not of where it comes from.

    Example:
        >>> origin = {"pageLabel": "3", "file_path": "a.md", "chunk-id": 7}
        >>> distinctive_metadata({"branch": "Riga", **origin})
        ("branch: 'Riga'",)
    """
    return tuple(
        sorted(
            f"{name}: {value!r}" for name, value in metadata.items() if not _is_origin(str(name))
        )
    )


@lru_cache(maxsize=1024)
def _is_origin(name: str) -> bool:
    return name.startswith(OWN) or any(word.lower() in ORIGIN for word in WORD.findall(name))


def may_overlap(graph: Graph, nodes: NDArray[np.int32]) -> bool:
    """Return whether some of these nodes overlap, so that an `OverlapFilter` would refuse one.

    It looks at all of them at once, which takes less than accepting each.

    Example:
        >>> from clew import Graph
        >>> graph = Graph.of(["abc", "b", "d"], documents=[0] * 3, spans=[(0, 3), (1, 2), (4, 5)])
        >>> may_overlap(graph, np.array([0, 2])), may_overlap(graph, np.array([0, 1]))
        (False, True)
    """
    texts = graph.part(DuplicatesPart()).first[nodes].tolist()
    if len(set(texts)) < len(texts):
        return True
    owners, spans = graph.documents[nodes].tolist(), graph.spans[nodes].tolist()
    last_owner, last_start, last_end = -1, -1, -1
    for owner, (start, end) in sorted(zip(owners, spans, strict=True)):
        if owner == last_owner >= 0 and (start == last_start or end <= last_end):
            return True
        last_owner, last_start, last_end = owner, start, end
    return False


def overlaps(graph: Graph, row: int, others: NDArray[np.int32]) -> bool:
    """Return whether a node lies in one of the others, or around one, or is a copy of one.

    Args:
        graph: the graph of the nodes.
        row: the node.
        others: rows of other nodes.

    Example:
        >>> from clew.graph import Graph
        >>> graph = Graph.of(["abc", "b", "d"], documents=[0] * 3, spans=[(0, 3), (1, 2), (4, 5)])
        >>> overlaps(graph, 0, np.array([2])), overlaps(graph, 0, np.array([1, 2]))
        (False, True)
    """
    first_copies = graph.part(DuplicatesPart()).first
    if first_copies.item(row) in first_copies[others].tolist():
        return True
    document = graph.documents.item(row)
    if document < 0:
        return False
    start, end = graph.spans[row].tolist()
    beside = graph.spans[others[graph.documents[others] == document]].tolist()
    return any(
        (first <= start and end <= behind) or (start <= first and behind <= end)
        for first, behind in beside
    )


class OverlapFilter:
    """A growing set of nodes, none of which lies inside another one or is a copy of it.

    Each node is accepted or refused in logarithmic time: the spans of one document, none of which
    contains another, are sorted by start and by end at once, so that only the two neighbours of a
    new span can contain it or lie in it.

    Example:
        >>> from clew import Graph
        >>> graph = Graph.of(["abc", "b", "d"], documents=[0] * 3, spans=[(0, 3), (1, 2), (4, 5)])
        >>> overlap = OverlapFilter(graph)
        >>> [overlap.accept(row) for row in range(3)]
        [True, False, True]
    """

    def __init__(self, graph: Graph) -> None:
        self._documents, self._spans = graph.documents, graph.spans
        self._first_copy = graph.part(DuplicatesPart()).first
        self._accepted_texts = set[int]()
        self._accepted_spans: dict[int, list[tuple[int, int]]] = {}

    def accept(self, row: int) -> bool:
        """Return True and take a node in, unless it overlaps with one that was accepted."""
        text = int(self._first_copy[row])
        if text in self._accepted_texts or not self._accept_span(row):
            return False
        self._accepted_texts.add(text)
        return True

    def _accept_span(self, row: int) -> bool:
        document = int(self._documents[row])
        if document < 0:
            return True
        start, end = self._spans[row].tolist()
        spans = self._accepted_spans.setdefault(document, [])
        at = bisect_left(spans, (start, end))
        if at < len(spans):
            next_start, next_end = spans[at]
            if next_end <= end or next_start == start:  # one of the two is inside the other
                return False
        if at > 0:
            previous_start, previous_end = spans[at - 1]
            if previous_end >= end or previous_start == start:
                return False
        insort(spans, (start, end))
        return True
