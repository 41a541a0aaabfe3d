"""The counts of texts that a saved index has as bags, so that a filter counts none of them again.

The embedded default is fitted again on what a filter allows. The words of a text are the same then;
only what they weigh is not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.embedding.bags import BagSegment
from clew.embedding.embedded_texts import rows_to_embed, texts_to_embed
from clew.embedding.static import TextCounts
from clew.graph import AnyVectors, Graph, Mask, VectorColumn, row_mask, texts_at


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


def known_counts(graph: Graph, stays: Mask, replacement_texts: Mapping[str, str]) -> KnownCounts:
    """Return what counts the texts of some nodes, and of what was read of these, by known bags.

    Args:
        graph: the graph of these nodes and of others.
        stays: bool [nodes], which nodes are meant.
        replacement_texts: id -> the text that is embedded in place of the node's own.
    """
    sources = list[KnownBags]()
    segment = _bags_of(graph.vectors)
    if segment is not None:
        rows = rows_to_embed(graph)
        is_known = stays | row_mask(graph.read_from.owners_of(stays), len(graph))
        rows = _with_bags(segment, rows[is_known[rows]])
        texts = texts_to_embed(graph, rows.tolist(), replacement_texts)
        sources.append(KnownBags(segment, dict(zip(texts, rows.tolist(), strict=True))))
    segment = _bags_of(graph.facts.vectors)
    if segment is not None:
        facts = _with_bags(segment, np.unique(graph.facts.read_from.owners_of(stays)))
        rows = facts.tolist()
        row_of = dict(zip(texts_at(graph.facts.texts, rows), rows, strict=True))
        sources.append(KnownBags(segment, row_of))
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
        for number in np.unique(source_of).tolist():
            own = np.flatnonzero(source_of == number)
            some = [texts[i] for i in own.tolist()]
            known = number < nobody
            parts.append(self._sources[number].counts(some) if known else TextCounts.of(some))
            places.append(own)
        if len(parts) < 2:
            return parts[0] if parts else TextCounts.of(texts)
        return TextCounts.joined(parts).take(np.argsort(np.concatenate(places)))


def _bags_of(vectors: AnyVectors) -> BagSegment | None:
    """The bags that a column begins with, as one that was loaded does."""
    first: Any = VectorColumn.of(vectors).segments[0]
    return first if isinstance(first, BagSegment) else None


def _with_bags(segment: BagSegment, rows: NDArray[Any]) -> NDArray[Any]:
    rows = rows[rows < segment.shape[0]]
    has_bag: Mask = segment.scales[rows, 2] != 0
    return rows[has_bag]
