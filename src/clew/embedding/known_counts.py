"""The counts of texts that a saved index has as bags, so that a filter counts none of them again.

The embedded default is fitted again on what a filter allows. The words of a text are the same then;
only what they weigh is not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.embedding.bag_segment import BagSegment
from clew.embedding.embedded_texts import rows_to_embed, texts_to_embed
from clew.embedding.late_bags import LateBagSegment
from clew.embedding.static import TextCounts
from clew.graph import AnyVectors, Graph, Mask, VectorColumn, distinct


@dataclass(frozen=True, eq=False)
class KnownBags:
    """Bags by the nodes and the texts that they are of.

    Attributes:
        segment: the bags.
        rows: int64 [m], the rows of the segment that are meant.
        nodes: int64 [m], the node that each is of.
        make_texts: makes the text that each is of.
    """

    segment: BagSegment
    rows: NDArray[np.int64]
    nodes: NDArray[np.int64]
    make_texts: Callable[[], Sequence[str]]

    @cached_property
    def row_of(self) -> Mapping[str, int]:
        """The row of each text."""
        return dict(zip(self.make_texts(), self.rows.tolist(), strict=True))

    def counts(self, rows: NDArray[np.int64]) -> TextCounts:
        """Return the counts of some rows of the segment."""
        segment = self.segment
        pieces, terms = segment.pieces.take(rows), segment.terms.take(rows)
        return segment.table.counts(pieces, terms, kept=True)


def known_counts(
    graph: Graph,
    stays: Mask,
    replacement_texts: Mapping[str, str],
    left: Graph | None = None,
) -> KnownCounts:
    """Return what counts the texts of some nodes by known bags.

    Those of names and facts are not looked for: to read one takes no longer.

    Args:
        graph: the graph of these nodes and of others.
        stays: bool [nodes], which nodes are meant.
        replacement_texts: id -> the text that is embedded in place of the node's own.
        left: the graph of these nodes alone, in their order, whose nodes are then known, too.
    """
    numbers = np.arange(len(graph)) if left is None else np.cumsum(stays) - 1
    sources, rows = list[KnownBags](), rows_to_embed(graph)
    rows = rows[stays[rows] & ~graph.kinds.mask("entity")[rows]]
    texts_of = graph if left is None else left
    for start, segment in _bags_of(graph.vectors, rows):
        own = _with_bags(segment, rows, start)
        nodes = numbers[own + start]
        texts = partial(texts_to_embed, texts_of, nodes.tolist(), replacement_texts)
        sources.append(KnownBags(segment, own, nodes, texts))
    return KnownCounts(sources, knows_nodes=left is not None)


class KnownCounts:
    """Counts texts: those that are known by their bags, and the others by reading them.

    Args:
        sources: the bags.
        knows_nodes: whether the nodes that these are of are those whose texts are counted.

    Example:
        >>> KnownCounts([])(["a red fox"]).terms
        ['a', 'fox', 'red']
    """

    def __init__(self, sources: Sequence[KnownBags], *, knows_nodes: bool = False) -> None:
        self._sources, self.knows_nodes = sources, knows_nodes

    @cached_property
    def _source_of(self) -> Mapping[str, int]:
        """The first source that knows a text."""
        source_of: dict[str, int] = {}
        for number, one in reversed(list(enumerate(self._sources))):
            source_of.update(dict.fromkeys(one.row_of, number))
        return source_of

    def __call__(self, texts: Sequence[str]) -> TextCounts:
        """Return what `TextCounts.of` returns."""
        nobody = len(self._sources)
        numbers = map(self._source_of.get, texts, repeat(nobody))
        source_of = np.fromiter(numbers, np.int64, len(texts))

        def count(number: int, places: NDArray[np.int64]) -> TextCounts:
            some = [texts[place] for place in places.tolist()]
            if number == nobody:
                return TextCounts.of(some)
            one = self._sources[number]
            return one.counts(np.fromiter(map(one.row_of.__getitem__, some), np.int64, len(some)))

        return _counted_by(source_of, count)

    def of_nodes(self, graph: Graph, nodes: NDArray[np.int64]) -> TextCounts:
        """Return the counts of the texts of some nodes, of which those with bags are not made.

        Args:
            graph: the graph that is left, as `known_counts` has it; nothing replaces its texts.
            nodes: int64 [n], some of its nodes.
        """
        nobody = len(self._sources)
        source_of, row_of = np.full(len(graph), nobody), np.zeros(len(graph), np.int64)
        for number, one in enumerate(self._sources):
            source_of[one.nodes], row_of[one.nodes] = number, one.rows

        def count(number: int, places: NDArray[np.int64]) -> TextCounts:
            if number == nobody:
                return TextCounts.of(texts_to_embed(graph, nodes[places].tolist(), {}))
            return self._sources[number].counts(row_of[nodes[places]])

        return _counted_by(source_of[nodes], count)


def _counted_by(
    source_of: NDArray[np.int64], count: Callable[[int, NDArray[np.int64]], TextCounts]
) -> TextCounts:
    """Return the counts of texts, those of each source counted together.

    Args:
        source_of: int64 [n], the source of each text.
        count: returns the counts of a source's texts, by their places.
    """
    parts, places = list[TextCounts](), list[NDArray[np.int64]]()
    for number in distinct(source_of).tolist():
        places.append(np.flatnonzero(source_of == number))
        parts.append(count(number, places[-1]))
    if len(parts) < 2:
        return parts[0] if parts else TextCounts.of([])
    return TextCounts.joined(parts).take(np.argsort(np.concatenate(places)))


def _bags_of(vectors: AnyVectors, rows: NDArray[Any]) -> Iterator[tuple[int, BagSegment]]:
    """Yield the bags of some rows that are there, each segment with the row that it starts from.

    Bags of others, as of names, are not made for it.
    """
    start = 0
    for segment in VectorColumn.of(vectors).segments:
        end = start + segment.shape[0]
        first, last = np.searchsorted(rows, [start, end])
        if first < last:
            if isinstance(segment, BagSegment):
                yield start, segment
            elif isinstance(segment, LateBagSegment) and segment.is_counted:
                yield start, segment.bags
        start = end


def _with_bags(segment: BagSegment, rows: NDArray[Any], start: int) -> NDArray[Any]:
    """Return those of some rows that have a bag in a segment, as rows of that."""
    first, last = np.searchsorted(rows, [start, start + segment.shape[0]])
    own = rows[first:last] - start
    has_bag: Mask = segment.scales[own, 2] != 0
    return own[has_bag]
