"""The counts of texts that a saved index has as bags, so that a filter counts none of them again.

The embedded default is fitted again on what a filter allows. The words of a text are the same then;
only what they weigh is not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
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
    """Bags by the texts that they are of.

    Attributes:
        segment: the bags.
        row_of: the row of each text.
    """

    segment: BagSegment
    row_of: Mapping[str, int]

    def counts(self, texts: Sequence[str]) -> TextCounts:
        """Return the counts of texts, all of which are known."""
        rows = np.fromiter(map(self.row_of.__getitem__, texts), np.int64, len(texts))
        segment = self.segment
        return segment.table.counts(segment.pieces.take(rows), segment.terms.take(rows))


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
        left: the graph of these nodes alone, in their order, whose texts are made already.
    """
    numbers = np.arange(len(graph)) if left is None else np.cumsum(stays) - 1
    sources, rows = list[KnownBags](), rows_to_embed(graph)
    rows = rows[stays[rows] & ~graph.kinds.mask("entity")[rows]]
    for start, segment in _bags_of(graph.vectors, rows):
        own = _with_bags(segment, rows, start)
        texts = texts_to_embed(
            graph if left is None else left, numbers[own + start].tolist(), replacement_texts
        )
        sources.append(KnownBags(segment, dict(zip(texts, own.tolist(), strict=True))))
    return KnownCounts(sources)


class KnownCounts:
    """Counts texts: those that are known by their bags, and the others by reading them.

    Args:
        sources: the bags.

    Example:
        >>> KnownCounts([])(["a red fox"]).terms
        ['a', 'fox', 'red']
    """

    def __init__(self, sources: Sequence[KnownBags]) -> None:
        self._sources = sources
        self._source_of: dict[str, int] = {}  # the first that knows a text
        for number, one in reversed(list(enumerate(sources))):
            self._source_of.update(dict.fromkeys(one.row_of, number))

    def __call__(self, texts: Sequence[str]) -> TextCounts:
        """Return what `TextCounts.of` returns."""
        nobody = len(self._sources)
        numbers = map(self._source_of.get, texts, repeat(nobody))
        source_of = np.fromiter(numbers, np.int64, len(texts))
        parts, places = list[TextCounts](), list[NDArray[np.int64]]()
        for number in distinct(source_of).tolist():
            own = np.flatnonzero(source_of == number)
            some = [texts[i] for i in own.tolist()]
            known = number < nobody
            parts.append(self._sources[number].counts(some) if known else TextCounts.of(some))
            places.append(own)
        if len(parts) < 2:
            return parts[0] if parts else TextCounts.of(texts)
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
